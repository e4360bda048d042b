//! `hashline doctor`: what agents are set up with, whether it answers, and what to do where it is not so. It changes nothing.
//!
//! [`agents`] looks at files and decides, [`server`] starts hashline as agents do.

mod agents;
mod server;

use std::process::ExitCode;

use clap::ValueEnum;
use hashline_link::{Sidecar, StateDir, discover};
use hashline_terminal::{Failure, Ink, Screen, inert, log};

use crate::arguments::Doctor;
use crate::setup::{Agent, Home, Scope, command, project};
use agents::Place;

/// How something is that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Well,
    /// Good to know, and nothing has to be done.
    Note,
    Missing,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    health: Health,
    words: String,
    /// What to do: a command, or a sentence.
    mend: Option<String>,
}

impl Finding {
    fn well(words: impl Into<String>) -> Self {
        Self { health: Health::Well, words: words.into(), mend: None }
    }

    fn note(words: impl Into<String>) -> Self {
        Self { health: Health::Note, words: words.into(), mend: None }
    }

    fn missing(words: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { health: Health::Missing, words: words.into(), mend: Some(mend.into()) }
    }

    fn shown(&self, screen: Screen) -> String {
        let (ink, mark) = match self.health {
            Health::Well => (Ink::Accepted, "✓"),
            Health::Note => (Ink::Place, "·"),
            Health::Missing => (Ink::Rejected, "✗"),
        };
        let mend = self.mend.as_deref().map_or_else(String::new, |mend| format!("    {}\n", inert(mend)));
        format!("  {} {}\n{mend}", screen.paint(ink, mark), inert(&self.words))
    }
}

/// Looks, and says what was found.
pub fn run(options: &Doctor) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let screen = Screen::of_stdout();
    let root = project(options.root.as_deref())?;
    let home = Home::find().ok_or_else(|| Failure::broken("the home folder is not to be had; set HOME"))?;
    let state = StateDir::new(options.common.state_dir.as_deref()).map_err(Failure::broken)?;
    let own = format!("hashline {}", env!("CARGO_PKG_VERSION"));
    let mut all = vec![
        (own, vec![server::answers(&command(&Scope::User), &root, options.common.state_dir.as_deref())]),
        ("Editors".to_owned(), editors(&discover(&state), &root)),
    ];
    let scopes = [Scope::User, Scope::Project(root)];
    let (mut absent, mut any_set_up) = (Vec::new(), false);
    for agent in Agent::value_variants() {
        let places: Vec<Place> = scopes.iter().map(|scope| Place::of(*agent, scope, &home)).collect();
        let is_set_up = places.iter().any(Place::has_any);
        any_set_up |= is_set_up;
        if is_set_up || agents::is_on_path(agent.program()) {
            all.push((agent.name().to_owned(), agents::findings(*agent, &places)));
        } else {
            absent.push(agent.name());
        }
    }
    if !any_set_up {
        let setup = "hashline setup AGENT, with one of those that `hashline setup --help` names";
        all.push(("Agents".to_owned(), vec![Finding::missing("no agent has these tools", setup)]));
    }
    for (heading, findings) in &all {
        let findings: String = findings.iter().map(|finding| finding.shown(screen)).collect();
        screen.print(&format!("{}\n{findings}", screen.paint(Ink::Heading, heading)))?;
    }
    if !absent.is_empty() {
        screen.print(&format!("Not on your path, and not set up: {}.\n", absent.join(", ")))?;
    }
    let is_missing = |finding: &Finding| finding.health == Health::Missing;
    let all_well = !all.iter().flat_map(|(_, findings)| findings).any(is_missing);
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The editors that run, and whether one of them has the project's folder.
fn editors(running: &[Sidecar], root: &std::path::Path) -> Vec<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let mut findings: Vec<Finding> = running
        .iter()
        .map(|sidecar| {
            let folders: Vec<String> =
                sidecar.roots.iter().map(|root| root.to_string_lossy().into_owned()).collect();
            let words = format!("{} runs in {}", sidecar.editor, folders.join(", "));
            if sidecar.version == own {
                Finding::well(words)
            } else {
                let words = format!("{words}, with hashline {}", sidecar.version);
                Finding::missing(words, format!("Restart it, so that it starts hashline {own}."))
            }
        })
        .collect();
    if !running.iter().any(|sidecar| sidecar.roots.iter().any(|folder| root.starts_with(folder))) {
        findings.push(Finding::note(format!(
            "No editor has {} open: agents work on its files on disk.",
            root.display()
        )));
    }
    findings
}
