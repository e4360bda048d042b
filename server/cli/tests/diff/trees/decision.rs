//! What becomes of a decision, told from the edits alone: what it decides, or what stands against it.

use std::collections::BTreeSet;

use super::oracle::{Now, Op, Oracle, Part, Status};

/// What is decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Edit(usize),
    Hunk(Part),
    Conversation(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub target: Target,
    pub status: Status,
    /// What it needs is decided with it.
    pub with_others: bool,
}

/// What stands against a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Against {
    /// It rests on lines that are out.
    BuildsOn,
    /// Lines that are in rest on it.
    BuiltOnBy,
    /// Lines came into the file that it made.
    Since,
    /// What was done to the file later has to be undone with it.
    After,
    /// What was done to the file later stands in its way.
    UnderLater,
    /// What was done to the file earlier has to be done with it.
    Before,
    /// Nothing leads to the file as it found it.
    NoWay,
    /// The file would have the lines of another making, too.
    Beside,
    /// The file was made anew, and has the lines of that.
    MadeAnew,
    /// The file of its lines is not there, but can be made.
    NoFile,
    /// Another hunk, which is in, takes the same line away.
    SamePlace,
}

/// Why a hunk is not decided, and the others that this is about.
#[derive(Clone, Debug)]
pub struct Reason {
    pub part: Part,
    pub against: Against,
    pub others: BTreeSet<Part>,
}

/// What is decided at once about one file, in this order.
pub struct Step {
    pub file: usize,
    pub parts: Vec<Part>,
}

/// What a decision comes to: the edits as they are then, by which steps, or why it cannot be.
pub struct Outcome {
    pub then: Oracle,
    pub steps: Vec<Step>,
    pub reasons: Vec<Reason>,
}

impl Decision {
    /// The edits that it names; of a conversation those that it changes.
    fn edits(&self, now: &Oracle) -> Vec<usize> {
        let Target::Conversation(conversation) = self.target else {
            let (Target::Edit(edit) | Target::Hunk((edit, _))) = self.target else { return Vec::new() };
            return vec![edit];
        };
        let mut all = now.edits_of(conversation);
        let pending = |edit: &usize| now.edits[*edit].status() == Status::Pending;
        if self.status == Status::Accepted && all.iter().any(pending) {
            // What was rejected stays so while there is something else to accept.
            all.retain(pending);
        }
        all.retain(|edit| now.parts_of(*edit).any(|part| now.status(part) != self.status));
        all
    }

    /// The hunks of an edit that it is about. What is decided of its lines stays so while others of them are not.
    fn parts(&self, now: &Oracle, edit: usize) -> Vec<Part> {
        if let Target::Hunk(part) = self.target {
            return vec![part];
        }
        let is_pending = |part: &Part| now.status(*part) == Status::Pending;
        let of_lines = |part: &Part| now.edits[edit].is_of_lines(part.1);
        let some = now.parts_of(edit).any(|part| of_lines(&part) && is_pending(&part));
        let rejects_all = matches!(self.target, Target::Conversation(_)) && self.status == Status::Rejected;
        let is_meant = |part: &Part| !of_lines(part) || !some || rejects_all || is_pending(part);
        now.parts_of(edit).filter(is_meant).collect()
    }

    /// Whether it says what is so already.
    pub fn is_idle(&self, now: &Oracle) -> bool {
        match self.target {
            Target::Hunk(part) => now.status(part) == self.status,
            Target::Edit(edit) => now.parts_of(edit).all(|part| now.status(part) == self.status),
            Target::Conversation(_) => self.edits(now).is_empty(),
        }
    }

    /// Whether it was asked for that a hunk is decided, by itself or with what is.
    pub fn names(&self, now: &Oracle, part: Part) -> bool {
        match self.target {
            Target::Hunk(named) => named == part,
            Target::Edit(edit) => edit == part.0,
            Target::Conversation(conversation) => now.edits[part.0].conversation == conversation,
        }
    }

    /// The edits that are decided about at once: those of one file with nothing else between them, or all of a file where only lines are
    /// decided about.
    fn runs(&self, now: &Oracle) -> Vec<Vec<usize>> {
        let mut edits = self.edits(now);
        if self.is_of_lines(now) {
            edits.sort_by_key(|edit| (now.edits[*edit].file, *edit));
        } else if self.status == Status::Rejected {
            edits.reverse();
        }
        let same = |one: &usize, next: &usize| now.edits[*one].file == now.edits[*next].file;
        edits.chunk_by(same).map(<[usize]>::to_vec).collect()
    }

    fn is_of_lines(&self, now: &Oracle) -> bool {
        self.edits(now).iter().all(|edit| matches!(now.edits[*edit].op, Op::Put(_)))
    }

