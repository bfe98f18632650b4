//! Which repository it is, whether git would work in it, and what is seen of it without opening it.

pub(crate) mod checkout;
pub(crate) mod config;
pub(crate) mod git_dir;
pub(crate) mod glance;
pub(crate) mod identity;
pub(crate) mod ownership;
pub(crate) mod repository;
pub(crate) mod settings;
pub(crate) mod sound;
pub(crate) mod state;
