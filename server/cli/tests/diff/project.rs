//! A project with a history, and the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hashline_history::{
    ConversationId, Decided, Decision, DocumentName, Draft, EditId, FileChange, FilesNow, HunkRef, Mode,
    NewEdit, NewHunk, Now, Operation, Reason, Store,
};
use hashline_link::StateDir;
use hashline_mcp::signer_of;
use hashline_text::{DiskForm, Ending, FileHash, OwnedLine, Text};
use hashline_weave::{Change, Weave};

/// A folder with a history.
pub struct Project {
    pub temp: tempfile::TempDir,
    pub folder: PathBuf,
}

/// What came of a run.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

struct NoFiles;

impl FilesNow for NoFiles {
    fn hash(&self, _: &Path) -> std::io::Result<Option<FileHash>> {
        Ok(None)
    }
}

/// What an edit is called, and who made it.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    pub id: &'a str,
    pub conversation: &'a str,
    pub agent: &'a str,
}

/// A line that replaces one, by its number from 0.
pub type Replaced<'a> = (usize, &'a str);

impl Project {
    pub fn new() -> Self {
        Self::called("project".as_ref())
    }

    pub fn called(name: &std::ffi::OsStr) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(&folder).unwrap();
        Self { temp, folder }
    }

    pub fn store(&self) -> Store {
        let state = StateDir::new(Some(&self.temp.path().join("state"))).unwrap();
        Store::new(&self.folder, "a test").signed_by(signer_of(&state))
    }

    fn name(&self, file: &str) -> DocumentName {
        DocumentName::Path(self.folder.join(file))
    }

    /// Records edits of a new file, each in lines of the text that the ones before have left.
    pub fn edits(&self, file: &str, text: &str, edits: &[(Made<'_>, &[Replaced<'_>])]) {
        let mut weave = Weave::new(Text::from(text));
        let store = self.store();
        let mut session = store.session(&NoFiles).unwrap();
        for (made, replaced) in edits {
            let hash = |weave: &mut Weave| DiskForm::default().hash(&weave.agent().clone());
            let changes: Vec<Change> = replaced
                .iter()
                .map(|(line, new)| Change {
                    lines: *line..line + 1,
                    new: vec![OwnedLine::new(*new, Ending::Lf)],
                })
                .collect();
            let before = hash(&mut weave);
            let ids = weave.record(&changes).unwrap();
            let hunks = (1..).zip(ids.iter().zip(&changes)).map(|(number, (id, change))| NewHunk {
                number,
                id: Some(*id),
                line: change.lines.start,
            });
            let edit = NewEdit {
                hunks: hunks.collect(),
                hash_before: Some(before),
                hash_after: Some(hash(&mut weave)),
                ..edit(*made, "edit_text_file", Operation::Edit)
            };
            let now = Now::Text { weave: &weave, form: DiskForm::default(), hash: None };
            session
                .append(&Draft { now: Some(now), edit: Some(edit), ..Draft::about(self.name(file)) })
                .unwrap();
        }
        assert!(session.finish().is_empty());
    }

    /// Records a move of a file that nothing is recorded of.
    pub fn moves(&self, made: Made<'_>, from: &str, to: &str) {
        let change = FileChange { name: Some((self.name(from), self.name(to))), ..FileChange::default() };
        let hunk = NewHunk { number: 1, id: None, line: 0 };
        let edit =
            NewEdit { file: Some(change), hunks: vec![hunk], ..edit(made, "move_file", Operation::Move) };
        let store = self.store();
        let mut session = store.session(&NoFiles).unwrap();
        session.append(&Draft { edit: Some(edit), ..Draft::about(self.name(to)) }).unwrap();
        assert!(session.finish().is_empty());
    }

    /// Records decisions about hunks of a file.
    pub fn decided(&self, file: &str, decisions: &[(&str, Decision, Option<&str>)]) {
        let decisions = decisions.iter().map(|(hunk, decision, reason)| Decided {
            hunk: hunk.parse::<HunkRef>().unwrap(),
            decision: *decision,
            reason: reason.and_then(Reason::of),
        });
        let store = self.store();
        let mut session = store.session(&NoFiles).unwrap();
        session.append(&Draft { decisions: decisions.collect(), ..Draft::about(self.name(file)) }).unwrap();
        assert!(session.finish().is_empty());
    }

    /// `mcpdiff` in the project, without colours asked for or forbidden.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpdiff"));
        command.args(arguments).arg("--state-dir").arg(self.temp.path().join("state"));
        command.current_dir(&self.folder).stdin(Stdio::null()).env("TZ", "UTC");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "HASHLINE_LOG"] {
            command.env_remove(name);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments))
    }

    /// What a run prints as JSON, and its code.
    pub fn json(&self, arguments: &[&str]) -> (i32, serde_json::Value) {
        let ran = self.run(arguments);
        (
            ran.code,
            serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err)),
        )
    }
}

pub fn ran(mut command: Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

fn edit(made: Made<'_>, tool: &str, operation: Operation) -> NewEdit {
    NewEdit {
        id: EditId::from(made.id),
        conversation: ConversationId::from(made.conversation),
        agent: made.agent.into(),
        connection: "1".into(),
        opens_conversation: false,
        tool: tool.to_owned(),
        reason: Reason::of_agent("asked for\nin the issue"),
        mode: Mode::Propose,
        operation,
        hash_before: None,
        hash_after: None,
        hunks: Vec::new(),
        file: None,
    }
}

/// Two conversations: one with an edit in two places and one in a place, and a move; another with an edit that was rejected.
pub fn sample() -> Project {
    let project = Project::new();
    let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    project.edits(
        "src/greet.js",
        &text,
        &[(A, &[(1, "second"), (3, "fourth"), (20, "twenty-first")]), (B, &[(10, "eleventh")])],
    );
    project.edits("notes.txt", "one\ntwo\n", &[(C, &[(0, "eins")])]);
    project.decided("notes.txt", &[("cccccccc-3:1", Decision::Rejected, Some("in English, please"))]);
    project.moves(D, "old/name.txt", "new/name.txt");
    project
}

pub const ONE: &str = "conv_1700000000000_11111111";
pub const TWO: &str = "conv_1700000000000_22222222";
pub const A: Made<'_> = Made { id: "aaaaaaaa-1", conversation: ONE, agent: "claude-code" };
pub const B: Made<'_> = Made { id: "aaaabbbb-2", conversation: ONE, agent: "claude-code" };
pub const C: Made<'_> = Made { id: "cccccccc-3", conversation: TWO, agent: "codex" };
pub const D: Made<'_> = Made { id: "dddddddd-4", conversation: ONE, agent: "claude-code" };
