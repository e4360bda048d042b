//! Sixteen agents and a typing person in one document, each in a thread: nobody loses anything, nobody waits for ever, and what an
//! agent has written it reads.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_text::{DocVersion, Encoding, HashPrefix, Position, Span, Text};
use hashline_weave::{View, apply_text_edits};
use hashline_workspace::agent::{EditRequest, ReadRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Along, Change, Choice, ContentChange, Mode, Request, Target};
use hashline_workspace::{Caller, Histories, Settings, Workspace};

const AGENTS: usize = 16;
const EDITS: usize = 60;
const URI: &str = "untitled:shared";

/// The editor: types, and carries out what it is sent, in turn.
struct Editor {
    workspace: Workspace,
    text: Text,
    version: i32,
    typed: usize,
}

impl Editor {
    fn say(&mut self, span: Option<Span>, new: &str) {
        self.version += 1;
        let change = ContentChange { span, text: new.to_owned() };
        self.workspace.did_change(URI, DocVersion(self.version), &[change]).unwrap();
        let (version, text) = self.workspace.text_of(URI).unwrap();
        assert_eq!((version.0, text.to_string()), (self.version, self.text.to_string()));
    }

    /// The person types a line of their own, or goes on with one.
    fn types(&mut self) {
        let lines = self.text.to_string();
        let own: Vec<usize> = lines
            .lines()
            .enumerate()
            .filter(|(_, line)| line.starts_with("mine"))
            .map(|(at, _)| at)
            .collect();
        let at = own[self.typed * 7 % own.len()] as u32;
        let (at, new) = match self.typed % 5 {
            0 => (Position::new(at, 0), format!("mine {}\n", self.typed)),
            _ => (Position::new(at, u32::MAX), format!(" {}.", self.typed)),
        };
        let span = Span::new(at, at);
        self.text.apply(span, Encoding::Utf16, &new).unwrap();
        self.typed += 1;
        self.say(Some(span), &new);
    }

    fn delivers(&mut self) -> bool {
        let Some(delivery) = self.workspace.poll(URI).0 else { return false };
        // Nothing was typed since: this thread is the one that types.
        assert_eq!(delivery.version.0, self.version);
        apply_text_edits(&mut self.text, &delivery.edits, Encoding::Utf16).unwrap();
        let all = self.text.to_string();
        self.say(None, &all);
        self.workspace.answered(URI, delivery.number, true);
        true
    }
}

/// An agent that counts in a line of its own.
async fn counts(workspace: Workspace, number: usize) {
    let caller = Caller::anywhere(&format!("agent {number}"), &number.to_string());
    for count in 0..EDITS {
        let request = ReadRequest { path: URI.to_owned(), view: View::Agent };
        let read = workspace.read(&caller, &request).await.unwrap();
        let text = read.text().to_string();
        let own = format!("agent {number}: {count}");
        let line = text.lines().position(|line| line == own);
        let line = line.unwrap_or_else(|| panic!("{own} is not to be read in\n{text}"));
        workspace.shown(&read, 0..read.text().line_count());
        let anchor = format!("{}:{}", line + 1, line_hash(&own));
        let raw = RawOperation::new("replace", anchor).content(format!("agent {number}: {}", count + 1));
        let request = EditRequest {
            path: URI.to_owned(),
            file_hash: Some(HashPrefix::from(read.hash)),
            change: Change::Operations(vec![Operation::parse(0, raw).unwrap()]),
            strict: false,
            dry_run: false,
            conversation: Some(format!("conv_{number}")),
            tool: "edit_text_file".into(),
            reason: None,
        };
        let reply = workspace.edit(&caller, request).await.unwrap_or_else(|refusal| panic!("{refusal}"));
        assert_eq!(reply.hash, reply.text.hash(), "the reply's hash is that of what it shows");
    }
}

fn play(mode: Mode) {
    let settings = Settings { open: mode, ..Settings::default() };
    let folder = tempfile::tempdir().unwrap();
    let roots = Roots::open([folder.path()]).unwrap();
    let (workspace, _events) = Workspace::new(roots, settings, Histories::of("a test"));
    let text: String = (0..AGENTS).map(|number| format!("mine\nagent {number}: 0\n")).collect();
    workspace.did_open(URI, "text", DocVersion(1), Encoding::Utf16, &text);
    let mut editor =
        Editor { workspace: workspace.clone(), text: Text::from(text.as_str()), version: 1, typed: 0 };
    let done = Arc::new(AtomicBool::new(false));
    let person = std::thread::spawn({
        let done = done.clone();
        move || {
            while !done.load(Ordering::Relaxed) {
                editor.types();
                editor.delivers();
            }
            editor
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    runtime.block_on(async {
        let agents: Vec<_> =
            (0..AGENTS).map(|number| tokio::spawn(counts(workspace.clone(), number))).collect();
        for agent in agents {
            agent.await.unwrap();
        }
    });
    done.store(true, Ordering::Relaxed);
    let mut editor = person.join().unwrap();
    assert!(editor.typed > AGENTS, "the person came to type beside the agents");
    let accept = Request { along: Along::All, ..Request::of(Choice::Accept, Target::All) };
    let decided = runtime.block_on(workspace.decide(Some(URI), &accept));
    assert_eq!(decided.refused, [], "in {mode:?} mode");
    while editor.delivers() {}
    let text = editor.text.to_string();
    for number in 0..AGENTS {
        let own = format!("agent {number}: ");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(&own)).collect();
        assert_eq!(lines, [format!("{own}{EDITS}")]);
    }
    for number in 0..editor.typed {
        let marks = [format!("mine {number}"), format!(" {number}.")];
        assert!(marks.iter().any(|mark| text.contains(mark)), "what was typed as number {number} is gone");
    }
    let scope = ReviewScope::default();
    let edits = runtime.block_on(workspace.edits(&Caller::anywhere("all", "0"), &scope)).unwrap();
    assert_eq!(edits.len(), AGENTS * EDITS);
    assert!(edits.iter().all(|edit| edit.status == hashline_history::Status::Accepted));
}

#[test]
fn held_edits_of_sixteen_agents_come_beside_the_typing() {
    play(Mode::Propose);
}

#[test]
fn edits_of_sixteen_agents_that_go_in_at_once_come_beside_the_typing() {
    play(Mode::Apply);
}
