//! Lessons as options, in the order in which they are given.

use chronicle::{Category, LESSON_OPTIONS, Said};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// What is said of a commit in options: lessons, and what it relies on.
#[derive(Debug, clap::Args)]
pub(crate) struct LessonArgs {
    #[command(flatten)]
    lessons: Lessons,

    /// Code elsewhere that the change relies on, and the assumption about it
    #[arg(long, value_name = "PLACE NATURE", allow_hyphen_values = true)]
    depends_on: Vec<String>,
}

/// One option for each category, any of them any number of times.
#[derive(Debug, Clone, Default)]
struct Lessons(Vec<(Category, String)>);

/// What is said of each of [`LESSON_OPTIONS`].
const HELP: [&str; 4] = [
    "A trap that the code does not show, at PLACE if that is `FILE:`, `FILE:LINES` or `FILE:ANCHOR`",
    "What was tried and failed",
    "What one has to understand first",
    "What is still to be done",
];

impl Args for Lessons {
    fn augment_args(command: Command) -> Command {
        command.args(LESSON_OPTIONS.into_iter().zip(HELP).map(|((name, _), help)| {
            Arg::new(name)
                .long(name)
                .value_name("[PLACE ]WHAT")
                .help(help)
                .action(ArgAction::Append)
                .allow_hyphen_values(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Lessons {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found: Vec<(usize, Category, String)> = Vec::new();
        for (name, category) in LESSON_OPTIONS {
            let texts = matches.get_many::<String>(name).into_iter().flatten();
            let places = matches.indices_of(name).into_iter().flatten();
            found.extend(places.zip(texts).map(|(at, text)| (at, category, text.clone())));
        }
        found.sort_by_key(|(at, ..)| *at);
        Ok(Self(found.into_iter().map(|(_, category, text)| (category, text)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl LessonArgs {
    /// The first option that was given, as it is written.
    pub(crate) fn first(&self) -> Option<String> {
        let lesson = self.lessons.0.first().map(|(category, _)| category);
        let name = LESSON_OPTIONS.iter().find(|(_, known)| Some(known) == lesson).map(|(name, _)| *name);
        name.or((!self.depends_on.is_empty()).then_some("depends-on")).map(|name| format!("--{name}"))
    }

    /// With the reason, all that is said.
    pub(crate) fn with_summary(self, summary: Option<String>) -> Said {
        Said { summary, lessons: self.lessons.0, depends_on: self.depends_on, ..Said::default() }
    }
}
