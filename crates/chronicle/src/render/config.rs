//! Settings as text.

use std::fmt::Write;

use super::words;
use crate::Settings;

pub(super) fn markdown(settings: &Settings) -> String {
    let mut out = String::new();
    for setting in &settings.settings {
        let value = if setting.value.is_empty() { "none" } else { &setting.value };
        let place = setting.origin.place.as_deref().map(|place| format!(" {}", words::path(place)));
        let _ = writeln!(
            out,
            "- {} = {} ({}{}): {}",
            setting.name,
            words::path(value),
            setting.origin.kind,
            place.unwrap_or_default(),
            setting.meaning
        );
    }
    out
}
