//! Changes of a client that does not say what brought them about (rule W9): the one place in which that is guessed.

use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::{Candidate, How, HunkId, Plan, Regions, Switched, Weave};

use crate::document::deliveries::guess_state::{Begun, HalfShown, left_of};
use crate::document::deliveries::retry_schedule::Ghost;
use crate::document::text::content_change::{
    ContentChange, OutOfStep, after, after_each, apart_but_for_replacements,
};
use crate::document::{Cause, Document, Home, Millis, Reports};

/// How long what seems to be under way is judged together with the next notification, in milliseconds.
const SECOND_LOOK: u64 = 1000;
/// How many of the edits that were offered for a text are kept.
const OFFERS: usize = 64;

impl Document {
    /// Notes that a client was offered to make a change by itself.
    pub(crate) fn note_offer(&mut self, plan: Plan) {
        let Some(version) = self.version() else { return };
        self.guesses.offered.retain(|(of, known)| *of == version && *known != plan);
        if self.guesses.offered.len() == OFFERS {
            self.guesses.offered.remove(0);
        }
        self.guesses.offered.push((version, plan));
    }

    /// How often it was guessed what a change of the editor was.
    #[must_use]
    pub fn guesses(&self) -> u64 {
        self.guesses.count
    }

    pub(crate) fn change_unexplained(
        &mut self,
        changes: &[ContentChange],
        encoding: Encoding,
        before: DocVersion,
        now: Millis,
    ) -> Result<(), OutOfStep> {
        let begun = self.begins(before, changes);
        let touched = match begun {
            Some(_) => after(self.text(), changes, encoding)?.1,
            None => Regions::default(),
        };
        let mut from = 0;
        let mut holds = self.may_hold_delivery(before);
        if changes.len() > 1
            && holds
            && let Some(made) = self.text_delivered()
        {
            // The delivery was made, whatever was done to it before the editor told of both: it may be undone already.
            let texts = after_each(self.text(), changes, encoding)?;
            let at = texts.iter().position(|(text, _)| text.same_contents(&made));
            // A client that carries it out for this text or not at all begins with all of it. Only by itself may a change be a part of it.
            holds = at.is_some() || self.applies_to_any() || changes[0].span.is_none();
            if let Some(at) = at.filter(|at| at + 1 < changes.len()) {
                from = at + 1;
                let (text, regions) = after(self.text(), &changes[..from], encoding)?;
                self.guess((&text, &regions), Vec::new, before, holds, now);
            }
        }
        let (text, mut regions) = after(self.text(), &changes[from..], encoding)?;
        let before_all = self.text().clone();
        let each = || apart_but_for_replacements(&before_all, &changes[from..], encoding).unwrap_or_default();
        if changes.len() == 1
            && self.number_done().is_some()
            && text == *self.text()
            && holds
            && let Some(made) = self.text_delivered()
        {
            // One change that changes nothing, after a delivery that was made: a client that joins its changes joined the delivery
            // with its undo.
            regions = Regions::default();
            regions.replace_all(&mut self.text().clone(), made.clone());
            self.guess((&made, &regions), Vec::new, before, holds, now);
            regions = Regions::default();
            regions.replace_all(&mut made.clone(), text.clone());
        }
        self.guess((&text, &regions), each, before, holds, now);
        if let Some(begun) = begun {
            self.goes_on(begun, &touched, now);
        }
        Ok(())
    }

    /// The delivery under way, if these changes of the text of this version may be a part of it, and not all.
    fn begins(&mut self, before: DocVersion, changes: &[ContentChange]) -> Option<Box<Begun>> {
        let begun = self.guesses.begun.take();
        let flight = self.flow.flying()?;
        let (number, version) = (flight.number, flight.version);
        if let Some(mut begun) = begun.filter(|begun| begun.number == number && begun.reaches == before) {
            begun.left = left_of(&begun.left, changes)?;
            return Some(begun);
        }
        let left = left_of(&flight.parts, changes).filter(|left| version == before && !left.is_empty())?;
        let made = self.text_delivered()?;
        let (before, regions) = (self.weave().clone(), Regions::default());
        Some(Box::new(Begun { number, reaches: version, before, regions, left, made }))
    }

