//! Bringing decisions into the editor's text (rules W9, W12, W21): a delivery is a wish, and only the text tells what became of it.
//!
//! A decision that changes the text is an *intent* until the text shows it. All intents of a document go to the editor together, as
//! one list of edits for one exact version, and one such *delivery* is under way at a time. Whatever the editor answers, only its text
//! tells whether it was done; if it was not, it is sent again for the text as it is then.

use hashline_history::{Decision, HunkRef};
use hashline_text::{DocVersion, Text};
use hashline_weave::{Candidate, How, HunkId, Plan, TextEdit};

use crate::document::aim::Aim;
use crate::document::later::Later;
use crate::document::{Document, Home, Millis};

/// How long a delivery may take, in milliseconds.
const PATIENCE: u64 = 2000;
/// The pause before a delivery is sent again, in milliseconds; it doubles from the first to the last.
const PAUSES: (u64, u64) = (20, 1000);
/// How often a delivery is sent before the person is told that it cannot be placed.
const TRIES: u32 = 60;

/// Edits for the editor to carry out, all for one version of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which one it is, for the answer.
    pub number: u64,
    /// The version of the text that the spans belong to.
    pub version: DocVersion,
    /// In text order and apart from each other.
    pub edits: Vec<TextEdit>,
    /// What it is for.
    pub switches: Vec<Delivered>,
}

/// A hunk that a delivery brings into the text, or takes out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The hunk.
    pub hunk: HunkRef,
    /// Who made it.
    pub agent: String,
    /// Whether it comes into the text.
    pub on: bool,
    /// The person has decided so; else it comes in because its edit was to go in at once.
    pub decided: bool,
}

/// A decision that the text does not show yet.
#[derive(Clone, Debug)]
pub(crate) struct Intent {
    pub token: u64,
    /// What it comes to, as the text is now.
    pub plan: Plan,
    /// What it is for. The person goes on typing, so the plan is made anew each time before it is sent.
    pub aim: Aim,
    /// What the decision about its hunks is once the text shows it; none to leave it as it is.
    pub decision: Option<Decision>,
    pub reason: Option<String>,
    /// It may be sent: it is recorded that it is wanted, or that need not be.
    pub is_recorded: bool,
    tries: u32,
}

#[derive(Clone, Debug)]
struct Flight {
    number: u64,
    tokens: Vec<u64>,
    /// All that it does.
    plan: Plan,
    sent: Millis,
    applied: bool,
}

/// What is on its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    pub(crate) intents: Vec<Intent>,
    /// Decisions that wait for the delivery under way to end.
    pub(crate) later: Vec<Later>,
    /// Hunks of deliveries that were given up: the editor may still put them in.
    ghosts: Vec<HunkId>,
    flight: Option<Flight>,
    next: u64,
    not_before: Millis,
}

impl Intent {
    /// Whether the person has decided it.
    pub(crate) fn is_decision(&self) -> bool {
        matches!(self.decision, Some(Decision::Accepted | Decision::Rejected))
    }

    /// The hunks that it switches.
    pub(crate) fn hunks(&self) -> impl Iterator<Item = HunkId> {
        self.plan.on.iter().chain(&self.plan.off).copied()
    }
}

impl Flow {
    /// The same in another state of the document, as far as its hunks are there, and the intents whose are not.
    pub(crate) fn carried(&self, there: impl Fn(HunkId) -> Option<HunkId>) -> (Self, Vec<Intent>) {
        let (mut intents, mut stopped) = (Vec::new(), Vec::new());
        for intent in &self.intents {
            match (carried(&intent.plan, &there), intent.aim.carried(&there)) {
                (Some(plan), Some(aim)) => intents.push(Intent { plan, aim, ..intent.clone() }),
                _ => stopped.push(intent.clone()),
            }
        }
        let is_sent = |flight: &&Flight| !stopped.iter().any(|intent| flight.tokens.contains(&intent.token));
        let flight = self
            .flight
            .as_ref()
            .filter(is_sent)
            .and_then(|flight| Some(Flight { plan: carried(&flight.plan, &there)?, ..flight.clone() }));
        let later = self.later.iter().filter_map(|later| later.carried(&there)).collect();
        let ghosts = self.ghosts.iter().filter_map(|id| there(*id)).collect();
        (Self { intents, later, ghosts, flight, ..self.clone() }, stopped)
    }

    /// Forgets all intents: the editor that they were for is gone. What agents take back still waits.
    pub(crate) fn stop(&mut self) {
        self.intents.clear();
        self.later.retain(|later| !later.is_decision());
        self.ghosts.clear();
        self.flight = None;
    }

