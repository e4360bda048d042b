//! The agents: what each has read, and edits by anchors that are right, stale or wrong. An edit goes the way of `agent/edit.rs`, and may
//! be held up between any two of its steps.

use std::ops::Range;

use hashline_anchor::{Operation, Patch, RawOperation, line_hash};
use hashline_history::{ConversationId, Decision, EditId, HunkRef};
use hashline_text::{FileHash, HashPrefix};
use hashline_weave::{Conflict, View};
use hashline_workspace::Refusal;
use hashline_workspace::document::{
    Change, HunkState, HunkView, Located, Mode, Proposal, Proposed, Refused, Resolution,
};

use crate::atom::{Atoms, Maker, atoms, readable};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::expect::{expected, right_lines};
use crate::model::{Fault, Hunk};
use crate::page;

/// A text that an agent was given.
#[derive(Clone, Debug)]
pub struct Memory {
    desk: usize,
    hash: FileHash,
    pub lines: Vec<String>,
    pub seen: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub struct Agent {
    name: String,
    memories: Vec<Memory>,
    turn: usize,
}

/// How an agent gets its anchors wrong, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    None,
    Number,
    Hash,
    File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Replace,
    Delete,
    After,
    Before,
    Start,
}

/// One operation and the lines that it means, in the text that the agent was given.
#[derive(Clone, Debug)]
pub struct Op {
    pub verb: Verb,
    pub lines: Range<usize>,
    pub content: Vec<String>,
    raw: RawOperation,
}

/// An edit that an agent wants.
#[derive(Clone, Debug)]
pub struct Wish {
    agent: usize,
    pub memory: Memory,
    prefix: HashPrefix,
    pub ops: Vec<Op>,
    pub slip: Slip,
    pub proposal: Proposal,
}

impl Wish {
    /// The same as a diff, for some of those that a diff can say: they replace lines by others.
    fn patch(&self) -> Option<Patch> {
        let lines = &self.memory.lines;
        let said = |op: &Op| {
            matches!(op.verb, Verb::Replace | Verb::Delete)
                && !lines[op.lines.clone()].iter().any(|line| op.content.contains(line))
        };
        if self.slip != Slip::None || !atoms_id(&self.ops).is_multiple_of(2) || !self.ops.iter().all(said) {
            return None;
        }
        let mut diff = String::new();
        for op in &self.ops {
            let (at, old, new) = (op.lines.start + 1, op.lines.len(), op.content.len());
            diff.push_str(&format!("@@ -{at},{old} +{at},{new} @@\n"));
            lines[op.lines.clone()].iter().for_each(|line| diff.push_str(&format!("-{line}\n")));
            op.content.iter().for_each(|line| diff.push_str(&format!("+{line}\n")));
        }
        Patch::parse(&diff, "a file").ok()
    }
}

/// An edit on its way.
#[derive(Clone, Debug)]
pub struct Flight {
    wish: Wish,
    located: Located,
    resolved: Resolution,
    proposed: Option<Proposed>,
    /// The agent view that it was woven into.
    before: Vec<String>,
}

impl Flight {
    pub fn is_provisional(&self) -> bool {
        self.proposed.is_some()
    }
}

impl Agent {
    pub fn new(number: usize) -> Self {
        Self { name: format!("agent{number}"), memories: Vec::new(), turn: 0 }
    }

    fn remember(&mut self, memory: Memory) {
        if let Some(known) = self.memories.iter_mut().find(|m| m.desk == memory.desk && m.hash == memory.hash)
        {
            known.seen.extend(memory.seen);
            return;
        }
        self.memories.push(memory);
        if self.memories.len() > 6 {
            self.memories.remove(0);
        }
    }

    /// Reads a document, all of it or some lines.
    pub fn read(
        &mut self,
        at: usize,
        desk: &mut Desk,
        dice: &mut Dice,
        room: &mut Room,
    ) -> Result<(), Fault> {
        let view = if dice.chance(90) { View::Agent } else { View::Buffer };
        desk.agent_view()?;
        let mut served = match desk.document.serve(view) {
            Ok(served) => served,
            Err(_) if desk.out => {
                room.tally.kept_out += 1;
                return Ok(());
            }
            Err(error) => return Err(format!("in step, and not served: {error}")),
        };
        let hash = served.hash();
        let text = served.text().to_string();
        let lines: Vec<String> = page::contents(&text).into_iter().map(str::to_owned).collect();
        let shown = if dice.chance(50) || lines.is_empty() {
            0..lines.len()
        } else {
            let from = dice.below(lines.len());
            from..dice.within(from, lines.len())
        };
        room.trace.say(|| {
            let (uri, hash) = (&desk.uri, hash.short());
            format!("{} reads {uri} lines {shown:?} of {}, hash {hash}, {view:?}", self.name, lines.len())
        });
        desk.document.served(&served, hash, shown.clone(), room.now);
        desk.shown.entry(hash).or_default().push(shown.clone());
        self.remember(Memory { desk: at, hash, lines, seen: vec![shown] });
        Ok(())
    }

