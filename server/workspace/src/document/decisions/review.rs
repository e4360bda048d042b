//! What the person is shown of a document's edits.

use std::ops::Range;
use std::sync::Arc;

use hashline_history::{Decision, FileChange, HunkRef, Reason, Status};
use hashline_weave::{Conflict, Edited, HunkId, View};

use crate::document::decisions::group::hull;
use crate::document::{Document, Edit, EditHunk, FileHunk, HunkState, UnderWay};

/// The edits of a document, as far as they are of interest for a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// Edits with an undecided hunk, in the order in which they were made.
    pub edits: Vec<ReviewEdit>,
}

/// An edit and how its hunks stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewEdit {
    /// The edit.
    pub edit: Arc<Edit>,
    /// Its hunks, in text order.
    pub hunks: Vec<HunkView>,
}

/// How a hunk stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkView {
    /// From 1.
    pub number: u32,
    /// Where it stands.
    pub state: HunkState,
    /// The decision about it.
    pub decision: Decision,
    /// Why, if the person said so.
    pub reason: Option<Reason>,
    /// Whether a decision waits for the text. What the editor does not take waits for the person again instead.
    pub deciding: bool,
    /// Where it goes and what it is decided to be there, if it is on its way.
    pub under_way: Option<UnderWay>,
    /// Where it is in the editor's text, 0-based.
    pub lines: Option<Range<usize>>,
    /// The lines that it takes away, as they were when it was made.
    pub removed: Vec<String>,
    /// The lines that it puts there.
    pub proposed: Vec<String>,
    /// The hunk that it is shown and decided with, where it is not by itself.
    pub part_of: Option<HunkRef>,
    /// Undecided hunks that have to be accepted with it.
    pub depends_on: Vec<HunkRef>,
    /// What stands against it, as a sentence.
    pub conflict: Option<String>,
    /// What it does to the file itself; it has no lines then.
    pub file: Option<FileChange>,
}

impl HunkView {
    /// The file hunk of an edit.
    fn of_file(hunk: &FileHunk, under_way: Option<UnderWay>) -> Self {
        Self {
            number: 1,
            state: match (hunk.done, hunk.decision) {
                (true, _) => HunkState::InText,
                (false, Decision::Withdrawn) => HunkState::Withdrawn,
                (false, _) => HunkState::Held,
            },
            decision: hunk.decision,
            reason: hunk.reason.clone(),
            deciding: under_way.is_some(),
            under_way,
            lines: None,
            removed: Vec::new(),
            proposed: Vec::new(),
            part_of: None,
            depends_on: Vec::new(),
            conflict: None,
            file: Some(hunk.change.clone()),
        }
    }
}

impl Document {
    /// The edits that have an undecided hunk, and how their hunks stand.
    pub fn review(&mut self) -> Review {
        self.review_where(|edit| edit.status() == Status::Pending)
    }

    /// As [`review`](Self::review), leaving out edits that are neither near these lines of the editor's text nor build on
    /// others or are built upon: those are shown with others, which may be near.
    pub fn review_near(&mut self, lines: &Range<usize>) -> Review {
        if !self.has_pending() {
            return Review::default();
        }
        let weave = self.weave();
        let places = weave.places(View::Buffer);
        let is_near = |place: &Range<usize>| place.start <= lines.end && lines.start <= place.end;
        let stands_alone = |id| weave.prerequisites(id).is_empty() && weave.dependents(id).is_empty();
        let near: Vec<bool> = weave
            .hunks()
            .map(|id| places[id.order()].as_ref().is_some_and(is_near) || !stands_alone(id))
            .collect();
        self.review_where(|edit| {
            edit.status() == Status::Pending
                && (edit.file.is_some() || edit.hunks.iter().any(|hunk| near[hunk.id.order()]))
        })
    }

    /// The edits that are wanted, and how their hunks stand.
    pub fn review_where(&mut self, wanted: impl Fn(&Edit) -> bool) -> Review {
        if !self.edits().iter().any(|edit| wanted(edit)) {
            return Review::default();
        }
        let places = self.weave().places(View::Buffer);
        let conflicts = self.weave().conflicts();
        let edited = self.weave().edited_hunks();
        let edits: Vec<Arc<Edit>> = self.edits().iter().filter(|edit| wanted(edit)).cloned().collect();
        let edits = edits
            .into_iter()
            .map(|edit| {
                let under_way = self.file_under_way(&HunkRef { edit: edit.id.clone(), number: 1 });
                let file = edit.file.as_ref().map(|file| HunkView::of_file(file, under_way));
                let hunks = edit.hunks.iter().map(|hunk| self.hunk_view(hunk, &places, &conflicts, &edited));
                let hunks = file.into_iter().chain(hunks).collect();
                ReviewEdit { edit, hunks }
            })
            .collect();
        Review { edits }
    }