    /// Whether nothing that waits does more than switch hunks.
    pub(crate) fn only_switches(&self) -> bool {
        self.intents.iter().all(|intent| intent.plan.only_switches())
    }

    /// Whether something waits to be sent, or to be decided.
    fn has_work(&self) -> bool {
        self.intents.iter().any(|intent| intent.is_recorded) || !self.later.is_empty()
    }

    /// Whether the editor may be at it.
    pub(crate) fn is_sent(&self, token: u64) -> bool {
        self.flight.as_ref().is_some_and(|flight| flight.tokens.contains(&token))
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Lets the delivery under way count as not done, to be sent again after a pause.
    fn again(&mut self, now: Millis, at_once: bool) {
        let Some(flight) = self.flight.take() else { return };
        let mut tries = 0;
        for intent in self.intents.iter_mut().filter(|intent| flight.tokens.contains(&intent.token)) {
            intent.tries += 1;
            tries = tries.max(intent.tries);
            self.ghosts.retain(|ghost| !intent.plan.on.contains(ghost));
            self.ghosts.extend(&intent.plan.on);
        }
        let pause = (PAUSES.0 << tries.min(10)).min(PAUSES.1);
        self.not_before = now.after(if at_once { 0 } else { pause });
    }
}

/// What a plan switches, in another state of the document. What it does to lines of the person's is found out anew before it is sent.
fn carried(plan: &Plan, there: impl Fn(HunkId) -> Option<HunkId>) -> Option<Plan> {
    let all = |hunks: &[HunkId]| hunks.iter().map(|id| there(*id)).collect::<Option<Vec<HunkId>>>();
    Some(Plan::switch(&all(&plan.on)?, &all(&plan.off)?))
}

impl Document {
    /// Asks for a change of the text. On the disk it is made at once.
    pub(crate) fn intend(
        &mut self,
        aim: Aim,
        plan: Plan,
        decision: Option<Decision>,
        reason: Option<String>,
    ) {
        let token = self.flow.number();
        let is_recorded = !self.note_wanted(token, &plan, decision, reason.as_ref());
        self.flow.intents.push(Intent { token, plan, aim, decision, reason, is_recorded, tries: 0 });
        self.news.deliver = true;
        self.news.review = true;
    }

    /// Whether a decision about this hunk waits for the text.
    #[must_use]
    pub fn is_deciding(&self, id: HunkId) -> bool {
        let holds = |intent: &Intent| intent.plan.on.contains(&id) || intent.plan.off.contains(&id);
        self.flow.intents.iter().any(holds)
            || self.flow.later.iter().any(|later| later.hunk == id)
            || self.goes_with_file(id)
    }

    /// Whether lines are on their way into the text, or out of it.
    pub(crate) fn is_delivering(&self) -> bool {
        !self.flow.intents.is_empty() || !self.flow.later.is_empty()
    }

    /// What the text may show because it was asked for: first what is under way, then what waits.
    pub(crate) fn asked(&self) -> Vec<Candidate> {
        let Some(weave) = &self.weave else { return Vec::new() };
        let mut asked = Vec::new();
        // The delivery as a whole first: mostly that is what the text shows.
        if let Some(flight) = &self.flow.flight
            && let Some(token) = flight.tokens.first()
        {
            asked.push(Candidate { plan: flight.plan.clone(), how: How::Asked(*token) });
        }
        for intent in &self.flow.intents {
            let how = How::Asked(intent.token);
            if !intent.plan.only_switches() {
                asked.push(Candidate { plan: intent.plan.clone(), how });
                continue;
            }
            // Each hunk by itself: an editor may show a delivery in parts.
            for id in intent.plan.on.iter().filter(|id| !weave.in_buffer(**id)) {
                asked.push(Candidate { plan: Plan::switch(&weave.with_prerequisites(*id), &[]), how });
            }
            for id in intent.plan.off.iter().filter(|id| weave.in_buffer(**id)) {
                let mut off = weave.with_dependents(*id);
                off.retain(|other| weave.in_buffer(*other));
                asked.push(Candidate { plan: Plan::switch(&[], &off), how });
            }
        }
        // Without the mark of its rejection a hunk of this kind would be looked for anyway.
        let ghosts = self.flow.ghosts.iter().filter(|id| weave.is_refused(**id) && !weave.in_buffer(**id));
        asked.extend(ghosts.map(|id| {
            let plan = Plan::switch(&weave.with_prerequisites(*id), &[]);
            Candidate { plan, how: How::Seen }
        }));
        asked
    }

