//! From a new text of the editor to lines (rules W5, W6, W9): which of them are the ones that were there, which hunks came or went with
//! the change, and what the person typed.
//!
//! Where the editor's plugin says what brought the text about, that is done: [`Weave::typed`], [`Weave::turned`], [`Weave::made`]. Only the text
//! of a client that says nothing is looked through for what it may mean: [`Weave::recognised`].

use hashline_text::Text;

use crate::attribution::aligned_region::Stretch;
use crate::attribution::earlier_text::Difference;
use crate::attribution::fingerprint::Print;
use crate::attribution::interpretation::{Candidate, How, Judgement, Switched};
use crate::attribution::journal::{JournalId, Step, Turn, Turned, pinned_by};
use crate::attribution::recognise_switches::{Recognised, WHOLE};
use crate::attribution::region::{Region, Regions, reach_the_end};
use crate::attribution::undo::TakesBack;
use crate::attribution::weave::{Checkpoint, Weave};
use crate::model::{Model, Plan};

/// How many bytes more than what differs an editor may send without the text being looked through for what it shares.
const ANEW: usize = 4096;

/// A new text of the editor against the one that was there.
pub(crate) struct Arrival {
    pub old: Text,
    pub before: Print,
    pub after: Print,
    pub touched: Vec<Region>,
}

impl Arrival {
    /// Whether the text reads otherwise than before.
    fn changes(&self) -> bool {
        self.before != self.after
    }
}

impl Weave {
    /// Takes over a text of which it is known that the person typed it. `regions` are the lines that the notification touched. No hunk
    /// is switched by it, whatever it reads like; going back exactly to an earlier text restores what was typed since (rule W7).
    pub fn typed(&mut self, new: &Text, regions: &Regions) -> Judgement {
        self.typed_as(new, regions, |weave, arrival| {
            let in_place = weave.typed_in_place(new, regions, arrival);
            in_place.or_else(|| weave.typed_near(new, regions, arrival))
        })
    }

    /// The same. `near` may take the text over among some of the runs.
    pub(crate) fn typed_as(
        &mut self,
        new: &Text,
        regions: &Regions,
        near: impl FnOnce(&mut Self, &Arrival) -> Option<Judgement>,
    ) -> Judgement {
        let Some(arrival) = self.arrive(new, regions) else { return Judgement::default() };
        if arrival.changes()
            && let Some(judgement) = self.turn_back(new, arrival.after, regions, TakesBack::Typing)
        {
            return judgement;
        }
        if let Some(judgement) = near(self, &arrival) {
            return judgement;
        }
        let stretches = self.stretches(&arrival.touched, new);
        self.take_in(new, regions, arrival, &stretches, &[])
    }

    /// Takes over a text of which it is known that the editor made it by an undo or a redo. Where it is one that was here before, all is as
    /// it was then. Else it lies between two that were reported: then the nearest one is gone back to, if it is nearer than the present
    /// one, and the rest is typing.
    pub fn turned(&mut self, new: &Text, regions: &Regions, turn: Turn) -> Judgement {
        let Some(arrival) = self.arrive(new, regions) else { return Judgement::default() };
        if !arrival.changes() {
            return self.typed(new, regions);
        }
        if let Some(judgement) = self.turn_back(new, arrival.after, regions, TakesBack::Said(turn)) {
            return judgement;
        }
        let nearest = self.journal.nearest(new, self.buffer(), turn);
        let turned = nearest.and_then(|(text, print)| {
            let mut trial = self.clone();
            let mut regions = Regions::default();
            regions.replace_all(&mut trial.buffer().clone(), text.clone());
            let judgement = trial.turn_back(&text, print, &regions, TakesBack::Said(turn))?;
            let goes_with = judgement.switched.iter().all(|switched| self.goes_with(*switched, &text, new));
            goes_with.then(|| {
                *self = trial;
                (text, judgement)
            })
        });
        let Some((mut text, judgement)) = turned else { return self.typed(new, regions) };
        let mut rest = Regions::default();
        rest.replace_all(&mut text, new.clone());
        let typed = self.typed(new, &rest);
        Judgement { typed_lines: typed.typed_lines, ..judgement }
    }

    /// Whether a text goes with a switch that led to another text near it: it has no more of a hunk's lines than that one if the hunk is out of
    /// it, and no fewer if it is in it.
    fn goes_with(&self, switched: Switched, there: &Text, new: &Text) -> bool {
        let count = |text: &Text, line: &str| text.all_lines().filter(|other| other.content_eq(line)).count();
        self.proposed(switched.hunk).iter().all(|line| {
            let (there, new) = (count(there, &line.content), count(new, &line.content));
            if switched.on { new >= there } else { new <= there }
        })
    }