    fn hunk_view(
        &mut self,
        hunk: &EditHunk,
        places: &[Option<Range<usize>>],
        conflicts: &[Option<Conflict>],
        edited: &[Edited],
    ) -> HunkView {
        let id = hunk.id;
        let weave = self.weave();
        let state = if weave.in_buffer(id) {
            let edited = edited[id.order()];
            if edited.any() { HunkState::Edited(edited) } else { HunkState::InText }
        } else if hunk.decision == Decision::Withdrawn {
            HunkState::Withdrawn
        } else {
            conflicts[id.order()].map_or(HunkState::Held, HunkState::Conflicted)
        };
        let removed = weave.removed(id).map(|line| line.content.clone()).collect();
        let proposed = weave.proposed(id).iter().map(|line| line.content.clone()).collect();
        let needed: Vec<_> = weave.with_prerequisites(id).into_iter().filter(|other| *other != id).collect();
        let group = self.group_of(id);
        let (lines, removed, proposed) = match group.as_slice() {
            [first, .., _] if *first == id => self.folded(&group, places),
            _ => (places[id.order()].clone(), removed, proposed),
        };
        let under_way = self.under_way(id);
        let named = |id| self.owner_of(id).map(|(edit, hunk)| edit.name_of(hunk));
        let conflict = match state {
            HunkState::Conflicted(conflict @ Conflict::With(other)) => {
                Some(conflict_sentence(conflict, named(other).map(|name| name.short())))
            }
            HunkState::Conflicted(conflict) => Some(conflict_sentence(conflict, None)),
            _ => None,
        };
        HunkView {
            number: hunk.number,
            state,
            decision: hunk.decision,
            reason: hunk.reason.clone(),
            deciding: under_way.is_some(),
            under_way,
            lines,
            removed,
            proposed,
            part_of: group.first().filter(|first| **first != id).and_then(|first| named(*first)),
            depends_on: needed.into_iter().filter(|other| !group.contains(other)).filter_map(named).collect(),
            conflict,
            file: None,
        }
    }

    /// Hunks that build on each other as one: where they are in the editor's text, what they take away of it, and the last text.
    fn folded(
        &mut self,
        group: &[HunkId],
        places: &[Option<Range<usize>>],
    ) -> (Option<Range<usize>>, Vec<String>, Vec<String>) {
        let (here, there) = (hull(group, places), hull(group, &self.weave().places(View::Agent)));
        let lines = |text: &hashline_text::Text, lines: Option<Range<usize>>| {
            text.lines(lines.unwrap_or_default()).map(|line| line.content().into_owned()).collect()
        };
        let removed = lines(self.text(), here.clone());
        let proposed = lines(self.weave().agent(), there);
        (here, removed, proposed)
    }
}

/// What stands against a hunk, in words for the person.
pub(crate) fn conflict_sentence(conflict: Conflict, with: Option<String>) -> String {
    match conflict {
        Conflict::LineChanged => "You changed a line that this edit replaces.".to_owned(),
        Conflict::LineRemoved => "You removed a line that this edit replaces.".to_owned(),
        Conflict::LineTyped => "You typed between the lines that this edit replaces.".to_owned(),
        Conflict::PlaceRemoved => "You removed the lines around the place of this edit.".to_owned(),
        Conflict::Lost => {
            "The file was changed while hashline was not watching, and the place of this edit in it is no longer certain."
                .to_owned()
        }
        Conflict::EndingsWouldJoin => {
            "A line that ends in \\r would come before an empty line that ends in \\n: the two endings would be read as one."
                .to_owned()
        }
        Conflict::With(_) => {
            format!("{} changes the same place.", with.unwrap_or_else(|| "Another edit".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conflict_has_words_of_its_own() {
        let all = [
            Conflict::LineChanged,
            Conflict::LineRemoved,
            Conflict::LineTyped,
            Conflict::PlaceRemoved,
            Conflict::EndingsWouldJoin,
            Conflict::Lost,
        ];
        let mut sentences: Vec<String> = all.map(|conflict| conflict_sentence(conflict, None)).into();
        assert!(sentences.iter().all(|sentence| sentence.ends_with('.') && !sentence.contains(['\r', '\n'])));
        sentences.sort_unstable();
        sentences.dedup();
        assert_eq!(sentences.len(), all.len());
    }
}
