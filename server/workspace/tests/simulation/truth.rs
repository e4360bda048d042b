//! Which hunks are in the editor's text, as its own hand has put them there: by deliveries that it carried out, and by undo.

use std::collections::BTreeSet;
use std::iter::repeat;
use std::sync::Arc;

use hashline_history::HunkRef;
use hashline_weave::Weave;
use hashline_workspace::document::Delivery;

use crate::desk::{Desk, Parcel, Room};
use crate::editor::Note;
use crate::marks::Marking;
use crate::model::{Fault, is_in_text};
use crate::page;

/// The hunks in a text; none where nobody can know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth(Option<Arc<Known>>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    hunks: BTreeSet<HunkRef>,
    /// Those of which it cannot be said: they were switched later, in a text that reads the same with them and without.
    open: BTreeSet<HunkRef>,
}

impl Truth {
    /// These hunks and no others.
    pub fn of(hunks: impl IntoIterator<Item = HunkRef>) -> Self {
        let known = Known { hunks: hunks.into_iter().collect(), open: BTreeSet::new() };
        Self(Some(Arc::new(known)))
    }

    fn hunks(&self) -> Option<&BTreeSet<HunkRef>> {
        self.0.as_deref().map(|known| &known.hunks)
    }

    /// The hunks that are in one and not in the other.
    fn differing(&self, other: &Self) -> Vec<HunkRef> {
        let (Some(one), Some(other)) = (&self.0, &other.0) else { return Vec::new() };
        let differ = one.hunks.symmetric_difference(&other.hunks);
        differ.filter(|hunk| !one.open.contains(*hunk) && !other.open.contains(*hunk)).cloned().collect()
    }

    /// The same, also of those of which it cannot be said.
    fn apart(&self, other: &Self) -> Vec<HunkRef> {
        let (Some(one), Some(other)) = (self.hunks(), other.hunks()) else { return Vec::new() };
        one.symmetric_difference(other).cloned().collect()
    }

    /// The same with hunks switched.
    fn switched(&self, switches: impl IntoIterator<Item = (HunkRef, bool)>) -> Self {
        let Some(known) = &self.0 else { return Self::default() };
        let mut known = (**known).clone();
        for (hunk, on) in switches {
            known.open.remove(&hunk);
            if on {
                known.hunks.insert(hunk);
            } else {
                known.hunks.remove(&hunk);
            }
        }
        Self(Some(Arc::new(known)))
    }

    /// The same after a delivery.
    pub fn with(&self, delivery: &Delivery) -> Self {
        self.switched(delivery.switches.iter().map(|switched| (switched.hunk.clone(), switched.on)))
    }

    /// The same after what has become of one set of hunks.
    pub fn after(&self, one: &Self, other: &Self) -> Self {
        let now = |hunk: HunkRef| {
            let on = other.hunks().is_some_and(|hunks| hunks.contains(&hunk));
            (hunk, on)
        };
        self.switched(one.apart(other).into_iter().map(now))
    }

    /// The same, where it cannot be said of what is in one set of hunks alone.
    pub fn open_to(&self, one: &Self, other: &Self) -> Self {
        let Some(known) = &self.0 else { return Self::default() };
        let mut known = (**known).clone();
        known.open.extend(one.apart(other));
        Self(Some(Arc::new(known)))
    }
}

/// How much of a text an explanation leaves to be typed: lines, then bytes. The smaller it is, the better it explains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    lines: usize,
    bytes: usize,
}

impl Cost {
    /// What is to be typed in one text to have the other.
    fn between(one: &str, other: &str) -> Self {
        let mut cost = Self { lines: 0, bytes: 0 };
        for (gone, come) in page::changed_runs(one, other) {
            let (gone, come) = (page::contents(&gone), page::contents(&come));
            let lines = gone.len().max(come.len());
            cost.lines += lines;
            cost.bytes += gone.len().abs_diff(come.len());
            let (gone, come) = (gone.into_iter().chain(repeat("")), come.into_iter().chain(repeat("")));
            let differing = gone.zip(come).take(lines).filter_map(|(gone, come)| page::single(gone, come));
            cost.bytes += differing.map(|patch| patch.bytes.len() + patch.new.len()).sum::<usize>();
        }
        cost
    }
}