    /// Thinks of an edit of something that it has read.
    pub fn wish(&mut self, number: usize, at: usize, atoms: &mut Atoms, dice: &mut Dice) -> Option<Wish> {
        let own: Vec<&Memory> = self.memories.iter().filter(|memory| memory.desk == at).collect();
        let latest = own.last()?;
        let memory = if dice.chance(60) { (*latest).clone() } else { (*dice.pick(&own)?).clone() };
        let slip = dice.weighted(&[(82, Slip::None), (9, Slip::Number), (6, Slip::Hash), (3, Slip::File)]);
        let wanted = dice.weighted(&[(60, 1), (25, 2), (15, 3)]);
        let mut ops: Vec<Op> = Vec::new();
        for _ in 0..wanted {
            if let Some(op) = op(&memory, slip, &ops, atoms, dice) {
                ops.push(op);
            }
        }
        if ops.is_empty() {
            return None;
        }
        let digits = memory.hash.to_hex();
        let digits = if dice.chance(50) { &digits[..12] } else { &digits };
        let digits = if slip == Slip::File { format!("0123{}", &digits[4..]) } else { digits.to_owned() };
        let prefix = digits.parse().ok()?;
        if dice.chance(30) {
            self.turn += 1;
        }
        let id = format!("{:08x}", atoms_id(&ops));
        let proposal = Proposal {
            id: EditId::from(id),
            made: None,
            conversation: ConversationId::from(format!("conv_{}_{}", self.name, self.turn)),
            opens_conversation: false,
            agent: self.name.as_str().into(),
            connection: self.name.clone().into(),
            tool: "edit_text_file".to_owned(),
            reason: None,
            mode: if dice.chance(35) { Mode::Apply } else { Mode::Propose },
            strict: dice.chance(8),
        };
        Some(Wish { agent: number, memory, prefix, ops, slip, proposal })
    }
}

/// A number that no other edit has: that of its first character.
fn atoms_id(ops: &[Op]) -> u32 {
    let own = ops.iter().flat_map(|op| &op.content).flat_map(|line| atoms(line)).next();
    own.map_or(0, u32::from)
}

fn op(memory: &Memory, slip: Slip, others: &[Op], atoms: &mut Atoms, dice: &mut Dice) -> Option<Op> {
    let seen = dice.pick(&memory.seen)?.clone();
    let lines = &memory.lines;
    let mut verb = dice.weighted(&[
        (45, Verb::Replace),
        (15, Verb::Delete),
        (20, Verb::After),
        (15, Verb::Before),
        (5, Verb::Start),
    ]);
    // The first operation has a character of its own, for the name of the edit.
    if others.is_empty() && verb == Verb::Delete {
        verb = Verb::Replace;
    }
    if seen.is_empty() {
        verb = Verb::Start;
    }
    let from = seen.start + dice.below(seen.len());
    let len = if matches!(verb, Verb::Replace | Verb::Delete) {
        dice.weighted(&[(60, 1), (25, 2), (15, 4)]).min(seen.end - from)
    } else {
        1
    };
    let range = if verb == Verb::Start { 0..0 } else { from..from + len };
    let apart = |other: &Op| other.lines.end <= range.start || range.end <= other.lines.start;
    if !others.iter().all(apart) {
        return None;
    }
    let mut content = Vec::new();
    if verb != Verb::Delete {
        for line in 0..dice.weighted(&[(60, 1), (25, 2), (15, 3)]) {
            let generic = line > 0 && dice.chance(15);
            content.push(match (generic, dice.below(2)) {
                (true, 0) => "}".to_owned(),
                (true, _) => String::new(),
                (false, _) => {
                    let indent = " ".repeat(dice.below(3) * 2);
                    format!("{indent}let {} = proposed();", atoms.next(Maker::Agent))
                }
            });
        }
    }
    let raw = raw(verb, &range, lines, &content, slip, dice)?;
    Some(Op { verb, lines: range, content, raw })
}

