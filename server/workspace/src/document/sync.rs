//! Following the editor: opening, changes, saving, closing (rules W6, W22).

use std::borrow::Cow;
use std::collections::HashSet;

use hashline_history::{Decision, Location};
use hashline_text::{DocVersion, Encoding, Ending, Position, Span, SpanError, Text};
use hashline_weave::{Candidate, How, HunkId, Judgement, Plan, Regions, TakeOut, UndoMark};

use crate::document::aim::Aim;
use crate::document::edit::Turn;
use crate::document::{Document, Home, Millis};

/// How long what seems to be under way is judged together with the next notification, in milliseconds (rule W9).
const SECOND_LOOK: u64 = 1000;

/// How soon after a change the editor's word about it comes, if it does not come before it, in milliseconds.
const LATE_MARK: u64 = 50;

/// One change of the editor's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentChange {
    /// What is replaced; the whole text if none.
    pub span: Option<Span>,
    /// What stands there afterwards.
    pub text: String,
}

/// Why a document no longer follows its editor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfStep {
    /// A change came with a version that is not above the last.
    #[error("a change came as version {got} after version {had}")]
    Version {
        /// The version that was there.
        had: DocVersion,
        /// The version that came.
        got: DocVersion,
    },
    /// A change named a place that the text does not have.
    #[error("a change named a place outside the text: {0}")]
    Place(String),
}

/// A delivery or an undo of which only a part seems to be there.
#[derive(Clone, Debug)]
pub(crate) struct HalfShown {
    since: Millis,
    /// What had been asked for at that time.
    asked: Vec<Candidate>,
}

impl Document {
    /// Takes over that an editor has opened the document, again or for the first time. What differs from the text known
    /// so far counts as typing.
    pub fn reopen(
        &mut self,
        uri: &str,
        language: &str,
        version: DocVersion,
        encoding: Encoding,
        text: &Text,
        now: Millis,
    ) {
        uri.clone_into(&mut self.uri);
        self.home = Home::Editor { version, encoding, language: language.to_owned() };
        self.out_of_step = None;
        self.unseen = None;
        self.flow.stop();
        self.half_shown = None;
        self.take_over(text, now);
        self.news.review = true;
        self.news.deliver |= self.is_delivering();
    }

    /// Takes over that the editor has closed the document. Its edits wait.
    pub fn close(&mut self) {
        self.home = Home::Disk;
        self.out_of_step = None;
        self.flow.stop();
        self.stop_asking();
        self.half_shown = None;
        self.news.review = true;
    }

    /// Takes over a text as a whole, for a file that has changed on the disk.
    pub fn take_over(&mut self, text: &Text, now: Millis) {
        if self.text() == text {
            return;
        }
        self.snapshots.text_changed();
        match &self.weave {
            None => self.text = text.clone(),
            Some(weave) => {
                let mut regions = Regions::default();
                regions.replace_all(&mut weave.buffer().clone(), text.clone());
                // What was decided and not saved: the text that is found may show it, or not.
                let asked = self.refused();
                self.forget_changes_shown(text, &asked);
                let saved = self.saved();
                // What agents take back has its turn when it is clear what the text shows.
                let later = std::mem::take(&mut self.flow.later);
                self.judge(text, &regions, asked, None, now);
                // What had reached the file stays decided, whatever has become of the file (rule W16).
                for (id, reason) in saved {
                    if !self.weave().in_buffer(id) {
                        self.set_decision(id, Decision::Accepted, reason);
                        self.weave().set_refused(id, true);
                    }
                }
                // The file has the last word: what was decided and not saved is to be decided again, and not carried out by itself.
                self.flow.later = later;
                self.flow.stop();
            }
        }
    }

    /// The accepted hunks that the file has.
    fn saved(&self) -> Vec<(HunkId, Option<String>)> {
        let hunks = self.edits.iter().flat_map(|edit| &edit.hunks);
        let saved =
            hunks.filter(|hunk| hunk.decision == Decision::Accepted && hunk.location == Location::Disk);
        saved.map(|hunk| (hunk.id, hunk.reason.clone())).collect()
    }

    /// Of the rejected hunks whose lines a file has as they were proposed, forgets what the person had made of them.
    fn forget_changes_shown(&mut self, text: &Text, refused: &[Candidate]) {
        if refused.is_empty() {
            return;
        }
        let lines: HashSet<Cow<'_, str>> = text.all_lines().map(|line| line.content()).collect();
        let weave = self.weave();
        for hunk in refused.iter().flat_map(|found| &found.plan.on) {
            if weave.proposed(*hunk).iter().all(|line| lines.contains(line.content.as_str())) {
                weave.forget_changes(*hunk);
            }
        }
    }

