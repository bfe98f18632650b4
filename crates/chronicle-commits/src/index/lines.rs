//! The lines of each file by their hashes, when a table was made and now: so that it takes no look into the repository to
//! tell where code went.

use std::{
    cell::RefCell,
    collections::HashMap,
    io::{self, Seek, Write},
    rc::Rc,
};

use chronicle_git::{BStr, BString, LazyRepository, ObjectId};

use crate::{
    index::{
        key,
        part::Part,
        table::{Table, TableWriter},
    },
    moved::FileLines,
};

fn lines_key(path: &BStr) -> Vec<u8> {
    key(b'G', path)
}

/// Writes those of the file at `path`.
pub(super) fn write<W: Write + Seek>(
    path: &BStr,
    lines: &FileLines,
    writer: &mut TableWriter<W>,
) -> io::Result<()> {
    let mut last = 0;
    // How far each lies from the one before it takes fewer bytes.
    let steps = lines.hashes().iter().map(|line| line - std::mem::replace(&mut last, *line));
    let steps: Vec<u32> = steps.collect();
    writer.value(&lines_key(path), &postcard::to_allocvec(&steps).map_err(io::Error::other)?)
}

/// Those that the file at `path` had at the table's commit; `None` where there was no such file, or that is damaged.
pub(super) fn read(table: &Table, path: &BStr) -> Option<FileLines> {
    let steps: Vec<u32> = postcard::from_bytes(&table.get(&lines_key(path))?).ok()?;
    let mut last = 0_u32;
    let mut next = |step| {
        last = last.checked_add(step)?;
        Some(last)
    };
    steps.into_iter().map(&mut next).collect()
}

/// Those of the file at `path` with the bytes `content` that it had not at the table's commit.
pub(super) fn gained(table: &Table, path: &BStr, content: &[u8]) -> FileLines {
    FileLines::of(content).without(&read(table, path).unwrap_or_default())
}

/// The lines of files at the commit of a table and at the present one.
pub(super) struct ThenAndNow<'a> {
    table: &'a Table,
    part: &'a Part,
    repository: &'a LazyRepository,
    head: ObjectId,
    then: Known,
    now: Known,
}

/// The lines of files that were asked for.
type Known = RefCell<HashMap<BString, Rc<FileLines>>>;

impl<'a> ThenAndNow<'a> {
    pub(super) fn new(
        (table, part): (&'a Table, &'a Part),
        repository: &'a LazyRepository,
        head: ObjectId,
    ) -> Self {
        Self { table, part, repository, head, then: Known::default(), now: Known::default() }
    }

    /// Those that the file at `path` had at the table's commit; none where there was no such file.
    pub(super) fn then(&self, path: &BStr) -> Rc<FileLines> {
        asked(&self.then, path, || Rc::new(read(self.table, path).unwrap_or_default()))
    }

    /// Those that the file at `path` has at the present commit; none where there is no such file, or it is not here.
    pub(super) fn now(&self, path: &BStr) -> Rc<FileLines> {
        asked(&self.now, path, || match self.part.has_changed(path) {
            true => Rc::new(self.at_head(path).unwrap_or_default()),
            false => self.then(path),
        })
    }

    fn at_head(&self, path: &BStr) -> Option<FileLines> {
        let repository = self.repository.get().ok()?;
        let blob = repository.blob_at(repository.commit_tree(self.head).ok()?, path).ok()??;
        repository.with_blob(blob, FileLines::of).ok()?
    }
}

/// Those that are `known` of the file at `path`, or that `look` finds.
fn asked(known: &Known, path: &BStr, look: impl FnOnce() -> Rc<FileLines>) -> Rc<FileLines> {
    if let Some(lines) = known.borrow().get(path) {
        return Rc::clone(lines);
    }
    let lines = look();
    known.borrow_mut().insert(path.to_owned(), Rc::clone(&lines));
    lines
}
