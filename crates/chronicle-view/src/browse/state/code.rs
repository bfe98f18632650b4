//! A file on the screen, with the lessons on its lines.

use super::Row;

/// Who wrote a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) author: String,
    pub(crate) age: String,
}

/// A file that is open.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) file: String,
    pub(crate) lines: Vec<String>,
    /// The lessons on its lines, in their order; those without lines come last.
    pub(crate) lessons: Vec<Row>,
    /// The line that is looked at, from 1.
    pub(crate) line: u32,
    /// Which of several lessons on the line.
    pub(crate) which: usize,
    /// The first line on the screen; the screen moves it.
    pub(crate) top: usize,
    /// Who wrote each line; empty until it is asked for.
    pub(crate) written: Vec<Option<Written>>,
    pub(crate) is_blame_shown: bool,
}

impl Code {
    pub(crate) fn new(file: String, lines: Vec<String>, mut lessons: Vec<Row>, line: u32) -> Self {
        lessons.sort_by_key(|lesson| lesson.lines.unwrap_or((u32::MAX, u32::MAX)));
        let mut code = Self {
            file,
            lines,
            lessons,
            line: 1,
            which: 0,
            top: 0,
            written: Vec::new(),
            is_blame_shown: false,
        };
        code.go(line);
        code
    }

    pub(crate) fn n_lines(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// Looks at a line, or the nearest one that is there.
    pub(crate) fn go(&mut self, line: u32) {
        self.line = line.clamp(1, self.n_lines().max(1));
        self.which = 0;
    }

    /// The lessons on the line that is looked at; on the first line, also those of the whole file.
    pub(crate) fn lessons_here(&self) -> Vec<&Row> {
        let is_here = |lesson: &&Row| lesson.is_on(self.line) || self.line == 1 && lesson.lines.is_none();
        self.lessons.iter().filter(is_here).collect()
    }

    pub(crate) fn lesson_here(&self) -> Option<&Row> {
        let here = self.lessons_here();
        here.get(self.which.min(here.len().saturating_sub(1))).copied()
    }

    /// Looks at the lesson `id` among those on the line, if it is there.
    pub(crate) fn select(&mut self, id: &str) {
        self.which = self.lessons_here().iter().position(|lesson| lesson.id == id).unwrap_or_default();
    }

    /// Looks at the next lesson or the one before; at the end it begins again.
    pub(crate) fn step(&mut self, is_forward: bool) {
        let n_here = self.lessons_here().len();
        match is_forward {
            true if self.which + 1 < n_here => return self.which += 1,
            false if 0 < self.which => return self.which -= 1,
            _ => {}
        }
        let mut starts: Vec<u32> =
            self.lessons.iter().map(|lesson| lesson.lines.map_or(1, |(start, _)| start)).collect();
        starts.sort_unstable();
        let found = match is_forward {
            true => starts.iter().find(|start| self.line < **start).or(starts.first()),
            false => starts.iter().rev().find(|start| **start < self.line).or(starts.last()),
        };
        if let Some(line) = found.copied() {
            self.go(line);
            if !is_forward {
                self.which = self.lessons_here().len().saturating_sub(1);
            }
        }
    }

    /// Looks at the next line that holds `text` in its code or its lessons; whether there is one.
    pub(crate) fn find(&mut self, text: &str, is_forward: bool) -> bool {
        let text = text.to_lowercase();
        let n = self.n_lines();
        let holds = |line: u32| {
            let code = &self.lines[(line - 1) as usize];
            code.to_lowercase().contains(&text)
                || self.lessons.iter().any(|lesson| lesson.line() == line && lesson.text().contains(&text))
        };
        let step = |by: u32| match is_forward {
            true => (self.line - 1 + by) % n + 1,
            false => (self.line - 1 + n - by) % n + 1,
        };
        match (1..=n).map(step).find(|line| holds(*line)) {
            Some(line) => {
                self.go(line);
                true
            }
            None => false,
        }
    }
}