    /// Takes over changes that the editor has made, in the order in which they are given. `mark` is the editor's own word
    /// about them.
    ///
    /// # Errors
    ///
    /// [`OutOfStep`]: the changes cannot be those of this text. The document then serves no agents until it is opened
    /// again or a change gives the whole text.
    pub fn change(
        &mut self,
        version: DocVersion,
        changes: &[ContentChange],
        mark: Option<UndoMark>,
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let Home::Editor { version: had, encoding, .. } = &mut self.home else { return Ok(()) };
        let encoding = *encoding;
        let from = changes.iter().rposition(|change| change.span.is_none());
        if version <= *had && from.is_none() {
            let reason = OutOfStep::Version { had: *had, got: version };
            return self.fall_out(reason);
        }
        *had = version;
        if self.out_of_step.is_some() {
            if from.is_none() {
                return Ok(());
            }
            self.out_of_step = None;
            self.news.review = true;
        }
        self.snapshots.text_changed();
        let changes = &changes[from.unwrap_or(0)..];
        let result = match self.weave.is_some() {
            false => self.change_text(changes, encoding),
            true => self.change_weave(changes, encoding, mark, now),
        };
        result.or_else(|reason| self.fall_out(reason))
    }

    /// Takes the editor's word about a change that it may have told of already: what that one left open is judged again.
    pub fn mark_last(&mut self, mark: UndoMark, now: Millis) {
        let late = |half: &mut HalfShown| now.since(half.since) <= LATE_MARK;
        let Some(half) = self.half_shown.take_if(late) else { return };
        let text = self.text().clone();
        let judgement = self.weave().typed_again(&text, &Regions::default(), &half.asked, Some(mark));
        self.follow(&judgement, Some(mark));
        self.landed(now);
        self.news.review = true;
    }

    fn fall_out(&mut self, reason: OutOfStep) -> Result<(), OutOfStep> {
        if self.out_of_step.is_none() {
            self.flow.stop();
            self.notices.push(format!(
                "hashline lost step with {} ({reason}). Agents are kept out of it until you close and open it again.",
                self.uri
            ));
            self.news.review = true;
        }
        self.out_of_step = Some(reason.clone());
        Err(reason)
    }

    fn change_text(&mut self, changes: &[ContentChange], encoding: Encoding) -> Result<(), OutOfStep> {
        for change in changes {
            match change.span {
                None => self.text = Text::from(change.text.as_str()),
                Some(span) => make(&mut self.text, span, encoding, &change.text, |text, span, new| {
                    text.apply(span, encoding, new).map(drop)
                })?,
            }
        }
        Ok(())
    }

    fn change_weave(
        &mut self,
        changes: &[ContentChange],
        encoding: Encoding,
        mark: Option<UndoMark>,
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let mut text = self.text().clone();
        let mut regions = Regions::default();
        let last = changes.len().saturating_sub(1);
        let mut delivered = if last > 0 { self.text_delivered() } else { None };
        for (at, change) in changes.iter().enumerate() {
            match change.span {
                None => regions.replace_all(&mut text, Text::from(change.text.as_str())),
                Some(span) => make(&mut text, span, encoding, &change.text, |text, span, new| {
                    regions.apply(text, span, encoding, new)
                })?,
            }
            if at < last && delivered.as_ref() == Some(&text) {
                // The delivery was made, whatever was done to it before the editor told of both: it may be undone already.
                delivered = None;
                self.judge(&text, &std::mem::take(&mut regions), Vec::new(), None, now);
            }
        }
        if changes.len() == 1
            && self.says_delivered()
            && text == *self.text()
            && let Some(made) = self.text_delivered()
        {
            // One change that changes nothing, after a delivery that was made: a client that joins its changes joined the delivery
            // with its undo.
            regions = Regions::default();
            regions.replace_all(&mut self.text().clone(), made.clone());
            self.judge(&made, &regions, Vec::new(), None, now);
            regions = Regions::default();
            regions.replace_all(&mut made.clone(), text.clone());
        }
        self.judge(&text, &regions, Vec::new(), mark, now);
        Ok(())
    }

