//! A file of 100 MB is read and edited like any other, on the disk and in an editor.
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_text::{DocVersion, Encoding, HashPrefix, Text};
use hashline_weave::{View, apply_text_edits};
use hashline_workspace::agent::{EditReply, EditRequest, ReadRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Change, Choice, ContentChange, Mode, Request, Target};
use hashline_workspace::{Caller, Histories, Settings, Workspace};

const LINE: &str = "    let value = compute(index, &mut state)?;\n";
const LINES: usize = 100_000_000 / LINE.len();

async fn replace(workspace: &Workspace, path: &str, line: usize, new: &str) -> EditReply {
    let caller = Caller::anywhere("tester", "1");
    let request = ReadRequest { path: path.to_owned(), view: View::Agent };
    let read = workspace.read(&caller, &request).await.unwrap();
    assert_eq!(read.text().line_count(), LINES);
    workspace.shown(&read, line..line + 1);
    let anchor = format!("{}:{}", line + 1, line_hash(LINE));
    let raw = RawOperation::new("replace", anchor).content(new);
    let request = EditRequest {
        path: path.to_owned(),
        file_hash: Some(HashPrefix::from(read.hash)),
        change: Change::Operations(vec![Operation::parse(0, raw).unwrap()]),
        strict: false,
        dry_run: false,
        conversation: None,
        tool: "edit_text_file".into(),
        reason: None,
    };
    workspace.edit(&caller, request).await.unwrap()
}

#[tokio::test]
async fn a_hundred_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.rs");
    let stored = LINE.repeat(LINES);
    std::fs::write(&path, &stored).unwrap();
    let roots = Roots::open([folder.path()]).unwrap();
    let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
    let name = path.display().to_string();
    let at = LINES / 2 * LINE.len();

    let edit = replace(&workspace, &name, LINES / 2, "on the disk").await;
    assert_eq!(edit.mode, Mode::Apply);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), stored.len() - LINE.len() + "on the disk\n".len());
    assert_eq!(&bytes[at..at + 12], b"on the disk\n");
    drop(bytes);
    std::fs::write(&path, &stored).unwrap();

    let uri = url::Url::from_file_path(&path).unwrap().to_string();
    workspace.did_open(&uri, "rust", DocVersion(1), Encoding::Utf16, &stored);
    let edit = replace(&workspace, &name, LINES / 3, "in the editor").await;
    assert_eq!(edit.mode, Mode::Propose);
    let request = Request::of(Choice::Accept, Target::Edit(edit.edit.to_string()));
    assert_eq!(workspace.decide(Some(&uri), &request).await.refused, []);
    let delivery = workspace.poll(&uri).0.unwrap();
    let mut text = Text::from(stored.as_str());
    apply_text_edits(&mut text, &delivery.edits, Encoding::Utf16).unwrap();
    let changes: Vec<ContentChange> = delivery
        .edits
        .iter()
        .map(|edit| ContentChange { span: Some(edit.span), text: edit.new.clone() })
        .collect();
    workspace.did_change(&uri, DocVersion(2), &changes).unwrap();
    assert_eq!(workspace.text_of(&uri).unwrap().1, text);
    let left = workspace.review(&uri).unwrap().review.edits;
    assert_eq!(left.len(), 1, "the edit of the file, which something else has taken back since, is held");
}
