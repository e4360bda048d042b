//! Following the editor: opening, changes, saving, closing (rules W6, W22).

use hashline_history::{Decision, Location, Reason};
use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::{How, HunkId, Judgement, TakeOut};

use crate::document::decisions::edit_and_hunks::as_shown;
use crate::document::decisions::edits::Turn;
use crate::document::decisions::wishes::Way;
use crate::document::text::content_change::{ContentChange, OutOfStep, after, make};
use crate::document::text::load_text::Earlier;
use crate::document::{Cause, Document, Home, Millis, Reports};

impl Document {
    /// Takes over that an editor has opened the document, again or for the first time. Where the text differs from the one that is known,
    /// it is a text that is found.
    pub fn reopen(
        &mut self,
        uri: &str,
        language: &str,
        version: DocVersion,
        encoding: Encoding,
        text: &Text,
        now: Millis,
    ) {
        self.address.rename(uri);
        let reports = Reports::Nothing;
        self.address.moves_to(Home::Editor { version, encoding, language: language.to_owned(), reports });
        self.text.out_of_step = None;
        self.text.unseen = None;
        self.told.forget();
        self.guesses.forget();
        self.stop_wanting();
        self.found(text, &Earlier::default(), Location::Buffer, now);
        if let Some(weave) = &mut self.text.weave {
            weave.forget_past();
        }
        self.text.unseen = None;
        self.news.review();
        if self.is_delivering() {
            self.news.deliver();
        }
    }

    /// Takes over that the editor has closed the document. Its edits wait.
    pub fn close(&mut self, now: Millis) {
        self.stays_unanswered(now);
        self.address.moves_to(Home::Disk);
        self.text.out_of_step = None;
        self.stop_wanting();
        self.stop_asking();
        self.told.forget();
        self.guesses.forget();
        self.news.review();
    }

    /// Takes over changes that the editor has made, in the order in which they are given.
    ///
    /// # Errors
    ///
    /// [`OutOfStep`]: the changes cannot be those of this text. The document then serves no agents until it is opened
    /// again or a change gives the whole text.
    pub fn change(
        &mut self,
        version: DocVersion,
        changes: &[ContentChange],
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let Home::Editor { version: before, encoding, reports, .. } = *self.home() else { return Ok(()) };
        let from = changes.iter().rposition(|change| change.span.is_none());
        if version <= before && from.is_none() {
            let reason = OutOfStep::Version { had: before, got: version };
            return self.fall_out(reason);
        }
        self.address.has_version(version);
        let mut healed = false;
        if self.text.out_of_step.is_some() {
            if from.is_none() {
                return Ok(());
            }
            self.text.out_of_step = None;
            self.news.review();
            healed = true;
        }
        self.text.snapshots.text_changed();
        // What comes before a whole text is of no more use, except to an undo that is said to be one.
        let from_whole = &changes[from.unwrap_or(0)..];
        let is_whole = healed || version <= before || reports != Reports::Causes;
        let changes = if is_whole { from_whole } else { changes };
        if healed && self.text.weave.is_some() {
            // Nobody knows how it came from the text before. A reload ends what was on its way.
            if self.told.take(version).contains(&Cause::Reload) {
                self.stop_wanting();
            }
            return match after(self.text(), changes, encoding) {
                Ok((text, _)) => {
                    self.found_open(&text, now);
                    Ok(())
                }
                Err(reason) => self.fall_out(reason),
            };
        }
        let result = match (self.text.weave.is_some(), reports) {
            (false, _) => {
                // There is nothing that it could have switched.
                self.told.pass(version);
                self.change_text(changes, encoding)
            }
            (true, Reports::Causes) => self.change_told(changes, encoding, (before, version), now),
            (true, Reports::Nothing | Reports::Versions) => {
                self.change_unexplained(changes, encoding, before, now)
            }
        };
        result.or_else(|reason| self.fall_out(reason))
    }

    fn fall_out(&mut self, reason: OutOfStep) -> Result<(), OutOfStep> {
        if self.text.out_of_step.is_none() {
            self.stop_wanting();
            self.news.tell(format!(
                "hashline lost step with {} ({reason}). Agents are kept out of it until you close and open it again.",
                self.uri()
            ));
            self.news.review();
        }
        self.text.out_of_step = Some(reason.clone());
        Err(reason)
    }

