//! One play: a folder, an agent that changes it and a person who decides, and what has to be so after each step.

use std::path::Path;

use hashline_history::path::to_text;
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::chance::Rng;
use crate::export::git_apply;
use crate::files::files_in;
use crate::project::Project;

use super::decision::{Decision, Outcome, Step, Target};
use super::met::Met;
use super::oracle::{Edit, File, Now, Op, Oracle, Part, Status, Tree, is_above};
use super::words::{Kind, Refusal, refusals};

/// The names that there are to have, in three folders and in two that have the names of files; two differ in their case alone.
const NAMES: [&str; 10] = ["a", "b", "B", "src/a", "src/c", "doc/b", "doc/d", "a/x", "a/y/z", "src"];
/// How many conversations an agent has.
const CONVERSATIONS: usize = 4;

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

pub fn tree_in(folder: &Path) -> Tree {
    let text = |(bytes, _): (Vec<u8>, u32)| String::from_utf8(bytes).unwrap();
    files_in(folder).into_iter().map(|(name, file)| (name, text(file))).collect()
}

/// A name that differs in its case alone.
fn other_case(name: &str) -> String {
    let other = |letter: char| match letter.is_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    name.chars().map(other).collect()
}

pub struct Play {
    pub project: Project,
    pub agent: Agent,
    pub rng: Rng,
    pub oracle: Oracle,
    /// Those of the agents so far, as far as they are opened: the last ones are of the agent that runs.
    pub conversations: Vec<Option<String>>,
    next: usize,
    met: Met,
    story: Vec<String>,
}

impl Play {
    pub fn begin(seed: u64) -> Self {
        let project = Project::new();
        let mut rng = Rng::new(seed);
        let mut oracle = Oracle::default();
        for name in NAMES {
            let fits = |file: &File| !is_above(&file.name, name) && !is_above(name, &file.name);
            if rng.chance(50) && oracle.files.iter().all(fits) {
                let lines: Vec<String> = (0..6).map(|at| format!("{name} {at}\n")).collect();
                project.write(name, &lines.concat());
                oracle.files.push(File { name: name.to_owned(), lines: Some(lines) });
            }
        }
        let agent = Agent::start(&project, &[]);
        let conversations = vec![None; CONVERSATIONS];
        Self { project, agent, rng, oracle, conversations, next: 0, met: Met::default(), story: Vec::new() }
    }

    pub fn tree(&self) -> Tree {
        tree_in(&self.project.folder)
    }

    fn check(&self) {
        assert_eq!(Some(self.tree()), self.oracle.tree(), "{}", self.told());
    }

    pub fn told(&self) -> String {
        self.story.join("\n")
    }

    fn is_free(&self, name: &str) -> bool {
        // A folder may be empty, and an agent takes it for what it is.
        !self.project.folder.join(name).exists() && !self.tree().keys().any(|other| is_above(other, name))
    }

    fn free_name(&mut self) -> Option<String> {
        let free: Vec<&str> = NAMES.into_iter().filter(|name| self.is_free(name)).collect();
        if free.is_empty() { None } else { Some((*self.rng.pick(&free)).to_owned()) }
    }

    /// A file and a name for it that differs in its case alone.
    fn other_case(&mut self) -> Option<(usize, Now, String)> {
        let living = self.oracle.living().into_iter();
        let all = living.map(|(file, now)| {
            let name = other_case(&now.name);
            (file, now, name)
        });
        let all: Vec<_> =
            all.filter(|(_, _, name)| NAMES.contains(&name.as_str()) && self.is_free(name)).collect();
        if all.is_empty() { None } else { Some(self.rng.pick(&all).clone()) }
    }

