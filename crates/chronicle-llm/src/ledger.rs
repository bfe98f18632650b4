//! What was spent on models, and what may be.
//!
//! A file of JSON lines that only grows, under a lock of the system. Before a call the most that it can cost is
//! reserved, durably; afterwards the true cost settles it. Whoever dies in between leaves the reservation counted, so
//! the sum is never less than what was spent.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{Money, Usage};

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Annotating commits.
    Annotate,
    /// Wording digests and threads of sessions.
    Digest,
    /// Wording patterns.
    Patterns,
    /// Answering questions.
    Ask,
    /// Turning texts into vectors.
    Embed,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Annotate, Self::Digest, Self::Patterns, Self::Ask, Self::Embed];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Annotate => "annotate",
            Self::Digest => "digest",
            Self::Patterns => "patterns",
            Self::Ask => "ask",
            Self::Embed => "embed",
        }
    }
}

/// What may be spent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// On all calls of a day.
    pub cost_of_day: Option<Money>,
    /// On all calls of this run.
    pub cost_of_run: Option<Money>,
    /// Tokens of this run, read and written.
    pub tokens_of_run: Option<u64>,
    /// Tokens of a day, read and written.
    pub tokens_of_day: Option<u64>,
    /// Calls of a day.
    pub calls_of_day: Option<u64>,
}

impl Caps {
    /// Whether any of them is about money.
    #[must_use]
    pub fn limits_cost(&self) -> bool {
        self.cost_of_day.is_some() || self.cost_of_run.is_some()
    }
}

/// What a call is booked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The day, such as `2026-03-01`.
    pub day: String,
    /// The run. One that goes on after it was interrupted keeps its name, and what it spent counts.
    pub run: String,
    /// The model.
    pub model: String,
    /// What it is asked for.
    pub purpose: Purpose,
}

/// A line of the ledger: a call that was reserved for, or what it cost in the end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Settled {
        settles: String,
        nano_usd: Option<Money>,
        usage: Usage,
    },
    Reserved {
        id: String,
        day: String,
        run: String,
        model: String,
        purpose: Purpose,
        nano_usd: Option<Money>,
        tokens: u64,
    },
}

/// A call in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is booked on.
    pub account: Account,
    /// What it cost, or the most that it can cost as long as that is not settled; none where prices are not known.
    pub cost: Option<Money>,
    /// What it used; while that is not settled, the most that it can use counts as read.
    pub usage: Usage,
    /// Whether it is settled.
    pub is_settled: bool,
}

impl Entry {
    fn tokens(&self) -> u64 {
        let Usage { input, output, cache_read, cache_written } = self.usage;
        input.saturating_add(output).saturating_add(cache_read).saturating_add(cache_written)
    }
}

/// All calls, as far as they can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// The calls, in the order in which they were reserved for.
    pub entries: Vec<Entry>,
    /// Lines that say nothing, and do not count.
    pub n_damaged: usize,
}

impl Spending {
    /// What the calls cost that `counts` takes.
    #[must_use]
    pub fn cost(&self, counts: impl Fn(&Account) -> bool) -> Money {
        self.entries.iter().filter(|entry| counts(&entry.account)).filter_map(|entry| entry.cost).sum()
    }

    fn tokens(&self, counts: impl Fn(&Account) -> bool) -> u64 {
        self.entries.iter().filter(|entry| counts(&entry.account)).map(Entry::tokens).sum()
    }
}

/// The file, and what was read of it so far.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    spending: Spending,
    /// Where the entry of a reservation is.
    places: HashMap<String, usize>,
    n_bytes: u64,
}

/// A call that may be made.
#[derive(Debug)]
#[must_use = "it counts until it is settled"]
pub struct Reservation {
    id: String,
}

/// Why a call is not made.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It would go beyond a cap.
    Cap(String),
    /// The ledger cannot be kept.
    Io(io::Error),
}

/// The lock is held for some milliseconds at a time.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

