//! What agents do next.

use std::path::Path;

use hashline_history::path::to_text;
use serde_json::{Value, json};

use super::oracle::{Edit, File, Now, Op, Status, is_above};
use super::play::Play;

/// The names that there are to have, in three folders and in two that have the names of files; two differ in their case alone.
pub const NAMES: [&str; 10] = ["a", "b", "B", "src/a", "src/c", "doc/b", "doc/d", "a/x", "a/y/z", "src"];
/// What an agent is told where an editor has written to the record at the same moment.
const AGAIN: &str = "Read it again and try again";
/// How many conversations an agent has.
pub const CONVERSATIONS: usize = 4;

/// A name that differs in its case alone.
fn other_case(name: &str) -> String {
    let other = |letter: char| match letter.is_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    name.chars().map(other).collect()
}

impl Play {
    fn is_free(&self, name: &str) -> bool {
        // A folder may be empty, and an agent takes it for what it is.
        let is_there = self.project.folder.join(name).exists();
        let is_below = self.tree().keys().any(|other| is_above(other, name));
        !is_there && !is_below && !self.oracle.is_promised(name)
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
                let seen = self.oracle.for_agents(file).unwrap_or(now);
                let changes = self.changes(&seen.lines);
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
        let (tool, arguments) = call(&path, &op, &self.project.folder);
        let mut made = self.agent.attempt(tool, arguments.clone(), conversation.as_deref());
        if self.desk.is_some() && made.as_ref().is_err_and(|said| said.contains(AGAIN)) {
            // An editor records in its own time that it has closed a file.
            self.met.note("edit again");
            self.agent.read(&path);
            made = self.agent.attempt(tool, arguments, conversation.as_deref());
        }
        let (id, opened) = match (made, self.refuses(file, &op)) {
            (Ok(made), None) => made,
            (Err(said), Some(why)) => {
                assert!(said.contains(why), "{said}\n{}", self.told());
                self.story.push(format!("refused {}: {op:?}: {why}", now.name));
                return self.met.note(format!("edit refused: {why}"));
            }
            (made, why) => panic!("{made:?} {op:?} of {} {why:?}\n{}", now.name, self.told()),
        };
        self.conversations[of] = Some(opened);
        self.story.push(format!("{} {of} {}: {op:?}", &id[..8], now.name));
        let before = Some(&now).filter(|_| self.oracle.edits.iter().any(|edit| edit.file == file));
        let replaced = if let Op::Make(_) = op { now.lines.clone() } else { Vec::new() };
        let held = vec![self.holds(file, &op); op.hunks()];
        let over = self.oracle.for_agents(file).unwrap().made;
        let statuses = vec![Status::Pending; op.hunks()];
        self.oracle.edits.push(Edit { id, conversation: of, file, op, over, replaced, statuses, held });
        self.oracle.note(file, before);
    }

    /// What an agent is told that may not do something to a file now.
    fn refuses(&self, file: usize, op: &Op) -> Option<&'static str> {
        match op {
            Op::Make(_) | Op::Put(_) => None,
            _ if self.oracle.is_unsaved(file) => Some("open in the editor with unsaved changes"),
            _ if self.oracle.has_held_change(file) => Some("waits for the person already"),
            Op::Move(..) | Op::Remove => None,
        }
    }

    /// Whether an edit waits outside of the text.
    fn holds(&mut self, file: usize, op: &Op) -> bool {
        let is_open = self.oracle.is_open(file);
        let rests = match op {
            Op::Put(changes) => self.oracle.rests_on_held(changes.iter().map(|(old, _)| old)),
            Op::Make(_) | Op::Move(..) | Op::Remove => false,
        };
        if is_open || rests {
            self.met.note(if is_open { "held: in an open file" } else { "held: on held" });
        }
        is_open || rests
    }
}

/// The tool that does something to a file, and its arguments.
fn call(path: &Path, op: &Op, folder: &Path) -> (&'static str, Value) {
    let path = to_text(path);
    match op {
        Op::Make(lines) => ("write_file", json!({"path": path, "content": lines.concat()})),
        Op::Put(changes) => {
            let edits: Vec<Value> =
                changes.iter().map(|(old, new)| json!({"old": old, "new": new})).collect();
            ("edit_file_diff", json!({"path": path, "edits": edits}))
        }
        Op::Move(_, to) => ("move_file", json!({"source": path, "destination": to_text(&folder.join(to))})),
        Op::Remove => ("delete_file", json!({"path": path})),
    }
}
