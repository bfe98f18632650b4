//! Which files have code that notes sketched, by the lines of that code: so that code that has just come from another
//! file is known before it is committed.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, Seek, Write},
};

use chronicle_git::{BStr, BString, ByteSlice};

use crate::{
    index::{
        key,
        table::{Table, TableWriter},
    },
    moved::{FileLines, MAX_HOLDERS, Piece},
};

/// Lines that share a value, on average.
const PER_BUCKET: usize = 64;

/// What was sketched of code in a file.
fn sketches_key(path: &BStr) -> Vec<u8> {
    key(b'S', path)
}

/// The path of a file by its number.
fn path_key(number: u32) -> Vec<u8> {
    key(b'Q', BStr::new(&number.to_le_bytes()))
}

/// How many bits of a hash are the number of its bucket.
const BITS: &[u8] = b"T";

/// A set of bits, one for the first bits of each line's hash: what it says no to is in no bucket.
const FILTER: &[u8] = b"U";
/// Bits of the filter for each line.
const BITS_FOR_LINE: usize = 8;
/// With more lines than this it takes less to look into the filter first.
const FEW_LINES: usize = 8;

/// The files of the lines whose hashes begin in the same way.
fn bucket_key(bucket: u32) -> Vec<u8> {
    key(b'T', BStr::new(&bucket.to_le_bytes()))
}

/// The first `bits` bits of `line`.
fn first(line: u32, bits: u32) -> u32 {
    line.checked_shr(u32::BITS - bits).unwrap_or_default()
}

/// Where the bit of `line` is in a filter of so many bits: its byte, and which of that.
fn place(line: u32, filter_bits: u32) -> (usize, u8) {
    let at = first(line, filter_bits) as usize;
    (at / 8, 1 << (at % 8))
}

/// Writes what notes sketched of code in each file.
pub(super) fn write<W: Write + Seek>(
    sketched: &BTreeMap<BString, Vec<Piece>>,
    writer: &mut TableWriter<W>,
) -> io::Result<()> {
    let packed = |bytes: postcard::Result<Vec<u8>>| bytes.map_err(io::Error::other);
    let mut by_line: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, (path, sketched)) in (0..).zip(sketched) {
        let bytes = |piece: &Piece| {
            let lines: Vec<u8> = piece.telling.iter().flat_map(|line| line.to_le_bytes()).collect();
            (piece.n_holders, piece.is_relied_on, lines)
        };
        let sketched_bytes: Vec<(u8, bool, Vec<u8>)> = sketched.iter().map(bytes).collect();
        writer.value(&sketches_key(path.as_bstr()), &packed(postcard::to_allocvec(&sketched_bytes))?)?;
        writer.value(&path_key(number), path)?;
        for line in sketched.iter().flat_map(|piece| &piece.telling) {
            let files = by_line.entry(*line).or_default();
            if files.last() != Some(&number) {
                files.push(number);
            }
        }
    }
    by_line.retain(|_, files| files.len() <= MAX_HOLDERS);
    if by_line.is_empty() {
        return Ok(());
    }
    let bits = (by_line.len() / PER_BUCKET).next_power_of_two().trailing_zeros();
    let filter_bits = (by_line.len() * BITS_FOR_LINE).next_power_of_two().trailing_zeros().max(3);
    let mut filter = vec![0_u8; 1 << (filter_bits - 3)];
    let mut buckets: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    for (line, files) in by_line {
        let (byte, bit) = place(line, filter_bits);
        filter[byte] |= bit;
        // The line, how many files it was sketched in, and their numbers.
        let bucket = buckets.entry(first(line, bits)).or_default();
        bucket.extend(line.to_le_bytes());
        bucket.push(u8::try_from(files.len()).map_err(io::Error::other)?);
        bucket.extend(files.into_iter().flat_map(u32::to_le_bytes));
    }
    for (bucket, lines) in buckets {
        writer.value(&bucket_key(bucket), &lines)?;
    }
    writer.value(FILTER, &filter)?;
    writer.value(BITS, &bits.to_le_bytes())
}

