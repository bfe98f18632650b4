//! What keys and the mouse do.

use super::{Browser, Effect, Purpose, Tab, Target, Typing};
use crate::browse::copied;

/// A key, whatever the terminal calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Letter(char),
    Pasted(String),
    Enter,
    Escape,
    Backspace,
    Tab,
    BackTab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    /// Ctrl-U.
    Clear,
}

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Click,
    Up,
    Down,
}

impl Browser {
    /// Does what a key says, as far as the browser can alone.
    pub(crate) fn press(&mut self, key: Key) -> Option<Effect> {
        self.message.clear();
        match key {
            Key::Interrupt => return Some(Effect::Quit),
            Key::Suspend => return Some(Effect::Suspend),
            _ => {}
        }
        if self.typing.is_some() {
            return self.typed(key);
        }
        if self.is_help {
            self.is_help = false;
            return None;
        }
        match key {
            Key::Up => self.move_by(-1),
            Key::Down => self.move_by(1),
            Key::PageUp => self.move_by(-self.page_step()),
            Key::PageDown => self.move_by(self.page_step()),
            Key::Home => self.move_by(i64::MIN / 2),
            Key::End => self.move_by(i64::MAX / 2),
            Key::Tab => return self.turn(1),
            Key::BackTab => return self.turn(3),
            Key::Enter => return self.enter(),
            Key::Escape => return self.escape(),
            Key::Letter(letter) => return self.letter(letter),
            Key::Pasted(_) | Key::Backspace | Key::Clear | Key::Interrupt | Key::Suspend => {}
        }
        None
    }

    fn letter(&mut self, letter: char) -> Option<Effect> {
        match letter {
            'q' => return Some(Effect::Quit),
            '?' | 'h' => self.is_help = true,
            'j' => self.move_by(1),
            'k' => self.move_by(-1),
            'g' => self.move_by(i64::MIN / 2),
            'G' => self.move_by(i64::MAX / 2),
            ' ' => self.move_by(self.page_step()),
            'n' => self.next(true),
            'p' | 'N' => self.next(false),
            '/' => self.typing = Some(Typing { purpose: Purpose::Search, text: String::new() }),
            ']' | 'd' => self.scroll = self.scroll.saturating_add(5),
            '[' | 'u' => self.scroll = self.scroll.saturating_sub(5),
            '1'..='4' => {
                let at = letter as usize - '1' as usize;
                return self.go_to(Tab::ALL[at]);
            }
            'w' | 's' => return self.why(),
            'b' => return self.blame(),
            _ => return self.act(letter),
        }
        None
    }

    /// Keys that do something to the selected row.
    fn act(&mut self, letter: char) -> Option<Effect> {
        if letter == 'o' {
            return self.open();
        }
        let Some(row) = self.selected().cloned() else {
            self.message = if self.is_in_file() {
                "no lesson on this line: n goes to the next one"
            } else {
                "nothing is selected"
            }
            .into();
            return None;
        };
        let judged = |is_right| Some(Effect::Judge { id: row.id.clone(), is_right });
        match (letter, &row.target) {
            ('y', _) => return Some(Effect::Copy(copied::for_agent(&row))),
            ('r', _) => match &row.session {
                Some(session) => return Some(Effect::Resume(session.clone())),
                None => {
                    self.message =
                        "no session is known for it; w looks for the one that wrote the line".into();
                }
            },
            ('f', Target::Lesson) => self.ask(Purpose::Flag { id: row.id }),
            ('e', Target::Lesson) => return Some(Effect::Edit { id: row.id, text: row.words }),
            ('c', Target::Lesson | Target::Session) => return judged(true),
            ('x', Target::Lesson | Target::Session) => return judged(false),
            ('R' | 'c', Target::Thread) => self.ask(Purpose::Close { id: row.id, is_done: true }),
            ('x', Target::Thread) => self.ask(Purpose::Close { id: row.id, is_done: false }),
            ('f' | 'e' | 'c' | 'x' | 'R', _) => {
                self.message = "that key does nothing here; ? shows the keys".into();
            }
            _ => self.message = "? shows the keys".into(),
        }
        None
    }

