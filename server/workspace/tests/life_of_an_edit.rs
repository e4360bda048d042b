//! The life of an edit through the public interface: an agent on one side, an editor on the other.
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use std::time::Duration;

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_history::{Decision, DocumentName, HunkRef, Location, Reason, Status, Store};
use hashline_text::{DocVersion, Encoding, FileHash, HashPrefix, Line, Position, Span, Text};
use hashline_weave::{TakeOut, TextEdit, View, apply_text_edits};
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest, ReviewScope};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{
    Change, Choice, ContentChange, HunkState, Mode, Refused, Request, Target, Why,
};
use hashline_workspace::{Caller, Histories, Refusal, Rule, Settings, Workspace};

/// An editor with one document, which does what it is told.
struct Desk {
    workspace: Workspace,
    folder: tempfile::TempDir,
    uri: String,
    text: Text,
    version: i32,
}

impl Desk {
    fn new(settings: Settings, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "on the disk\n").unwrap();
        let roots = Roots::open([folder.path()]).unwrap();
        let (workspace, _) = Workspace::new(roots, settings, Histories::of("a test"));
        let uri = url::Url::from_file_path(folder.path().join("a.txt")).unwrap().to_string();
        workspace.did_open(&uri, "text", DocVersion(1), Encoding::Utf16, text);
        Self { workspace, folder, uri, text: Text::from(text), version: 1 }
    }

    fn path(&self) -> String {
        self.folder.path().join("a.txt").display().to_string()
    }

    fn caller() -> Caller {
        Caller::anywhere("tester", "1")
    }

    /// Reads all of it, as an agent does.
    async fn read(&self, view: View) -> (Text, FileHash) {
        let request = ReadRequest { path: self.path(), view };
        let reply = self.workspace.read(&Self::caller(), &request).await.unwrap();
        self.workspace.shown(&reply, 0..reply.text().line_count());
        (reply.text().clone(), reply.hash)
    }

    fn anchor(text: &Text, line: usize) -> String {
        format!("{}:{}", line + 1, line_hash(&text.line(Line(line)).unwrap().content()))
    }

    async fn edit(&self, hash: FileHash, operations: &[RawOperation]) -> Result<EditReply, Refusal> {
        let operations =
            operations.iter().enumerate().map(|(n, raw)| Operation::parse(n, raw.clone()).unwrap()).collect();
        let request = EditRequest {
            path: self.path(),
            file_hash: Some(HashPrefix::from(hash)),
            change: Change::Operations(operations),
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "edit_text_file".into(),
            reason: None,
        };
        self.workspace.edit(&Self::caller(), request).await
    }

    /// Reports edits as a change of the editor's text.
    fn make(&mut self, edits: &[TextEdit]) {
        apply_text_edits(&mut self.text, edits, Encoding::Utf16).unwrap();
        self.version += 1;
        let changes: Vec<ContentChange> = edits
            .iter()
            .rev()
            .map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() })
            .collect();
        self.workspace.did_change(&self.uri, DocVersion(self.version), &changes).unwrap();
        assert_eq!(self.workspace.text_of(&self.uri).unwrap().1, self.text);
    }

    /// Replaces the whole text, in one change.
    fn becomes(&mut self, text: &str) {
        self.text = Text::from(text);
        self.version += 1;
        let change = ContentChange { span: None, text: text.into() };
        self.workspace.did_change(&self.uri, DocVersion(self.version), &[change]).unwrap();
    }

    /// Carries out what is sent. Returns whether anything was.
    fn deliver(&mut self) -> bool {
        let (Some(delivery), _) = self.workspace.poll(&self.uri) else { return false };
        assert_eq!(delivery.version, DocVersion(self.version));
        self.make(&delivery.edits);
        self.workspace.answered(&self.uri, delivery.number, true);
        true
    }

    async fn decide(&self, choice: Choice, edited: Option<TakeOut>) -> Vec<Why> {
        let request = Request { edited, ..Request::of(choice, Target::All) };
        let decided = self.workspace.decide(Some(&self.uri), &request).await;
        decided.refused.into_iter().map(|undecided| undecided.why).collect()
    }

    /// Accepts a hunk in these words.
    async fn accept_as(&self, hunk: &HunkRef, own: &[String]) -> Vec<Why> {
        let own = Some(own.to_vec());
        let request = Request { own, ..Request::of(Choice::Accept, Target::Hunk(hunk.clone())) };
        let decided = self.workspace.decide(Some(&self.uri), &request).await;
        decided.refused.into_iter().map(|undecided| undecided.why).collect()
    }

    /// The text as the workspace has it.
    fn text(&self) -> Text {
        self.workspace.text_of(&self.uri).unwrap().1
    }

    fn state(&self) -> HunkState {
        self.workspace.review(&self.uri).unwrap().review.edits[0].hunks[0].state
    }
}

