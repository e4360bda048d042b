//! What has to be so, told from the edits alone: the files that those which are in make, and what stands against a patch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

pub type Tree = BTreeMap<String, String>;

/// A hunk: its edit, and its number there.
pub type Part = (usize, usize);

#[derive(Clone, Debug)]
pub enum Op {
    /// A file, and these lines in it: a hunk each.
    Make(Vec<String>),
    /// Lines in the place of others, a hunk each.
    Put(Vec<(String, String)>),
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
    /// The lines of a file that was removed, in whose place it makes others.
    pub replaced: Vec<String>,
    /// Those of its hunks.
    pub statuses: Vec<Status>,
    /// Which of them were not in the text before anything was decided: an editor has the file open, or they rest on such.
    pub held: Vec<bool>,
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

/// A file on the disk while an editor has it open: what it holds, and the hunks that are in that.
#[derive(Clone, Debug)]
pub struct Saved {
    pub lines: Vec<String>,
    pub parts: BTreeSet<Part>,
}

/// What has to be so.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    pub files: Vec<File>,
    pub edits: Vec<Edit>,
    /// Those that an editor has open, as they were saved last.
    pub open: BTreeMap<usize, Saved>,
    /// The files that were called so last; the last one has the name.
    pub called: HashMap<String, Vec<usize>>,
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

impl Op {
    pub fn hunks(&self) -> usize {
        match self {
            Op::Make(_) => 2,
            Op::Put(changes) => changes.len(),
            Op::Move(..) | Op::Remove => 1,
        }
    }
}

impl Edit {
    /// It is pending while one of its hunks is, then accepted if one was.
    pub fn status(&self) -> Status {
        let has = |status| self.statuses.contains(&status);
        match (has(Status::Pending), has(Status::Accepted)) {
            (true, _) => Status::Pending,
            (_, true) => Status::Accepted,
            _ => Status::Rejected,
        }
    }

    /// Whether a hunk is in the text.
    pub fn has(&self, hunk: usize) -> bool {
        self.statuses[hunk - 1] != Status::Rejected && !self.held[hunk - 1]
    }

    pub fn is_of_lines(&self, hunk: usize) -> bool {
        matches!((&self.op, hunk), (Op::Put(_), _) | (Op::Make(_), 2))
    }

    /// What a hunk takes away.
    pub fn removed(&self, hunk: usize) -> &[String] {
        match &self.op {
            Op::Put(changes) => std::slice::from_ref(&changes[hunk - 1].0),
            Op::Make(_) if hunk == 2 => &self.replaced,
            _ => &[],
        }
    }

    fn makes(&self, hunk: usize, line: &String) -> bool {
        match &self.op {
            Op::Put(changes) => changes[hunk - 1].1 == *line,
            Op::Make(lines) => hunk == 2 && lines.contains(line),
            Op::Move(..) | Op::Remove => false,
        }
    }
}

impl Oracle {
    pub fn parts_of(&self, edit: usize) -> impl Iterator<Item = Part> + use<> {
        (1..=self.edits[edit].op.hunks()).map(move |hunk| (edit, hunk))
    }

    pub fn parts(&self) -> impl Iterator<Item = Part> {
        (0..self.edits.len()).flat_map(|edit| self.parts_of(edit))
    }

    pub fn edits_of(&self, conversation: usize) -> Vec<usize> {
        (0..self.edits.len()).filter(|edit| self.edits[*edit].conversation == conversation).collect()
    }

    pub fn is_in(&self, (edit, hunk): Part) -> bool {
        self.edits[edit].has(hunk)
    }

    pub fn status(&self, (edit, hunk): Part) -> Status {
        self.edits[edit].statuses[hunk - 1]
    }

    /// Decides about a hunk; then it is not held any more.
    pub fn set(&mut self, (edit, hunk): Part, status: Status) {
        self.edits[edit].statuses[hunk - 1] = status;
        self.edits[edit].held[hunk - 1] = false;
    }

    /// Whether a hunk is in the text, or may come into it yet.
    pub fn is_alive(&self, part: Part) -> bool {
        self.status(part) != Status::Rejected
    }

    pub fn short(&self, edit: usize) -> &str {
        &self.edits[edit].id[..8]
    }

    /// The hunk of a name, an edit's short or long one and its number.
    pub fn named(&self, name: &str) -> Option<Part> {
        let (edit, hunk) = name.split_once(':')?;
        let at = self.edits.iter().position(|other| edit.len() >= 8 && other.id.starts_with(edit))?;
        Some((at, hunk.parse().ok()?))
    }