    /// Sees whether changes that were told of one by one are the delivery. What a first part is cannot be told from that part alone.
    fn goes_on(&mut self, mut begun: Box<Begun>, touched: &Regions, now: Millis) {
        let Some(version) = self.version().filter(|_| self.flow.is_under_way(begun.number)) else {
            return;
        };
        begun.regions = begun.regions.then(touched);
        if !self.text().same_contents(&begun.made) {
            begun.reaches = version;
            self.guesses.begun = Some(begun);
            return;
        }
        let Begun { number, before, regions, .. } = *begun;
        let text = self.text().clone();
        if self.judge_anew(before, (text, regions), Cause::Delivery(number), now) {
            self.guesses.half_shown = None;
        }
    }

    /// `each`: what is to be taken over one by one where it is typing. `holds`: the delivery under way may be in it, or be a part of it.
    fn guess(
        &mut self,
        (text, regions): (&Text, &Regions),
        each: impl FnOnce() -> Vec<(Text, Regions)>,
        before: DocVersion,
        holds: bool,
        now: Millis,
    ) {
        self.guesses.count += 1;
        let stood = self.weave_standing();
        let mut asked = self.asked(before, holds);
        // An editor may show a delivery or an undo in two parts: what the first part left open is judged again with the second.
        let half = self.guesses.half_shown.take().filter(|half| now.since(half.since) <= SECOND_LOOK);
        let again = half.is_some() && self.text_delivered().as_ref() != Some(text);
        // What had come with the first part is no longer asked for, but it is to be found again.
        let (mut earlier, mut switched) = half.map(|half| (half.asked, half.switched)).unwrap_or_default();
        earlier.retain(|earlier| asked.iter().all(|now| now.plan != earlier.plan));
        asked.extend(earlier);
        // A delivery that was sent since the first part is in the second alone.
        let sent_since = self.flow.plan_for(before).filter(|_| again && holds).map(|(_, plan)| plan.clone());
        let weave = self.weave();
        let first = again.then(|| weave.clone());
        let mut judgement = weave.recognised_together((text, regions), each, &asked);
        let joined = first.filter(|_| !sent_since.is_some_and(|plan| is_done(&plan, weave)));
        let joined = joined.and_then(|mut joined| {
            let before = joined.before_half_shown().cloned();
            let of_both = joined.recognised_again(text, regions, &asked);
            let is_asked =
                |id: &HunkId| asked.iter().any(|one| one.plan.on.contains(id) || one.plan.off.contains(id));
            let differs = |id: &HunkId| joined.in_buffer(*id) != weave.in_buffer(*id);
            let differing: Vec<HunkId> = weave.hunks().filter(differs).collect();
            // Together they may say otherwise of what seemed to be under way, but not of other hunks; or as much, and that more may come.
            let says_more = match differing.as_slice() {
                [] => of_both.half_shown,
                differing => differing.iter().all(|id| is_asked(id) || switched.contains(id)),
            };
            // Nor may they explain the text worse than one after the other does, where that is a question of hunks alone.
            let left = |judged: &Weave| judged.left_to_type_since(before.as_ref()?);
            let is_in_question = of_both.typed_lines > 0 && asked.iter().all(|one| one.plan.only_switches());
            let is_worse = || left(weave).is_some_and(|apart| left(&joined).is_none_or(|both| both > apart));
            (says_more && !(is_in_question && is_worse())).then_some((joined, of_both))
        });
        let again = joined.is_some();
        if let Some((joined, of_both)) = joined {
            *weave = joined;
            judgement = of_both;
        }
        switched.extend(judgement.switched.iter().map(|switched| switched.hunk));
        let half = HalfShown { since: now, asked, switched };
        self.guesses.half_shown = judgement.half_shown.then_some(half);
        // A switch that is wanted is that, even where it takes back an earlier one exactly.
        for switched in &mut judgement.switched {
            if self.wanted.get(switched.hunk).is_some_and(|wish| wish.on == switched.on) {
                switched.how = How::Asked(0);
            }
        }
        // A guess that is taken back is no word of the person's.
        if !again {
            self.forget_turned(&judgement);
        }
        self.follow(&judgement);
        let part =
            |switched: &Switched| self.flow.is_sent(switched.hunk) || self.flow.was_sent(switched.hunk);
        if judgement.switched.iter().any(part) {
            let version = self.version().unwrap_or(before);
            self.flow.is_half_there(before, version);
        }
        self.landed(now, true);
        self.news_of_typing(stood);
    }

