//! Digests as files: one for each day, week and month that is over.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    time::Instant,
};

use chronicle_core::period::{Period, Span};
use chronicle_search::{Job, NamedSession};
use chronicle_workplace::{
    Error,
    owned::{remove, replace},
};
use jiff::tz::TimeZone;

use super::JobDone;
use crate::{
    Memory,
    digest::{Digest, day_of},
    memory::OpenMemory,
    wordings::Wordings,
};

/// The folder of digests, below the home of session memory.
const FOLDER: &str = "digests";

/// What is known of a session without its digest, so that a period is known that has to be told anew.
type Mark = (i64, Option<jiff::Timestamp>, i64);

impl Memory<'_> {
    /// Writes the digests of all periods that are over and whose sessions changed since their digest was written, the
    /// latest first.
    pub(super) fn write_digests(
        &self,
        memory: &mut OpenMemory,
        span: Span,
        job: &mut JobDone,
        (is_dry_run, deadline): (bool, Option<Instant>),
    ) -> Result<(), Error> {
        let home = self.workplace.memory_home()?;
        let wordings = Wordings::kept(&home);
        let zone = self.blocks().zone();
        let now = Period::of(span, day_of(self.workplace.now(), &zone));
        let marks = memory.store.read(NamedSession::marks)?;
        let mut wanted: BTreeMap<Period, Vec<Mark>> = BTreeMap::new();
        for mark in marks {
            let Some(last) = mark.1 else { continue };
            wanted.entry(Period::of(span, day_of(last, &zone))).or_default().push(mark);
        }
        let names: BTreeSet<String> = wanted.keys().map(|period| period.name()).collect();
        // What is not over is told when it is; what lies ahead was told by a clock that was wrong.
        wanted.retain(|period, _| *period < now);
        remove_unfinished(&home.join(FOLDER).join(span.adverb()));
        let written = memory.store.read(|connection| Job::periods(connection, &kind(span)))?;
        let written: BTreeMap<String, i64> = written.into_iter().collect();
        for (period, marks) in wanted.iter().rev() {
            let name = period.name();
            let input = fingerprint(marks, &zone);
            let file = file_of(span, &name);
            if written.get(&name) == Some(&input) && home.join(&file).is_file() {
                continue;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                job.is_unfinished = true;
                return Ok(());
            }
            if !is_dry_run {
                let sessions = memory.sessions_of(*period, &zone, self.until())?;
                let digest = memory.digest_of(*period, &sessions, &zone)?;
                let path = home.join(&file);
                let text = digest.text();
                replace_worded(&path, digest, &text, &wordings)?;
                let done = Job { input, done_at: self.workplace.now() };
                memory.store.write(|tx| done.put(tx, &kind(span), &name))?;
            }
            job.digests.push(file);
        }
        for name in written.keys().filter(|name| !names.contains(*name)) {
            let file = file_of(span, name);
            if !is_dry_run {
                remove(&home.join(&file))?;
                memory.store.write(|tx| Job::remove(tx, &kind(span), name))?;
            }
            job.gone.push(file);
        }
        Ok(())
    }
}

/// Puts the words of a model into the file of a digest, if it is there.
pub(super) fn put_words(home: &Path, digest: Digest, text: &str, wordings: &Wordings) -> Result<(), Error> {
    let first = digest.first.parse().ok();
    let of = |span| first.map(|first| Period::of(span, first).name()).filter(|name| *name == digest.period);
    for span in Span::ALL {
        if let Some(name) = of(span) {
            let path = home.join(file_of(span, &name));
            return if path.is_file() { replace_worded(&path, digest, text, wordings) } else { Ok(()) };
        }
    }
    Ok(())
}

/// Writes a digest whose text by rules is `text`, with the words that there are for it.
fn replace_worded(path: &Path, digest: Digest, text: &str, wordings: &Wordings) -> Result<(), Error> {
    match wordings.of(text) {
        Some(words) => {
            let worded = Digest { worded: Some(words.clone()), ..digest };
            replace(path, &worded.text())
        }
        None => replace(path, text),
    }
}

/// Removes what somebody was at who died: nobody else is at it now.
fn remove_unfinished(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with('.')) {
        let _removed = fs::remove_file(entry.path());
    }
}

fn kind(span: Span) -> String {
    format!("{}-digest", span.adverb())
}

/// Where the digest of a period lies, below the home of session memory.
fn file_of(span: Span, name: &str) -> String {
    format!("{FOLDER}/{}/{name}.md", span.adverb())
}

/// A number for what a digest is made of. The zone counts: by it, days begin and end.
fn fingerprint(marks: &[Mark], zone: &TimeZone) -> i64 {
    let zone = zone.iana_name().unwrap_or_default();
    chronicle_search::key(&format!("{FORM} {zone} {marks:?}"))
}

/// Counts the forms that the text of digests had: another one lets all of them be written anew.
const FORM: u32 = 2;
