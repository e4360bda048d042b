//! What has to be so, told from the edits alone: the files that those which are in make, and what stands against a decision or a patch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

pub type Tree = BTreeMap<String, String>;

#[derive(Clone, Debug)]
pub enum Op {
    Make(Vec<String>),
    /// A line in the place of another.
    Put(String, String),
    Move(String, String),
    Remove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    Accepted,
    Rejected,
}

#[derive(Clone, Debug)]
pub struct Edit {
    pub id: String,
    pub conversation: usize,
    pub file: usize,
    pub op: Op,
    /// The edit that made the lines that it changes, if one did.
    pub over: Option<usize>,
    /// The edits that made its file before, and were out when it was made.
    pub without: Vec<usize>,
    /// The edits that changed lines of its file which it has taken the place of.
    pub onto: Vec<usize>,
    pub status: Status,
}

impl Status {
    pub fn word(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Accepted => "accepted",
            Status::Rejected => "rejected",
        }
    }
}

impl Edit {
    pub fn is_in(&self) -> bool {
        self.status != Status::Rejected
    }
}

/// A file as it was before the first edit of it.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub lines: Option<Vec<String>>,
}

/// A file as the edits that are in make it.
#[derive(Clone, Debug)]
pub struct Now {
    pub name: String,
    pub exists: bool,
    pub lines: Vec<String>,
    pub made: Option<usize>,
}

/// What has to be so.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    pub files: Vec<File>,
    pub edits: Vec<Edit>,
    /// The files that were called so last; the last one has the name.
    pub called: HashMap<String, Vec<usize>>,
}

impl Oracle {
    /// A file with the edits that are in, in the order in which they were made; none if one of them does not go with those before it.
    pub fn file(&self, file: usize) -> Option<Now> {
        let File { name, lines } = self.files[file].clone();
        let (exists, lines) = (lines.is_some(), lines.unwrap_or_default());
        let mut now = Now { name, exists, lines, made: None };
        for (at, edit) in self.edits.iter().enumerate().filter(|(_, edit)| edit.file == file && edit.is_in())
        {
            match &edit.op {
                Op::Make(lines) => {
                    if now.exists {
                        return None;
                    }
                    (now.exists, now.lines, now.made) = (true, lines.clone(), Some(at));
                }
                Op::Remove if !now.exists => return None,
                Op::Remove => now.exists = false,
                Op::Move(from, _) if now.name != *from => return None,
                Op::Move(_, to) => now.name.clone_from(to),
                Op::Put(old, new) => {
                    if edit.over.is_some_and(|made| !self.edits[made].is_in()) {
                        return None;
                    }
                    if edit.over == now.made
                        && let Some(line) = now.lines.iter_mut().find(|line| *line == old)
                    {
                        line.clone_from(new);
                    }
                }
            }
        }
        Some(now)
    }

    /// The tree; none if there is none, as edits do not go together, or two files have one name or one of them would be a folder of the other.
    pub fn tree(&self) -> Option<Tree> {
        let mut tree = Tree::new();
        for file in 0..self.files.len() {
            let now = self.file(file)?;
            if now.exists && tree.insert(now.name, now.lines.concat()).is_some() {
                return None;
            }
        }
        let is_apart = |name: &String| !tree.keys().any(|other| is_above(other, name));
        tree.keys().all(is_apart).then_some(tree)
    }

    /// The same with other statuses.
    pub fn with(&self, edits: &[usize], status: Status) -> Self {
        let mut other = self.clone();
        for at in edits {
            other.edits[*at].status = status;
        }
        other
    }

    /// Whether lines are to be decided about that nobody sees: of a file that was made anew since.
    pub fn is_of_hidden_lines(&self, edits: &[usize]) -> bool {
        edits.iter().any(|at| {
            let Edit { file, op, over, .. } = &self.edits[*at];
            matches!(op, Op::Put(..)) && self.file(*file).is_none_or(|now| now.made != *over)
        })
    }

    /// The files that are to be made anew over lines that another edit, which is in, has changed since, or over lines of one that is out.
    pub fn over_changed_lines(&self, edits: &[usize]) -> BTreeSet<usize> {
        let made = edits.iter().filter(|at| matches!(self.edits[**at].op, Op::Make(_)));
        let changed = |at: usize| {
            self.edits.iter().enumerate().any(|(other, edit)| {
                let lines = edit.file == self.edits[at].file && matches!(edit.op, Op::Put(..));
                lines && edit.over != Some(at) && edit.is_in() == (other > at)
            })
        };
        made.copied().filter(|at| changed(*at)).map(|at| self.edits[at].file).collect()
    }

    /// The edits of others that a patch of all of these has to have on both sides, as makings of files took the place of their lines, and those
    /// that it can have on neither, as they change lines that makings are to take the place of.
    pub fn beside(&self, all: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut both, mut neither) = (Vec::new(), Vec::new());
        for at in all.iter().copied().filter(|at| matches!(self.edits[*at].op, Op::Make(_))) {
            let made = &self.edits[at];
            let others = (0..self.edits.len()).filter(|other| !all.contains(other));
            for other in others {
                let edit = &self.edits[other];
                if made.onto.contains(&other) && !edit.is_in() {
                    both.push(other);
                }
                let is_put = edit.file == made.file && matches!(edit.op, Op::Put(..));
                if is_put && other > at && edit.is_in() && !made.is_in() && edit.over == made.over {
                    neither.push(other);
                }
            }
        }
        (both, neither)
    }

    /// Whether a file is made anew and has the lines of another making yet, which was out by then and is in now.
    pub fn is_beside_other_lines(&self, edits: &[usize]) -> bool {
        let is_in = |other: &usize| self.edits[*other].is_in();
        edits.iter().map(|at| &self.edits[*at]).any(|edit| edit.is_in() && edit.without.iter().any(is_in))
    }

    /// Whether other edits, which are in, removed, made or moved a file after one of these.
    pub fn is_built_on(&self, edits: &[usize]) -> bool {
        let is_move = |op: &Op| matches!(op, Op::Move(..));
        let same = |one: &Op, other: &Op| {
            let text = |op: &Op| matches!(op, Op::Put(..));
            !text(one) && !text(other) && is_move(one) == is_move(other)
        };
        let later = |at: usize| (at + 1..self.edits.len()).filter(|other| !edits.contains(other));
        edits.iter().any(|at| {
            let edit = &self.edits[*at];
            later(*at)
                .map(|other| &self.edits[other])
                .any(|other| other.is_in() && other.file == edit.file && same(&edit.op, &other.op))
        })
    }

    /// Notes which file has which name, as far as an edit or a decision has changed that.
    pub fn note(&mut self, file: usize, before: Option<&Now>) {
        let Some(now) = self.file(file) else { return };
        if before.is_none_or(|before| before.name != now.name || (now.exists && !before.exists)) {
            self.called.values_mut().for_each(|files| files.retain(|other| *other != file));
            let last = self.called.get(&now.name).and_then(|files| files.last().copied());
            // One that is gone takes no name from one that is there.
            let behind =
                !now.exists && last.and_then(|other| self.file(other)).is_some_and(|other| other.exists);
            let called = self.called.entry(now.name).or_default();
            called.insert(called.len() - usize::from(behind), file);
        }
    }
}

/// Whether a name is that of a folder on the way to another.
pub fn is_above(name: &str, other: &str) -> bool {
    Path::new(other).ancestors().skip(1).any(|above| above == Path::new(name))
}
