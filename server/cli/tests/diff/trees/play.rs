//! One play: a folder, an agent that changes it and a person who decides, and what has to be so after each step.

use std::fmt::Debug;
use std::path::Path;

use serde_json::Value;

use crate::agent::Agent;
use crate::chance::Rng;
use crate::files::files_in;
use crate::plain_editor::until;
use crate::project::Project;

use super::decision::{Decision, Step, Target};
use super::editor::Desk;
use super::edits::{CONVERSATIONS, NAMES};
use super::met::Met;
use super::oracle::{Edit, File, Oracle, Part, Status, Tree, is_beside};

/// What the command says where the same may be decided a moment later.
const AGAIN: [&str; 2] = ["another process was quicker", "does not answer"];

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

pub fn tree_in(folder: &Path) -> Tree {
    let text = |(bytes, _): (Vec<u8>, u32)| String::from_utf8(bytes).unwrap();
    files_in(folder).into_iter().map(|(name, file)| (name, text(file))).collect()
}

/// An edit as the command tells of it.
fn edit_in<'a>(json: &'a Value, id: &str) -> &'a Value {
    let edits = json["edits"].as_array().unwrap();
    edits.iter().find(|edit| edit["edit_id"] == id).unwrap_or_else(|| panic!("no {id} in {json}"))
}

pub struct Play {
    pub project: Project,
    pub agent: Agent,
    pub rng: Rng,
    pub oracle: Oracle,
    /// Those of the agents so far, as far as they are opened: the last ones are of the agent that runs.
    pub conversations: Vec<Option<String>>,
    /// The editor, where there is one.
    pub desk: Option<Desk>,
    pub next: usize,
    pub met: Met,
    pub story: Vec<String>,
}

impl Play {
    pub fn begin(seed: u64) -> Self {
        let project = Project::new();
        let mut rng = Rng::new(seed);
        let mut oracle = Oracle::default();
        for name in NAMES {
            let fits = |file: &File| !is_beside(&file.name, name);
            if rng.chance(50) && oracle.files.iter().all(fits) {
                let lines: Vec<String> = (0..6).map(|at| format!("{name} {at}\n")).collect();
                project.write(name, &lines.concat());
                oracle.files.push(File { name: name.to_owned(), lines: Some(lines) });
            }
        }
        let agent = Agent::start(&project, &[]);
        let conversations = vec![None; CONVERSATIONS];
        let (met, story) = (Met::default(), Vec::new());
        Self { project, agent, rng, oracle, conversations, desk: None, next: 0, met, story }
    }

    pub fn tree(&self) -> Tree {
        tree_in(&self.project.folder)
    }

    fn check(&self) {
        self.check_texts();
        assert_eq!(Some(self.tree()), self.oracle.disk(), "{}", self.told());
    }

    pub fn told(&self) -> String {
        self.story.join("\n")
    }

    /// Lets the command decide, and again where an editor has written to the record at the same moment, or does not answer in time on a
    /// machine that has much to do: then nothing has changed.
    fn run(&mut self, verb: &str, named: &[&str]) -> Result<(), String> {
        let mut said = self.run_once(verb, named);
        for late in AGAIN {
            if self.desk.is_some() && said.as_ref().is_err_and(|why| why.contains(late)) {
                self.met.note(format!("decided again: {late}"));
                said = self.run_once(verb, named);
            }
        }
        said
    }

    /// Lets the command decide. Says whether it did, and what it said else.
    fn run_once(&mut self, verb: &str, named: &[&str]) -> Result<(), String> {
        let arguments = [&[verb], named].concat();
        let before = (self.tree(), self.texts());
        let ran = self.project.run(&arguments);
        let short: Vec<&str> = arguments.iter().map(|word| &word[word.len().saturating_sub(38)..]).collect();
        self.story.push(format!("{} => {} {}", short.join(" "), ran.code, ran.err.trim()));
        if ran.code == 0 {
            return Ok(());
        }
        assert_eq!(
            (self.tree(), self.texts()),
            before,
            "refused, and yet something has changed\n{}",
            self.told()
        );
        assert!(ran.out.is_empty(), "refused, and yet something was decided: {}\n{}", ran.out, self.told());
        Err(ran.err)
    }