fn replace(anchor: String, content: &str) -> RawOperation {
    RawOperation::new("replace", anchor).content(content)
}

#[tokio::test]
async fn a_held_edit_is_accepted_undone_and_accepted_again() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree");
    let (text, hash) = desk.read(View::Agent).await;
    let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap();
    assert_eq!(reply.states, [HunkState::Held]);
    assert_eq!(reply.text, "one\n2\nthree");
    assert_eq!(desk.read(View::Buffer).await.0, "one\ntwo\nthree");
    assert!(!desk.deliver(), "a held edit is not delivered");

    assert_eq!(desk.decide(Choice::Accept, None).await, []);
    assert!(desk.deliver());
    assert_eq!(desk.text, "one\n2\nthree");
    assert!(desk.workspace.reviews().is_empty());

    desk.becomes("one\ntwo\nthree");
    assert_eq!(desk.state(), HunkState::Held, "an undone acceptance is offered again");
    desk.becomes("one\n2\nthree");
    assert!(desk.workspace.reviews().is_empty(), "and redoing it accepts it");
    desk.workspace.settle_record();
    let folder = desk.folder.path().canonicalize().unwrap();
    let name = DocumentName::Path(folder.join("a.txt"));
    let recorded = Store::new(&folder, "a test").document(&name).unwrap();
    let hunk = &recorded.edits[0].hunks[0];
    assert_eq!((hunk.decision, hunk.location), (Decision::Accepted, Location::Buffer));
    assert_eq!(recorded.weave().unwrap().buffer().to_string(), "one\n2\nthree");
    assert_eq!(std::fs::read_to_string(desk.path()).unwrap(), "on the disk\n");
}

#[tokio::test]
async fn an_edit_in_apply_mode_is_kept_undone_or_asked_about() {
    let settings = Settings { open: hashline_workspace::document::Mode::Apply, ..Settings::default() };
    let mut desk = Desk::new(settings, "one\ntwo\nthree\nfour\nfive\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2a\n2b")]).await.unwrap();
    assert!(desk.deliver());
    assert_eq!(desk.state(), HunkState::InText);
    desk.becomes("one\n2a\n2b, mine\nthree\nfour\nfive\n");
    assert!(matches!(desk.state(), HunkState::Edited(edited) if edited.asks()));
    assert_eq!(desk.decide(Choice::Reject, None).await, [Why::Edited]);
    assert_eq!(desk.decide(Choice::Reject, Some(TakeOut::KeepMyLines)).await, []);
    assert!(desk.deliver());
    assert!(desk.text.to_string().contains("2b, mine\n"), "{}", desk.text);
    assert!(desk.text.to_string().contains("two\n"));
    assert!(!desk.text.to_string().contains("2a\n"));
    assert!(desk.workspace.reviews().is_empty());
}

#[tokio::test]
async fn a_delivery_that_the_editor_passed_over_is_sent_again_where_its_lines_are_now() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap();
    desk.decide(Choice::Accept, None).await;
    let (delivery, _) = desk.workspace.poll(&desk.uri);
    desk.becomes("zero\none\ntwo\nthree\n");
    desk.workspace.answered(&desk.uri, delivery.unwrap().number, true);
    desk.becomes("zero\none!\ntwo\nthree\n");
    for _ in 0..200 {
        if desk.deliver() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(desk.text, "zero\none!\n2\nthree\n");
    assert!(desk.workspace.reviews().is_empty());
}

