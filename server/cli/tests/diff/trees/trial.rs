//! One decision as it is tried on the edits of one file: what has to go with it, and what stands against it.

use std::collections::BTreeSet;

use super::decision::{Against, Decision, Reason, Target};
use super::oracle::{Now, Op, Oracle, Part, Status};

/// How far a decision is.
#[derive(Clone)]
pub struct SoFar {
    pub then: Oracle,
    /// The open files whose lines are to be switched.
    pub switched: BTreeSet<usize>,
}

/// A decision that is being made.
pub struct Trial<'a> {
    pub decision: &'a Decision,
    /// The edits as they were before all of it.
    now: &'a Oracle,
    /// It changes lines alone.
    is_of_lines: bool,
    pub then: Oracle,
    pub switched: BTreeSet<usize>,
    pub decided: Vec<Part>,
    pub clashing: Vec<Oracle>,
}

/// What stands against a decision about one file.
pub struct Refused {
    pub reasons: Vec<Reason>,
    /// The edits as they would be where two files had one name.
    pub clashing: Vec<Oracle>,
}

pub type Tried = Result<(), Reason>;

impl<'a> Trial<'a> {
    pub fn of(decision: &'a Decision, so_far: &SoFar, now: &'a Oracle) -> Self {
        let is_of_lines = decision.is_of_lines(now);
        let SoFar { then, switched } = so_far.clone();
        Self { decision, now, is_of_lines, then, switched, decided: Vec::new(), clashing: Vec::new() }
    }

    /// Decides about all of a run, or says what stands against each hunk of the first edit that cannot be decided.
    pub fn run(mut self, run: &[usize]) -> Result<Self, Refused> {
        let mut all: Vec<Reason> = self.shared_before(run).into_iter().collect();
        for edit in run {
            if !all.is_empty() && !self.is_of_lines {
                break;
            }
            let parts = self.decision.parts(self.now, *edit);
            let (lines, file): (Vec<Part>, Vec<Part>) =
                parts.into_iter().partition(|part| self.then.edits[*edit].is_of_lines(part.1));
            let refused = match self.decision.status {
                Status::Rejected if self.is_in_pieces(*edit) => self.reject_each(&file, &lines),
                Status::Rejected if self.unmakes_open(&file) => self.unmake_open(&file, &lines),
                Status::Rejected => self.reject(&file, &lines),
                _ => self.accept(&file, &lines),
            };
            if !refused.is_empty() {
                all.extend(file.iter().flat_map(|part| self.told_beside(*part)));
            }
            // Of a file of which only lines are decided about all is said.
            all.extend(refused);
        }
        if all.is_empty() {
            all.extend(self.shared_with_open(run));
        }
        if all.is_empty() { Ok(self) } else { Err(Refused { reasons: all, clashing: self.clashing }) }
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
        let file = self.then.edits[part.0].file;
        let was_in = self.then.is_in(part);
        self.then.set(part, self.decision.status);
        if self.then.is_open(file)
            && self.then.edits[part.0].is_of_lines(part.1)
            && was_in != self.then.is_in(part)
        {
            self.switched.insert(file);
        }
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
        let seen = self.then.as_agents_see(self.then.edits[part.0].file);
        for part in &all {
            // One that is out gives way to those that were made first and wait, whether it waits or was rejected.
            let is_in_the_way =
                |other: &Part| self.then.is_in(*other) || (other < part && seen.is_in(*other));
            let others: BTreeSet<Part> = self.then.rivals(*part).into_iter().filter(is_in_the_way).collect();
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

    pub fn reject_lines(&mut self, part: Part) -> Tried {
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
            let then = &self.then;
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
            self.check_closed(part)?;
            for other in way {
                self.accept_file((other, 1))?;
            }
            return self.accept_file(part);
        }
        let beside = self.lines_beside(edit);
        if !beside.is_empty() {
            return refused(Against::Beside, beside);
        }
        self.ask_editor(part)?;
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

    /// The lines that have come into a file since it was made, and what waits to rest on them.
    fn since(&self, part: Part) -> BTreeSet<Part> {
        let is_since = |(at, hunk): &Part| {
            let edit = &self.then.edits[*at];
            *at >= part.0 && edit.file == self.then.edits[part.0].file && edit.is_of_lines(*hunk)
        };
        let since = self.then.parts().filter(|other| is_since(other) && self.then.is_in(*other));
        since.flat_map(|other| self.then.above(other)).collect()
    }

    /// Whether those may go with the file.
    pub fn lines_since(&self, part: Part) -> Tried {
        let since = self.since(part).into_iter();
        let others = since.filter(|other| !self.is_of_the_same(part, *other)).collect();
        self.may_take(part, Against::Since, others)
    }

    pub fn reject_file(&mut self, part: Part) -> Tried {
        let edit = part.0;
        if !self.then.is_in(part) {
            self.decide(part);
            return Ok(());
        }
        let later = self.later_in(edit);
        if !later.is_empty() {
            self.may_take(part, Against::After, later.iter().map(|other| (*other, 1)).collect())?;
            self.check_closed(part)?;
            for other in later.into_iter().rev() {
                self.reject_file((other, 1))?;
            }
        }
        let is_making = matches!(self.then.edits[edit].op, Op::Make(_));
        if is_making {
            self.lines_since(part)?;
        }
        self.ask_editor(part)?;
        if is_making {
            self.since(part).into_iter().for_each(|part| self.decide(part));
        }
        self.decide(part);
        Ok(())
    }
}
