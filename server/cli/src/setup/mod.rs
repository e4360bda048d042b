//! `hashline setup`: writes an agent's configuration, its hooks, and the lines in its instructions that make it use these tools.
//!
//! [`agent_config_paths`] knows where each agent keeps them, [`json_server_entry`], [`toml_server_entry`], [`hooks`], [`plugin`] and [`instructions`]
//! change them and keep all else as it was, [`file_change`] shows a change and makes it, and [`originals`] knows what was there before.

mod agent_config_paths;
mod file_change;
mod hooks;
mod instructions;
mod json_server_entry;
mod originals;
mod plugin;
mod toml_server_entry;

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use agent_config_paths::{Agent, Home, Scope, command};

use crate::arguments::Setup;
use agent_config_paths::{Format, Hooks};
use file_change::{Change, Stored};
use hashline_link::StateDir;
use hashline_terminal::{Failure, Screen, inert};
use originals::Originals;

/// What agents call the server.
const NAME: &str = "hashline";

/// What belongs into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The server, which has the tools.
    Tools,
    /// What tells of the use of the agent's own tools.
    Hooks,
    /// Words that make a model use the tools.
    Advice,
}

impl What {
    /// The same for people.
    fn words(self) -> &'static str {
        match self {
            What::Tools => "the tools",
            What::Hooks => "the hooks",
            What::Advice => "the advice to use them",
        }
    }
}

/// How much of what belongs into a file is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// All of it, as it would be written now.
    Whole,
    /// Something of its name, which would be written otherwise now.
    Otherwise,
    /// Nothing.
    Nothing,
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// One file that is to be changed.
struct Step {
    what: What,
    file: PathBuf,
    /// What is put there, for whoever does it by hand.
    snippet: String,
    /// What it holds afterwards; none for a file that nothing is left of.
    wanted: Wanted,
    /// What it holds with nothing in it, where it has to stay.
    empty: &'static str,
}

/// How a text becomes what is wanted: none stands for no file.
type Wanted = Box<dyn Fn(Option<&str>) -> Result<Option<String>, String>>;

