//! Changes of an editor whose plugin says what brought each about (rule W9). What it says is checked against the text, and nothing else is
//! guessed: a change without a cause is typing.
//!
//! A cause should come before its change, and its change should hold nothing else. Where it comes late, or the change holds more,
//! it counts as far as the text goes with it. Where it never comes, a notification that makes what the delivery under way makes, to the letter but for
//! endings, is that delivery, and of one that holds more its answer says so. What cannot be so is typing, and the log says that the two disagreed.

use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::{HunkId, Plan, Regions, Weave};

use crate::document::deliveries::announced_causes::{Cause, Unsaid};
use crate::document::text::content_change::{ContentChange, OutOfStep, after, after_each, apart};
use crate::document::{Document, Home, Millis, Reports};

/// How many changes that follow an undo in one notification are looked at for its end.
const MERGED: usize = 16;

impl Document {
    /// Takes over what its editor says of its changes.
    pub fn set_reports(&mut self, what: Reports) {
        self.address.reports(what);
    }

    /// Takes over what brings about the change that makes this version, or what has: then it counts if that change was the last one and
    /// reads exactly so.
    pub fn say_cause(&mut self, version: DocVersion, cause: Cause, now: Millis) {
        let Home::Editor { version: had, reports: Reports::Causes, .. } = *self.home() else { return };
        if version > had {
            if let Some(oldest) = self.told.say(version, cause) {
                self.disagrees(oldest, "its change has not come");
            }
        } else if cause == Cause::SaveConflict || self.told.implied == Some((version, cause)) {
            // It was taken as that already.
        } else if !self.said_late(version, cause, now) {
            self.disagrees(cause, "it came too late");
        }
    }

    /// Whether a change counts as a text that is found: the editor has read it again, or an undo leads behind that.
    pub(crate) fn is_found(&mut self, version: DocVersion, changes: &[ContentChange]) -> bool {
        if self.turns_to_recorded(version, changes) {
            self.told.pass(version);
            self.told.say(version, Cause::Reload);
        }
        self.told.said.iter().any(|(of, cause)| *of <= version && *cause == Cause::Reload)
    }

    /// Whether all that was said of the changes up to a version is that the person undid something, or did it again.
    pub(crate) fn is_turn(&self, version: DocVersion) -> bool {
        self.told.is_turn(version)
    }

    /// Whether an undo or a redo leads to a text that the record has and the journal has not: from before another was found, or from before
    /// this process began.
    fn turns_to_recorded(&self, version: DocVersion, changes: &[ContentChange]) -> bool {
        let Home::Editor { version: before, encoding, reports: Reports::Causes, .. } = *self.home() else {
            return false;
        };
        let Some(weave) = self.text.woven() else { return false };
        if !self.told.is_turn(version) || version <= before || self.out_of_step().is_some() {
            return false;
        }
        let Ok((text, regions)) = after(self.text(), changes, encoding) else { return false };
        text != *self.text() && !weave.was(&text, &regions) && self.text.is_recorded(&text)
    }

    pub(crate) fn change_told(
        &mut self,
        changes: &[ContentChange],
        encoding: Encoding,
        (before, version): (DocVersion, DocVersion),
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let stood = self.weave_standing();
        let causes = self.told.take(version);
        let mut rest = changes;
        for cause in causes {
            match self.caused(rest, encoding, cause, now)? {
                Some(count) => rest = &rest[count..],
                None => self.disagrees(cause, "the text does not read so"),
            }
        }
        let together = if rest.is_empty() { None } else { Some(after(self.text(), rest, encoding)?) };
        // Behind something else it is not the text that the delivery was sent for.
        let is_whole = rest.len() == changes.len();
        let together = together
            .filter(|together| !(is_whole && self.takes_delivery_unsaid(together, before, version, now)));
        if let Some(together) = together {
            self.note_unsaid(rest, encoding, (before, version), (&together.0, &together.1))?;
            let each = apart(self.text(), rest, encoding)?;
            if each.len() < 2 {
                self.was_typed(&together);
            } else {
                each.iter().for_each(|one| self.was_typed(one));
            }
        }
        let read_as = self.told.unsaid.as_ref().and_then(|unsaid| self.flow.of_number(unsaid.delivery?));
        if let Some(flight) = read_as.filter(|flight| flight.done.is_some()) {
            // Its answer came first.
            self.was_done_unsaid(flight.number, now);
        }
        self.landed(now, true);
        self.news_of_typing(stood);
        Ok(())
    }

    /// Takes over a notification that nothing was said of and that is the delivery under way: it makes what was sent for the very text before
    /// it, to the letter but for endings. False, and nothing has happened, if it does not.
    fn takes_delivery_unsaid(
        &mut self,
        (text, regions): &(Text, Regions),
        before: DocVersion,
        version: DocVersion,
        now: Millis,
    ) -> bool {
        let due: Vec<(u64, Plan)> =
            self.flow.due(before).map(|flight| (flight.number, flight.plan.clone())).collect();
        let made = due
            .iter()
            .find_map(|(number, plan)| Some((*number, self.weave().made(text, regions, plan, *number)?)));
        let Some((number, judgement)) = made else { return false };
        self.told.implied = Some((version, Cause::Delivery(number)));
        self.follow(&judgement);
        self.landed(now, false);
        true
    }

