//! Which machines belong together: a key that all of them have, and a name for this one.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use chronicle_workplace::{
    Error,
    error::{DamagedSyncRecordSnafu, RefusedPairSnafu},
    new_id,
    owned::replace,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The file in the home of session memory.
const RECORD_FILE: &str = "sync.json";

/// The form of the file.
const SCHEMA: &str = "chronicle-pairing/v1";

/// How a code begins that a user carries from one machine to another.
const CODE: &str = "chronicle-pair-";

/// The bytes of a key, and of a block of its hash.
const KEY_LENGTH: usize = 32;
const BLOCK: usize = 64;

/// What tells this machine from others, and shows that a file is from one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pairing {
    schema: String,
    /// What tells this machine from all others.
    pub(super) machine_id: String,
    /// How it is called.
    pub(super) machine: String,
    /// The key, in hexadecimal digits.
    key: String,
    /// What this machine wrote last, so that the file of another one with the same id is noticed.
    #[serde(default)]
    pub(super) written: String,
}

impl Pairing {
    /// The pairing of this machine, if it has one.
    pub(super) fn load(home: &Path) -> Result<Option<Self>, Error> {
        let path = home.join(RECORD_FILE);
        let damaged = |reason: String| DamagedSyncRecordSnafu { path: PathBuf::from(&path), reason }.fail();
        match fs::read_to_string(&path) {
            Ok(text) => match serde_json::from_str::<Self>(&text) {
                Ok(known) if known.schema == SCHEMA && bytes_of(&known.key).is_some() => Ok(Some(known)),
                Ok(_) => damaged(format!("it isn't {SCHEMA}")),
                Err(error) => damaged(error.to_string()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::ReadInput { path, source }),
        }
    }

    /// A machine that is paired with no other one yet.
    pub(super) fn new(machine: String) -> Self {
        // A new id has 80 random bits.
        let mut hash = Sha256::new();
        (0..4).for_each(|_| hash.update(new_id().0));
        let key = hex(&hash.finalize());
        Self {
            schema: SCHEMA.to_owned(),
            machine_id: new_id().0.to_lowercase(),
            machine,
            key,
            written: String::new(),
        }
    }

    /// The same machine with the key in a code.
    pub(super) fn joined(self, code: &str) -> Result<Self, Error> {
        let key = code.trim().strip_prefix(CODE).filter(|key| bytes_of(key).is_some());
        match key {
            Some(key) => Ok(Self { key: key.to_owned(), ..self }),
            None => RefusedPairSnafu { reason: "that isn't a code of `git chronicle memory pair`" }.fail(),
        }
    }

    pub(super) fn store(&self, home: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).expect("it has names for keys");
        text.push('\n');
        replace(&home.join(RECORD_FILE), &text)
    }

    /// What the user types on the other machine.
    pub(super) fn code(&self) -> String {
        format!("{CODE}{}", self.key)
    }

    /// What only a machine with the key can say of `parts` (HMAC with SHA-256, RFC 2104).
    pub(super) fn mac(&self, parts: &[&[u8]]) -> String {
        let key = bytes_of(&self.key).expect("it was looked at when it was read");
        let pad = |byte: u8| -> [u8; BLOCK] {
            let mut block = [byte; BLOCK];
            block.iter_mut().zip(key).for_each(|(padded, key)| *padded ^= key);
            block
        };
        let mut inner = Sha256::new();
        inner.update(pad(0x36));
        for part in parts {
            // No two lists of parts are one text.
            inner.update((part.len() as u64).to_be_bytes());
            inner.update(part);
        }
        let mut outer = Sha256::new();
        outer.update(pad(0x5c));
        outer.update(inner.finalize());
        hex(&outer.finalize())
    }

    /// Whether `told` is what a machine with the key says of `parts`; takes as long for any wrong one.
    pub(super) fn is_mac(&self, parts: &[&[u8]], told: &str) -> bool {
        let mac = self.mac(parts);
        let differences = mac.bytes().zip(told.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        mac.len() == told.len() && differences == 0
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(key: &str) -> Option<[u8; KEY_LENGTH]> {
    let mut bytes = [0; KEY_LENGTH];
    let digits = key.as_bytes();
    if digits.len() != 2 * KEY_LENGTH {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_carries_the_key() {
        let first = Pairing::new("one".to_owned());
        let second = Pairing::new("two".to_owned());
        let parts: [&[u8]; 2] = [b"a", b"bc"];
        assert!(first.is_mac(&parts, &first.mac(&parts)));
        assert!(!second.is_mac(&parts, &first.mac(&parts)));
        let joined = second.clone().joined(&format!(" {}\n", first.code())).expect("it is a code");
        assert!(joined.is_mac(&parts, &first.mac(&parts)));
        assert_eq!(joined.machine_id, second.machine_id);
        // Parts are no text: what is between them counts.
        assert!(!first.is_mac(&[b"ab", b"c"], &first.mac(&parts)));
        assert!(!first.is_mac(&parts, ""));
        for wrong in ["", "chronicle-pair-", "chronicle-pair-zz", &first.code()[..40]] {
            assert!(second.clone().joined(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_mac_is_the_one_of_the_standard() {
        // RFC 4231 has keys of other lengths, which are filled with zeros.
        let key = format!("{}{}", hex(b"Jefe"), "00".repeat(28));
        let pairing = Pairing { key, ..Pairing::new(String::new()) };
        let mut inner = Sha256::new();
        let mut pad = [0x36; BLOCK];
        pad.iter_mut().zip(b"Jefe").for_each(|(padded, key)| *padded ^= key);
        inner.update(pad);
        inner.update(4_u64.to_be_bytes());
        inner.update(b"what");
        let mut outer = Sha256::new();
        let mut pad = [0x5c; BLOCK];
        pad.iter_mut().zip(b"Jefe").for_each(|(padded, key)| *padded ^= key);
        outer.update(pad);
        outer.update(inner.finalize());
        assert_eq!(pairing.mac(&[b"what"]), hex(&outer.finalize()));
    }
}
