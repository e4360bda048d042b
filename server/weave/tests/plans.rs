//! Taking out what the person has edited, and putting in what they have typed over (rules W8, W12): what stays, what goes, and that the
//! editor's text is recognised as it.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::collections::BTreeMap;

use common::model::Model;
use common::{Endings, Trace, seeds, text, typing};
use hashline_text::{Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::{
    Candidate, Change, How, HunkId, Judgement, LineId, LineState, Plan, PutIn, Regions, TakeOut, Weave,
    apply_text_edits,
};

/// How often each content is among some lines.
fn contents<'a>(lines: impl Iterator<Item = &'a LineState>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    lines.for_each(|line| *counts.entry(line.line.content.as_str()).or_default() += 1);
    counts
}

fn holds(whole: &BTreeMap<&str, usize>, part: &BTreeMap<&str, usize>) -> bool {
    part.iter().all(|(content, count)| whole.get(content).is_some_and(|all| all >= count))
}

#[test]
fn plans_do_what_they_say_and_are_recognised() {
    for seed in seeds(2400) {
        let mut rng = common::Rng::new(seed);
        let mut trace = Trace::new(seed);
        let original = text(&mut rng, Endings::Lf, 10);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        for _ in 0..1 + rng.below(3) {
            model.edit_any(&mut weave, &mut rng, Endings::Lf, &mut trace);
        }
        let hunk: HunkId = weave.hunks().nth(rng.below(model.hunks.len())).unwrap();
        let put_in = rng.chance(50);
        if !put_in {
            weave.switch(&weave.with_prerequisites(hunk), &[]).unwrap();
        }
        for _ in 0..1 + rng.below(4) {
            let mut text = weave.buffer().clone();
            let typing = typing(&mut rng, Endings::Lf, &text);
            trace.note(format_args!("type {typing:?}"));
            let mut regions = Regions::default();
            regions.apply(&mut text, typing.span, Encoding::Utf16, &typing.new).unwrap();
            weave.recognised(&text, &regions, &[]);
        }
        model.learn_newline(&mut weave);
        if weave.in_buffer(hunk) == put_in {
            continue;
        }
        let keep = rng.chance(50);
        trace.note(format_args!("plan for {hunk:?}: put in {put_in}, keep {keep}"));
        let plan = match (put_in, keep) {
            (true, true) => weave.plan_put_in(hunk, PutIn::KeepBoth),
            (true, false) => weave.plan_put_in(hunk, PutIn::TakeTheirs),
            (false, true) => weave.plan_take_out(hunk, TakeOut::KeepMyLines),
            (false, false) => weave.plan_take_out(hunk, TakeOut::WithMyChanges),
        };
        let before = weave.line_states();
        let text_before = weave.buffer().clone();
        let Ok(changes) = weave.preview(&plan) else { continue };
        let edits = weave.text_edits(&changes, Encoding::Utf16);
        let mut done = weave.clone();
        done.carry_out(&plan).unwrap();
        model.check(&mut done);
        let after = done.line_states();
        let shown = |line: &&LineState| line.shown;
        let mine = |line: &&LineState| {
            // Typed, or changed: not as anybody recorded it.
            let proposed = line.maker.is_some_and(|maker| {
                weave.proposed(maker).iter().any(|proposed| proposed.content == line.line.content)
            });
            line.shown && !proposed && (line.maker.is_some() || !put_in && line.removers.is_empty())
        };
        assert_eq!(done.in_buffer(hunk), put_in);
        if keep && !put_in {
            let (all, mine) = (contents(after.iter().filter(shown)), contents(before.iter().filter(mine)));
            assert!(holds(&all, &mine), "the person's lines stay: {mine:?}");
        }
        if keep && put_in {
            let removed: Vec<String> = plan
                .on
                .iter()
                .flat_map(|hunk| weave.removed(*hunk))
                .map(|line| line.content.clone())
                .collect();
            let (all, mut mine) =
                (contents(after.iter().filter(shown)), contents(before.iter().filter(shown)));
            mine.retain(|content, _| !removed.iter().any(|line| line == content));
            assert!(holds(&all, &mine), "the person's lines stay: {mine:?}");
        }
        if put_in {
            assert!(
                done.edited(hunk) == hashline_weave::Edited::default() || keep,
                "{:?}",
                done.edited(hunk)
            );
        }
        let mut edited = text_before.clone();
        apply_text_edits(&mut edited, &edits, Encoding::Utf16).unwrap();
        assert_eq!(edited.to_string(), done.buffer().to_string(), "the text edits do it");

        // The editor does it, and undoes it.
        let states = weave.line_states();
        let mut text = weave.buffer().clone();
        let mut regions = Regions::default();
        for edit in edits.iter().rev() {
            regions.apply(&mut text, edit.span, Encoding::Utf16, &edit.new).unwrap();
        }
        trace.note(format_args!("changes {changes:?} of {:?}", text_before.to_string()));
        if changes.is_empty() {
            continue;
        }
        let asked = [Candidate { plan, how: How::Asked(1) }];
        weave.recognised(&text, &regions, &asked);
        model.check(&mut weave);
        assert_eq!(weave.in_buffer(hunk), put_in, "recognised");
        replace(&mut weave, &text_before);
        assert_eq!(weave.in_buffer(hunk), !put_in, "undone");
        let visible = |states: &[LineState]| -> Vec<LineState> {
            states.iter().filter(|line| !line.gone).cloned().collect()
        };
        assert_eq!(visible(&weave.line_states()), visible(&states));
    }
}

