//! Claims that turn out to be wrong: flagged, corrected, replaced or ended, never overwritten.

use std::path::{Path, PathBuf};

use chronicle_commits::{
    FoundClaim, amend_lesson, claims_called, claims_on, corrections_of, disputed, input::wash,
    store_corrections,
};
use chronicle_core::{
    EntryId,
    correction::{Correction, CorrectionKind, Tier},
    reading::{self, Match, Standing},
};
use chronicle_git::{GitError, ObjectId, Recovered};
use chronicle_workplace::{
    Error,
    error::{EmptyReasonSnafu, EmptyValueSnafu, NoClaimSnafu, NotATimeSnafu},
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use crate::{Chronicle, ReadCommand, status::ensure_nothing_dropped};

/// The request to cast doubt on what is said of some code.
#[derive(Debug, Clone)]
pub struct FlagCommand {
    /// The file, or the id of a claim.
    pub path: PathBuf,
    /// An item of the file.
    pub anchor: Option<String>,
    /// Why.
    pub reason: String,
    /// Whether all claims that match are meant.
    pub all: bool,
}

/// The request to take a value out of a claim, or to put another in its place.
#[derive(Debug, Clone)]
pub struct CorrectCommand {
    /// The id of a claim, or the commit that carries it.
    pub target: String,
    /// The item of code that the claim is about.
    pub region: Option<String>,
    /// The file that the claim is about.
    pub path: Option<PathBuf>,
    /// The field that is wrong; without it the first words of the claim: what it claims, or what a code unit is for.
    pub field: Option<String>,
    /// The wrong value, or a part of it that names it.
    pub value: String,
    /// What takes its place; `None` takes the value away.
    pub replacement: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// What was corrected, or what may have been meant.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CorrectReply {
    /// Always `chronicle-correct/v1`.
    pub schema: &'static str,
    /// Whether anything was stored; nothing is where several claims match.
    pub changed: bool,
    /// The claims that were corrected, or that match.
    pub claims: Vec<ClaimLine>,
    /// What was stored, one for each of the claims.
    pub corrections: Vec<Correction>,
    /// Remarks.
    pub warnings: Vec<String>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<String>,
}

/// A claim in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimLine {
    /// Its id.
    pub id: EntryId,
    /// The commit that carries it.
    pub commit: String,
    /// A category, `region` or `summary`.
    pub kind: String,
    /// The file it is about.
    pub file: Option<String>,
    /// The item it is about.
    pub anchor: Option<String>,
    /// Its first words; once it was corrected, as readers see them from then on.
    pub text: String,
    /// How far its author is trusted.
    pub tier: Tier,
    /// Who says it, in words, unless it is the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_by: Option<String>,
    /// Whether someone who is trusted less says something else under the same id.
    #[serde(skip)]
    pub is_disputed: bool,
}

impl From<&FoundClaim> for ClaimLine {
    fn from(claim: &FoundClaim) -> Self {
        Self {
            id: claim.id.clone(),
            commit: claim.commit.to_string(),
            kind: claim.kind().to_owned(),
            file: claim.file().map(str::to_owned),
            anchor: claim.anchor().map(str::to_owned),
            text: claim.text().to_owned(),
            tier: claim.tier(),
            is_disputed: claim.is_disputed,
            said_by: claim
                .said_by
                .as_ref()
                .and_then(|said| reading::said_by(said.author.as_deref(), said.tier, said.origin.as_deref())),
        }
    }
}

impl Chronicle {
    /// Casts doubt on what is said of some code: every reader is told why, and trusts it half as far.
    ///
    /// # Errors
    /// When nothing is said of it, the reason is empty, or the corrections cannot be written.
    pub fn flag(&self, command: &FlagCommand) -> Result<CorrectReply, Error> {
        let mut washed = Washed::default();
        let reason = washed.wash(&command.reason);
        snafu::ensure!(!reason.is_empty(), EmptyReasonSnafu);
        let claims = self.flagged(&command.path, command.anchor.as_deref())?;
        if claims.is_empty() {
            let place = command.path.to_string_lossy().escape_debug().to_string();
            return NoClaimSnafu {
                reason: format!("nothing is known about `{place}` that could be flagged"),
            }
            .fail();
        }
        if 1 < claims.len() && !command.all {
            return Ok(washed.several(claims));
        }
        let correction = |claim: &ClaimLine| self.correction(&claim.id, CorrectionKind::Flag, &reason);
        let corrections = claims.iter().map(correction).collect();
        self.store(washed, claims, corrections)
    }

