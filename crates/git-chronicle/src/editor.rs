//! Opens a text in the user's editor, as git does.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use chronicle_workplace::Error;

use crate::{
    background,
    error::{CommandError, EditorSnafu},
    ui::Ui,
};

/// Lets the user edit `text` in the file `path`, and stores what they leave.
///
/// A text that is refused, or whose editor failed after a change, is kept there and opened again the next time. So is one
/// that this program could not store because it was killed.
pub(crate) fn edit<T>(
    path: &Path,
    text: &str,
    ui: &mut Ui,
    store: impl FnOnce(&str) -> Result<T, Error>,
) -> Result<T, CommandError> {
    let kept = fs::read_to_string(path).ok();
    if kept.is_some() {
        ui.tell(&format!("this is the text that was not stored before, kept in {}", path.display()));
    }
    let before = kept.as_deref().unwrap_or(text);
    write_private(path, before).map_err(|source| Error::WriteOutput { path: path.to_owned(), source })?;
    let opened = open(path);
    let path = PathBuf::from(path);
    let after = fs::read_to_string(&path);
    let after = after.map_err(|source| CommandError::from(Error::ReadInput { path: path.clone(), source }));
    if let Err(error) = opened {
        if kept.is_none() && after.is_ok_and(|after| after == before) {
            let _removed = fs::remove_file(&path);
        }
        return Err(error);
    }
    match store(&after?) {
        Ok(stored) => {
            let _removed = fs::remove_file(&path);
            Ok(stored)
        }
        Err(source) => Err(CommandError::KeptText { path, source }),
    }
}

/// Opens `path` in the editor that git would open for this user, and waits until it is closed.
pub(crate) fn open(path: &Path) -> Result<(), CommandError> {
    opened(None, path)
}

/// The same, at a line: most editors take `+LINE` before the name.
pub(crate) fn open_at(path: &Path, line: u32) -> Result<(), CommandError> {
    opened(Some(format!("+{line}")), path)
}

#[expect(clippy::disallowed_methods, reason = "the editor is the user's, and git knows which it is")]
fn opened(place: Option<String>, path: &Path) -> Result<(), CommandError> {
    // An agent's variables may be a repository's, and it has no eyes.
    if background::is_of_agent() {
        return EditorSnafu { editor: "none, where an agent runs this" }.fail();
    }
    // Asked outside of every repository: one that was only cloned or unpacked does not choose what runs here.
    let mut ask = Command::new("git");
    ask.args(["var", "GIT_EDITOR"]).current_dir("/").env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    let asked = ask.stdin(Stdio::null()).output();
    let editor = asked.ok().filter(|asked| asked.status.success());
    let editor = editor.map(|asked| String::from_utf8_lossy(&asked.stdout).trim().to_owned());
    let editor = editor.filter(|editor| !editor.is_empty()).unwrap_or_else(|| "vi".to_owned());
    // An editor may come with arguments, so a shell takes it apart, as git lets it.
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{editor} \"$@\""), &editor])
        .args(place.filter(|_| takes_lines(&editor)))
        .arg(path);
    let status = command.status();
    match status {
        Ok(status) if status.success() => Ok(()),
        _ => EditorSnafu { editor }.fail(),
    }
}

/// Whether an editor takes `+LINE`: another would take it for the name of a file.
fn takes_lines(editor: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "vi",
        "vim",
        "nvim",
        "view",
        "gvim",
        "nano",
        "pico",
        "micro",
        "emacs",
        "emacsclient",
        "joe",
        "kak",
        "mg",
        "ed",
    ];
    let program = editor.split_whitespace().next().unwrap_or_default();
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    KNOWN.contains(&name)
}

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    io::Write::write_all(&mut options.open(path)?, text.as_bytes())
}