    /// The rejected and withdrawn hunks that are out of the text. Not those that are being recorded: nobody has seen them yet.
    pub(crate) fn refused(&self) -> Vec<Candidate> {
        let Some(weave) = &self.weave else { return Vec::new() };
        let is_out = |id: &HunkId| weave.is_refused(*id) && !weave.in_buffer(*id);
        let refused = weave.hunks().filter(|id| is_out(id) && id.order() < self.owners.len());
        refused
            .map(|id| Candidate { plan: Plan::switch(&weave.with_prerequisites(id), &[]), how: How::Seen })
            .collect()
    }

    /// Whether a text is exactly what the delivery under way makes of the present one.
    pub(crate) fn shows_delivery(&self, text: &Text) -> bool {
        self.text_delivered().is_some_and(|delivered| delivered == *text)
    }

    /// What the delivery under way makes of the present text.
    pub(crate) fn text_delivered(&self) -> Option<Text> {
        let (flight, weave) = (self.flow.flight.as_ref()?, self.weave.as_ref()?);
        let mut trial = weave.clone();
        trial.carry_out(&flight.plan).ok()?;
        Some(trial.buffer().clone())
    }

    /// Whether the editor says that it has carried out the delivery under way.
    pub(crate) fn says_delivered(&self) -> bool {
        self.flow.flight.as_ref().is_some_and(|flight| flight.applied)
    }

    /// Whether a hunk was sent to the editor in a delivery that was given up.
    pub(crate) fn is_ghost(&self, id: HunkId) -> bool {
        self.flow.ghosts.contains(&id)
    }

    /// The decision that an intent makes about a hunk, with the reason for it.
    pub(crate) fn wanted(&self, token: u64, id: HunkId) -> Option<(Decision, Option<String>)> {
        let intent = self.flow.intents.iter().find(|intent| intent.token == token)?;
        if !intent.plan.on.contains(&id) && !intent.plan.off.contains(&id) {
            return None;
        }
        Some((intent.decision?, intent.reason.clone()))
    }

    /// The intent that wants a hunk in the text, or out of it.
    pub(crate) fn intent_for(&self, id: HunkId, on: bool) -> Option<u64> {
        let wants =
            |intent: &&Intent| if on { intent.plan.on.contains(&id) } else { intent.plan.off.contains(&id) };
        self.flow.intents.iter().find(wants).map(|intent| intent.token)
    }

    /// Looks which intents the text shows now.
    pub(crate) fn landed(&mut self, now: Millis) {
        let Some(weave) = &self.weave else { return };
        let before = self.flow.intents.len();
        self.flow.intents.retain(|intent| {
            intent.plan.on.iter().any(|id| !weave.in_buffer(*id))
                || intent.plan.off.iter().any(|id| weave.in_buffer(*id))
        });
        let landed = before - self.flow.intents.len();
        self.flow.ghosts.retain(|id| !weave.in_buffer(*id));
        let Some(flight) = &self.flow.flight else {
            self.take_up_later();
            return;
        };
        let left = self.flow.intents.iter().any(|intent| flight.tokens.contains(&intent.token));
        if !left {
            self.flow.flight = None;
            self.flow.not_before = now;
        } else if flight.applied && landed == 0 {
            // The editor says that it was done, and its next text is without it: it was not.
            self.flow.again(now, false);
        }
        self.news.deliver = true;
        self.take_up_later();
    }

    /// What to send to the editor now, if anything.
    pub fn poll(&mut self, now: Millis) -> Option<Delivery> {
        let Home::Editor { version, encoding, .. } = self.home else { return None };
        if self.flow.flight.as_ref().is_some_and(|flight| now.since(flight.sent) >= PATIENCE) {
            self.flow.again(now, true);
            self.take_up_later();
        }
        self.give_up();
        // What is sent while the editor renames or removes the file would meet it under no name.
        let waits = self.flow.flight.is_some() || now < self.flow.not_before || self.is_asking();
        if waits || !self.flow.has_work() || self.out_of_step.is_some() {
            return None;
        }
        self.renew();
        self.take_up_later();
        let Some((tokens, plan)) = self.joined() else {
            self.take_up_later();
            return None;
        };
        let weave = self.weave();
        let changes = weave.preview(&plan).unwrap_or_default();
        let edits = weave.text_edits(&changes, encoding);
        if edits.is_empty() {
            // The text shows it as it is: all lines of the hunks are gone anyway.
            self.carry_out(&plan, now);
            return None;
        }
        let switches = self.delivered(&tokens);
        let number = self.flow.number();
        self.flow.flight = Some(Flight { number, tokens, plan, sent: now, applied: false });
        Some(Delivery { number, version, edits, switches })
    }

