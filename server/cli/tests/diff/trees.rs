//! Agents make, change, move and remove files, using names again, and a person decides about single edits and whole conversations in any
//! order: after each step the tree is that of the edits that are in, byte for byte, or the step was refused for a reason that holds, and
//! nothing has changed.
#![cfg(unix)]

mod oracle;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use crate::agent::Agent;
use crate::chance::{Rng, seeds};
use crate::export::git_apply;
use crate::files::files_in;
use crate::project::Project;

use oracle::{Edit, File, Now, Op, is_above};
pub(crate) use oracle::{Oracle, Status, Tree};

/// The names that there are to have, in three folders and in two that have the names of files.
const NAMES: [&str; 9] = ["a", "b", "src/a", "src/c", "doc/b", "doc/d", "a/x", "a/y/z", "src"];
/// How many conversations there are.
pub(crate) const CONVERSATIONS: usize = 4;

/// How often what was met.
#[derive(Debug, Default)]
struct Met {
    edits: usize,
    decided: usize,
    refused: usize,
    conversations: usize,
    conversations_refused: usize,
    patches: usize,
}

/// Removes the folders in a folder in which there is nothing, so that files can have their names.
fn remove_empty_folders(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".mcp") {
            remove_empty_folders(&path);
            let _ = std::fs::remove_dir(&path);
        }
    }
}