    fn ask(&mut self, purpose: Purpose) {
        self.typing = Some(Typing { purpose, text: String::new() });
    }

    fn typed(&mut self, key: Key) -> Option<Effect> {
        let typing = self.typing.as_mut()?;
        match key {
            Key::Letter(letter) => typing.add(letter.encode_utf8(&mut [0; 4])),
            Key::Pasted(text) => typing.add(&text),
            Key::Backspace => drop(typing.text.pop()),
            Key::Clear => typing.text.clear(),
            Key::Escape => {
                let purpose = self.typing.take().map(|typing| typing.purpose);
                if purpose == Some(Purpose::Search) {
                    self.filter.clear();
                }
                return None;
            }
            Key::Enter => {
                let typing = self.typing.take()?;
                return self.meant(typing);
            }
            _ => {}
        }
        if let Some(Typing { purpose: Purpose::Search, text }) = &self.typing {
            self.filter.clone_from(text);
            if !self.is_in_file() {
                self.list_mut().at = 0;
            }
        }
        None
    }

    /// Does what a typed text is for.
    fn meant(&mut self, typing: Typing) -> Option<Effect> {
        let text = typing.text.trim().to_owned();
        match typing.purpose {
            Purpose::Search => {
                self.filter = text;
                if self.is_in_file() && !self.filter.is_empty() {
                    self.next(true);
                }
                None
            }
            Purpose::Flag { .. } if text.is_empty() => {
                self.message = "nothing was flagged: a reason is needed".into();
                None
            }
            Purpose::Flag { id } => Some(Effect::Flag { id, reason: text }),
            Purpose::Close { id, is_done } => Some(Effect::Close { id, is_done, note: text }),
        }
    }

    fn page_step(&self) -> i64 {
        i64::try_from(self.page.saturating_sub(2).max(1)).unwrap_or(1)
    }

    fn move_by(&mut self, by: i64) {
        self.scroll = 0;
        self.detail = None;
        if self.is_in_file()
            && let Some(code) = &mut self.code
        {
            let line = i64::from(code.line).saturating_add(by).clamp(1, i64::from(code.n_lines().max(1)));
            return code.go(u32::try_from(line).unwrap_or(1));
        }
        let last = i64::try_from(self.fitting().len()).unwrap_or(i64::MAX).saturating_sub(1).max(0);
        let list = self.list_mut();
        let at = i64::try_from(list.at).unwrap_or_default().saturating_add(by).clamp(0, last);
        list.at = usize::try_from(at).unwrap_or_default();
    }

    /// The next hit of a search in a file, the next lesson of a file, or the next row.
    fn next(&mut self, is_forward: bool) {
        if !self.is_in_file() {
            return self.move_by(if is_forward { 1 } else { -1 });
        }
        (self.scroll, self.detail) = (0, None);
        let filter = self.filter.clone();
        let Some(code) = &mut self.code else { return };
        if filter.is_empty() {
            code.step(is_forward);
        } else if !code.find(&filter, is_forward) {
            self.message = format!("`{filter}` is not in this file");
        }
    }

    fn turn(&mut self, by: usize) -> Option<Effect> {
        self.go_to(Tab::ALL[(self.tab as usize + by) % Tab::ALL.len()])
    }

    pub(crate) fn go_to(&mut self, tab: Tab) -> Option<Effect> {
        (self.tab, self.scroll, self.detail) = (tab, 0, None);
        self.filter.clear();
        self.list().rows.is_none().then_some(Effect::Load(tab))
    }

    fn enter(&mut self) -> Option<Effect> {
        if self.is_in_file() {
            return self.why();
        }
        let row = self.selected()?;
        match (&row.target, &row.file, &row.session) {
            (Target::Lesson, Some(file), _) => Some(Effect::Show { file: file.clone(), line: row.line() }),
            (Target::Session, ..) => Some(Effect::Session(row.id.clone())),
            (_, _, Some(session)) => Some(Effect::Session(session.clone())),
            (_, Some(file), None) => Some(Effect::Show { file: file.clone(), line: row.line() }),
            _ => None,
        }
    }