#[tokio::test]
async fn stale_edits_are_carried_live_and_refused_on_the_disk() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.becomes("new\none\ntwo!\nthree\n");
    let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 2), "3")]).await.unwrap();
    assert!(reply.carried);
    assert_eq!(reply.text, "new\none\ntwo!\n3\n");
    let refusal = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap_err();
    assert!(matches!(refusal, Refusal::Edit(Refused::Stale { .. })), "{refusal}");
    let unknown = desk.edit(FileHash::of(b"?"), &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap_err();
    assert!(matches!(unknown, Refusal::Edit(Refused::UnknownHash { .. })), "{unknown}");

    desk.workspace.did_close(&desk.uri);
    let (text, hash) = desk.read(View::Buffer).await;
    assert_eq!(text, "on the disk\n");
    std::fs::write(desk.path(), "changed\non the disk\n").unwrap();
    let refusal = desk.edit(hash, &[replace(Desk::anchor(&text, 0), "x")]).await.unwrap_err();
    assert!(matches!(refusal, Refusal::Edit(Refused::ChangedOnDisk { .. })), "{refusal}");
}

#[tokio::test]
async fn an_edit_on_the_disk_is_written_and_can_be_taken_back() {
    let desk = Desk::new(Settings::default(), "");
    desk.workspace.did_close(&desk.uri);
    let (text, hash) = desk.read(View::Agent).await;
    let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 0), "by the agent")]).await.unwrap();
    assert_eq!(reply.states, [HunkState::InText]);
    assert_eq!(std::fs::read_to_string(desk.path()).unwrap(), "by the agent\n");
    assert_eq!(desk.decide(Choice::Reject, None).await, []);
    assert_eq!(std::fs::read_to_string(desk.path()).unwrap(), "on the disk\n");
    let scope = ReviewScope { own: true, ..ReviewScope::default() };
    let edits = desk.workspace.edits(&Desk::caller(), &scope).await.unwrap();
    assert_eq!(edits[0].status, Status::Rejected);
}