    /// Takes over a text that a plan has made, as the editor says. None if the plan does not lead to it; nothing has happened then.
    pub fn made(&mut self, new: &Text, regions: &Regions, plan: &Plan, token: u64) -> Option<Judgement> {
        let asked = Candidate { plan: plan.clone(), how: How::Asked(token) };
        let touched = regions.trimmed(self.buffer(), new);
        let judgement = self.takes_exactly(&touched, new, &[asked], 0)?;
        self.checkpoint = None;
        Some(judgement)
    }

    /// Takes over a text of a client that does not say what it did. `asked` is what was sent to it or offered to it.
    ///
    /// Never fails: whatever no hunk explains is typing.
    pub fn recognised(&mut self, new: &Text, regions: &Regions, asked: &[Candidate]) -> Judgement {
        self.recognised_as(new, regions, asked, |weave, arrival| weave.typed_near(new, regions, arrival))
    }

    /// The same for changes that came together. `each` is the text after each that is to be taken over by itself where all is typing, as an
    /// undo may lead to it, and what it touched; it may be empty.
    pub fn recognised_together(
        &mut self,
        (new, regions): (&Text, &Regions),
        each: impl FnOnce() -> Vec<(Text, Regions)>,
        asked: &[Candidate],
    ) -> Judgement {
        self.recognised_as(new, regions, asked, |weave, arrival| {
            let each = each();
            if each.len() < 2 {
                return weave.typed_near(new, regions, arrival);
            }
            let typed = each.iter().map(|(text, regions)| weave.typed(text, regions));
            typed.reduce(|all, one| Judgement { typed_lines: all.typed_lines + one.typed_lines, ..one })
        })
    }

