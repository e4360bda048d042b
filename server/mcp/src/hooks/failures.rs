//! Hooks that were passed over: their programs went on as if there were none, so the person is told by `hashline status`.
//!
//! Of each program the latest one lies in the state folder, with how many there were, each within a day of the one before.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashline_history::one_line;
use hashline_link::StateDir;
use serde::{Deserialize, Serialize};

use crate::hooks::HookedProgram;

/// Its name in the state folder.
const FOLDER: &str = "hooks";
/// How long one is told of.
const TOLD: Duration = Duration::from_secs(24 * 3600);
/// The most characters of a reason.
const LONGEST: usize = 300;

/// Hooks of a program that were passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFailure {
    /// What the program is called in a history.
    pub agent: String,
    /// How many there were.
    pub count: u64,
    /// When the latest was, in seconds since 1970, UTC.
    pub at: u64,
    /// Why it was.
    pub why: String,
}

impl HookFailure {
    /// How long ago the latest was.
    #[must_use]
    pub fn age(&self) -> Duration {
        Duration::from_secs(seconds().saturating_sub(self.at))
    }
}

/// Notes that a hook was passed over, and logs it. What cannot be noted is in the log alone.
pub fn pass_over(state: &StateDir, program: HookedProgram, why: &str) {
    tracing::warn!("a hook of {} is passed over: {why}", program.agent());
    if let Err(error) = note(state, program.agent(), why) {
        tracing::warn!("hashline status cannot tell of it: {error}");
    }
}

/// The hooks that were passed over within a day, by program.
#[must_use]
pub fn hook_failures(state: &StateDir) -> Vec<HookFailure> {
    let files = fs::read_dir(state.path().join(FOLDER)).into_iter().flatten().flatten();
    let mut failures: Vec<HookFailure> = files.filter_map(|file| read(&file.path())).collect();
    failures.sort_by(|one, other| one.agent.cmp(&other.agent));
    failures
}

fn note(state: &StateDir, agent: &str, why: &str) -> io::Result<()> {
    let folder = state.folder(FOLDER).map_err(io::Error::other)?;
    let file = folder.join(format!("{agent}.json"));
    let count = read(&file).map_or(0, |before| before.count) + 1;
    let failure = HookFailure { agent: agent.to_owned(), count, at: seconds(), why: one_line(why, LONGEST) };
    // Two processes that fail at the same time may count as one.
    fs::write(file, serde_json::to_vec(&failure)?)
}

/// What is noted in a file, unless it is too long ago.
fn read(file: &Path) -> Option<HookFailure> {
    let failure: HookFailure = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    Some(failure).filter(|failure| failure.age() < TOLD)
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_of_each_program_is_told_for_a_day() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path())).unwrap();
        assert_eq!(hook_failures(&state), []);
        for why in ["one", "two\nand more"] {
            pass_over(&state, HookedProgram::Gemini, why);
        }
        pass_over(&state, HookedProgram::Codex, "three");
        let told: Vec<_> =
            hook_failures(&state).into_iter().map(|told| (told.agent, told.count, told.why)).collect();
        let of = |agent: &str, count, why: &str| (agent.to_owned(), count, why.to_owned());
        assert_eq!(told, [of("codex", 1, "three"), of("gemini-cli", 2, "two and more")]);

        let yesterday = HookFailure {
            agent: "codex".to_owned(),
            count: 9,
            at: seconds() - TOLD.as_secs(),
            why: "long ago".to_owned(),
        };
        let file = temp.path().join(FOLDER).join("codex.json");
        fs::write(&file, serde_json::to_vec(&yesterday).unwrap()).unwrap();
        assert_eq!(hook_failures(&state).len(), 1);
        pass_over(&state, HookedProgram::Codex, "now");
        assert_eq!(hook_failures(&state)[0].count, 1);
        fs::write(&file, "{").unwrap();
        assert_eq!(hook_failures(&state).len(), 1, "what is damaged is left out");
    }
}
