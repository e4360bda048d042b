//! Hunks that are lost (rule W17): they are those that the rule names, and nothing switches them.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::model::Model;
use common::{Rng, Trace, endings, seeds, text, typing};
use hashline_text::{Encoding, Ending, OwnedLine, Text};
use hashline_weave::{
    Candidate, Change, Conflict, How, HunkId, LineState, Plan, PutIn, Regions, TakeOut, Weave, WeaveError,
};

fn line(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

fn belongs(line: &LineState, hunk: HunkId) -> bool {
    line.maker.iter().chain(&line.removers).any(|other| *other == hunk)
}

/// The rule, word by word.
fn keeps_its_place(before: &[LineState], after: &[LineState], hunk: HunkId) -> bool {
    let shown =
        |lines: &[LineState]| -> Vec<LineState> { lines.iter().filter(|line| line.shown).cloned().collect() };
    let Some(first) = before.iter().position(|line| belongs(line, hunk)) else { return false };
    let last = before.iter().rposition(|line| belongs(line, hunk)).unwrap();
    let (start, end) = (shown(&before[..first]).len(), shown(&before[..=last]).len());
    let (before, after) = (shown(before), shown(after));
    let window = &before[start.saturating_sub(3)..(end + 3).min(before.len())];
    if window.iter().all(|line| line.line.content.trim().is_empty()) {
        return false;
    }
    let content =
        |lines: &[LineState]| -> Vec<String> { lines.iter().map(|line| line.line.content.clone()).collect() };
    let ids = |lines: &[LineState]| lines.iter().map(|line| line.id).collect::<Vec<_>>();
    let places = |lines: &[LineState]| -> Vec<usize> {
        let fits = |at: &usize| content(&lines[*at..*at + window.len()]) == content(window);
        (0..(lines.len() + 1).saturating_sub(window.len())).filter(fits).collect()
    };
    let [place] = places(&after)[..] else { return false };
    places(&before).len() == 1
        && ids(&after[place..place + window.len()]) == ids(window)
        && (start >= 3 || place == 0)
        && (end + 3 <= before.len() || place + window.len() == after.len())
}

/// Whether somebody has put in what a hunk that is off would bring.
fn came(weave: &Weave, before: &[LineState], after: &[LineState], hunk: HunkId) -> bool {
    let own: Vec<&str> = weave.proposed(hunk).iter().map(|line| line.content.as_str()).collect();
    let count = |states: &[LineState]| {
        let shown = states.iter().filter(|line| line.shown);
        let contents: Vec<&str> = shown.map(|line| line.line.content.as_str()).collect();
        contents.windows(own.len().max(1)).filter(|lines| **lines == own[..]).count()
    };
    let is_off = !weave.in_buffer(hunk);
    is_off && own.iter().any(|line| !line.trim().is_empty()) && count(before) == 0 && count(after) > 0
}

#[test]
fn what_is_lost_is_what_the_rule_says() {
    let (mut crossed, mut lost, mut kept) = (0, 0, 0);
    for seed in seeds(1500) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 24);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        for _ in 0..5 + rng.below(25) {
            match rng.below(10) {
                0..=2 => model.edit_any(&mut weave, &mut rng, kind, &mut trace),
                3..=4 if !model.hunks.is_empty() => model.switch_any(&mut weave, &mut rng, &mut trace),
                5..=6 => {
                    let mut new = weave.buffer().clone();
                    for _ in 0..1 + rng.below(2) {
                        let typing = typing(&mut rng, kind, &new);
                        new.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
                    }
                    trace.note(format_args!("unobserved {:?}", new.to_string()));
                    let was: Vec<bool> = weave.hunks().map(|id| weave.is_lost(id)).collect();
                    let (before, buffer) = (weave.line_states(), weave.buffer().clone());
                    let on = model.on(&weave);
                    let newly = weave.unobserved(new.clone());
                    assert!(*weave.buffer() == new);
                    assert_eq!(model.on(&weave), on, "nothing is switched");
                    if new == buffer {
                        assert_eq!((newly, weave.line_states()), (Vec::new(), before));
                        continue;
                    }
                    let after = weave.line_states();
                    let mut expected = Vec::new();
                    for id in weave.hunks() {
                        let rests = model.hunks[id.order()]
                            .depends
                            .iter()
                            .any(|on| expected.contains(&HunkId::from_order(*on as u32)));
                        let keeps =
                            keeps_its_place(&before, &after, id) && !came(&weave, &before, &after, id);
                        if !was[id.order()] && (rests || !keeps) {
                            expected.push(id);
                        }
                        assert_eq!(weave.is_lost(id), was[id.order()] || expected.contains(&id), "{id:?}");
                    }
                    assert_eq!(newly, expected);
                    crossed += 1;
                    lost += newly.len();
                    kept += weave.hunks().filter(|id| !weave.is_lost(*id)).count();
                }
                _ => {
                    let mut new = weave.buffer().clone();
                    let mut regions = Regions::default();
                    let typing = typing(&mut rng, kind, &new);
                    trace.note(format_args!("type {typing:?}"));
                    regions.apply(&mut new, typing.span, Encoding::Utf16, &typing.new).unwrap();
                    let judgement = weave.recognised(&new, &regions, &[]);
                    assert!(judgement.switched.iter().all(|switched| !weave.is_lost(switched.hunk)));
                }
            }
            model.learn_newline(&mut weave);
            model.check(&mut weave);
        }
    }
    println!("{crossed} changes: {lost} hunks lost, {kept} kept");
    assert!(seeds(1500).count() < 100 || (crossed > 0 && lost > 0 && kept > 0));
}