    /// A file with the edits that are in, in the order in which they were made; none if one of them does not go with those before it.
    pub fn file(&self, file: usize) -> Option<Now> {
        let File { name, lines } = self.files[file].clone();
        let (exists, lines) = (lines.is_some(), lines.unwrap_or_default());
        let mut now = Now { name, exists, lines, made: None };
        for (at, edit) in self.edits.iter().enumerate().filter(|(_, edit)| edit.file == file) {
            match &edit.op {
                Op::Make(lines) => {
                    if edit.has(1) && std::mem::replace(&mut now.exists, true) {
                        return None;
                    }
                    if edit.has(2) {
                        (now.lines, now.made) = (lines.clone(), Some(at));
                    }
                }
                Op::Remove if edit.has(1) => {
                    if !std::mem::replace(&mut now.exists, false) {
                        return None;
                    }
                }
                Op::Move(from, to) if edit.has(1) => {
                    if now.name != *from {
                        return None;
                    }
                    now.name.clone_from(to);
                }
                Op::Put(changes) => {
                    let changes = (1..).zip(changes).filter(|(hunk, _)| edit.has(*hunk));
                    for (_, (old, new)) in changes {
                        if edit.over.is_some_and(|made| !self.is_in((made, 2))) {
                            return None;
                        }
                        if edit.over == now.made {
                            now.lines.iter_mut().find(|line| *line == old)?.clone_from(new);
                        }
                    }
                }
                Op::Remove | Op::Move(..) => {}
            }
        }
        Some(now)
    }

    /// Whether the file of lines is there, and was not made anew since.
    pub fn shows(&self, (edit, _): Part) -> bool {
        let Edit { file, op, over, .. } = &self.edits[edit];
        let over = if let Op::Make(_) = op { Some(edit) } else { *over };
        self.file(*file).is_some_and(|now| now.exists && now.made == over)
    }

    /// The tree with the texts of editors where they have a file open; none if there is none, as edits do not go together, or two files have one
    /// name or one of them would be a folder of the other.
    pub fn tree(&self) -> Option<Tree> {
        self.tree_of(|_, now| now.lines.concat())
    }

    /// The tree on the disk, which has what was saved.
    pub fn disk(&self) -> Option<Tree> {
        let saved = |file| self.open.get(&file).map(|saved| saved.lines.concat());
        self.tree_of(|file, now| saved(file).unwrap_or_else(|| now.lines.concat()))
    }

    fn tree_of(&self, text: impl Fn(usize, &Now) -> String) -> Option<Tree> {
        let mut tree = Tree::new();
        for file in 0..self.files.len() {
            let now = self.file(file)?;
            let text = text(file, &now);
            if now.exists && tree.insert(now.name, text).is_some() {
                return None;
            }
        }
        let is_apart = |name: &String| !tree.keys().any(|other| is_above(other, name));
        tree.keys().all(is_apart).then_some(tree)
    }

    /// The files that are there, and what they are now.
    pub fn living(&self) -> Vec<(usize, Now)> {
        let all = (0..self.files.len()).filter_map(|at| Some((at, self.file(at)?)));
        all.filter(|(_, now)| now.exists).collect()
    }

    /// The same with other statuses.
    pub fn with(&self, parts: &[Part], status: Status) -> Self {
        let mut other = self.clone();
        parts.iter().for_each(|part| other.set(*part, status));
        other
    }

    /// The hunks that made the lines which one takes away.
    pub fn needs(&self, (edit, hunk): Part) -> BTreeSet<Part> {
        self.edits[edit].removed(hunk).iter().filter_map(|line| self.maker(line)).collect()
    }

    /// The hunk that made a line, if one did.
    pub fn maker(&self, line: &String) -> Option<Part> {
        self.parts().find(|(edit, hunk)| self.edits[*edit].makes(*hunk, line))
    }

    /// The hunks that take away a line that this one takes away.
    pub fn rivals(&self, part: Part) -> BTreeSet<Part> {
        let removed = self.edits[part.0].removed(part.1);
        let takes = |line: &String| removed.contains(line);
        let rivals = self.parts().filter(|other| *other != part);
        rivals.filter(|(edit, hunk)| self.edits[*edit].removed(*hunk).iter().any(takes)).collect()
    }

    /// All that lead from a hunk on, itself among them.
    pub fn closure(&self, part: Part, next: impl Fn(Part) -> BTreeSet<Part>) -> BTreeSet<Part> {
        let (mut all, mut left) = (BTreeSet::from([part]), vec![part]);
        while let Some(part) = left.pop() {
            left.extend(next(part).into_iter().filter(|other| all.insert(*other)));
        }
        all
    }

