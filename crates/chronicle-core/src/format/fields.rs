//! Takes known keys out of a JSON object and keeps everything else.
//!
//! Reading is lenient: a known key whose value has the wrong shape must neither
//! hide the document nor be lost, so it stays among the unknown keys under
//! `KEY_as_written`, where it cannot make a strict reader reject our rewrite.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::LineRange;

/// A JSON object that is being read key by key.
pub(crate) struct Fields {
    map: Map<String, Value>,
    misfits: Vec<(String, Value)>,
}

impl Fields {
    pub(crate) fn new(map: Map<String, Value>) -> Self {
        Self { map, misfits: Vec::new() }
    }

    /// The value of `key`, if it is there, not null and of the right shape.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.map.shift_remove(key).filter(|value| !value.is_null())?;
        match T::deserialize(&value) {
            Ok(read) => Some(read),
            Err(_) => {
                self.misfits.push((key.to_owned(), value));
                None
            }
        }
    }

    /// The range of lines at `key`; further keys inside it are kept beside it.
    pub(crate) fn take_lines(&mut self, key: &str) -> Option<LineRange> {
        let written = self.map.get(key).cloned();
        let lines = self.take(key)?;
        if let Some(Value::Object(mut inner)) = written {
            inner.shift_remove("start");
            inner.shift_remove("end");
            if !inner.is_empty() {
                self.misfits.push((key.to_owned(), Value::Object(inner)));
            }
        }
        Some(lines)
    }

    /// Takes the key that names the schema. A `$schema` beside it is a key like any other.
    pub(crate) fn take_schema(&mut self) {
        let key = if self.map.contains_key("schema") { "schema" } else { "$schema" };
        let _named: Option<String> = self.take(key);
    }

    /// The elements of the array at `key` that `read` accepts; a lone element counts as an array of one.
    pub(crate) fn take_each<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(Value) -> Result<T, Value>,
    ) -> Vec<T> {
        let elements = match self.map.shift_remove(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(elements)) => elements,
            Some(other) => vec![other],
        };
        let mut taken = Vec::with_capacity(elements.len());
        let mut misfits = Vec::new();
        for element in elements {
            match read(element) {
                Ok(read) => taken.push(read),
                Err(value) => misfits.push(value),
            }
        }
        if !misfits.is_empty() {
            self.misfits.push((key.to_owned(), Value::Array(misfits)));
        }
        taken
    }

    /// [`Fields::take_each`] for elements that serde can read.
    pub(crate) fn take_list<T: DeserializeOwned>(&mut self, key: &str) -> Vec<T> {
        self.take_each(key, |value| T::deserialize(&value).map_err(|_| value))
    }

    /// Keeps `value` under the name that a value of the wrong shape gets.
    pub(crate) fn misfit(&mut self, key: &str, value: Value) {
        self.misfits.push((key.to_owned(), value));
    }

    /// Puts `value` among the keys that are kept as they are, without taking the place of another.
    pub(crate) fn keep(&mut self, key: String, value: Value) {
        if self.map.contains_key(&key) {
            self.misfits.push((key, value));
        } else {
            self.map.insert(key, value);
        }
    }

    /// Whatever was not taken, to be written beside keys that are `taken` for something else.
    ///
    /// An older schema may use such a key with another meaning. Written twice in one object,
    /// it would make strict readers reject the note.
    pub(crate) fn rest_beside(mut self, taken: &[&str]) -> Map<String, Value> {
        for key in taken {
            if let Some(value) = self.map.shift_remove(*key) {
                self.misfit(key, value);
            }
        }
        self.rest()
    }

    /// Whatever was not taken.
    pub(crate) fn rest(mut self) -> Map<String, Value> {
        for (key, value) in self.misfits {
            let mut kept = format!("{key}_as_written");
            while self.map.contains_key(&kept) {
                kept.push('_');
            }
            self.map.insert(kept, value);
        }
        self.map
    }
}
