//! The commands that answer questions, and which of what they find is sought.

/// Where a question goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteName {
    Brief,
    CatchUp,
    Pending,
    About,
    How,
    Projects,
    Decided,
    Why,
    Read,
    Preferences,
    Patterns,
    Skills,
    Problems,
    Digest,
    List,
    Fix,
    Find,
}

impl RouteName {
    /// How it is told.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Brief => "brief",
            Self::CatchUp => "catch-up",
            Self::Pending => "pending",
            Self::About => "about",
            Self::How => "how",
            Self::Projects => "projects",
            Self::Decided => "decided",
            Self::Why => "why",
            Self::Read => "read",
            Self::Preferences => "preferences",
            Self::Patterns => "patterns",
            Self::Skills => "skills",
            Self::Problems => "problems",
            Self::Digest => "digest",
            Self::List => "list",
            Self::Fix => "fix",
            Self::Find => "find",
        }
    }
}

/// The earliest, or the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    First,
    Last,
}