    /// Takes over the text that the editor has by now: what became of it since it was opened is typing.
    pub(crate) fn typed_since(&mut self, text: &Text) {
        if self.text() == text {
            return;
        }
        let mut all = Regions::default();
        all.replace_all(&mut self.text().clone(), text.clone());
        self.was_typed(&(text.clone(), all));
        self.text_changed();
    }

    fn was_typed(&mut self, (text, regions): &(Text, Regions)) {
        let judgement = self.weave().typed(text, regions);
        self.follow(&judgement);
    }

    /// Takes over what a cause has brought about. Returns how many of the changes that is; none where the text does not go with it.
    fn caused(
        &mut self,
        changes: &[ContentChange],
        encoding: Encoding,
        cause: Cause,
        now: Millis,
    ) -> Result<Option<usize>, OutOfStep> {
        match cause {
            Cause::Delivery(number) => {
                let Some(plan) = self.plan_told_of(number) else { return Ok(None) };
                // All of it, as a rule; else what was typed before it could be told follows.
                let (text, regions) = after(self.text(), changes, encoding)?;
                if let Some(judgement) = self.weave().made(&text, &regions, &plan, number) {
                    self.follow(&judgement);
                    self.landed(now, false);
                    return Ok(Some(changes.len()));
                }
                let Some(made) = self.text_of(&plan) else { return Ok(None) };
                let Some(count) = self.prefix_made(changes, encoding, &made)? else { return Ok(None) };
                let (text, regions) = after(self.text(), &changes[..count], encoding)?;
                let Some(judgement) = self.weave().made(&text, &regions, &plan, number) else {
                    return Ok(None);
                };
                self.follow(&judgement);
                self.landed(now, false);
                Ok(Some(count))
            }
            Cause::Turn(turn) => {
                let (mut count, (mut text, mut regions)) =
                    (changes.len(), after(self.text(), changes, encoding)?);
                // Where it does not lead to a text that was here, or is, a part of it may, and the rest was typed.
                let least = changes.len().saturating_sub(MERGED).max(1);
                while count > least && !self.is_or_was(&text, &regions) {
                    count -= 1;
                    (text, regions) = after(self.text(), &changes[..count], encoding)?;
                }
                if !self.is_or_was(&text, &regions) {
                    count = changes.len();
                    (text, regions) = after(self.text(), changes, encoding)?;
                }
                let judgement = self.weave().turned(&text, &regions, turn);
                self.forget_turned(&judgement);
                self.follow(&judgement);
                Ok(Some(count))
            }
            Cause::Reload => {
                let (text, _) = after(self.text(), changes, encoding)?;
                self.stop_wanting();
                self.found_open(&text, now);
                Ok(Some(changes.len()))
            }
            Cause::SaveConflict => Ok(Some(0)),
        }
    }

    /// Whether a text is the present one, or one of the latest that were here.
    fn is_or_was(&mut self, text: &Text, regions: &Regions) -> bool {
        self.text() == text || self.weave().was(text, regions)
    }

    /// What a delivery does whose change the editor may tell of.
    fn plan_told_of(&self, number: u64) -> Option<Plan> {
        self.flow.of_number(number).map(|flight| flight.plan.clone())
    }

    /// How many of some changes make a text.
    fn prefix_made(
        &self,
        changes: &[ContentChange],
        encoding: Encoding,
        made: &Text,
    ) -> Result<Option<usize>, OutOfStep> {
        let texts = after_each(self.text(), changes, encoding)?;
        // An editor puts in endings of its own.
        Ok(texts.iter().position(|(text, _)| text.same_contents(made)).map(|at| at + 1))
    }

    /// Notes how everything was before a change that reads as if it had a cause, or that came before the change of a delivery: that may be
    /// said yet.
    fn note_unsaid(
        &mut self,
        changes: &[ContentChange],
        encoding: Encoding,
        (before, version): (DocVersion, DocVersion),
        (text, regions): (&Text, &Regions),
    ) -> Result<(), OutOfStep> {
        // The answer to a delivery may say yet that a change was that.
        let waits =
            |delivery: Option<u64>| delivery.is_some_and(|number| self.flow.of_number(number).is_some());
        if self.told.unsaid.as_ref().is_some_and(|unsaid| !waits(unsaid.delivery)) {
            self.told.unsaid = None;
        }
        let mut noted = None;
        for flight in self.flow.due(before) {
            let Some(made) = self.text_of(&flight.plan) else { continue };
            if let Some(count) = self.prefix_made(changes, encoding, &made)? {
                noted = Some((Some(flight.number), after(self.text(), &changes[..count], encoding)?, true));
                break;
            }
            if noted.is_none() && version.0 > before.0 + 1 {
                let mut all = Regions::default();
                all.replace_all(&mut self.text().clone(), made.clone());
                noted = Some((Some(flight.number), (made, all), false));
            }
        }
        if noted.is_none() && self.weave().was_otherwise(text, regions) {
            noted = Some((None, (text.clone(), regions.clone()), true));
        }
        if let Some((delivery, (text, regions), reads_so)) = noted {
            let (after, before) = (before, self.weave().clone());
            let unsaid = Unsaid { after, version, before, text, regions, delivery, reads_so };
            self.told.unsaid = Some(Box::new(unsaid));
        }
        Ok(())
    }

