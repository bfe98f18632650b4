//! `git chronicle`: memory for a codebase and for the agents that work on it.

mod arguments;
mod background;
mod cli;
mod commands;
mod completion;
mod editor;
mod error;
mod help;
mod interrupt;
mod limits;
mod pager;
mod surroundings;
mod tour;
mod ui;

use std::process::ExitCode;

use crate::{cli::Cli, ui::Ui};

fn main() -> ExitCode {
    error::report_panics();
    limits::leave_out_what_repositories_bring();
    limits::set();
    if let Some(done) = completion::answered() {
        return done;
    }
    let cli = match Cli::parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => return error::usage(&error),
    };
    let mut ui = Ui::new(cli.output);
    match commands::run(cli, &mut ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error::report(&error, &mut ui),
    }
}
