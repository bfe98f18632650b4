//! A file of values by key, written once and then only read.
//!
//! ```text
//! header: magic, version, bits of the bucket number, number of entries, offset of the entries, length, check
//! values: length of the key, key, bytes; also parts that values refer to
//! entries: hash of the key, offset, length and check of the value, in order of hash
//! buckets: for each number made of the first bits of a hash, the first of its entries
//! ```
//!
//! A lookup reads four small pieces, however large the file is. Numbers are little-endian. Every
//! piece is checked before it is believed: a damaged file answers like one that is not there.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::HashMap,
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    ops::Deref,
    path::Path,
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

const MAGIC: [u8; 8] = *b"chronidx";
/// Another number makes every index that exists worthless, which costs one rebuild.
const VERSION: u32 = 37;
const HEADER_LEN: usize = 48;
const ENTRY_LEN: usize = 24;
/// Entries that share a bucket, on average.
const PER_BUCKET: usize = 8;
/// No value comes near this; a length beyond it is damage.
const MAX_LEN: u32 = 1 << 30;

/// Where a part of a table is, with what tells that it is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    offset: u64,
    len: u32,
    check: u32,
}

impl Part {
    /// Where it begins; no other part of its table begins there.
    pub(crate) fn offset(self) -> u64 {
        self.offset
    }
}

fn check(bytes: &[u8]) -> u32 {
    u32::try_from(XxHash3_64::oneshot(bytes) >> 32).expect("the high half of 64 bits")
}

/// A table that is being read.
#[derive(Debug)]
pub(crate) struct Table {
    file: File,
    bucket_bits: u32,
    n_entries: u64,
    entries: u64,
    len: u64,
    /// The end of the file from some place on, once that was read as a whole.
    end: OnceCell<(u64, Vec<u8>)>,
    n_lookups: Cell<u32>,
    n_parts: Cell<u32>,
}

thread_local! {
    /// Rooms to read into, one for each read within a read: to ask the system for one each time takes longer than to read.
    static ROOMS: RefCell<Vec<Vec<u8>>> = RefCell::default();
}

/// A file of so many bytes is read at once: to ask the system for each piece takes longer.
const SMALL_FILE: u64 = 1 << 14;
/// What finds the values is read as a whole after one lookup for each of so many bytes of it, and the file after as many
/// parts, unless they are longer than the latter.
const WORTH_A_LOOKUP: u64 = 1 << 11;
const MAX_AT_ONCE: u64 = 1 << 19;
const MIN_ROOM: usize = 1 << 18;
/// More room than this is given back.
const MAX_ROOM: usize = 1 << 20;

