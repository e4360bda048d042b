//! How a resource stands, in a word that changes with it.
//!
//! What is watched is asked about with the state that is known of it, and the answer comes when one of them has another. So nobody
//! keeps a list of who watches what, nothing is missed between two questions, and a question that nobody waits for leaves nothing behind.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use hashline_text::FileHash;
use hashline_workspace::agent::{Contents, EditInfo, ReviewScope};
use hashline_workspace::{Caller, Refusal, Workspace};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::resources::contents::MAX_BYTES;
use crate::resources::open;
use crate::tools::edit_summary::state_key;

/// How often files and records are looked at, which other programs change without a word.
const GLANCE: Duration = Duration::from_secs(1);
/// How long changes are gathered before a look: who types makes many.
const GATHER: Duration = Duration::from_millis(100);

/// What can be watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Topic {
    /// Which documents are open.
    Open,
    /// What a document holds.
    Document(String),
    /// The edits of a document, or all of them.
    Review(Option<String>),
}

/// How something stands: equal as long as nothing has changed that an agent would be told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct State(String);

impl State {
    fn of(what: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Self(format!("{:016x}", hasher.finish()))
    }
}

/// Something that is watched, and how it stood when it was looked at last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Watched {
    pub topic: Topic,
    pub state: Option<State>,
}

/// The states of what is watched, in that order: when one of them is another, and at the latest after `wait`.
pub(crate) async fn await_change(
    workspace: &Workspace,
    caller: &Caller,
    watched: &[Watched],
    wait: Duration,
) -> Vec<State> {
    let deadline = Instant::now() + wait;
    // Which documents are open, no other program changes.
    let glance = if watched.iter().all(|one| one.topic == Topic::Open) { wait } else { GLANCE };
    let mut changes = workspace.changes();
    loop {
        // What changes from here on is looked at once more.
        changes.mark_unchanged();
        let mut states = Vec::with_capacity(watched.len());
        for one in watched {
            states.push(state(workspace, caller, &one.topic).await);
        }
        let same = watched.iter().zip(&states).all(|(one, now)| one.state.as_ref() == Some(now));
        if !same || Instant::now() >= deadline {
            return states;
        }
        // Whether there was a change, the look tells.
        let _ = timeout_at(deadline.min(Instant::now() + glance), changes.changed()).await;
        sleep_until(deadline.min(Instant::now() + GATHER)).await;
    }
}

async fn state(workspace: &Workspace, caller: &Caller, topic: &Topic) -> State {
    match topic {
        Topic::Open => {
            let mut open = open::documents(workspace, caller);
            open.sort_by(|a, b| a.uri.cmp(&b.uri));
            State::of(&open.iter().map(|open| (&open.uri, &open.language)).collect::<Vec<_>>())
        }
        Topic::Document(path) => match workspace.contents(caller, path, MAX_BYTES).await {
            Ok(Contents::Text(read)) => State(read.hash.to_hex()),
            Ok(Contents::Bytes { bytes, .. }) => State(FileHash::of(&bytes).to_hex()),
            Err(refusal) => refused(&refusal),
        },
        Topic::Review(path) => {
            let scope = ReviewScope { path: path.clone(), ..ReviewScope::default() };
            match workspace.edits(caller, &scope).await {
                Ok(edits) => State::of(&edits.iter().map(standing).collect::<Vec<_>>()),
                Err(refusal) => refused(&refusal),
            }
        }
    }
}

/// That there is nothing to be had is a state, too.
fn refused(refusal: &Refusal) -> State {
    State::of(&refusal.to_string())
}

/// What an agent wants to hear of an edit: decisions and conflicts, not in which line it is by now.
fn standing(edit: &EditInfo) -> impl Hash {
    let hunks: Vec<_> = edit
        .hunks
        .iter()
        .map(|hunk| {
            let view = &hunk.view;
            let state = state_key(view.state);
            (
                view.number,
                state,
                view.decision.as_str(),
                view.deciding,
                view.reason.clone(),
                hunk.changed_to.clone(),
            )
        })
        .collect();
    (edit.id.clone(), edit.name.clone(), edit.status.as_str(), hunks)
}
