//! Prints what the history costs: `cargo run --release -p hashline-history --example speed`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement may stop where it is, and prints"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::{Duration, Instant};

use common::*;
use hashline_history::{Decision, Draft, LogEntry, Operation, Store};
use hashline_text::FileHash;
use hashline_weave::Change;

fn change(at: usize, new: &str) -> Change {
    Change { lines: at..at + 1, new: vec![line(new)] }
}

fn main() {
    listing();
    appending_and_deciding();
}

/// How long it takes to list the newest of 100,000 entries.
fn listing() {
    for conversations in [100, 1_000, 10_000] {
        let folder = common::folder();
        let logs = history(folder.path(), "logs");
        std::fs::create_dir_all(&logs).unwrap();
        let hash = FileHash::of(b"x").to_hex();
        for conversation in 0..conversations {
            let mut log = String::new();
            for at in 0..100_000 / conversations {
                let id = format!("{conversation:08}-{at:04}-4000-8000-000000000000");
                let name = format!("conv_1700000000000_{conversation:08x}");
                let entry = LogEntry {
                    edit_id: id.as_str().into(),
                    conversation_id: name.as_str().into(),
                    tool_call_index: at,
                    timestamp: format!(
                        "2026-11-21T20:{:02}:{:02}.{at:06}Z",
                        conversation / 60 % 60,
                        conversation % 60
                    )
                    .into(),
                    operation: Operation::Edit,
                    file_path: format!("/home/someone/projects/project/src/module_{at}/file.rs").into(),
                    source_path: None,
                    tool_name: "edit_text_file".into(),
                    status: hashline_history::Status::Pending,
                    diff_file: Some(format!("diffs/{name}/{id}.diff").into()),
                    checkpoint_file: None,
                    hash_before: Some(hash.as_str().into()),
                    hash_after: Some(hash.as_str().into()),
                };
                log += &(serde_json::to_string(&entry).unwrap() + "\n");
            }
            std::fs::write(logs.join(format!("conv_1700000000000_{conversation:08x}.log")), log).unwrap();
        }
        let store = Store::new(folder.path(), "a process");
        let mut times: Vec<Duration> = (0..5)
            .map(|_| {
                let start = Instant::now();
                let listing = store.list(None, 50, |_| true).unwrap();
                assert_eq!((listing.entries.len(), listing.total), (50, 100_000));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        println!("100,000 entries in {conversations} conversations: {:?} (median of 5)", times[2]);
    }
}

/// What an append and a decision cost, and a replay.
fn appending_and_deciding() {
    for edits in [100, 1_000, 4_000] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), "a process");
        let text: String = (0..10_000).map(|line| format!("line {line}\n")).collect();
        let mut live = Live::new(name_in(folder.path(), "a.txt"), &text);
        let mut append = Vec::new();
        for at in 0..edits {
            let edit =
                live.edit(&format!("e{at}"), "conv", &[change(at % 10_000, &format!("edit {at}"))], true);
            let start = Instant::now();
            let mut session = store.session(&NoFiles).unwrap();
            session.append(&live.draft(edit)).unwrap();
            drop(session);
            append.push(start.elapsed());
        }
        let mut decide = Vec::new();
        for at in 0..20 {
            let (decisions, locations) = live.decide(at, Decision::Accepted, None);
            let start = Instant::now();
            store
                .session(&NoFiles)
                .unwrap()
                .append(&Draft { decisions, locations, ..live.draft(None) })
                .unwrap();
            decide.push(start.elapsed());
        }
        let start = Instant::now();
        let fresh = Store::new(folder.path(), "another");
        fresh.document(&live.name).unwrap();
        let replay = start.elapsed();
        append.sort_unstable();
        decide.sort_unstable();
        let record = std::fs::metadata(history(folder.path(), "decisions.log")).unwrap().len();
        println!(
            "{edits} edits of 10,000 lines in one conversation: append {:?}, decide {:?} (medians), replay {replay:?}, record {record} bytes",
            append[append.len() / 2],
            decide[decide.len() / 2],
        );
    }
}
