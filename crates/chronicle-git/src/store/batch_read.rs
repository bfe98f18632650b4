//! Reads many objects at once, in the order in which they are packed.
//!
//! A pack holds most objects as differences to another one that lies before it. Read in the
//! order of the pack, each object finds what it builds on just unpacked; read in the order of
//! history, whole chains are unpacked again and again (measured: ten times slower on trees of
//! an imported repository). Beyond a few hundred objects the work is shared among threads.

use std::path::Path;

use gix::{ObjectId, odb::pack::index::File as PackIndex, prelude::Find};

use snafu::ResultExt;

use crate::{
    Repository,
    error::{ObjectSnafu, Result},
    open::repository::{ReadAhead, for_bulk, without_replacements},
    store::genuine::Genuine,
};

/// Below this many objects, starting a thread costs more than it saves.
const LEAST_FOR_THREADS: usize = 400;
/// Below this many objects, telling where they lie costs more than it saves.
const LEAST_TO_ORDER: usize = 128;
/// Objects that are handed on together.
const BATCH: usize = 256;
/// More threads than this mostly unpack the same chains twice.
const MAX_THREADS: usize = 4;

/// Whether objects are checked to be those that their ids name: those of notes are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Checks {
    Yes,
    No,
}

impl Repository {
    /// Reads versions of files that will be asked for one by one; together, in the order of the pack, they cost far less.
    pub fn read_ahead(&self, mut ids: Vec<ObjectId>) {
        ids.retain(|id| !self.is_too_large(*id));
        let read = self.read_all(ids, Checks::No, |_, content| Some(content.to_vec()));
        let mut ahead = self.read_ahead.borrow_mut();
        for (id, content) in read {
            ahead.add(id, &content);
        }
    }

    /// [`Repository::read_ahead`] by one thread, which costs less where much else is read in the same way, but takes
    /// longer.
    pub fn read_ahead_in_turn(&self, mut ids: Vec<ObjectId>) {
        ids.retain(|id| !self.is_too_large(*id));
        self.read_in_turn(ids, &mut self.read_ahead.borrow_mut());
    }

    /// Reads the objects of notes `ids`, and keeps what `pick` makes of each; objects that are missing, or others than their
    /// ids say, are passed over.
    #[must_use]
    pub fn read_many<T: Send>(
        &self,
        ids: Vec<ObjectId>,
        pick: impl Fn(ObjectId, &[u8]) -> Option<T> + Sync,
    ) -> Vec<(ObjectId, T)> {
        self.read_all(ids, Checks::Yes, pick)
    }

    /// The same of any objects, checked or not.
    pub(crate) fn read_all<T: Send>(
        &self,
        mut ids: Vec<ObjectId>,
        checks: Checks,
        pick: impl Fn(ObjectId, &[u8]) -> Option<T> + Sync,
    ) -> Vec<(ObjectId, T)> {
        ids.sort_unstable();
        ids.dedup();
        let ordered = self.in_pack_order(ids);
        let n_threads = match ordered.len() {
            n if n < LEAST_FOR_THREADS => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
        };
        if n_threads == 1 {
            return read(self.bulk_for(checks), &ordered, checks, &pick);
        }
        let shared = self.inner.clone().into_sync();
        let pick = &pick;
        std::thread::scope(|scope| {
            let parts = ordered.chunks(ordered.len().div_ceil(n_threads));
            let workers: Vec<_> = parts
                .map(|part| {
                    let shared = &shared;
                    scope.spawn(move || read(&local(shared.to_thread_local(), checks), part, checks, pick))
                })
                .collect();
            workers
                .into_iter()
                .flat_map(|worker| worker.join().expect("reading an object does not panic"))
                .collect()
        })
    }

    /// Reads the objects `ids`, and keeps what `pick` makes of each. Objects that are not here are passed over, but
    /// one that is here and cannot be read is an error: for what must not miss any.
    ///
    /// # Errors
    /// When an object cannot be read.
    pub fn read_every<T>(
        &self,
        mut ids: Vec<ObjectId>,
        pick: impl Fn(ObjectId, &[u8]) -> Option<T>,
    ) -> Result<Vec<(ObjectId, T)>> {
        ids.sort_unstable();
        ids.dedup();
        let mut buffer = Vec::new();
        let mut picked = Vec::new();
        for id in self.in_pack_order(ids) {
            let found = Genuine(self.plain()).try_find(&id, &mut buffer).context(ObjectSnafu { id })?;
            picked.extend(found.and_then(|object| pick(id, object.data)).map(|value| (id, value)));
        }
        Ok(picked)
    }