impl Table {
    /// Opens the table at `path`; `None` when there is none, or when it is not one of ours that is whole.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        let file = open_at_once(path).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || !is_ours(&metadata) {
            return None;
        }
        let end = OnceCell::new();
        let mut header = [0; HEADER_LEN];
        if metadata.len() <= SMALL_FILE {
            let all = bytes_at(&file, usize::try_from(metadata.len()).ok()?, 0)?;
            header.copy_from_slice(all.get(..HEADER_LEN)?);
            end.set((0, all)).ok()?;
        } else {
            read_at(&file, &mut header, 0)?;
        }
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let version_and_bits = word(8);
        let (version, bucket_bits) = (version_and_bits & 0xffff_ffff, version_and_bits >> 32);
        let (n_entries, entries, len) = (word(16), word(24), word(32));
        let is_whole = header[..8] == MAGIC
            && version == u64::from(VERSION)
            && word(40) == XxHash3_64::oneshot(&header[..40])
            && len == metadata.len()
            && bucket_bits < 32;
        is_whole.then_some(Self {
            file,
            bucket_bits: u32::try_from(bucket_bits).ok()?,
            n_entries,
            entries,
            len,
            end,
            n_lookups: Cell::new(0),
            n_parts: Cell::new(0),
        })
    }

    /// `len` bytes from `offset` on.
    fn bytes(&self, len: usize, offset: u64) -> Option<Vec<u8>> {
        match self.end.get() {
            Some((from, end)) if *from <= offset => {
                let at = usize::try_from(offset - from).ok()?;
                Some(end.get(at..at.checked_add(len)?)?.to_vec())
            }
            _ => bytes_at(&self.file, len, offset),
        }
    }

    /// Counts that something is looked for that is read as a whole, from `from` on, where that is done often.
    fn count(&self, n: &Cell<u32>, from: u64) {
        n.set(n.get().saturating_add(1));
        let n_bytes = self.len.saturating_sub(from);
        let is_often = u64::from(n.get()) == (n_bytes / WORTH_A_LOOKUP).max(1);
        if is_often && n_bytes <= MAX_AT_ONCE && self.end.get().is_none() {
            let read = usize::try_from(n_bytes).ok().and_then(|len| bytes_at(&self.file, len, from));
            if let Some(end) = read {
                let _is_first = self.end.set((from, end));
            }
        }
    }

    /// What finds the values whose keys have the hash of `key`; `None` when that is damaged.
    fn entries(&self, key: &[u8]) -> Option<Vec<Part>> {
        let hash = XxHash3_64::oneshot(key);
        let bucket = if self.bucket_bits == 0 { 0 } else { hash >> (64 - self.bucket_bits) };
        self.count(&self.n_lookups, self.entries);
        let buckets = self.entries.checked_add(self.n_entries.checked_mul(ENTRY_LEN as u64)?)?;
        let ends = self.bytes(8, buckets.checked_add(4 * bucket)?)?;
        let end = |at: usize| u32::from_le_bytes(ends[at..at + 4].try_into().expect("four bytes"));
        let (first, last) = (end(0), end(4));
        if last < first || self.n_entries < u64::from(last) || MAX_LEN / 32 < last - first {
            return None;
        }
        let from = self.entries.checked_add(u64::from(first) * ENTRY_LEN as u64)?;
        let entries = self.bytes((last - first) as usize * ENTRY_LEN, from)?;
        let has_hash = |entry: &&[u8]| entry[..8] == hash.to_le_bytes();
        entries.chunks_exact(ENTRY_LEN).filter(has_hash).map(part_of).collect()
    }

    /// The value of `key`, if it is here and whole.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Value> {
        self.entries(key)?.into_iter().find_map(|part| {
            let bytes = self.part(part)?;
            let start = bytes.len() - value_of(key, &bytes)?.len();
            Some(Value { start, bytes })
        })
    }

    /// What `look` makes of the value of `key`, if it is here and whole: it need not outlast it.
    pub(crate) fn with<T>(&self, key: &[u8], mut look: impl FnMut(&[u8]) -> Option<T>) -> Option<T> {
        let mut entries = self.entries(key)?.into_iter();
        entries.find_map(|part| self.with_part(part, |bytes| look(value_of(key, bytes)?)))
    }

    /// Whether there is a value of `key`, going by the hash of the key alone.
    pub(crate) fn has(&self, key: &[u8]) -> bool {
        self.entries(key).is_some_and(|entries| !entries.is_empty())
    }

    /// All values whose keys begin with `kind`, with the rest of their keys; `None` when one of them is not whole.
    ///
    /// Reads all of them: for small tables only.
    pub(crate) fn values(&self, kind: u8) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
        let n_bytes = usize::try_from(self.n_entries).ok()?.checked_mul(ENTRY_LEN)?;
        if self.len < self.entries.checked_add(u64::try_from(n_bytes).ok()?)? {
            return None;
        }
        let entries = self.bytes(n_bytes, self.entries)?;
        let mut found = Vec::new();
        for entry in entries.chunks_exact(ENTRY_LEN) {
            let value = self.part(part_of(entry)?)?;
            let (key_len, rest) = value.split_first_chunk::<4>()?;
            let (key, bytes) = rest.split_at_checked(u32::from_le_bytes(*key_len) as usize)?;
            if let Some(key) = key.strip_prefix(&[kind]) {
                found.push((key.to_vec(), bytes.to_vec()));
            }
        }
        Some(found)
    }

    /// The bytes of `part`, if they are whole.
    pub(crate) fn part(&self, part: Part) -> Option<Vec<u8>> {
        self.look_for(part)?;
        let bytes = self.bytes(part.len as usize, part.offset)?;
        (check(&bytes) == part.check).then_some(bytes)
    }

    /// What `look` makes of the bytes of `part`, if they are whole: they need not outlast it.
    pub(crate) fn with_part<T>(&self, part: Part, look: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        self.look_for(part)?;
        let look = |bytes: &[u8]| if check(bytes) == part.check { look(bytes) } else { None };
        let len = part.len as usize;
        if let Some((from, end)) = self.end.get()
            && *from <= part.offset
        {
            let at = usize::try_from(part.offset - from).ok()?;
            return look(end.get(at..at.checked_add(len)?)?);
        }
        let mut room = ROOMS.with_borrow_mut(Vec::pop).unwrap_or_default();
        if room.len() < len {
            // New room is clear without being cleared, and nothing of the old is to be kept.
            room = vec![0; len.next_power_of_two().max(MIN_ROOM)];
        }
        let found = read_at(&self.file, &mut room[..len], part.offset).and_then(|()| look(&room[..len]));
        if room.len() <= MAX_ROOM {
            ROOMS.with_borrow_mut(|rooms| rooms.push(room));
        }
        found
    }

    /// Counts that `part` is looked for; `None` where no part can be there.
    fn look_for(&self, part: Part) -> Option<()> {
        if MAX_LEN < part.len || self.len < part.offset.checked_add(u64::from(part.len))? {
            return None;
        }
        self.count(&self.n_parts, 0);
        Some(())
    }
}