    /// A hunk that is decided about with pleasure: one of a file that is open, or one that is out and may need others.
    fn part_to_decide(&mut self, status: Status) -> Part {
        let oracle = &self.oracle;
        let open: Vec<Part> =
            oracle.parts().filter(|(edit, _)| oracle.is_open(oracle.edits[*edit].file)).collect();
        let out: Vec<Part> = oracle.parts().filter(|part| !oracle.is_in(*part)).collect();
        if !open.is_empty() && self.rng.chance(40) {
            return *self.rng.pick(&open);
        }
        if status == Status::Accepted && !out.is_empty() && self.rng.chance(50) {
            return *self.rng.pick(&out);
        }
        let edit = self.rng.below(self.oracle.edits.len());
        (edit, 1 + self.rng.below(self.oracle.edits[edit].op.hunks()))
    }

    /// What a person may decide next.
    fn wish(&mut self) -> Option<Decision> {
        let status = if self.rng.chance(45) { Status::Accepted } else { Status::Rejected };
        let with_others = self.rng.chance(25);
        let kind = self.rng.below(10);
        if self.oracle.edits.is_empty() {
            return None;
        }
        let (edit, hunk) = self.part_to_decide(status);
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
        let is_of_names =
            matches!(decision.target, Target::Conversation(_)) && !decision.is_of_lines(&self.oracle);
        if is_of_names && !self.may_decide_about_names() {
            return;
        }
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
                self.note_in_editor(&outcome.steps, decision.status);
                self.take(&outcome.steps, decision.status);
                // What the editor has removed it has closed, whatever came back after that.
                self.oracle.open.retain(|file, _| outcome.then.is_open(*file));
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

    /// The hunks have this status now. Names go from hand to hand in the order in which files are decided about.
    fn take(&mut self, steps: &[Step], status: Status) {
        for step in steps {
            let before = self.oracle.file(step.file);
            step.parts.iter().for_each(|part| self.oracle.set(*part, status));
            self.oracle.note(step.file, before.as_ref());
        }
    }

    /// The record has what was decided; what an editor has shown late it has soon.
    pub fn check_statuses(&self) {
        let expected: Vec<&str> = self.oracle.edits.iter().map(|edit| edit.status().word()).collect();
        let found = || {
            let (_, json) = self.project.json(&["status", "--json", "-n", "0"]);
            let status = |edit: &Edit| edit_in(&json, &edit.id)["status"].as_str().unwrap().to_owned();
            self.oracle.edits.iter().map(status).collect::<Vec<_>>()
        };
        self.comes_to(found, &expected);
    }

    /// The same of each hunk.
    pub fn check_hunks(&self) {
        let word = |status: &Status| match status {
            Status::Pending => "undecided",
            decided => decided.word(),
        };
        let hunks = |edit: &Edit| edit.statuses.iter().map(word).collect::<Vec<_>>();
        let expected: Vec<_> = self.oracle.edits.iter().map(hunks).collect();
        let ids = self.oracle.edits.iter().map(|edit| edit.id.as_str());
        let named: Vec<&str> = ["show", "--json"].into_iter().chain(ids).collect();
        let found = || {
            let (_, json) = self.project.json(&named);
            let word = |hunk: &Value| hunk["decision"].as_str().unwrap().to_owned();
            let hunks = |edit: &Edit| {
                let shown = edit_in(&json, &edit.id);
                shown["hunks"].as_array().unwrap().iter().map(word).collect::<Vec<_>>()
            };
            self.oracle.edits.iter().map(hunks).collect::<Vec<_>>()
        };
        self.comes_to(found, &expected);
    }

    /// What is found is what is expected: at once, or soon where an editor has to show it first.
    pub fn comes_to<T: Debug + PartialEq<U>, U: Debug>(&self, found: impl Fn() -> T, expected: &U) {
        let first = found();
        if first != *expected {
            let what = format!("{expected:?} in place of {first:?}\n{}\n", self.told());
            assert!(self.desk.is_some(), "{what}");
            until(&what, || found() == *expected);
        }
    }

    /// All that was ever made goes with one command.
    fn take_all_back(&mut self) {
        self.leave_desk();
        let all: Vec<Part> = self.oracle.parts().filter(|part| self.oracle.is_alive(*part)).collect();
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
        if self.rng.chance(33) {
            self.start_editor();
        }
        for _ in 0..steps {
            self.at_desk();
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
