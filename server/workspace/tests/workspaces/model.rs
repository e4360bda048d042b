//! What must hold of the texts, of the hunks and of the record, whatever happened. Each line that a person, an agent or anybody else writes is
//! another one, so that it is known by what it reads.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use hashline_history::{Decision, Document as Past, EditId, HunkRef};
use hashline_workspace::agent::EditInfo;
use hashline_workspace::document::{Choice, Decided, HunkState, HunkView};

use crate::editor::{By, Made, lines};
use crate::order::{Event, in_order};

/// What a hunk does.
#[derive(Clone, Debug)]
struct Hunk {
    removed: HashSet<String>,
    proposed: HashSet<String>,
    /// It was only shown as one with hunks that build on it, so that which lines are its own is not known.
    is_folded: bool,
    /// What it is said to build on.
    builds_on: Vec<HunkRef>,
}

/// How each hunk stands.
pub type Standing = BTreeMap<HunkRef, HunkView>;

#[derive(Default)]
pub struct Model {
    hunks: BTreeMap<HunkRef, Hunk>,
    /// What the person has deleted by hand and not brought back.
    deleted: HashSet<String>,
    /// The edits that agents made here.
    own: BTreeSet<EditId>,
    /// All lines that were in the text once.
    seen: HashSet<String>,
    /// Hunks whose lines somebody has moved who is not hashline: what the text shows of them is as that one left it.
    touched: BTreeSet<HunkRef>,
    /// What was decided last of a hunk, if nothing has happened since that might have undone it.
    wishes: BTreeMap<HunkRef, Decision>,
    /// What was saved with all that was decided, and the hunks about which nothing has happened since.
    kept: Option<(String, BTreeMap<HunkRef, Decision>)>,
    step: usize,
    events: Vec<(usize, Event)>,
    stood: BTreeMap<HunkRef, Decision>,
}

/// How the decisions stand.
pub fn standing(edits: Vec<EditInfo>) -> Standing {
    let hunks = edits.into_iter().flat_map(|edit| {
        let id = edit.id;
        let hunks = edit.hunks.into_iter().map(|hunk| hunk.view);
        hunks.map(move |view| (HunkRef { edit: id.clone(), number: view.number }, view))
    });
    hunks.collect()
}

/// Whether the lines of a hunk are inside those of another one, not at their edge.
fn is_inside(inner: &HunkView, outer: &HunkView) -> bool {
    let both = inner.lines.as_ref().zip(outer.lines.as_ref());
    both.is_some_and(|(inner, outer)| outer.start < inner.start && inner.end < outer.end)
}

impl Model {
    pub fn next_step(&mut self) {
        self.step += 1;
    }

    pub fn hunks(&self) -> Vec<HunkRef> {
        self.hunks.keys().cloned().collect()
    }

    /// An agent was told that its edit is recorded.
    pub fn acknowledged(&mut self, id: &EditId) {
        self.own.insert(id.clone());
        self.events.push((self.step, Event::Edited(id.clone())));
    }

    /// What became of a text.
    pub fn made(&mut self, made: &Made) -> Result<(), String> {
        let (before, after) = (lines(&made.before), lines(&made.after));
        let removed: HashSet<&str> = before.difference(&after).copied().collect();
        let added: HashSet<&str> = after.difference(&before).copied().collect();
        self.seen.extend(after.iter().map(|line| (*line).to_owned()));
        let moved: Vec<HunkRef> = self.hunks_of(&removed, &added);
        match made.by {
            By::Hashline => return self.switched(made, &removed, &added),
            By::Found => {
                self.wishes.clear();
                if made.before != made.after {
                    // What is not in it may be out for any reason.
                    self.deleted.clear();
                    self.touched = self.hunks.keys().cloned().collect();
                }
                self.kept = self.kept.take().filter(|(text, _)| *text == made.after);
            }
            By::Hand => self.deleted.extend(removed.iter().map(|line| (*line).to_owned())),
            By::Turn => {
                // It goes back behind decisions that changed no text, too.
                self.wishes.clear();
                let known = |line: &&&str| {
                    let hunks = self.hunks.values();
                    hunks.clone().any(|hunk| hunk.removed.contains(**line) || hunk.proposed.contains(**line))
                };
                let typed: Vec<String> =
                    removed.iter().filter(|line| !known(line)).map(|line| (*line).to_owned()).collect();
                self.deleted.extend(typed);
            }
        }
        for line in &after {
            self.deleted.remove(*line);
        }
        if made.by != By::Found {
            self.disturbed(&moved);
            self.touched.extend(moved);
        }
        Ok(())
    }

