//! What a weave keeps of what was: as much as it says, whether an editor tells what has changed or sends its whole text each time.
//!
//! One test, as what is allocated is counted for the whole program.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use hashline_text::{Encoding, Line, Position, Span, Text};
use hashline_weave::{Regions, Snapshot, View, Weave};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const LINES: usize = 5620;

fn line(n: usize) -> String {
    format!("    let value_{n:05} = compute({n:05});\n")
}

/// A text of 208 KiB.
fn text() -> Text {
    let text = Text::from((0..LINES).map(line).collect::<String>());
    assert_eq!(text.len_bytes() / KIB, 208, "{}", text.len_bytes());
    text
}

/// A text that shares nothing with others.
fn anew(text: &Text) -> Text {
    Text::from(text.to_string())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sends {
    /// The editor tells what has changed.
    Changes,
    /// It sends its whole text.
    Everything,
    /// It replaces all of its lines but the first and the last.
    AllBetween,
}

fn lines_between(text: &Text) -> Span {
    Span::new(Position::new(1, 0), Position::new(text.line_count() as u32 - 1, 0))
}

/// The editor puts text into lines.
fn put(weave: &mut Weave, sends: Sends, changes: &[(usize, String)]) {
    let mut after = weave.buffer().clone();
    let mut regions = Regions::default();
    for (line, new) in changes {
        let at = Position::new(*line as u32, 0);
        regions.apply(&mut after, Span::new(at, at), Encoding::Utf16, new).unwrap();
    }
    let mut text = weave.buffer().clone();
    match sends {
        Sends::Changes => text = after,
        Sends::Everything => {
            regions = Regions::default();
            regions.replace_all(&mut text, anew(&after));
        }
        Sends::AllBetween => {
            regions = Regions::default();
            let bytes = after.byte_of_line(Line(1))..after.byte_of_line(Line(after.line_count() - 1));
            let new = after.slice(bytes).unwrap().into_owned();
            let span = lines_between(&text);
            regions.apply(&mut text, span, Encoding::Utf16, &new).unwrap();
        }
    }
    weave.recognised(&text, &regions, &[]);
    assert!(*weave.buffer() == text);
}

/// What 500 notifications add to the memory that is taken, in bytes, with what else is kept of each.
fn grows_by<K>(notify: impl FnMut(&mut Weave, usize) -> K) -> usize {
    grows_in(500, notify)
}

fn grows_in<K>(notifications: usize, mut notify: impl FnMut(&mut Weave, usize) -> K) -> usize {
    let mut weave = Weave::new(text());
    weave.agent();
    let before = ALLOCATED.current_usage();
    let kept: Vec<K> = (0..notifications).map(|n| notify(&mut weave, n)).collect();
    let grown = ALLOCATED.current_usage().saturating_sub(before);
    drop(kept);
    let told = weave.journal_bytes();
    assert!(told <= 8 * MIB, "the journal has {told} bytes");
    grown
}

#[test]
fn what_is_kept_of_what_was_is_bounded() {
    for sends in [Sends::Changes, Sends::Everything, Sends::AllBetween] {
        let lines = grows_by(|weave, n| put(weave, sends, &[(1 + n * 7, line(n))]));
        println!("{sends:?}: {} KiB for a new line each", lines / KIB);
        assert!(lines < 2 * MIB, "{sends:?}: {lines}");
        // As a formatter does, at both ends and in the middle.
        let far = |n: usize| [4000 + n, 2000 + n, 1].map(|at| (at, line(n))).to_vec();
        let apart = grows_by(|weave, n| put(weave, sends, &far(n)));
        println!("{sends:?}: {} KiB for new lines far from each other", apart / KIB);
        assert!(apart < 2 * MIB, "{sends:?}: {apart}");
        let typed = grows_by(|weave, n| put(weave, sends, &[(1 + n * 7, "x".to_owned())]));
        println!("{sends:?}: {} KiB for a character in a line each", typed / KIB);
        assert!(typed < 2 * MIB, "{sends:?}: {typed}");
        let mut told = 0;
        let mut last: Option<Snapshot> = None;
        let served = grows_by(|weave, n| -> Snapshot {
            put(weave, sends, &[(1 + n * 7, line(n))]);
            let snapshot = weave.snapshot(View::Agent);
            told += last.replace(snapshot.clone()).map_or(0, |last| last.bytes_beside(&snapshot));
            snapshot
        });
        assert!((served / 3 * 2..served / 2 * 3).contains(&told), "{sends:?}: {told} told of {served}");
        println!("{sends:?}: {} KiB with a snapshot of each", served / KIB);
        assert!(served < 4 * MIB, "{sends:?}: {served}");
    }
    // A text that has nothing in common with the one before, each time.
    let becomes = |weave: &mut Weave, count: usize, n: usize| {
        let new = Text::from((0..count).map(|at| line(at + 7 * LINES * n)).collect::<String>());
        let mut regions = Regions::default();
        regions.replace_all(&mut weave.buffer().clone(), new.clone());
        weave.recognised(&new, &regions, &[]);
    };
    let other = grows_in(60, |weave, n| becomes(weave, LINES, n));
    println!("{} KiB for other texts", other / KIB);
    assert!(other < 12 * MIB, "{other}");
    // The same with fewer lines and more by turns, so that lines are removed.
    let removed = grows_in(60, |weave, n| becomes(weave, if n % 2 == 0 { 10 } else { LINES }, n));
    println!("{} KiB for texts of which most goes each time", removed / KIB);
    assert!(removed < 20 * MIB, "{removed}");
}