#[tokio::test]
async fn an_agent_hears_of_a_decision_while_it_waits() {
    let desk = Desk::new(Settings::default(), "one\ntwo\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap();
    let workspace = desk.workspace.clone();
    let waiting = tokio::spawn(async move {
        let scope = ReviewScope { own: true, news: true, ..ReviewScope::default() };
        workspace.await_review(&Desk::caller(), &scope, Duration::from_secs(20)).await.unwrap()
    });
    tokio::task::yield_now().await;
    let request =
        Request { reason: Reason::of("not now"), ..Request::of(Choice::Reject, Target::Lines(1..2)) };
    desk.workspace.decide(Some(&desk.uri), &request).await;
    let review = waiting.await.unwrap();
    let hunk = &review.edits[0].hunks[0].view;
    assert_eq!((hunk.decision, hunk.reason.as_deref()), (Decision::Rejected, Some("not now")));
}

#[tokio::test]
async fn edits_wait_while_their_document_is_closed() {
    let mut desk = Desk::new(Settings::default(), "1\n2\n3\n4\n5\n6\n7\n8\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.edit(hash, &[replace(Desk::anchor(&text, 4), "five")]).await.unwrap();
    desk.workspace.did_close(&desk.uri);
    assert_eq!(desk.workspace.reviews().len(), 1);
    let text = "0\n1\n2\n3\n4\n5\n6\n7\n8\n";
    desk.workspace.did_open(&desk.uri, "text", DocVersion(7), Encoding::Utf16, text);
    (desk.text, desk.version) = (Text::from(text), 7);
    desk.workspace.settle_record();
    assert_eq!(desk.state(), HunkState::Held);
    desk.decide(Choice::Accept, None).await;
    assert!(desk.deliver());
    assert_eq!(desk.text, "0\n1\n2\n3\n4\nfive\n6\n7\n8\n");
}

#[tokio::test]
async fn what_an_agent_builds_on_its_own_held_edit_is_shown_and_decided_with_it() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    let first = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2a\n2b")]).await.unwrap();
    let second = desk.edit(first.hash, &[replace(Desk::anchor(&first.text, 2), "2c")]).await.unwrap();
    assert_eq!(second.held_below.len(), 1);
    let review = desk.workspace.review(&desk.uri).unwrap().review;
    let (whole, part) = (&review.edits[0].hunks[0], &review.edits[1].hunks[0]);
    assert_eq!(
        (whole.removed.as_slice(), whole.proposed.as_slice()),
        (&["two".into()][..], &["2a".into(), "2c".into()][..])
    );
    assert_eq!(part.part_of.as_ref().map(|hunk| &hunk.edit), Some(&first.edit));
    let request = Request::of(Choice::Accept, Target::Edit(first.edit.to_string()));
    let decided = desk.workspace.decide(Some(&desk.uri), &request).await;
    assert!(decided.refused.is_empty(), "{decided:?}");
    assert!(desk.deliver());
    assert_eq!(desk.text, "one\n2a\n2c\nthree\n");
    assert!(desk.workspace.reviews().is_empty());
}

#[tokio::test]
async fn an_agent_is_told_when_the_file_under_an_open_document_was_changed() {
    let mut desk = Desk::new(Settings::default(), "on the disk, and unsaved\n");
    let request = ReadRequest { path: desk.path(), view: View::Agent };
    assert!(!desk.workspace.read(&Desk::caller(), &request).await.unwrap().disk_differs);
    std::fs::write(desk.path(), "changed by something else\n").unwrap();
    assert!(desk.workspace.read(&Desk::caller(), &request).await.unwrap().disk_differs);
    desk.becomes("changed by something else\n");
    assert!(!desk.workspace.read(&Desk::caller(), &request).await.unwrap().disk_differs);
}

#[tokio::test]
async fn an_agent_that_asks_late_is_told_what_was_decided_before() {
    let desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    let operations = [replace(Desk::anchor(&text, 0), "1"), replace(Desk::anchor(&text, 2), "3")];
    desk.edit(hash, &operations).await.unwrap();
    let lines = Target::Lines(0..1);
    let request = Request::of(Choice::Reject, lines);
    desk.workspace.decide(Some(&desk.uri), &request).await;
    let scope = ReviewScope { own: true, news: true, ..ReviewScope::default() };
    let caller = Desk::caller();
    let wait = |timeout| desk.workspace.await_review(&caller, &scope, timeout);
    let review = wait(Duration::from_secs(20)).await.unwrap();
    assert!(!review.timed_out && review.edits[0].hunks[0].view.decision == Decision::Rejected);
    assert!(wait(Duration::ZERO).await.unwrap().timed_out, "nothing new since");
    desk.decide(Choice::Reject, None).await;
    assert_eq!(wait(Duration::from_secs(20)).await.unwrap().edits.len(), 1);
    assert!(wait(Duration::from_secs(20)).await.unwrap().edits.is_empty(), "all told");
}

#[tokio::test]
async fn a_refusal_serves_the_lines_that_it_shows() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    desk.becomes("one\ntwo!\nthree\n");
    let refusal = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2")]).await.unwrap_err().to_string();
    let now = refusal.split("file_hash is ").nth(1).unwrap().split(' ').next().unwrap();
    desk.becomes("zero\none\ntwo!\nthree\n");
    let operation = replace(format!("2:{}", line_hash("two!")), "2");
    let request = EditRequest {
        path: desk.path(),
        file_hash: Some(now.parse().unwrap()),
        change: Change::Operations(vec![Operation::parse(0, operation).unwrap()]),
        strict: false,
        dry_run: false,
        conversation: None,
        tool: "edit_text_file".into(),
        reason: None,
    };
    let reply = desk.workspace.edit(&Desk::caller(), request).await.unwrap();
    assert_eq!(reply.text, "zero\none\n2\nthree\n");
}

#[tokio::test]
async fn a_proposal_can_be_accepted_as_the_person_rewrote_it() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2a\n2b")]).await.unwrap();
    let hunk = HunkRef { edit: reply.edit.clone(), number: 1 };
    let own = ["mine".to_owned(), "2b".to_owned()];
    assert_eq!(desk.accept_as(&hunk, &own).await, []);
    assert!(desk.deliver());
    assert_eq!(desk.text, "one\nmine\n2b\nthree\n");
    let scope = ReviewScope { own: true, ..ReviewScope::default() };
    let edits = desk.workspace.edits(&Desk::caller(), &scope).await.unwrap();
    assert_eq!(edits[0].hunks[0].view.decision, Decision::Accepted);
    assert_eq!(edits[0].hunks[0].changed_to.as_deref(), Some(&own[..]));
    desk.becomes("one\ntwo\nthree\n");
    assert_eq!(desk.state(), HunkState::Held, "one undo takes it back");
}

