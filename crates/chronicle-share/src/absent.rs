//! What stands in for the store in a build without it.

use crate::{Mark, Role, ShareError, SharedRow, TakeRows, error::NotBuiltSnafu};

/// A table; there is none in this build.
#[derive(Debug)]
pub enum Table {}

impl Table {
    /// Makes a table.
    ///
    /// # Errors
    /// Always.
    pub fn create(_url: &str, _role: Role, _identity: &str) -> Result<Self, ShareError> {
        NotBuiltSnafu.fail()
    }

    /// Opens a table.
    ///
    /// # Errors
    /// Always.
    pub fn open(_url: &str, _role: Role) -> Result<Self, ShareError> {
        NotBuiltSnafu.fail()
    }

    /// What tells the table from all others.
    #[must_use]
    pub fn identity(&self) -> &str {
        match *self {}
    }

    /// The number of its present version.
    ///
    /// # Errors
    /// Never.
    pub fn version(&self) -> Result<u64, ShareError> {
        match *self {}
    }

    /// What is stored, of one machine or of all.
    ///
    /// # Errors
    /// Never.
    pub fn marks(&self, _machine_id: Option<&str>) -> Result<Vec<Mark>, ShareError> {
        match *self {}
    }

    /// Stores rows.
    ///
    /// # Errors
    /// Never.
    pub fn put(&self, _rows: &[SharedRow]) -> Result<(), ShareError> {
        match *self {}
    }

    /// Removes rows.
    ///
    /// # Errors
    /// Never.
    pub fn remove(&self, _ids: &[String]) -> Result<(), ShareError> {
        match *self {}
    }

    /// Tells `take` the rows with these ids, in parts.
    ///
    /// # Errors
    /// Never.
    pub fn rows(&self, _ids: &[String], _take: &mut TakeRows<'_>) -> Result<(), ShareError> {
        match *self {}
    }

    /// Tells `take` all rows, in parts.
    ///
    /// # Errors
    /// Never.
    pub fn all_rows(&self, _take: &mut TakeRows<'_>) -> Result<(), ShareError> {
        match *self {}
    }

    /// Brings the table into good order.
    ///
    /// # Errors
    /// Never.
    pub fn tidy(&self) -> Result<(), ShareError> {
        match *self {}
    }

    /// How many pieces it lies in, and whether that is many.
    ///
    /// # Errors
    /// Never.
    pub fn is_scattered(&self) -> Result<bool, ShareError> {
        match *self {}
    }

    /// The rows that have terms of a question.
    ///
    /// # Errors
    /// Never.
    pub fn search(
        &self,
        _terms: &str,
        _project: Option<&str>,
        _since: Option<i64>,
        _limit: usize,
    ) -> Result<Vec<(SharedRow, f64)>, ShareError> {
        match *self {}
    }
}
