//! Going back to a recorded state, as after a change of branches (rule W17): the text is that of then, and what was recorded since can be
//! switched as if the person had taken all their typing back.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::model::Model;
use common::{Rng, Trace, endings, lines, seeds, text, typing};
use hashline_text::{Encoding, Ending, OwnedLine, Text};
use hashline_weave::{Change, Conflict, HunkId, LineState, Regions, Weave, WeaveError};

fn line(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

/// A recorded state: what whoever reads the record makes of it.
fn told(weave: &Weave, copy: &Weave) -> Weave {
    let mut copy = copy.clone();
    if let Some(delta) = weave.delta_since(&copy) {
        copy.apply_delta(&delta).unwrap();
    }
    copy
}

/// A state is as it was then, but that forgotten lines may have come back as new ones. How many have?
fn assert_as_then(now: &Weave, then: &Weave) -> usize {
    let is_known = |hunk: &HunkId| hunk.order() < then.hunks().count();
    let mut was: Vec<LineState> = then.line_states();
    let mut is: Vec<LineState> = now.line_states();
    let has = |lines: &[LineState], line: &LineState| lines.iter().any(|other| other.id == line.id);
    let is_nobodys = |line: &LineState| line.maker.is_none() && line.removers.is_empty();
    let shown = |lines: &[LineState]| -> Vec<OwnedLine> {
        lines.iter().filter(|line| line.shown).map(|line| line.line.clone()).collect()
    };
    assert_eq!(shown(&is), shown(&was));
    let renewed = was.iter().filter(|line| line.shown && !has(&is, line)).count();
    was.retain(|line| !is_nobodys(line) || has(&is, line));
    is.retain(|line| has(&was, line));
    is.iter_mut().for_each(|line| line.removers.retain(is_known));
    assert_eq!(is, was, "what was known then is as it was");
    for id in then.hunks() {
        assert_eq!(
            (now.in_buffer(id), now.is_lost(id), now.edited(id)),
            (then.in_buffer(id), then.is_lost(id), then.edited(id)),
        );
    }
    renewed
}

#[test]
fn a_state_that_comes_back_is_as_it_was_and_can_be_worked_on() {
    let (mut returns, mut newer_on, mut lost, mut kept, mut renewed) = (0, 0, 0, 0, 0);
    for seed in seeds(900) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 14);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        let mut copy = told(&weave, &Weave::new(Text::default()));
        let mut states = vec![copy.clone()];
        let unwatched = rng.chance(40);
        for _ in 0..15 + rng.below(50) {
            match rng.below(22) {
                0..=3 => model.edit_any(&mut weave, &mut rng, kind, &mut trace),
                4 if !model.hunks.is_empty() => model.refuse_any(&mut weave, &mut rng, &mut trace),
                5..=8 if !model.hunks.is_empty() => model.switch_any(&mut weave, &mut rng, &mut trace),
                9..=11 => {
                    trace.note(format_args!("tell state {}", states.len()));
                    copy = told(&weave, &copy);
                    states.push(copy.clone());
                }
                12 => {
                    trace.note("tell, and go on with the copy");
                    copy = told(&weave, &copy);
                    weave = copy.clone();
                }
                13 => {
                    trace.note("tell all anew, and go on with the copy");
                    copy = told(&weave, &Weave::new(Text::default()));
                    weave = copy.clone();
                }
                14..=15 => {
                    let at = rng.below(states.len());
                    let refused: Vec<bool> = weave.hunks().map(|id| weave.is_refused(id)).collect();
                    trace.note(format_args!("return to state {at}"));
                    newer_on += weave
                        .hunks()
                        .skip(states[at].hunks().count())
                        .filter(|id| weave.in_buffer(*id))
                        .count();
                    let revision = weave.revision();
                    weave = weave.returned_to(&states[at]).unwrap();
                    assert!(weave.revision() > revision);
                    assert_eq!(weave.buffer().to_string(), states[at].buffer().to_string());
                    renewed += assert_as_then(&weave, &states[at]);
                    assert_eq!(weave.hunks().map(|id| weave.is_refused(id)).collect::<Vec<_>>(), refused);
                    for id in weave.hunks().skip(states[at].hunks().count()) {
                        assert!(!weave.in_buffer(id));
                        lost += usize::from(weave.is_lost(id));
                        kept += usize::from(!weave.is_lost(id));
                    }
                    assert!(unwatched || weave.hunks().all(|id| !weave.is_lost(id)), "all was watched");
                    returns += 1;
                }
                16 if unwatched => {
                    let mut new = weave.buffer().clone();
                    for _ in 0..1 + rng.below(3) {
                        let typing = typing(&mut rng, kind, &new);
                        new.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
                    }
                    trace.note(format_args!("unobserved {:?}", new.to_string()));
                    weave.unobserved(new);
                }
                _ => {
                    let mut new = weave.buffer().clone();
                    let mut regions = Regions::default();
                    let typing = typing(&mut rng, kind, &new);
                    trace.note(format_args!("type {typing:?}"));
                    regions.apply(&mut new, typing.span, Encoding::Utf16, &typing.new).unwrap();
                    weave.recognised(&new, &regions, &[]);
                }
            }
            model.learn_newline(&mut weave);
            model.check(&mut weave);
            // What came of it can be recorded like anything else.
            let mut told = told(&weave, &copy);
            assert_eq!(told.agent().to_string(), weave.agent().to_string());
            assert_eq!(told.conflicts(), weave.conflicts());
        }
    }
    println!(
        "{returns} returns; of the newer hunks {newer_on} were on, {lost} lost, {kept} kept; {renewed} lines renewed"
    );
    let all_met = returns > 0 && newer_on > 0 && lost > 0 && kept > 0 && renewed > 0;
    assert!(all_met || seeds(900).count() < 100);
}