fn raw(
    verb: Verb,
    range: &Range<usize>,
    lines: &[String],
    content: &[String],
    slip: Slip,
    dice: &mut Dice,
) -> Option<RawOperation> {
    let shift = if slip == Slip::Number { dice.within(1, 4) } else { 0 };
    let up = dice.chance(50);
    let anchor = |line: usize| {
        let mut hash = line_hash(&lines[line]);
        if slip == Slip::Hash {
            hash.0 ^= 0x5a;
        }
        let number = if up { line + 1 + shift } else { (line + 1).saturating_sub(shift).max(1) };
        format!("{number}:{hash}")
    };
    if slip == Slip::Number || slip == Slip::Hash {
        // By chance the wrong anchor may be right for another line.
        let hit = |line: usize| {
            let wrong = anchor(line);
            lines.iter().enumerate().any(|(at, line)| wrong == format!("{}:{}", at + 1, line_hash(line)))
        };
        if range.clone().any(hit) {
            return None;
        }
    }
    let mut text = content.join("\n");
    if content.last().is_some_and(String::is_empty) {
        // A final newline ends the last line.
        text.push('\n');
    }
    let op = match verb {
        Verb::Start => return Some(RawOperation::new("insert_after", "0:").content(text)),
        Verb::After => RawOperation::new("insert_after", anchor(range.start)).content(text),
        Verb::Before => RawOperation::new("insert_before", anchor(range.start)).content(text),
        Verb::Replace if range.len() == 1 => RawOperation::new("replace", anchor(range.start)).content(text),
        Verb::Replace => {
            RawOperation::new("replace_range", anchor(range.start)).end(anchor(range.end - 1)).content(text)
        }
        Verb::Delete if range.len() == 1 => RawOperation::new("delete", anchor(range.start)),
        Verb::Delete => RawOperation::new("delete_range", anchor(range.start)).end(anchor(range.end - 1)),
    };
    Some(op)
}

impl Desk {
    /// The first steps of an edit: find the snapshot and the lines in it.
    pub fn start_edit(&mut self, wish: Wish, room: &mut Room) -> Result<(), Fault> {
        room.trace.say(|| {
            let ops: Vec<String> = wish
                .ops
                .iter()
                .map(|op| {
                    let means = op.lines.clone().map(|at| wish.memory.lines[at].as_str());
                    let means = readable(&means.collect::<Vec<_>>().join("|"));
                    let content = readable(&op.content.join("|"));
                    format!("{:?} {:?} ({means:?}) by {content:?}", op.verb, op.raw.anchor)
                })
                .collect();
            let (name, uri, id) = (&wish.proposal.agent, &self.uri, &wish.proposal.id);
            format!(
                "{name} edits {uri} as {id}, hash {}, {:?}, slip {:?}: {}",
                wish.prefix,
                wish.proposal.mode,
                wish.slip,
                ops.join("; ")
            )
        });
        let mut now = match self.document.serve(View::Agent) {
            Ok(now) => now,
            Err(_) if self.out => {
                room.tally.kept_out += 1;
                return Ok(());
            }
            Err(error) => return Err(format!("in step, and not served: {error}")),
        };
        let hash = now.hash();
        let located = match self.document.locate(&wish.prefix, &now, hash) {
            Ok(located) => located,
            Err(refusal) => return self.refused(&wish, refusal, room),
        };
        let change = match wish.patch() {
            Some(patch) => {
                room.tally.patches += 1;
                Change::Patch(patch)
            }
            None => {
                let parse = |(at, op): (usize, &Op)| Operation::parse(at, op.raw.clone());
                let parsed: Result<_, _> = wish.ops.iter().enumerate().map(parse).collect();
                Change::Operations(parsed.map_err(|error| error.to_string())?)
            }
        };
        let resolved = match located.resolve(&change, &now) {
            Ok(resolved) => resolved,
            Err(refusal) => return self.refused(&wish, refusal, room),
        };
        self.flight = Some(Flight { wish, located, resolved, proposed: None, before: Vec::new() });
        Ok(())
    }

