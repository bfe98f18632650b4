//! The model: tokens in, what they mean where they stand out.

use std::sync::Arc;

use rten::{Model, NodeId, RunOptions, ThreadPool, Value};

use crate::late::States;

/// What the model may ask for.
#[derive(Debug, Clone, Copy)]
enum Input {
    Tokens,
    Mask,
    /// Which of two texts a token belongs to.
    Segments,
}

/// An encoder of the kind of BERT.
#[derive(Debug)]
pub(crate) struct Encoder {
    model: Model,
    inputs: Vec<(NodeId, Input)>,
    output: NodeId,
    threads: Arc<ThreadPool>,
}

impl Encoder {
    /// Reads a model in ONNX.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(onnx: Vec<u8>, n_threads: usize) -> Result<Self, String> {
        let model = Model::load(onnx).map_err(|error| error.to_string())?;
        let name = |id: &NodeId| {
            model.node_info(*id).and_then(|node| node.name().map(str::to_owned)).unwrap_or_default()
        };
        let inputs: Result<Vec<_>, String> =
            model.input_ids().iter().map(|id| Ok((*id, Input::of(&name(id))?))).collect();
        let inputs = inputs?;
        if !inputs.iter().any(|(_, input)| matches!(input, Input::Tokens)) {
            return Err("it takes no `input_ids`".to_owned());
        }
        let is_states = |id: &&NodeId| ["last_hidden_state", "token_embeddings"].contains(&&*name(id));
        let output = model.output_ids().iter().find(is_states).copied();
        let output = output.ok_or_else(|| {
            let given: Vec<String> = model.output_ids().iter().map(name).collect();
            format!("it gives {}, and no `last_hidden_state`", given.join(", "))
        })?;
        let threads = Arc::new(ThreadPool::with_num_threads(n_threads));
        Ok(Self { model, inputs, output, threads })
    }

    /// What the model says of each of these tokens.
    ///
    /// # Errors
    /// What the model says, or what is wrong with what it gives.
    pub(crate) fn states(&self, tokens: &[i32]) -> Result<States, String> {
        let mut inputs = Vec::new();
        for (id, input) in &self.inputs {
            let numbers = match input {
                Input::Tokens => tokens.to_vec(),
                Input::Mask => vec![1; tokens.len()],
                Input::Segments => vec![0; tokens.len()],
            };
            let value = Value::from_shape([1, tokens.len()], numbers).map_err(|error| error.to_string())?;
            inputs.push((*id, value.into()));
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let outputs =
            self.model.run(inputs, &[self.output], Some(options)).map_err(|error| error.to_string())?;
        let output = outputs.into_iter().next().ok_or("it gives nothing")?;
        let (shape, numbers) = output.into_shape_vec::<f32, 3>().map_err(|error| error.to_string())?;
        match shape {
            [1, n_tokens, n_dimensions] if n_tokens == tokens.len() && 0 < n_dimensions => {
                States::of(numbers, n_dimensions).ok_or_else(|| "its output isn't numbers".to_owned())
            }
            _ => Err(format!("of {} tokens it gives {shape:?}", tokens.len())),
        }
    }
}

impl Input {
    fn of(name: &str) -> Result<Self, String> {
        match name {
            "input_ids" => Ok(Self::Tokens),
            "attention_mask" => Ok(Self::Mask),
            "token_type_ids" => Ok(Self::Segments),
            other => Err(format!("it takes `{other}`, which is not known")),
        }
    }
}
