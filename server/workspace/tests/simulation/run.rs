//! One run: a seed, its steps, and what to leave out of it.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashline_history::Location;
use hashline_text::{DocVersion, Text};
use hashline_workspace::document::{HunkState, Millis};

use crate::agent::{Agent, Wish};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::editor::Editor;
use crate::kind::Kind;
use crate::model::Fault;
use crate::person::KEYS;
use crate::tally::Tally;
use crate::trace::Trace;

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Press,
    Read,
    Edit,
    Withdraw,
    Decide,
    Send,
    Receive,
    Deliver,
    Answer,
    Wait,
    Settle,
    Reopen,
    Misorder,
    Heal,
    /// The disk is full, or has room again.
    Fill,
}

const ACTS: [(usize, Act); 15] = [
    (330, Act::Press),
    (70, Act::Read),
    (120, Act::Edit),
    (10, Act::Withdraw),
    (120, Act::Decide),
    (80, Act::Send),
    (90, Act::Receive),
    (80, Act::Deliver),
    (50, Act::Answer),
    (25, Act::Wait),
    (25, Act::Settle),
    (8, Act::Reopen),
    (4, Act::Misorder),
    (15, Act::Heal),
    (6, Act::Fill),
];

/// Everybody and everything in a run.
struct World {
    desks: Vec<Desk>,
    agents: Vec<Agent>,
    room: Room,
    /// The desk at which something happens.
    at: usize,
}

/// What was wrong, and where.
pub struct Wrong {
    pub step: u64,
    pub kind: Kind,
    pub words: Fault,
    /// It is about a hunk of which another guess had explained the text as well.
    pub is_even: bool,
}

/// How a run ended.
pub struct End {
    pub fault: Option<Wrong>,
    /// The editors that were in it.
    pub kinds: Vec<Kind>,
    pub tally: Tally,
    pub trace: String,
}

/// Plays a run without the steps that are left out.
pub fn play(seed: u64, steps: u64, left_out: &HashSet<u64>, trace: bool) -> End {
    let room = Room {
        now: Millis(0),
        tally: Tally::default(),
        trace: if trace { Trace::kept() } else { Trace::default() },
    };
    let mut dice = Dice::new(seed, u64::MAX);
    let count = if dice.chance(20) { 2 } else { 1 };
    let desks = (0..count).map(|number| Desk::new(number, &mut dice)).collect();
    let agents = (0..dice.within(1, 4)).map(Agent::new).collect();
    let mut world = World { desks, agents, room, at: 0 };
    for desk in &world.desks {
        let (uri, kind, text) = (&desk.uri, desk.editor.kind, crate::atom::readable(&desk.editor.text));
        world.room.trace.say(|| format!("{uri} in {kind:?}: {text:?}"));
    }
    let mut fault = None;
    for step in 0..=steps {
        if left_out.contains(&step) {
            continue;
        }
        let mut dice = Dice::new(seed, step);
        let result = catch_unwind(AssertUnwindSafe(|| {
            if step == steps { world.end(&mut dice) } else { world.step(step, &mut dice) }
        }));
        world.room.tally.steps += 1;
        let result = result.unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            Err(format!("panicked: {}", words.unwrap_or_default()))
        });
        if let Err(words) = result {
            if trace {
                world.tell();
            }
            let desk = &world.desks[world.at];
            let is_even = desk
                .otherwise
                .iter()
                .any(|hunk| words.split([' ', ',']).any(|word| word == hunk.to_string()));
            fault = Some(Wrong { step, kind: desk.editor.kind, words, is_even });
            break;
        }
    }
    let kinds = world.desks.iter().map(|desk| desk.editor.kind).collect();
    End { fault, kinds, tally: world.room.tally, trace: world.room.trace.text().to_owned() }
}

