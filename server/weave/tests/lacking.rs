//! Texts that lack hunks which are on (rule W17): an editor had read the file before they were written to it, and the person has typed
//! since. What each is to be is known, as the texts are put together from what is in them.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::ops::Range;

use common::{Rng, seeds};
use hashline_text::{Ending, OwnedLine, Text};
use hashline_weave::{Change, Conflict, HunkId, Weave};

const SEEDS: u64 = 3000;

/// Lines as they repeat in every file.
const COMMON: [&str; 6] = ["", "    }", "    return None;", "    for item in items {", "    Ok(out)", "}"];

struct Edit {
    lines: Range<usize>,
    new: Vec<String>,
}

/// Which lines of the file are there, each with what the person typed in front of it or in its place.
struct Typed {
    before: Vec<Option<String>>,
    instead: Vec<Option<String>>,
}

impl Typed {
    fn nothing(lines: usize) -> Self {
        Self { before: vec![None; lines], instead: vec![None; lines] }
    }
}

/// The file with what the person typed, and with some edits in it.
fn text_of(file: &[String], typed: &Typed, edits: &[Edit], on: impl Fn(usize) -> bool) -> Text {
    let mut text = String::new();
    let mut push = |line: &str| text.extend([line, "\n"]);
    let mut at = 0;
    let mut rest = edits.iter().enumerate().filter(|(which, _)| on(*which)).peekable();
    while at < file.len() {
        if let Some((_, edit)) = rest.next_if(|(_, edit)| edit.lines.start == at) {
            edit.new.iter().for_each(|line| push(line));
            if !edit.lines.is_empty() {
                at = edit.lines.end;
                continue;
            }
        }
        typed.before[at].iter().for_each(|line| push(line));
        push(typed.instead[at].as_ref().unwrap_or(&file[at]));
        at += 1;
    }
    Text::from(text.as_str())
}

#[derive(Debug, Default)]
struct Tally {
    lacked: usize,
    held: usize,
    lost: usize,
    shown: usize,
    mistaken: usize,
    misplaced: usize,
}

/// One file, some of whose edits a text lacks. `common` is how many of its lines in a hundred stand elsewhere, too.
fn play(rng: &mut Rng, common: usize, about: &str, tally: &mut Tally) {
    let mut number = 0;
    let mut body = |rng: &mut Rng| {
        number += 1;
        if rng.chance(common) { (*rng.pick(&COMMON)).to_owned() } else { format!("    line {number};") }
    };
    let file: Vec<String> = (0..10 + rng.below(50)).map(|_| body(rng)).collect();
    let mut edits = Vec::new();
    let mut at = rng.below(4);
    while at + 3 < file.len() {
        let lines = at..at + rng.below(3);
        let new: Vec<String> = (0..rng.below(3) + usize::from(lines.is_empty())).map(|_| body(rng)).collect();
        at = lines.end + 2 + rng.below(9);
        if new != file[lines.clone()] {
            edits.push(Edit { lines, new });
        }
    }
    let lacks: Vec<bool> = edits.iter().map(|_| rng.chance(50)).collect();
    // The person types where no edit is: in place, or a new line.
    let mut typed = Typed::nothing(file.len());
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(file.len());
        if edits.iter().any(|edit| edit.lines.start <= at && at <= edit.lines.end) {
            continue;
        }
        let line = Some(body(rng));
        if rng.chance(50) { typed.before[at] = line } else { typed.instead[at] = line }
    }
    let none = Typed::nothing(file.len());
    let mut weave = Weave::new(text_of(&file, &none, &edits, |_| false));
    let owned = |line: &String| OwnedLine::new(line.as_str(), Ending::Lf);
    let changes: Vec<Change> = edits
        .iter()
        .map(|edit| Change { lines: edit.lines.clone(), new: edit.new.iter().map(owned).collect() })
        .collect();
    let hunks = weave.record(&changes).unwrap();
    weave.switch(&hunks, &[]).unwrap();
    assert!(*weave.buffer() == text_of(&file, &none, &edits, |_| true), "{about}");

    let found = text_of(&file, &typed, &edits, |which| !lacks[which]);
    let missing = weave.unobserved_lacking(found.clone(), &hunks);
    assert!(*weave.buffer() == found, "{about}");
    for (which, hunk) in hunks.iter().enumerate() {
        assert_eq!(missing.contains(hunk), !weave.in_buffer(*hunk), "{about}");
        if lacks[which] == weave.in_buffer(*hunk) {
            tally.mistaken += 1;
            assert!(common > 0, "{about} {which}\n{found}");
            continue;
        }
        if !lacks[which] {
            tally.shown += 1;
            continue;
        }
        tally.lacked += 1;
        match weave.conflict(*hunk) {
            Some(conflict) => {
                assert_eq!(conflict, Conflict::Lost, "{about}");
                tally.lost += 1;
            }
            None => {
                let mut with = weave.clone();
                with.switch(&[*hunk], &[]).unwrap();
                let wanted = text_of(&file, &typed, &edits, |other| other == which || !lacks[other]);
                tally.misplaced += usize::from(*with.buffer() != wanted);
                assert!(common > 0 || *with.buffer() == wanted, "{about} {which}\n{}", with.buffer());
                tally.held += 1;
            }
        }
    }
}

