//! What a held edit keeps in memory, with the lines that it proposes.
//!
//! One test, as what is allocated is counted for the whole program.
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_text::{DocVersion, Encoding, HashPrefix};
use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest};
use hashline_workspace::disk::Roots;
use hashline_workspace::document::{Change, Mode};
use hashline_workspace::{Caller, Histories, Settings, Workspace};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const KIB: usize = 1024;
const LINES: usize = 10_000;
/// From one edited line to the next: no two in one leaf of a rope.
const APART: usize = 40;

fn line(number: usize) -> String {
    format!("    let value_{number:05} = compute({number:05});\n")
}

/// Proposes another line for a line of the document.
async fn propose(workspace: &Workspace, path: &str, number: usize) {
    let caller = Caller::anywhere("tester", "1");
    let read =
        workspace.read(&caller, &ReadRequest { path: path.to_owned(), view: View::Agent }).await.unwrap();
    workspace.shown(&read, number..number + 1);
    let anchor = format!("{}:{}", number + 1, line_hash(&line(number)));
    let raw = RawOperation::new("replace", anchor).content(format!("    let changed_{number:05} = true;"));
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
    assert_eq!(workspace.edit(&caller, request).await.unwrap().mode, Mode::Propose);
}

#[tokio::test]
async fn a_held_edit_of_a_line_keeps_less_than_8_kib() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document.rs");
    let stored: String = (0..LINES).map(line).collect();
    std::fs::write(&file, &stored).unwrap();
    let roots = Roots::open([folder.path()]).unwrap();
    let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
    let uri = url::Url::from_file_path(&file).unwrap().to_string();
    workspace.did_open(&uri, "rust", DocVersion(1), Encoding::Utf16, &stored);
    let path = file.display().to_string();

    let all = LINES / APART;
    // What is made for the first edits serves the others, too.
    let first = all / 5;
    let mut before = 0;
    for count in 0..all {
        if count == first {
            before = ALLOCATED.current_usage();
        }
        propose(&workspace, &path, count * APART).await;
    }
    let each = (ALLOCATED.current_usage() - before) / (all - first);
    assert_eq!(workspace.review(&uri).unwrap().review.edits.len(), all);
    println!("{:.1} KiB for each of {all} held edits", each as f64 / KIB as f64);
    assert!(each < 8 * KIB, "{each} bytes for each held edit");
}
