//! How the hunks of an edit stand, as far as that is recorded: whether their lines are in the file, what is against them, and what is
//! decided with them.

use hashline_history::{Decision, Document as Past, EditId, EditState, HunkRef, Location};
use hashline_workspace::document::{Document, HunkState, HunkView, Review};

use super::messages;

/// A hunk and how it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    pub number: u32,
    /// In a word, for programs.
    pub word: &'static str,
    /// The same in a few more; none where the decision says it.
    pub words: Option<String>,
    /// The hunks that are decided as one with it.
    pub one_with: Vec<HunkRef>,
    /// Those that it builds on and that are not in the text.
    pub builds_on: Vec<HunkRef>,
    /// Those in the text that build on it.
    pub under: Vec<HunkRef>,
    /// What it takes away and puts there together with those that it is one with; with the first of them alone.
    pub together: Option<(Vec<String>, Vec<String>)>,
}

impl Standing {
    /// What the table of the status marks it with.
    pub fn mark(&self) -> Option<&'static str> {
        match self.word {
            "conflicted" | "lost" => Some("conflict"),
            "held" => Some("held"),
            _ => None,
        }
    }
}

/// How all hunks of a file are to be decided, by which [`of`] says how one stands.
pub fn review(past: &Past) -> Review {
    Document::of_record("", past).review_where(|_| true)
}

/// How the hunks of an edit stand in the review of its file.
pub fn of(edit: &EditId, past: &Past, review: &Review) -> Vec<Standing> {
    let views =
        || review.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |view| (&edit.edit.id, view)));
    let members = |first: &HunkRef| {
        let of = views().filter(|(_, view)| view.part_of.as_ref() == Some(first));
        of.map(|(edit, view)| HunkRef { edit: edit.clone(), number: view.number }).collect::<Vec<_>>()
    };
    let state = past.edit(edit);
    let standing = |view: &HunkView| {
        let name = HunkRef { edit: edit.clone(), number: view.number };
        let state = state.and_then(|state| hunk_of(state, view.number));
        let lost = state
            .and_then(|hunk| hunk.id)
            .is_some_and(|id| past.weave().is_some_and(|weave| weave.is_lost(id)));
        let (word, words) = told(view, state.map(|hunk| hunk.location).unwrap_or_default(), lost);
        let open = view.decision == Decision::Undecided;
        let (one_with, together) = match &view.part_of {
            Some(first) => {
                let others = members(first).into_iter().filter(|other| *other != name);
                (std::iter::once(first.clone()).chain(others).collect(), None)
            }
            None => {
                let others = members(&name);
                let together = (!others.is_empty()).then(|| (view.removed.clone(), view.proposed.clone()));
                (others, together)
            }
        };
        let builds_on = if open { view.depends_on.clone() } else { Vec::new() };
        Standing {
            number: view.number,
            word,
            words,
            one_with,
            builds_on,
            under: under(past, &name),
            together,
        }
    };
    let own = review.edits.iter().find(|one| one.edit.id == *edit);
    own.map_or_else(Vec::new, |own| own.hunks.iter().map(standing).collect())
}

fn hunk_of(state: &EditState, number: u32) -> Option<&hashline_history::HunkState> {
    state.hunks.iter().find(|hunk| hunk.number == number)
}

/// The hunks in the text that would have to go with one.
fn under(past: &Past, name: &HunkRef) -> Vec<HunkRef> {
    let id = past.edit(&name.edit).and_then(|state| hunk_of(state, name.number)).and_then(|hunk| hunk.id);
    let (Some(id), Some(weave)) = (id, past.weave()) else { return Vec::new() };
    if !weave.in_buffer(id) {
        return Vec::new();
    }
    let above = weave.with_dependents(id);
    let hunks = past.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
    hunks
        .filter(|(_, hunk)| {
            hunk.id.is_some_and(|other| other != id && above.contains(&other) && weave.in_buffer(other))
        })
        .map(|(edit, hunk)| HunkRef { edit: edit.made.id.clone(), number: hunk.number })
        .collect()
}

fn told(view: &HunkView, location: Location, lost: bool) -> (&'static str, Option<String>) {
    let undecided = view.decision == Decision::Undecided;
    let (word, words) = match &view.state {
        HunkState::Withdrawn => return ("withdrawn", None),
        HunkState::Held | HunkState::Conflicted(_) if !undecided => return ("held", None),
        HunkState::Held if view.file.is_some() => ("held", messages::HELD_FILE.to_owned()),
        HunkState::Held => ("held", messages::HELD.to_owned()),
        HunkState::Conflicted(_) => ("conflicted", messages::conflicted(view.conflict.as_deref())),
        HunkState::InText | HunkState::Edited(_) if lost => ("lost", messages::LOST.to_owned()),
        HunkState::InText if view.file.is_some() => ("done", messages::DONE_FILE.to_owned()),
        HunkState::Edited(_) => ("edited", messages::in_text(location == Location::Buffer, true)),
        HunkState::InText => ("in_text", messages::in_text(location == Location::Buffer, false)),
    };
    (word, Some(words))
}