#[test]
fn a_lost_hunk_is_switched_by_nothing() {
    let file = |third: &str| Text::from(format!("a\nb\n{third}\nc\nd\n"));
    let mut weave = Weave::new(file("x"));
    let hunk = weave.record(&[Change { lines: 2..3, new: vec![line("y")] }]).unwrap()[0];
    let mut held = weave.clone();
    assert_eq!(held.unobserved(file("x\nz")), [hunk]);
    weave.switch(&[hunk], &[]).unwrap();
    let mut on = weave.clone();
    assert_eq!(on.unobserved(file("y\nz")), [hunk]);

    assert_eq!(held.conflict(hunk), Some(Conflict::Lost));
    assert_eq!(held.agent().to_string(), held.buffer().to_string());
    assert_eq!(on.conflict(hunk), None);
    let lost = Err(WeaveError::Lost { hunk });
    let ways_in = [
        Plan::switch(&[hunk], &[]),
        held.plan_put_in(hunk, PutIn::TakeTheirs),
        held.plan_put_in(hunk, PutIn::KeepBoth),
        held.plan_put_in_revised(&[hunk], &[line("z")]),
    ];
    for plan in ways_in {
        assert_eq!((held.preview(&plan), held.carry_out(&plan)), (lost.clone(), lost.clone()), "{plan:?}");
    }
    let ways_out = [
        Plan::switch(&[], &[hunk]),
        on.plan_take_out(hunk, TakeOut::WithMyChanges),
        on.plan_take_out(hunk, TakeOut::KeepMyLines),
    ];
    for plan in ways_out {
        assert_eq!((on.preview(&plan), on.carry_out(&plan)), (lost.clone(), lost.clone()), "{plan:?}");
    }
    // To want it as it is is no switch.
    assert_eq!(held.carry_out(&Plan::switch(&[], &[hunk])), Ok(Vec::new()));
    assert_eq!(on.carry_out(&Plan::switch(&[hunk], &[])), Ok(Vec::new()));

    // Neither a text that shows it nor one that lacks it, asked for or not.
    for (mut weave, text, to) in [(held, file("y\nz"), true), (on, file("x\nz"), false)] {
        let plan = if to { Plan::switch(&[hunk], &[]) } else { Plan::switch(&[], &[hunk]) };
        for asked in [vec![], vec![Candidate { plan, how: How::Asked(1) }]] {
            let mut weave = weave.clone();
            let mut regions = Regions::default();
            regions.replace_all(&mut weave.buffer().clone(), text.clone());
            assert_eq!(weave.recognised(&text, &regions, &asked).switched, []);
            assert_eq!(weave.in_buffer(hunk), !to);
        }
        weave.set_refused(hunk, true);
        assert_eq!(weave.conflict(hunk), None, "a refused hunk has no conflict");
    }
}

