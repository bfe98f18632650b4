//! What the browser shows, and what keys do to it.

mod code;
mod keys;
mod rows;
mod typing;

pub(crate) use code::{Code, Written};
pub(crate) use keys::{Act, Key};
pub(crate) use rows::{Detail, Row, Target};
pub(crate) use typing::{Purpose, Typing};

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tab {
    Lessons,
    Sessions,
    Open,
    Shown,
}

impl Tab {
    pub(crate) const ALL: [Self; 4] = [Self::Lessons, Self::Sessions, Self::Open, Self::Shown];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lessons => "Lessons",
            Self::Sessions => "Sessions",
            Self::Open => "Open",
            Self::Shown => "Shown",
        }
    }
}

/// Rows of one tab, and the one that is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// None until the tab is looked at.
    pub(crate) rows: Option<Vec<Row>>,
    /// The number of the selected one among those that fit the filter.
    pub(crate) at: usize,
    /// The first that is on the screen; the screen moves it.
    pub(crate) top: usize,
}

/// What cannot be done by the browser alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Quit,
    Suspend,
    /// The rows of a tab are wanted.
    Load(Tab),
    /// A file is to be shown, at a line.
    Show {
        file: String,
        line: u32,
    },
    /// Who wrote a line, and in which session.
    Why {
        file: String,
        line: u32,
    },
    /// Who wrote each line of a file.
    Blame {
        file: String,
        n_lines: u32,
    },
    /// A session with its turns.
    Session(String),
    Flag {
        id: String,
        reason: String,
    },
    /// A lesson is right or wrong, or a session's title.
    Judge {
        id: String,
        is_right: bool,
    },
    /// A thread is done, or will not be.
    Close {
        id: String,
        is_done: bool,
        note: String,
    },
    Edit {
        id: String,
        text: String,
    },
    Open {
        file: String,
        line: u32,
    },
    Copy(String),
    Resume(String),
}

/// The browser.
#[derive(Debug, Clone)]
pub(crate) struct Browser {
    pub(crate) project: String,
    pub(crate) tab: Tab,
    pub(crate) lists: [List; 4],
    /// The file that is open in the tab of lessons.
    pub(crate) code: Option<Code>,
    /// What is shown in place of the details of the selected row, such as a session with its turns.
    pub(crate) detail: Option<Detail>,
    /// The first line of the details that is shown.
    pub(crate) scroll: usize,
    /// Only rows with all these words are listed; in a file, what is looked for.
    pub(crate) filter: String,
    pub(crate) typing: Option<Typing>,
    pub(crate) message: String,
    pub(crate) is_help: bool,
    /// Rows that fit on the screen; the screen says.
    pub(crate) page: usize,
    /// Where the rows are on the screen, for the mouse: the first row and the width of their column.
    pub(crate) rows_at: (u16, u16),
}

impl Browser {
    pub(crate) fn new(project: String) -> Self {
        Self {
            project,
            tab: Tab::Lessons,
            lists: Default::default(),
            code: None,
            detail: None,
            scroll: 0,
            filter: String::new(),
            typing: None,
            message: String::new(),
            is_help: false,
            page: 10,
            rows_at: (1, 0),
        }
    }

    pub(crate) fn list(&self) -> &List {
        &self.lists[self.tab as usize]
    }

    pub(crate) fn list_mut(&mut self) -> &mut List {
        &mut self.lists[self.tab as usize]
    }

    /// Puts rows into a tab; the selected one stays selected if it is still there.
    pub(crate) fn set_rows(&mut self, tab: Tab, rows: Vec<Row>) {
        let list = &mut self.lists[tab as usize];
        let selected = list.rows.as_ref().and_then(|rows| rows.get(list.at)).map(|row| row.id.clone());
        list.at = rows.iter().position(|row| Some(&row.id) == selected.as_ref()).unwrap_or(list.at);
        list.at = list.at.min(rows.len().saturating_sub(1));
        list.rows = Some(rows);
    }

    /// The rows that fit the filter.
    pub(crate) fn fitting(&self) -> Vec<&Row> {
        let words: Vec<String> = self.filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let rows = self.list().rows.iter().flatten();
        rows.filter(|row| self.is_in_file() || words.iter().all(|word| row.text().contains(word.as_str())))
            .collect()
    }

    /// The row that is looked at: in a file, the first lesson of the line.
    pub(crate) fn selected(&self) -> Option<&Row> {
        match &self.code {
            Some(code) if self.is_in_file() => code.lesson_here(),
            _ => self.fitting().get(self.list().at).copied(),
        }
    }

    /// Whether a file is on the screen.
    pub(crate) fn is_in_file(&self) -> bool {
        self.tab == Tab::Lessons && self.code.is_some()
    }
}

#[cfg(test)]
mod tests;
