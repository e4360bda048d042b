//! `mcpdiff`, and `hashline diff`: the history of a folder in a terminal.
//!
//! [`resolve_id`] leads from what a person types to what it names, [`decider`] and [`sidecars`] do what is decided, [`messages`] has all that is said
//! about it, and the other modules are the commands. Nothing that agents wrote reaches a terminal as they wrote it: see [`hashline_terminal`].

mod accept_reject;
mod adopt;
mod arguments;
mod cleanup;
mod decider;
mod diffstat;
mod edit_details;
mod export;
mod find_history;
mod git_patch;
mod hunk;
mod hunk_status;
mod local_time;
mod messages;
mod patch_sides;
mod resolve_id;
mod review;
mod show;
mod sidecars;
mod status_table;

#[cfg(test)]
#[path = "../../../history/tests/common/mod.rs"]
mod common;

use std::process::ExitCode;
use std::sync::Arc;

pub use arguments::{Diff, Mcpdiff};
use hashline_history::{Probe, Store};

use arguments::Command;
use decider::Verb;
use hashline_terminal::{Failure, Screen, log, tell};
use sidecars::Everywhere;

/// Carries out a command.
pub fn run(options: &Diff) -> Result<ExitCode, Failure> {
    run_in(options, &find_history::store(&options.place)?)
}

/// The same with every change of the disk asked for. For tests.
pub fn run_with(options: &Diff, probe: Arc<dyn Probe>) -> Result<ExitCode, Failure> {
    run_in(options, &find_history::store(&options.place)?.with_probe(probe))
}

fn run_in(options: &Diff, store: &Store) -> Result<ExitCode, Failure> {
    log::start(None)?;
    if !matches!(options.command, Some(Command::Adopt(_))) {
        store.check_owner().map_err(Failure::broken)?;
    }
    let screen = Screen::of_stdout();
    let decider = || Everywhere::new(store, find_history::state(&options.place)?);
    let done = match &options.command {
        None => status_table::run(store, &arguments::Status::default(), screen),
        Some(Command::Status(options)) => status_table::run(store, options, screen),
        Some(Command::Show(options)) => show::run(store, options, screen),
        Some(Command::Export(options)) => export::run(store, options, screen),
        Some(Command::Accept(options)) => accept_reject::run(store, Verb::Accept, options, decider, screen),
        Some(Command::Reject(options)) => accept_reject::run(store, Verb::Reject, options, decider, screen),
        Some(Command::Review(options)) => review::run(store, options, decider, screen),
        Some(Command::Adopt(options)) => adopt::run(store, options, screen),
        Some(Command::Cleanup(options)) => cleanup::run(&decider()?, options, screen),
    };
    // The table of the status tells it by itself, and whoever is told of something worse need not hear of it.
    if !matches!(options.command, None | Some(Command::Status(_)))
        && done.is_ok()
        && let Some(words) = messages::record_damaged(&store.damage().unwrap_or_default())
    {
        tell(&format!("mcpdiff: {words}"));
    }
    done
}
