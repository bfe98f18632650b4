//! Who the user is, and what time it is where the user is.
//!
//! gix knows both, but asks a library for the time that first lists every time zone of the system: a few
//! hundred system calls, for a signature that needs one offset.

use std::{fs, path::Path};

use chronicle_core::redaction::cleaned;
use gix::bstr::{BString, ByteSlice};
use jiff::tz::TimeZone;

use crate::{Commit, Repository};

/// Where systems keep the rules of all time zones.
const ZONES: &str = "/usr/share/zoneinfo";
/// The rules of the zone that the system is in.
const SYSTEM_ZONE: &str = "/etc/localtime";

impl Repository {
    /// The name under which the user writes, as git has it configured.
    #[must_use]
    pub fn author_name(&self) -> Option<String> {
        let name = self.first_set(["author.name", "user.name", "gitoxide.author.nameFallback"])?;
        Some(cleaned(&name.to_str_lossy()).0.into_owned()).filter(|name| !name.trim().is_empty())
    }

    /// Whether the user wrote `commit`, by the names and addresses that git has for the user. A commit that was picked, applied or
    /// amended keeps its author, and the message is the author's.
    #[must_use]
    pub fn is_by_user(&self, commit: &Commit) -> bool {
        let snapshot = self.inner.config_snapshot();
        let is_one_of = |keys: &[&str], said: &str| {
            let mut known = keys.iter().filter_map(|key| snapshot.string(*key));
            known.any(|known| known.trim().eq_ignore_ascii_case(said.trim().as_bytes()))
        };
        // Whom git commits as: to its hooks it names the author of a commit that is amended as if that were the user.
        let names = ["committer.name", "user.name", "gitoxide.committer.nameFallback"];
        let addresses = [
            "committer.email",
            "user.email",
            "gitoxide.committer.emailFallback",
            "gitoxide.user.emailFallback",
        ];
        is_one_of(&names, &commit.author) && is_one_of(&addresses, &commit.author_email)
    }

    /// The committer for our commits: git's, or a generic one, because a missing name must not stop a note.
    pub(crate) fn signature(&self) -> gix::actor::Signature {
        let name = self.first_set(["committer.name", "user.name", "gitoxide.committer.nameFallback"]);
        let email = self.first_set([
            "committer.email",
            "user.email",
            "gitoxide.user.emailFallback",
            "gitoxide.committer.emailFallback",
        ]);
        let (mut name, mut email) = match (name, email) {
            (Some(name), Some(email)) => (name, email),
            _ => ("Chronicle".into(), "chronicle@localhost".into()),
        };
        // As git does: characters that would end the field are dropped, not refused.
        for field in [&mut name, &mut email] {
            field.retain(|byte| !b"<>\n\0".contains(byte));
            *field = field.trim().into();
        }
        if name.is_empty() {
            name = "Chronicle".into();
        }
        gix::actor::Signature { name, email, time: self.time_of_signature() }
    }

    fn first_set<const N: usize>(&self, keys: [&str; N]) -> Option<BString> {
        let snapshot = self.inner.config_snapshot();
        keys.into_iter().find_map(|key| snapshot.string(key))
    }

    /// The time that git's environment names, or now.
    fn time_of_signature(&self) -> gix::date::Time {
        let named = self.first_set(["gitoxide.commit.committerDate"]);
        let named = named.as_ref().and_then(|date| date.to_str().ok());
        let parsed = named.and_then(|date| {
            let relative_to_now = || {
                gix::date::parse(date, Some(self.now.to_zoned(local_zone().unwrap_or(TimeZone::UTC)))).ok()
            };
            gix::date::parse(date, None).ok().or_else(relative_to_now)
        });
        parsed.unwrap_or_else(|| {
            let zone = local_zone().unwrap_or_else(TimeZone::system);
            gix::date::Time::new(self.now.as_second(), zone.to_offset(self.now).seconds())
        })
    }
}

/// The zone of the user, if its rules are where most systems keep them.
fn local_zone() -> Option<TimeZone> {
    #[expect(clippy::disallowed_methods, reason = "the zone of git's own signatures is decided by it")]
    let named = std::env::var_os("TZ");
    let path = match &named {
        None => Path::new(SYSTEM_ZONE).to_owned(),
        Some(name) => Path::new(ZONES).join(name.to_str()?.trim_start_matches(':')),
    };
    let has_no_way_out = |path: &Path| !path.components().any(|part| part == std::path::Component::ParentDir);
    let is_named = has_no_way_out(&path) && (named.is_none() || path.starts_with(ZONES));
    let rules = is_named.then(|| fs::read(&path).ok()).flatten()?;
    TimeZone::tzif("local", &rules).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_system_are_those_that_the_library_finds() {
        // A system without such a file is asked by the library.
        let Some(zone) = local_zone() else { return };
        let then = "2026-07-01T12:00:00Z".parse().expect("it is a time");
        assert_eq!(zone.to_offset(then), TimeZone::system().to_offset(then));
    }
}