/// What was sketched of code in the file at `path`, as far as its telling lines are `wanted`; `None` where there is nothing,
/// or it is damaged.
pub(super) fn of_file(table: &Table, path: &BStr, wanted: &dyn Fn(&[u32]) -> bool) -> Option<Vec<Piece>> {
    let mut telling = Vec::new();
    table.with(&sketches_key(path), |bytes| {
        // Most are not wanted: they need no room of their own.
        let stored: Vec<(u8, bool, &[u8])> = postcard::from_bytes(bytes).ok()?;
        let mut piece = |(n_holders, is_relied_on, lines): (u8, bool, &[u8])| {
            telling.clear();
            telling.extend(lines.as_chunks().0.iter().map(|line| u32::from_le_bytes(*line)));
            wanted(&telling).then(|| Piece { telling: telling.clone(), n_holders, is_relied_on })
        };
        Some(stored.into_iter().filter_map(&mut piece).collect())
    })
}

/// The files that had code of which so many lines `together` are among `lines`, with as much of that code as is `wanted`.
/// Lines that were sketched in many files do not count.
pub(super) fn files_with(
    table: &Table,
    (lines, together): (&FileLines, usize),
    wanted: &dyn Fn(&[u32]) -> bool,
) -> Vec<(BString, Vec<Piece>)> {
    let bits = (together <= lines.hashes().len()).then(|| table.get(BITS)).flatten();
    let bits = bits.and_then(|bits| Some(u32::from_le_bytes(*bits.first_chunk()?)));
    let Some(bits) = bits.filter(|bits| *bits < u32::BITS) else { return Vec::new() };
    let filter = (FEW_LINES < lines.hashes().len()).then(|| table.get(FILTER)).flatten();
    let filter = filter.filter(|filter| filter.len().is_power_of_two());
    let filter_bits = filter.as_ref().map_or(0, |filter| filter.len().trailing_zeros() + 3);
    let may_be_there = |line: u32| {
        let (byte, bit) = place(line, filter_bits);
        filter.as_ref().is_none_or(|filter| filter.get(byte).is_none_or(|byte| byte & bit != 0))
    };
    let mut by_bucket: HashMap<u32, Vec<[u8; 4]>> = HashMap::new();
    for line in lines.hashes().iter().filter(|line| may_be_there(**line)) {
        by_bucket.entry(first(*line, bits)).or_default().push(line.to_le_bytes());
    }
    let mut n_held: BTreeMap<u32, usize> = BTreeMap::new();
    for (bucket, lines) in by_bucket {
        let bucket = table.get(&bucket_key(bucket));
        let mut rest: &[u8] = bucket.as_deref().unwrap_or_default();
        while let Some((line, files)) = next_line(&mut rest) {
            for file in files.as_chunks().0.iter().filter(|_| lines.contains(line)) {
                *n_held.entry(u32::from_le_bytes(*file)).or_default() += 1;
            }
        }
    }
    let enough = n_held.into_iter().filter(|(_, n_held)| together <= *n_held);
    let files = enough.filter_map(|(number, _)| Some(BString::from(table.get(&path_key(number))?.to_vec())));
    let with_code = files.map(|path| {
        let code = of_file(table, path.as_bstr(), wanted).unwrap_or_default();
        (path, code)
    });
    with_code.filter(|(_, code)| !code.is_empty()).collect()
}

/// Takes the next line off a bucket, with the numbers of its files.
fn next_line<'b>(rest: &mut &'b [u8]) -> Option<(&'b [u8; 4], &'b [u8])> {
    let (line, after) = rest.split_first_chunk()?;
    let (n_files, after) = after.split_first()?;
    let (files, after) = after.split_at_checked(size_of::<u32>() * usize::from(*n_files))?;
    *rest = after;
    Some((line, files))
}