    /// `found` is what the text may show besides what is known to be under way.
    fn judge(
        &mut self,
        text: &Text,
        regions: &Regions,
        found: Vec<Candidate>,
        mark: Option<UndoMark>,
        now: Millis,
    ) {
        let mut asked = self.asked();
        asked.extend(found);
        let had_edits = !self.edits.is_empty();
        // An editor may show a delivery or an undo in two parts: what the first part left open is judged again with the second.
        let half = self.half_shown.take().filter(|half| now.since(half.since) <= SECOND_LOOK);
        let again = half.is_some() && !self.shows_delivery(text);
        // What had come with the first part is no longer asked for, but it is to be found again.
        let earlier = half.map(|half| half.asked).unwrap_or_default();
        asked.extend(earlier.into_iter().filter(|earlier| !asked.contains(earlier)).collect::<Vec<_>>());
        let weave = self.weave();
        let judgement = match again {
            true => weave.typed_again(text, regions, &asked, mark),
            false => weave.typed(text, regions, &asked, mark),
        };
        self.half_shown = judgement.half_shown.then_some(HalfShown { since: now, asked });
        self.follow(&judgement, mark);
        self.landed(now);
        // Places move and states change with the typing.
        self.news.review |= had_edits;
    }

    /// Brings decisions to what the text shows. A switch that was asked for is that, even where it takes back an earlier one
    /// exactly; only the editor's own mark says that it was an undo after all.
    pub(crate) fn follow(&mut self, judgement: &Judgement, mark: Option<UndoMark>) {
        let mut turns = Vec::new();
        let mut contrary = Vec::new();
        for switched in &judgement.switched {
            let id = switched.hunk;
            let Some((_, hunk)) = self.owner_of(id) else { continue };
            let before = (hunk.decision, hunk.reason.clone());
            let asked = self.intent_for(id, switched.on).filter(|_| mark.is_none());
            let after = match asked.map_or(switched.how, How::Asked) {
                How::Asked(token) => self.wanted(token, id).unwrap_or_else(|| before.clone()),
                How::Undone(entry) => {
                    self.turn(entry, id).map_or((Decision::Undecided, None), |turn| turn.before)
                }
                How::Redone(entry) => self.turn(entry, id).map_or(before.clone(), |turn| turn.after),
                // Sent and given up, and put in after all: what was decided stands.
                How::Seen if self.is_ghost(id) => before.clone(),
                // Only a text that is found, and not typed, brings back what was rejected.
                How::Seen if matches!(before.0, Decision::Rejected | Decision::Withdrawn) => {
                    (Decision::Undecided, None)
                }
                How::Seen => (Decision::Accepted, None),
            };
            if switched.on && matches!(after.0, Decision::Rejected | Decision::Withdrawn) {
                contrary.push((id, after.clone()));
            }
            // What is not in the text is not accepted, and what is in it is not rejected, however that came.
            let after = match (after.0, switched.on) {
                (Decision::Accepted, false) | (Decision::Rejected | Decision::Withdrawn, true) => {
                    (Decision::Undecided, None)
                }
                _ => after,
            };
            self.note_switch(id, switched.on);
            self.set_decision(id, after.0, after.1.clone());
            turns.push(Turn { hunk: id, before, after });
        }
        if let Some(entry) = judgement.entry.filter(|_| !turns.is_empty()) {
            self.turns.insert(entry, turns);
        }
        for (id, (decision, reason)) in contrary {
            let mut off = self.weave().with_dependents(id);
            off.retain(|hunk| self.weave().in_buffer(*hunk));
            let aim = Aim::TakeOut(id, Some(TakeOut::KeepMyLines));
            self.intend(aim, Plan::switch(&[], &off), Some(decision), reason);
        }
    }

    fn turn(&self, entry: hashline_weave::JournalId, hunk: hashline_weave::HunkId) -> Option<Turn> {
        self.turns.get(&entry)?.iter().find(|turn| turn.hunk == hunk).cloned()
    }
}

/// Makes one change by `apply`.
///
/// Neovim counts an ending behind a last line that has none, and names the place behind it (in a text of two lines, line 2) where it
/// appends or takes away lines at the end. Such a change is made as the editor counts: with an ending there, which is taken away
/// again afterwards.
fn make(
    text: &mut Text,
    span: Span,
    encoding: Encoding,
    new: &str,
    mut apply: impl FnMut(&mut Text, Span, &str) -> Result<(), SpanError>,
) -> Result<(), OutOfStep> {
    let counts_one_more = span.end.line as usize == text.lsp_line_count() && span.end.character == 0;
    let mut apply = |text: &mut Text, span, new: &str| {
        apply(text, span, new).map_err(|error| OutOfStep::Place(error.to_string()))
    };
    if !counts_one_more {
        return apply(text, span, new);
    }
    let ending = Ending::find(new.as_bytes()).map(|(_, ending)| ending);
    let ending = ending.or_else(|| text.first_ending()).unwrap_or_default();
    let end = text.end_position(encoding);
    apply(text, Span::new(end, end), ending.as_str())?;
    apply(text, span, new)?;
    if text.ends_with_newline() {
        let end = text.end_position(encoding);
        let before = Position::new(end.line.saturating_sub(1), u32::MAX);
        apply(text, Span::new(before, end), "")?;
    }
    Ok(())
}