/// Writes a tree into a folder.
fn lay_out(tree: &Tree, folder: &Path) {
    for (name, text) in tree {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

pub(crate) fn tree_in(folder: &Path) -> Tree {
    let text = |(bytes, _): (Vec<u8>, u32)| String::from_utf8(bytes).unwrap();
    files_in(folder).into_iter().map(|(name, file)| (name, text(file))).collect()
}

pub(crate) struct Play {
    pub(crate) project: Project,
    pub(crate) agent: Agent,
    pub(crate) rng: Rng,
    pub(crate) oracle: Oracle,
    pub(crate) conversations: [Option<String>; CONVERSATIONS],
    next: usize,
    met: Met,
    story: Vec<String>,
}

impl Play {
    pub(crate) fn begin(seed: u64) -> Self {
        let project = Project::new();
        let mut rng = Rng::new(seed);
        let mut oracle = Oracle::default();
        for name in NAMES {
            let fits = |file: &File| !is_above(&file.name, name) && !is_above(name, &file.name);
            if rng.chance(50) && oracle.files.iter().all(fits) {
                let lines: Vec<String> = (0..4).map(|at| format!("{name} {at}\n")).collect();
                project.write(name, &lines.concat());
                oracle.files.push(File { name: name.to_owned(), lines: Some(lines) });
            }
        }
        let agent = Agent::start(&project, &[]);
        let conversations = Default::default();
        Self { project, agent, rng, oracle, conversations, next: 0, met: Met::default(), story: Vec::new() }
    }

    pub(crate) fn tree(&self) -> Tree {
        tree_in(&self.project.folder)
    }

    fn check(&self) {
        assert_eq!(Some(self.tree()), self.oracle.tree(), "{}", self.told());
    }

    pub(crate) fn told(&self) -> String {
        self.story.join("\n")
    }

    /// Files that are there, and what they are now.
    fn living(&self) -> Vec<(usize, Now)> {
        let all = (0..self.oracle.files.len()).filter_map(|at| Some((at, self.oracle.file(at)?)));
        all.filter(|(_, now)| now.exists).collect()
    }

    fn free_name(&mut self) -> Option<String> {
        let taken = self.tree();
        // A folder may be empty, and an agent takes it for what it is.
        let is_free = |name: &&str| {
            !self.project.folder.join(name).exists() && !taken.keys().any(|other| is_above(other, name))
        };
        let free: Vec<&str> = NAMES.into_iter().filter(is_free).collect();
        if free.is_empty() { None } else { Some((*self.rng.pick(&free)).to_owned()) }
    }

    pub(crate) fn edit(&mut self) {
        let living = self.living();
        let kind = self.rng.below(10);
        self.next += 1;
        let number = self.next;
        let free = self.free_name();
        let (file, op) = match (kind, free) {
            (0..2, Some(name)) => {
                let lines: Vec<String> = (0..3).map(|at| format!("made {number} {at}\n")).collect();
                let gone = self.oracle.called.get(&name).and_then(|files| files.last().copied());
                let file = gone.unwrap_or_else(|| {
                    self.oracle.files.push(File { name: name.clone(), lines: None });
                    self.oracle.files.len() - 1
                });
                (file, Op::Make(lines))
            }
            (2..6, Some(name)) if !living.is_empty() => {
                let (file, now) = self.rng.pick(&living).clone();
                (file, Op::Move(now.name, name))
            }
            (6..8, _) if !living.is_empty() => (self.rng.pick(&living).0, Op::Remove),
            _ if !living.is_empty() => {
                let (file, now) = self.rng.pick(&living).clone();
                let old = self.rng.pick(&now.lines).clone();
                let changes =
                    |edit: &Edit| matches!(&edit.op, Op::Put(line, new) if *line == old || *new == old);
                if self.oracle.edits.iter().any(changes) {
                    // Each line is changed once, so that no edit rests on another in the text, or stands against it.
                    return;
                }
                (file, Op::Put(old, format!("put {number}\n")))
            }
            _ => return,
        };
        let before =
            self.oracle.file(file).filter(|_| self.oracle.edits.iter().any(|edit| edit.file == file));
        let name = self.oracle.file(file).unwrap().name;
        let path = self.project.folder.join(&name);
        let of = self.rng.below(CONVERSATIONS);
        let conversation = self.conversations[of].clone();
        let conversation = conversation.as_deref();
        let (id, opened) = match &op {
            Op::Make(lines) => self.agent.make(&path, &lines.concat(), conversation),
            Op::Put(old, new) => self.agent.put(&path, old, new, conversation),
            Op::Move(_, to) => self.agent.rename(&path, &self.project.folder.join(to), conversation),
            Op::Remove => self.agent.remove(&path, conversation),
        };
        self.conversations[of] = Some(opened);
        self.story.push(format!("{} {of} {name}: {op:?}", &id[..8]));
        let over = self.oracle.file(file).and_then(|now| now.made);
        let makes = |other: &usize| {
            let Edit { file: of, op, .. } = &self.oracle.edits[*other];
            *of == file && matches!(op, Op::Make(_)) && !self.oracle.edits[*other].is_in()
        };
        let puts = |other: &usize| {
            let Edit { file: of, op, over: made, .. } = &self.oracle.edits[*other];
            *of == file && matches!(op, Op::Put(..)) && *made == over && self.oracle.edits[*other].is_in()
        };
        let (without, onto) = match op {
            Op::Make(_) => {
                let all = 0..self.oracle.edits.len();
                (all.clone().filter(makes).collect(), all.filter(puts).collect())
            }
            _ => (Vec::new(), Vec::new()),
        };
        self.oracle.edits.push(Edit {
            id,
            conversation: of,
            file,
            op,
            over,
            without,
            onto,
            status: Status::Pending,
        });
        self.oracle.note(file, before.as_ref());
        self.met.edits += 1;
    }

    /// Lets the command decide. Says whether it did, and what it said else.
    fn run(&mut self, verb: &str, named: &[&str]) -> Result<(), String> {
        let arguments = [&[verb], named].concat();
        let before = self.tree();
        let ran = self.project.run(&arguments);
        let short: Vec<&str> = arguments.iter().map(|word| &word[word.len().saturating_sub(36)..]).collect();
        self.story.push(format!("{} => {} {}", short.join(" "), ran.code, ran.err.trim()));
        if ran.code == 0 {
            return Ok(());
        }
        assert_eq!(self.tree(), before, "refused, and yet something has changed\n{}", self.told());
        assert!(ran.out.is_empty(), "refused, and yet something was decided: {}\n{}", ran.out, self.told());
        Err(ran.err)
    }

    pub(crate) fn decide(&mut self) {
        let accepts = self.rng.chance(45);
        let (verb, status) =
            if accepts { ("accept", Status::Accepted) } else { ("reject", Status::Rejected) };
        let whole = self.rng.chance(30);
        let edits: Vec<usize> = if whole {
            let of = self.rng.below(CONVERSATIONS);
            let mine = |at: &usize| self.oracle.edits[*at].conversation == of;
            let all: Vec<usize> = (0..self.oracle.edits.len()).filter(mine).collect();
            // What was rejected stays so while there is something else to accept.
            let pending = |at: &usize| self.oracle.edits[*at].status == Status::Pending;
            match accepts && all.iter().any(pending) {
                true => all.into_iter().filter(pending).collect(),
                false => all,
            }
        } else if self.oracle.edits.is_empty() {
            return;
        } else {
            vec![self.rng.below(self.oracle.edits.len())]
        };
        if edits.iter().all(|at| self.oracle.edits[*at].status == status) {
            return;
        }
        let first = &self.oracle.edits[edits[0]];
        let conversation = self.conversations[first.conversation].clone().unwrap();
        let named = if whole { vec!["-c".to_owned(), conversation] } else { vec![first.id.clone()] };
        let named: Vec<&str> = named.iter().map(String::as_str).collect();
        let then = self.oracle.with(&edits, status);
        match self.run(verb, &named) {
            Ok(()) => {
                assert!(then.tree().is_some(), "there is no such tree\n{}", self.told());
                self.take(&edits, status);
                *if whole { &mut self.met.conversations } else { &mut self.met.decided } += 1;
            }
            Err(why) => {
                let switched: Vec<usize> = edits
                    .iter()
                    .copied()
                    .filter(|at| self.oracle.edits[*at].is_in() != then.edits[*at].is_in())
                    .collect();
                let holds = then.tree().is_none()
                    || self.oracle.is_of_hidden_lines(&switched)
                    || self.oracle.is_built_on(&switched)
                    || then.is_beside_other_lines(&switched)
                    || !self.oracle.over_changed_lines(&switched).is_empty();
                assert!(holds, "it could have been done: {why}\n{}", self.told());
                *if whole { &mut self.met.conversations_refused } else { &mut self.met.refused } += 1;
            }
        }
    }

    /// A patch of a conversation makes of the tree without it the one with it: as it is now, with all that was proposed, and with what was
    /// rejected, where there are such trees.
    fn export(&mut self) {
        let of = self.rng.below(CONVERSATIONS);
        let Some(conversation) = self.conversations[of].clone() else { return };
        let all: Vec<usize> =
            (0..self.oracle.edits.len()).filter(|at| self.oracle.edits[*at].conversation == of).collect();
        let rejected: Vec<usize> = all.iter().copied().filter(|at| !self.oracle.edits[*at].is_in()).collect();
        let with = |edits: &[usize], status| self.oracle.with(edits, status);
        let now = self.oracle.clone();
        for (options, before, after) in [
            (&[][..], with(&all, Status::Rejected), now.clone()),
            (&["--proposed"], with(&all, Status::Rejected), with(&all, Status::Accepted)),
            (&["--rejected"], now, with(&rejected, Status::Accepted)),
        ] {
            let (both, neither) = match options {
                ["--proposed"] => self.oracle.beside(&all),
                _ => Default::default(),
            };
            let worlds = [before, after]
                .map(|world| world.with(&both, Status::Accepted).with(&neither, Status::Rejected));
            let [Some(before), Some(mut after)] = worlds.each_ref().map(Oracle::tree) else { continue };
            let ran = self.project.run(&[&["export", "-c", &conversation], options].concat());
            self.story.push(format!(
                "export {options:?} -c {} => {} {}",
                &conversation[19..],
                ran.code,
                ran.err.trim()
            ));
            for at in both.iter().chain(&neither) {
                assert!(ran.err.contains(&self.oracle.edits[*at].id[..8]), "{}", self.told());
            }
            let there = tempfile::tempdir().unwrap();
            lay_out(&before, there.path());
            // Where nothing can be written, or nothing is left of it, there is no patch to apply.
            if !(ran.out.is_empty() && [1, 4].contains(&ran.code)) {
                let said = git_apply(there.path(), &ran.out, &[]);
                assert!(said.is_ok(), "{said:?}\n{}\n{}", ran.out, self.told());
            }
            let mut made = tree_in(there.path());
            if ran.code == 4 {
                // Of lines that stand in each other's place some are left out of the patch, and named.
                for file in worlds[1].over_changed_lines(&all) {
                    let is_named = |at: &usize| {
                        let Edit { id, file: of, .. } = &self.oracle.edits[*at];
                        *of == file && ran.err.contains(&id[..8])
                    };
                    assert!(all.iter().any(is_named), "{}", self.told());
                    for name in worlds.iter().filter_map(|world| Some(world.file(file)?.name)) {
                        made.remove(&name);
                        after.remove(&name);
                    }
                }
            }
            assert_eq!(made, after, "{options:?}: {}\n{}", ran.out, self.told());
            self.met.patches += 1;
        }
    }

    /// The edits have this status now. Names go from hand to hand in the order in which edits are decided, those that follow on each other
    /// in one file at once.
    fn take(&mut self, edits: &[usize], status: Status) {
        let changes = |at: &usize| self.oracle.edits[*at].status != status;
        let mut order: Vec<usize> = edits.iter().copied().filter(changes).collect();
        if status == Status::Rejected {
            order.reverse();
        }
        let files: Vec<(usize, usize)> = order.iter().map(|at| (self.oracle.edits[*at].file, *at)).collect();
        for run in files.chunk_by(|(one, _), (next, _)| one == next) {
            let file = run[0].0;
            let before = self.oracle.file(file);
            run.iter().for_each(|(_, at)| self.oracle.edits[*at].status = status);
            self.oracle.note(file, before.as_ref());
        }
    }

    /// The record has what was decided.
    pub(crate) fn check_statuses(&self) {
        let (_, json) = self.project.json(&["status", "--json", "-n", "0"]);
        let of =
            |id: &str| json["edits"].as_array().unwrap().iter().find(|edit| edit["edit_id"] == id).cloned();
        for edit in &self.oracle.edits {
            assert_eq!(of(&edit.id).unwrap()["status"], edit.status.word(), "{}\n{}", edit.id, self.told());
        }
    }

    /// All that was ever made goes with one command.
    fn take_all_back(&mut self) {
        let all: Vec<usize> = (0..self.oracle.edits.len()).collect();
        if all.iter().all(|at| !self.oracle.edits[*at].is_in()) {
            return;
        }
        let named: Vec<String> =
            self.conversations.iter().flatten().flat_map(|id| ["-c".to_owned(), id.clone()]).collect();
        let refused = self.run("reject", &named.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(refused, Ok(()), "{}", self.told());
        self.take(&all, Status::Rejected);
        self.check();
        self.check_statuses();
    }

    fn play(mut self) -> Met {
        let steps = 10 + self.rng.below(30);
        for _ in 0..steps {
            match self.rng.below(10) {
                0..5 => self.edit(),
                5..8 => self.decide(),
                8 => self.export(),
                _ => {
                    remove_empty_folders(&self.project.folder);
                    self.agent = Agent::start(&self.project, &[]);
                    self.story.push("a new process, without empty folders".to_owned());
                }
            }
            self.check();
        }
        if self.met.edits > 0 {
            self.check_statuses();
            self.take_all_back();
            self.project.assert_whole();
        }
        self.met
    }
}

#[test]
fn the_tree_is_that_of_the_edits_that_are_in() {
    // Others each time.
    let base = match std::env::var_os("HASHLINE_SEED") {
        Some(_) => 0,
        None => std::collections::hash_map::RandomState::new().build_hasher().finish() >> 16,
    };
    let cases: Vec<u64> = seeds(60).map(|seed| base + seed).collect();
    let (next, all) = (std::sync::Mutex::new(cases.into_iter()), std::sync::Mutex::new(Vec::new()));
    let failed = std::sync::Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(seed) = next.lock().unwrap().next() else { break };
                    let played = std::panic::catch_unwind(|| Play::begin(seed).play());
                    match played {
                        Ok(met) => all.lock().unwrap().push(met),
                        Err(_) => drop(failed.lock().unwrap().insert(seed)),
                    }
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    let sum = |of: fn(&Met) -> usize| all.iter().map(of).sum::<usize>();
    eprintln!(
        "{} trees: {} edits, {} decided and {} refused, {} conversations decided and {} refused, {} patches",
        all.len(),
        sum(|met| met.edits),
        sum(|met| met.decided),
        sum(|met| met.refused),
        sum(|met| met.conversations),
        sum(|met| met.conversations_refused),
        sum(|met| met.patches)
    );
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "HASHLINE_SEED of those that fail: {failed:?}");
}