    /// The last change, or one that it came before, had this cause after all. False if it cannot have had.
    fn said_late(&mut self, version: DocVersion, cause: Cause, now: Millis) -> bool {
        let last = self.version();
        let is_meant =
            |unsaid: &mut Box<Unsaid>| Some(unsaid.version) == last && unsaid.covers(version, cause);
        let Some(unsaid) = self.told.unsaid.take_if(is_meant) else { return false };
        let Unsaid { before, text, regions, .. } = *unsaid;
        self.judge_anew(before, (text, regions), cause, now)
    }

    /// Whether only the answer to a delivery will say what the last change was: it reads as that delivery with typing behind it, and no cause of it
    /// was said. Until then nothing is recorded on top of it.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        let delivery = self.told.unsaid.as_ref().and_then(|unsaid| unsaid.delivery);
        delivery.is_some_and(|number| self.flow.is_under_way(number))
    }

    /// The editor says that it has carried out a delivery, and no change was said to be that. The one that reads so is.
    pub(crate) fn was_done_unsaid(&mut self, number: u64, now: Millis) {
        let Some(unsaid) = self.told.unsaid.take_if(|unsaid| unsaid.delivery == Some(number)) else { return };
        let Unsaid { version, before, text, regions, .. } = *unsaid;
        let cause = Cause::Delivery(number);
        if self.judge_anew(before, (text, regions), cause, now) {
            self.told.implied = Some((version, cause));
            tracing::debug!(uri = self.uri(), number, "a delivery was told of by its answer alone");
        }
    }

    /// No answer comes any more. What reads as a delivery is that, as nothing else will tell.
    pub(crate) fn stays_unanswered(&mut self, now: Millis) {
        let unsaid = self.told.unsaid.as_ref().filter(|unsaid| unsaid.reads_so);
        if let Some(number) = unsaid.and_then(|unsaid| unsaid.delivery) {
            self.was_done_unsaid(number, now);
        }
    }

    /// Judges a change and what came after it once more: a cause made this text of that before. False, and nothing has happened, if the cause does not go with the text, or
    /// something was recorded, decided or switched since.
    pub(super) fn judge_anew(
        &mut self,
        before: Weave,
        (text, regions): (Text, Regions),
        cause: Cause,
        now: Millis,
    ) -> bool {
        let present = self.weave().clone();
        let was: Vec<(HunkId, bool)> = present.hunks().map(|id| (id, present.in_buffer(id))).collect();
        if !self.weave().resume(before) {
            return false;
        }
        let judgement = match cause {
            Cause::Delivery(number) => {
                let plan = self.plan_told_of(number);
                plan.and_then(|plan| self.weave().made(&text, &regions, &plan, number))
            }
            Cause::Turn(turn) => Some(self.weave().turned(&text, &regions, turn)),
            Cause::Reload | Cause::SaveConflict => None,
        };
        let Some(mut judgement) = judgement else {
            self.text.put_back(present);
            return false;
        };
        let mut rest = Regions::default();
        rest.replace_all(&mut text.clone(), present.buffer().clone());
        self.weave().typed(present.buffer(), &rest);
        let named = |id: HunkId| judgement.switched.iter().any(|switched| switched.hunk == id);
        let weave = self.weave();
        if was.iter().any(|(id, on)| weave.in_buffer(*id) != *on && !named(*id)) {
            // Another hunk was switched since, and decided with that.
            self.text.put_back(present);
            return false;
        }
        judgement.switched.retain(|switched| !was.contains(&(switched.hunk, switched.on)));
        self.forget_turned(&judgement);
        self.follow(&judgement);
        self.landed(now, false);
        self.news.review();
        true
    }

    /// Notes that what the editor says and the text do not go together: the text wins.
    fn disagrees(&mut self, cause: Cause, why: &str) {
        self.told.wrong += 1;
        tracing::warn!(
            uri = self.uri(),
            ?cause,
            why,
            "what the editor says of a change does not hold; the change is judged by its text alone"
        );
    }

    /// How often what the editor said of a change did not go with the text.
    #[must_use]
    pub fn disagreements(&self) -> u64 {
        self.told.wrong
    }
}
