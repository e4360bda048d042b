//! Changes of a client that does not say what brought them about (rule W9): the one place in which that is guessed.

use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::{Candidate, How, HunkId, Plan, Regions, Switched, Weave};

use crate::document::deliveries::flow::Ghost;
use crate::document::deliveries::guessed::{Begun, HalfShown, left_of};
use crate::document::deliveries::said::Unsaid;
use crate::document::text::content_change::{APART, ContentChange, OutOfStep, after, after_each};
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
                self.guess((&text, &regions), &[], before, holds, now);
            }
        }
        let (text, mut regions) = after(self.text(), &changes[from..], encoding)?;
        let mut each = Vec::new();
        if (2..=APART).contains(&changes[from..].len()) {
            each = after_each(self.text(), &changes[from..], encoding)?;
        }
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
            self.guess((&made, &regions), &[], before, holds, now);
            regions = Regions::default();
            regions.replace_all(&mut made.clone(), text.clone());
        }
        self.guess((&text, &regions), &each, before, holds, now);
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
        let Some(version) = self.version().filter(|_| self.flow.plan_of(begun.number).is_some()) else {
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
        if self.judge_anew(Unsaid { version, before, text, regions }, Cause::Delivery(number), now) {
            self.guesses.half_shown = None;
        }
    }

    /// `each`: the same change by change. `holds`: the delivery under way may be in it, or be a part of it.
    fn guess(
        &mut self,
        (text, regions): (&Text, &Regions),
        each: &[(Text, Regions)],
        before: DocVersion,
        holds: bool,
        now: Millis,
    ) {
        self.guesses.count += 1;
        let stood = self.weave_standing();
        let delivery = self.flow.flying().map(|flight| flight.number);
        let asked = self.asked(before, holds);
        // An editor may show a delivery or an undo in two parts: what the first part left open is judged again with the second.
        let half = self.guesses.half_shown.take().filter(|half| now.since(half.since) <= SECOND_LOOK);
        let again = half.is_some() && self.text_delivered().as_ref() != Some(text);
        // What had come with the first part is no longer asked for, but it is to be found again.
        let (mut earlier, mut switched) = half.map(HalfShown::into_parts).unwrap_or_default();
        earlier.retain(|earlier| !asked.contains(earlier));
        let both = [asked.as_slice(), &earlier].concat();
        // A delivery that was sent since the first part is in the second alone.
        let sent_since = self.flow.plan_for(before).filter(|_| again && holds).map(|(_, plan)| plan.clone());
        let weave = self.weave();
        let first = again.then(|| weave.clone());
        let mut judgement = weave.recognised_together((text, regions), each, &both);
        let joined = first.filter(|_| !sent_since.is_some_and(|plan| is_done(&plan, weave)));
        let joined = joined.and_then(|mut joined| {
            let of_both = joined.recognised_again(text, regions, &both);
            let mut differing =
                weave.hunks().filter(|id| joined.in_buffer(*id) != weave.in_buffer(*id)).peekable();
            let is_asked =
                |id: &HunkId| both.iter().any(|one| one.plan.on.contains(id) || one.plan.off.contains(id));
            // Together they may say more of what seemed to be under way, but not of other hunks.
            let says_more =
                differing.peek().is_none() || differing.any(|id| is_asked(&id) || switched.contains(&id));
            says_more.then_some((joined, of_both))
        });
        let again = joined.is_some();
        if let Some((joined, of_both)) = joined {
            *weave = joined;
            judgement = of_both;
        }
        switched.extend(judgement.switched.iter().map(|switched| switched.hunk));
        let half = HalfShown { since: now, delivery, asked, earlier, switched };
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
        let how = How::Asked(0);
        let mut asked = Vec::new();
        let sent = self.flow.plan().filter(|_| holds);
        // The delivery as a whole first: mostly that is what the text shows.
        asked.extend(sent.map(|plan| Candidate { plan: plan.clone(), how }));
        let offered = self.guesses.offered.iter().filter(|(of, _)| *of == before);
        asked.extend(offered.map(|(_, plan)| Candidate { plan: plan.clone(), how: How::Seen }));
        // Each hunk by itself: an editor may show a delivery in parts.
        let late = |ghost: &&Ghost| self.applies_to_any() || ghost.reaches == before;
        let late: Vec<&Ghost> = self.flow.ghosts().iter().filter(late).collect();
        let is_sent = |id: HunkId| {
            self.applies_to_any()
                || sent.is_some_and(|plan| plan.on.contains(&id) || plan.off.contains(&id))
                || late.iter().any(|ghost| ghost.hunk == id)
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
            asked.push(Candidate { plan, how });
        }
        // What did not arrive may come yet, changed by what was typed into it meanwhile.
        let missing =
            late.iter().filter(|ghost| ghost.on && !weave.in_buffer(ghost.hunk)).map(|ghost| ghost.hunk);
        asked.extend(missing.map(|id| {
            let plan = Plan::switch(&weave.with_prerequisites(id), &[]);
            Candidate { plan, how }
        }));
        asked
    }
}

/// Whether all that a plan switches is switched.
fn is_done(plan: &Plan, weave: &Weave) -> bool {
    plan.on.iter().all(|id| weave.in_buffer(*id)) && !plan.off.iter().any(|id| weave.in_buffer(*id))
}