fn replace(weave: &mut Weave, text: &Text) {
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    weave.recognised(text, &regions, &[]);
}

/// Puts text in at the beginning of lines, and takes whole lines away, as one notification.
fn edit(weave: &mut Weave, asked: &[Candidate], puts: &[(u32, &str)], takes: &[u32]) -> Judgement {
    let mut text = weave.buffer().clone();
    let mut regions = Regions::default();
    let at = |line| Position::new(line, 0);
    let takes = takes.iter().map(|line| (Span::new(at(*line), at(line + 1)), ""));
    let puts = puts.iter().map(|(line, new)| (Span::new(at(*line), at(*line)), *new));
    for (span, new) in takes.chain(puts) {
        regions.apply(&mut text, span, Encoding::Utf16, new).unwrap();
    }
    let judgement = weave.recognised(&text, &regions, asked);
    assert_eq!(weave.buffer().to_string(), text.to_string());
    judgement
}

/// A hunk in the text of which the person has deleted what they typed in it, and the plan that takes it out, from before that.
fn with_a_plan_of_old() -> (Weave, HunkId, Plan, LineId) {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\ne\nf\n"));
    let line = |content| OwnedLine::new(content, Ending::Lf);
    let hunk = weave.record(&[Change { lines: 1..2, new: vec![line("B"), line("B2")] }]).unwrap()[0];
    weave.switch(&[hunk], &[]).unwrap();
    edit(&mut weave, &[], &[(2, "mine\n")], &[]);
    let mine = weave.line_states().iter().find(|line| line.line.content == "mine").unwrap().id;
    let plan = weave.plan_take_out(hunk, TakeOut::WithMyChanges);
    edit(&mut weave, &[], &[], &[2]);
    assert_eq!(weave.buffer().to_string(), "a\nB\nB2\nc\nd\ne\nf\n");
    (weave, hunk, plan, mine)
}

#[test]
fn what_a_plan_moves_that_is_where_it_should_be_is_no_change() {
    let (mut weave, hunk, plan, mine) = with_a_plan_of_old();
    let original = weave.buffer().clone();
    let states = weave.line_states();
    // The editor does it, and tells of lines that were moved with it: which of them stays is a guess, but for whoever remembers.
    let asked = [Candidate { plan, how: How::Asked(1) }];
    let judgement = edit(&mut weave, &asked, &[(1, "b\n"), (4, "d\n")], &[1, 1, 2]);
    assert_eq!(weave.buffer().to_string(), "a\nb\nc\ne\nd\nf\n");
    assert_eq!(judgement.switched.len(), 1);
    let delivered = weave.buffer().clone();
    // It undoes it and does it again.
    for (text, on) in [(&original, true), (&delivered, false), (&original, true)] {
        replace(&mut weave, text);
        assert_eq!(weave.in_buffer(hunk), on);
        let mine = weave.line_states().into_iter().find(|line| line.id == mine).unwrap();
        assert!(mine.gone, "it was gone before and is gone");
    }
    let known = |states: Vec<LineState>| states.into_iter().filter(|line| !line.gone).collect::<Vec<_>>();
    assert_eq!(known(weave.line_states()), known(states));
    // What was done before all this can be taken back, too.
    replace(&mut weave, &Text::from("a\nB\nmine\nB2\nc\nd\ne\nf\n"));
    assert!(!weave.line_states().iter().find(|line| line.id == mine).unwrap().gone, "the same line");
}

#[test]
fn a_plan_that_changes_nothing_is_not_in_the_journal() {
    let (mut weave, _, plan, _) = with_a_plan_of_old();
    weave.carry_out(&plan).unwrap();
    let (text, known) = (weave.buffer().clone(), weave.texts_before());
    assert_eq!(weave.carry_out(&plan).unwrap(), []);
    assert_eq!((weave.buffer(), weave.texts_before()), (&text, known));
    // Asked for while something else is typed.
    let asked = [Candidate { plan, how: How::Asked(1) }];
    let known = weave.texts_before().len();
    edit(&mut weave, &asked, &[(3, "x")], &[]);
    assert_eq!(weave.texts_before().len(), known + 1);
    edit(&mut weave, &asked, &[(3, "x")], &[]);
    assert_eq!(weave.texts_before().len(), known + 1);
}

#[test]
fn what_a_plan_puts_there_and_the_editor_leaves_out_is_as_it_was_before() {
    let mut weave = Weave::new(Text::from("a\n1\n2\n3\nc\nd\ne\nf\n"));
    let lines = ["one", "two", "three"].map(|content| OwnedLine::new(content, Ending::Lf));
    let hunk = weave.record(&[Change { lines: 1..4, new: lines.to_vec() }]).unwrap()[0];
    edit(&mut weave, &[], &[(1, "x"), (2, "x"), (3, "x")], &[]);
    let plan = weave.plan_put_in(hunk, PutIn::KeepBoth);
    let (before, original) = (weave.line_states(), weave.buffer().clone());
    // One of the person's lines is missing, and others were moved.
    let asked = [Candidate { plan, how: How::Asked(1) }];
    let judgement = edit(&mut weave, &asked, &[(3, "one\ntwo\nthree\n"), (8, "d\n")], &[1, 4]);
    assert_eq!(weave.buffer().to_string(), "a\nx2\nx3\none\ntwo\nthree\nc\ne\nd\nf\n");
    assert_eq!(judgement.switched.len(), 1);
    replace(&mut weave, &original);
    let known = |states: Vec<LineState>| states.into_iter().filter(|line| !line.gone).collect::<Vec<_>>();
    assert_eq!(known(weave.line_states()), known(before));
}
