//! What the person makes of a proposal: their own version of one hunk, or of several that are one to them.

use hashline_text::{Ending, OwnedLine, Text};
use hashline_weave::{Change, HunkId, TakeOut, View, Weave};

use crate::{change, edit};

#[test]
fn what_the_person_made_of_a_proposal_is_part_of_it_wherever_it_stands() {
    let changes = [
        change(1..2, "2a\n2b\n"),
        change(1..2, "2\n"),
        change(1..1, "n\n"),
        change(1..1, "n\no\n"),
        change(1..2, ""),
    ];
    for change in changes {
        let proposed: Vec<String> = change.new.iter().map(|line| line.content.clone()).collect();
        let with = |before: &[&str], after: &[&str]| -> Vec<String> {
            let lines = before.iter().map(|line| (*line).to_owned());
            lines.chain(proposed.clone()).chain(after.iter().map(|line| (*line).to_owned())).collect()
        };
        let other = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        for own in [
            with(&["x"], &[]),
            with(&[], &["y"]),
            with(&["x", "y"], &["z"]),
            other(&["I"]),
            other(&["I", "II", "III"]),
        ] {
            let mut weave = Weave::new(Text::from("one\ntwo\nthree\n"));
            let earlier = weave.clone();
            let hunk = weave.record(std::slice::from_ref(&change)).unwrap()[0];
            let lines: Vec<OwnedLine> =
                own.iter().map(|line| OwnedLine::new(line.as_str(), Ending::Lf)).collect();
            let plan = weave.plan_put_in_revised(&[hunk], &lines);
            weave.carry_out(&plan).unwrap();
            // The person goes on typing beside it, which is none of it.
            let below = 1 + own.len() as u32;
            edit(&mut weave, &[], &[((below, 0), (below, 0), "below\n"), ((1, 0), (1, 0), "above\n")]);
            let rest = if change.lines.is_empty() { "two\nthree\n" } else { "three\n" };
            let text = format!("one\nabove\n{}\nbelow\n{rest}", own.join("\n"));
            assert_eq!(weave.buffer().to_string(), text, "{own:?}");

            let mut told = earlier.clone();
            told.apply_delta(&weave.delta_since(&earlier).unwrap()).unwrap();
            for mut weave in [weave, told] {
                assert_eq!(weave.places(View::Buffer)[0], Some(2..2 + own.len()), "{own:?} of {proposed:?}");
                assert!(weave.edited(hunk).any() && weave.edited_hunks()[0].any());
                let plan = weave.plan_take_out(hunk, TakeOut::WithMyChanges);
                weave.carry_out(&plan).unwrap();
                let text = if change.lines.is_empty() { "below\ntwo" } else { "two\nbelow" };
                assert_eq!(weave.buffer().to_string(), format!("one\nabove\n{text}\nthree\n"), "{own:?}");
            }
        }
    }
}

#[test]
fn what_the_person_made_of_hunks_on_each_other_reads_as_they_wrote_it() {
    // What each puts in the place of which lines of what is there then.
    let stacks = [
        vec![change(1..2, "a\nb\nc\n"), change(2..3, "B\nBB\n")],
        vec![change(1..2, "a\nb\nc\n"), change(3..3, "n\n"), change(1..3, "")],
        vec![change(1..1, "a\nb\n"), change(2..4, "B\n")],
        vec![change(1..2, "a\n"), change(1..2, "b\n"), change(1..2, "c\nd\n")],
        vec![change(1..2, "a\nb\n"), change(1..3, "")],
    ];
    for stack in stacks {
        let mut proposal = Weave::new(Text::from("one\ntwo\nthree\n"));
        let hunks: Vec<HunkId> =
            stack.iter().map(|change| proposal.record(std::slice::from_ref(change)).unwrap()[0]).collect();
        let proposed: Vec<String> = {
            let places = proposal.places(View::Agent);
            let first = places.iter().flatten().map(|place| place.start).min().unwrap();
            let last = places.iter().flatten().map(|place| place.end).max().unwrap();
            proposal.agent().lines(first..last).map(|line| line.content().into_owned()).collect()
        };
        let beside = |lines: &[&str], at: usize| {
            let mut own = proposed.clone();
            own.splice(at..at, lines.iter().map(|line| (*line).to_owned()));
            own
        };
        let mut versions =
            vec![proposed.clone(), vec!["I".to_owned()], vec!["a".to_owned(), "mine".to_owned()]];
        versions.extend((0..=proposed.len()).map(|at| beside(&["x", "y"], at)));
        for own in versions {
            let mut weave = proposal.clone();
            let earlier = weave.clone();
            let lines: Vec<OwnedLine> =
                own.iter().map(|line| OwnedLine::new(line.as_str(), Ending::Lf)).collect();
            let plan = weave.plan_put_in_revised(&hunks, &lines);
            weave.carry_out(&plan).unwrap();
            let all: String = own.iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(weave.buffer().to_string(), format!("one\n{all}three\n"));
            assert!(hunks.iter().all(|hunk| weave.in_buffer(*hunk)));
            let mut told = earlier.clone();
            told.apply_delta(&weave.delta_since(&earlier).unwrap()).unwrap();
            for mut weave in [weave, told] {
                for hunk in &hunks {
                    let lines = weave.places(View::Buffer)[hunk.order()].clone().unwrap();
                    let typed = own.iter().zip(1..).filter(|(line, _)| !proposed.contains(line));
                    assert!(typed.map(|(_, at)| at).all(|at| lines.contains(&at)), "{own:?}: {lines:?}");
                }
                let plan = weave.plan_take_out(hunks[0], TakeOut::WithMyChanges);
                weave.carry_out(&plan).unwrap();
                assert_eq!(weave.buffer().to_string(), "one\ntwo\nthree\n", "{own:?}");
            }
        }
    }
}

