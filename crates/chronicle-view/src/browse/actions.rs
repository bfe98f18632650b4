//! Carries out what keys ask for: reads, corrections, and other programs.

use chronicle::{Chronicle, CorrectCommand, CorrectReply, FlagCommand, How};
use chronicle_memory::{learning::FeedbackCommand, threads::ThreadAct};

use super::{
    Outside, load,
    state::{Browser, Effect, Tab},
};
use crate::ViewError;

/// All that the browser can do to the world.
pub(super) struct Actions<'a> {
    pub(super) chronicle: &'a Chronicle,
    pub(super) outside: &'a mut dyn Outside,
}

impl Actions<'_> {
    /// Does it, and says in the browser how it went.
    pub(super) fn carry_out(&mut self, effect: Effect, browser: &mut Browser) {
        if let Err(error) = self.tried(effect, browser) {
            browser.message = format!("error: {error}");
        }
    }

    fn tried(&mut self, effect: Effect, browser: &mut Browser) -> Result<(), String> {
        let words = |error: ViewError| chronicle_core::one_line(&error.to_string());
        let said = |error: chronicle_workplace::Error| chronicle_core::one_line(&error.to_string());
        match effect {
            Effect::Load(tab) => browser.set_rows(tab, load::rows(self.chronicle, tab).map_err(words)?),
            Effect::Show { file, line } => {
                let top = self.chronicle.work_dir().map_err(said)?.unwrap_or_default();
                browser.code = Some(load::code(self.chronicle, &top.join(file), line).map_err(words)?);
                (browser.tab, browser.detail, browser.scroll) = (Tab::Lessons, None, 0);
                browser.filter.clear();
            }
            Effect::Why { file, line } => {
                let (detail, session) = load::why(self.chronicle, &file, line).map_err(words)?;
                if let (Some(code), Some(session)) = (&mut browser.code, session) {
                    let is_here = |lines: (u32, u32)| (lines.0..=lines.1).contains(&line);
                    let lessons = code.lessons.iter_mut();
                    for lesson in lessons.filter(|lesson| lesson.lines.is_some_and(is_here)) {
                        lesson.session = Some(session.clone());
                    }
                }
                (browser.detail, browser.scroll) = (Some(detail), 0);
            }
            Effect::Blame { file, n_lines } => {
                let written = load::blame(self.chronicle, &file, n_lines).map_err(words)?;
                if let Some(code) = &mut browser.code {
                    code.written = written;
                }
            }
            Effect::Session(id) => {
                browser.detail = Some(load::session(self.chronicle, &id).map_err(words)?);
                browser.scroll = 0;
            }
            Effect::Flag { id, reason } => {
                let command = FlagCommand { path: (&id).into(), anchor: None, reason, all: false };
                let reply = self.chronicle.flag(&command).map_err(said)?;
                self.corrected(
                    &reply,
                    "flagged: readers see your reason, and trust it half as far",
                    browser,
                )?;
            }
            Effect::Judge { id, is_right } => {
                let command = FeedbackCommand { id, is_right, note: None };
                self.chronicle.memory().learning().feedback(&command).map_err(said)?;
                browser.message = match is_right {
                    true => "confirmed".into(),
                    false => "rejected on this machine; c takes it back".into(),
                };
                self.again(browser)?;
            }
            Effect::Close { id, is_done, note } => {
                let how = if is_done { How::Completed } else { How::WontDo };
                let act = ThreadAct::Close { how, note: Some(note).filter(|note| !note.is_empty()) };
                self.chronicle.memory().threads().change(&[id], &act).map_err(said)?;
                browser.message = if is_done { "done".into() } else { "dropped".into() };
                self.again(browser)?;
            }
            Effect::Edit { id, text } => match self.outside.edit(&text)? {
                None => browser.message = "nothing was changed".into(),
                Some(new) => {
                    let command = CorrectCommand {
                        target: id,
                        region: None,
                        path: None,
                        field: Some("content".into()),
                        value: text,
                        replacement: Some(new),
                        reason: None,
                    };
                    let reply = self.chronicle.correct(&command).map_err(said)?;
                    self.corrected(&reply, "corrected: readers see the new words", browser)?;
                }
            },
            Effect::Open { file, line } => {
                let top = self.chronicle.work_dir().map_err(said)?.unwrap_or_default();
                self.outside.open(&top.join(file), line)?;
                // The file may be another one now.
                self.again(browser)?;
            }
            Effect::Quit | Effect::Suspend | Effect::Copy(_) | Effect::Resume(_) => {}
        }
        Ok(())
    }

    fn corrected(&self, reply: &CorrectReply, done: &str, browser: &mut Browser) -> Result<(), String> {
        browser.message = match reply.changed {
            true => done.to_owned(),
            false => "several lessons have that id; nothing was changed".to_owned(),
        };
        self.again(browser)
    }

    /// Shows what is so now.
    fn again(&self, browser: &mut Browser) -> Result<(), String> {
        let chronicle = self.chronicle.at(self.chronicle.workplace().directory());
        let words = |error: ViewError| chronicle_core::one_line(&error.to_string());
        for tab in Tab::ALL {
            if browser.lists[tab as usize].rows.is_some() {
                browser.set_rows(tab, load::rows(&chronicle, tab).map_err(words)?);
            }
        }
        if let Some(code) = &browser.code {
            let (line, top) = (code.line, code.top);
            let selected = code.lesson_here().map(|lesson| lesson.id.clone());
            let folder = chronicle.work_dir().ok().flatten().unwrap_or_default();
            let mut code = load::code(&chronicle, &folder.join(&code.file), line).map_err(words)?;
            code.top = top;
            if let Some(id) = selected {
                code.select(&id);
            }
            browser.code = Some(code);
        }
        Ok(())
    }
}
