//! The JSON on a hook's standard input.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The members of one JSON object; nothing of it is parsed before it is asked for.
#[derive(Debug, Default)]
pub(super) struct Payload<'p> {
    members: BTreeMap<Key<'p>, &'p RawValue>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Key<'p>(#[serde(borrow)] Cow<'p, str>);

impl<'p> Payload<'p> {
    /// What `text` holds; nothing where it is no object.
    pub(super) fn read(text: &'p str) -> Self {
        let members = serde_json::from_str(text.trim_start_matches('\u{feff}'));
        Self { members: members.unwrap_or_default() }
    }

    /// The first of several names that there is.
    pub(super) fn value(&self, names: &[&str]) -> Option<&'p RawValue> {
        names.iter().find_map(|name| self.members.get(&Key(Cow::Borrowed(name))).copied())
    }

    /// The first of several names that is a text.
    pub(super) fn text(&self, names: &[&str]) -> Option<Cow<'p, str>> {
        names.iter().find_map(|name| text(self.value(&[name])?))
    }

    /// The first text of a list.
    pub(super) fn first_of(&self, name: &str) -> Option<Cow<'p, str>> {
        let list: Vec<&RawValue> = serde_json::from_str(self.value(&[name])?.get()).ok()?;
        text(list.first()?)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value(&[name]).is_some()
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Key<'_>>(raw.get()).ok().map(|Key(text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_any_of_their_names() {
        let payload = Payload::read(r#"{"sessionId":"a\"b","n":1,"workspace_roots":["/x"]}"#);
        assert_eq!(payload.text(&["session_id", "sessionId"]).as_deref(), Some("a\"b"));
        assert_eq!(payload.text(&["n"]), None);
        assert_eq!(payload.first_of("workspace_roots").as_deref(), Some("/x"));
        assert!(payload.has("n") && !payload.has("m"));
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for text in ["", "[]", "{", "null", "{\"a\":}"] {
            assert!(Payload::read(text).members.is_empty(), "{text}");
        }
    }
}