    /// Closes what was opened last; in the end, the browser.
    fn escape(&mut self) -> Option<Effect> {
        if self.detail.take().is_some() {
            self.scroll = 0;
        } else if !self.filter.is_empty() {
            self.filter.clear();
        } else if self.is_in_file() {
            self.code = None;
            if self.list().rows.is_none() {
                return Some(Effect::Load(Tab::Lessons));
            }
        } else {
            return Some(Effect::Quit);
        }
        None
    }

    fn why(&mut self) -> Option<Effect> {
        if let (true, Some(code)) = (self.is_in_file(), &self.code) {
            return Some(Effect::Why { file: code.file.clone(), line: code.line });
        }
        let row = self.selected()?;
        match (&row.session, &row.file, row.lines) {
            (Some(session), ..) => Some(Effect::Session(session.clone())),
            (None, Some(file), Some((line, _))) => Some(Effect::Why { file: file.clone(), line }),
            _ => {
                self.message = "no line and no session is known for it".into();
                None
            }
        }
    }

    fn blame(&mut self) -> Option<Effect> {
        if !self.is_in_file() {
            self.message = "b shows who wrote the lines of an open file".into();
            return None;
        }
        let code = self.code.as_mut()?;
        code.is_blame_shown = !code.is_blame_shown;
        let is_wanted = code.is_blame_shown && code.written.is_empty() && 0 < code.n_lines();
        is_wanted.then(|| Effect::Blame { file: code.file.clone(), n_lines: code.n_lines() })
    }

    fn open(&mut self) -> Option<Effect> {
        if let (true, Some(code)) = (self.is_in_file(), &self.code) {
            return Some(Effect::Open { file: code.file.clone(), line: code.line });
        }
        let row = self.selected()?;
        let opened = row.file.clone().map(|file| Effect::Open { file, line: row.line() });
        if opened.is_none() {
            self.message = "no file is known for it".into();
        }
        opened
    }

    /// Does what the mouse says at a place of the screen.
    pub(crate) fn point(&mut self, act: Act, column: u16, row: u16) -> Option<Effect> {
        let (first, width) = self.rows_at;
        let is_on_rows = column < width;
        match act {
            Act::Up if is_on_rows => self.move_by(-3),
            Act::Down if is_on_rows => self.move_by(3),
            Act::Up => self.scroll = self.scroll.saturating_sub(3),
            Act::Down => self.scroll = self.scroll.saturating_add(3),
            Act::Click if row == 0 => return self.tab_at(column),
            Act::Click if is_on_rows && first <= row => {
                let below = usize::from(row - first);
                (self.scroll, self.detail) = (0, None);
                if self.is_in_file()
                    && let Some(code) = &mut self.code
                {
                    code.go(u32::try_from(code.top + below + 1).unwrap_or(u32::MAX));
                    return None;
                }
                let at = self.list().top + below;
                if at < self.fitting().len() {
                    self.list_mut().at = at;
                }
            }
            Act::Click => {}
        }
        None
    }

    /// The tab whose name is at a column of the first line.
    fn tab_at(&mut self, column: u16) -> Option<Effect> {
        let mut from = 0;
        for tab in Tab::ALL {
            let to = from + self.tab_label(tab).chars().count() + 1;
            if (from..to).contains(&usize::from(column)) {
                return self.go_to(tab);
            }
            from = to;
        }
        None
    }

    /// How a tab is called at the top: with its key, and how many rows it has.
    pub(crate) fn tab_label(&self, tab: Tab) -> String {
        let n_rows = self.lists[tab as usize].rows.as_ref().map(Vec::len);
        let n_rows = n_rows.map(|n| format!(" {n}")).unwrap_or_default();
        format!(" {} {}{n_rows} ", tab as usize + 1, tab.name())
    }
}
