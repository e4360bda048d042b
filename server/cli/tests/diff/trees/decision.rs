//! What becomes of a decision, told from the edits alone: what it decides, or what stands against it.

use std::collections::BTreeSet;

use super::oracle::{Op, Oracle, Part, Status};
use super::trial::{Refused, SoFar, Trial};

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
    /// Another hunk, which is in or was proposed first, takes the same line away.
    SamePlace,
    /// The editor that has the file open has not saved it.
    NotSaved,
    /// Lines of a file that an editor has open would be changed right before.
    LinesFirst,
    /// An editor that has the file open would have to do several things with it.
    Open,
    /// Another file has the name.
    Name,
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
    /// The edits as they would be where two files had one name.
    pub clashing: Vec<Oracle>,
}

impl Decision {
    /// The edits that it names; of a conversation those that it changes.
    pub fn edits(&self, now: &Oracle) -> Vec<usize> {
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
    pub fn parts(&self, now: &Oracle, edit: usize) -> Vec<Part> {
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

    pub fn is_of_lines(&self, now: &Oracle) -> bool {
        self.edits(now).iter().all(|edit| matches!(now.edits[*edit].op, Op::Put(_)))
    }

    pub fn outcome(&self, now: &Oracle) -> Outcome {
        let mut left = self.runs(now);
        let (mut so_far, mut steps) = (SoFar { then: now.clone(), switched: BTreeSet::new() }, Vec::new());
        while !left.is_empty() {
            let mut tries: Vec<_> = left.iter().map(|run| Trial::of(self, &so_far, now).run(run)).collect();
            let clashes = so_far.then.clashes();
            let fits = |may_share: bool| {
                let fits = |trial: &Trial<'_>| may_share || trial.then.clashes() <= clashes;
                tries.iter().position(|tried| tried.as_ref().is_ok_and(fits))
            };
            // Files share names for a while only where it has to be.
            let Some(at) = fits(false).or_else(|| fits(true)) else {
                let refused: Vec<Refused> = tries.into_iter().filter_map(Result::err).collect();
                let (reasons, clashing): (Vec<_>, Vec<_>) =
                    refused.into_iter().map(|refused| (refused.reasons, refused.clashing)).unzip();
                let (reasons, clashing) = (reasons.concat(), clashing.concat());
                return Outcome { then: so_far.then, steps, reasons, clashing };
            };
            let run = left.remove(at);
            if let Ok(trial) = tries.remove(at) {
                steps.push(Step { file: now.edits[run[0]].file, parts: trial.decided });
                so_far = SoFar { then: trial.then, switched: trial.switched };
            }
        }
        Outcome { then: so_far.then, steps, reasons: Vec::new(), clashing: Vec::new() }
    }
}
