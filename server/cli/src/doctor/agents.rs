//! What an agent has of hashline, in its person's own settings and in those of a project.

use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use super::Finding;
use crate::setup::{Agent, Found, Home, Scope, What, command, found};

/// What an agent has in one scope.
#[derive(Clone, Debug)]
pub struct Place {
    is_project: bool,
    parts: Vec<(What, PathBuf, Found)>,
    /// Hooks that are there, and that the agent was not told to trust.
    untrusted: bool,
}

impl Place {
    pub fn of(agent: Agent, scope: &Scope, home: &Home) -> Self {
        let parts = found(agent, scope, home, &command(scope));
        let untrusted = agent.trust(home).is_some_and(|trust| {
            let hooks = parts.iter().find(|(what, _, found)| *what == What::Hooks && *found == Found::Whole);
            hooks.is_some_and(|(_, file, _)| !is_trusted(&trust, file))
        });
        Self { is_project: matches!(scope, Scope::Project(_)), parts, untrusted }
    }

    /// Whether there is anything of hashline's.
    pub fn has_any(&self) -> bool {
        self.parts.iter().any(|(_, _, found)| *found != Found::Nothing)
    }

    fn has(&self, what: What) -> bool {
        self.parts.iter().any(|(part, _, found)| *part == what && *found == Found::Whole)
    }

    fn has_any_hooks(&self) -> bool {
        self.parts.iter().any(|(what, _, found)| *what == What::Hooks && *found != Found::Nothing)
    }

    /// The command that mends what is missing here.
    fn setup(&self, agent: Agent) -> String {
        let user = if self.is_project { "" } else { " --user" };
        format!("hashline setup {}{user}", agent.command_name())
    }
}

/// Whether a program of this name can be started.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Under Windows npm's programs are scripts.
    let names = if cfg!(windows) {
        vec![format!("{program}.exe"), format!("{program}.cmd")]
    } else {
        vec![program.to_owned()]
    };
    std::env::split_paths(&path).any(|folder| names.iter().any(|name| folder.join(name).is_file()))
}

/// Whether Codex keeps a word of its person's on hooks in this file. Whether that holds for the hooks as they are, it alone knows.
fn is_trusted(configuration: &Path, hooks: &Path) -> bool {
    let text = std::fs::read_to_string(configuration).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else { return false };
    let Some(states) = document.get("hooks").and_then(|hooks| hooks.get("state")?.as_table_like()) else {
        return false;
    };
    let beginning = format!("{}:", hooks.display());
    states.iter().any(|(key, state)| key.starts_with(&beginning) && state.get("trusted_hash").is_some())
}

/// What is to be said of an agent that is there.
pub fn findings(agent: Agent, places: &[Place]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in places {
        for (what, file, found) in &place.parts {
            let (name, file) = (name(*what), file.display());
            match found {
                Found::Whole if *what == What::Hooks && place.untrusted => findings.push(Finding::missing(
                    format!("hooks in {file}, which {} was not told to trust", agent.name()),
                    format!("Start {} and trust them in /hooks.", agent.program()),
                )),
                Found::Whole => findings.push(Finding::well(format!("{name} in {file}"))),
                Found::Nothing => {}
                Found::Otherwise => findings.push(Finding::missing(
                    format!("{name} in {file}, which are not those of this hashline"),
                    place.setup(agent),
                )),
                Found::Unknown(why) => findings.push(Finding::missing(
                    format!("{name} in {file} cannot be told: {why}"),
                    "Mend the file, and ask again.",
                )),
            }
        }
    }
    let anywhere = |what: What| places.iter().filter(|place| place.has(what)).count();
    let has_hooks = places.iter().any(|place| place.parts.iter().any(|(what, ..)| *what == What::Hooks));
    if anywhere(What::Tools) == 0 && findings.is_empty() {
        let setup = format!("hashline setup {}", agent.command_name());
        findings.push(Finding {
            mend: Some(format!("{setup}, or with --user for all your projects")),
            ..Finding::note("not set up")
        });
    } else if let Some(place) = places.iter().find(|place| place.has(What::Tools))
        && has_hooks
        && !places.iter().any(Place::has_any_hooks)
    {
        findings.push(Finding::missing(
            "no hooks: what it writes with its own tools goes to the disk, under unsaved work",
            place.setup(agent),
        ));
    }
    if anywhere(What::Hooks) > 1 {
        let remove = format!("hashline setup {} --remove", agent.command_name());
        findings.push(Finding::missing("hooks in both files: each edit is told of twice", remove));
    }
    findings
}

fn name(what: What) -> &'static str {
    match what {
        What::Tools => "tools",
        What::Hooks => "hooks",
        What::Advice => "advice",
    }
}