#[tokio::test]
async fn the_agent_is_told_all_of_what_the_person_made_of_its_lines() {
    for own in [&["mine"][..], &["2a", "mine"], &["mine", "2b"], &["I", "II", "III"], &["2a", "mine", "2b"]] {
        let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
        let (text, hash) = desk.read(View::Agent).await;
        let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2a\n2b")]).await.unwrap();
        let hunk = HunkRef { edit: reply.edit.clone(), number: 1 };
        let own: Vec<String> = own.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(desk.accept_as(&hunk, &own).await, []);
        assert!(desk.deliver());
        assert_eq!(desk.text.to_string(), format!("one\n{}\nthree\n", own.join("\n")));
        let scope = ReviewScope { own: true, ..ReviewScope::default() };
        let edits = desk.workspace.edits(&Desk::caller(), &scope).await.unwrap();
        assert_eq!(edits[0].hunks[0].changed_to.as_ref(), Some(&own));
        desk.becomes("one\ntwo\nthree\n");
        assert_eq!(desk.state(), HunkState::Held, "one undo takes it back");
    }
}

#[tokio::test]
async fn an_agent_that_built_on_its_own_held_edit_is_told_of_each_what_the_person_made_of_both() {
    let mut desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    let first = desk.edit(hash, &[replace(Desk::anchor(&text, 1), "2a\n2b")]).await.unwrap();
    let second = desk.edit(first.hash, &[replace(Desk::anchor(&first.text, 2), "2c")]).await.unwrap();
    let own = ["2a".to_owned(), "mine".to_owned()];
    let hunk = HunkRef { edit: first.edit.clone(), number: 1 };
    assert_eq!(desk.accept_as(&hunk, &own).await, []);
    assert!(desk.deliver());
    assert_eq!(desk.text, "one\n2a\nmine\nthree\n");
    assert!(desk.workspace.reviews().is_empty(), "nothing is left to decide");
    let scope = ReviewScope { own: true, ..ReviewScope::default() };
    let edits = desk.workspace.edits(&Desk::caller(), &scope).await.unwrap();
    let told: Vec<_> =
        edits.iter().map(|edit| (&edit.id, edit.hunks[0].view.decision, &edit.hunks[0].changed_to)).collect();
    let (lower, upper) = (Some(own.to_vec()), Some(vec!["mine".to_owned()]));
    assert_eq!(told, [(&first.edit, Decision::Accepted, &lower), (&second.edit, Decision::Accepted, &upper)]);
}