#[test]
fn what_rests_on_a_lost_hunk_is_lost_with_it_and_what_comes_later_is_not() {
    let text = |head: &str| Text::from(format!("{head}1\n2\n3\n4\n5\n6\n7\n8\n9\n"));
    let mut weave = Weave::new(text("a\nb\n"));
    let below = weave.record(&[Change { lines: 0..1, new: vec![line("A")] }]).unwrap()[0];
    let wide = (0..8).map(|n| line(&format!("A{n}"))).collect();
    let above = weave.record(&[Change { lines: 0..1, new: wide }]).unwrap()[0];
    weave.switch(&[below, above], &[]).unwrap();
    let made = "A0\nA1\nA2\nA3\nA4\nA5\nA6\nA7\n";
    assert_eq!(weave.unobserved(text(&format!("top\n{made}b\n"))), [below, above]);
    let later = weave.record(&[Change { lines: 3..4, new: vec![line("later")] }]).unwrap()[0];
    assert!(weave.prerequisites(later).contains(&above));
    weave.switch(&[later], &[]).unwrap();
    let made = made.replace("A2", "later");
    assert_eq!(weave.unobserved(text(&format!("top\n{made}b\nbottom\n"))), []);
    weave.switch(&[], &[later]).unwrap();
    assert_eq!(
        weave.buffer().to_string(),
        text("top\nA0\nA1\nA2\nA3\nA4\nA5\nA6\nA7\nb\nbottom\n").to_string()
    );
}

#[test]
fn the_end_of_the_text_counts_as_long_as_it_is_the_end() {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\ne\nf\n"));
    let changes = [0, 5].map(|at| Change { lines: at..at + 1, new: vec![line("new")] });
    let hunks = weave.record(&changes).unwrap();
    for (text, lost) in [
        ("a\nb\nc\nd\ne\nf", vec![]),
        ("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\n", vec![]),
        ("x\na\nb\nc\nd\ne\nf\n", vec![hunks[0]]),
        ("a\nb\nc\nd\ne\nf\nx\n", vec![hunks[1]]),
        ("x\na\nb\nc\nd\ne\nf\nx\n", hunks.clone()),
        ("", hunks.clone()),
    ] {
        assert_eq!(weave.clone().unobserved(Text::from(text)), lost, "{text:?}");
    }
}

#[test]
fn what_would_bring_lines_that_came_meanwhile_has_no_place() {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\ne\n"));
    let new = ["one", "", "two"].map(line).to_vec();
    let hunk = weave.record(&[Change { lines: 1..1, new }]).unwrap()[0];
    for (text, lost) in [
        ("a\nb\nc\nd\none\n\ntwo\ne\n", vec![hunk]),
        ("a\nb\nc\nd\none\ntwo\ne\n", vec![]),
        ("a\nb\nc\nd\none\n\nt\ne\n", vec![]),
    ] {
        assert_eq!(weave.clone().unobserved(Text::from(text)), lost, "{text:?}");
    }
    weave.switch(&[hunk], &[]).unwrap();
    let twice = "a\none\n\ntwo\nb\nc\nd\none\n\ntwo\ne\n";
    assert_eq!(weave.unobserved(Text::from(twice)), [], "its own lines stand where they stood");
}

#[test]
fn a_line_that_is_common_may_come_elsewhere() {
    let mut weave = Weave::new(Text::from("a\nb\nc\nd\n}\n"));
    weave.record(&[Change { lines: 1..1, new: vec![line("}")] }]).unwrap();
    assert_eq!(
        weave.unobserved(Text::from("a\nb\nc\nd\n}\nf\n}\n")),
        [],
        "its place is as certain as before"
    );
}

#[test]
fn blank_lines_are_no_place() {
    let mut weave = Weave::new(Text::from("\n  \n\n"));
    let hunk = weave.record(&[Change { lines: 1..1, new: vec![line("new")] }]).unwrap()[0];
    assert_eq!(weave.clone().unobserved(Text::from("\n  \n")), [hunk]);
    assert_eq!(weave.clone().unobserved(Text::from("\n  \n\t\n")), [hunk]);
    assert_eq!(weave.unobserved(Text::from("\n  \n\n")), [], "the same text");
}
