//! Writes loose objects as git does: synced to the disk where `core.fsync` asks for it, with the permissions
//! that `core.sharedRepository` gives them.
//!
//! gix writes objects too, but it knows none of these settings, and a killed writer leaves temporary files
//! whose names `git gc` does not know.

use std::{
    fs::{self, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::ZlibEncoder};
use gix::{
    ObjectId,
    error::ResultExt as _,
    objs::{self, Kind, WriteTo},
};
use snafu::ResultExt as _;

use crate::{
    Repository,
    error::{Result, WriteObjectSnafu},
};

/// How the names of our temporary files begin. `git gc` removes old files whose names begin with `tmp_`.
pub(crate) const TEMPORARY: &str = "tmp_obj_chronicle_";

impl Repository {
    /// Stores a blob.
    pub(crate) fn write_blob(&self, content: &[u8]) -> Result<ObjectId> {
        objs::Write::write_buf(self, Kind::Blob, content).context(WriteObjectSnafu)
    }

    /// Stores a tree or a commit.
    pub(crate) fn write_object(&self, object: &dyn WriteTo) -> Result<ObjectId> {
        objs::Write::write(self, object).context(WriteObjectSnafu)
    }

    fn objects_dir(&self) -> PathBuf {
        self.inner.objects.store_ref().path().to_owned()
    }

    fn store_loose(&self, kind: Kind, content: &[u8], id: ObjectId) -> io::Result<()> {
        let directory = self.objects_dir();
        let hex = id.to_string();
        let below = directory.join(&hex[..2]);
        let permissions = Permissions::from_mode(0o444);
        let file =
            tempfile::Builder::new().prefix(TEMPORARY).permissions(permissions).tempfile_in(&directory)?;
        let mut packed = ZlibEncoder::new(file, self.compression());
        packed.write_all(&objs::encode::loose_header(kind, content.len() as u64))?;
        packed.write_all(content)?;
        let file = packed.finish()?;
        if self.fsync.loose_objects {
            file.as_file().sync_all()?;
        }
        self.sharing.adjust(file.path())?;
        self.sharing.create_dir_all(&below)?;
        file.persist(below.join(&hex[2..]))?;
        Ok(())
    }

    fn compression(&self) -> Compression {
        let snapshot = self.inner.config_snapshot();
        let level =
            snapshot.integer("core.looseCompression").or_else(|| snapshot.integer("core.compression"));
        match level.and_then(|level| u32::try_from(level).ok()) {
            Some(level) if level <= 9 => Compression::new(level),
            _ if level.is_some() => Compression::default(),
            _ => Compression::fast(),
        }
    }

    /// The temporary files of objects whose writer died. The caller has the write lock, so none is in use.
    pub(crate) fn unfinished_objects(&self) -> Vec<PathBuf> {
        files_beginning(&self.objects_dir(), TEMPORARY)
    }
}

/// The files of `directory` whose names begin with `beginning`.
pub(crate) fn files_beginning(directory: &Path, beginning: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let begins = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(beginning.as_bytes());
    files.filter(|file| begins(&file.file_name())).map(|file| file.path()).collect()
}

impl objs::Find for Repository {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<objs::Data<'a>>> {
        objs::Find::try_find(&self.inner.objects, id, buffer)
    }
}

impl objs::Write for Repository {
    fn write_buf(&self, kind: Kind, content: &[u8]) -> gix::Result<ObjectId> {
        let id = objs::compute_hash(self.inner.object_hash(), kind, content)?;
        self.write_buf_with_known_id(kind, content, id)
    }

    fn write_buf_with_known_id(&self, kind: Kind, content: &[u8], id: ObjectId) -> gix::Result<ObjectId> {
        use objs::Exists as _;
        if !self.inner.objects.exists(&id) {
            self.store_loose(kind, content, id).or_error()?;
        }
        Ok(id)
    }

    fn write_stream(&self, kind: Kind, _size: u64, from: &mut dyn Read) -> gix::Result<ObjectId> {
        let mut content = Vec::new();
        from.read_to_end(&mut content).or_error()?;
        self.write_buf(kind, &content)
    }

    fn write_stream_with_known_id(
        &self,
        kind: Kind,
        _size: u64,
        from: &mut dyn Read,
        id: ObjectId,
    ) -> gix::Result<ObjectId> {
        let mut content = Vec::new();
        from.read_to_end(&mut content).or_error()?;
        self.write_buf_with_known_id(kind, &content, id)
    }
}
