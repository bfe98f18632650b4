//! A model in a folder.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use snafu::{ResultExt, ensure};

use crate::{
    Part, RerankError,
    encoder::Encoder,
    error::{BadModelSnafu, BadTokenizerSnafu, TooLargeSnafu, UnreadableSnafu},
    late,
    wordpiece::WordPiece,
};

/// The most tokens of a text that are looked at, with the two around it.
const MOST_TOKENS: usize = 128;

/// A model of this many bytes is still loaded: a question has no time for a larger one.
const LARGEST_MODEL: u64 = 256 << 20;
const LARGEST_TOKENIZER: u64 = 16 << 20;

/// How many threads the model runs on at most.
const MOST_THREADS: usize = 2;

/// A small language model that tells how near texts are to a question.
#[derive(Debug)]
pub struct Reranker {
    words: WordPiece,
    encoder: Encoder,
    path: PathBuf,
}

impl Reranker {
    /// Opens the model in a folder: `model.onnx` and `tokenizer.json`.
    ///
    /// # Errors
    /// When one is missing, damaged or not of the kind that is known.
    pub fn open(folder: &Path) -> Result<Self, RerankError> {
        let path = folder.join("tokenizer.json");
        let words = WordPiece::read(&read(&path, LARGEST_TOKENIZER)?);
        let words = words.map_err(|reason| BadTokenizerSnafu { path, reason }.build())?;
        let path = folder.join("model.onnx");
        let encoder = Encoder::read(read(&path, LARGEST_MODEL)?, MOST_THREADS);
        let encoder = encoder.map_err(|reason| BadModelSnafu { path: &path, reason }.build())?;
        Ok(Self { words, encoder, path })
    }

    /// How near texts are to a question, in their order; `None` from the one on before which it was late.
    ///
    /// One text is read at a time: what a model of whole numbers says of it would else depend on those beside it.
    ///
    /// # Errors
    /// When the model cannot take the tokens, or gives something else than numbers for each of them.
    pub fn nearness(
        &self,
        question: &[Part<'_>],
        texts: &[String],
        is_late: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<f32>>, RerankError> {
        let parts: Vec<Vec<i32>> = question.iter().map(|part| self.words.tokens(part.text)).collect();
        let sizes: Vec<_> =
            parts.iter().zip(question).map(|(tokens, part)| (tokens.len(), part.rarity)).collect();
        // The token before all others tells nothing; the one behind them has no weight at all.
        let weights: Vec<f32> =
            [0.0].into_iter().chain(late::weights(&sizes)).take(MOST_TOKENS - 1).collect();
        let asked = self.states(&parts.concat())?;
        let mut nearness = vec![None; texts.len()];
        for (near, text) in nearness.iter_mut().zip(texts) {
            if is_late() {
                break;
            }
            *near = Some(asked.nearness(&weights, &self.states(&self.words.tokens(text))?));
        }
        Ok(nearness)
    }

    /// What the model says of each of these tokens, and of the two around them.
    fn states(&self, tokens: &[i32]) -> Result<late::States, RerankError> {
        let [first, last] = self.words.frame;
        let tokens = &tokens[..tokens.len().min(MOST_TOKENS - 2)];
        let framed = [&[first], tokens, &[last]].concat();
        self.encoder.states(&framed).map_err(|reason| BadModelSnafu { path: &self.path, reason }.build())
    }
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, RerankError> {
    let unreadable = || UnreadableSnafu { path };
    let file = File::open(path).with_context(|_| unreadable())?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).with_context(|_| unreadable())?;
    ensure!(bytes.len() as u64 <= most, TooLargeSnafu { path, most });
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs};

    use tempfile::TempDir;

    use super::*;
    use crate::wordpiece::tests::JSON;

    /// A field of a message, as protocol buffers write it.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).expect("it is short");
        let [low, high] = [(length & 0x7f) as u8 | 0x80, u8::try_from(length >> 7).expect("it is short")];
        [&[number << 3 | 2, low, high], content].concat()
    }

    fn number(number: u8, value: u8) -> Vec<u8> {
        vec![number << 3, value]
    }