/// Changes as Neovim reports them for a buffer without a final newline: it counts one all the same.
#[tokio::test]
async fn an_editor_may_count_an_ending_behind_a_last_line_that_has_none() {
    type Step<'a> = ((u32, u32), (u32, u32), &'a str, &'a str);
    let unix: &[Step<'_>] = &[
        ((1, 3), (2, 0), "\n\n", "one\ntwo\n"),
        ((2, 0), (2, 0), "three", "one\ntwo\nthree"),
        ((3, 0), (3, 0), "four\n", "one\ntwo\nthree\nfour"),
        ((2, 5), (4, 0), "\n", "one\ntwo\nthree"),
        ((1, 0), (3, 0), "2\n", "one\n2"),
        ((2, 0), (2, 0), "\n", "one\n2\n"),
        ((3, 0), (3, 0), "4\n", "one\n2\n\n4"),
        ((0, 0), (4, 0), "\n", ""),
        ((0, 0), (1, 0), "a\nb\n", "a\nb"),
    ];
    let dos: &[Step<'_>] = &[
        ((1, 3), (2, 0), "\r\n\r\n", "one\r\ntwo\r\n"),
        ((2, 0), (2, 0), "three", "one\r\ntwo\r\nthree"),
        ((1, 0), (3, 0), "", "one"),
    ];
    for (start, steps, edited) in [
        ("one\ntwo", unix, false),
        ("one\ntwo", unix, true),
        ("one\r\ntwo", dos, false),
        ("one\r\ntwo", dos, true),
    ] {
        let mut desk = Desk::new(Settings::default(), start);
        if edited {
            let (text, hash) = desk.read(View::Agent).await;
            desk.edit(hash, &[replace(Desk::anchor(&text, 0), "1")]).await.unwrap();
        }
        for (from, to, new, expected) in steps {
            let at = |(line, character)| Position::new(line, character);
            desk.version += 1;
            let change = ContentChange { span: Some(Span::new(at(*from), at(*to))), text: (*new).into() };
            let taken = desk.workspace.did_change(&desk.uri, DocVersion(desk.version), &[change]);
            assert_eq!((taken, &*desk.text().to_string()), (Ok(()), *expected), "{from:?}-{to:?} {new:?}");
        }
    }
    // Two lines further there is nothing that an editor could mean.
    let desk = Desk::new(Settings::default(), "one\ntwo");
    let at = Position::new(3, 0);
    let change = ContentChange { span: Some(Span::new(at, at)), text: "x".into() };
    desk.workspace.did_change(&desk.uri, DocVersion(2), &[change]).unwrap_err();
}

#[tokio::test]
async fn taking_out_what_an_edit_put_in_is_no_undo_of_it() {
    let settings = Settings { open: hashline_workspace::document::Mode::Apply, ..Settings::default() };
    let mut desk = Desk::new(settings, "one\ntwo\n");
    let (text, hash) = desk.read(View::Agent).await;
    let insert = RawOperation::new("insert_after", Desk::anchor(&text, 0)).content("more");
    let first = desk.edit(hash, &[insert]).await.unwrap();
    assert!(desk.deliver());
    desk.edit(first.hash, &[RawOperation::new("delete", Desk::anchor(&first.text, 1))]).await.unwrap();
    assert!(desk.deliver());
    assert_eq!(desk.text, "one\ntwo\n");
    let review = desk.workspace.review(&desk.uri).unwrap().review;
    let states: Vec<HunkState> = review.edits.iter().map(|edit| edit.hunks[0].state).collect();
    assert_eq!(states, [HunkState::InText, HunkState::InText]);
    assert!(!desk.deliver(), "nothing is sent again");
}

