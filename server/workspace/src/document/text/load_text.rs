//! A document as its record and its text make it (rules W16, W17).
//!
//! A text that was changed while nobody watched is first looked for among the states that were recorded: a checkout brings back one of
//! those. Else its lines are matched strictly, and an edit whose place is not certain is left where it was, conflicted.

use std::sync::Arc;

use hashline_history::{Content, Decision, Document as Past, EditState, HunkRef, Location, UnixMillis};
use hashline_text::{DiskForm, Line, Text};
use hashline_weave::{How, HunkId, Judgement, Switched, Weave};

use crate::document::decisions::edit_and_hunks::as_shown;
use crate::document::decisions::edits::Edits;
use crate::document::file::{FileNow, OwnFile};
use crate::document::{Document, Edit, EditHunk, FileHunk, Home, Millis, Verdict};

/// Earlier states of a document, that its text may have gone back to.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// One that reads as the text does.
    pub same: Option<Weave>,
    /// The last that an editor had unsaved, where one has the text.
    pub edited: Option<Weave>,
    /// The hunks that were accepted in the first of these two that there is.
    pub accepted: Vec<HunkRef>,
    /// The last that was on the disk.
    pub saved: Option<Weave>,
}

/// How a text that is found came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// From the one that is known.
    Followed,
    /// In an editor, beside it.
    Apart,
}

impl Document {
    /// A document that no editor has open, as it was recorded last.
    #[must_use]
    pub fn of_record(uri: &str, past: &Past) -> Self {
        let form = match &past.content {
            Content::Text { form, .. } => *form,
            Content::Bytes { .. } | Content::None => DiskForm::default(),
        };
        let mut document = Self::new(uri, Home::Disk, Text::default(), form);
        document.record_before_delivery();
        let weave = past.weave().cloned().unwrap_or_else(|| Weave::new(Text::default()));
        document.edits = Edits::of_weave(weave.hunks().count());
        document.text.weave = Some(weave);
        let texts = past.states.iter().filter(|state| state.of == Location::Buffer);
        document.text.note_recorded(texts.map(|state| state.hash));
        for state in &past.edits {
            let made = &state.made;
            let hunks = state.hunks.iter().filter_map(|hunk| {
                Some(EditHunk {
                    number: hunk.number,
                    id: hunk.id?,
                    decision: hunk.decision,
                    reason: hunk.reason.clone(),
                    told: Verdict::default(),
                    location: hunk.location,
                })
            });
            document.edits.restore(Edit {
                id: made.id.clone(),
                made: UnixMillis::of_record(&state.time),
                conversation: made.conversation.clone(),
                opened_conversation: made.opens_conversation,
                agent: made.agent.clone(),
                connection: made.connection.clone(),
                tool: made.tool.clone(),
                reason: made.reason.clone(),
                mode: made.mode,
                file: file_hunk(past, state),
                hunks: hunks.collect(),
            });
        }
        let bytes = match &past.content {
            Content::Bytes { bytes, .. } => Some(bytes.as_slice().into()),
            Content::Text { .. } | Content::None => None,
        };
        let now = FileNow {
            exists: past.registers.exists,
            name: Some(past.name.clone()),
            mode: past.registers.mode,
        };
        document.file = OwnFile::of(now, bytes);
        document
    }

    /// Takes over a text that is found: that was changed while nobody watched, or that an editor has read from the file again. Decisions that
    /// had not reached the disk are to be made again, where the text does not show them; those that had stay. `is_in` is where the text
    /// is: in an editor alone, or in the file.
    pub fn found(&mut self, text: &Text, earlier: &Earlier, is_in: Location, now: Millis) {
        let kept = if is_in == Location::Buffer { Kept::Apart } else { Kept::Followed };
        self.take_over(text, earlier, is_in, kept, now);
    }

    /// The same of a document that the editor has open, and whose text before was the editor's.
    pub(crate) fn found_open(&mut self, text: &Text, now: Millis) {
        self.take_over(text, &Earlier::default(), Location::Buffer, Kept::Followed, now);
    }