    fn hunks_of(&self, removed: &HashSet<&str>, added: &HashSet<&str>) -> Vec<HunkRef> {
        let has = |lines: &HashSet<String>| {
            lines.iter().any(|line| removed.contains(line.as_str()) || added.contains(line.as_str()))
        };
        let hunks = self.hunks.iter().filter(|(_, hunk)| has(&hunk.removed) || has(&hunk.proposed));
        hunks.map(|(name, _)| name.clone()).collect()
    }

    /// Something has happened to hunks that may undo what was decided about them.
    fn disturbed(&mut self, hunks: &[HunkRef]) {
        for hunk in hunks {
            self.wishes.remove(hunk);
            if let Some((_, kept)) = &mut self.kept {
                kept.remove(hunk);
            }
        }
    }

    /// hashline has changed a text: by switching hunks and by nothing else.
    fn switched(&self, made: &Made, removed: &HashSet<&str>, added: &HashSet<&str>) -> Result<(), String> {
        for line in removed {
            let is_theirs =
                self.hunks.values().any(|hunk| hunk.removed.contains(*line) || hunk.proposed.contains(*line));
            if !is_theirs {
                return Err(format!("{line:?}, which no agent touched, is taken out of\n{}", made.before));
            }
        }
        for line in added {
            let proposed = self.hunks.values().any(|hunk| hunk.proposed.contains(*line));
            let given_back = self.hunks.values().any(|hunk| hunk.removed.contains(*line));
            if !proposed && (!given_back || self.deleted.contains(*line)) {
                return Err(format!(
                    "{line:?}, which the person has deleted, comes back in\n{}\nwhich was\n{}",
                    made.after, made.before
                ));
            }
        }
        let common = |text: &str, other: &str| {
            let other = lines(other);
            text.lines().filter(|line| other.contains(line)).map(str::to_owned).collect::<Vec<_>>()
        };
        let (then, now) = (common(&made.before, &made.after), common(&made.after, &made.before));
        if then != now {
            return Err(format!("lines moved, or are there twice:\n{}\nbecame\n{}", made.before, made.after));
        }
        let count = made.after.lines().count();
        let is_single = made.before.lines().count() == lines(&made.before).len();
        if is_single && count != lines(&made.after).len() {
            return Err(format!("a line is there twice in\n{}\nwhich was\n{}", made.after, made.before));
        }
        Ok(())
    }

    /// Takes note of what hunks do, when each is shown first, and first by itself.
    pub fn meets(&mut self, shown: &Standing) {
        let folds: HashSet<&HunkRef> = shown.values().filter_map(|view| view.part_of.as_ref()).collect();
        let known: Vec<(&HunkRef, &HunkView)> =
            shown.iter().filter(|(name, _)| self.hunks.contains_key(*name)).collect();
        for (name, view) in shown {
            // Of what it builds on only the undecided is named; the rest shows in where the two are (rule W4).
            let around = known.iter().filter(|(_, other)| is_inside(other, view) || is_inside(view, other));
            let hunk = || Hunk {
                removed: view.removed.iter().cloned().collect(),
                proposed: view.proposed.iter().cloned().collect(),
                is_folded: folds.contains(name),
                builds_on: view
                    .depends_on
                    .iter()
                    .chain(&view.part_of)
                    .chain(around.map(|(other, _)| *other))
                    .cloned()
                    .collect(),
            };
            self.learns(name, hunk);
        }
    }

    /// Takes over what hunks do that were shown to somebody else over the same file: who decides about them there changes the text here, too.
    pub fn hears_of(&mut self, other: &Self) {
        for (name, hunk) in &other.hunks {
            self.learns(name, || hunk.clone());
        }
    }

