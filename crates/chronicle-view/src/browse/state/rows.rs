//! Rows of lists, with what is shown next to the selected one.

/// What a row is about, for the keys that do something to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A lesson.
    Lesson,
    /// A session of an agent.
    Session,
    /// A thread of session memory.
    Thread,
    /// What an agent was shown.
    Occasion,
}

/// A row of a list: a lesson, a session, a thread, or an occasion on which an agent was shown something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) target: Target,
    /// A symbol, and the name of the kind that gives it its colour.
    pub(crate) mark: &'static str,
    pub(crate) kind: &'static str,
    /// What it says, on one line.
    pub(crate) title: String,
    /// Where and when: shown dim, after the title.
    pub(crate) about: String,
    /// The file and the lines that it is about, as they are now.
    pub(crate) file: Option<String>,
    pub(crate) lines: Option<(u32, u32)>,
    /// The session that it is about.
    pub(crate) session: Option<String>,
    /// All that is known of it.
    pub(crate) detail: Detail,
    /// Who says it, unless it is the user.
    pub(crate) by: Option<String>,
    /// The words that an edit begins with.
    pub(crate) words: String,
}

impl Row {
    /// What a filter looks at, in lower case.
    pub(crate) fn text(&self) -> String {
        let parts = [&*self.title, &*self.about, self.file.as_deref().unwrap_or_default(), self.kind];
        parts.join(" ").to_lowercase()
    }

    /// The same lesson once it was rejected on this machine.
    pub(crate) fn rejected(mut self) -> Self {
        self.title = format!("(rejected) {}", self.title);
        // Right below its words: a small screen has no room for more.
        let lines = &mut self.detail.lines;
        let at = lines.iter().position(String::is_empty).unwrap_or(lines.len());
        lines
            .insert(at, "rejected: briefings and hooks on this machine leave it out; c takes it back".into());
        self
    }

    /// The first line that it is about.
    pub(crate) fn line(&self) -> u32 {
        self.lines.map_or(1, |(start, _)| start)
    }

    pub(crate) fn is_on(&self, line: u32) -> bool {
        self.lines.is_some_and(|(start, end)| (start..=end).contains(&line))
    }
}

/// Text of several lines, with a heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    pub(crate) heading: String,
    pub(crate) lines: Vec<String>,
}
