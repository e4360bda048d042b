//! How much of a file is read for calls on it, where no editor has it open.
//!
//! One test, as the kernel counts what is read for the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

use std::path::Path;
use std::time::Duration;

use hashline_anchor::{Operation, RawOperation, line_hash};
use hashline_text::{FileHash, HashPrefix};
use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest};
use hashline_workspace::disk::{PathStyle, Roots, read};
use hashline_workspace::document::Change;
use hashline_workspace::{Caller, Histories, Settings, Workspace};

const LINES: usize = 50_000;

fn line(number: usize) -> String {
    format!("    let value_{number:05} = compute({number:05});\n")
}

/// A workspace over one file.
struct Desk {
    workspace: Workspace,
    caller: Caller,
    path: String,
}

impl Desk {
    async fn reads(&self) -> FileHash {
        let request = ReadRequest { path: self.path.clone(), view: View::Agent };
        let read = self.workspace.read(&self.caller, &request).await.unwrap();
        self.workspace.shown(&read, 0..LINES);
        read.hash
    }

    /// Replaces a line of the text with this hash. Returns the new hash.
    async fn edits(&self, hash: FileHash, number: usize) -> FileHash {
        let anchor = format!("{}:{}", number + 1, line_hash(&line(number)));
        let raw =
            RawOperation::new("replace", anchor).content(format!("    let value_{number:05} = changed();"));
        let request = EditRequest {
            path: self.path.clone(),
            file_hash: Some(HashPrefix::from(hash)),
            change: Change::Operations(vec![Operation::parse(0, raw).unwrap()]),
            strict: false,
            dry_run: false,
            conversation: Some("one".into()),
            tool: "edit_text_file".into(),
            reason: None,
        };
        self.workspace.edit(&self.caller, request).await.unwrap().hash
    }

    /// How often the file could have been read for what this process has read until now.
    fn read_until_now(&self) -> f64 {
        let counters = std::fs::read_to_string("/proc/self/io").unwrap();
        let read = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        let size = std::fs::metadata(&self.path).unwrap().len();
        read.parse::<f64>().unwrap() / size as f64
    }
}

#[tokio::test]
async fn a_file_is_read_no_more_often_than_others_may_have_changed_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("document.rs");
    std::fs::write(&file, (0..LINES).map(line).collect::<String>()).unwrap();
    let roots = Roots::open([folder.path()]).unwrap();
    let (workspace, _events) = Workspace::new(roots, Settings::default(), Histories::of("a test"));
    let desk = Desk { workspace, caller: Caller::anywhere("tester", "1"), path: file.display().to_string() };
    let mut hash = desk.reads().await;
    // With the first edit the whole text is recorded.
    hash = desk.edits(hash, LINES / 2).await;
    let trusted = is_clock_asked(folder.path());
    for number in 0..5 {
        // A tick of the clock at the longest.
        std::thread::sleep(Duration::from_millis(20));
        let before = desk.read_until_now();
        hash = desk.edits(hash, number * 1_000).await;
        let read = desk.read_until_now() - before;
        // Whoever has written right behind the edit before is found by reading; then, where the clock is not asked, once more before the rename.
        let most = if trusted { 1.2 } else { 2.2 };
        assert!(read < most, "an edit behind an edit has read the file {read} times");
    }
    for number in 5..10 {
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(desk.reads().await, hash);
        let before = desk.read_until_now();
        assert_eq!(desk.reads().await, hash);
        hash = desk.edits(hash, number * 1_000).await;
        let read = desk.read_until_now() - before;
        let most = if trusted { 0.2 } else { 3.2 };
        assert!(read < most, "a read and an edit behind a read have read the file {read} times");
    }
    let stored = std::fs::read(&file).unwrap();
    assert_eq!(FileHash::of(&stored), hash);
}

/// Whether a file that has just been written is trusted here: its file system's clock can be asked.
fn is_clock_asked(folder: &Path) -> bool {
    let file = folder.join("new.txt");
    std::fs::write(&file, "new\n").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let roots = Roots::open([folder]).unwrap();
    read(&roots.resolve("new.txt", PathStyle::Any).unwrap()).unwrap().is_settled()
}