    /// The claims that are meant by a path and an item, or by an id: those that speak of it most plainly.
    fn flagged(&self, path: &Path, anchor: Option<&str>) -> Result<Vec<ClaimLine>, Error> {
        let command = ReadCommand {
            paths: vec![path.to_owned()],
            anchor: anchor.map(str::to_owned),
            max_regions: Some(usize::MAX),
            verbose: true,
            ..ReadCommand::default()
        };
        let reading = match self.read(&command) {
            Err(error @ Error::FileNotFound { .. }) if anchor.is_none() => {
                let id = path.to_str().unwrap_or_default();
                let called = claims_called(self.workplace.repository()?, id)?;
                return match called.is_empty() {
                    true if EntryId::looks_like(id) => Err(unknown_entry(id)),
                    true => Err(error),
                    false => Ok(lines(&called)),
                };
            }
            other => other?,
        };
        let line = |standing: &Standing, kind: &str, anchor: Option<&str>, text: &str| ClaimLine {
            id: standing.id.clone(),
            commit: standing.commit.clone(),
            kind: kind.to_owned(),
            file: standing.file.clone(),
            anchor: anchor.map(str::to_owned),
            text: text.to_owned(),
            tier: standing.tier,
            said_by: standing.said_by(),
            is_disputed: false,
        };
        let mut found: Vec<((bool, u8), ClaimLine)> = Vec::new();
        for item in &reading.regions {
            let standing = &item.standing;
            let kind = if standing.matched == Match::Commit { "summary" } else { "region" };
            let name = item.ast_anchor.as_ref().map(|anchor| anchor.name.as_str());
            found.push((plainness(standing, anchor), line(standing, kind, name, &item.intent)));
        }
        for item in &reading.wisdom {
            let name = item.anchor.as_ref().map(|anchor| anchor.name.as_str());
            let line = line(&item.standing, item.category.name(), name, &item.content);
            found.push((plainness(&item.standing, anchor), line));
        }
        let Some(plainest) = found.iter().map(|(plainness, _)| *plainness).min() else {
            return Ok(Vec::new());
        };
        found.retain(|(plainness, _)| *plainness == plainest);
        Ok(found.into_iter().map(|(_, line)| line).collect())
    }

    /// Takes a value out of a claim, or puts another in its place.
    ///
    /// # Errors
    /// When no claim has the value, or the corrections cannot be written.
    pub fn correct(&self, command: &CorrectCommand) -> Result<CorrectReply, Error> {
        let mut washed = Washed::default();
        let value = washed.wash(&command.value);
        let replacement = command.replacement.as_deref().map(|text| washed.wash(text));
        let reason = command.reason.as_deref().map(|text| washed.wash(text)).unwrap_or_default();
        snafu::ensure!(!value.is_empty() && replacement.as_deref() != Some(""), EmptyValueSnafu);
        let mut claims = self.targets(&command.target)?;
        self.keep_meant(&mut claims, command)?;
        let mut matching: Vec<(FoundClaim, &str, String)> = Vec::new();
        for claim in &mut claims {
            let field = command.field.as_deref().unwrap_or_else(|| claim.main_field());
            if let Some(meant) = claim.meant(field, &value) {
                matching.push((claim.clone(), field, meant));
            }
        }
        let Some((mut claim, field, meant)) = matching.first().cloned() else {
            return NoClaimSnafu { reason: missing(&mut claims, command.field.as_deref()) }.fail();
        };
        if 1 < matching.len() {
            return Ok(washed.several(matching.iter().map(|(claim, ..)| ClaimLine::from(claim)).collect()));
        }
        let kind = if replacement.is_some() { CorrectionKind::Amend } else { CorrectionKind::Remove };
        let correction = Correction {
            field: Some(field.to_owned()),
            target_value: Some(meant),
            replacement,
            ..self.correction(&claim.id, kind, &reason)
        };
        let mut reply = self.store(washed, vec![ClaimLine::from(&claim)], vec![correction])?;
        // The answer has the words that readers see from now on. It is stored, even if they cannot be read now.
        let stored = corrections_of(self.workplace.repository()?, &[claim.id.clone()], &mut Vec::new());
        for (_, corrections) in stored.into_iter().flatten() {
            claim.apply(&corrections);
        }
        reply.claims = vec![ClaimLine::from(&claim)];
        Ok(reply)
    }