    /// What intents switch.
    fn delivered(&self, tokens: &[u64]) -> Vec<Delivered> {
        let intents = self.flow.intents.iter().filter(|intent| tokens.contains(&intent.token));
        let switches = intents.flat_map(|intent| {
            let on = intent.plan.on.iter().map(|id| (*id, true));
            let all = on.chain(intent.plan.off.iter().map(|id| (*id, false)));
            all.map(|(id, on)| (id, on, intent.decision.is_some()))
        });
        let named = |(id, on, decided)| {
            let (edit, hunk) = self.owner_of(id)?;
            Some(Delivered { hunk: edit.name_of(hunk), agent: edit.agent.clone(), on, decided })
        };
        switches.filter_map(named).collect()
    }

    /// Forgets that there may be something to deliver: whoever delivers has just looked.
    pub(crate) fn quiet_delivery(&mut self) {
        self.news.deliver = false;
    }

    /// When [`poll`](Self::poll) should be asked again, if nothing happens before.
    #[must_use]
    pub fn next_poll(&self) -> Option<Millis> {
        if self.out_of_step.is_some() || self.is_asking() {
            return None;
        }
        match &self.flow.flight {
            Some(flight) => Some(flight.sent.after(PATIENCE)),
            None => self.flow.has_work().then_some(self.flow.not_before),
        }
    }

    /// Takes over the editor's answer to a delivery.
    pub fn answered(&mut self, number: u64, applied: bool, now: Millis) {
        let Some(flight) = self.flow.flight.as_mut().filter(|flight| flight.number == number) else { return };
        flight.applied = applied;
        if !applied {
            self.flow.again(now, false);
            self.take_up_later();
        }
        self.news.deliver = true;
    }

    /// All intents that are valid together, as one plan. One that is no longer valid is given up.
    fn joined(&mut self) -> Option<(Vec<u64>, Plan)> {
        let mut tokens = Vec::new();
        let mut plan = Plan::default();
        let mut invalid = Vec::new();
        let mut intents = self.flow.intents.clone();
        intents.retain(|intent| intent.is_recorded);
        let weave = self.weave();
        for intent in intents {
            let more = plan.clone().and(&intent.plan);
            let both_ways = more.on.iter().any(|hunk| more.off.contains(hunk));
            // What two plans do to lines of the person's would be done twice.
            let twice = !intent.plan.only_switches()
                && !plan.only_switches()
                && intent
                    .plan
                    .on
                    .iter()
                    .chain(&intent.plan.off)
                    .any(|hunk| plan.on.contains(hunk) || plan.off.contains(hunk));
            if both_ways || twice {
                // One after the other, then.
                continue;
            }
            match weave.preview(&more) {
                Ok(_) => {
                    plan = more;
                    tokens.push(intent.token);
                }
                Err(error) if tokens.is_empty() => invalid.push((intent.token, error.to_string())),
                // Not together with the others: it has its turn when they are done.
                Err(_) => {}
            }
        }
        for (token, why) in invalid {
            self.flow.intents.retain(|intent| intent.token != token);
            self.notices.push(format!("A decision could not be carried out: {why}. Decide again."));
            self.news.review = true;
        }
        (!tokens.is_empty()).then_some((tokens, plan))
    }

    /// The change of the text that comes next where no editor has to be asked.
    pub(crate) fn next_plan(&mut self) -> Option<Plan> {
        self.renew();
        self.take_up_later();
        self.joined().map(|(_, plan)| plan)
    }

    fn give_up(&mut self) {
        let before = self.flow.intents.len();
        self.flow.intents.retain(|intent| intent.tries < TRIES);
        if self.flow.intents.len() < before {
            self.notices.push(format!(
                "The editor did not take over an edit in {}, though it was sent {TRIES} times. It is still offered: \
                 accept it again when you are not typing.",
                self.uri
            ));
            self.news.review = true;
        }
    }

    /// Makes a change of the text that needs no editor, and brings the decisions after it.
    pub(crate) fn carry_out(&mut self, plan: &Plan, now: Millis) -> bool {
        let wanted = |id: &HunkId, on: bool| (*id, on, self.intent_for(*id, on));
        let switched: Vec<(HunkId, bool, Option<u64>)> = {
            let on = plan.on.iter().map(|id| wanted(id, true));
            on.chain(plan.off.iter().map(|id| wanted(id, false))).collect()
        };
        if self.weave().carry_out(plan).is_err() {
            return false;
        }
        self.snapshots.text_changed();
        for (id, on, token) in switched {
            self.note_switch(id, on);
            if let Some((decision, reason)) = token.and_then(|token| self.wanted(token, id)) {
                self.set_decision(id, decision, reason);
            }
        }
        self.news.review = true;
        self.landed(now);
        true
    }
}