    /// A hunk of lines and those that are out and that it rests on.
    pub fn below(&self, part: Part) -> BTreeSet<Part> {
        self.closure(part, |part| self.needs(part).into_iter().filter(|other| !self.is_in(*other)).collect())
    }

    /// A hunk of lines and those that are in, or wait, and rest on it.
    pub fn above(&self, part: Part) -> BTreeSet<Part> {
        self.closure(part, |part| {
            self.parts().filter(|other| self.is_alive(*other) && self.needs(*other).contains(&part)).collect()
        })
    }

    /// The lines of makings, without those, that took the place of lines of some of these: they cannot be there without them.
    pub fn in_place_of(&self, parts: &[Part]) -> Vec<Part> {
        let is_one = |part: &Part| {
            let (edit, hunk) = *part;
            let is_alone = hunk == 2 && self.is_in(*part) && !self.is_in((edit, 1));
            matches!(self.edits[edit].op, Op::Make(_)) && is_alone && !parts.contains(part)
        };
        let rests_on_some = |part: &Part| {
            let below = self.closure(*part, |part| self.needs(part));
            below.iter().any(|other| parts.contains(other))
        };
        self.parts().filter(|part| is_one(part) && rests_on_some(part)).collect()
    }

    /// The files that are to be made anew over lines that another edit, which is in, has changed since, or over lines of one that is out, or beside
    /// those of an earlier making.
    pub fn over_changed_lines(&self, edits: &[usize]) -> BTreeSet<usize> {
        let made = edits.iter().filter(|at| matches!(self.edits[**at].op, Op::Make(_)));
        let changed = |at: usize| {
            self.edits.iter().enumerate().any(|(other, edit)| {
                let lines = edit.file == self.edits[at].file && matches!(edit.op, Op::Put(..));
                let stands = |hunk| edit.has(hunk) == (other > at);
                // The lines of an earlier making are in, and no file has those of both.
                let is_earlier = edit.file == self.edits[at].file && other < at;
                let made = is_earlier && matches!(edit.op, Op::Make(_)) && edit.has(2);
                made || (lines && edit.over != Some(at) && (1..=edit.op.hunks()).any(stands))
            })
        };
        made.copied().filter(|at| changed(*at)).map(|at| self.edits[at].file).collect()
    }

    /// Whether it belongs to an edit that makes a file.
    pub fn is_making(&self, (edit, _): Part) -> bool {
        matches!(self.edits[edit].op, Op::Make(_))
    }

    /// The hunks of others that a patch of all of these has to have on both sides, as makings of files took the place of their lines, and those
    /// that it can have on neither, as they change lines that makings are to take the place of. None where changes of lines rest on others, or
    /// stand against them.
    pub fn beside(&self, all: &[Part]) -> Option<(Vec<Part>, Vec<Part>)> {
        let is_other = |part: &Part| !all.contains(part);
        let (makings, puts): (Vec<Part>, Vec<Part>) =
            all.iter().copied().partition(|part| self.is_making(*part));
        let stands_alone = |part: &Part| {
            let rivals = self.rivals(*part);
            let mut beside =
                self.below(*part).into_iter().chain(rivals.into_iter().filter(|other| self.is_in(*other)));
            beside.all(|other| !is_other(&other))
        };
        if !puts.iter().all(stands_alone) {
            return None;
        }
        let both: BTreeSet<Part> =
            makings.iter().flat_map(|part| self.below(*part)).filter(is_other).collect();
        let is_against = |part: &Part| is_other(part) && self.is_in(*part);
        let neither: BTreeSet<Part> =
            makings.iter().flat_map(|part| self.rivals(*part)).filter(is_against).collect();
        let is_put = |part: &Part| matches!(self.edits[part.0].op, Op::Put(_));
        let are_puts = both.iter().chain(&neither).all(is_put);
        let is_topmost = |part: &Part| self.above(*part).len() == 1;
        are_puts.then_some(())?;
        neither.iter().all(is_topmost).then_some((both.into_iter().collect(), neither.into_iter().collect()))
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

/// Whether two files cannot have these names: they are one, or one of them would be a folder.
pub fn is_beside(one: &str, other: &str) -> bool {
    one == other || is_above(one, other) || is_above(other, one)
}

/// Whether a name is that of a folder on the way to another.
pub fn is_above(name: &str, other: &str) -> bool {
    Path::new(other).ancestors().skip(1).any(|above| above == Path::new(name))
}
