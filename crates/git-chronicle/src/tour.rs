//! The main job in a minute, on a throw-away repository.
//!
//! Everything shown really happens: git makes the commits, the application stores
//! and reads the lessons, the answers are printed as they come.

use std::path::Path;

use chronicle::{AnnotateCommand, Category, Chronicle, Given, ReadCommand, Said, scratch_git as git};
use chronicle_render::{self as render, Format, View};
use chronicle_workplace::Error;

/// Shows the main job, telling each step to `say`; the answers in this format.
///
/// # Errors
/// When git is missing or a temporary directory cannot be made.
pub(crate) fn tour(format: Format, view: View, say: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let directory = tempfile::tempdir().map_err(no_directory)?;
    let mut tour = Tour { root: directory.path(), format, view, say };
    tour.remember()?;
    tour.refactor()?;
    tour.read_back()
}

fn no_directory(source: std::io::Error) -> Error {
    Error::TemporaryDirectory { source }
}

struct Tour<'a> {
    root: &'a Path,
    format: Format,
    view: View,
    say: &'a mut dyn FnMut(&str),
}

const RECONNECT: &str = "\
use std::time::Duration;

/// How long to wait before the next attempt.
pub fn backoff(attempt: u32) -> Duration {
    let seconds = 1u64 << attempt.min(6);
    Duration::from_millis(seconds * 1000)
}

pub fn attempts(limit: u32) -> impl Iterator<Item = Duration> {
    (0..limit).map(backoff)
}
";

const SUMMARY: &str = "Back off exponentially: with a fixed delay all clients came back at once";
const DEAD_END: &str = "src/reconnect.rs: Tried a fixed delay first; after an outage every client reconnected in the same second.";
const GOTCHA: &str =
    "src/reconnect.rs:5-6 The configured maximum is in seconds, the timer takes milliseconds.";

impl Tour<'_> {
    fn remember(&mut self) -> Result<(), Error> {
        self.title("1. A change is made, and its author records why");
        git(self.root, &["init", "--quiet", "--initial-branch=main"])?;
        git(self.root, &["config", "user.name", "Ada"])?;
        git(self.root, &["config", "user.email", "ada@example.com"])?;
        self.write("src/reconnect.rs", &RECONNECT.replace("1u64 << attempt.min(6)", "5"))?;
        self.commit("reconnect: wait before trying again")?;
        self.write("src/reconnect.rs", RECONNECT)?;
        self.commit("reconnect: back off exponentially")?;
        self.command(&format!(
            "git chronicle annotate --summary '{SUMMARY}' \\\n    --dead-end '{DEAD_END}' \\\n    --gotcha '{GOTCHA}'"
        ));
        let given = Given::Said(Said {
            summary: Some(SUMMARY.to_owned()),
            lessons: vec![(Category::DeadEnd, DEAD_END.to_owned()), (Category::Gotcha, GOTCHA.to_owned())],
            ..Said::default()
        });
        let chronicle = Chronicle::isolated(self.root, self.view.now);
        let reply = chronicle.annotate(AnnotateCommand {
            given,
            commit: None,
            replace: Vec::new(),
            replace_summary: false,
        })?;
        (self.say)(&render::stored(&reply, self.format, &self.view));
        Ok(())
    }

    fn refactor(&mut self) -> Result<(), Error> {
        self.title("2. Others move the code, rename the file and edit around it");
        let moved = format!(
            "//! Coming back after an outage.\n\n{}",
            RECONNECT.replace("pub fn attempts", "/// Delays of the first attempts.\npub fn attempts")
        );
        self.write("src/reconnect.rs", &moved)?;
        self.commit("reconnect: document the module")?;
        git(self.root, &["mv", "src/reconnect.rs", "src/backoff.rs"])?;
        self.commit("reconnect: call the file what it does")?;
        self.write(
            "src/backoff.rs",
            &moved.replace("Coming back", "Waiting to come back\n//! without a stampede"),
        )?;
        self.tell("(and one more edit, not committed yet)\n");
        Ok(())
    }

    fn read_back(&mut self) -> Result<(), Error> {
        self.title("3. The next person to edit it asks first");
        let command = ReadCommand { paths: vec!["src/backoff.rs".into()], ..ReadCommand::default() };
        self.command("git chronicle read src/backoff.rs");
        let chronicle = Chronicle::isolated(self.root, self.view.now);
        let reading = chronicle.read(&command)?;
        let code = chronicle.present_code();
        let answer = match self.format {
            Format::Pretty => {
                render::reading_with_code(&reading, &self.view, &|file, lines| code.line(file, lines))
            }
            format => render::reading(&reading, format, &self.view),
        };
        (self.say)(&answer);
        let gotcha = reading.wisdom.iter().find(|item| item.category == Category::Gotcha);
        let lines = gotcha.and_then(|item| item.standing.lines);
        if let Some(lines) = lines {
            self.tell(&format!(
                "\nThe lesson recorded for lines 5-6 of src/reconnect.rs is now at lines {}-{} of src/backoff.rs.\n",
                lines.start, lines.end
            ));
        }
        Ok(())
    }

    fn title(&mut self, text: &str) {
        self.tell(&format!("\n{text}\n{}\n", "-".repeat(text.chars().count())));
    }

    fn command(&mut self, text: &str) {
        self.tell(&format!("$ {text}\n"));
    }

    /// Says what is no answer; programs get the answers alone.
    fn tell(&mut self, text: &str) {
        if self.format != Format::Json {
            (self.say)(text);
        }
    }

    fn write(&self, path: &str, content: &str) -> Result<(), Error> {
        let full = self.root.join(path);
        let directory = full.parent().expect("the file is in a directory");
        std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&full, content)).map_err(no_directory)
    }

    fn commit(&mut self, message: &str) -> Result<(), Error> {
        git(self.root, &["add", "--all"])?;
        git(self.root, &["commit", "--quiet", "-m", message])?;
        self.command(&format!("git commit -m \"{message}\""));
        Ok(())
    }
}