    fn take_over(&mut self, text: &Text, earlier: &Earlier, is_in: Location, kept: Kept, now: Millis) {
        if self.text() == text {
            self.found_in(is_in);
            return;
        }
        let Some(before) = self.text.weave.clone() else {
            self.text.plain = text.clone();
            self.text.snapshots.text_changed();
            return;
        };
        let back = self.place_on(text, earlier, kept);
        let ids: Vec<HunkId> = before.hunks().collect();
        let now_in: Vec<bool> = ids.iter().map(|id| self.weave().in_buffer(*id)).collect();
        self.note_unobserved();
        let mut open_again = 0;
        for (id, now_in) in ids.into_iter().zip(now_in) {
            let was_in = before.in_buffer(id);
            if was_in == now_in {
                continue;
            }
            let Some((edit, hunk)) = self.owner_of(id) else { continue };
            let (decision, name) = (hunk.decision, edit.name_of(hunk));
            let accepted = now_in && decision == Decision::Undecided && earlier.accepted.contains(&name);
            let on_disk = match &earlier.saved {
                Some(saved) => id.order() < saved.hunks().count() && saved.in_buffer(id),
                None => hunk.location == Location::Disk,
            };
            self.note_location(id, if now_in { is_in } else { Location::None });
            self.hide_if_taken_out(id, now_in);
            let then = back.iter().flat_map(|back| &back.switched).find(|switched| switched.hunk == id);
            let stays = was_in && on_disk && decision == Decision::Accepted;
            if let Some(switched) = then.filter(|_| !stays) {
                let (decision, reason) = as_shown(self.decision_by(id, switched.how), now_in);
                self.set_decision(id, decision, reason);
            } else if accepted {
                self.set_decision(id, Decision::Accepted, None);
            } else if now_in && matches!(decision, Decision::Rejected | Decision::Withdrawn)
                || on_disk != was_in && !now_in && decision == Decision::Accepted
            {
                self.set_decision(id, Decision::Undecided, None);
                open_again += 1;
            }
        }
        self.found_in(is_in);
        if open_again > 0 {
            let what =
                if open_again == 1 { "A decision".to_owned() } else { format!("{open_again} decisions") };
            self.news.tell(format!(
                "{what} about edits in {} had not been saved: the file is without what came of it, and you are asked again.",
                self.uri()
            ));
        }
        self.landed(now, false);
        self.news_of_edits();
    }

    /// Shows its edits over a text, as far as they have a place in it, while what becomes of them is decided elsewhere.
    pub fn placed_on(&mut self, text: &Text, earlier: &Earlier) {
        if self.text() != text {
            self.place_on(text, earlier, Kept::Apart);
            self.text.unseen = None;
        }
        self.news_of_edits();
    }

    /// Lets the weave have this text: as the recorded state that reads so, else as the latest state that does, else by what is beyond doubt.
    /// Of the latest states, what the return to one switched.
    fn place_on(&mut self, text: &Text, earlier: &Earlier, kept: Kept) -> Option<Judgement> {
        let before = self.weave().clone();
        let same = earlier.same.as_ref().and_then(|same| before.returned_to(same));
        let (weave, back) = match same {
            Some(weave) => (weave, None),
            None => self.matched(text, earlier, kept, &before),
        };
        self.text.weave = Some(weave);
        self.text.snapshots.text_changed();
        back
    }

    /// The weave with a text that is none of the recorded ones.
    fn matched(
        &mut self,
        text: &Text,
        earlier: &Earlier,
        kept: Kept,
        latest: &Weave,
    ) -> (Weave, Option<Judgement>) {
        // An editor that comes back with its unsaved work has typed on from the last state it had, not from what its file has.
        let states = [&earlier.edited, &earlier.saved].into_iter().flatten();
        let mut weave = latest.clone();
        let mut common = in_common(latest.buffer(), text);
        for state in states.filter_map(|state| latest.returned_to(state)) {
            let likeness = in_common(state.buffer(), text);
            if likeness >= common {
                (weave, common) = (state, likeness);
            }
        }
        let back = weave.go_back_to(text).or_else(|| self.shows_held(&mut weave, text));
        if back.is_none() {
            self.text.unseen = Some(Box::new(weave.clone()));
            match kept {
                Kept::Followed => weave.unobserved(text.clone()),
                // An editor keeps unsaved work while an agent writes to the file, and so may lack what the file has.
                Kept::Apart => weave.unobserved_lacking(text.clone(), &self.undecided()),
            };
        }
        (weave, back)
    }