/// Sets an agent up, or takes back what was set up.
pub fn run(options: &Setup) -> Result<ExitCode, Failure> {
    let screen = Screen::of_stdout();
    let scope = if options.user { Scope::User } else { Scope::Project(project(options.root.as_deref())?) };
    let home = Home::find().ok_or_else(|| Failure::broken("the home folder is not to be had; set HOME"))?;
    let command = command(&scope);
    let state = StateDir::new(options.state_dir.as_deref()).map_err(Failure::broken)?;
    let mut steps = steps(options.agent, options.remove, &scope, &home, &command);
    steps.retain(|step| match step.what {
        What::Tools => true,
        What::Hooks => !options.no_hooks,
        What::Advice => !options.no_advice,
    });
    if options.print {
        for step in &steps {
            screen.print(&format!(
                "# {}: {}\n{}\n",
                step.what.words(),
                inert(&step.file.to_string_lossy()),
                step.snippet
            ))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut failed = false;
    let mut wrote = Vec::new();
    let originals = Originals::new(&state);
    for step in &steps {
        match take(step, &scope, options, screen, &originals)? {
            Taken::Made => wrote.push(&step.file),
            Taken::Nothing => {}
            Taken::Left => failed = true,
        }
    }
    if options.remove {
        // Behind all of them, as several may lie in one folder.
        wrote.iter().for_each(|file| originals.forget(file));
    }
    if !wrote.is_empty() && !options.remove {
        screen.print(&screen.sentences(&format!("{}\n", options.agent.next(&scope, &command))))?;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The project's folder: the one that is given, else the working directory.
pub fn project(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = given.map_or_else(std::env::current_dir, |folder| Ok(folder.to_owned()));
    let folder = folder.and_then(|folder| folder.canonicalize());
    folder.map_err(|error| {
        Failure::usage(format!("the project's folder is not to be had: {error}; give --root DIR"))
    })
}

/// What an agent has of its tools and its hooks, and in which files.
pub fn found(agent: Agent, scope: &Scope, home: &Home, command: &str) -> Vec<(What, PathBuf, Found)> {
    let [with, without] = [false, true].map(|remove| steps(agent, remove, scope, home, command));
    let both = with.into_iter().zip(without).filter(|(with, _)| with.what != What::Advice);
    both.map(|(with, without)| {
        let found = Stored::read(&with.file).and_then(|stored| {
            let text = stored.text();
            let is_so = |step: &Step| (step.wanted)(text).map(|wanted| wanted.as_deref() == text);
            Ok(match (is_so(&with)?, is_so(&without)?) {
                (true, _) => Found::Whole,
                (false, true) => Found::Nothing,
                (false, false) => Found::Otherwise,
            })
        });
        (with.what, with.file, found.unwrap_or_else(Found::Unknown))
    })
    .collect()
}

fn steps(agent: Agent, remove: bool, scope: &Scope, home: &Home, command: &str) -> Vec<Step> {
    let place = agent.configuration(scope, home);
    let entry = agent.entry(command);
    let snippet = match place.format {
        Format::Json => json_server_entry::snippet(place.keys, &entry),
        Format::Toml => toml_server_entry::snippet(place.keys, &entry),
    };
    let keys = place.keys;
    let configuration = Step {
        what: What::Tools,
        file: place.file,
        snippet,
        wanted: match (place.format, remove) {
            (Format::Json, false) => Box::new(move |text| json_server_entry::with(text, keys, &entry)),
            (Format::Json, true) => Box::new(move |text| json_server_entry::without(text, keys)),
            (Format::Toml, false) => Box::new(move |text| toml_server_entry::with(text, keys, &entry)),
            (Format::Toml, true) => Box::new(move |text| toml_server_entry::without(text, keys)),
        },
        empty: match place.format {
            Format::Json => "{}\n",
            Format::Toml => "",
        },
    };
    let hooks = agent.hooks(scope, home, command).map(|(file, hooks)| Step {
        what: What::Hooks,
        file,
        snippet: match &hooks {
            Hooks::Listed(hooks) => hooks::snippet(hooks),
            Hooks::Plugin(text) => text.clone(),
        },
        empty: match &hooks {
            Hooks::Listed(_) => "{}\n",
            Hooks::Plugin(_) => "",
        },
        wanted: match (hooks, remove) {
            (Hooks::Listed(hooks), false) => Box::new(move |text| hooks::with(text, &hooks)),
            (Hooks::Listed(_), true) => Box::new(hooks::without),
            (Hooks::Plugin(own), false) => Box::new(move |text| plugin::with(text, &own)),
            (Hooks::Plugin(_), true) => Box::new(plugin::without),
        },
    });
    let advice = agent.instructions(scope, home).map(|file| Step {
        what: What::Advice,
        file,
        snippet: instructions::block(),
        wanted: if remove { Box::new(instructions::without) } else { Box::new(instructions::with) },
        empty: "",
    });
    [Some(configuration), hooks, advice].into_iter().flatten().collect()
}

/// What became of a step.
enum Taken {
    /// The file was written.
    Made,
    /// There was nothing to do, or the person did not want it.
    Nothing,
    /// It has to be done by hand, or with --yes.
    Left,
}

fn take(
    step: &Step,
    scope: &Scope,
    options: &Setup,
    screen: Screen,
    originals: &Originals<'_>,
) -> Result<Taken, Failure> {
    let name = inert(&step.file.to_string_lossy());
    let by_hand = |why: &str| {
        let rest = if options.remove {
            "Take it out by hand.\n".to_owned()
        } else {
            format!("Put this in by hand:\n\n{}\n", step.snippet)
        };
        screen.print(&format!("{name} is left as it is: {}. {rest}", inert(why)))
    };
    let stored = match Stored::read(&step.file) {
        Ok(stored) => stored,
        Err(why) => {
            by_hand(&why)?;
            return Ok(Taken::Left);
        }
    };
    // Whoever made the project may have made the link, to a file of somebody else's.
    if let Scope::Project(root) = scope
        && !stored.target().starts_with(root)
    {
        by_hand(&format!("it is a link to {}, outside of the project", stored.target().display()))?;
        return Ok(Taken::Left);
    }
    // The original has neither tools nor hooks, unless it had some before.
    let whole = options.remove && !options.no_hooks;
    let is_clean = |before: &Option<String>| (step.wanted)(before.as_deref()).as_ref() == Ok(before);
    let before = originals.before(&step.file, stored.text()).filter(|before| whole && is_clean(before));
    let wanted = match before.map_or_else(|| (step.wanted)(stored.text()), Ok) {
        Ok(wanted) => wanted,
        Err(why) => {
            by_hand(&why)?;
            return Ok(Taken::Left);
        }
    };
    // The person's link would lead nowhere.
    let empty = stored.is_linked().then(|| step.empty.to_owned());
    let wanted = wanted.or(empty);
    let change = Change { file: &step.file, stored, wanted };
    if change.is_none() {
        let state = if options.remove { "are not there" } else { "are there already" };
        screen.print(&format!("{name}: {} {state}.\n", step.what.words()))?;
        return Ok(Taken::Nothing);
    }
    screen.print(&change.shown(screen))?;
    if !options.yes {
        if !std::io::stdin().is_terminal() {
            screen.print("Not written, as there is no terminal to ask in: give --yes.\n")?;
            return Ok(Taken::Left);
        }
        if !agreed(screen, &format!("Write {name}?"))? {
            screen.print("Not written.\n")?;
            return Ok(Taken::Nothing);
        }
    }
    if let Some(wanted) = change.wanted.as_deref().filter(|_| !options.remove)
        && let Err(error) = originals.note(&step.file, change.stored.text(), wanted)
    {
        tracing::debug!("what {name} held before is not kept: {error}");
    }
    match change.make() {
        Ok(()) => {
            screen.print(&format!(
                "{name}: {}.\n",
                if change.wanted.is_some() { "written" } else { "removed" }
            ))?;
            Ok(Taken::Made)
        }
        Err(why) => {
            by_hand(&why)?;
            Ok(Taken::Left)
        }
    }
}

fn agreed(screen: Screen, question: &str) -> Result<bool, Failure> {
    screen.print(&format!("{question} [y/N] "))?;
    let mut answer = String::new();
    // No more answers is a no.
    let read = std::io::stdin().lock().read_line(&mut answer).unwrap_or(0);
    if read == 0 {
        screen.print("\n")?;
    }
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
