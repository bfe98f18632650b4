use chronicle_render::SCHEMA_NAMES;

use crate::{error::CommandError, ui::Ui};

/// Print the JSON Schema of stored data, of input or of answers
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// The schema; without one, their names are listed
    name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs, ui: &mut Ui) -> Result<(), CommandError> {
    let Some(name) = &args.name else {
        return ui.answer(&SCHEMA_NAMES.map(|name| format!("{name}\n")).concat());
    };
    let schema = chronicle_render::schema(name)?;
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain data");
    text.push('\n');
    ui.answer(&text)
}