    pub fn outcome(&self, now: &Oracle) -> Outcome {
        let mut left = self.runs(now);
        let (mut then, mut steps) = (now.clone(), Vec::new());
        loop {
            let tries: Vec<_> = left.iter().map(|run| Trial::of(self, &then, now).run(run)).collect();
            let Some(at) = tries.iter().position(Result::is_ok) else {
                let reasons = tries.into_iter().filter_map(Result::err).flatten().collect();
                return Outcome { then, steps, reasons };
            };
            let run = left.remove(at);
            if let Some(Ok(trial)) = tries.into_iter().nth(at) {
                steps.push(Step { file: now.edits[run[0]].file, parts: trial.decided });
                then = trial.then;
            }
        }
    }
}

/// A decision that is being made.
struct Trial<'a> {
    decision: &'a Decision,
    /// The edits as they were before all of it.
    now: &'a Oracle,
    /// It changes lines alone.
    is_of_lines: bool,
    then: Oracle,
    decided: Vec<Part>,
}

type Tried = Result<(), Reason>;

impl<'a> Trial<'a> {
    fn of(decision: &'a Decision, then: &Oracle, now: &'a Oracle) -> Self {
        let is_of_lines = decision.is_of_lines(now);
        Self { decision, now, is_of_lines, then: then.clone(), decided: Vec::new() }
    }

    /// Decides about all of a run, or says what stands against each hunk of the first edit that cannot be decided.
    fn run(mut self, run: &[usize]) -> Result<Self, Vec<Reason>> {
        let mut all = Vec::new();
        for edit in run {
            let parts = self.decision.parts(self.now, *edit);
            let (lines, file): (Vec<Part>, Vec<Part>) =
                parts.into_iter().partition(|part| self.then.edits[*edit].is_of_lines(part.1));
            let refused = match self.decision.status {
                Status::Rejected if self.is_in_pieces(*edit) => self.reject_each(&file, &lines),
                Status::Rejected => self.reject(&file, &lines),
                _ => self.accept(&file, &lines),
            };
            all.extend(refused);
            // Of a file of which only lines are decided about all is said.
            if !all.is_empty() && !self.is_of_lines {
                break;
            }
        }
        if all.is_empty() { Ok(self) } else { Err(all) }
    }

    /// Whether some hunks of an edit were accepted and others wait, so that each is named when all of a conversation is to go.
    fn is_in_pieces(&self, edit: usize) -> bool {
        let has = |status| self.now.edits[edit].statuses.contains(&status);
        let is_whole = matches!(self.decision.target, Target::Conversation(_));
        is_whole && has(Status::Pending) && has(Status::Accepted)
    }

    fn reject_each(&mut self, file: &[Part], lines: &[Part]) -> Vec<Reason> {
        let refused: Vec<Reason> = lines.iter().rev().flat_map(|part| self.reject(&[], &[*part])).collect();
        if refused.is_empty() { self.reject(file, &[]) } else { refused }
    }

    fn accept(&mut self, file: &[Part], lines: &[Part]) -> Vec<Reason> {
        for part in file {
            if let Err(reason) = self.accept_file(*part) {
                return vec![reason];
            }
        }
        let first = lines.iter().find(|part| !self.then.is_in(**part));
        if let Some(first) = first
            && let Err(reason) = self.make_file_for(*first)
        {
            return vec![reason];
        }
        lines.iter().filter_map(|part| self.accept_lines(*part).err()).collect()
    }

    fn reject(&mut self, file: &[Part], lines: &[Part]) -> Vec<Reason> {
        let makes = |part: &&Part| matches!(self.then.edits[part.0].op, Op::Make(_));
        let (made, other): (Vec<&Part>, Vec<&Part>) = file.iter().partition(makes);
        for part in &made {
            if self.then.is_in(**part)
                && let Err(reason) = self.lines_since(**part)
            {
                return vec![reason];
            }
        }
        for part in other {
            if let Err(reason) = self.reject_file(*part) {
                return vec![reason];
            }
        }
        let refused: Vec<Reason> = lines.iter().filter_map(|part| self.reject_lines(*part).err()).collect();
        if !refused.is_empty() {
            return refused;
        }
        made.into_iter().filter_map(|part| self.reject_file(*part).err()).collect()
    }

    fn decide(&mut self, part: Part) {
        self.then.set(part, self.decision.status);
        self.decided.push(part);
    }

    /// Whether others may be decided with a hunk: those that are named, or all.
    fn may_take(&self, part: Part, against: Against, others: BTreeSet<Part>) -> Tried {
        let may = |other: &Part| self.decision.with_others || self.decision.names(self.now, *other);
        if others.iter().all(may) { Ok(()) } else { Err(Reason { part, against, others }) }
    }

