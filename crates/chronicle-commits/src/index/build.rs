//! Makes the table of the repository's present state.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::Path,
};

use chronicle_core::line_words;
use chronicle_git::{BStr, BString, ByteSlice, FileLock, ObjectId, Repository};

use crate::{
    error::Result,
    gather::Gathered,
    index::{
        Listing, MAX_TABLES, META, Meta, State, content_hash, listing_key, record_key, stored,
        table::{Table, TableWriter},
        words_key,
    },
    matching::Ground,
    notebook::Notebook,
    present::Present,
    read::superseded,
};

/// Makes the index anew if the repository's state has none.
///
/// Nobody waits for another process that is at it already, and a repository that cannot be written
/// to goes without.
///
/// # Errors
/// When the repository cannot be read.
pub fn refresh(repository: &Repository) -> Result<()> {
    let Some(state) = State::of(repository)? else { return Ok(()) };
    if Table::open(&state.table()).is_some() || fs::create_dir_all(state.directory()).is_err() {
        return Ok(());
    }
    let Ok(Some(_lock)) = FileLock::try_acquire(&state.directory().join("lock")) else { return Ok(()) };
    let Ok(file) = tempfile::Builder::new().prefix("new-").tempfile_in(state.directory()) else {
        return Ok(());
    };
    let Ok(writer) = TableWriter::new(file) else { return Ok(()) };
    // A disk that is full costs the index, not the answer.
    if let Some(writer) = write(repository, state.head, writer)?
        && let Ok(file) = writer.finish()
        && file.persist(state.table()).is_ok()
    {
        forget_old_tables(&state.directory(), &state.table());
    }
    Ok(())
}

type Writer = TableWriter<tempfile::NamedTempFile>;

/// Writes everything that is known about the files of `head`; `None` when writing fails.
fn write(repository: &Repository, head: ObjectId, mut writer: Writer) -> Result<Option<Writer>> {
    let mut warnings = Vec::new();
    let notebook = Notebook::open(repository, &mut warnings)?;
    let history = repository.history(&[head])?;
    let tree = history.nodes()[0].tree;
    let paths = repository.files_under(tree, BStr::new(""))?;
    let followed = repository.follow(&history, &paths)?;
    let ground = Ground::new(repository, &notebook, &history, &followed, &paths, false);
    let candidates = ground.all_candidates(&mut warnings)?;
    let mut gathered = Gathered::from(&ground, &candidates);
    for (number, path) in paths.iter().enumerate() {
        if write_file(repository, tree, path, (&mut gathered, number), &mut writer)?.is_err() {
            return Ok(None);
        }
        repository.forget_read_ahead();
    }
    let stored = notebook.knowledge()?;
    warnings.extend(stored.remarks.iter().map(|remark| format!("the repository's knowledge: {remark}")));
    let meta = Meta {
        head_time: history.nodes()[0].time,
        has_any: notebook.has_any(),
        superseded: superseded(&candidates).into_iter().map(|(old, new)| (old.0, new.0)).collect(),
        knowledge: stored.knowledge.and_then(|knowledge| serde_json::to_string(&knowledge).ok()),
        warnings,
    };
    Ok(write_rest(&meta, &paths, &mut writer).is_ok().then_some(writer))
}

/// Writes the record of one file, and its lines where claims have to be carried from them.
fn write_file(
    repository: &Repository,
    tree: ObjectId,
    path: &BString,
    (gathered, number): (&mut Gathered<'_>, usize),
    writer: &mut Writer,
) -> Result<io::Result<()>> {
    let name = path.to_string();
    let key = record_key(path.as_ref());
    if !gathered.has_claims(number) {
        let mut record = gathered.place(number, &Present::new(path.clone(), None))?;
        record.steps.clear();
        return Ok(stored::store(writer, &key, &name, &record, (None, false)));
    }
    let blob = repository.blob_at(tree, path.as_bstr())?;
    repository.read_ahead(gathered.versions(number).into_iter().chain(blob).collect());
    let content = blob.and_then(|blob| repository.blob(blob).ok());
    let present = Present::new(path.clone(), content.as_deref());
    let record = gathered.place(number, &present)?;
    let of = (content.as_deref().map(content_hash), present.is_opaque);
    let written = stored::store(writer, &key, &name, &record, of).and_then(|()| match &content {
        Some(content) if !present.is_opaque => {
            let words: Vec<u8> = line_words(content).into_iter().flat_map(u32::to_le_bytes).collect();
            writer.value(&words_key(path.as_ref()), &words)
        }
        _ => writer.value(&words_key(path.as_ref()), b""),
    });
    Ok(written)
}

fn write_rest(meta: &Meta, paths: &[BString], writer: &mut Writer) -> io::Result<()> {
    let bytes = |value: postcard::Result<Vec<u8>>| value.map_err(io::Error::other);
    for (directory, listing) in listings(paths) {
        writer.value(&listing_key(directory.as_ref()), &bytes(postcard::to_allocvec(&listing))?)?;
    }
    writer.value(META, &bytes(postcard::to_allocvec(meta))?)
}

/// The entries of each directory.
fn listings(paths: &[BString]) -> HashMap<BString, Listing> {
    let mut entries: BTreeMap<BString, BTreeMap<Vec<u8>, bool>> = BTreeMap::new();
    entries.entry(BString::default()).or_default();
    for path in paths {
        let mut directory = BString::default();
        let mut parts = path.split_str(b"/").peekable();
        while let Some(part) = parts.next() {
            let is_directory = parts.peek().is_some();
            entries.entry(directory.clone()).or_default().insert(part.to_vec(), is_directory);
            if !directory.is_empty() {
                directory.push(b'/');
            }
            directory.extend_from_slice(part);
        }
    }
    entries.into_iter().map(|(directory, entries)| (directory, entries.into_iter().collect())).collect()
}

/// Removes the oldest tables beyond those that are kept, and what a crash has left.
fn forget_old_tables(directory: &Path, newest: &Path) {
    let mut tables: Vec<_> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(io::Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path != newest && path.file_name().is_some_and(|name| name != "lock"))
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .collect();
    tables.sort_unstable_by(|left, right| right.cmp(left));
    for (_, path) in tables.into_iter().skip(MAX_TABLES - 1) {
        // Someone else may have removed it, or may be reading it: either is fine.
        let _removed = fs::remove_file(path);
    }
}
