//! Corrections of stored claims, appended beside them and never written over them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{DependsOn, Entry, EntryId, Region, format::fields::Fields, redaction::cleaned};

/// One correction: a line of `refs/notes/chronicle-corrections` (DESIGN section 3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "chronicle correction")]
pub struct Correction {
    /// Names the correction: `c-` and a hash of what it says, so that nobody can say something else under
    /// its name.
    pub id: EntryId,
    /// The claim that is corrected.
    pub entry: EntryId,
    /// What is done to the claim.
    pub kind: CorrectionKind,
    /// The field that is wrong, when it is not the whole claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The value that is removed or replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_value: Option<String>,
    /// What takes its place, for an amendment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// Who says so, in their own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// When, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// Keys that we do not know.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// What a correction does to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CorrectionKind {
    /// Casts doubt on it.
    Flag,
    /// Takes a value away.
    Remove,
    /// Puts another value in its place.
    Amend,
}

/// How far a writer is trusted. What writers call themselves never decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Nothing is known of them.
    Unknown,
    /// Came from a remote that the user enabled for this repository.
    Team,
    /// Written on this machine by this user.
    Own,
}

impl std::fmt::Display for Tier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unknown => "unknown",
            Self::Team => "team",
            Self::Own => "own",
        })
    }
}

/// A correction of an item, as answers show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrectionItem {
    /// Names the correction; one that stands in the claim itself has no name.
    #[serde(default)]
    pub id: Option<EntryId>,
    /// What it does here.
    pub kind: CorrectionKind,
    /// What it was meant to do, when its author is trusted less than the claim's: it only casts doubt then.
    #[serde(default)]
    pub meant: Option<CorrectionKind>,
    /// The field that is wrong, when it is not the whole claim.
    #[serde(default)]
    pub field: Option<String>,
    /// The value that is removed or replaced; shown only where nothing is hidden.
    #[serde(default)]
    pub target_value: Option<String>,
    /// What takes its place.
    #[serde(default)]
    pub replacement: Option<String>,
    /// Why.
    pub reason: String,
    /// Who says so, in their own words.
    #[serde(default)]
    pub author: Option<String>,
    /// When.
    pub timestamp: String,
    /// How far its author is trusted.
    pub trust: Tier,
    /// The remote or the ref that it came from, if the user did not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Whether it is only a remark that changes nothing: its author is trusted less than the claim's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_remark: bool,
}

impl CorrectionItem {
    /// Hides the value that was removed or replaced.
    pub fn hide(&mut self) {
        if self.kind != CorrectionKind::Flag {
            self.target_value = None;
        }
    }

    /// Hides the value that was removed, for people who look at what became of a lesson. One that was replaced is seen.
    pub fn hide_removed(&mut self) {
        let meant = self.meant.unwrap_or(self.kind);
        if meant == CorrectionKind::Remove {
            self.target_value = None;
        }
    }
}

/// What ids of corrections begin with that are hashes of what they say.
const HASHED: &str = "c-";

impl Correction {
    /// The correction as it may be shown: its texts went through the gate.
    #[must_use]
    pub fn shown(self) -> Self {
        let shown = |text: String| cleaned(&text).0.into_owned();
        Self {
            target_value: self.target_value.map(shown),
            replacement: self.replacement.map(shown),
            reason: shown(self.reason),
            author: self.author.map(shown),
            ..self
        }
    }

    /// The correction under the name that what it says gives it.
    #[must_use]
    pub fn named(self) -> Self {
        let Self { entry, kind, field, target_value, replacement, reason, author, timestamp, .. } = &self;
        let said =
            serde_json::json!([entry, kind, field, target_value, replacement, reason, author, timestamp]);
        Self { id: EntryId::hashed(HASHED, &said), ..self }
    }

    /// The correction, under its own name if it bears the name of something else that was said.
    ///
    /// A name that is no hash, as other tools give, is believed.
    #[must_use]
    pub fn under_its_own_name(self) -> Self {
        if self.id.0.starts_with(HASHED) { self.named() } else { self }
    }

    /// The correction as answers show it, by an author of one tier, of a claim of another.
    #[must_use]
    pub fn by(self, trust: Tier, origin: Option<String>, target: Tier) -> CorrectionItem {
        let is_bold = self.kind != CorrectionKind::Flag && trust < target;
        CorrectionItem {
            id: Some(self.id),
            kind: if is_bold { CorrectionKind::Flag } else { self.kind },
            meant: is_bold.then_some(self.kind),
            field: self.field,
            target_value: self.target_value,
            replacement: self.replacement,
            reason: self.reason,
            author: self.author,
            timestamp: self.timestamp,
            trust,
            origin,
            is_remark: trust < target,
        }
    }
}

