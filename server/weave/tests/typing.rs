//! Typing, mixed with records and switches: the weave shows what the editor has, keeps every line's identity, and undoing takes
//! everything back.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::collections::{HashMap, HashSet};

use common::model::{Model, check_carry};
use common::{Endings, Rng, Trace, Typing, endings, inverse, seeds, text, typing};
use hashline_text::{Encoding, Text};
use hashline_weave::{LineId, LineState, Regions, Turn, View, Weave};

/// One notification of an editor.
struct Notification {
    before: Text,
    after: Text,
    typings: Vec<Typing>,
}

/// What an editor says of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Nothing at all, of any: it has no plugin.
    Nothing,
    /// That it was typed.
    Typing,
    /// That it undid something.
    Undo,
}

impl Says {
    fn any(rng: &mut Rng) -> Self {
        if rng.chance(50) { Self::Typing } else { Self::Nothing }
    }

    /// What the same editor says of an undo.
    fn of_undo(self) -> Self {
        if self == Self::Nothing { Self::Nothing } else { Self::Undo }
    }
}

/// Sends changes to a weave as one notification.
fn notify(weave: &mut Weave, typings: Vec<Typing>, says: Says) -> Notification {
    let before = weave.buffer().clone();
    let mut after = before.clone();
    let mut regions = Regions::default();
    for typing in &typings {
        regions.apply(&mut after, typing.span, Encoding::Utf16, &typing.new).unwrap();
    }
    let judgement = match says {
        Says::Nothing => weave.recognised(&after, &regions, &[]),
        Says::Typing => weave.typed(&after, &regions),
        Says::Undo => weave.turned(&after, &regions, Turn::Undo),
    };
    if std::env::var_os("HASHLINE_SEED").is_some() {
        eprintln!("{:?} -> {:?}: {judgement:?}", before.to_string(), after.to_string());
    }
    assert_eq!(weave.buffer().to_string(), after.to_string());
    Notification { before, after, typings }
}

fn replace_all(weave: &mut Weave, new: &Text) {
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), new.clone());
    let judgement = weave.recognised(new, &regions, &[]);
    if std::env::var_os("HASHLINE_SEED").is_some() {
        eprintln!("replaced: {judgement:?}");
    }
    assert_eq!(weave.buffer().to_string(), new.to_string());
}

/// The changes that take a notification back, the last one first.
fn inverses(notification: &Notification) -> Vec<Typing> {
    let mut text = notification.before.clone();
    let mut back = Vec::new();
    for typing in &notification.typings {
        let before = text.clone();
        text.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
        back.insert(0, inverse(&before, &text, typing));
    }
    back
}

fn random_notification(
    rng: &mut Rng,
    kind: Endings,
    weave: &mut Weave,
    says: Says,
    trace: &mut Trace,
) -> Notification {
    let mut text = weave.buffer().clone();
    let mut typings = Vec::new();
    for _ in 0..if rng.chance(25) { 1 + rng.below(3) } else { 1 } {
        let typing = typing(rng, kind, &text);
        text.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
        typings.push(typing);
    }
    trace.note(format_args!("type {typings:?}"));
    notify(weave, typings, says)
}

/// What a notification may do to lines: order, makers, removers and the content of what stays hidden are as before.
fn assert_kept(before: &[LineState], after: &[LineState], known: &HashMap<LineId, HashSet<String>>) {
    let old: HashMap<LineId, (usize, &LineState)> =
        before.iter().enumerate().map(|(at, line)| (line.id, (at, line))).collect();
    let mut last = None;
    let mut seen = 0;
    for line in after {
        let Some((at, was)) = old.get(&line.id) else {
            assert!(line.maker.is_none() && line.removers.is_empty(), "a new line is nobody's");
            continue;
        };
        seen += 1;
        assert!(last.is_none_or(|last| last < *at), "lines stay in order");
        last = Some(*at);
        assert_eq!((line.maker, &line.removers), (was.maker, &was.removers));
        if !was.shown && !line.shown {
            // Or is again what it was before it was shown, where that was undone together with what was done to it.
            let earlier = known[&line.id].contains(&line.line.content);
            assert!(line.line.content == was.line.content || earlier, "what is hidden stays as it is");
        }
        if was.shown && !line.shown {
            let earlier = known[&line.id].contains(&line.line.content);
            assert!(line.line.content == was.line.content || earlier, "what is hidden now is kept as it was");
        }
    }
    let ids: HashSet<LineId> = after.iter().map(|line| line.id).collect();
    assert_eq!(ids.len(), after.len(), "no line twice");
    assert!(before.len() - seen <= before.iter().filter(|line| line.gone).count(), "no line is lost");
}

fn contents(text: &Text) -> Vec<String> {
    text.all_lines().map(|line| line.content().into_owned()).collect()
}

/// What the journal knows, the latest first, are texts that were there, the latest last.
fn assert_in_order(known: &[Vec<String>], texts: &[Vec<String>]) {
    let mut earlier = texts.iter().rev();
    for (at, known) in known.iter().enumerate() {
        assert!(earlier.any(|text| text == known), "{known:?}, the text before entry {at}, was there");
    }
}