/// A value as it was read, with its key before it.
#[derive(Default)]
pub(crate) struct Value {
    bytes: Vec<u8>,
    start: usize,
}

#[cfg(test)]
impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self { start: 0, bytes }
    }
}

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// The value of `key` in what is stored for a key with its hash, if that is it.
fn value_of<'b>(key: &[u8], bytes: &'b [u8]) -> Option<&'b [u8]> {
    let (key_len, rest) = bytes.split_first_chunk::<4>()?;
    rest.strip_prefix(key).filter(|_| u32::from_le_bytes(*key_len) as usize == key.len())
}

/// The value that an entry finds.
fn part_of(entry: &[u8]) -> Option<Part> {
    Some(Part {
        offset: u64::from_le_bytes(entry[8..16].try_into().ok()?),
        len: u32::from_le_bytes(entry[16..20].try_into().ok()?),
        check: u32::from_le_bytes(entry[20..24].try_into().ok()?),
    })
}

/// Whether a file was written by this user; someone else's could say anything.
#[cfg(unix)]
fn is_ours(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    static OWN: OnceLock<u32> = OnceLock::new();
    metadata.uid() == *OWN.get_or_init(|| rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_ours(_metadata: &std::fs::Metadata) -> bool {
    true
}

/// Opens the file at `path`; a pipe in its place is not waited for, and a link is not followed.
#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW).bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// `len` bytes from `offset` on. No time is spent on making room that is written over at once.
#[cfg(unix)]
fn bytes_at(file: &File, len: usize, offset: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        let at = offset + bytes.len() as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut bytes), at) {
            Ok(0) => return None,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(len);
    Some(bytes)
}

#[cfg(windows)]
fn bytes_at(file: &File, len: usize, offset: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    read_at(file, &mut bytes, offset)?;
    Some(bytes)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Option<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset).ok()
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> Option<()> {
    while !buffer.is_empty() {
        let n_read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset).ok()?;
        if n_read == 0 {
            return None;
        }
        buffer = &mut buffer[n_read..];
        offset += n_read as u64;
    }
    Some(())
}

/// A table that is being written.
pub(crate) struct TableWriter<W: Write + Seek> {
    out: BufWriter<W>,
    at: u64,
    entries: Vec<(u64, Part)>,
    /// Parts by their content, so that what several values share is written once.
    parts: HashMap<u64, Part>,
}

impl<W: Write + Seek> TableWriter<W> {
    pub(crate) fn new(out: W) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        out.write_all(&[0; HEADER_LEN])?;
        Ok(Self { out, at: HEADER_LEN as u64, entries: Vec::new(), parts: HashMap::new() })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Part> {
        let too_long = |_| io::Error::new(io::ErrorKind::FileTooLarge, "a value of the index is too long");
        let part =
            Part { offset: self.at, len: u32::try_from(bytes.len()).map_err(too_long)?, check: check(bytes) };
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(part)
    }

