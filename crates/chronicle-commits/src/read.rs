//! What is known of code: questions, and their answers.

pub(crate) mod answer;
pub(crate) mod blames;
pub(crate) mod by_words;
pub mod coverage;
pub(crate) mod deps;
pub(crate) mod gather;
pub(crate) mod item_history;
pub(crate) mod known_anchors;
pub(crate) mod matching;
pub(crate) mod name_now;
pub(crate) mod named;
pub(crate) mod pipeline;
pub(crate) mod prose;
pub(crate) mod question;
pub(crate) mod recap;
pub(crate) mod record;
pub(crate) mod region_lessons;
pub(crate) mod related;
pub(crate) mod removal;