/// A longer line is no correction that anyone wrote.
const MAX_LINE: usize = 1 << 20;

/// Reads the corrections of one note, and counts the lines that are none.
#[must_use]
pub fn read_corrections(bytes: &[u8]) -> (Vec<Correction>, usize) {
    let mut n_unread = 0;
    let mut corrections = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line) {
            Ok(correction) if line.len() <= MAX_LINE => {
                corrections.push(Correction::under_its_own_name(correction));
            }
            _ => n_unread += 1,
        }
    }
    (corrections, n_unread)
}

/// The corrections that a region of an older schema holds itself.
///
/// Whoever could write them could write the claim, so they count in full.
#[must_use]
pub fn in_region(region: &Region) -> Vec<CorrectionItem> {
    let read = |map: &Map<String, Value>| {
        let mut fields = Fields::new(map.clone());
        let reason = ["reason", "correction_text", "correction"];
        CorrectionItem {
            id: fields.take("id"),
            kind: fields.take("correction_type").unwrap_or(CorrectionKind::Flag),
            meant: None,
            field: fields.take::<String>("field").filter(|field| field != "region"),
            target_value: fields.take("target_value"),
            replacement: fields.take("replacement"),
            reason: reason.into_iter().find_map(|key| fields.take(key)).unwrap_or_default(),
            author: fields.take("author"),
            timestamp: fields.take("timestamp").unwrap_or_default(),
            trust: Tier::Unknown,
            origin: None,
            is_remark: false,
        }
    };
    region.corrections.iter().map(read).collect()
}