    fn learns(&mut self, name: &HunkRef, hunk: impl FnOnce() -> Hunk) {
        let known = self.hunks.get(name);
        if known.is_none() && !self.own.contains(&name.edit) {
            // Its lines may have come and gone before it was known here.
            self.touched.insert(name.clone());
        }
        if known.is_none_or(|known| known.is_folded) {
            self.hunks.insert(name.clone(), hunk());
        }
    }

    /// Notes how the hunks stand.
    pub fn stands(&mut self, now: &Standing) {
        self.meets(now);
        for (hunk, view) in now {
            let before = self.stood.get(hunk).copied().unwrap_or(Decision::Undecided);
            if before != view.decision {
                self.events.push((self.step, Event::Decided(hunk.clone(), view.decision)));
                if let Some((_, kept)) = &mut self.kept {
                    kept.remove(hunk);
                }
            }
            self.stood.insert(hunk.clone(), view.decision);
        }
    }

    /// A decision was answered.
    pub fn decided(&mut self, choice: Choice, decided: &Decided, undisturbed: bool) {
        let wish = match choice {
            _ if !undisturbed => None,
            Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth => Some(Decision::Accepted),
            Choice::Reject | Choice::KeepMine => Some(Decision::Rejected),
            Choice::Reopen | Choice::Comment => None,
        };
        for hunk in &decided.queued {
            if let Some((_, kept)) = &mut self.kept {
                kept.remove(hunk);
            }
            match wish {
                Some(wish) => self.wishes.insert(hunk.clone(), wish),
                None => self.wishes.remove(hunk),
            };
        }
        if matches!(choice, Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth) {
            // What is to be in keeps in what it builds on, though that was to leave the text.
            let below: BTreeSet<HunkRef> =
                decided.queued.iter().flat_map(|hunk| self.all_below(hunk)).collect();
            self.wishes.retain(|hunk, wish| *wish != Decision::Rejected || !below.contains(hunk));
        }
    }

    /// What a hunk builds on, wherever that is.
    fn all_below(&self, name: &HunkRef) -> BTreeSet<HunkRef> {
        let mut below = BTreeSet::new();
        let mut above = vec![name.clone()];
        while let Some(name) = above.pop() {
            let Some(hunk) = self.hunks.get(&name) else { continue };
            let made = self.hunks.iter().filter(|(_, other)| !other.proposed.is_disjoint(&hunk.removed));
            let next = made.map(|(other, _)| other).chain(&hunk.builds_on);
            above.extend(next.filter(|other| below.insert((*other).clone())).cloned());
        }
        below
    }

    /// The person was told of something that may be the end of any wish; or a process has ended.
    pub fn told(&mut self) {
        self.wishes.clear();
    }

    /// The process that serves the text is another one, or another one has recorded something about it: what is known of the hunks is laid over the
    /// text as over one that is found.
    pub fn laid_over(&mut self) {
        self.touched = self.hunks.keys().cloned().collect();
    }

    /// An agent takes an edit back.
    pub fn withdrawn(&mut self, id: &EditId) {
        let of: Vec<HunkRef> = self.hunks.keys().filter(|hunk| hunk.edit == *id).cloned().collect();
        self.disturbed(&of);
    }