    /// Adds a part for values to refer to.
    pub(crate) fn part(&mut self, bytes: &[u8]) -> io::Result<Part> {
        let hash = XxHash3_64::oneshot(bytes);
        if let Some(known) = self.parts.get(&hash).filter(|known| known.len as usize == bytes.len()) {
            return Ok(*known);
        }
        let part = self.write(bytes)?;
        self.parts.insert(hash, part);
        Ok(part)
    }

    /// Adds the value of `key`; each key comes once.
    pub(crate) fn value(&mut self, key: &[u8], bytes: &[u8]) -> io::Result<()> {
        let key_len = u32::try_from(key.len()).map_err(io::Error::other)?;
        let part = self.write(&[&key_len.to_le_bytes(), key, bytes].concat())?;
        self.entries.push((XxHash3_64::oneshot(key), part));
        Ok(())
    }

    /// Writes what finds the values.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.entries.sort_unstable_by_key(|(hash, part)| (*hash, part.offset));
        let n_buckets = (self.entries.len() / PER_BUCKET).next_power_of_two();
        let bucket_bits = n_buckets.trailing_zeros();
        let entries = self.at;
        for (hash, part) in &self.entries {
            self.out.write_all(&hash.to_le_bytes())?;
            self.out.write_all(&part.offset.to_le_bytes())?;
            self.out.write_all(&part.len.to_le_bytes())?;
            self.out.write_all(&part.check.to_le_bytes())?;
        }
        let mut first = 0;
        for bucket in 0..=n_buckets as u64 {
            let is_before = |hash: u64| {
                bucket_bits == 0 && bucket == 1 || 0 < bucket_bits && hash >> (64 - bucket_bits) < bucket
            };
            first += self.entries[first..].iter().take_while(|(hash, _)| is_before(*hash)).count();
            self.out.write_all(&u32::try_from(first).map_err(io::Error::other)?.to_le_bytes())?;
        }
        let n_entries = self.entries.len() as u64;
        let len = entries + n_entries * ENTRY_LEN as u64 + 4 * (n_buckets as u64 + 1);
        let mut header = Vec::with_capacity(HEADER_LEN);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&bucket_bits.to_le_bytes());
        for word in [n_entries, entries, len] {
            header.extend_from_slice(&word.to_le_bytes());
        }
        header.extend_from_slice(&XxHash3_64::oneshot(&header).to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    fn table(values: &[(Vec<u8>, Vec<u8>)]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut writer = TableWriter::new(file.reopen().unwrap()).unwrap();
        for (key, value) in values {
            writer.value(key, value).unwrap();
        }
        writer.finish().unwrap();
        file
    }

    fn numbered(n: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..n).map(|n| (format!("key {n}").into_bytes(), vec![b'x'; n as usize % 50])).collect()
    }

    #[test]
    fn every_value_is_found_and_no_other() {
        for n in [0, 1, 7, 100, 5000] {
            let values = numbered(n);
            let file = table(&values);
            let table = Table::open(file.path()).unwrap();
            for (key, value) in &values {
                assert_eq!(table.get(key).as_deref(), Some(&value[..]));
                assert!(table.has(key));
            }
            assert!(table.get(b"key").is_none() && !table.has(b"key"));
        }
    }

    #[test]
    fn parts_of_equal_content_are_written_once() {
        let mut writer = TableWriter::new(io::Cursor::new(Vec::new())).unwrap();
        let first = writer.part(b"the same").unwrap();
        assert_eq!(first, writer.part(b"the same").unwrap());
        assert_ne!(first, writer.part(b"another").unwrap());
    }

    proptest! {
        #[test]
        fn a_damaged_table_never_answers_wrongly(at in 0usize..100_000, byte in any::<u8>(), cut in any::<bool>()) {
            let values = numbered(200);
            let file = table(&values);
            let mut bytes = std::fs::read(file.path()).unwrap();
            let at = at % bytes.len();
            if cut { bytes.truncate(at); } else { bytes[at] = byte; }
            let mut damaged = tempfile::NamedTempFile::new().unwrap();
            damaged.write_all(&bytes).unwrap();
            if let Some(table) = Table::open(damaged.path()) {
                for (key, value) in &values {
                    prop_assert!(table.get(key).is_none_or(|found| *found == value[..]));
                }
            }
        }
    }
}