    /// The claims that a revision carries, or that an id names.
    fn targets(&self, target: &str) -> Result<Vec<FoundClaim>, Error> {
        match self.workplace.repository()?.resolve(target) {
            Ok(commit) => Ok(claims_on(self.workplace.repository()?, commit)?),
            Err(GitError::UnknownRevision { .. }) => {
                let called = claims_called(self.workplace.repository()?, target)?;
                if called.is_empty() { Err(unknown_entry(target)) } else { Ok(called) }
            }
            Err(other) => Err(other.into()),
        }
    }

    fn keep_meant(&self, claims: &mut Vec<FoundClaim>, command: &CorrectCommand) -> Result<(), Error> {
        if let Some(path) = &command.path {
            let named = self.workplace.repository()?.root_relative(self.workplace.directory(), path)?;
            claims.retain(|claim| {
                claim.file().is_some_and(|file| {
                    let file = file.trim_start_matches("./");
                    named.iter().any(|name| *name == file) || path.to_str() == Some(file)
                })
            });
        }
        if let Some(anchor) = &command.region {
            claims.retain(|claim| claim.is_about(anchor));
        }
        Ok(())
    }

    /// Lets one lesson take the place of another.
    ///
    /// # Errors
    /// When one of them is unknown, or the notes cannot be written.
    pub fn supersede(&self, old: &str, new: &str) -> Result<CorrectReply, Error> {
        let (old, new) = (self.lesson(old)?, self.lesson(new)?);
        if old.id == new.id {
            return NoClaimSnafu { reason: "a lesson cannot take its own place" }.fail();
        }
        let message = format!("chronicle: supersede {}", old.id);
        let recovered = amend_lesson(self.workplace.repository()?, &new.id, &message, |entry| {
            if !entry.supersedes.contains(&old.id) {
                entry.supersedes.push(old.id.clone());
            }
        })?;
        Ok(Washed::default().done(vec![ClaimLine::from(&old), ClaimLine::from(&new)], Vec::new(), &recovered))
    }

    /// Lets a lesson count no longer than until `at`, or until now.
    ///
    /// # Errors
    /// When it is unknown, the time is none, or the notes cannot be written.
    pub fn expire(&self, id: &str, at: Option<&str>) -> Result<CorrectReply, Error> {
        let at = match at {
            Some(text) => match chronicle_core::parse_time(text) {
                Some(at) => at,
                None => return NotATimeSnafu { text }.fail(),
            },
            None => self.workplace.now(),
        };
        let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
        let lesson = self.lesson(id)?;
        let message = format!("chronicle: expire {}", lesson.id);
        let recovered = amend_lesson(self.workplace.repository()?, &lesson.id, &message, |entry| {
            let earlier = entry.expires.as_deref().and_then(chronicle_core::parse_time);
            // The earliest end counts, whoever set it and in whatever order.
            if earlier.is_none_or(|earlier| at < earlier) {
                entry.expires = Some(at.to_string());
            }
        })?;
        Ok(Washed::default().done(vec![ClaimLine::from(&lesson)], Vec::new(), &recovered))
    }

    /// Makes sure that an id means what it meant: where somebody else uses it, a note of the user's must not be missing.
    fn ensure_meant(&self, mut tiers: impl Iterator<Item = Tier>) -> Result<(), Error> {
        if tiers.any(|tier| tier == Tier::Unknown) {
            ensure_nothing_dropped(self.workplace.repository()?)?;
        }
        Ok(())
    }

    /// The one lesson that an id names.
    fn lesson(&self, id: &str) -> Result<FoundClaim, Error> {
        let mut found = claims_called(self.workplace.repository()?, id)?;
        found.retain(|claim| !matches!(claim.kind(), "region" | "summary"));
        match (found.pop(), found.len()) {
            (Some(only), 0) => {
                self.ensure_meant([only.tier()].into_iter())?;
                Ok(only)
            }
            (Some(_), n_others) => {
                let n_claims = n_others + 1;
                NoClaimSnafu {
                    reason: format!(
                        "`{}` is ambiguous: the ids of {n_claims} lessons begin with it",
                        id.escape_debug()
                    ),
                }
                .fail()
            }
            (None, _) => Err(unknown_entry(id)),
        }
    }

    fn correction(&self, entry: &EntryId, kind: CorrectionKind, reason: &str) -> Correction {
        Correction {
            // It gets its name from what it says, once all of that is known.
            id: EntryId(String::new()),
            entry: entry.clone(),
            kind,
            field: None,
            target_value: None,
            replacement: None,
            reason: reason.to_owned(),
            author: self.workplace.repository().ok().and_then(chronicle_git::Repository::author_name),
            timestamp: self.workplace.now().to_string(),
            extra: Map::new(),
        }
    }