impl World {
    /// Tells how everything stands.
    fn tell(&mut self) {
        for desk in &mut self.desks {
            let (uri, text) = (&desk.uri, crate::atom::readable(&desk.document.text().to_string()));
            self.room.trace.say(|| format!("{uri} is {text:?}"));
            for (edit, hunk) in desk
                .document
                .review_where(|_| true)
                .edits
                .iter()
                .flat_map(|edit| edit.hunks.iter().map(move |hunk| (&edit.edit, hunk)))
            {
                let lines = |lines: &[String]| crate::atom::readable(&lines.join("|"));
                self.room.trace.say(|| {
                    format!(
                        "  {}:{} {:?} {:?} {:?}, {:?} for {:?}{}",
                        edit.id,
                        hunk.number,
                        hunk.state,
                        hunk.decision,
                        hunk.lines,
                        lines(&hunk.proposed),
                        lines(&hunk.removed),
                        if hunk.deciding { ", under way" } else { "" },
                    )
                });
            }
        }
    }

    fn step(&mut self, step: u64, dice: &mut Dice) -> Result<(), Fault> {
        self.room.now = Millis(self.room.now.0 + dice.within(1, 60) as u64);
        let at = dice.below(self.desks.len());
        self.at = at;
        let act = dice.weighted(&ACTS);
        self.room.trace.say(|| format!("{step}: {act:?} at {} ms", self.room.now.0));
        let desk = &mut self.desks[at];
        let room = &mut self.room;
        match act {
            Act::Press => {
                let key = dice.weighted(&KEYS);
                desk.press(key, dice, room)?;
            }
            Act::Read => {
                let agent = dice.below(self.agents.len());
                self.agents[agent].read(at, desk, dice, room)?;
            }
            Act::Edit => self.edit(at, dice)?,
            Act::Withdraw => desk.withdraw(dice, room)?,
            Act::Decide => desk.decide(dice, room)?,
            Act::Send => {
                let cut = dice.chance(30).then(|| dice.below(4));
                desk.editor.send(cut);
            }
            Act::Receive => {
                for _ in 0..dice.within(1, 3) {
                    desk.receive(room)?;
                }
            }
            Act::Deliver => {
                desk.deliver(dice, room)?;
                if dice.chance(50) {
                    let cut = dice.chance(40).then(|| dice.below(4));
                    desk.editor.send(cut);
                    desk.receive(room)?;
                }
            }
            Act::Answer => {
                desk.answer(room)?;
            }
            Act::Wait => room.now = Millis(room.now.0 + dice.within(200, 2600) as u64),
            Act::Settle => desk.settle(dice, room)?,
            Act::Reopen => self.reopen(at, dice)?,
            Act::Misorder => desk.misorder(room)?,
            Act::Heal => desk.heal(room)?,
            Act::Fill => {
                desk.is_full = !desk.is_full;
                room.tally.full += u64::from(desk.is_full);
                desk.observe(true, room)?;
            }
        }
        let (desk, room) = (&mut self.desks[at], &mut self.room);
        if dice.chance(85) {
            desk.poll(room)?;
        }
        // An edit under way goes on at some time.
        if desk.flight.is_some() && dice.chance(60) {
            desk.propose(room)?;
            if dice.chance(70) {
                self.publish(at, dice)?;
            }
        }
        Ok(())
    }

    fn publish(&mut self, at: usize, dice: &mut Dice) -> Result<(), Fault> {
        if let Some((agent, memory)) = self.desks[at].publish(dice, &mut self.room)? {
            self.agents[agent].learn(memory);
        }
        Ok(())
    }

    fn edit(&mut self, at: usize, dice: &mut Dice) -> Result<(), Fault> {
        let agent = dice.below(self.agents.len());
        if self.desks[at].flight.is_some() {
            // One agent at a time.
            self.desks[at].propose(&mut self.room)?;
            self.publish(at, dice)?;
        }
        let desk = &mut self.desks[at];
        if desk.flight.is_some() {
            return Ok(());
        }
        if dice.chance(60) {
            self.agents[agent].read(at, desk, dice, &mut self.room)?;
        }
        let wish: Option<Wish> = self.agents[agent].wish(agent, at, &mut desk.atoms, dice);
        let Some(wish) = wish else { return Ok(()) };
        desk.start_edit(wish, &mut self.room)?;
        if dice.chance(70) {
            desk.propose(&mut self.room)?;
            if dice.chance(90) {
                self.publish(at, dice)?;
            }
        }
        Ok(())
    }