    /// Weaves it in.
    pub fn propose(&mut self, room: &mut Room) -> Result<(), Fault> {
        let Some(mut flight) = self.flight.take_if(|flight| !flight.is_provisional()) else { return Ok(()) };
        if self.out {
            room.tally.kept_out += 1;
            return Ok(());
        }
        let before = self.agent_lines()?;
        let outcome = self.document.propose(&flight.located, &flight.resolved, &flight.wish.proposal);
        let proposed = match outcome {
            Ok(proposed) => proposed,
            Err(Refused::Unanswered { .. }) if self.document.awaits_answer() => {
                // It waits.
                self.flight = Some(flight);
                return Ok(());
            }
            Err(refusal) => {
                let spurious = expected(&flight.wish, &before).is_ok_and(|after| after.is_some());
                if matches!(refusal, Refused::Stale { .. }) && spurious && !flight.wish.proposal.strict {
                    room.tally.spurious += 1;
                    room.trace
                        .say(|| format!("  refused though the lines stand: {}", readable(&before.join("|"))));
                }
                return self.refused(&flight.wish, refusal, room);
            }
        };
        if self.agent_lines()? != before {
            return Err("an edit that is not recorded yet is served".to_owned());
        }
        let after: Vec<String> =
            page::contents(&proposed.after.text().to_string()).into_iter().map(str::to_owned).collect();
        // An edit may take away what kept another one out.
        let may_let_in = self.has_joining_ends();
        match expected(&flight.wish, &before)? {
            Some(expected) if expected != after && !may_let_in => {
                return Err(format!(
                    "the edit makes {:?} of {:?}; expected was {:?}",
                    readable(&after.join("|")),
                    readable(&before.join("|")),
                    readable(&expected.join("|"))
                ));
            }
            _ => {}
        }
        let shown = self.shown.get(&flight.wish.memory.hash).cloned().unwrap_or_default();
        let hunks: Vec<_> = proposed.hunks.iter().map(|id| self.document.lines_of(*id)).collect();
        right_lines(&flight.wish, &hunks, &shown)?;
        room.tally.carried += u64::from(proposed.carried);
        room.tally.moved += proposed.moved.len() as u64;
        flight.proposed = Some(proposed);
        flight.before = before;
        self.flight = Some(flight);
        Ok(())
    }

    /// Whether a hunk is kept out because an ending of it would be read as one with the next.
    fn has_joining_ends(&mut self) -> bool {
        let joins = |hunk: &HunkView| hunk.state == HunkState::Conflicted(Conflict::EndingsWouldJoin);
        self.document.review_where(|_| true).edits.iter().flat_map(|edit| &edit.hunks).any(joins)
    }

    fn agent_lines(&mut self) -> Result<Vec<String>, Fault> {
        let served = self.document.serve(View::Agent).map_err(|error| error.to_string())?;
        Ok(page::contents(&served.text().to_string()).into_iter().map(str::to_owned).collect())
    }

    /// Records it and shows it, or takes it back because it cannot be recorded.
    pub fn publish(&mut self, dice: &mut Dice, room: &mut Room) -> Result<Option<(usize, Memory)>, Fault> {
        let Some(flight) = self.flight.take_if(|flight| flight.is_provisional()) else { return Ok(None) };
        let Flight { wish, before: flight_before, proposed: Some(mut proposed), .. } = flight else {
            return Ok(None);
        };
        if dice.chance(3) {
            self.document.withdraw_provisional(&proposed);
            room.tally.unwritten += 1;
            room.trace.say(|| format!("  {} could not be recorded", wish.proposal.id));
            self.agent_view()?;
            return Ok(None);
        }
        let record = proposed.new_edit(&wish.proposal);
        let applies = wish.proposal.mode == Mode::Apply && !proposed.held_below;
        let before_lines = flight_before;
        for hunk in &record.hunks {
            let number = hunk.number;
            let lines = self.document.lines_of(hunk.id.ok_or("a hunk without lines")?);
            let contents = |lines: &[hashline_text::OwnedLine]| {
                lines.iter().map(|line| line.content.clone()).collect::<Vec<_>>()
            };
            let gone: Vec<&str> = lines.removed.iter().map(|line| line.content.as_str()).collect();
            let place = hunk.line..hunk.line + gone.len();
            let rests_on = self.model.rests_on(&before_lines, place, &gone);
            let mut granted = std::collections::HashSet::from([Decision::Undecided]);
            // A rejection that waits for a delivery takes with it what was built on the hunk meanwhile.
            let below = self.model.below(&rests_on);
            if below.iter().any(|below| self.model.hunks[*below].granted.contains(&Decision::Rejected)) {
                granted.insert(Decision::Rejected);
            }
            self.model.hunks.push(Hunk {
                name: HunkRef { edit: wish.proposal.id.clone(), number },
                conversation: wish.proposal.conversation.clone(),
                removed: contents(&lines.removed),
                proposed: contents(&lines.proposed),
                decision: Decision::Undecided,
                granted,
                rests_on,
                may_come: applies,
                may_go: false,
                over_mine: false,
                forced: false,
                worn: std::collections::HashSet::new(),
                kept: std::collections::HashSet::new(),
                in_text: false,
                stored: false,
                parted: false,
                // Nobody has looked yet: what the agent had read may have been changed meanwhile.
                lost: true,
                left: false,
                asked: None,
            });
        }
        room.tally.edits += 1;
        room.tally.hunks += record.hunks.len() as u64;
        let before = self.document.text().to_string();
        self.document.publish(&mut proposed, &wish.proposal);
        if !self.document.is_open() {
            self.document.settle_on_disk(room.now);
        }
        room.trace.say(|| format!("  {} is published, {} hunks", wish.proposal.id, record.hunks.len()));
        self.model.explains(&before, &self.document.text().to_string())?;
        self.observe(true, room)?;
        self.agent_view()?;
        if self.out {
            return Ok(None);
        }
        let mut served = self.document.serve(View::Agent).map_err(|error| error.to_string())?;
        let hash = served.hash();
        let lines: Vec<String> =
            page::contents(&served.text().to_string()).into_iter().map(str::to_owned).collect();
        // The reply shows the regions; to an agent that had seen everything it shows everything.
        let near = |region: Range<usize>| region.start.saturating_sub(2)..(region.end + 2).min(lines.len());
        let seen: Vec<Range<usize>> = match proposed.seen_all {
            true => vec![Range { start: 0, end: lines.len() }],
            false => self.document.places_for_agent(&proposed.hunks).into_iter().map(near).collect(),
        };
        for range in &seen {
            self.document.served(&served, hash, range.clone(), room.now);
        }
        self.shown.entry(hash).or_default().extend(seen.iter().cloned());
        Ok(Some((wish.agent, Memory { desk: wish.memory.desk, hash, lines, seen })))
    }

