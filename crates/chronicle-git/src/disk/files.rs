//! Reads files whose path or content somebody else decides.
//!
//! A pipe blocks, a device never ends, and a file may be larger than the memory. What is opened is looked at when it is
//! open: between a look at the path and the opening, another thing may have taken its place.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// The longest file that is read as a whole: more was generated, and nobody has a lesson in it.
pub const MAX_BYTES: u64 = 16 << 20;

/// Opens the regular file at `path` for reading, without ever waiting for it.
///
/// # Errors
/// When there is none: folders give [`ErrorKind::IsADirectory`], pipes, devices and sockets [`ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<File> {
    Ok(opened(path)?.0)
}

/// The same, with what it is.
fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    // Opening a device may already do something.
    check(&std::fs::metadata(path)?)?;
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    Ok((file, metadata))
}

/// The bytes of the regular file at `path`, which may have at most `most`. What the system makes up as it is read, below
/// `/proc`, is counted as it comes.
///
/// # Errors
/// When there is none ([`open`]), or it has more ([`ErrorKind::FileTooLarge`]).
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, metadata) = opened(path)?;
    let size = metadata.len();
    if most < size {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if most < bytes.len() as u64 { Err(too_large(most)) } else { Ok(bytes) }
}

/// Whether another account of the machine, but root, owns what is at `path`: its owner may have put anything there.
#[must_use]
pub fn is_of_another_account(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let ours = rustix::process::geteuid().as_raw();
        std::fs::metadata(path).is_ok_and(|found| ![ours, 0].contains(&found.uid()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// The same file, if it is a regular one.
pub(crate) fn ensure_regular(file: File) -> io::Result<File> {
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    match metadata.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn only_regular_files_up_to_a_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "12345").unwrap();
        std::os::unix::fs::symlink("a", at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let check = |name: &str, most, expected: Result<&[u8], ErrorKind>| {
            let read = read(&at(name), most);
            assert_eq!(read.as_deref().map_err(io::Error::kind), expected, "{name}");
        };
        check("a", 5, Ok(b"12345"));
        check("link", 5, Ok(b"12345"));
        check("a", 4, Err(ErrorKind::FileTooLarge));
        check("none", 5, Err(ErrorKind::NotFound));
        check(".", 5, Err(ErrorKind::IsADirectory));
        check("zero", 5, Err(ErrorKind::InvalidInput));
        check("pipe", 5, Err(ErrorKind::InvalidInput));
        check("socket", 5, Err(ErrorKind::InvalidInput));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_has_no_size_is_counted_as_it_comes() {
        let file = Path::new("/proc/self/maps");
        assert_eq!(std::fs::metadata(file).unwrap().len(), 0);
        assert_eq!(read(file, 9).map_err(|error| error.kind()), Err(ErrorKind::FileTooLarge));
        assert!(!read(file, MAX_BYTES).unwrap().is_empty());
    }
}
