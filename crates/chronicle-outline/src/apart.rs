//! Outlines made by a process of its own.
//!
//! Error recovery of tree-sitter takes memory and time by the square of how much is open: 12 KB of C (`x=>`) take
//! 5 GB within one call of its progress callback, so that nothing in the same process can stop it. A process can
//! be given a ceiling for its memory, and ended. One process serves all files of its parent, because starting it costs
//! more than parsing a small file.

use std::{
    io::{self, BufWriter, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use chronicle_core::{
    LineRange,
    outline::{Item, ItemKind},
};
use serde::{Deserialize, Serialize};

use crate::{
    Language, MAX_BYTES, MAX_PARSE_TIME, NoOutline, Outline,
    outline::{NotStartedSnafu, TimedOutSnafu, TooCostlySnafu, outline_here},
};

/// Files up to this size are parsed without another process: the worst of them take some 40 MB and 0.1 s; nested comments
/// of Swift take 1.2 s, here as there. Of 4 KB of C the worst take 600 MB.
pub(crate) const MAX_BYTES_HERE: usize = 1024;
/// The memory that such a process may have, the program included.
pub const MAX_MEMORY: u64 = 768 << 20;
/// How such a process ends that ran out of time.
pub const TIMED_OUT: u8 = 3;
/// On a busy machine [`MAX_PARSE_TIME`] of work may take longer, but not longer than this.
const MAX_WAIT: Duration = Duration::from_secs(8);
/// A file that takes so long is slow.
const SLOW: Duration = Duration::from_millis(300);
/// So long may slow files take together in each [`WINDOW`]: each of many may be made to take as long as one may.
const MOST_SLOW: Duration = Duration::from_secs(6);
const WINDOW: Duration = Duration::from_mins(1);
/// Longer than any path or outline.
const MAX_FRAME: usize = 256 << 20;

/// Starts the process: [`serve`] answers on its standard input and output.
pub type Start = fn() -> Command;

static START: OnceLock<Start> = OnceLock::new();
static PARSER: Mutex<Option<Parser>> = Mutex::new(None);
static SLOW_ONES: Mutex<SlowOnes> = Mutex::new(SlowOnes(Vec::new()));

/// When slow files were done, and how long each took.
struct SlowOnes(Vec<(Instant, Duration)>);

impl SlowOnes {
    /// Whether no other file may be slow at `now`.
    fn are_too_many(&mut self, now: Instant) -> bool {
        self.0.retain(|(done, _)| now.saturating_duration_since(*done) < WINDOW);
        MOST_SLOW <= self.0.iter().map(|(_, took)| *took).sum()
    }

    fn add(&mut self, now: Instant, took: Duration) {
        if SLOW <= took {
            self.0.push((now, took));
        }
    }
}

/// Lets processes that `start` makes parse from now on; without this call, this process parses itself, and only the
/// time is limited.
pub fn outline_apart(start: Start) {
    // Whoever was first means the same program.
    let _is_first = START.set(start);
}

/// How to start a process, where one is to parse `bytes`.
pub(crate) fn start_for(bytes: &[u8]) -> Option<Start> {
    START.get().copied().filter(|_| MAX_BYTES_HERE < bytes.len())
}

/// The outline of a file as the process says.
pub(crate) fn outline_in(
    start: Start,
    language: Language,
    path: &str,
    bytes: &[u8],
) -> Result<Outline, NoOutline> {
    let mut slot = PARSER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut slow_ones = SLOW_ONES.lock().unwrap_or_else(PoisonError::into_inner);
    if slow_ones.are_too_many(Instant::now()) {
        return NotStartedSnafu { reason: "other files took too long" }.fail();
    }
    let begun = Instant::now();
    let outline = ask(&mut slot, start, language, path, bytes);
    slow_ones.add(Instant::now(), begun.elapsed());
    outline
}

fn ask(
    slot: &mut Option<Parser>,
    start: Start,
    language: Language,
    path: &str,
    bytes: &[u8],
) -> Result<Outline, NoOutline> {
    loop {
        let (mut parser, is_new) = match slot.take() {
            Some(parser) => (parser, false),
            None => match Parser::start(start) {
                Ok(parser) => (parser, true),
                Err(error) => return NotStartedSnafu { reason: error.to_string() }.fail(),
            },
        };
        let answer = parser.ask(path, bytes).ok();
        if let Some(reply) = answer.as_deref().and_then(|reply| postcard::from_bytes::<Reply<'_>>(reply).ok())
        {
            let outline = reply.outline(language);
            *slot = Some(parser);
            return outline;
        }
        let language = language.name();
        match parser.end() {
            Some(code) if code == i32::from(TIMED_OUT) => return TimedOutSnafu { language }.fail(),
            _ if is_new => return TooCostlySnafu { language }.fail(),
            // It may have ended since the last file, for a reason of its own.
            _ => {}
        }
    }
}

/// Answers on `output` what is asked on `input`, until that ends. When a file takes too long, `give_up` is called and has
/// to end the process with [`TIMED_OUT`]; `cpu_time` is how long this process has worked.
///
/// # Errors
/// When the other side does not go by the protocol, or is gone.
pub fn serve(
    mut input: impl Read,
    output: impl Write,
    cpu_time: fn() -> Duration,
    give_up: fn(),
) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    let (begun, beginnings) = mpsc::channel::<bool>();
    // Nothing in the parser can be interrupted, but for the whole process.
    thread::Builder::new()
        .name("deadline".to_owned())
        .spawn(move || watch(&beginnings, cpu_time, give_up))?;
    let turn = |is_busy| begun.send(is_busy).map_err(io::Error::other);
    loop {
        let path = match read_frame(&mut input) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            path => path?,
        };
        let bytes = read_frame(&mut input)?;
        turn(true)?;
        let outline = outline_here(&String::from_utf8_lossy(&path), &bytes, MAX_WAIT);
        let reply = postcard::to_allocvec(&Reply::of(&outline)).map_err(io::Error::other)?;
        turn(false)?;
        write_frame(&mut output, &reply)?;
        output.flush()?;
    }
}

/// Calls `give_up` when what began does not end in time.
fn watch(beginnings: &mpsc::Receiver<bool>, cpu_time: fn() -> Duration, give_up: fn()) {
    while let Ok(is_busy) = beginnings.recv() {
        if !is_busy {
            continue;
        }
        let (began, worked) = (Instant::now(), cpu_time());
        loop {
            let left = MAX_PARSE_TIME.saturating_sub(cpu_time().saturating_sub(worked));
            if left.is_zero() || MAX_WAIT <= began.elapsed() {
                return give_up();
            }
            match beginnings.recv_timeout(left.max(Duration::from_millis(1))) {
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Ok(_) => break,
            }
        }
    }
}

/// A process that parses.
struct Parser {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: ChildStdout,
}

impl Parser {
    fn start(start: Start) -> io::Result<Self> {
        let mut command = start();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let input = BufWriter::new(input.expect("it is piped"));
        Ok(Self { child, input, output: output.expect("it is piped") })
    }

    fn ask(&mut self, path: &str, bytes: &[u8]) -> io::Result<Vec<u8>> {
        write_frame(&mut self.input, path.as_bytes())?;
        write_frame(&mut self.input, bytes)?;
        self.input.flush()?;
        read_frame(&mut self.output)
    }

    /// The code that it ended with; none where a signal ended it.
    fn end(mut self) -> Option<i32> {
        // What closed its output ends; what answers nonsense does not.
        drop((self.input.into_parts(), self.output));
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(200) {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.code(),
                Ok(None) => thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
        }
        let _is_killed = self.child.kill();
        self.child.wait().ok()?.code()
    }
}

fn write_frame(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    output.write_all(&length.to_le_bytes())?;
    output.write_all(bytes)
}

fn read_frame(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if MAX_FRAME.max(MAX_BYTES) < length {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// What the process says of a file.
#[derive(Serialize, Deserialize)]
enum Reply<'a> {
    Outline {
        is_partial: bool,
        #[serde(borrow)]
        items: Vec<SentItem<'a>>,
    },
    TooDeep,
    TimedOut,
    /// What the parent found out already.
    Other,
}

#[derive(Serialize, Deserialize)]
struct SentItem<'a> {
    /// Its number among all kinds.
    kind: u32,
    name: &'a str,
    qualified: &'a str,
    signature: &'a str,
    lines: (u32, u32),
    name_line: u32,
}

impl<'a> Reply<'a> {
    fn of(outline: &'a Result<Outline, NoOutline>) -> Self {
        match outline {
            Ok(outline) => Self::Outline {
                is_partial: outline.is_partial,
                items: outline.items.iter().map(SentItem::of).collect(),
            },
            Err(NoOutline::TooDeep { .. }) => Self::TooDeep,
            Err(NoOutline::TimedOut { .. }) => Self::TimedOut,
            Err(_) => Self::Other,
        }
    }

    fn outline(self, language: Language) -> Result<Outline, NoOutline> {
        let name = language.name();
        match self {
            Self::Outline { is_partial, items } => {
                let items = items.into_iter().filter_map(SentItem::item).collect();
                Ok(Outline { language, items, is_partial })
            }
            Self::TooDeep => Err(NoOutline::TooDeep { language: name }),
            Self::TimedOut => Err(NoOutline::TimedOut { language: name }),
            Self::Other => Err(NoOutline::TooCostly { language: name }),
        }
    }
}

impl<'a> SentItem<'a> {
    fn of(item: &'a Item) -> Self {
        Self {
            kind: item.kind as u32,
            name: &item.name,
            qualified: &item.qualified,
            signature: &item.signature,
            lines: (item.lines.start, item.lines.end),
            name_line: item.name_line,
        }
    }

    fn item(self) -> Option<Item> {
        Some(Item {
            kind: *ItemKind::ALL.get(self.kind as usize)?,
            name: self.name.to_owned(),
            qualified: self.qualified.to_owned(),
            signature: self.signature.to_owned(),
            lines: LineRange::new(self.lines.0, self.lines.1).ok()?,
            name_line: self.name_line,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::language_of;

    fn served(files: &[(&str, &[u8])]) -> Vec<Result<Outline, NoOutline>> {
        let mut asked = Vec::new();
        for (path, bytes) in files {
            write_frame(&mut asked, path.as_bytes()).unwrap();
            write_frame(&mut asked, bytes).unwrap();
        }
        let mut said = Vec::new();
        serve(&asked[..], &mut said, || Duration::ZERO, || panic!("it is quick")).unwrap();
        let mut said = &said[..];
        files
            .iter()
            .map(|(path, _)| {
                let reply = read_frame(&mut said).unwrap();
                let reply: Reply<'_> = postcard::from_bytes(&reply).unwrap();
                reply.outline(language_of(path, b"").unwrap())
            })
            .collect()
    }

    #[test]
    fn what_a_process_answers_is_what_is_found_here() {
        let code: &[u8] = "/// Why.\nimpl Pool {\n    fn größe(&self) {}\n}\nconst A: u8 = 1;\n".as_bytes();
        let stairs: String = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let files = [("pool.rs", code), ("a.yml", stairs.as_bytes()), ("b.py", b"def f(: pass".as_slice())];
        let expected: Vec<_> =
            files.iter().map(|(path, bytes)| outline_here(path, bytes, MAX_WAIT)).collect();
        assert_eq!(served(&files), expected);
        assert_eq!(expected[0].as_ref().unwrap().items.len(), 3);
        assert_eq!(expected[1], Err(NoOutline::TooDeep { language: "YAML" }));
    }

    #[test]
    fn what_does_not_end_in_time_is_given_up() {
        static GIVEN_UP: OnceLock<()> = OnceLock::new();
        let (begun, beginnings) = mpsc::channel();
        begun.send(true).unwrap();
        begun.send(false).unwrap();
        begun.send(true).unwrap();
        // The clock stands still at first and jumps then: the second file has used up its time.
        static CALLS: Mutex<u64> = Mutex::new(0);
        let cpu_time = || {
            let mut calls = CALLS.lock().unwrap();
            *calls += 1;
            Duration::from_secs(if *calls < 4 { 0 } else { 2 })
        };
        watch(&beginnings, cpu_time, || GIVEN_UP.set(()).unwrap());
        assert!(GIVEN_UP.get().is_some());
        drop(begun);
    }

    #[test]
    fn a_frame_that_is_too_long_or_cut_is_none() {
        let is_read = |bytes: &[u8]| read_frame(&mut &bytes[..]).is_ok();
        assert!(is_read(&[1, 0, 0, 0, 7]));
        assert!(!is_read(&[2, 0, 0, 0, 7]));
        assert!(!is_read(&[255, 255, 255, 255]));
    }
}