impl Desk {
    /// The hunks that are in the text, by their states.
    pub fn hunks_shown(&mut self) -> Truth {
        let review = self.document.review_where(|_| true);
        let hunks = review.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
        let shown = hunks.filter(|(_, hunk)| is_in_text(&hunk.state));
        Truth::of(shown.map(|(edit, hunk)| HunkRef { edit: edit.edit.id.clone(), number: hunk.number }))
    }

    /// The hunks that the document has in the text after a notification are those that the editor has. `before` is how it was.
    ///
    /// An editor with a plugin says what it does, so there nothing else will do. Of a client that says nothing other hunks may explain the
    /// text as well, or better: then it is a guess what happened, and noted.
    pub fn check_truth(&mut self, note: &Note, before: &Weave, room: &mut Room) -> Result<(), Fault> {
        if note.more {
            return Ok(());
        }
        let shown = self.hunks_shown();
        self.seen = shown.clone();
        let is = self.made_by_hand(note, before)?;
        self.editor.shows_instead(&note.shows, &is);
        let differing = shown.differing(&is);
        if !differing.is_empty() && !self.reads_so(&is, &note.after) {
            if self.editor.kind.is_plugin() {
                let hunks: Vec<String> = differing.iter().map(HunkRef::to_string).collect();
                return Err(format!(
                    "the editor has it otherwise whether {} is in the text",
                    hunks.join(", ")
                ));
            }
            let cost =
                |truth: &Truth| self.text_with(before, truth).map(|text| Cost::between(&text, &note.after));
            let (guessed, happened) = (cost(&shown), cost(&is));
            room.trace.say(|| {
                let hunks: Vec<String> = differing.iter().map(HunkRef::to_string).collect();
                format!(
                    "  it is a guess whether {} came or went: {guessed:?}; in truth {happened:?}",
                    hunks.join(", ")
                )
            });
            if let Some(guessed) = guessed
                && happened.is_none_or(|happened| guessed <= happened)
            {
                room.tally.otherwise += 1;
                self.otherwise.extend(differing);
            }
        }
        // Whose marks slip is not asked again: what it did is not what its plugin says.
        if self.editor.is_quiet() && matches!(self.editor.marking, Marking::Careful) {
            if shown != is {
                self.editor.shows_instead(&is, &shown);
            }
            self.editor.shows = shown;
        }
        Ok(())
    }

    /// The hunks in the text of a notification. Who does by hand to the letter what is on its way from the server has done that, but for an
    /// undo that is said to be one: it brings the hunks of the text that it goes back to.
    fn made_by_hand(&self, note: &Note, before: &Weave) -> Result<Truth, Fault> {
        if note.is_said_to_turn() {
            return Ok(note.shows.clone());
        }
        let before = before.buffer().to_string();
        for Parcel { delivery, text, .. } in &self.unanswered {
            if *text == before && self.text_after(text, delivery)? == note.after {
                return Ok(note.shows.with(delivery));
            }
        }
        Ok(note.shows.clone())
    }

    /// The text that a weave has with these hunks in it and no others; none if it cannot have.
    fn text_with(&self, weave: &Weave, truth: &Truth) -> Option<String> {
        let hunks = truth.hunks()?;
        let (mut on, mut off) = (Vec::new(), Vec::new());
        for (edit, hunk) in
            self.document.edits().iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)))
        {
            match (weave.in_buffer(hunk.id), hunks.contains(&edit.name_of(hunk))) {
                (false, true) => on.push(hunk.id),
                (true, false) => off.push(hunk.id),
                _ => {}
            }
        }
        let mut weave = weave.clone();
        weave.switch(&on, &off).ok()?;
        Some(weave.buffer().to_string())
    }

    /// Whether the document would have this text with these hunks in it and no others.
    fn reads_so(&mut self, truth: &Truth, text: &str) -> bool {
        let weave = self.weave_now();
        self.text_with(&weave, truth).is_some_and(|with| with == text)
    }
}
