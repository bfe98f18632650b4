//! What can go wrong with the file of facts.

use snafu::Snafu;

/// Why facts cannot be looked up or stored. The caller goes on without the file.
#[derive(Debug, Snafu)]
#[snafu(visibility(pub(crate)))]
pub enum FactsError {
    /// The file cannot be read or written.
    #[snafu(display("the file of facts cannot be used"))]
    Sqlite {
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Tables are missing, or others are there.
    #[snafu(display("the file of facts has other tables than it was made with"))]
    OtherTables,
    /// Something that is no file has the name of a file of SQLite's.
    #[snafu(display("what ends in `{end}` next to the file of facts isn't a file"))]
    InTheWay {
        /// How its name ends.
        end: &'static str,
    },
    /// A commit is missing that another one was to be built on.
    #[snafu(display("a commit that others build on is not in the file of facts"))]
    MissingParent,
}

impl From<rusqlite::Error> for FactsError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite { source }
    }
}

pub(crate) type Result<T, E = FactsError> = std::result::Result<T, E>;

impl FactsError {
    /// Whether the file is no file of facts, or its tables or bytes are damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            Self::Sqlite { source } => {
                matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
            }
            Self::OtherTables => true,
            Self::MissingParent | Self::InTheWay { .. } => false,
        }
    }
}
