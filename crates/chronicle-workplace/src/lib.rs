//! Where and when a use case runs: directory and repository, settings, models, and why an answer fails. Floor 4, at the
//! bottom: every use case is given a [`Workplace`], and fails with an [`Error`].

mod allow;
mod code;
pub mod error;
mod finding;
mod models;
pub mod owned;
mod settings;
mod workplace;

pub use allow::{Allowance, AllowedRepositories, AllowedRepository, WantedSetting};
pub use code::{CANNOT, Code, WRONG_ARGUMENTS};
pub use error::Error;
pub use finding::{Finding, Health};
pub use models::{
    Bounds, CallReport, CostReport, CostRow, LlmCheck, MeteredModel, ModelNow, RunLimits, WrittenTokens,
    answer_in, whole_part_of,
};
pub use settings::{
    ACCOUNT_HOME, IgnoredSetting, OF_AGENT, ReadSettings, Rule, SETTINGS, Setting, SettingNow, SettingOrigin,
    Settings, UNATTENDED, grounds_of_agent, has_sound_configuration, is_of_agent, is_within, pager_of_user,
    real,
};
pub use workplace::{FILL, StartBehind, Workplace, new_id};