/// A claim whose words can be corrected.
#[derive(Debug)]
pub enum Claim<'c> {
    /// A lesson.
    Entry(&'c mut Entry),
    /// What is said of a code unit.
    Region(&'c mut Region),
    /// The summary of a commit.
    Summary(&'c mut String),
}

/// What stands where the whole of a lesson was removed.
pub const REMOVED: &str = "[removed]";

/// One field of a claim.
enum Field<'f> {
    /// Words that always stand there.
    Text(&'f mut String),
    /// Words that may stand there.
    Optional(&'f mut Option<String>),
    Constraints(&'f mut Vec<crate::Constraint>),
    Dependencies(&'f mut Vec<DependsOn>),
    Tags(&'f mut Vec<String>),
}

impl Claim<'_> {
    /// The names of the fields that can be corrected; the one of its first words comes first.
    #[must_use]
    pub fn fields(&self) -> &'static [&'static str] {
        match self {
            Self::Entry(_) => &["content", "depends_on", "tags"],
            Self::Region(_) => {
                &["intent", "reasoning", "constraints", "risk_notes", "semantic_dependencies", "tags"]
            }
            Self::Summary(_) => &["summary"],
        }
    }

    fn field(&mut self, name: &str) -> Option<Field<'_>> {
        Some(match (self, name) {
            (Self::Entry(entry), "content") => Field::Text(&mut entry.content),
            (Self::Entry(entry), "depends_on") => Field::Dependencies(&mut entry.depends_on),
            (Self::Entry(entry), "tags") => Field::Tags(&mut entry.tags),
            (Self::Region(region), "intent") => Field::Optional(&mut region.intent),
            (Self::Region(region), "reasoning") => Field::Optional(&mut region.reasoning),
            (Self::Region(region), "risk_notes") => Field::Optional(&mut region.risk_notes),
            (Self::Region(region), "constraints") => Field::Constraints(&mut region.constraints),
            (Self::Region(region), "semantic_dependencies") => {
                Field::Dependencies(&mut region.semantic_dependencies)
            }
            (Self::Region(region), "tags") => Field::Tags(&mut region.tags),
            (Self::Summary(summary), "summary") => Field::Text(summary),
            _ => return None,
        })
    }

    /// The values of the field `name`; `None` when the claim has no such field.
    #[must_use]
    pub fn values(&mut self, name: &str) -> Option<Vec<String>> {
        Some(match self.field(name)? {
            Field::Text(text) => vec![text.clone()],
            Field::Optional(text) => text.iter().cloned().collect(),
            Field::Constraints(all) => all.iter().map(|constraint| constraint.text.clone()).collect(),
            Field::Dependencies(all) => all.iter().map(dependency_value).collect(),
            Field::Tags(all) => all.clone(),
        })
    }

    /// The value of the field `name` that `text` means: the text itself where it is a part of some words,
    /// and the whole element of a list; `None` when it means none, or several.
    #[must_use]
    pub fn meant(&mut self, name: &str, text: &str) -> Option<String> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let is_list = !matches!(self.field(name)?, Field::Text(_) | Field::Optional(_));
        let values = self.values(name)?;
        if !is_list {
            return values.iter().any(|value| value.contains(text)).then(|| text.to_owned());
        }
        if let Some(whole) = values.iter().find(|value| value.trim() == text) {
            return Some(whole.clone());
        }
        let mut parts = values.into_iter().filter(|value| value.contains(text));
        let first = parts.next()?;
        parts.next().is_none().then_some(first)
    }

    /// Carries out the corrections that take values away or replace them.
    pub fn apply(&mut self, corrections: &[CorrectionItem]) {
        for correction in corrections.iter().filter(|correction| correction.kind != CorrectionKind::Flag) {
            let (Some(name), Some(target)) = (&correction.field, &correction.target_value) else { continue };
            let replacement = match correction.kind {
                CorrectionKind::Amend => correction.replacement.as_deref(),
                _ => None,
            };
            if !target.is_empty() {
                self.replace(name, target, replacement);
            }
        }
    }

    fn replace(&mut self, name: &str, target: &str, replacement: Option<&str>) {
        let Some(field) = self.field(name) else { return };
        let words = |text: &str| text.replace(target, replacement.unwrap_or_default());
        match field {
            Field::Text(text) => {
                *text = words(text);
                if text.trim().is_empty() {
                    REMOVED.clone_into(text);
                }
            }
            Field::Optional(text) => {
                *text = text.take().map(|text| words(&text)).filter(|text| !text.trim().is_empty());
            }
            Field::Constraints(all) => {
                element(all, target, replacement, |item| item.text.clone(), |item, text| item.text = text);
            }
            Field::Dependencies(all) => {
                element(all, target, replacement, dependency_value, |item, text| item.nature = text);
            }
            Field::Tags(all) => element(all, target, replacement, Clone::clone, |item, text| *item = text),
        }
    }
}

/// Replaces the elements of a list that are `target`, or takes them away.
fn element<T>(
    list: &mut Vec<T>,
    target: &str,
    replacement: Option<&str>,
    value: impl Fn(&T) -> String,
    set: impl Fn(&mut T, String),
) {
    match replacement {
        None => list.retain(|item| value(item).trim() != target.trim()),
        Some(replacement) => {
            for item in list.iter_mut().filter(|item| value(item).trim() == target.trim()) {
                set(item, replacement.to_owned());
            }
        }
    }
}

/// What is assumed of other code; where nothing is said, which code.
fn dependency_value(dependency: &DependsOn) -> String {
    match (&dependency.nature, &dependency.anchor) {
        (nature, _) if !nature.is_empty() => nature.clone(),
        (_, Some(anchor)) => format!("{}:{anchor}", dependency.file),
        (_, None) => dependency.file.clone(),
    }
}

/// More corrections of one claim than this are not shown.
const MAX_SHOWN: usize = 20;

/// Puts the corrections of one claim in order: oldest first, and of too many the most trusted and newest.
pub fn arrange(corrections: &mut Vec<CorrectionItem>) {
    let at = |item: &CorrectionItem| crate::parse_time(&item.timestamp).unwrap_or(Timestamp::MIN);
    corrections.sort_by(|left, right| {
        (right.trust, at(right)).cmp(&(left.trust, at(left))).then_with(|| right.id.cmp(&left.id))
    });
    corrections.truncate(MAX_SHOWN);
    corrections.sort_by(|left, right| (at(left), &left.id).cmp(&(at(right), &right.id)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Category;

    fn correction(kind: CorrectionKind, field: &str, target: &str, new: Option<&str>) -> CorrectionItem {
        let correction = Correction {
            id: EntryId("C1".to_owned()),
            entry: EntryId("E1".to_owned()),
            kind,
            field: Some(field.to_owned()),
            target_value: Some(target.to_owned()),
            replacement: new.map(str::to_owned),
            reason: String::new(),
            author: None,
            timestamp: "2026-01-01T00:00:00Z".to_owned(),
            extra: Map::new(),
        };
        correction.by(Tier::Own, None, Tier::Own)
    }

    fn region() -> Region {
        let json = serde_json::json!({ "file": "a.rs", "intent": "Wait. Then go.", "reasoning": "Short",
            "constraints": ["never block", "drain first"], "tags": ["ui"],
            "semantic_dependencies": [{ "file": "b.rs", "anchor": "f", "nature": "is idempotent" }],
            "corrections": [{ "field": "region", "correction_type": "flag", "correction": "doubtful" }] });
        crate::read_region(json).unwrap()
    }

    #[test]
    fn nobody_says_something_else_under_the_name_of_a_correction() {
        let line = |correction: &Correction| serde_json::to_string(correction).unwrap();
        let json = r#"{"id":"X","entry":"E1","kind":"flag","reason":"It waits.","timestamp":"2026-01-01T00:00:00Z"}"#;
        let honest = serde_json::from_str::<Correction>(json).unwrap().named();
        assert!(honest.id.0.starts_with("c-"));
        let forged = Correction { reason: "It does not wait.".to_owned(), ..honest.clone() };
        let (read, _) = read_corrections(format!("{}\n{}\n{json}", line(&honest), line(&forged)).as_bytes());
        assert_eq!(read[0], honest);
        assert_eq!((&read[1].reason, read[1].id == honest.id), (&forged.reason, false));
        assert_eq!(read[2].id.0, "X");
    }

    #[test]
    fn values_are_removed_and_replaced_where_they_stand() {
        let mut region = region();
        let mut claim = Claim::Region(&mut region);
        assert_eq!(claim.meant("constraints", "drain"), Some("drain first".to_owned()));
        assert_eq!(claim.meant("intent", "Then go."), Some("Then go.".to_owned()));
        assert_eq!(claim.meant("intent", "Stop."), None);
        assert_eq!(claim.meant("constraints", "r"), None, "two of them have an r");
        assert_eq!(claim.meant("content", "x"), None);
        claim.apply(&[
            correction(CorrectionKind::Remove, "constraints", "drain first", None),
            correction(CorrectionKind::Amend, "constraints", "never block", Some("never wait")),
            correction(CorrectionKind::Remove, "reasoning", "Short", None),
            correction(CorrectionKind::Amend, "intent", "Then go.", Some("Then run.")),
            correction(CorrectionKind::Remove, "semantic_dependencies", "is idempotent", None),
            correction(CorrectionKind::Flag, "tags", "ui", None),
        ]);
        assert_eq!(region.intent.as_deref(), Some("Wait. Then run."));
        assert_eq!(region.reasoning, None);
        assert_eq!(region.constraints.len(), 1);
        assert_eq!(region.constraints[0].text, "never wait");
        assert!(region.semantic_dependencies.is_empty());
        assert_eq!(region.tags, ["ui"]);
        assert_eq!(in_region(&region)[0].reason, "doubtful");
        assert_eq!(in_region(&region)[0].field, None);
    }

    #[test]
    fn a_lesson_that_is_removed_whole_leaves_a_mark() {
        let mut entry = Entry::new(EntryId("E".to_owned()), Category::Gotcha, "never block");
        Claim::Entry(&mut entry).apply(&[correction(CorrectionKind::Remove, "content", "never block", None)]);
        assert_eq!(entry.content, REMOVED);
    }

    #[test]
    fn who_is_trusted_less_only_casts_doubt() {
        let removal = |trust, target| {
            let (corrections, _) = read_corrections(
                br#"{"id":"C","entry":"E","kind":"remove","field":"content","target_value":"x"}"#,
            );
            let item = corrections[0].clone().by(trust, None, target);
            (item.kind, item.meant)
        };
        let flag = (CorrectionKind::Flag, Some(CorrectionKind::Remove));
        for (trust, target, expected) in [
            (Tier::Own, Tier::Own, (CorrectionKind::Remove, None)),
            (Tier::Own, Tier::Unknown, (CorrectionKind::Remove, None)),
            (Tier::Team, Tier::Own, flag),
            (Tier::Unknown, Tier::Team, flag),
            (Tier::Unknown, Tier::Unknown, (CorrectionKind::Remove, None)),
        ] {
            assert_eq!(removal(trust, target), expected, "{trust:?} {target:?}");
        }
    }

    #[test]
    fn lines_that_are_no_corrections_are_counted() {
        let deep =
            format!(r#"{{"id":"D","entry":"E","kind":"flag","x":{}{}}}"#, "[".repeat(9999), "]".repeat(9999));
        let bytes = format!(
            "{{\"id\":\"A\",\"entry\":\"E\",\"kind\":\"flag\",\"reason\":\"r\",\"x\":1}}\n\nhello\n{deep}\n{{\"id\":\"B\",\"entry\":\"E\",\"kind\":\"burn\"}}\n"
        );
        let (corrections, n_unread) = read_corrections(bytes.as_bytes());
        assert_eq!((corrections.len(), n_unread), (1, 3));
        assert_eq!(corrections[0].extra["x"], serde_json::json!(1));
    }

    #[test]
    fn too_many_corrections_leave_the_trusted_and_the_newest() {
        let mut many: Vec<_> = (0..100)
            .map(|n| CorrectionItem {
                id: Some(EntryId(format!("{n:03}"))),
                trust: if n == 0 { Tier::Own } else { Tier::Unknown },
                ..correction(CorrectionKind::Flag, "content", "x", None)
            })
            .collect();
        arrange(&mut many);
        let ids: Vec<_> = many.iter().filter_map(|item| item.id.as_ref()).map(|id| id.0.as_str()).collect();
        assert_eq!(many.len(), MAX_SHOWN);
        assert_eq!((ids[0], ids[1], ids[19]), ("000", "081", "099"));
    }
}