    /// The same. `near` may take over among some of the runs what is typing like any other.
    pub(crate) fn recognised_as(
        &mut self,
        new: &Text,
        regions: &Regions,
        asked: &[Candidate],
        near: impl FnOnce(&mut Self, &Arrival) -> Option<Judgement>,
    ) -> Judgement {
        let Some(arrival) = self.arrive(new, regions) else { return Judgement::default() };
        // What was asked for may take back an earlier change exactly and still be what was asked for. What was only offered may not: the
        // person who takes an offer says so, who undoes does not.
        let wanted: Vec<Candidate> =
            asked.iter().filter(|candidate| matches!(candidate.how, How::Asked(_))).cloned().collect();
        if arrival.changes()
            && let Some(judgement) = self.takes_exactly(&arrival.touched, new, &wanted, 0)
        {
            return judgement;
        }
        if arrival.changes()
            && let Some(judgement) = self.turn_back(new, arrival.after, regions, TakesBack::All)
        {
            return judgement;
        }
        if let Some(judgement) = self.typed_in_place(new, regions, &arrival) {
            return judgement;
        }
        if let Some(judgement) = self.takes_exactly(&arrival.touched, new, asked, WHOLE) {
            return judgement;
        }
        let Recognised { stretches, kept, half_shown } = self.recognise(&arrival.touched, new, asked);
        let alone = stretches.iter().map(|stretch| &stretch.region).eq(&arrival.touched);
        if kept.is_empty()
            && !half_shown
            && alone
            && let Some(judgement) = near(self, &arrival)
        {
            return judgement;
        }
        let checkpoint = half_shown
            .then(|| Box::new(Checkpoint { weave: self.clone(), regions: regions.clone(), entry: None }));
        let judgement = self.take_in(new, regions, arrival, &stretches, &kept);
        self.checkpoint = checkpoint;
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.entry = judgement.entry;
        }
        Judgement { half_shown, ..judgement }
    }

    /// Compares a new text with the buffer; none where one change has taken back what another did.
    fn arrive(&mut self, new: &Text, regions: &Regions) -> Option<Arrival> {
        self.checkpoint = None;
        let before = self.journal.print;
        let old = self.buffer().clone();
        let touched = regions.trimmed(&old, new);
        let after = before.after(&old, new, touched.iter().map(|r| (r.old.clone(), r.new.clone())));
        let idle = before == after && !touched.is_empty() && old == *new;
        (!idle).then_some(Arrival { old, before, after, touched })
    }

    /// Takes over a text by the stretches that were aligned with it, and the plans that it shows.
    fn take_in(
        &mut self,
        new: &Text,
        regions: &Regions,
        arrival: Arrival,
        stretches: &[Stretch],
        kept: &[(Plan, How)],
    ) -> Judgement {
        let Arrival { old, before, after, touched } = arrival;
        // Asked only where the text does not say how its last line would end.
        let stood = if new.ends_with_newline() { Vec::new() } else { self.shown_ids(0) };
        let mut steps = Vec::new();
        let mut switched = Vec::new();
        for (plan, how) in kept {
            for (hunk, on) in plan.switches() {
                self.model.set_on(hunk, on);
                steps.push(Step::Switched { hunk, on, turned: turned_by(*how) });
                switched.push(Switched { hunk, on, how: *how });
            }
            self.note_moves(plan.moves(), &mut steps);
            self.model.take_up(plan);
        }
        let differing = stretches.iter().flat_map(|stretch| stretch.differing(self.runs()));
        let difference = Difference::of(&old, new, differing);
        let mut typed_lines = 0;
        for stretch in stretches.iter().rev() {
            typed_lines += stretch.rebuild(&mut self.model, new, &mut steps, Model::cover);
        }
        self.take_newline(new, &mut steps);
        self.take_text(new.clone(), &difference, regions);
        self.journal.print = after;
        self.model.show();
        for (plan, _) in kept {
            let hidden = self.model.read_as_proposed(plan);
            steps.extend(hidden.into_iter().map(|(ids, was)| Step::Hidden { ids, was }));
        }
        let was = self.ending();
        self.model.take_ending_of(&stood, &old, reach_the_end(&touched, new));
        if self.ending() != was {
            steps.push(Step::Ending { was, is: self.ending() });
        }
        self.model.reshape();
        let pinned = pinned_by(self, &steps);
        let entry = self.note(steps, difference, before, new, pinned);
        self.tidy();
        Judgement { switched, entry, half_shown: false, typed_lines }
    }

    /// Notes in the journal what a change did.
    pub(crate) fn note(
        &mut self,
        steps: Vec<Step>,
        difference: Difference,
        before: Print,
        new: &Text,
        pinned: usize,
    ) -> Option<JournalId> {
        if steps.is_empty() {
            self.journal.push_contents(difference, before, new);
            return None;
        }
        Some(self.journal.push(steps, difference, before, pinned))
    }

    /// Switches what was asked for, or what takes one of the `turns` latest changes back, if the text is exactly what it leads to.
    fn takes_exactly(
        &mut self,
        touched: &[Region],
        new: &Text,
        asked: &[Candidate],
        turns: usize,
    ) -> Option<Judgement> {
        if self.on().is_empty() || (asked.is_empty() && turns == 0) {
            return None;
        }
        let (plan, how) = self.exactly(touched, new, asked, turns)?;
        let entry = self.switch_as(&plan, turned_by(how)).ok()?.1;
        if self.buffer() != new {
            // An editor may give the lines endings of its own.
            let text = Difference::of(self.buffer(), new, []).share(self.buffer(), new);
            self.model.set_buffer(text);
            self.model.take_ending(reach_the_end(touched, new));
            self.model.reshape();
        }
        let switched = plan.switches().map(|(hunk, on)| Switched { hunk, on, how });
        Some(Judgement { switched: switched.collect(), entry, ..Judgement::default() })
    }

    /// Takes over a text that the buffer has become. Where the editor said that more of it was touched than differs, it may share nothing
    /// with the text before: then it is taken as a change of that one, so that whoever has kept that one pays for the difference alone.
    pub(crate) fn take_text(&mut self, new: Text, difference: &Difference, touched: &Regions) {
        let anew = touched.len_bytes(&new) > difference.new_bytes(&new) + ANEW;
        let text = if anew { difference.share(self.buffer(), &new) } else { new };
        self.model.set_buffer(text);
    }

    /// Notes whether the person's text ends with a newline, where it says so and no hunk has said it.
    pub(crate) fn take_newline(&mut self, new: &Text, steps: &mut Vec<Step>) {
        steps.extend(self.model.take_newline(new).map(|(was, is)| Step::Newline { was, is }));
    }
}

/// What a switch says of an earlier one.
fn turned_by(how: How) -> Option<Turned> {
    match how {
        How::Undone(origin) => Some(Turned { origin, undone: true }),
        How::Redone(origin) => Some(Turned { origin, undone: false }),
        How::Asked(_) | How::Seen => None,
    }
}
