//! What the person can do about a hunk, by one set of words: Accept and Reject for what is held, Keep and Undo for
//! what is in the text already.

use hashline_history::{Decision as Decided, HunkRef};
use hashline_weave::Conflict;
use hashline_workspace::DocumentReview;
use hashline_workspace::document::{HunkState, HunkView, ReviewEdit, in_words};

use crate::protocol::{Decide, Decision, Edited};

/// How much of a line is shown in a title.
const SHOWN: usize = 50;

/// One way to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// In a word or two.
    pub word: &'static str,
    /// The decision.
    pub decide: Decide,
}

/// Whether a hunk waits for the person.
pub(crate) fn waits(hunk: &HunkView) -> bool {
    hunk.decision == Decided::Undecided && !hunk.deciding && hunk.part_of.is_none()
}

/// What can be done about a hunk that [waits](waits).
pub(crate) fn offers(uri: &str, edit: &ReviewEdit, hunk: &HunkView) -> Vec<Offer> {
    let decide = |decision| Decide {
        uri: Some(uri.to_owned()),
        edit: Some(edit.edit.id.to_string()),
        hunk: Some(hunk.number),
        ..Decide::new(decision)
    };
    let undo = |word, edited| {
        let decide = Decide { edited: Some(edited), ..decide(Decision::Reject) };
        Offer { word, decide }
    };
    if matches!(hunk.state, HunkState::Edited(edited) if edited.asks()) {
        return vec![
            Offer { word: "Keep", decide: decide(Decision::Accept) },
            undo("Undo it, my changes too", Edited::Undo),
            undo("Undo it, keep my lines", Edited::Keep),
        ];
    }
    let [accept, reject] = words(&[hunk]);
    let word = |decision| match decision {
        Decision::Accept | Decision::Reopen | Decision::Comment => accept,
        Decision::Reject => reject,
        Decision::KeepMine => "Keep mine",
        Decision::TakeTheirs => "Take the agent's",
        Decision::KeepBoth => "Keep both",
    };
    let ways = ways(hunk).into_iter();
    ways.map(|decision| Offer { word: word(decision), decide: decide(decision) }).collect()
}

/// The decisions that can be made about a hunk as it stands.
pub(crate) fn ways(hunk: &HunkView) -> Vec<Decision> {
    match hunk.state {
        HunkState::Held | HunkState::InText | HunkState::Edited(_) => {
            vec![Decision::Accept, Decision::Reject]
        }
        // Taking one or both of two lines does not keep their endings apart, and without a place there is nowhere to put them.
        HunkState::Conflicted(Conflict::EndingsWouldJoin | Conflict::Lost) => vec![Decision::Reject],
        HunkState::Conflicted(_) => vec![Decision::KeepMine, Decision::TakeTheirs, Decision::KeepBoth],
        HunkState::Withdrawn => Vec::new(),
    }
}

/// Where the edits of a document are decided, if they can only be looked at here.
pub(crate) fn elsewhere(review: &DocumentReview) -> Option<String> {
    let owner = review.owner.as_ref().filter(|_| review.is_read_only())?;
    Some(format!("Decided in {owner}."))
}

/// The hunks of other turns that a decision about a held hunk takes along: those that it rests on when it is accepted, those that
/// rest on it when it is rejected.
pub(crate) fn along(
    review: &DocumentReview,
    edit: &ReviewEdit,
    hunk: &HunkView,
    decision: Decision,
) -> Vec<HunkRef> {
    let name = HunkRef { edit: edit.edit.id.clone(), number: hunk.number };
    let edits = &review.review.edits;
    let same_turn =
        |other: &HunkRef| edits.iter().any(|one| one.edit.id == other.edit && one.edit.same_turn(&edit.edit));
    let mut along: Vec<HunkRef> = match decision {
        Decision::Accept | Decision::TakeTheirs | Decision::KeepBoth => hunk.depends_on.clone(),
        Decision::Reject => {
            let hunks = edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
            let above = hunks.filter(|(_, above)| above.depends_on.contains(&name));
            above.map(|(edit, hunk)| HunkRef { edit: edit.edit.id.clone(), number: hunk.number }).collect()
        }
        Decision::KeepMine | Decision::Reopen | Decision::Comment => Vec::new(),
    };
    along.retain(|other| !same_turn(other));
    along
}

/// The words for deciding about several hunks at once: Keep and Undo where all of them are in the text already.
pub(crate) fn words(hunks: &[&HunkView]) -> [&'static str; 2] {
    let in_text = |hunk: &&HunkView| matches!(hunk.state, HunkState::InText | HunkState::Edited(_));
    if hunks.iter().all(in_text) { ["Keep", "Undo"] } else { ["Accept", "Reject"] }
}

/// How a title says that other hunks are decided with one.
pub(crate) fn with(others: &[HunkRef]) -> String {
    match others {
        [] => String::new(),
        [other] => format!(", with {}", other.short()),
        others => format!(", with {} others", others.len()),
    }
}

/// The hunks of a document that wait for the person. Those without a place in its text, as they are about the file itself or their place is
/// not known, stand before its first line.
pub(crate) fn waiting(
    review: &DocumentReview,
) -> impl Iterator<Item = (&ReviewEdit, &HunkView, std::ops::Range<usize>)> {
    review.review.edits.iter().flat_map(|edit| {
        let waiting = edit.hunks.iter().filter(|hunk| waits(hunk));
        waiting.map(move |hunk| (edit, hunk, hunk.lines.clone().unwrap_or_default()))
    })
}

/// What a hunk is, in part of a sentence: the line that says most of it.
pub(crate) fn gist(hunk: &HunkView) -> String {
    if let Some(file) = &hunk.file {
        return in_words(file);
    }
    let says = |lines: &[String]| {
        let line = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty())?;
        let cut = line.chars().count() > SHOWN;
        let shown: String = line.chars().take(SHOWN).collect();
        Some(if cut || lines.len() > 1 { format!("{shown} …") } else { shown })
    };
    match (says(&hunk.proposed), hunk.proposed.len(), hunk.removed.len()) {
        (Some(line), _, 0) => format!("insert {line}"),
        (Some(line), ..) => line,
        (None, 0, 1) => {
            format!("remove {}", says(&hunk.removed).unwrap_or_else(|| "an empty line".to_owned()))
        }
        (None, 0, removed) => format!("remove {removed} lines"),
        (None, 1, 0) => "insert an empty line".to_owned(),
        (None, 1, _) => "an empty line".to_owned(),
        (None, made, 0) => format!("insert {made} empty lines"),
        (None, made, _) => format!("{made} empty lines"),
    }
}

/// Whose hunk it is and which of how many, for a title.
pub(crate) fn whose(edit: &ReviewEdit, hunk: &HunkView) -> String {
    let count = edit.hunks.len();
    let agent = &edit.edit.agent;
    if count > 1 { format!("{agent} {} of {count}", hunk.number) } else { agent.to_string() }
}

/// How many hunks of a document are undecided, and how many of them are conflicted.
pub(crate) fn undecided(review: &DocumentReview) -> (usize, usize) {
    let hunks = review.review.edits.iter().flat_map(|edit| &edit.hunks);
    let undecided = hunks.filter(|hunk| hunk.decision == Decided::Undecided);
    undecided.fold((0, 0), |(all, conflicted), hunk| {
        (all + 1, conflicted + usize::from(matches!(hunk.state, HunkState::Conflicted(_))))
    })
}