    /// Whether a change of the text of one version may be the delivery under way, or hold it.
    fn may_hold_delivery(&self, before: DocVersion) -> bool {
        self.applies_to_any() || self.flow.plan_for(before).is_some()
    }

    /// Whether the editor may carry out a delivery for another text than it was made for.
    fn applies_to_any(&self) -> bool {
        matches!(self.home(), Home::Editor { reports: Reports::Nothing, .. })
    }

    /// What the text may show because it was asked for: first what is under way, then what is wanted, then what was offered.
    fn asked(&self, before: DocVersion, holds: bool) -> Vec<Candidate> {
        let Some(weave) = self.text.woven() else { return Vec::new() };
        let mut asked = Vec::new();
        let flight = self.flow.flying().filter(|_| holds);
        let sent = flight.map(|flight| &flight.plan);
        // The delivery as a whole first: mostly that is what the text shows.
        asked.extend(flight.map(|flight| {
            let how = How::Asked(flight.number);
            Candidate { plan: flight.plan.clone(), how }
        }));
        let offered = self.guesses.offered.iter().filter(|(of, _)| *of == before);
        asked.extend(offered.map(|(_, plan)| Candidate { plan: plan.clone(), how: How::Seen }));
        // Each hunk by itself: an editor may show a delivery in parts.
        let late = |ghost: &&Ghost| self.applies_to_any() || ghost.reaches == before;
        let late: Vec<&Ghost> = self.flow.ghosts().iter().filter(late).collect();
        let is_in_flight =
            |id: HunkId| sent.is_some_and(|plan| plan.on.contains(&id) || plan.off.contains(&id));
        let is_sent = |id: HunkId| {
            self.applies_to_any() || is_in_flight(id) || late.iter().any(|ghost| ghost.hunk == id)
        };
        let wanted = self.wanted.iter().filter(|(id, wish)| weave.in_buffer(*id) != wish.on && is_sent(*id));
        for (id, wish) in wanted {
            let plan = if wish.on {
                Plan::switch(&weave.with_prerequisites(id), &[])
            } else {
                let mut off = weave.with_dependents(id);
                off.retain(|other| weave.in_buffer(*other));
                Plan::switch(&[], &off)
            };
            let how = How::Asked(flight.filter(|_| is_in_flight(id)).map_or(0, |flight| flight.number));
            asked.push(Candidate { plan, how });
        }
        // What did not arrive may come yet: with the next change also with words in it, later only as it was. Without the mark of its
        // rejection it would be looked for so anyway.
        let missing = late.iter().filter(|ghost| ghost.on && !weave.in_buffer(ghost.hunk));
        for ghost in missing.filter(|ghost| self.wanted.get(ghost.hunk).is_none_or(|wish| !wish.on)) {
            let is_next = ghost.reaches == before;
            if is_next || weave.is_refused(ghost.hunk) {
                let plan = Plan::switch(&weave.with_prerequisites(ghost.hunk), &[]);
                asked.push(Candidate { plan, how: if is_next { How::Asked(0) } else { How::Seen } });
            }
        }
        asked
    }
}

/// Whether all that a plan switches is switched.
fn is_done(plan: &Plan, weave: &Weave) -> bool {
    plan.on.iter().all(|id| weave.in_buffer(*id)) && !plan.off.iter().any(|id| weave.in_buffer(*id))
}