    /// The hunk about which was decided last.
    pub fn latest_decided(&self) -> Option<HunkRef> {
        self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Decided(hunk, Decision::Accepted | Decision::Rejected) => Some(hunk.clone()),
            _ => None,
        })
    }

    /// All is recorded, and this text is that of the file and of the editor.
    pub fn keeps(&mut self, text: &str) {
        self.kept = Some((text.to_owned(), self.stood.clone()));
    }

    /// After a restart with this text: what was decided and saved is still so.
    pub fn still_stands(&self, text: &str, now: &Standing) -> Result<bool, String> {
        let Some((_, kept)) = self.kept.as_ref().filter(|(saved, _)| saved == text) else { return Ok(false) };
        for (hunk, decision) in kept {
            let stands = now.get(hunk).map(|view| view.decision);
            if stands != Some(*decision) {
                return Err(format!("{} was {decision:?} and saved, and is {stands:?}", hunk.short()));
            }
        }
        Ok(!kept.is_empty())
    }

    /// What has to be so when all has come to an end: what is said of the hunks is what the text shows, and what was wanted.
    pub fn at_rest(&self, text: &str, now: &Standing) -> Result<(), String> {
        let there = lines(text);
        let is_in = |view: &HunkView| matches!(view.state, HunkState::InText | HunkState::Edited(_));
        let in_text: HashSet<&HunkRef> =
            now.iter().filter(|(_, view)| is_in(view)).map(|(hunk, _)| hunk).collect();
        for (name, view) in now {
            let hunk = &self.hunks[name];
            let others = || self.hunks.iter().filter(|(other, _)| *other != name && in_text.contains(other));
            let said = format!("{} is said to be {:?}, {:?}", name.short(), view.state, view.decision);
            // A line that somebody has changed may be taken away by another hunk under what it reads now.
            let rewritten =
                self.touched.contains(name) && others().any(|(_, other)| !other.removed.is_empty());
            if view.state == HunkState::InText && !rewritten && !hunk.is_folded {
                let taken = |line: &String| others().any(|(_, other)| other.removed.contains(line));
                let lacks = hunk.proposed.iter().find(|line| !there.contains(line.as_str()) && !taken(line));
                if let Some(line) = lacks {
                    return Err(format!("{said}, and there is no {line:?} in\n{text}"));
                }
            }
            if self.touched.contains(name) {
                continue;
            }
            let brought = |line: &String| others().any(|(_, other)| other.proposed.contains(line));
            let wrong = match is_in(view) {
                true => hunk.removed.iter().find(|line| there.contains(line.as_str())),
                false => hunk.proposed.iter().find(|line| there.contains(line.as_str()) && !brought(line)),
            };
            if let Some(line) = wrong {
                return Err(format!("{said}, and there is {line:?} in\n{text}"));
            }
            let gone = |line: &&String| {
                self.seen.contains(*line)
                    && !there.contains(line.as_str())
                    && !self.deleted.contains(*line)
                    && !others().any(|(_, other)| other.removed.contains(*line))
            };
            // What a hunk that is out made is out, too.
            let own = |line: &&String| {
                !self
                    .hunks
                    .iter()
                    .any(|(other, hunk)| !in_text.contains(other) && hunk.proposed.contains(*line))
            };
            if !is_in(view)
                && let Some(line) = hunk.removed.iter().filter(own).find(gone)
            {
                return Err(format!("{said}, and {line:?} is lost from\n{text}"));
            }
        }
        for (name, wish) in &self.wishes {
            // Of a file that nobody has open one process tells.
            let Some(view) = now.get(name) else { continue };
            if view.decision != *wish {
                return Err(format!(
                    "{} was to be {wish:?} and is {:?}, untold",
                    name.short(),
                    view.decision
                ));
            }
        }
        Ok(())
    }

    /// Everything is in the record, as it stands. `taken` are the edits of agents that were, and `all_known` tells whether there can be no
    /// others. Those besides are what something else has written below unsaved work.
    pub fn recorded(
        &self,
        past: &Past,
        now: &Standing,
        taken: &[EditId],
        all_known: bool,
    ) -> Result<(), String> {
        let of_agents = past.edits.iter().filter(|edit| edit.made.agent.as_str() != "file on disk");
        let recorded: Vec<&EditId> = of_agents.map(|edit| &edit.made.id).collect();
        let mut rest = recorded.iter();
        let missing = taken.iter().find(|id| !rest.any(|recorded| recorded == id));
        if let Some(missing) = missing {
            return Err(format!("{missing} is not recorded in its turn: {recorded:?}"));
        }
        if all_known && recorded.len() != taken.len() {
            return Err(format!("{recorded:?} are recorded, {taken:?} were taken"));
        }
        for (hunk, view) in now {
            let recorded = past.hunk(hunk).map(|hunk| hunk.decision);
            if recorded != Some(view.decision) {
                return Err(format!("{} is {:?}, and recorded as {recorded:?}", hunk.short(), view.decision));
            }
        }
        Ok(())
    }

    /// What is recorded later has not happened earlier.
    pub fn in_order(&self, history: &Path) -> Result<(), String> {
        in_order(history, &self.events)
    }
}
