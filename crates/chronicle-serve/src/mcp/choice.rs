//! Which tools a client is given; by which names they are chosen, the table of [`tools`](super::tools) knows.

/// Which tools a client is given: each costs it room in every request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice(pub(super) Vec<&'static str>);

impl Choice {
    /// Whether the tool of that name is among them.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}