    /// A model whose one layer gives each token, of which there are twelve, its own direction in the plane; `pool` and
    /// `wait` have nearly the same.
    fn onnx(input: &str, output: &str) -> Vec<u8> {
        let directions: [[f32; 2]; 12] = std::array::from_fn(|token| match token {
            5 => [1.0, 0.0],
            6 => [0.9, 0.1],
            _ => [0.0, -1.0],
        });
        let bytes: Vec<u8> = directions.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let table =
            [number(1, 12), number(1, 2), number(2, 1), field(8, b"table"), field(9, &bytes)].concat();
        let node = [
            field(1, b"table"),
            field(1, input.as_bytes()),
            field(2, output.as_bytes()),
            field(4, b"Gather"),
        ];
        let named =
            |name: &str, kind| [field(1, name.as_bytes()), field(2, &field(1, &number(1, kind)))].concat();
        let graph = [
            field(1, &node.concat()),
            field(2, b"graph"),
            field(5, &table),
            field(11, &named(input, 7)),
            field(12, &named(output, 1)),
        ];
        [number(1, 8), field(8, &number(2, 13)), field(7, &graph.concat())].concat()
    }

    fn folder(tokenizer: &str, onnx: &[u8]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("tokenizer.json"), tokenizer).expect("it is written");
        fs::write(folder.path().join("model.onnx"), onnx).expect("it is written");
        folder
    }

    fn opened(tokenizer: &str, onnx: &[u8]) -> Result<Reranker, RerankError> {
        Reranker::open(folder(tokenizer, onnx).path())
    }

    const QUESTION: [Part<'_>; 2] = [Part { text: "the", rarity: 0.0 }, Part { text: " pool", rarity: 1.0 }];

    #[test]
    fn what_means_nearly_the_same_is_near() {
        let reranker = opened(JSON, &onnx("input_ids", "last_hidden_state")).expect("a model");
        let texts = ["the pool", "waiting", "the", "", "unknown"].map(str::to_owned);
        let near = reranker.nearness(&QUESTION, &texts, &|| false).expect("it is near");
        // Of `the` there is a quarter of the weight, which every text has: the tokens around it have its direction.
        for (near, expected) in near.into_iter().zip([1.0_f32, 0.995, 0.25, 0.25, 0.25]) {
            assert!((near.expect("it was read") - expected).abs() < 0.001, "{near:?}, not {expected}");
        }
        assert_eq!(reranker.nearness(&[], &texts[..1], &|| false).expect("it is near"), [Some(0.0)]);
    }

    #[test]
    fn who_is_late_reads_no_more() {
        let reranker = opened(JSON, &onnx("input_ids", "last_hidden_state")).expect("a model");
        let n_asked = Cell::new(0);
        let is_late = || {
            n_asked.set(n_asked.get() + 1);
            2 < n_asked.get()
        };
        let near =
            reranker.nearness(&QUESTION, &["pool", "pool", "pool", "pool"].map(str::to_owned), &is_late);
        let is_read: Vec<bool> = near.expect("it is near").iter().map(Option::is_some).collect();
        assert_eq!(is_read, [true, true, false, false]);
    }

    #[test]
    fn long_texts_are_cut() {
        let reranker = opened(JSON, &onnx("input_ids", "last_hidden_state")).expect("a model");
        let long = [format!("{}pool", "the ".repeat(125)), format!("{}pool", "the ".repeat(126))];
        let near = reranker.nearness(&QUESTION, &long, &|| false).expect("it is near");
        assert!(near[1] < near[0], "{near:?}");
        let question = Part { text: &long[1], rarity: 1.0 };
        reranker.nearness(&[question], &long, &|| false).expect("it is near");
    }

    #[test]
    fn what_is_no_model_is_refused() {
        let good = onnx("input_ids", "last_hidden_state");
        let check = |tokenizer: &str, onnx: &[u8], reason: &str| {
            let error = opened(tokenizer, onnx).expect_err("it is no model").to_string();
            assert!(error.contains(reason), "{error}");
        };
        check("{}", &good, "tokenizer.json");
        check(JSON, &good[..good.len() / 2], "model.onnx");
        check(JSON, b"", "model.onnx");
        check(JSON, &onnx("pixels", "last_hidden_state"), "`pixels`");
        check(JSON, &onnx("attention_mask", "last_hidden_state"), "`input_ids`");
        check(JSON, &onnx("input_ids", "logits"), "logits");
        let missing = Reranker::open(Path::new("/nowhere")).expect_err("there is none");
        assert!(matches!(missing, RerankError::Unreadable { .. }), "{missing}");
    }

    #[test]
    fn tokens_that_a_model_does_not_know_are_an_error() {
        let json = JSON.replace("\"pool\": 5", "\"pool\": 50");
        let reranker = opened(&json, &onnx("input_ids", "last_hidden_state")).expect("a model");
        let error = reranker.nearness(&QUESTION, &[], &|| false).expect_err("it is another's");
        assert!(matches!(error, RerankError::BadModel { .. }), "{error}");
    }
}