#[test]
fn hunks_that_a_text_lacks_are_held_where_they_would_go() {
    let mut tally = Tally::default();
    for seed in seeds(SEEDS) {
        play(&mut Rng::new(seed), 0, &format!("HASHLINE_SEED={seed}"), &mut tally);
    }
    println!("{tally:?}");
    if seeds(SEEDS).count() > 100 {
        assert!(tally.shown > 0 && tally.held > 9 * tally.lost, "{tally:?}");
    }
}

#[test]
fn lines_that_stand_everywhere_seldom_mislead() {
    let mut tally = Tally::default();
    for seed in seeds(SEEDS) {
        play(&mut Rng::new(seed), 50, &format!("HASHLINE_SEED={seed}"), &mut tally);
    }
    println!("{tally:?}");
    if seeds(SEEDS).count() > 100 {
        assert!(tally.held > tally.lost, "{tally:?}");
        assert!(tally.mistaken * 50 < tally.lacked + tally.shown, "{tally:?}");
        assert!(tally.misplaced * 50 < tally.held, "{tally:?}");
    }
}

fn line(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

fn replaced(file: &str, at: usize, new: &str) -> (Weave, HunkId) {
    let mut weave = Weave::new(Text::from(file));
    let hunk = weave.record(&[Change { lines: at..at + 1, new: vec![line(new)] }]).unwrap()[0];
    weave.switch(&[hunk], &[]).unwrap();
    (weave, hunk)
}

#[test]
fn only_hunks_that_are_asked_about_are_taken_to_be_missing() {
    let (mut weave, hunk) = replaced("a\nb\nc\nd\n", 1, "B");
    assert_eq!(weave.unobserved_lacking(Text::from("a\nb\nc\nd\ne\n"), &[]), []);
    assert!(weave.in_buffer(hunk) && weave.is_lost(hunk));
}

#[test]
fn what_rests_on_a_hunk_that_is_not_asked_about_keeps_it() {
    let (mut weave, first) = replaced("a\nb\nc\nd\n", 1, "B");
    let second = weave.record(&[Change { lines: 1..2, new: vec![line("BB")] }]).unwrap()[0];
    weave.switch(&[second], &[]).unwrap();
    let text = Text::from("a\nb\nc\nd\ne\n");
    let mut one = weave.clone();
    assert_eq!(one.unobserved_lacking(text.clone(), &[first]), []);
    assert!(one.in_buffer(first) && one.in_buffer(second));
    assert_eq!(weave.unobserved_lacking(text, &[first, second]), [first, second]);
    assert_eq!(weave.agent().to_string(), "a\nBB\nc\nd\ne\n");
}

#[test]
fn a_lost_hunk_that_a_text_lacks_is_not_in_it() {
    let (mut weave, hunk) = replaced("a\nb\nc\nd\n", 1, "B");
    weave.unobserved(Text::from("a\nB\nC\nd\n"));
    assert!(weave.in_buffer(hunk) && weave.is_lost(hunk));
    assert_eq!(weave.unobserved_lacking(Text::from("a\nb\nC\nd\n"), &[hunk]), [hunk]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::Lost));
    assert_eq!(weave.buffer().to_string(), "a\nb\nC\nd\n");
}

#[test]
fn a_hunk_of_which_the_text_shows_a_line_is_in_it() {
    // The person has typed what the hunk replaces beside it.
    let (mut weave, hunk) = replaced("a\nb\nc\nd\n", 1, "B");
    assert_eq!(weave.unobserved_lacking(Text::from("a\nB\nb\nc\nd\n"), &[hunk]), []);
    assert!(weave.in_buffer(hunk));
    // Or something else in its place: then nothing of it is there.
    let (mut weave, hunk) = replaced("a\nb\nc\nd\n", 1, "B");
    assert_eq!(weave.unobserved_lacking(Text::from("a\nx\nc\nd\n"), &[hunk]), [hunk]);
    assert_eq!(weave.conflict(hunk), Some(Conflict::Lost));
}