    fn change_text(&mut self, changes: &[ContentChange], encoding: Encoding) -> Result<(), OutOfStep> {
        self.text.note_plain(changes.iter().any(|change| change.span.is_none()));
        for change in changes {
            match change.span {
                None => self.text.plain = Text::from(change.text.as_str()),
                Some(span) => make(&mut self.text.plain, span, encoding, &change.text, |text, span, new| {
                    text.apply(span, encoding, new).map(drop)
                })?,
            }
        }
        Ok(())
    }

    /// Brings decisions to what the text shows.
    pub(crate) fn follow(&mut self, judgement: &Judgement) {
        let mut turns = Vec::new();
        let mut contrary = Vec::new();
        for switched in &judgement.switched {
            let id = switched.hunk;
            let Some((_, hunk)) = self.owner_of(id) else { continue };
            let before = (hunk.decision, hunk.reason.clone());
            let mut after = self.decision_by(id, switched.how);
            if switched.on && matches!(after.0, Decision::Rejected | Decision::Withdrawn) {
                match self.brought_by(id, judgement) {
                    Some(decided) => after = decided,
                    None if after.0 == Decision::Withdrawn && self.others_build_on(id) => {
                        after = (Decision::Undecided, None);
                    }
                    None => contrary.push((id, after.clone())),
                }
            }
            let mut after = as_shown(after, switched.on);
            self.note_switch(id, switched.on);
            self.set_decision(id, after.0, after.1.clone());
            if let Some(wish) = self.wanted.get(id).filter(|wish| wish.on == switched.on)
                && let Some(decision) = wish.act.decision
            {
                after = (decision, wish.act.reason.clone());
            }
            turns.push(Turn { hunk: id, before, after });
        }
        if let Some(entry) = judgement.entry.filter(|_| !turns.is_empty()) {
            self.edits.note_turns(entry, turns);
        }
        for (id, (decision, reason)) in contrary {
            let mut off = self.weave().with_dependents(id);
            off.retain(|hunk| self.weave().in_buffer(*hunk));
            self.want(&off, false, Way::Out(Some(TakeOut::KeepMyLines)), Some(decision), reason);
        }
    }

    /// What was decided about a hunk that came into the text and builds on this one: both were accepted by that.
    fn brought_by(&self, id: HunkId, judgement: &Judgement) -> Option<(Decision, Option<Reason>)> {
        let weave = self.text.woven()?;
        let builds_on_it = |hunk: HunkId| weave.with_dependents(id).contains(&hunk);
        let others = judgement.switched.iter().filter(|other| other.on && other.hunk != id);
        let wishes = others.filter(|other| builds_on_it(other.hunk)).map(|other| self.wanted.get(other.hunk));
        let wish = wishes.flatten().find(|wish| wish.on && wish.act.decision == Some(Decision::Accepted))?;
        Some((Decision::Accepted, wish.act.reason.clone()))
    }

    /// What the person has undone, or done again, is their latest word.
    pub(crate) fn forget_turned(&mut self, judgement: &Judgement) {
        for switched in &judgement.switched {
            if matches!(switched.how, How::Undone(_) | How::Redone(_)) {
                self.wanted.remove(switched.hunk);
            }
        }
    }

    /// What the decision about a hunk is once it was switched like this.
    pub(crate) fn decision_by(&self, id: HunkId, how: How) -> (Decision, Option<Reason>) {
        let undecided = (Decision::Undecided, None);
        let Some((_, hunk)) = self.owner_of(id) else { return undecided };
        let before = (hunk.decision, hunk.reason.clone());
        match how {
            // What was wanted is decided when the wish ends; it may be another one by now.
            How::Asked(_) => before,
            How::Undone(entry) => self.edits.turn(entry, id).map_or(undecided, |turn| turn.before),
            How::Redone(entry) => self.edits.turn(entry, id).map_or(before, |turn| turn.after),
            // Sent and given up, and put in after all: what was decided stands.
            How::Seen if self.flow.is_ghost(id) => before,
            // Put in by hand, what was rejected is to be decided again.
            How::Seen if matches!(before.0, Decision::Rejected | Decision::Withdrawn) => undecided,
            How::Seen => (Decision::Accepted, None),
        }
    }
}
