//! A repository on disk that is written without git: objects with SHA-256, loose, refs as files.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::ZlibEncoder};
use sha2::{Digest, Sha256};

/// What a commit has: the content of each file, and whether it is executable.
pub(crate) type Tree = BTreeMap<String, (String, bool)>;

/// A file of a tree: the components of its path, and what it is.
type Entry<'e> = (Vec<&'e str>, &'e (String, bool));

/// A repository in a temporary folder.
pub(crate) struct Written {
    _folder: tempfile::TempDir,
    root: PathBuf,
    in_worktree: Tree,
}

impl Written {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path().canonicalize().expect("it is there").join("repo");
        for inside in [".git/objects", ".git/refs/heads", ".git/refs/tags", ".git/info"] {
            fs::create_dir_all(root.join(inside)).expect("it can be made");
        }
        let config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n\
                      [user]\n\tname = Ada\n\temail = ada@example.com\n";
        fs::write(root.join(".git/config"), config).expect("it can be written");
        Self { _folder: folder, root, in_worktree: Tree::new() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Stores a commit with this tree and these parents; returns its id.
    pub(crate) fn commit(&self, tree: &Tree, parents: &[&str], time: i64, message: &str) -> String {
        let entries: Vec<Entry<'_>> =
            tree.iter().map(|(path, file)| (path.split('/').collect(), file)).collect();
        let tree = self.tree(&entries);
        let mut text = format!("tree {}\n", hex(&tree));
        for parent in parents {
            text += &format!("parent {parent}\n");
        }
        let who = format!("Ada <ada@example.com> {time} +0000");
        text += &format!("author {who}\ncommitter {who}\n\n{message}\n");
        hex(&self.object("commit", text.as_bytes()))
    }

    fn tree(&self, entries: &[Entry<'_>]) -> [u8; 32] {
        // Git sorts directories as if their names ended with a slash.
        let mut named: BTreeMap<String, (&str, String, [u8; 32])> = BTreeMap::new();
        let mut inside: BTreeMap<&str, Vec<Entry<'_>>> = BTreeMap::new();
        for (path, file) in entries {
            match &path[..] {
                [name] => {
                    let mode = if file.1 { "100755" } else { "100644" };
                    let id = self.object("blob", file.0.as_bytes());
                    named.insert((*name).to_owned(), (mode, (*name).to_owned(), id));
                }
                [directory, rest @ ..] => inside.entry(directory).or_default().push((rest.to_vec(), file)),
                [] => {}
            }
        }
        for (name, entries) in inside {
            named.insert(format!("{name}/"), ("40000", name.to_owned(), self.tree(&entries)));
        }
        let mut bytes = Vec::new();
        for (mode, name, id) in named.into_values() {
            bytes.extend(format!("{mode} {name}\0").bytes());
            bytes.extend(id);
        }
        self.object("tree", &bytes)
    }

    fn object(&self, kind: &str, content: &[u8]) -> [u8; 32] {
        let whole = [format!("{kind} {}\0", content.len()).as_bytes(), content].concat();
        let id: [u8; 32] = Sha256::digest(&whole).into();
        let name = hex(&id);
        let path = self.root.join(".git/objects").join(&name[..2]).join(&name[2..]);
        if !path.exists() {
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&whole).expect("memory takes it");
            fs::write(path, packed.finish().expect("memory takes it")).expect("it can be written");
        }
        id
    }

    /// Points a branch at a commit, or deletes it.
    pub(crate) fn set_branch(&self, name: &str, commit: Option<&str>) {
        let path = self.root.join(".git/refs/heads").join(name);
        match commit {
            Some(commit) => fs::write(path, format!("{commit}\n")),
            None => fs::remove_file(path),
        }
        .expect("it can be changed");
    }

    /// Puts HEAD on a branch, and its files into the working tree.
    pub(crate) fn check_out(&mut self, branch: &str, tree: &Tree) {
        fs::write(self.root.join(".git/HEAD"), format!("ref: refs/heads/{branch}\n"))
            .expect("it can be written");
        self.put(tree);
    }

    /// Makes the working tree hold just these files.
    pub(crate) fn put(&mut self, tree: &Tree) {
        for path in self.in_worktree.keys().filter(|path| !tree.contains_key(*path)) {
            let path = self.root.join(path);
            fs::remove_file(&path).expect("it was written before");
            // A folder with other files in it stays.
            let _left = path.parent().map(fs::remove_dir);
        }
        for (path, file) in tree.iter().filter(|(path, file)| self.in_worktree.get(*path) != Some(file)) {
            let path = self.root.join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
            fs::write(path, &file.0).expect("it can be written");
        }
        self.in_worktree = tree.clone();
    }
}

fn hex(id: &[u8; 32]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