#[test]
fn the_weave_follows_the_editor() {
    for seed in seeds(1400) {
        let mut rng = Rng::new(seed);
        let says = Says::any(&mut rng);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 12);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        let mut known: HashMap<LineId, HashSet<String>> = HashMap::new();
        for line in weave.line_states() {
            known.entry(line.id).or_default().insert(line.line.content);
        }
        let mut last = None;
        let mut snapshots = vec![weave.snapshot(View::Agent)];
        let mut texts = vec![contents(weave.buffer())];
        for _ in 0..10 + rng.below(30) {
            let states = weave.line_states();
            let hunks = model.hunks.len();
            match rng.below(20) {
                0..=3 => model.edit_any(&mut weave, &mut rng, kind, &mut trace),
                4 if !model.hunks.is_empty() => model.refuse_any(&mut weave, &mut rng, &mut trace),
                5..=7 if !model.hunks.is_empty() => {
                    let mut target = model.on(&weave);
                    let hunk = rng.below(model.hunks.len());
                    if !target.remove(&hunk) {
                        target.insert(hunk);
                    }
                    trace.note(format_args!("switch to {target:?}"));
                    model.switch_to(&mut weave, &target);
                }
                8 if !model.hunks.is_empty() => model.switch_any(&mut weave, &mut rng, &mut trace),
                9 => {
                    // A formatter: the same text, but for a few lines.
                    let mut new = weave.buffer().clone();
                    for _ in 0..rng.below(3) {
                        let typing = typing(&mut rng, kind, &new);
                        new.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
                    }
                    trace.note(format_args!("replace all by {:?}", new.to_string()));
                    replace_all(&mut weave, &new);
                }
                10 => {
                    let new = text(&mut rng, kind, 12);
                    trace.note(format_args!("replace all by {:?}", new.to_string()));
                    replace_all(&mut weave, &new);
                }
                11 => snapshots.push(weave.snapshot(View::Agent)),
                12 | 13 if last.as_ref().is_some_and(|done: &Notification| done.after == *weave.buffer()) => {
                    trace.note("undo");
                    notify(&mut weave, inverses(&last.take().unwrap()), says.of_undo());
                }
                _ => last = Some(random_notification(&mut rng, kind, &mut weave, says, &mut trace)),
            }
            if hunks == model.hunks.len() {
                assert_kept(&states, &weave.line_states(), &known);
            }
            texts.push(contents(weave.buffer()));
            assert_in_order(&weave.texts_before(), &texts);
            for line in weave.line_states() {
                known.entry(line.id).or_default().insert(line.line.content);
            }
            let ages = rng.chance(70);
            model.follow(&mut weave, ages);
            if ages {
                continue;
            }
            let snapshot = rng.pick(&snapshots);
            let lines = snapshot.text().line_count();
            let from = rng.below(lines + 1);
            check_carry(&mut weave, snapshot, from..(from + rng.below(4)).min(lines));
        }
    }
}

/// What the person's typing does to lines and hunks; new lines, which are hidden again, and forgotten ones do not count.
fn state(weave: &mut Weave) -> (Vec<LineState>, Vec<bool>, Vec<Option<hashline_weave::Conflict>>, String) {
    let mut lines = weave.line_states();
    lines.retain(|line| !line.gone);
    let on = weave.hunks().map(|hunk| weave.in_buffer(hunk)).collect();
    (lines, on, weave.conflicts(), weave.agent().to_string())
}

#[derive(Clone, Copy, Debug)]
enum Undo {
    OneByOne,
    AtOnce,
    InPieces,
    Combined,
}

#[test]
fn undoing_everything_restores_everything() {
    for seed in seeds(1800) {
        let mut rng = Rng::new(seed);
        let says = Says::any(&mut rng);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 12);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        for _ in 0..rng.below(4) {
            model.edit_any(&mut weave, &mut rng, kind, &mut trace);
            model.switch_any(&mut weave, &mut rng, &mut trace);
        }
        let before = state(&mut weave);
        let snapshot = weave.snapshot(View::Agent);
        let start = weave.buffer().clone();
        let mut done = Vec::new();
        for _ in 0..1 + rng.below(12) {
            done.push(random_notification(&mut rng, kind, &mut weave, says, &mut trace));
        }
        // One that says what it does says it of the whole.
        let pieces = if says == Says::Nothing { Undo::InPieces } else { Undo::AtOnce };
        let how = *rng.pick(&[Undo::OneByOne, Undo::AtOnce, pieces, Undo::Combined]);
        trace.note(format_args!("undo {how:?}"));
        match how {
            Undo::OneByOne => done.iter().rev().for_each(|done| {
                notify(&mut weave, inverses(done), says.of_undo());
            }),
            Undo::AtOnce => {
                let all = done.iter().rev().flat_map(inverses).collect();
                notify(&mut weave, all, says.of_undo());
            }
            Undo::InPieces => {
                for typing in done.iter().rev().flat_map(inverses) {
                    notify(&mut weave, vec![typing], says.of_undo());
                }
            }
            Undo::Combined => replace_all(&mut weave, &start),
        }
        assert_eq!(weave.buffer().to_string(), start.to_string());
        model.learn_newline(&mut weave);
        let after = state(&mut weave);
        assert_eq!(before.1, after.1, "hunks in the text");
        assert_eq!(before.2, after.2, "conflicts");
        assert_eq!(before.3, after.3, "the agent view");
        assert_eq!(before.0, after.0, "lines");
        let lines = snapshot.text().line_count();
        assert_eq!(weave.carry(&snapshot, 0..lines), Ok(0..lines), "identity");
        model.check(&mut weave);
    }
}
