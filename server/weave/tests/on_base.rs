//! What another program makes of the file while the person types (rule W23). What the text is to be with it is known, as all texts are put
//! together from what is in them.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::ops::Range;

use common::{Rng, new_seeds, seeds};
use hashline_text::{Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::{Change, Conflict, HunkId, Regions, Weave, WeaveError};

const SEEDS: u64 = 3000;

/// What the person did to a line of the file.
#[derive(Clone, Debug, Default)]
struct Mine {
    before: Option<String>,
    instead: Option<String>,
    removed: bool,
}

/// Lines that the other program put in the place of others.
#[derive(Clone, Debug)]
struct Theirs {
    lines: Range<usize>,
    new: Vec<String>,
}

/// The file with what the person did, and with some of what the other program did.
fn text_of(file: &[String], mine: &[Mine], theirs: &[Theirs], is_in: impl Fn(usize) -> bool) -> Text {
    let mut text = String::new();
    let mut push = |line: &str| text.extend([line, "\n"]);
    for (at, line) in file.iter().map(Some).chain([None]).enumerate() {
        let here = (0..theirs.len()).filter(|which| is_in(*which) && theirs[*which].lines.start == at);
        here.flat_map(|which| &theirs[which].new).for_each(|line| push(line));
        let (Some(line), Some(own)) = (line, mine.get(at)) else { break };
        own.before.iter().for_each(|line| push(line));
        let taken = (0..theirs.len()).any(|which| is_in(which) && theirs[which].lines.contains(&at));
        if !taken && !own.removed {
            push(own.instead.as_ref().unwrap_or(line));
        }
    }
    Text::from(text)
}

/// Whether what the person did stands against a change of the other program's.
fn clashes(theirs: &Theirs, mine: &[Mine]) -> bool {
    let Range { start, end } = theirs.lines;
    if theirs.lines.is_empty() {
        // Its place is gone with the lines on both sides.
        return start > 0 && start < mine.len() && mine[start - 1].removed && mine[start].removed;
    }
    let touched = |at: usize| mine[at].removed || mine[at].instead.is_some();
    theirs.lines.clone().any(touched) || (start + 1..end).any(|at| mine[at].before.is_some())
}

fn owned(lines: &[String]) -> Vec<OwnedLine> {
    lines.iter().map(|line| OwnedLine::new(line.as_str(), Ending::Lf)).collect()
}

/// Types so that the buffer is this text, in one place.
fn type_to(weave: &mut Weave, span: Span, new: &str) {
    let (mut text, mut regions) = (weave.buffer().clone(), Regions::default());
    regions.apply(&mut text, span, Encoding::Utf8, new).unwrap();
    weave.typed(&text, &regions);
}

/// What the person does to some lines, one after the other, from the last line to the first.
fn types(
    rng: &mut Rng,
    weave: &mut Weave,
    mine: &mut [Mine],
    theirs: &[Theirs],
    mut line: impl FnMut(&mut Rng) -> String,
) {
    for at in (0..mine.len()).rev() {
        let here = Position::new(at as u32, 0);
        let next = Position::new(at as u32 + 1, 0);
        match rng.below(8) {
            0 => {
                let new = line(rng);
                type_to(weave, Span::new(here, Position::new(at as u32, u32::MAX)), &new);
                mine[at].instead = Some(new);
            }
            1 => {
                type_to(weave, Span::new(here, next), "");
                mine[at].removed = true;
            }
            _ => {}
        }
        // Which of two comes first that are put between the same lines, nothing says, nor on which side of a removed line one is.
        let meets = theirs.iter().any(|change| change.lines.start == at || change.lines.end == at);
        if !meets && !mine[at].removed && rng.chance(10) {
            let new = line(rng);
            type_to(weave, Span::new(here, here), &format!("{new}\n"));
            mine[at].before = Some(new);
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    held: usize,
    in_conflict: usize,
    again: usize,
}

fn play(seed: u64, tally: &mut Tally) {
    let about = format!("HASHLINE_SEED={seed}");
    let rng = &mut Rng::new(seed);
    let mut number = 0;
    let mut body = move |_: &mut Rng| {
        number += 1;
        format!("line {number}")
    };
    let file: Vec<String> = (0..4 + rng.below(20)).map(|_| body(rng)).collect();
    let mut mine = vec![Mine::default(); file.len()];
    let mut weave = Weave::new(text_of(&file, &mine, &[], |_| false));
    weave.mark_base();
    let mut theirs: Vec<Theirs> = Vec::new();
    if rng.chance(50) {
        types(rng, &mut weave, &mut mine, &theirs, &mut body);
    }
    let mut hunks: Vec<HunkId> = Vec::new();
    // It may write twice, each time elsewhere: the second time on what it wrote first.
    let turns = 1 + rng.below(2);
    for turn in 0..turns {
        let mut changes = Vec::new();
        let mut at = rng.below(4);
        while at < file.len() {
            let lines = at..(at + rng.below(3)).min(file.len());
            let near =
                |other: &Theirs| lines.start <= other.lines.end + 1 && other.lines.start <= lines.end + 1;
            if let Some(other) = theirs.iter().find(|other| near(other)) {
                at = other.lines.end + 2;
                continue;
            }
            let meets = |at: usize| mine.get(at).is_some_and(|own: &Mine| own.before.is_some());
            if meets(lines.start) || meets(lines.end) {
                at += 1;
                continue;
            }
            let new: Vec<String> =
                (0..rng.below(3) + usize::from(lines.is_empty())).map(|_| body(rng)).collect();
            at = lines.end + 2 + rng.below(6);
            changes.push(Theirs { lines, new });
        }
        if turn > 0 {
            tally.again += 1;
        }
        let before: Vec<Theirs> = theirs.clone();
        theirs.extend(changes.iter().cloned());
        let after = text_of(&file, &vec![Mine::default(); file.len()], &theirs, |_| true);
        let moved = |line: usize| {
            let ahead = before.iter().filter(|other| other.lines.start < line);
            let shift = ahead.map(|other| other.new.len() as isize - other.lines.len() as isize);
            line.strict_add_signed(shift.sum())
        };
        let recorded: Vec<Change> = changes
            .iter()
            .map(|change| {
                let start = moved(change.lines.start);
                Change { lines: start..start + change.lines.len(), new: owned(&change.new) }
            })
            .collect();
        let buffer = weave.buffer().clone();
        let earlier = weave.clone();
        hunks.extend(weave.record_on_base(&recorded, None, after.clone()).unwrap());
        assert!(*weave.buffer() == buffer, "{about}: the person's text has changed");
        assert_eq!(weave.base().unwrap().text().to_string(), after.to_string(), "{about}");
        if let Some(delta) = weave.delta_since(&earlier) {
            let mut copy = earlier.clone();
            copy.apply_delta(&delta).unwrap();
            assert_eq!(copy.conflicts(), weave.conflicts(), "{about}: recorded");
            assert_eq!(copy.agent().to_string(), weave.agent().to_string(), "{about}: recorded");
        }
        if rng.chance(30)
            && mine.iter().all(|own| own.before.is_none() && own.instead.is_none() && !own.removed)
        {
            types(rng, &mut weave, &mut mine, &theirs, &mut body);
        }
    }
    let free: Vec<bool> = theirs.iter().map(|change| !clashes(change, &mine)).collect();
    for (which, hunk) in hunks.iter().enumerate() {
        assert_eq!(weave.conflict(*hunk).is_none(), free[which], "{about}: {:?} {mine:?}", theirs[which]);
        if free[which] { tally.held += 1 } else { tally.in_conflict += 1 }
    }
    let both = text_of(&file, &mine, &theirs, |which| free[which]);
    assert_eq!(weave.agent().to_string(), both.to_string(), "{about}: what agents read");
    let on: Vec<HunkId> =
        hunks.iter().enumerate().filter(|(at, _)| free[*at]).map(|(_, hunk)| *hunk).collect();
    weave.switch(&on, &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), both.to_string(), "{about}: all of it accepted");
    weave.switch(&[], &on).unwrap();
    let own = text_of(&file, &mine, &theirs, |_| false);
    assert_eq!(weave.buffer().to_string(), own.to_string(), "{about}: all of it rejected");
}

#[test]
fn what_another_program_writes_is_held_beside_what_the_person_types() {
    let mut tally = Tally::default();
    for seed in new_seeds(SEEDS) {
        play(seed, &mut tally);
    }
    eprintln!("{tally:?}");
    if seeds(SEEDS).count() as u64 >= SEEDS {
        assert!(tally.held > 1000 && tally.in_conflict > 1000 && tally.again > 1000, "{tally:?}");
    }
}

fn change(lines: Range<usize>, new: &[&str]) -> Change {
    Change { lines, new: new.iter().map(|line| OwnedLine::new(*line, Ending::Lf)).collect() }
}

#[test]
fn a_hunk_that_came_into_the_text_since_collides_with_what_is_written_in_its_place() {
    let mut weave = Weave::new(Text::from("a\nb\nc\n"));
    weave.mark_base();
    let accepted = weave.record(&[change(1..2, &["B"])]).unwrap()[0];
    weave.switch(&[accepted], &[]).unwrap();
    let written = weave.record_on_base(&[change(1..2, &["bb"])], None, Text::from("a\nbb\nc\n")).unwrap()[0];
    assert_eq!(weave.conflict(written), Some(Conflict::With(accepted)));
    weave.switch(&[written], &[accepted]).unwrap();
    assert_eq!(weave.buffer().to_string(), "a\nbb\nc\n");
}

#[test]
fn what_is_written_on_a_hunk_that_the_file_has_rests_on_it() {
    let mut weave = Weave::new(Text::from("a\nb\nc\n"));
    let accepted = weave.record(&[change(1..2, &["B"])]).unwrap()[0];
    weave.switch(&[accepted], &[]).unwrap();
    weave.mark_base();
    let written = weave.record_on_base(&[change(1..2, &["BB"])], None, Text::from("a\nBB\nc\n")).unwrap()[0];
    assert_eq!(weave.prerequisites(written), [accepted]);
    assert_eq!(weave.agent().to_string(), "a\nBB\nc\n");
}

#[test]
fn what_undoes_the_typing_ends_the_conflict() {
    let mut weave = Weave::new(Text::from("a\nb\nc\n"));
    weave.mark_base();
    type_to(&mut weave, Span::new(Position::new(1, 0), Position::new(1, 1)), "mine");
    let written =
        weave.record_on_base(&[change(1..2, &["theirs"])], None, Text::from("a\ntheirs\nc\n")).unwrap()[0];
    assert_eq!(weave.conflict(written), Some(Conflict::LineChanged));
    type_to(&mut weave, Span::new(Position::new(1, 0), Position::new(1, 4)), "b");
    assert_eq!(weave.conflict(written), None);
    assert_eq!(weave.agent().to_string(), "a\ntheirs\nc\n");
}

#[test]
fn what_the_file_takes_of_what_was_recorded_on_it_is_known_by_its_lines() {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\n"));
    weave.mark_base();
    // The person types beside the first hunk.
    type_to(&mut weave, Span::new(Position::new(0, 0), Position::new(0, 1)), "mine");
    let before = weave.base().unwrap().clone();
    let changes = [change(1..2, &["B"]), change(3..4, &["D"])];
    let hunks = weave.record_on_base(&changes, None, Text::from("a\nB\nc\nD\n")).unwrap();
    weave.set_base(Some(before.clone()));
    weave.switch(&hunks[..1], &[]).unwrap();
    assert_eq!(weave.buffer().to_string(), "mine\nB\nc\nd\n");
    let first = weave.base_with(&before, &hunks[..1], Text::from("a\nB\nc\nd\n")).unwrap();
    weave.set_base(Some(first));
    // What is written next goes on from there.
    let next = weave.record_on_base(&[change(1..2, &["BB"])], None, Text::from("a\nBB\nc\nd\n")).unwrap()[0];
    assert_eq!(weave.conflict(next), None);
    assert!(weave.prerequisites(next).iter().eq(&hunks[..1]));
    assert_eq!(weave.agent().to_string(), "mine\nBB\nc\nD\n");
    let stranger = Weave::new(Text::from("x\n")).base_with(&before, &[], Text::from("a\nb\nc\nd\n"));
    assert!(stranger.is_none(), "of another weave");
}

#[test]
fn nothing_is_recorded_on_a_file_that_is_not_known() {
    let mut weave = Weave::new(Text::from("a\nb\n"));
    let none = weave.record_on_base(&[change(0..1, &["A"])], None, Text::from("A\nb\n"));
    assert_eq!(none, Err(WeaveError::NoBase));
    weave.mark_base();
    let bad = weave.record_on_base(&[change(1..4, &["B"])], None, Text::from("a\nB\n"));
    assert!(matches!(bad, Err(WeaveError::BadChange { .. })));
    assert_eq!(weave.hunks().count(), 0);
}

#[test]
fn lines_of_the_file_that_the_person_removed_long_ago_are_still_known() {
    let file: String = (0..40).map(|at| format!("line {at}\n")).collect();
    let mut weave = Weave::new(Text::from(file.as_str()));
    weave.mark_base();
    type_to(&mut weave, Span::new(Position::new(5, 0), Position::new(6, 0)), "");
    // So much is typed that the journal lets go of the line.
    for at in 0..2000 {
        let place = Position::new(at % 30, 0);
        type_to(&mut weave, Span::new(place, place), &format!("typed {at}\n"));
    }
    let after = file.replace("line 5\n", "line five\n");
    let written =
        weave.record_on_base(&[change(5..6, &["line five"])], None, Text::from(after.as_str())).unwrap()[0];
    assert_eq!(weave.conflict(written), Some(Conflict::LineRemoved));
}
