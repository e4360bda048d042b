//! Large documents, many hunks, long sessions: nothing here takes a minute if nothing takes time in the square of what there is.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::Rng;
use hashline_text::{Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::{Candidate, Change, Conflict, How, Plan, Regions, View, Weave};

const LINES: usize = 100_000;

fn program(indent: impl Fn(usize) -> &'static str) -> Text {
    let line =
        |n: usize| if n.is_multiple_of(7) { "}\n".to_owned() } else { format!("{}let v{n};\n", indent(n)) };
    Text::from((0..LINES).map(line).collect::<String>())
}

fn replace_all(weave: &mut Weave, text: &Text, asked: &[Candidate]) -> usize {
    let mut regions = Regions::default();
    regions.replace_all(&mut weave.buffer().clone(), text.clone());
    let judgement = weave.recognised(text, &regions, asked);
    assert!(*weave.buffer() == *text);
    judgement.switched.len()
}

/// A thousand hunks, each in place of two lines.
fn hunks() -> Vec<Change> {
    let line = |n: usize| OwnedLine::new(format!("agent {n}"), Ending::Lf);
    let at = |n: usize| n * 100 + 1;
    (0..1000)
        .map(|n| Change { lines: at(n)..at(n) + 2, new: (0..3).map(|l| line(n + l)).collect() })
        .collect()
}

#[test]
fn a_formatter_costs_untouched_lines_nothing() {
    let original = program(|_| "    ");
    let mut weave = Weave::new(original.clone());
    let all = weave.record(&hunks()).unwrap();
    let snapshot = weave.snapshot(View::Agent);
    let formatted = program(|n| if n % 100 == 1 && n % 3 == 0 { "  " } else { "    " });
    assert_eq!(replace_all(&mut weave, &formatted, &[]), 0);
    let conflicts = weave.conflicts();
    for hunk in all {
        let line = hunk.order() * 100 + 1;
        let touched = line.is_multiple_of(3) && !line.is_multiple_of(7);
        assert_eq!(conflicts[hunk.order()], touched.then_some(Conflict::LineChanged));
    }
    assert!(weave.run_count() < 5000, "{}", weave.run_count());
    assert_eq!(replace_all(&mut weave, &original, &[]), 0);
    assert!(weave.conflicts().iter().all(Option::is_none));
    let lines = snapshot.text().line_count();
    assert_eq!(weave.carry(&snapshot, 0..lines), Ok(0..lines));
}

#[test]
fn a_thousand_hunks_at_once_are_recognised_amid_typing() {
    let mut weave = Weave::new(program(|_| "    "));
    let all = weave.record(&hunks()).unwrap();
    let plan = Plan::switch(&all, &[]);
    let mut done = weave.clone();
    done.carry_out(&plan).unwrap();
    let mut text = done.buffer().clone();
    let at = Position::new(50_050, 0);
    text.apply(Span::new(at, at), Encoding::Utf16, "typed").unwrap();
    let asked = [Candidate { plan, how: How::Asked(1) }];
    assert_eq!(replace_all(&mut weave, &text, &asked), 1000);
    // And each one's dependents, conflicts and previews can be asked for.
    for hunk in &all {
        assert_eq!(weave.with_dependents(*hunk), [*hunk]);
        assert!(weave.preview(&Plan::switch(&[], &[*hunk])).is_ok());
    }
}

#[test]
fn a_line_behind_each_and_back() {
    let original = program(|_| "    ");
    let mut weave = Weave::new(original.clone());
    let snapshot = weave.snapshot(View::Agent);
    let spaced =
        Text::from(original.all_lines().map(|line| format!("{}\n\n", line.content())).collect::<String>());
    replace_all(&mut weave, &spaced, &[]);
    assert!(weave.carry(&snapshot, 0..2).is_err());
    replace_all(&mut weave, &original, &[]);
    assert_eq!(weave.carry(&snapshot, 0..LINES), Ok(0..LINES));
}

#[test]
fn a_change_that_nobody_watched_is_taken_over_at_once() {
    let repeated = |n: usize| ["}", "    let x = next();", ""][n % 7 % 3].to_owned();
    let unique = |n: usize| format!("let v{n};");
    let files: [(&str, &dyn Fn(usize) -> String); 2] = [("unique", &unique), ("repeated", &repeated)];
    for (what, line) in files {
        let mut weave = Weave::new(Text::from((0..LINES).map(|n| line(n) + "\n").collect::<String>()));
        let all = weave.record(&hunks()).unwrap();
        weave.switch(&all[..500], &[]).unwrap();
        let earlier = weave.clone();
        // A line more here and there, and a part that has moved.
        let mut lines: Vec<String> =
            weave.buffer().all_lines().map(|line| line.content().into_owned()).collect();
        for n in (0..1000).rev() {
            lines.insert(n * 100 + 52, format!("new {n}"));
        }
        let moved: Vec<String> = lines.drain(10_000..12_000).collect();
        lines.splice(80_000..80_000, moved);
        let text = Text::from(lines.join("\n") + "\n");
        let start = std::time::Instant::now();
        let lost = weave.unobserved(text.clone()).len();
        println!("{what}: {lost} of 1000 hunks lost in {:?}", start.elapsed());
        assert!(*weave.buffer() == text);
        let expected = if what == "unique" { 20..100 } else { 500..1000 };
        assert!(expected.contains(&lost), "{lost}");
        let start = std::time::Instant::now();
        let back = weave.returned_to(&earlier).unwrap();
        println!("{what}: back in {:?}", start.elapsed());
        assert!(back.hunks().all(|hunk| !back.is_lost(hunk)));
    }
}

#[test]
fn a_long_session_forgets_what_nobody_can_ask_for() {
    let mut rng = Rng::new(1);
    let mut weave = Weave::new(Text::from((0..200).map(|n| format!("line {n}\n")).collect::<String>()));
    for n in 0..8000 {
        let lines = weave.buffer().line_count();
        let line = |line: usize| Position::new(line as u32, 0);
        let at = rng.below(lines);
        // Half of the changes are new lines, half take one away.
        let (span, new) = if lines < 100 || (lines < 300 && rng.chance(50)) {
            (Span::new(line(at), line(at)), format!("typed {n}\n"))
        } else {
            (Span::new(line(at), line(at + 1)), String::new())
        };
        let mut text = weave.buffer().clone();
        let mut regions = Regions::default();
        regions.apply(&mut text, span, Encoding::Utf16, &new).unwrap();
        weave.recognised(&text, &regions, &[]);
    }
    assert!(weave.run_count() < 3500, "{}", weave.run_count());
}