    /// Whether a hunk goes by itself with another: of one edit that is named as a whole, or of a conversation that changes lines alone.
    fn is_of_the_same(&self, part: Part, other: Part) -> bool {
        match self.decision.target {
            Target::Hunk(_) => false,
            Target::Conversation(_) if self.is_of_lines => self.decision.names(self.now, other),
            Target::Edit(_) | Target::Conversation(_) => part.0 == other.0,
        }
    }

    fn accept_lines(&mut self, part: Part) -> Tried {
        if self.then.is_in(part) {
            self.decide(part);
            return Ok(());
        }
        let all = self.then.below(part);
        let others = all.iter().copied().filter(|other| *other != part && !self.is_of_the_same(part, *other));
        self.may_take(part, Against::BuildsOn, others.collect())?;
        for part in &all {
            let rivals = self.then.rivals(*part).into_iter();
            let others: BTreeSet<Part> = rivals.filter(|other| self.then.is_in(*other)).collect();
            if !others.is_empty() {
                return Err(Reason { part: *part, against: Against::SamePlace, others });
            }
        }
        let others: BTreeSet<Part> = all.iter().flat_map(|part| self.made_beside(*part)).collect();
        if !others.is_empty() {
            return Err(Reason { part, against: Against::MadeAnew, others });
        }
        all.into_iter().for_each(|part| self.decide(part));
        Ok(())
    }

    /// The lines of other makings that are in the file of one, where it does not rest on them.
    fn made_beside(&self, part: Part) -> BTreeSet<Part> {
        let makes = |edit: usize| matches!(self.then.edits[edit].op, Op::Make(_));
        if !makes(part.0) || self.then.is_in(part) {
            return BTreeSet::new();
        }
        let rests_on = self.then.closure(part, |part| self.then.needs(part));
        let is_beside = |(edit, hunk): &Part| {
            *hunk == 2 && makes(*edit) && self.then.edits[*edit].file == self.then.edits[part.0].file
        };
        let all = self.then.parts().filter(is_beside);
        all.filter(|other| self.then.is_in(*other) && !rests_on.contains(other)).collect()
    }

    fn reject_lines(&mut self, part: Part) -> Tried {
        let all = self.then.above(part);
        let others = all.iter().copied().filter(|other| *other != part && !self.is_of_the_same(part, *other));
        self.may_take(part, Against::BuiltOnBy, others.collect())?;
        all.into_iter().for_each(|part| self.decide(part));
        Ok(())
    }

    /// Makes the file that lines are to come into, where it is not there and was not removed.
    fn make_file_for(&mut self, lines: Part) -> Tried {
        let file = self.then.edits[lines.0].file;
        let of_existence = |at: &usize| {
            let edit = &self.then.edits[*at];
            edit.file == file && matches!(edit.op, Op::Make(_) | Op::Remove)
        };
        let all: Vec<usize> = (0..self.then.edits.len()).filter(of_existence).collect();
        let last = all.iter().rfind(|at| self.then.is_in((**at, 1)));
        let is_removed = last.is_some_and(|at| matches!(self.then.edits[*at].op, Op::Remove));
        let maker =
            all.iter().rfind(|at| **at <= lines.0).map(|at| (*at, 1)).filter(|maker| {
                matches!(self.then.edits[maker.0].op, Op::Make(_)) && !self.then.is_in(*maker)
            });
        let Some(maker) = maker.filter(|_| !is_removed && !self.found(file).exists) else { return Ok(()) };
        if !self.is_of_the_same(lines, maker) {
            self.may_take(lines, Against::NoFile, BTreeSet::from([maker]))?;
        }
        self.accept_file(maker)
    }

    fn found(&self, file: usize) -> Now {
        self.then.file(file).unwrap_or_else(|| panic!("no edits of a file that go together"))
    }

    /// Whether a file is as an edit found it, or left it.
    fn is_as(&self, edit: usize, left: bool) -> bool {
        let now = self.found(self.then.edits[edit].file);
        match &self.then.edits[edit].op {
            Op::Make(_) => now.exists == left,
            Op::Remove => now.exists != left,
            Op::Move(from, to) => now.name == *if left { to } else { from },
            Op::Put(_) => true,
        }
    }

    /// The edits that set what this one sets of its file.
    fn setting_the_same(&self, edit: usize) -> Vec<usize> {
        let is_move = |edit: usize| matches!(self.then.edits[edit].op, Op::Move(..));
        let same = |other: &usize| {
            let Self { then, .. } = self;
            let is_put = matches!(then.edits[*other].op, Op::Put(_));
            *other != edit
                && !is_put
                && then.edits[*other].file == then.edits[edit].file
                && is_move(*other) == is_move(edit)
        };
        (0..self.then.edits.len()).filter(same).collect()
    }

