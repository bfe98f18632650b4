//! What a client can do, and what it wants to see.
//!
//! Its capabilities are looked at by their names and not taken apart as a whole: some clients send one or the other in a
//! form of their own, which is no reason not to talk to them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    text::Encoding,
    uri::{path_of, real},
};

/// Open folders beyond this are those of no editor.
const MAX_FOLDERS: usize = 1000;

/// What a client can do; it never changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub(crate) encoding: Encoding,
    /// Whether a hover may be Markdown.
    pub(crate) shows_markdown: bool,
    /// Whether code actions may be more than commands.
    pub(crate) takes_actions: bool,
    /// Whether it can show a document that the server names.
    pub(crate) shows_documents: bool,
    /// Whether it can be told to ask again for hints and lenses.
    pub(crate) refreshes_hints: bool,
    pub(crate) refreshes_lenses: bool,
}

impl Client {
    /// What the parameters of `initialize` say.
    pub(crate) fn of(initialize: &Value) -> Self {
        let at = |path: &str| initialize.pointer(&format!("/capabilities{path}"));
        let is_set = |path: &str| at(path).and_then(Value::as_bool).unwrap_or(false);
        let lists = |path: &str, wanted: &str| {
            let list = at(path).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|value| value.as_str() == Some(wanted)))
        };
        let encodings = "/general/positionEncodings";
        let encoding = match () {
            () if lists(encodings, "utf-8") => Encoding::Utf8,
            () if lists(encodings, "utf-32") && !lists(encodings, "utf-16") => Encoding::Utf32,
            () => Encoding::Utf16,
        };
        Self {
            encoding,
            shows_markdown: lists("/textDocument/hover/contentFormat", "markdown"),
            takes_actions: at("/textDocument/codeAction/codeActionLiteralSupport").is_some(),
            shows_documents: is_set("/window/showDocument/support"),
            refreshes_hints: is_set("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: is_set("/workspace/codeLens/refreshSupport"),
        }
    }
}

/// What a person wants to see. Only the client sets it, no repository does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wishes {
    pub(crate) diagnostics: bool,
    pub(crate) inlay_hints: bool,
    pub(crate) code_lenses: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { diagnostics: true, inlay_hints: true, code_lenses: true }
    }
}

impl Wishes {
    /// What options or settings say, as they are or below `chronicle`; what they leave out stays as it is.
    pub(crate) fn set(&mut self, options: &Value) {
        let options = options.get("chronicle").unwrap_or(options);
        let wishes = [
            ("diagnostics", &mut self.diagnostics),
            ("inlayHints", &mut self.inlay_hints),
            ("codeLens", &mut self.code_lenses),
        ];
        for (name, wish) in wishes {
            *wish = options.get(name).and_then(Value::as_bool).unwrap_or(*wish);
        }
    }
}

/// The folders that are open in the editor.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    open: Vec<PathBuf>,
}

impl Folders {
    /// Those that the parameters of `initialize` name.
    pub(crate) fn of(initialize: &Value) -> Self {
        let mut folders = Self::default();
        let listed = initialize.get("workspaceFolders").and_then(Value::as_array);
        let root = initialize.get("rootUri").filter(|_| listed.is_none_or(Vec::is_empty));
        let named = listed.into_iter().flatten().filter_map(|folder| folder.get("uri")).chain(root);
        named.filter_map(Value::as_str).for_each(|uri| folders.add(uri));
        folders
    }

    /// Takes in what `workspace/didChangeWorkspaceFolders` says.
    pub(crate) fn change(&mut self, event: &Value) {
        let named = |list: &str| -> Vec<String> {
            let list = event.pointer(list).and_then(Value::as_array);
            let uris = list.into_iter().flatten().filter_map(|folder| folder.get("uri")?.as_str());
            uris.map(str::to_owned).collect()
        };
        for uri in named("/event/removed") {
            let gone = path_of(&uri).map(real);
            self.open.retain(|folder| Some(folder) != gone.as_ref());
        }
        named("/event/added").iter().for_each(|uri| self.add(uri));
    }

    fn add(&mut self, uri: &str) {
        let folder = path_of(uri).map(real).filter(|folder| !self.open.contains(folder));
        self.open.extend(folder.filter(|_| self.open.len() < MAX_FOLDERS));
    }

    /// Whether a file is in one of them; where none is open, all files are.
    pub(crate) fn hold(&self, file: &Path) -> bool {
        self.open.is_empty() || self.open.iter().any(|folder| file.starts_with(folder))
    }

    pub(crate) fn all(&self) -> &[PathBuf] {
        &self.open
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn utf_8_is_taken_where_it_is_offered() {
        let check = |encodings: Value, expected: Encoding| {
            let initialize = json!({ "capabilities": { "general": { "positionEncodings": encodings } } });
            assert_eq!(Client::of(&initialize).encoding, expected, "{initialize}");
        };
        check(json!(["utf-16", "utf-8"]), Encoding::Utf8);
        check(json!(["utf-16"]), Encoding::Utf16);
        check(json!(["utf-32", "utf-16"]), Encoding::Utf16);
        check(json!(["utf-32"]), Encoding::Utf32);
        check(json!(null), Encoding::Utf16);
        check(json!({ "utf-8": 1 }), Encoding::Utf16);
        assert_eq!(Client::of(&json!(7)).encoding, Encoding::Utf16);
    }

    #[test]
    fn wishes_are_found_with_and_without_the_name_of_the_section() {
        let check = |options: Value, expected: (bool, bool, bool)| {
            let mut wishes = Wishes::default();
            wishes.set(&options);
            assert_eq!((wishes.diagnostics, wishes.inlay_hints, wishes.code_lenses), expected, "{options}");
        };
        check(json!(null), (true, true, true));
        check(json!({ "diagnostics": false }), (false, true, true));
        check(json!({ "chronicle": { "inlayHints": false, "codeLens": false } }), (true, false, false));
        check(json!({ "diagnostics": "no" }), (true, true, true));
    }

    #[test]
    fn folders_come_and_go() {
        let initialize = json!({ "rootUri": "file:///none", "workspaceFolders": [{ "uri": "file:///one" }] });
        let mut folders = Folders::of(&initialize);
        let hold = |folders: &Folders, file: &str| folders.hold(Path::new(file));
        assert!(
            hold(&folders, "/one/a.rs") && !hold(&folders, "/none/a.rs") && !hold(&folders, "/onemore/a.rs")
        );
        folders.change(&json!({ "event": {
            "added": [{ "uri": "file:///two" }, { "uri": "untitled:x" }, 7],
            "removed": [{ "uri": "file:///one" }],
        } }));
        assert_eq!(folders.all(), [Path::new("/two")]);
        folders.change(&json!({ "event": 7 }));
        assert!(hold(&Folders::of(&json!({})), "/any/file"));
        assert!(hold(&Folders::of(&json!({ "rootUri": "file:///root" })), "/root/a"));
        assert!(!hold(&Folders::of(&json!({ "rootUri": "file:///root" })), "/a"));
    }
}