impl Ledger {
    /// The ledger at `path`, which is made with the first call.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, known: Mutex::default() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was spent so far; nothing where there is no ledger.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(&self) -> io::Result<Spending> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match File::open(&self.path) {
            Ok(mut file) => known.catch_up(&mut file)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(known.spending.clone())
    }

    /// Reserves `cost` and `tokens` for a call, unless that goes beyond `caps`.
    pub(crate) fn reserve(
        &self,
        account: &Account,
        cost: Option<Money>,
        tokens: u64,
        caps: &Caps,
    ) -> Result<Reservation, Refusal> {
        let id = new_id().map_err(Refusal::Io)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self.locked().map_err(Refusal::Io)?;
        known.catch_up(&mut file).map_err(Refusal::Io)?;
        if let Some(reason) = objection(&known.spending, account, cost, tokens, caps) {
            return Err(Refusal::Cap(reason));
        }
        let Account { day, run, model, purpose } = account.clone();
        let line = Line::Reserved { id: id.clone(), day, run, model, purpose, nano_usd: cost, tokens };
        known.append(&mut file, &line).and_then(|()| file.sync_data()).map_err(Refusal::Io)?;
        Ok(Reservation { id })
    }

    /// Tells what a call cost in the end. One that is never settled counts as the most that it could cost.
    pub(crate) fn settle(
        &self,
        reservation: Reservation,
        cost: Option<Money>,
        usage: Usage,
    ) -> io::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self.locked()?;
        known.catch_up(&mut file)?;
        // When it is lost in a crash, the reservation counts: that needs no waiting for the disk.
        known.append(&mut file, &Line::Settled { settles: reservation.id, nano_usd: cost, usage })
    }

    /// The file, which nobody else writes as long as it is open.
    fn locked(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            make_private(folder)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&self.path)?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_TIMEOUT => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::new(ErrorKind::TimedOut, "another process holds it"));
                }
            }
        }
    }
}

impl Known {
    /// Reads what others wrote since.
    fn catch_up(&mut self, file: &mut File) -> io::Result<()> {
        if file.metadata()?.len() < self.n_bytes {
            // Somebody began a new one.
            *self = Self::default();
        }
        file.seek(SeekFrom::Start(self.n_bytes))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // The end of a line that is being written, or was when its writer died, is read when it is whole.
        let n_whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..n_whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(line) => self.take(line),
                Err(_) => self.spending.n_damaged += 1,
            }
        }
        self.n_bytes += n_whole as u64;
        Ok(())
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Reserved { id, day, run, model, purpose, nano_usd, tokens } => {
                let account = Account { day, run, model, purpose };
                let usage = Usage { input: tokens, ..Usage::default() };
                self.places.insert(id, self.spending.entries.len());
                self.spending.entries.push(Entry { account, cost: nano_usd, usage, is_settled: false });
            }
            Line::Settled { settles, nano_usd, usage } => {
                let entry = self.places.get(&settles).and_then(|at| self.spending.entries.get_mut(*at));
                match entry {
                    Some(entry) => {
                        (entry.cost, entry.usage, entry.is_settled) = (nano_usd, usage, true);
                    }
                    // Its reservation is one of the damaged lines.
                    None => self.spending.n_damaged += 1,
                }
            }
        }
    }

    fn append(&mut self, file: &mut File, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        if self.n_bytes < file.metadata()?.len() {
            // Whoever wrote last died within a line: it stays what it is, and ours begins a new one.
            text.insert(0, b'\n');
        }
        file.write_all(&text)
    }
}

/// Why a call may not be made, if it may not.
fn objection(
    spending: &Spending,
    account: &Account,
    cost: Option<Money>,
    tokens: u64,
    caps: &Caps,
) -> Option<String> {
    let Account { day, run, model, .. } = account;
    let Some(cost) = cost.or_else(|| (!caps.limits_cost()).then(Money::default)) else {
        return Some(format!("the price of {model} is unknown, so no limit can be kept"));
    };
    let beyond = |what: &str, cap: Option<Money>, spent: Money| {
        let cap = cap.filter(|cap| *cap < spent + cost)?;
        Some(format!("it may cost {cost}, {spent} of the {cap} for {what} are spent or reserved"))
    };
    let of_day = caps.cost_of_day.map(|_| spending.cost(|other| other.day == *day)).unwrap_or_default();
    let of_run = caps.cost_of_run.map(|_| spending.cost(|other| other.run == *run)).unwrap_or_default();
    beyond("a day", caps.cost_of_day, of_day)
        .or_else(|| beyond("this run", caps.cost_of_run, of_run))
        .or_else(|| {
            let spent = || spending.tokens(|other| other.run == *run);
            beyond_tokens(tokens, "this run", caps.tokens_of_run, spent)
        })
        .or_else(|| {
            let spent = || spending.tokens(|other| other.day == *day);
            beyond_tokens(tokens, "a day", caps.tokens_of_day, spent)
        })
        .or_else(|| {
            let cap = caps.calls_of_day?;
            let made = spending.entries.iter().filter(|entry| entry.account.day == *day);
            (cap <= made.count() as u64).then(|| format!("all {cap} requests for a day are used"))
        })
}

fn beyond_tokens(tokens: u64, what: &str, cap: Option<u64>, spent: impl FnOnce() -> u64) -> Option<String> {
    let cap = cap?;
    let spent = spent();
    (cap < spent.saturating_add(tokens)).then(|| {
        format!("it may need {tokens} tokens, {spent} of the {cap} for {what} are spent or reserved")
    })
}

/// Makes a folder that is nobody else's business.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn new_id() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}