    /// The hunks that are undecided, in the order of record.
    fn undecided(&self) -> Vec<HunkId> {
        let undecided =
            |id: &HunkId| self.owner_of(*id).is_some_and(|(_, hunk)| hunk.decision == Decision::Undecided);
        (0..self.edits.known_hunks()).map(|at| HunkId::from_order(at as u32)).filter(undecided).collect()
    }

    /// The held edits that a text shows to the letter: all of them, or one. Then they are in it, by whatever hand.
    fn shows_held(&self, weave: &mut Weave, text: &Text) -> Option<Judgement> {
        let held = |edit: &&Arc<Edit>| edit.hunks.iter().any(|hunk| hunk.decision == Decision::Undecided);
        let hunks = |edit: &Arc<Edit>| {
            let open = edit.hunks.iter().filter(|hunk| hunk.decision == Decision::Undecided);
            open.map(|hunk| hunk.id).collect::<Vec<HunkId>>()
        };
        let each = self.edits().iter().filter(held).map(hunks);
        let all = self.edits().iter().filter(held).flat_map(hunks).collect();
        for mut on in std::iter::once(all).chain(each) {
            on = weave.with_prerequisites_of(&on);
            on.retain(|id| !weave.in_buffer(*id));
            let mut shown = weave.clone();
            if !on.is_empty() && shown.switch(&on, &[]).is_ok() && shown.buffer() == text {
                *weave = shown;
                let switched = on.iter().map(|hunk| Switched { hunk: *hunk, on: true, how: How::Seen });
                return Some(Judgement { switched: switched.collect(), ..Judgement::default() });
            }
        }
        None
    }

    /// Lets the person see how its edits stand.
    pub fn news_of_edits(&mut self) {
        if !self.edits.is_empty() {
            self.news.review();
        }
    }

    /// Notes where the text was found. Where that is the file, all that is in the text is saved.
    fn found_in(&mut self, is_in: Location) {
        if is_in != Location::Disk {
            return;
        }
        let hunks = self.edits().iter().flat_map(|edit| &edit.hunks);
        let unsaved = hunks.filter(|hunk| hunk.location == Location::Buffer).map(|hunk| hunk.id);
        for id in unsaved.collect::<Vec<_>>() {
            self.note_location(id, Location::Disk);
        }
        self.note_seen_on_disk();
    }
}

/// The file hunk of a recorded edit.
fn file_hunk(past: &Past, state: &EditState) -> Option<FileHunk> {
    let change = state.made.file.clone()?;
    let hunk = state.hunks.first()?;
    let (decision, reason) = (hunk.decision, hunk.reason.clone());
    let mut before = past.states.iter().rev().filter(|earlier| earlier.sequence < state.sequence);
    let below = before.find(|earlier| earlier.of == Location::Buffer).map(|earlier| earlier.hash);
    Some(FileHunk {
        decision,
        reason,
        done: hunk.location != Location::None,
        below,
        makes: state.made.hash_after,
        ..FileHunk::new(change)
    })
}

/// How many lines at the beginning and at the end two texts have in common.
fn in_common(one: &Text, other: &Text) -> usize {
    let least = one.line_count().min(other.line_count());
    let same = |a: usize, b: usize| match (one.line(Line(a)), other.line(Line(b))) {
        (Some(a), Some(b)) => a.content() == b.content(),
        _ => false,
    };
    let ahead = (0..least).take_while(|at| same(*at, *at)).count();
    let behind = |back: &usize| same(one.line_count() - 1 - back, other.line_count() - 1 - back);
    ahead + (0..least - ahead).take_while(behind).count()
}