#[test]
fn what_was_recorded_since_is_there_as_it_was_proposed() {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\n"));
    let old = weave.record(&[Change { lines: 0..1, new: vec![line("A")] }]).unwrap()[0];
    weave.switch(&[old], &[]).unwrap();
    let earlier = told(&weave, &Weave::new(Text::default()));
    let new = weave.record(&[Change { lines: 2..3, new: vec![line("x"), line("y")] }]).unwrap()[0];
    weave.switch(&[new], &[old]).unwrap();
    // The person deletes one line of the new hunk and changes the other.
    let text = Text::from("a\nb\nx!\nd\n");
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    weave.recognised(&text, &regions, &[]);
    assert!(weave.edited(new).changed && weave.edited(new).deleted);
    let mut back = weave.returned_to(&earlier).unwrap();
    assert_eq!(back.buffer().to_string(), "A\nb\nc\nd\n");
    assert_eq!(back.conflict(new), None);
    back.switch(&[new], &[]).unwrap();
    assert_eq!(back.buffer().to_string(), "A\nb\nx\ny\nd\n");
    assert!(!back.edited(new).any());
    // Nothing from before is taken back by a text that looks like it.
    let mut regions = Regions::default();
    regions.replace_all(&mut back.buffer().clone(), text.clone());
    assert!(back.recognised(&text, &regions, &[]).switched.is_empty());
}

#[test]
fn what_rests_on_typing_that_is_gone_is_conflicted() {
    let mut weave = Weave::new(Text::from("a\nb\n"));
    let earlier = told(&weave, &Weave::new(Text::default()));
    let text = Text::from("a\ntyped\nb\n");
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    weave.recognised(&text, &regions, &[]);
    let hunk = weave.record(&[Change { lines: 1..2, new: vec![line("better")] }]).unwrap()[0];
    let mut back = weave.returned_to(&earlier).unwrap();
    assert_eq!(back.conflict(hunk), Some(Conflict::LineRemoved));
    assert_eq!(back.agent().to_string(), "a\nb\n");
}

#[test]
fn lines_that_were_forgotten_come_back_where_they_were() {
    let mut weave = Weave::new(Text::from("a\ngone\nb\nc\n"));
    let earlier = told(&weave, &Weave::new(Text::default()));
    let text = Text::from("a\nb\nc\n");
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    weave.recognised(&text, &regions, &[]);
    // The record is begun anew, without what nobody misses.
    let mut weave = told(&weave, &Weave::new(Text::default()));
    assert_eq!(weave.line_states().len(), 3);
    let inserted = weave.record(&[Change { lines: 1..1, new: vec![line("new")] }]).unwrap()[0];
    let across = weave.record(&[Change { lines: 0..3, new: vec![line("all")] }]).unwrap()[0];
    let mut back = weave.returned_to(&earlier).unwrap();
    assert_eq!(back.buffer().to_string(), "a\ngone\nb\nc\n");
    assert_eq!(back.conflict(inserted), None);
    assert_eq!(back.agent().to_string(), "a\ngone\nnew\nb\nc\n");
    assert_eq!(back.conflict(across), Some(Conflict::LineTyped), "a line that it never saw");
}

#[test]
fn a_return_ends_what_a_change_in_between_has_made_uncertain() {
    let many = |from: usize| (from..from + 20).map(|n| format!("line {n}\n")).collect::<String>();
    let mut weave = Weave::new(Text::from(many(0)));
    let old = weave.record(&[Change { lines: 4..5, new: vec![line("old")] }]).unwrap()[0];
    weave.switch(&[old], &[]).unwrap();
    let earlier = told(&weave, &Weave::new(Text::default()));
    assert_eq!(weave.unobserved(Text::from(format!("{}{}", many(100), many(10)))), [old]);
    assert_eq!(weave.switch(&[], &[old]), Err(WeaveError::Lost { hunk: old }));
    // One on lines that both texts share, one on lines of the other text, one near the border.
    let changes = [26, 10, 20]
        .map(|at| Change { lines: at..at + 1, new: lines(&mut Rng::new(1), common::Endings::Lf, 2) });
    let hunks: Vec<HunkId> = changes.into_iter().map(|change| weave.record(&[change]).unwrap()[0]).collect();
    let mut back = weave.returned_to(&earlier).unwrap();
    assert_eq!(back.buffer().to_string(), earlier.buffer().to_string());
    assert!(!back.is_lost(old), "its place is known again");
    assert_eq!(hunks.iter().map(|id| back.is_lost(*id)).collect::<Vec<_>>(), [false, true, true]);
    back.switch(&hunks[..1], &[old]).unwrap();
    assert_eq!(back.switch(&hunks[1..2], &[]), Err(WeaveError::Lost { hunk: hunks[1] }));
}

#[test]
fn a_state_of_another_weave_is_refused() {
    let mut weave = Weave::new(Text::from("a\nb\n"));
    weave.record(&[Change { lines: 0..1, new: vec![line("A")] }]).unwrap();
    let mut other = Weave::new(Text::from("a\nb\n"));
    other.record(&[Change { lines: 0..1, new: vec![line("A"), line("B")] }]).unwrap();
    assert!(weave.returned_to(&other).is_none());
    assert!(Weave::new(Text::from("a\nb\n")).returned_to(&weave).is_none());
}