    fn store(
        &self,
        washed: Washed,
        claims: Vec<ClaimLine>,
        corrections: Vec<Correction>,
    ) -> Result<CorrectReply, Error> {
        self.ensure_meant(claims.iter().map(|claim| claim.tier))?;
        for claim in claims.iter().filter(|claim| claim.tier != Tier::Own) {
            // It would be said of every claim with that id.
            let called = claims_called(self.workplace.repository()?, &claim.id.0)?;
            if let Some(meant) = called.iter().find(|called| claim.tier < called.tier()) {
                let reason = format!(
                    "the id of this lesson is also that of one you trust more, on commit {}; to correct that one, name it by its id, {}",
                    meant.commit, claim.id
                );
                return NoClaimSnafu { reason }.fail();
            }
        }
        let key = |claim: &ClaimLine| {
            ObjectId::from_hex(claim.commit.as_bytes()).expect("a claim names its commit in full")
        };
        let corrections: Vec<Correction> = corrections.into_iter().map(Correction::named).collect();
        let stored: Vec<_> = claims.iter().map(key).zip(corrections.iter().cloned()).collect();
        let recovered = store_corrections(self.workplace.repository()?, &stored)?;
        Ok(washed.done(claims, corrections, &recovered))
    }
}

fn unknown_entry(id: &str) -> Error {
    chronicle_commits::CommitsError::UnknownEntry { id: EntryId(id.escape_debug().to_string()) }.into()
}

fn lines(claims: &[FoundClaim]) -> Vec<ClaimLine> {
    claims.iter().map(ClaimLine::from).collect()
}

/// How plainly a claim speaks of what was asked about, most plainly first; what is over comes last.
fn plainness(standing: &Standing, anchor: Option<&str>) -> (bool, u8) {
    let plainness = match (standing.matched, anchor) {
        (Match::Commit, _) => 3,
        (_, None) | (Match::Anchor, _) => 0,
        (Match::Lines | Match::Near, _) => 1,
        (Match::File, _) => 2,
    };
    (standing.is_over(), plainness)
}

/// Why none of `claims` can be corrected.
fn missing(claims: &mut [FoundClaim], field: Option<&str>) -> String {
    if claims.is_empty() {
        return "no claim matches".to_owned();
    }
    let Some(field) = field else {
        return "the text of no lesson that matches holds that value; `--field` names another field"
            .to_owned();
    };
    let field_name = field.escape_debug();
    let mut with_field: Vec<String> = Vec::new();
    for claim in claims.iter_mut() {
        with_field.extend(claim.values(field).into_iter().flatten());
    }
    if with_field.is_empty() {
        let mut fields: Vec<&str> = claims.iter_mut().flat_map(FoundClaim::fields).copied().collect();
        fields.sort_unstable();
        fields.dedup();
        return format!("no lesson that matches has a `{field_name}`; there are {}", fields.join(", "));
    }
    format!("no `{field_name}` of the lessons that match holds that value, or several values hold it")
}

/// Secrets that were taken out of what was handed in.
#[derive(Default)]
struct Washed {
    redacted: Vec<String>,
}

impl Washed {
    fn wash(&mut self, text: &str) -> String {
        let (text, kinds) = wash(text);
        self.redacted.extend(kinds.into_iter().map(|kind| kind.name().to_owned()));
        text.trim().to_owned()
    }

    /// Several claims match, so nothing was done.
    fn several(self, claims: Vec<ClaimLine>) -> CorrectReply {
        let reply = self.done(claims, Vec::new(), &Recovered::default());
        CorrectReply { changed: false, redacted: Vec::new(), ..reply }
    }

    fn done(
        self,
        claims: Vec<ClaimLine>,
        corrections: Vec<Correction>,
        recovered: &Recovered,
    ) -> CorrectReply {
        let removed = recovered.files.iter();
        let removed = removed.map(|file| format!("removed `{}`, left by a dead process", file.display()));
        let of_others = claims.iter().filter(|claim| claim.is_disputed).map(|claim| disputed(&claim.id.0));
        let warnings = removed.chain(of_others).collect();
        CorrectReply {
            schema: "chronicle-correct/v1",
            changed: true,
            claims,
            corrections,
            warnings,
            redacted: self.redacted,
        }
    }
}
