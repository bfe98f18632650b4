//! Which machines belong together: a key that all of them have, and a name for this one.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use chronicle_workplace::{
    Error,
    error::{DamagedSyncRecordSnafu, RefusedPairSnafu},
    new_id,
    owned::replace,
};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The file in the home of session memory.
const RECORD_FILE: &str = "sync.json";

/// The form of the file.
const SCHEMA: &str = "chronicle-pairing/v1";

/// How a code begins that a user carries from one machine to another.
const CODE: &str = "chronicle-pair-";

/// How many bytes a key has.
const KEY_LENGTH: usize = 32;

/// What distinguishes this machine from others, and proves that a file is from one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pairing {
    schema: String,
    /// What distinguishes this machine from all others.
    pub(super) machine_id: String,
    /// How it is called.
    pub(super) machine: String,
    /// The key, in hexadecimal digits.
    key: String,
    /// What this machine wrote last, so that the file of another one with the same id is noticed.
    #[serde(default)]
    pub(super) written: String,
    /// The number of the file that this machine made last, and a hash of what is in it.
    #[serde(default)]
    number: u64,
    #[serde(default)]
    content: String,
    /// The highest number that was read of each other machine.
    #[serde(default)]
    seen: BTreeMap<String, u64>,
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
    pub(super) fn new(machine: String) -> Result<Self, Error> {
        let mut key = [0; KEY_LENGTH];
        if getrandom::fill(&mut key).is_err() {
            return RefusedPairSnafu { reason: "the system has no random bytes to give" }.fail();
        }
        Ok(Self {
            schema: SCHEMA.to_owned(),
            machine_id: new_id().0.to_lowercase(),
            machine,
            key: HEXLOWER.encode(&key),
            written: String::new(),
            number: 0,
            content: String::new(),
            seen: BTreeMap::new(),
        })
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

    /// The number of the file with that content: a higher one than any before, unless it is the same file again.
    ///
    /// It is a time, too, so that a home that was restored from a copy does not fall behind what others have read.
    pub(super) fn number_of(&mut self, content: &str, now: Timestamp) -> u64 {
        if self.content != content {
            let now = u64::try_from(now.as_millisecond()).unwrap_or_default();
            self.number = now.max(self.number.saturating_add(1));
            content.clone_into(&mut self.content);
        }
        self.number
    }

    /// Whether a file of another machine is older than one that was read before: whoever holds the folder put it back.
    pub(super) fn is_older(&self, machine: &str, number: u64) -> bool {
        self.seen.get(machine).is_some_and(|seen| number < *seen)
    }

    /// Notes that a file was read.
    pub(super) fn see(&mut self, machine: &str, number: u64) {
        let seen = self.seen.entry(machine.to_owned()).or_default();
        *seen = number.max(*seen);
    }

    /// What the user types on the other machine.
    pub(super) fn code(&self) -> String {
        format!("{CODE}{}", self.key)
    }

    /// What only a machine with the key can say of `parts`, in hexadecimal digits.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> String {
        HEXLOWER.encode(&self.mac_of(parts).finalize().into_bytes())
    }

    /// Whether `told` is what a machine with the key says of `parts`; takes as long for any wrong one.
    pub(super) fn is_mac(&self, parts: &[&[u8]], told: &str) -> bool {
        let told = HEXLOWER.decode(told.as_bytes());
        told.is_ok_and(|told| self.mac_of(parts).verify_slice(&told).is_ok())
    }

    fn mac_of(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let key = bytes_of(&self.key).expect("it was looked at when it was read");
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key of any length will do");
        for part in parts {
            // No two lists of parts are one text.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

fn bytes_of(key: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(key.as_bytes()).ok().filter(|key| key.len() == KEY_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_machine_have_rising_numbers() {
        let at = |ms| Timestamp::from_millisecond(ms).expect("it is in range");
        let mut here = Pairing::new("one".to_owned()).expect("random bytes");
        assert_eq!(here.number_of("a", at(100)), 100);
        assert_eq!(here.number_of("a", at(200)), 100);
        assert_eq!(here.number_of("b", at(50)), 101);
        assert_eq!(here.number_of("a", at(300)), 300);
        assert!(!here.is_older("other", 5));
        here.see("other", 5);
        here.see("other", 2);
        assert_eq!([4, 5, 6].map(|number| here.is_older("other", number)), [true, false, false]);
    }

    #[test]
    fn a_code_carries_the_key() {
        let first = Pairing::new("one".to_owned()).expect("random bytes");
        let second = Pairing::new("two".to_owned()).expect("random bytes");
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
}
