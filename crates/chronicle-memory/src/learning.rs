//! What is learned from sessions: preferences, patterns, skills, problems.
//!
//! Each session is learned from once: its signs are kept in the store until its
//! turns change, and everything else is counted anew of the signs of all. So a
//! question never depends on when it was learned, and forgetting a session takes
//! along what only it said.

mod experience;
mod feedback;
mod patterns;
mod preferences;
mod problems;
mod profile;
mod technologies;

pub use experience::{Learning, Place};
pub use feedback::{FeedbackCommand, FeedbackReply, GivenFeedback, RejectedLessons};
pub(crate) use patterns::THEN;
pub use patterns::{PATTERN_KINDS, Pattern, Patterns, PatternsCommand};
pub use preferences::{Preference, PreferenceEvidence, Preferences, PreferencesCommand};
pub use problems::{Problem, Problems, Solution};
pub use profile::{DeveloperProfile, Identity};
pub use technologies::{KnownProject, Projects, ProjectsCommand, Skill, Skills, UsedTechnology};
