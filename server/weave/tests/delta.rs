//! What is written down of a weave and done again is the weave: after any number of deltas, and after a copy has taken over.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::model::Model;
use common::{Rng, Trace, endings, seeds, text, typing};
use hashline_text::{Encoding, Ending, OwnedLine, Text};
use hashline_weave::{Change, Delta, HunkId, Regions, Weave, WeaveError};

/// All that can be told of a weave from outside, but for lines that nobody speaks of any more.
fn assert_same(weave: &mut Weave, copy: &mut Weave) {
    let lines = |weave: &Weave| {
        let mut lines = weave.line_states();
        lines.retain(|line| !line.gone || line.maker.is_some() || !line.removers.is_empty());
        lines
    };
    let hunks = |weave: &Weave| {
        let of =
            |id: HunkId| (weave.in_buffer(id), weave.is_refused(id), weave.is_lost(id), weave.edited(id));
        weave.hunks().map(of).collect::<Vec<_>>()
    };
    assert_eq!(weave.buffer().to_string(), copy.buffer().to_string());
    assert_eq!(lines(weave), lines(copy));
    assert_eq!(hunks(weave), hunks(copy));
    assert_eq!(weave.conflicts(), copy.conflicts());
    assert_eq!(weave.agent().to_string(), copy.agent().to_string());
    assert_eq!(weave.newline_register(), copy.newline_register());
}

/// Brings the copy to the weave by what is written down.
fn follow(weave: &mut Weave, copy: &mut Weave) {
    let mut told = weave.as_told(copy);
    if let Some(delta) = weave.delta_since(copy) {
        copy.apply_delta(&delta).unwrap();
    }
    assert_same(weave, copy);
    assert_eq!(told.line_states(), copy.line_states(), "the teller knows what was told");
    assert_same(&mut told, copy);
    assert_eq!(weave.delta_since(copy), None, "what has been told is not told again");
}

#[test]
fn a_copy_that_is_told_what_happened_is_the_same() {
    let mut told = 0;
    for seed in seeds(700) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind, 12);
        trace.note(format_args!("text {:?}", original.to_string()));
        let mut weave = Weave::new(original.clone());
        let mut model = Model::new(&original);
        let mut copy = Weave::new(Text::default());
        for _ in 0..10 + rng.below(40) {
            match rng.below(21) {
                0..=3 => model.edit_any(&mut weave, &mut rng, kind, &mut trace),
                4 if !model.hunks.is_empty() => model.refuse_any(&mut weave, &mut rng, &mut trace),
                5..=8 if !model.hunks.is_empty() => model.switch_any(&mut weave, &mut rng, &mut trace),
                9..=11 => {
                    trace.note("tell");
                    follow(&mut weave, &mut copy);
                    told += 1;
                }
                12 => {
                    trace.note("tell, and go on with the copy");
                    follow(&mut weave, &mut copy);
                    weave = copy.clone();
                }
                13 => {
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
        }
        follow(&mut weave, &mut copy);
        let mut whole = Weave::new(Text::default());
        if let Some(delta) = weave.whole() {
            whole.apply_delta(&delta).unwrap();
        }
        assert_eq!(whole.line_states(), weave.line_states(), "nothing is left out of the whole");
        let contents = |delta: Option<Delta>| -> usize {
            delta.iter().flat_map(|delta| &delta.contents).map(|(_, lines)| lines.len()).sum()
        };
        let hidden = contents(weave.whole()) - weave.buffer().line_count();
        assert_eq!(contents(weave.whole_but_text()), hidden, "nothing but the buffer is left out then");
    }
    assert!(told > 0, "nothing was ever told");
}

#[test]
fn a_delta_is_no_longer_than_what_has_changed() {
    let text: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    let mut weave = Weave::new(Text::from(text.as_str()));
    let told = weave.clone();
    let new = vec![OwnedLine::new("new", Ending::Lf)];
    weave.record(&[Change { lines: 2500..2501, new }]).unwrap();
    let delta = weave.delta_since(&told).unwrap();
    assert_eq!(
        delta.runs.as_ref().map(Vec::len),
        Some(4),
        "before, the line taken away, the new one, behind"
    );
    assert_eq!(delta.contents.iter().map(|(_, lines)| lines.len()).sum::<usize>(), 1);
}

#[test]
fn a_delta_that_does_not_fit_changes_nothing() {
    let mut weave = Weave::new(Text::from("one\ntwo\nthree\n"));
    let told = weave.clone();
    let new = vec![OwnedLine::new("2", Ending::Lf)];
    let hunk = weave.record(&[Change { lines: 1..2, new }]).unwrap()[0];
    weave.switch(&[hunk], &[]).unwrap();
    let good = weave.delta_since(&told).unwrap();
    let bad: [(&str, Delta); 5] = [
        (
            "a hunk that there is not",
            Delta { switched: vec![(hunk, true), (hunk, true)], hunks: Vec::new(), ..good.clone() },
        ),
        (
            "a lost hunk that there is not",
            Delta { lost: vec![(HunkId::from_order(7), true)], ..good.clone() },
        ),
        ("no contents", Delta { contents: Vec::new(), ..good.clone() }),
        ("lines in another order", {
            let mut runs = good.runs.clone().unwrap();
            runs.reverse();
            Delta { runs: Some(runs), ..good.clone() }
        }),
        ("a hunk that rests on itself", {
            let mut hunks = good.hunks.clone();
            hunks[0].depends = vec![hunk];
            Delta { hunks, ..good.clone() }
        }),
    ];
    for (what, delta) in bad {
        let mut copy = told.clone();
        assert!(matches!(copy.apply_delta(&delta), Err(WeaveError::BadDelta(_))), "{what}");
        assert_eq!(copy.delta_since(&told), None, "{what}");
    }
    let mut copy = told.clone();
    copy.apply_delta(&good).unwrap();
    assert_eq!(copy.buffer().to_string(), "one\n2\nthree\n");
}
