//! The terminal: taken over, given back as it was, and listened to.
//!
//! It is given back when the browser ends in any way that a program can see: by a key, an error, a panic, a signal, or a
//! stop of the job. What only `kill -9` ends leaves it as it is; `reset` helps then.

use std::{
    io::{Write, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
    time::Duration,
};

use crossterm::{
    event::{
        self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
        KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
    },
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Rect};
use signal_hook::{
    consts::{SIGHUP, SIGTERM, SIGTSTP},
    iterator::Signals,
};
use snafu::ResultExt;

use super::{
    copied, screen,
    state::{Act, Browser, Key},
};
use crate::{ViewError, error::TerminalSnafu};

/// What happened since it was looked at last.
pub(super) enum Happened {
    Nothing,
    /// The size changed, or the browser was in the background.
    Redraw,
    Key(Key),
    Mouse(Act, u16, u16),
    /// A signal asks for the end.
    Ended(i32),
}

/// Whether the terminal is the browser's now, for a panic that comes from anywhere.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while the browser has it.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<std::io::Stdout>>,
    ended: Arc<AtomicI32>,
    stopped: Arc<AtomicBool>,
}

impl Screen {
    pub(super) fn enter() -> Result<Self, ViewError> {
        let ended = Arc::new(AtomicI32::new(0));
        let stopped = Arc::new(AtomicBool::new(false));
        end_on_signals(Arc::clone(&ended)).context(TerminalSnafu)?;
        signal_hook::flag::register(SIGTSTP, Arc::clone(&stopped)).context(TerminalSnafu)?;
        give_back_on_panic();
        take()?;
        let backend = CrosstermBackend::new(stdout());
        // Some serial lines and programs that record a terminal say that it has no size.
        let viewport = match crossterm::terminal::size() {
            Ok((columns, rows)) if 0 < columns && 0 < rows => Viewport::Fullscreen,
            _ => Viewport::Fixed(Rect::new(0, 0, 80, 24)),
        };
        let terminal =
            Terminal::with_options(backend, TerminalOptions { viewport }).context(TerminalSnafu)?;
        Ok(Self { terminal, ended, stopped })
    }

    pub(super) fn draw(&mut self, browser: &mut Browser) -> Result<(), ViewError> {
        self.terminal.draw(|frame| screen::draw(frame, browser)).context(TerminalSnafu)?;
        Ok(())
    }

    /// What happens next, within `patience`.
    pub(super) fn next(&mut self, patience: Duration) -> Result<Happened, ViewError> {
        if let signal @ 1.. = self.ended.load(Ordering::Relaxed) {
            return Ok(Happened::Ended(signal));
        }
        if self.stopped.swap(false, Ordering::Relaxed) {
            self.suspend()?;
            return Ok(Happened::Redraw);
        }
        match event::poll(patience) {
            Ok(true) => Ok(event::read().map_or(Happened::Ended(SIGHUP), happened)),
            Ok(false) => Ok(Happened::Nothing),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(Happened::Nothing),
            // The terminal is gone.
            Err(_) => Ok(Happened::Ended(SIGHUP)),
        }
    }

    /// Gives the terminal back and stops the process, as the shell expects of a job; goes on when the shell says so.
    pub(super) fn suspend(&mut self) -> Result<(), ViewError> {
        self.leave();
        let process = rustix::process::getpid();
        // Where that is refused, the browser just goes on.
        let _stopped = rustix::process::kill_process(process, rustix::process::Signal::STOP);
        self.reenter()
    }

    pub(super) fn leave(&mut self) {
        give_back();
    }

    pub(super) fn reenter(&mut self) -> Result<(), ViewError> {
        take()?;
        self.terminal.clear().context(TerminalSnafu)
    }

    /// Lets the terminal put `text` into the clipboard.
    pub(super) fn copy(&mut self, text: &str) -> Result<(), ViewError> {
        let Some(sequence) = copied::sequence(text) else { return Ok(()) };
        let mut stdout = stdout();
        stdout.write_all(sequence.as_bytes()).and_then(|()| stdout.flush()).context(TerminalSnafu)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> Result<(), ViewError> {
    IS_TAKEN.store(true, Ordering::Relaxed);
    enable_raw_mode().context(TerminalSnafu)?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste).context(TerminalSnafu)
}

/// Notes a signal that asks for the end. What reads keys never returns from a terminal that was hung up, so the process
/// ends after a while in any case.
fn end_on_signals(ended: Arc<AtomicI32>) -> std::io::Result<()> {
    const WHILE: Duration = Duration::from_millis(500);
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    let waiting = move || {
        if let Some(signal) = signals.forever().next() {
            ended.store(signal, Ordering::Relaxed);
            thread::sleep(WHILE);
            give_back();
            std::process::exit(128 + signal);
        }
    };
    thread::Builder::new().spawn(waiting).map(drop)
}

/// Makes the terminal what it was; where it is gone, there is nothing to be done.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::Relaxed) {
        let _given = execute!(
            stdout(),
            DisableBracketedPaste,
            DisableMouseCapture,
            LeaveAlternateScreen,
            crossterm::cursor::Show
        );
        let _raw = disable_raw_mode();
    }
}

/// A panic's message comes after the terminal is given back: else it is lost, and so is the terminal.
fn give_back_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        give_back();
        before(panic);
    }));
}

fn happened(event: Event) -> Happened {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            key_of(key).map_or(Happened::Nothing, Happened::Key)
        }
        Event::Paste(text) => Happened::Key(Key::Pasted(text)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Happened::Mouse(Act::Click, mouse.column, mouse.row),
            MouseEventKind::ScrollUp => Happened::Mouse(Act::Up, mouse.column, mouse.row),
            MouseEventKind::ScrollDown => Happened::Mouse(Act::Down, mouse.column, mouse.row),
            _ => Happened::Nothing,
        },
        Event::Resize(..) | Event::FocusGained => Happened::Redraw,
        _ => Happened::Nothing,
    }
}

fn key_of(key: KeyEvent) -> Option<Key> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c') if is_control => Key::Interrupt,
        KeyCode::Char('z') if is_control => Key::Suspend,
        KeyCode::Char('u') if is_control => Key::Clear,
        KeyCode::Char('d') if is_control => Key::PageDown,
        KeyCode::Char(_) if is_control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Letter(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}