#[test]
fn equal_lines_of_another_held_hunk_do_not_stand_for_those_that_are_rewritten() {
    for (lower, at, between, own) in [
        ("a\n}\n", 1, "}\n", "a\n}\n"),
        ("a {\n}\n\nb {\n}\n", 2, "\nc {\n}\n", "a {\n}\n\nB {\n}\n"),
        ("a {\n}\n\nb {\n}\n", 2, "\nc {\n}\n", "a {\n}\n\nb {\n}\n"),
    ] {
        let mut weave = Weave::new(Text::from("one\ntwo\n"));
        let lower = weave.record(&[change(1..1, lower)]).unwrap()[0];
        let between = weave.record(&[change(1 + at..1 + at, between)]).unwrap()[0];
        let plan = weave.plan_put_in_revised(&[lower], &change(0..0, own).new);
        weave.carry_out(&plan).unwrap();
        assert_eq!(weave.buffer().to_string(), format!("one\n{own}two\n"));
        assert!(!weave.in_buffer(between) && weave.in_agent_view(between));
    }
    // Where all of them were shown, all of them may be in the words.
    let mut weave = Weave::new(Text::from("one\ntwo\n"));
    let lower = weave.record(&[change(1..1, "a {\n}\n\nb {\n}\n")]).unwrap()[0];
    weave.record(&[change(3..3, "\nc {\n}\n")]).unwrap();
    let plan = weave.plan_put_in_revised(&[lower], &change(0..0, "a {\n}\n\nc {\n}\n\nB {\n}\n").new);
    weave.carry_out(&plan).unwrap();
    assert_eq!(weave.buffer().to_string(), "one\na {\n}\n\nB {\n}\ntwo\n");
}

#[test]
fn lines_of_another_held_hunk_between_those_that_are_rewritten_wait_for_their_own_decision() {
    let mut proposal = Weave::new(Text::from("one\ntwo\n"));
    let mut record = |change: Change| proposal.record(&[change]).unwrap()[0];
    let lower = record(change(1..1, "a\nb\n"));
    let between = record(change(2..2, "x\n"));
    let upper = record(change(1..2, "A\n"));
    assert_eq!(proposal.agent().to_string(), "one\nA\nx\nb\ntwo\n");
    for (own, buffer, agent) in [
        ("A\nx\nb\n", "A\nb\n", "A\nx\nb\n"),
        ("A\nb\n", "A\nb\n", "A\nx\nb\n"),
        ("AA\nx\nb\n", "AA\nb\n", "AA\nx\nb\n"),
        ("A\nx\nmine\nb\n", "A\nmine\nb\n", "A\nx\nmine\nb\n"),
        ("A\nmine\nx\nbb\n", "A\nmine\nbb\n", "A\nmine\nx\nbb\n"),
    ] {
        let mut weave = proposal.clone();
        let plan = weave.plan_put_in_revised(&[lower, upper], &change(0..0, own).new);
        weave.carry_out(&plan).unwrap();
        assert_eq!(weave.buffer().to_string(), format!("one\n{buffer}two\n"), "{own:?}");
        assert_eq!(weave.agent().to_string(), format!("one\n{agent}two\n"), "{own:?}");
        weave.switch(&[between], &[]).unwrap();
        assert_eq!(weave.buffer().to_string(), format!("one\n{agent}two\n"), "{own:?}");
    }
}