#[tokio::test]
async fn an_open_document_lies_in_a_root_as_long_as_its_folder_is_served() {
    let elsewhere = tempfile::tempdir().unwrap();
    let roots = |folder: &std::path::Path| Roots::open([folder]).unwrap();
    let rule = Rule::new(None, Some("*.txt"), Mode::Apply).unwrap();
    let mut desk = Desk::new(Settings { rules: vec![rule], ..Settings::default() }, "one\ntwo\n");
    let served = desk.folder.path().to_owned();
    let read = ReadRequest { path: desk.path(), view: View::Agent };
    let name = || desk.workspace.documents(&Desk::caller())[0].name.clone();
    let path = served.canonicalize().unwrap().join("a.txt").display().to_string();

    desk.workspace.set_roots(roots(elsewhere.path()));
    assert!(desk.workspace.read(&Desk::caller(), &read).await.is_err());
    assert_eq!(name(), desk.uri, "outside the roots it is known by its URI");

    // Its folder comes: it is named, and treated by rules, as what lies in it.
    desk.workspace.set_roots(roots(&served));
    assert_eq!(name(), path);
    let (text, hash) = desk.read(View::Agent).await;
    let operation = RawOperation::new("replace", Desk::anchor(&text, 1)).content("2");
    let reply = desk.edit(hash, &[operation]).await.unwrap();
    assert_eq!((reply.mode, reply.name.as_str()), (Mode::Apply, path.as_str()));
    assert!(desk.deliver());

    // Its folder goes, and then the document: there is no file to take the edit out of.
    std::fs::write(served.join("a.txt"), "one\n2\n").unwrap();
    desk.workspace.set_roots(roots(elsewhere.path()));
    desk.workspace.did_close(&desk.uri);
    let request = |choice| {
        let target = Target::Edit(reply.edit.to_string());
        Request::of(choice, target)
    };
    let refused = desk.workspace.decide(Some(&desk.uri), &request(Choice::Reject)).await.refused;
    assert!(refused[0].message.contains("Open it, then decide"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(served.join("a.txt")).unwrap(), "one\n2\n");
    assert_eq!(desk.workspace.decide(Some(&desk.uri), &request(Choice::Accept)).await.refused, []);

    // Opened again after its folder has come back.
    desk.workspace.set_roots(roots(&served));
    desk.workspace.did_open(&desk.uri, "text", DocVersion(1), Encoding::Utf16, "one\n2\n");
    assert_eq!(desk.workspace.documents(&Desk::caller())[0].name, path);
}

#[tokio::test]
async fn an_edit_of_a_file_is_out_of_reach_while_its_folder_is_not_served() {
    let elsewhere = tempfile::tempdir().unwrap();
    let roots = |folder: &std::path::Path| Roots::open([folder]).unwrap();
    let desk = Desk::new(Settings::default(), "");
    desk.workspace.did_close(&desk.uri);
    let (text, hash) = desk.read(View::Agent).await;
    let reply = desk.edit(hash, &[replace(Desk::anchor(&text, 0), "by the agent")]).await.unwrap();
    let id = reply.edit.to_string();
    let (all, caller) = (ReviewScope::default(), Desk::caller());
    assert_eq!(desk.workspace.edits(&caller, &all).await.unwrap().len(), 1);

    desk.workspace.set_roots(roots(elsewhere.path()));
    assert_eq!(desk.workspace.edits(&caller, &all).await.unwrap(), []);
    let refused = desk.workspace.withdraw(&caller, &id).await;
    assert!(matches!(refused, Err(Refusal::NoSuchEdit(_))), "{refused:?}");
    assert_eq!(std::fs::read_to_string(desk.path()).unwrap(), "by the agent\n");

    desk.workspace.set_roots(roots(desk.folder.path()));
    desk.workspace.withdraw(&caller, &id).await.unwrap();
    assert_eq!(std::fs::read_to_string(desk.path()).unwrap(), "on the disk\n");
}

#[tokio::test]
async fn a_beginning_that_fits_two_edits_withdraws_neither() {
    let desk = Desk::new(Settings::default(), "one\ntwo\nthree\n");
    let (text, hash) = desk.read(View::Agent).await;
    for line in [0, 2] {
        desk.edit(hash, &[replace(Desk::anchor(&text, line), "x")]).await.unwrap();
    }
    let refusal = desk.workspace.withdraw(&Desk::caller(), "").await.unwrap_err();
    assert!(matches!(refusal, Refusal::AmbiguousEdit(_)), "{refusal}");
    let states: Vec<_> =
        desk.workspace.reviews()[0].review.edits.iter().map(|edit| edit.edit.status()).collect();
    assert_eq!(states, [hashline_history::Status::Pending; 2]);
}

#[tokio::test]
async fn a_review_near_a_line_is_of_what_is_near_or_shown_with_others() {
    let desk = Desk::new(Settings::default(), &"line\n".repeat(40));
    let mut made = Vec::new();
    for line in [3, 20, 20, 30] {
        let (text, hash) = desk.read(View::Agent).await;
        let content = format!("edit {}", made.len());
        made.push(desk.edit(hash, &[replace(Desk::anchor(&text, line), &content)]).await.unwrap().edit);
    }
    let near = |line: usize| -> Vec<_> {
        let review = desk.workspace.review_near(&desk.uri, &(line..line + 1)).unwrap().review;
        let all = desk.workspace.review(&desk.uri).unwrap().review.edits;
        assert!(review.edits.iter().all(|edit| all.contains(edit)));
        review.edits.iter().map(|edit| edit.edit.id.clone()).collect()
    };
    // The second and the third change the same line, one after the other.
    let linked = made[1..3].to_vec();
    assert_eq!(near(10), linked);
    assert_eq!(near(3), made[..3].to_vec());
    assert_eq!(near(30), made[1..].to_vec());
}