    /// Other lines for one to three of a file that do not touch each other; what was put there before is changed with pleasure.
    fn changes(&mut self, lines: &[String]) -> Vec<(String, String)> {
        let number = self.next;
        let mut left: Vec<usize> = (0..lines.len()).collect();
        let put: Vec<usize> = left.iter().copied().filter(|at| lines[*at].starts_with("put")).collect();
        let mut chosen = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let among: Vec<usize> = put.iter().copied().filter(|at| left.contains(at)).collect();
            let among = if !among.is_empty() && self.rng.chance(50) { &among } else { &left };
            if among.is_empty() {
                break;
            }
            let at = *self.rng.pick(among);
            chosen.push(at);
            left.retain(|other| other.abs_diff(at) > 1);
        }
        chosen.sort_unstable();
        let new = |(hunk, at): (usize, &usize)| (lines[*at].clone(), format!("put {number} {hunk}\n"));
        chosen.iter().enumerate().map(new).collect()
    }

    /// What an agent may do next: to which file.
    fn choose(&mut self) -> Option<(usize, Op)> {
        let living = self.oracle.living();
        let kind = self.rng.below(12);
        self.next += 1;
        let number = self.next;
        let twin = if kind == 2 { self.other_case() } else { None };
        Some(match (kind, self.free_name()) {
            (0..2, Some(name)) => {
                let lines: Vec<String> = (0..5).map(|at| format!("made {number} {at}\n")).collect();
                let gone = self.oracle.called.get(&name).and_then(|files| files.last().copied());
                self.met.note(if gone.is_some() { "edit: make again" } else { "edit: make" });
                let file = gone.unwrap_or_else(|| {
                    self.oracle.files.push(File { name: name.clone(), lines: None });
                    self.oracle.files.len() - 1
                });
                (file, Op::Make(lines))
            }
            (2..6, Some(name)) if !living.is_empty() => {
                let (file, now) = self.rng.pick(&living).clone();
                let to_case = twin.is_some();
                let (file, now, name) = twin.unwrap_or((file, now, name));
                let had =
                    |edit: &Edit| edit.file == file && matches!(&edit.op, Op::Move(from, _) if *from == name);
                self.met.note(match (to_case, self.oracle.edits.iter().any(had)) {
                    (true, _) => "edit: move to another case",
                    (_, true) => "edit: move back to a name",
                    _ => "edit: move",
                });
                (file, Op::Move(now.name, name))
            }
            (6..8, _) if !living.is_empty() => {
                self.met.note("edit: remove");
                (self.rng.pick(&living).0, Op::Remove)
            }
            _ if !living.is_empty() => {
                let (file, now) = self.rng.pick(&living).clone();
                let changes = self.changes(&now.lines);
                if changes.is_empty() {
                    return None;
                }
                let over = changes.iter().any(|(old, _)| old.starts_with("put"));
                self.met.note(match (over, changes.len()) {
                    (true, _) => "edit: put over what was put",
                    (_, 1) => "edit: put",
                    _ => "edit: put in several places",
                });
                (file, Op::Put(changes))
            }
            _ => return None,
        })
    }

    pub fn edit(&mut self) {
        let Some((file, op)) = self.choose() else { return };
        let now = self.oracle.file(file).unwrap();
        let path = self.project.folder.join(&now.name);
        let of = self.conversations.len() - CONVERSATIONS + self.rng.below(CONVERSATIONS);
        let conversation = self.conversations[of].clone();
        let conversation = conversation.as_deref();
        let (id, opened) = match &op {
            Op::Make(lines) => self.agent.make(&path, &lines.concat(), conversation),
            Op::Put(changes) => {
                let edits: Vec<Value> =
                    changes.iter().map(|(old, new)| json!({"old": old, "new": new})).collect();
                let arguments = json!({"path": to_text(&path), "edits": edits});
                self.agent.change("edit_file_diff", arguments, conversation)
            }
            Op::Move(_, to) => self.agent.rename(&path, &self.project.folder.join(to), conversation),
            Op::Remove => self.agent.remove(&path, conversation),
        };
        self.conversations[of] = Some(opened);
        self.story.push(format!("{} {of} {}: {op:?}", &id[..8], now.name));
        let before = Some(&now).filter(|_| self.oracle.edits.iter().any(|edit| edit.file == file));
        let replaced = if let Op::Make(_) = op { now.lines.clone() } else { Vec::new() };
        let statuses = vec![Status::Pending; op.hunks()];
        let edit = Edit { id, conversation: of, file, op, over: now.made, replaced, statuses };
        self.oracle.edits.push(edit);
        self.oracle.note(file, before);
    }

    /// Lets the command decide. Says whether it did, and what it said else.
    fn run(&mut self, verb: &str, named: &[&str]) -> Result<(), String> {
        let arguments = [&[verb], named].concat();
        let before = self.tree();
        let ran = self.project.run(&arguments);
        let short: Vec<&str> = arguments.iter().map(|word| &word[word.len().saturating_sub(38)..]).collect();
        self.story.push(format!("{} => {} {}", short.join(" "), ran.code, ran.err.trim()));
        if ran.code == 0 {
            return Ok(());
        }
        assert_eq!(self.tree(), before, "refused, and yet something has changed\n{}", self.told());
        assert!(ran.out.is_empty(), "refused, and yet something was decided: {}\n{}", ran.out, self.told());
        Err(ran.err)
    }

    /// What a person may decide next.
    fn wish(&mut self) -> Option<Decision> {
        let status = if self.rng.chance(45) { Status::Accepted } else { Status::Rejected };
        let with_others = self.rng.chance(25);
        let kind = self.rng.below(10);
        if self.oracle.edits.is_empty() {
            return None;
        }
        let out: Vec<Part> = self.oracle.parts().filter(|part| !self.oracle.is_in(*part)).collect();
        let (edit, hunk) = if status == Status::Accepted && !out.is_empty() && self.rng.chance(50) {
            // What is out may need others.
            *self.rng.pick(&out)
        } else {
            let edit = self.rng.below(self.oracle.edits.len());
            (edit, 1 + self.rng.below(self.oracle.edits[edit].op.hunks()))
        };
        let target = match kind {
            0..3 => Target::Conversation(self.rng.below(self.conversations.len())),
            3..6 => Target::Hunk((edit, hunk)),
            _ => Target::Edit(edit),
        };
        if let Target::Conversation(of) = target {
            self.conversations[of].as_ref()?;
        }
        let decision = Decision { target, status, with_others };
        // What is so already is seldom asked for.
        (!decision.is_idle(&self.oracle) || self.rng.chance(20)).then_some(decision)
    }

    /// The same in the words of the command.
    fn words(&self, decision: &Decision) -> Vec<String> {
        let mut words = match decision.target {
            Target::Edit(edit) => vec![self.oracle.edits[edit].id.clone()],
            Target::Hunk((edit, hunk)) => vec![format!("{}:{hunk}", self.oracle.edits[edit].id)],
            Target::Conversation(of) => vec!["-c".to_owned(), self.conversations[of].clone().unwrap()],
        };
        words.extend(decision.with_others.then(|| "--with-others".to_owned()));
        words
    }

    pub fn decide(&mut self) {
        let Some(decision) = self.wish() else { return };
        let verb = if decision.status == Status::Rejected { "reject" } else { "accept" };
        let words = self.words(&decision);
        let outcome = decision.outcome(&self.oracle);
        let is_idle = decision.is_idle(&self.oracle);
        let can_be = outcome.reasons.is_empty() && outcome.then.tree().is_some();
        let target = match decision.target {
            Target::Edit(_) => "edit",
            Target::Hunk(_) => "hunk",
            Target::Conversation(_) => "conversation",
        };
        let others = decision.with_others.then_some("with others");
        match self.run(verb, &words.iter().map(String::as_str).collect::<Vec<_>>()) {
            Ok(()) => {
                assert!(can_be && !is_idle, "it cannot be: {:?}\n{}", outcome.reasons, self.told());
                let named = |part: &Part| decision.names(&self.oracle, *part);
                let takes_others = outcome.steps.iter().flat_map(|step| &step.parts).any(|part| !named(part));
                self.take(&outcome.steps, decision.status);
                self.met.note(format!("{verb}ed: {target}"));
                if takes_others {
                    self.met.note(format!("{verb}ed: with others"));
                }
                if takes_others || matches!(decision.target, Target::Hunk(_)) {
                    self.check_hunks();
                }
            }
            Err(why) => {
                assert!(is_idle || !can_be, "it could have been done: {why}\n{}", self.told());
                self.check_refusals(&why, &decision, &outcome);
                [Some(target), others]
                    .into_iter()
                    .flatten()
                    .for_each(|of| self.met.note(format!("refused: {of}")));
            }
        }
    }

    /// What is said to stand against a decision does so, and all that is named.
    fn check_refusals(&mut self, why: &str, decision: &Decision, outcome: &Outcome) {
        let said = match refusals(why, &self.oracle, &self.project.folder) {
            Ok(said) if !said.is_empty() => said,
            said => panic!("no reason that is known: {said:?}\n{}", self.told()),
        };
        for refusal in &said {
            let holds = match refusal.kind {
                Kind::Already => decision.is_idle(&self.oracle),
                Kind::Taken | Kind::Shared => {
                    outcome.reasons.is_empty() && self.is_taken(refusal, &outcome.then)
                }
                Kind::Along => self.takes_along(refusal, decision),
                Kind::Of(_) => self.is_reason(refusal, decision, outcome),
            };
            let helps = |part: Part| self.oracle.is_in(part) && outcome.then.is_in(part);
            assert!(refusal.offers.is_none_or(helps), "it is no way out: {refusal:?}\n{}", self.told());
            assert!(holds, "it is not so: {refusal:?}, but {:?}\n{}", outcome.reasons, self.told());
            self.met.note(format!("reason: {:?}", refusal.kind));
        }
    }

    /// Whether this is what stands against one of the hunks, and no others are named than those.
    fn is_reason(&self, refusal: &Refusal, decision: &Decision, outcome: &Outcome) -> bool {
        outcome.reasons.iter().any(|reason| {
            let is_about = refusal.about.is_some_and(|(edit, hunk)| {
                edit == reason.part.0 && hunk.is_none_or(|hunk| hunk == reason.part.1)
            });
            // Of those that change one place one is enough.
            let names = match refusal.kind {
                Kind::Of(super::decision::Against::SamePlace) => {
                    !refusal.others.is_empty() && refusal.others.is_subset(&reason.others)
                }
                _ => refusal.others == reason.others,
            };
            let stands = |part: &Part| !decision.names(&self.oracle, *part);
            let is_whole = !refusal.tells_of_others || refusal.others.iter().any(stands);
            refusal.kind == Kind::Of(reason.against) && is_about && names && is_whole
        })
    }

    /// Whether a decision takes what is said along, and that was not named.
    fn takes_along(&self, refusal: &Refusal, decision: &Decision) -> bool {
        let whole = Decision { with_others: true, ..*decision }.outcome(&self.oracle);
        let decided: Vec<Part> = whole.steps.into_iter().flat_map(|step| step.parts).collect();
        let is_along = |part: &Part| decided.contains(part) && !decision.names(&self.oracle, *part);
        !refusal.others.is_empty() && refusal.others.iter().all(is_along)
    }

    /// Whether two files would have the name that is said to be taken, and the edits that are named give it to one of them.
    fn is_taken(&self, refusal: &Refusal, then: &Oracle) -> bool {
        let living = then.living();
        let beside = |one: &str, other: &str| one == other || is_above(one, other) || is_above(other, one);
        let clashes = living.iter().enumerate().flat_map(|(at, one)| {
            living[at + 1..]
                .iter()
                .filter(|other| beside(&one.1.name, &other.1.name))
                .map(move |other| [one, other])
        });
        // What gives a file its name: the latest that does, or what the decision is about.
        let gives = |(edit, hunk): &Part, name: &String| {
            *hunk == 1
                && match &then.edits[*edit].op {
                    Op::Make(_) => then.is_in((*edit, 1)),
                    Op::Move(from, to) => name == if then.is_in((*edit, 1)) { to } else { from },
                    Op::Remove => !then.is_in((*edit, 1)),
                    Op::Put(_) => false,
                }
        };
        let is_new = |part: &Part| then.is_in(*part) != self.oracle.is_in(*part);
        let gives = |part: &Part, (file, now): &(usize, Now)| {
            let of_file = |other: &Part| then.edits[other.0].file == *file && gives(other, &now.name);
            let latest = then.parts().filter(|other| of_file(other) && then.is_in(*other)).last();
            match refusal.kind {
                Kind::Shared => of_file(part) && is_new(part),
                _ => latest == Some(*part),
            }
        };
        let mut clashes = clashes;
        clashes.any(|both| {
            let is_name = |name: &String| both.iter().any(|(_, now)| now.name == *name);
            let is_given = |part: &Part| both.iter().any(|file| gives(part, file));
            // Of one that nobody named has had it from the start.
            let from_the_start = |file: &&(usize, Now)| !then.parts().any(|part| gives(&part, file));
            let known = !refusal.others.is_empty() || both.iter().any(from_the_start);
            !refusal.names.is_empty()
                && refusal.names.iter().all(is_name)
                && refusal.others.iter().all(is_given)
                && known
        })
    }

    /// A patch of a conversation makes of the tree without it the one with it: as it is now, with all that was proposed, and with what was
    /// rejected, where there are such trees.
    fn export(&mut self) {
        let of = self.rng.below(self.conversations.len());
        let Some(conversation) = self.conversations[of].clone() else { return };
        let edits = self.oracle.edits_of(of);
        let all: Vec<Part> = edits.iter().flat_map(|edit| self.oracle.parts_of(*edit)).collect();
        let rejected: Vec<Part> = all.iter().copied().filter(|part| !self.oracle.is_in(*part)).collect();
        let with = |parts: &[Part], status| self.oracle.with(parts, status);
        let now = self.oracle.clone();
        for (options, before, after) in [
            (&[][..], with(&all, Status::Rejected), now.clone()),
            (&["--proposed"], with(&all, Status::Rejected), with(&all, Status::Accepted)),
            (&["--rejected"], now, with(&rejected, Status::Accepted)),
        ] {
            let beside = match options {
                ["--proposed"] => self.oracle.beside(&all),
                ["--rejected"] => self.oracle.beside(&rejected).map(|(both, _)| (both, Vec::new())),
                _ => Some(Default::default()),
            };
            let Some((both, neither)) = beside else { continue };
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
            let shows = |part: &Part| worlds.iter().any(|world| world.shows(*part));
            for (edit, _) in both.iter().chain(&neither).filter(|part| shows(part)) {
                assert!(ran.err.contains(self.oracle.short(*edit)), "{}", self.told());
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
                for file in worlds[1].over_changed_lines(&edits) {
                    let is_named = |at: &usize| {
                        self.oracle.edits[*at].file == file && ran.err.contains(self.oracle.short(*at))
                    };
                    assert!(edits.iter().any(is_named), "{}", self.told());
                    for name in worlds.iter().filter_map(|world| Some(world.file(file)?.name)) {
                        made.remove(&name);
                        after.remove(&name);
                    }
                }
            }
            assert_eq!(made, after, "{options:?}: {}\n{}", ran.out, self.told());
            self.met.note("patch");
        }
    }

    /// The hunks have this status now. Names go from hand to hand in the order in which files are decided about.
    fn take(&mut self, steps: &[Step], status: Status) {
        for step in steps {
            let before = self.oracle.file(step.file);
            step.parts.iter().for_each(|part| self.oracle.set(*part, status));
            self.oracle.note(step.file, before.as_ref());
        }
    }

    /// The record has what was decided.
    pub fn check_statuses(&self) {
        let (_, json) = self.project.json(&["status", "--json", "-n", "0"]);
        let of =
            |id: &str| json["edits"].as_array().unwrap().iter().find(|edit| edit["edit_id"] == id).cloned();
        for edit in &self.oracle.edits {
            assert_eq!(of(&edit.id).unwrap()["status"], edit.status().word(), "{}\n{}", edit.id, self.told());
        }
    }

    /// The same of each hunk.
    fn check_hunks(&self) {
        let ids = self.oracle.edits.iter().map(|edit| edit.id.as_str());
        let (_, json) = self.project.json(&["show", "--json"].into_iter().chain(ids).collect::<Vec<_>>());
        for edit in &self.oracle.edits {
            let shown = json["edits"].as_array().unwrap().iter().find(|shown| shown["edit_id"] == *edit.id);
            let shown: Vec<&str> = shown.unwrap()["hunks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|hunk| hunk["decision"].as_str().unwrap())
                .collect();
            let word = |status: &Status| match status {
                Status::Pending => "undecided",
                decided => decided.word(),
            };
            let has: Vec<&str> = edit.statuses.iter().map(word).collect();
            assert_eq!(shown, has, "{}\n{}", edit.id, self.told());
        }
    }

    /// All that was ever made goes with one command.
    fn take_all_back(&mut self) {
        let all: Vec<Part> = self.oracle.parts().filter(|part| self.oracle.is_in(*part)).collect();
        if all.is_empty() {
            return;
        }
        let named: Vec<String> =
            self.conversations.iter().flatten().flat_map(|id| ["-c".to_owned(), id.clone()]).collect();
        let refused = self.run("reject", &named.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(refused, Ok(()), "{}", self.told());
        self.oracle = self.oracle.with(&all, Status::Rejected);
        self.check();
        self.check_statuses();
    }

    pub fn play(mut self) -> Met {
        // Some are long.
        let most = if self.rng.chance(5) { 110 } else { 30 };
        let steps = 10 + self.rng.below(most);
        for _ in 0..steps {
            match self.rng.below(10) {
                0..5 => self.edit(),
                5..8 => self.decide(),
                8 => self.export(),
                _ => {
                    remove_empty_folders(&self.project.folder);
                    self.agent = Agent::start(&self.project, &[]);
                    // It is another one, to which those of the one before do not belong.
                    self.conversations.extend(vec![None; CONVERSATIONS]);
                    self.story.push("a new process, without empty folders".to_owned());
                    self.met.note("restart");
                }
            }
            self.check();
        }
        if !self.oracle.edits.is_empty() {
            self.check_hunks();
            self.check_statuses();
            self.take_all_back();
            self.project.assert_whole();
        }
        self.met
    }
}