    fn later_in(&self, edit: usize) -> Vec<usize> {
        let all = self.setting_the_same(edit).into_iter();
        all.filter(|other| *other > edit && self.then.is_in((*other, 1))).collect()
    }

    fn accept_file(&mut self, part: Part) -> Tried {
        let edit = part.0;
        if self.then.is_in(part) {
            self.decide(part);
            return Ok(());
        }
        let refused = |against, others: BTreeSet<Part>| Err(Reason { part, against, others });
        let later: BTreeSet<Part> = self.later_in(edit).into_iter().map(|other| (other, 1)).collect();
        if !later.is_empty() {
            return refused(Against::UnderLater, later);
        }
        if !self.is_as(edit, false) {
            let Some(way) = self.way_to(edit) else { return refused(Against::NoWay, BTreeSet::new()) };
            self.may_take(part, Against::Before, way.iter().map(|other| (*other, 1)).collect())?;
            for other in way {
                self.accept_file((other, 1))?;
            }
            return self.accept_file(part);
        }
        let beside = self.lines_beside(edit);
        if !beside.is_empty() {
            return refused(Against::Beside, beside);
        }
        self.decide(part);
        Ok(())
    }

    /// The earlier edits that, done in this order, leave the file as this one found it.
    fn way_to(&self, edit: usize) -> Option<Vec<usize>> {
        let (mut way, mut next) = (Vec::new(), edit);
        while !self.is_as(next, false) {
            let leads = |other: &usize| {
                let ops = (&self.then.edits[*other].op, &self.then.edits[next].op);
                *other < next
                    && !self.then.is_in((*other, 1))
                    && match ops {
                        (Op::Move(_, to), Op::Move(from, _)) => to == from,
                        (one, next) => matches!(one, Op::Make(_)) != matches!(next, Op::Make(_)),
                    }
            };
            next = self.setting_the_same(next).into_iter().rfind(leads)?;
            way.push(next);
        }
        way.reverse();
        Some(way)
    }

    /// The lines of earlier makings, which are in, that a making would have the file beside its own.
    fn lines_beside(&self, edit: usize) -> BTreeSet<Part> {
        let makes = |edit: usize| matches!(self.then.edits[edit].op, Op::Make(_));
        if !makes(edit) {
            return BTreeSet::new();
        }
        let own = self.then.below((edit, 2));
        if own.iter().any(|part| self.then.rivals(*part).iter().any(|other| self.then.is_in(*other))) {
            // Then its lines do not come in anyway.
            return BTreeSet::new();
        }
        let rests_on = self.then.closure((edit, 2), |part| self.then.needs(part));
        let file = self.then.edits[edit].file;
        let earlier = (0..edit).filter(|other| makes(*other) && self.then.edits[*other].file == file);
        earlier
            .map(|other| (other, 2))
            .filter(|part| self.then.is_in(*part) && !rests_on.contains(part))
            .collect()
    }

    /// Whether the lines that have come into a file since it was made may go with it.
    fn lines_since(&self, part: Part) -> Tried {
        let edit = &self.then.edits[part.0];
        let since = self.then.parts().filter(|other| {
            let (at, hunk) = *other;
            let is_of_file = at >= part.0 && self.then.edits[at].file == edit.file;
            is_of_file && self.then.edits[at].is_of_lines(hunk) && self.then.is_in(*other)
        });
        let others = since.filter(|other| !self.is_of_the_same(part, *other)).collect();
        self.may_take(part, Against::Since, others)
    }

    fn reject_file(&mut self, part: Part) -> Tried {
        let edit = part.0;
        if !self.then.is_in(part) {
            self.decide(part);
            return Ok(());
        }
        let later = self.later_in(edit);
        if !later.is_empty() {
            self.may_take(part, Against::After, later.iter().map(|other| (*other, 1)).collect())?;
            for other in later.into_iter().rev() {
                self.reject_file((other, 1))?;
            }
        }
        if matches!(self.then.edits[edit].op, Op::Make(_)) {
            self.lines_since(part)?;
            let file = self.then.edits[edit].file;
            let since = |(at, hunk): &Part| {
                let other = &self.then.edits[*at];
                *at >= edit && other.file == file && other.is_of_lines(*hunk) && other.has(*hunk)
            };
            let since: Vec<Part> = self.then.parts().filter(since).collect();
            since.into_iter().for_each(|part| self.decide(part));
        }
        self.decide(part);
        Ok(())
    }
}