    fn end(&mut self, dice: &mut Dice) -> Result<(), Fault> {
        for (at, desk) in self.desks.iter_mut().enumerate() {
            self.at = at;
            desk.settle(dice, &mut self.room)?;
            if !desk.out {
                let review = desk.document.review_where(|_| true);
                let conflicts = review.edits.iter().flat_map(|edit| &edit.hunks);
                let conflicts = conflicts.filter(|hunk| matches!(hunk.state, HunkState::Conflicted(_)));
                self.room.tally.conflicts += conflicts.count() as u64;
            }
        }
        Ok(())
    }

    /// Closes a document, lets agents edit the file, and opens it again.
    fn reopen(&mut self, at: usize, dice: &mut Dice) -> Result<(), Fault> {
        let (desk, room) = (&mut self.desks[at], &mut self.room);
        desk.is_full = false;
        desk.finish_flight(room)?;
        desk.editor.send(None);
        desk.receive_all(room)?;
        if dice.chance(60) {
            desk.disk.clone_from(&desk.editor.text);
        }
        room.trace.say(|| format!("the person closes {}", desk.uri));
        desk.parcels.clear();
        desk.unanswered.clear();
        desk.answers.clear();
        desk.document.close(room.now);
        desk.model.stop();
        desk.out = false;
        desk.half = false;
        let saved = Text::from(desk.disk.as_str());
        let earlier = desk.earlier(&desk.disk);
        desk.document.found(&saved, &earlier, Location::Disk, room.now);
        desk.observe(true, room)?;
        if dice.chance(40) {
            for _ in 0..dice.within(1, 3) {
                self.edit(at, dice)?;
                let (desk, room) = (&mut self.desks[at], &mut self.room);
                desk.finish_flight(room)?;
                room.tally.on_disk += 1;
            }
        }
        let (desk, room) = (&mut self.desks[at], &mut self.room);
        desk.disk = desk.document.text().to_string();
        let version = desk.editor.version;
        let marking = desk.editor.marking.clone();
        desk.editor =
            Editor::open(desk.editor.kind, desk.disk.clone(), if dice.chance(50) { 1 } else { version });
        desk.editor.marking = marking;
        room.trace.say(|| format!("the person opens {} again", desk.uri));
        room.tally.reopenings += 1;
        let text = Text::from(desk.disk.as_str());
        let version = DocVersion(desk.editor.version);
        desk.document.reopen(&desk.uri, "text", version, desk.editor.encoding, &text, room.now);
        desk.document.set_reports(desk.editor.kind.reports());
        desk.model.stop();
        desk.observe(true, room)
    }
}

impl Desk {
    /// Two notifications arrive in the wrong order.
    fn misorder(&mut self, room: &mut Room) -> Result<(), Fault> {
        let single = |note: &crate::editor::Note| note.changes.iter().all(|change| change.span.is_some());
        if self.out || self.editor.outbox.len() < 2 || !self.editor.outbox.iter().take(2).all(single) {
            return Ok(());
        }
        self.editor.outbox.swap(0, 1);
        room.trace.say(|| format!("{}: two changes arrive in the wrong order", self.uri));
        room.tally.out_of_step += 1;
        self.out = true;
        self.model.stop();
        self.receive(room)?;
        self.receive(room)?;
        if self.document.out_of_step().is_none() {
            return Err("a version went back, and nobody noticed".to_owned());
        }
        Ok(())
    }

    /// An editor that gives the whole text heals what was out of step.
    fn heal(&mut self, room: &mut Room) -> Result<(), Fault> {
        if !self.out {
            return Ok(());
        }
        self.editor.send(None);
        self.receive_all(room)?;
        self.editor.send_all();
        self.receive_all(room)?;
        if self.out || self.document.out_of_step().is_some() {
            return Err("the whole text did not heal it".to_owned());
        }
        self.half = false;
        self.observe(true, room)
    }
}
