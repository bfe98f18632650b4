//! Which files have code that notes sketched, by the lines of that code: so that code that has just come from another
//! file is known before it is committed.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io::{self, Seek, Write},
};

use chronicle_git::{BStr, BString, ByteSlice};

use crate::{
    index::{
        key,
        table::{Table, TableWriter},
    },
    moved::{fewest_together, may_be_among},
};

/// What notes sketched of code in each file.
#[derive(Debug, Default)]
pub(super) struct Sketched {
    files: Vec<(BString, Vec<Vec<u32>>)>,
}

/// Lines that share a value, on average.
const PER_BUCKET: usize = 64;
/// Bits of the filter for each line.
const BITS_FOR_LINE: usize = 8;

/// What was sketched of code in a file.
fn sketches_key(path: &BStr) -> Vec<u8> {
    key(b'S', path)
}

/// The path of a file by its number.
fn path_key(number: u32) -> Vec<u8> {
    key(b'Q', BStr::new(&number.to_le_bytes()))
}

/// The filter of all lines, behind the bits of a bucket's number.
const FILTER: &[u8] = b"T";

/// The files of the lines whose hashes begin in the same way.
fn bucket_key(bucket: u32) -> Vec<u8> {
    key(b'T', BStr::new(&bucket.to_le_bytes()))
}

/// The first `bits` bits of `line`.
fn first(line: u32, bits: u32) -> u32 {
    line.checked_shr(u32::BITS - bits).unwrap_or_default()
}

impl Sketched {
    pub(super) fn add(&mut self, path: &BString, sketched: Vec<Vec<u32>>) {
        if !sketched.is_empty() {
            self.files.push((path.clone(), sketched));
        }
    }

    pub(super) fn write<W: Write + Seek>(&self, writer: &mut TableWriter<W>) -> io::Result<()> {
        let packed = |bytes: postcard::Result<Vec<u8>>| bytes.map_err(io::Error::other);
        let mut by_line: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, (path, sketched)) in (0..).zip(&self.files) {
            writer.value(&sketches_key(path.as_bstr()), &packed(postcard::to_allocvec(sketched))?)?;
            writer.value(&path_key(number), path)?;
            for line in sketched.iter().flatten() {
                let files = by_line.entry(*line).or_default();
                if files.last() != Some(&number) {
                    files.push(number);
                }
            }
        }
        if by_line.is_empty() {
            return Ok(());
        }
        let bits = (by_line.len() / PER_BUCKET).next_power_of_two().trailing_zeros();
        let n_filter = (by_line.len() * BITS_FOR_LINE).next_power_of_two().max(u8::BITS as usize);
        let mut filter = vec![0_u8; n_filter / u8::BITS as usize];
        let mut buckets: BTreeMap<u32, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
        for (line, files) in by_line {
            let at = first(line, n_filter.trailing_zeros()) as usize;
            filter[at / 8] |= 1 << (at % 8);
            buckets.entry(first(line, bits)).or_default().push((line, files));
        }
        for (bucket, lines) in buckets {
            writer.value(&bucket_key(bucket), &packed(postcard::to_allocvec(&lines))?)?;
        }
        writer.value(FILTER, &[&bits.to_le_bytes()[..], &filter].concat())
    }
}

/// What was sketched of code in the file at `path`: the telling lines of each piece.
pub(super) fn of_file(table: &Table, path: &BStr) -> Vec<Vec<u32>> {
    let sketched = table.get(&sketches_key(path));
    sketched.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default()
}

/// The files that have code of which enough may be among `lines`, with that code.
pub(super) fn files_with(table: &Table, lines: &HashSet<u32>) -> Vec<(BString, Vec<Vec<u32>>)> {
    let Some(filter) = table.get(FILTER) else { return Vec::new() };
    let Some((bits, filter)) = filter.split_first_chunk::<4>() else { return Vec::new() };
    let bits = u32::from_le_bytes(*bits);
    if !filter.len().is_power_of_two() || u32::BITS <= bits {
        return Vec::new();
    }
    let n_bits = filter.len().trailing_zeros() + u8::BITS.trailing_zeros();
    let mut wanted: HashMap<u32, Vec<u32>> = HashMap::new();
    for line in lines {
        let at = first(*line, n_bits) as usize;
        if filter.get(at / 8).is_some_and(|byte| byte & (1 << (at % 8)) != 0) {
            wanted.entry(first(*line, bits)).or_default().push(*line);
        }
    }
    let mut n_held: BTreeMap<u32, usize> = BTreeMap::new();
    for (bucket, wanted) in wanted {
        let bucket = table.get(&bucket_key(bucket));
        let held = bucket.and_then(|bytes| postcard::from_bytes::<Vec<(u32, Vec<u32>)>>(&bytes).ok());
        for (_, files) in held.iter().flatten().filter(|(line, _)| wanted.contains(line)) {
            for file in files {
                *n_held.entry(*file).or_default() += 1;
            }
        }
    }
    let enough = n_held.into_iter().filter(|(_, n_held)| fewest_together(*n_held));
    let files = enough.filter_map(|(number, _)| Some(BString::from(table.get(&path_key(number))?.to_vec())));
    let with_code = files.map(|path| {
        let code = of_file(table, path.as_bstr()).into_iter().filter(|telling| may_be_among(lines, telling));
        let code = code.collect();
        (path, code)
    });
    with_code.filter(|(_, code): &(BString, Vec<Vec<u32>>)| !code.is_empty()).collect()
}