    /// Brings an edit under way to its end.
    pub fn finish_flight(&mut self, room: &mut Room) -> Result<(), Fault> {
        self.propose(room)?;
        self.publish(&mut Dice::new(0, room.now.0), room)?;
        // It has waited long enough.
        self.flight = None;
        Ok(())
    }

    fn refused(&mut self, wish: &Wish, refused: Refused, room: &mut Room) -> Result<(), Fault> {
        let refusal = Refusal::from(refused);
        room.trace
            .say(|| format!("  refused: {}", readable(refusal.to_string().lines().next().unwrap_or(""))));
        match &refusal {
            Refusal::Edit(Refused::Stale { .. }) => room.tally.stale += 1,
            Refusal::Edit(Refused::Anchors { .. }) if wish.slip == Slip::None => {
                return Err(format!("right anchors were refused: {}", readable(&refusal.to_string())));
            }
            Refusal::Edit(Refused::Anchors { .. }) => room.tally.wrong_anchor += 1,
            Refusal::Edit(Refused::UnknownHash { .. }) if wish.slip != Slip::File => {
                return Err("a hash that was served is unknown".to_owned());
            }
            Refusal::Edit(Refused::UnknownHash { .. }) => room.tally.unknown_hash += 1,
            Refusal::Edit(Refused::OutOfStep { .. }) if self.out => room.tally.kept_out += 1,
            Refusal::Edit(Refused::ChangedOnDisk { .. }) if !self.document.is_open() => room.tally.stale += 1,
            Refusal::Edit(Refused::CannotWeave { .. }) => {}
            _ => return Err(format!("refused with {refusal:?}")),
        }
        Ok(())
    }
}

impl Desk {
    /// An agent takes back an edit of its own.
    pub fn withdraw(&mut self, dice: &mut Dice, room: &mut Room) -> Result<(), Fault> {
        let edits = self.document.edits().iter();
        let open = edits.filter(|edit| edit.status() == hashline_history::Status::Pending);
        let ids: Vec<EditId> = open.map(|edit| edit.id.clone()).collect();
        let Some(id) = dice.pick(&ids).filter(|_| !self.out) else { return Ok(()) };
        room.trace.say(|| format!("{id} is withdrawn"));
        room.tally.withdrawn += 1;
        let own: Vec<usize> =
            (0..self.model.hunks.len()).filter(|at| self.model.hunks[*at].name.edit == *id).collect();
        for at in own {
            let edited = self.is_edited(at);
            let hunk = &mut self.model.hunks[at];
            if hunk.decision == Decision::Undecided {
                hunk.granted.insert(Decision::Withdrawn);
                hunk.may_go = true;
                let lines = hunk.proposed.clone();
                if edited {
                    lines.iter().for_each(|line| self.model.loosen(line));
                }
            }
        }
        self.document.withdraw(id);
        self.observe(true, room)
    }

    fn is_edited(&mut self, at: usize) -> bool {
        let review = self.document.review_where(|_| true);
        let view = review.edits.iter().flat_map(|edit| &edit.hunks).nth(at);
        view.is_some_and(|view| matches!(view.state, hashline_workspace::document::HunkState::Edited(_)))
    }
}

impl Agent {
    pub fn learn(&mut self, memory: Memory) {
        self.remember(memory);
    }
}
