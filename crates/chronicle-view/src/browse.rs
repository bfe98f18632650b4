//! A browser of lessons, sessions and open work in the terminal.
//!
//! [`state`] decides what a key does and knows neither a terminal nor a store; [`screen`] draws a state; [`run`] is all that
//! touches the world. So what is shown and what keys do have table tests.

mod actions;
mod copied;
mod load;
mod screen;
mod state;
mod terminal;

use std::time::Duration;

use chronicle::{Chronicle, Patience};

use self::{
    actions::Actions,
    state::Effect,
    terminal::{Happened, Screen},
};
use crate::ViewError;

/// What to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Lessons of the whole repository.
    All,
    /// A file, at a line if one is named.
    File(std::path::PathBuf, Option<u32>),
    /// A session, by the beginning of its id.
    Session(String),
}

/// What the browser asks of the program that runs it: this crate starts no other.
pub trait Outside {
    /// Lets the user edit `text`; none where they left it as it was.
    fn edit(&mut self, text: &str) -> Result<Option<String>, String>;
    /// Opens a file, at a line, in the user's editor.
    fn open(&mut self, file: &std::path::Path, line: u32) -> Result<(), String>;
}

/// How the browser ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The user has seen enough.
    Quit,
    /// A session is to be continued.
    Resume(String),
    /// A signal asked for the end.
    Signal(i32),
}

/// How often signals are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Lets the user browse, until they end it.
///
/// # Errors
/// When what is to be shown first cannot be read, or the terminal does not answer.
pub fn browse(chronicle: &Chronicle, start: &Start, outside: &mut dyn Outside) -> Result<Ended, ViewError> {
    // What cannot be shown is said before the terminal changes.
    let mut browser = load::browser(chronicle, start)?;
    let mut screen = Screen::enter()?;
    // Nothing else writes to the terminal from here on: no progress, no word of a lock that is waited for.
    let workplace = chronicle.workplace();
    let quiet =
        workplace.at(workplace.directory()).with_progress(|_, _, _| {}).with_patience(Patience::default());
    let mut actions = Actions { chronicle: &Chronicle::new(quiet), outside };
    let mut is_stale = true;
    loop {
        if is_stale {
            screen.draw(&mut browser)?;
        }
        let effect = match screen.next(TICK)? {
            Happened::Nothing => {
                is_stale = false;
                continue;
            }
            Happened::Redraw => None,
            Happened::Key(key) => browser.press(key),
            Happened::Mouse(act, column, row) => browser.point(act, column, row),
            Happened::Ended(signal) => return Ok(Ended::Signal(signal)),
        };
        is_stale = true;
        match effect {
            None => {}
            Some(Effect::Quit) => return Ok(Ended::Quit),
            Some(Effect::Suspend) => screen.suspend()?,
            Some(Effect::Resume(id)) => return Ok(Ended::Resume(id)),
            Some(Effect::Copy(text)) => screen.copy(&text)?,
            Some(effect @ (Effect::Edit { .. } | Effect::Open { .. })) => {
                screen.leave();
                actions.carry_out(effect, &mut browser);
                screen.reenter()?;
            }
            Some(effect) => actions.carry_out(effect, &mut browser),
        }
    }
}
