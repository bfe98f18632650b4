//! Settings as text.

use std::fmt::Write;

use super::words;
use chronicle_workplace::{Allowance, AllowedRepositories, Settings};

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
    if !settings.ignored.is_empty() {
        let _ = writeln!(out, "\nIgnored:");
    }
    for ignored in &settings.ignored {
        let place = ignored.origin.place.as_deref().map(|place| format!(" {}", words::path(place)));
        let _ = writeln!(
            out,
            "- {} = {} ({}{}): {}",
            ignored.name,
            words::path(&ignored.value),
            ignored.origin.kind,
            place.unwrap_or_default(),
            ignored.reason
        );
    }
    out
}

pub(super) fn allowance(wanted: &Allowance) -> String {
    let mut out = String::new();
    let repository = words::path(&wanted.repository.to_string_lossy());
    if wanted.settings.is_empty() {
        let _ = writeln!(out, "{repository} sets nothing that only you may set.");
        return out;
    }
    let verb = if wanted.is_allowed { "is allowed to set" } else { "wants to set" };
    let _ = writeln!(out, "{repository} {verb}:");
    for setting in &wanted.settings {
        let place = words::path(setting.origin.place.as_deref().unwrap_or(setting.origin.kind));
        let _ = writeln!(out, "- {} = {} ({place})", setting.name, words::path(&setting.value));
    }
    for key in &wanted.keys {
        let _ = writeln!(out, "- {}", words::path(key));
    }
    out
}

pub(super) fn allowed(allowed: &AllowedRepositories) -> String {
    let mut out = String::new();
    for repository in &allowed.repositories {
        let _ = writeln!(
            out,
            "{} (since {})",
            words::path(&repository.repository.to_string_lossy()),
            repository.at
        );
        for (name, value) in &repository.values {
            let _ = writeln!(out, "- {} = {}", words::path(name), words::path(value));
        }
    }
    out
}