    /// Reads the objects `ids` and hands what `pick` makes of each to `each`, in the order of the pack, without
    /// holding more than a few at a time.
    ///
    /// # Errors
    /// Whatever `each` returns; nothing more is read then.
    pub fn stream_many<T: Send, E>(
        &self,
        mut ids: Vec<ObjectId>,
        pick: impl Fn(ObjectId, &[u8]) -> Option<T> + Sync,
        mut each: impl FnMut(ObjectId, T) -> Result<(), E>,
    ) -> Result<(), E> {
        ids.sort_unstable();
        ids.dedup();
        let ordered = self.in_pack_order(ids);
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        if ordered.len() < LEAST_FOR_THREADS || n_threads == 1 {
            let batches =
                ordered.chunks(BATCH).flat_map(|batch| read(self.plain(), batch, Checks::Yes, &pick));
            return batches.into_iter().try_for_each(|(id, value)| each(id, value));
        }
        let shared = self.inner.clone().into_sync();
        let (shared, pick, ordered) = (&shared, &pick, &ordered);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..n_threads)
                .map(|worker| {
                    let (sender, batches) = std::sync::mpsc::sync_channel(2);
                    scope.spawn(move || {
                        let local = local(shared.to_thread_local(), Checks::Yes);
                        let own = ordered.chunks(BATCH).skip(worker).step_by(n_threads);
                        // Whoever listened has had enough when sending fails.
                        for batch in own {
                            if sender.send(read(&local, batch, Checks::Yes, pick)).is_err() {
                                break;
                            }
                        }
                    });
                    batches
                })
                .collect();
            for number in 0..ordered.chunks(BATCH).len() {
                let batch = workers[number % n_threads].recv().expect("each worker sends all of its batches");
                batch.into_iter().try_for_each(|(id, value)| each(id, value))?;
            }
            Ok(())
        })
    }

    /// Adds the objects `ids` to `ahead`; those that are missing are passed over.
    pub(crate) fn read_in_turn(&self, mut ids: Vec<ObjectId>, ahead: &mut ReadAhead) {
        ids.sort_unstable();
        ids.dedup();
        let mut buffer = Vec::new();
        for id in self.in_pack_order(ids) {
            if let Ok(Some(object)) = self.bulk().objects.try_find(&id, &mut buffer) {
                ahead.add(id, object.data);
            }
        }
    }

    fn bulk_for(&self, checks: Checks) -> &gix::Repository {
        match checks {
            Checks::Yes => self.plain(),
            Checks::No => self.bulk(),
        }
    }

    fn bulk(&self) -> &gix::Repository {
        self.bulk.get_or_init(|| for_bulk(self.inner.clone()))
    }

    fn in_pack_order(&self, ids: Vec<ObjectId>) -> Vec<ObjectId> {
        if ids.len() < LEAST_TO_ORDER {
            return ids;
        }
        // Opening an index looks at all of it; packs that come later only cost speed.
        let packs = || self.inner.objects.store_ref().path().join("pack");
        let indices = self.pack_indices.get_or_init(|| pack_indices(&packs(), self.inner.object_hash()));
        let offset_in = |index: &PackIndex, id: &ObjectId| {
            index.lookup(id).map(|entry| index.pack_offset_at_index(entry))
        };
        let place = |id: &ObjectId| {
            let mut found =
                indices.iter().enumerate().filter_map(|(pack, index)| Some((pack, offset_in(index, id)?)));
            found.next()
        };
        let mut placed: Vec<_> = ids.into_iter().map(|id| (place(&id), id)).collect();
        placed.sort_unstable();
        placed.into_iter().map(|(_, id)| id).collect()
    }
}

fn pack_indices(directory: &Path, hash: gix::hash::Kind) -> Vec<PackIndex> {
    let files = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(std::result::Result::ok)
        .map(|file| file.path());
    let indices = files.filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
    // An index that cannot be read only costs speed.
    indices.filter_map(|path| PackIndex::at(path, hash).ok()).collect()
}

/// The repository of one thread.
fn local(repository: gix::Repository, checks: Checks) -> gix::Repository {
    let local = for_bulk(repository);
    match checks {
        Checks::Yes => without_replacements(local),
        Checks::No => local,
    }
}

fn read<T>(
    repository: &gix::Repository,
    ids: &[ObjectId],
    checks: Checks,
    pick: &(impl Fn(ObjectId, &[u8]) -> Option<T> + Sync),
) -> Vec<(ObjectId, T)> {
    let mut buffer = Vec::new();
    let mut picked = Vec::new();
    for id in ids {
        let found = match checks {
            Checks::Yes => Genuine(repository).try_find(id, &mut buffer),
            Checks::No => repository.objects.try_find(id, &mut buffer),
        };
        if let Ok(Some(object)) = found {
            picked.extend(pick(*id, object.data).map(|value| (*id, value)));
        }
    }
    picked
}
