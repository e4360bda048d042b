//! Realistic changes that nobody watched (rule W17): whatever is decided across them is decided right. The right result is known, as the
//! changes are made of lines with identities.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use common::{Rng, Trace, seeds};
use hashline_text::{Ending, OwnedLine, Text};
use hashline_weave::{Change, HunkId, LineState, Weave};

fn line(content: &str) -> OwnedLine {
    OwnedLine::new(content, Ending::Lf)
}

fn belongs(line: &LineState, hunk: HunkId) -> bool {
    line.maker.iter().chain(&line.removers).any(|other| *other == hunk)
}

/// A weave as it is after a start: what the record says of it.
fn reopened(weave: &Weave) -> Weave {
    let mut copy = Weave::new(Text::default());
    if let Some(delta) = weave.delta_since(&copy) {
        copy.apply_delta(&delta).unwrap();
    }
    copy
}

/// A line of the text after the change: which line of the text before it is, if it is one, and whether it reads as it did.
#[derive(Clone)]
struct Now {
    was: Option<usize>,
    changed: bool,
    content: String,
}

impl Now {
    fn new(content: impl Into<String>) -> Self {
        Self { was: None, changed: false, content: content.into() }
    }
}

/// How many files are changed.
const SEEDS: u64 = 1500;

/// Lines as they repeat in every file.
const COMMON: [&str; 14] = [
    "",
    "    }",
    "    return None;",
    "    let mut out = Vec::new();",
    "    for item in items {",
    "        if item.is_empty() {",
    "            continue;",
    "        }",
    "        out.push(item);",
    "    Ok(out)",
    "    // TODO",
    "    self.check()?;",
    "    let next = self.next();",
    "    match next {",
];

fn body_line(rng: &mut Rng) -> String {
    if rng.chance(65) {
        (*rng.pick(&COMMON)).to_owned()
    } else {
        let name = *rng.pick(&["count", "size", "path", "name", "line"]);
        format!("    let {name} = {}({});", rng.pick(&["load", "read", "parse"]), rng.below(40))
    }
}

/// A file of functions, some of which are copies of one another.
fn code(rng: &mut Rng) -> Vec<String> {
    let mut lines = vec!["use std::io;".to_owned(), String::new()];
    let mut bodies: Vec<Vec<String>> = Vec::new();
    for function in 0..6 + rng.below(10) {
        let body = match bodies.len() {
            n if n > 0 && rng.chance(30) => bodies[rng.below(n)].clone(),
            _ => (0..3 + rng.below(12)).map(|_| body_line(rng)).collect(),
        };
        let name = if rng.chance(20) { "test".to_owned() } else { format!("step_{function}") };
        lines.push(format!("fn {name}(items: &[Item]) {{"));
        lines.extend(body.iter().cloned());
        lines.extend(["}".to_owned(), String::new()]);
        bodies.push(body);
    }
    lines
}

/// Some hunks apart from each other, as agents make them.
fn edits(rng: &mut Rng, lines: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut at = rng.below(6);
    while at < lines {
        let removed = rng.below(4).min(lines - at);
        let made = if removed == 0 { 1 + rng.below(3) } else { rng.below(4) };
        let new = (0..made).map(|_| line(&body_line(rng))).collect();
        changes.push(Change { lines: at..at + removed, new });
        at += removed + 1 + rng.below(24);
    }
    changes
}

/// What was done to the file, and the lines of it now.
fn change(rng: &mut Rng, lines: &mut Vec<Now>, spots: &[Spot]) -> &'static str {
    let count = lines.len();
    if count < 8 {
        lines.push(Now::new("the end"));
        return "appended";
    }
    let block = |rng: &mut Rng, most: usize| {
        let start = rng.below(count - 2);
        start..(start + 1 + rng.below(most)).min(count)
    };
    let near = |rng: &mut Rng, lines: &[Now]| {
        let spot = spots[rng.below(spots.len())].lines.start;
        let at = lines.iter().position(|line| line.was.is_some_and(|was| was >= spot)).unwrap_or(count - 1);
        (at + rng.below(11)).saturating_sub(5).min(count - 1)
    };
    match rng.below(14) {
        0 | 1 => {
            let moved: Vec<Now> = lines.drain(block(rng, 20)).collect();
            let to = rng.below(lines.len() + 1);
            lines.splice(to..to, moved);
            "block moved"
        }
        2 | 3 => {
            let block = block(rng, 20);
            let copy: Vec<Now> = lines[block.clone()].iter().map(|line| Now::new(&line.content)).collect();
            let to = if rng.chance(50) { block.end } else { rng.below(count + 1) };
            lines.splice(to..to, copy);
            "block duplicated"
        }
        4 | 5 => {
            let at = near(rng, lines);
            let new: Vec<Now> = (0..1 + rng.below(4)).map(|_| Now::new(body_line(rng))).collect();
            lines.splice(at..at, new);
            "lines inserted near"
        }
        6 => {
            let at = near(rng, lines);
            lines.drain(at..(at + 1 + rng.below(4)).min(count));
            "lines removed near"
        }
        7 => {
            let at = rng.below(count + 1);
            let new: Vec<Now> = (0..1 + rng.below(12)).map(|_| Now::new(body_line(rng))).collect();
            lines.splice(at..at, new);
            "lines inserted"
        }
        8 => {
            lines.drain(block(rng, 12));
            "lines removed"
        }
        9 => {
            for line in &mut lines[block(rng, 30)] {
                line.content = format!("    {}", line.content);
                line.changed = true;
            }
            "block indented"
        }
        10 => {
            let at = near(rng, lines);
            lines[at].content.push_str(" // seen");
            lines[at].changed = true;
            "line changed near"
        }
        11 => {
            for line in lines.iter_mut() {
                if line.content.contains("item") {
                    line.content = line.content.replace("item", "entry");
                    line.changed = true;
                }
            }
            "name changed"
        }
        12 => {
            // Somebody does by hand what switching a hunk would do.
            let spot = &spots[rng.below(spots.len())];
            if let Some(place) = spot.place(lines) {
                let new: Vec<Now> = spot.other.iter().map(Now::new).collect();
                lines.splice(place, new);
            }
            "hunk done by hand"
        }
        _ if rng.chance(25) => {
            *lines = code(rng).into_iter().map(Now::new).collect();
            "file rewritten"
        }
        _ => {
            // A copy is made, and the original goes or changes: by its text the copy is what was there.
            let block = block(rng, 20);
            let copy: Vec<Now> = lines[block.clone()].iter().map(|line| Now::new(&line.content)).collect();
            let to = block.end + rng.below(count - block.end + 1);
            lines.splice(to..to, copy);
            lines.drain(block);
            "block typed again elsewhere"
        }
    }
}

/// Where a hunk is in the text before, by identity, and what stands there once it is switched.
struct Spot {
    id: HunkId,
    /// The lines that switching it replaces.
    lines: Range<usize>,
    /// How many lines the text had.
    count: usize,
    /// What they would be replaced by.
    other: Vec<String>,
    /// The window of the rule.
    window: Vec<String>,
}

impl Spot {
    fn of(states: &[LineState], weave: &Weave, id: HunkId) -> Self {
        let first = states.iter().position(|line| belongs(line, id)).unwrap();
        let last = states.iter().rposition(|line| belongs(line, id)).unwrap();
        let shown = |lines: &[LineState]| lines.iter().filter(|line| line.shown).count();
        let (start, end) = (shown(&states[..first]), shown(&states[..=last]));
        let is_on = |other: &HunkId| weave.in_buffer(*other) != (*other == id);
        let then = |line: &&LineState| {
            !line.gone && line.maker.iter().all(is_on) && !line.removers.iter().any(is_on)
        };
        let other = states[first..=last].iter().filter(then).map(|line| line.line.content.clone()).collect();
        let count = weave.buffer().line_count();
        let window = start.saturating_sub(3)..(end + 3).min(count);
        let window = weave.buffer().lines(window).map(|line| line.content().into_owned()).collect();
        Self { id, lines: start..end, count, other, window }
    }

    /// Where its lines are after the change, if that is beyond doubt: they are all there, as they were and side by side; for a gap
    /// the lines on both sides of it.
    fn place(&self, now: &[Now]) -> Option<Range<usize>> {
        let find = |was: usize| now.iter().position(|line| line.was == Some(was));
        if self.lines.is_empty() {
            let at = match self.lines.start.checked_sub(1) {
                Some(before) => find(before)? + 1,
                None => 0,
            };
            let next = now.get(at).map(|line| line.was);
            let fits = if self.lines.end == self.count {
                next.is_none()
            } else {
                next == Some(Some(self.lines.end))
            };
            return fits.then_some(at..at);
        }
        let at = find(self.lines.start)?;
        let here = now.get(at..at + self.lines.len())?;
        let same = here.iter().zip(self.lines.clone()).all(|(now, was)| now.was == Some(was) && !now.changed);
        same.then_some(at..at + self.lines.len())
    }

    /// Whether a reader of the two texts has to take other lines for those around the hunk: the text of them all stands in just one
    /// place, and that is not where the lines are.
    fn is_ambiguous(&self, now: &[Now]) -> bool {
        let fits = |lines: &&[Now]| lines.iter().map(|line| &line.content).eq(&self.window);
        let start = self.lines.start.saturating_sub(3);
        let own = |lines: &[Now]| lines.iter().zip(start..).all(|(line, was)| line.was == Some(was));
        let mut found = now.windows(self.window.len().max(1)).filter(fits);
        found.next().is_some_and(|lines| !own(lines)) && found.next().is_none()
    }
}

#[derive(Clone, Copy, Default)]
struct Figures {
    /// Done, and as it should be.
    right: usize,
    /// Done, and not so.
    wrong: usize,
    /// Done, where it is not clear what should be: lines are gone, changed, or there are others between them.
    unclear: usize,
    /// Refused where it is clear what should be.
    refused: usize,
    /// Refused where it is not.
    rightly: usize,
}

impl Figures {
    /// Switches a hunk, and counts how that fared.
    fn count(&mut self, weave: &Weave, id: HunkId, expected: Option<&String>) -> bool {
        let mut weave = weave.clone();
        let on = weave.in_buffer(id);
        let asks = weave.conflict(id).is_some() || weave.edited(id).asks();
        let done = !asks
            && weave
                .switch(
                    if on { &[] } else { std::slice::from_ref(&id) },
                    if on { std::slice::from_ref(&id) } else { &[] },
                )
                .is_ok();
        let counter = match (done, expected) {
            (true, Some(text)) if weave.buffer().to_string() == *text => &mut self.right,
            (true, Some(_)) => &mut self.wrong,
            (true, None) => &mut self.unclear,
            (false, Some(_)) => &mut self.refused,
            (false, None) => &mut self.rightly,
        };
        *counter += 1;
        done
    }

    fn row(&self, name: &str) -> String {
        let Self { right, wrong, unclear, refused, rightly } = self;
        format!("{name:<42} {right:>7} {wrong:>6} {unclear:>8} {refused:>8} {rightly:>8}\n")
    }
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.fold(String::new(), |mut text, line| {
        text.push_str(&line);
        text.push('\n');
        text
    })
}

/// The same without the rule: nothing is lost.
fn all_found(weave: &Weave) -> Weave {
    let mut delta = weave.whole().unwrap();
    delta.lost.clear();
    let mut found = Weave::new(Text::default());
    found.apply_delta(&delta).unwrap();
    found
}

#[test]
fn what_is_decided_across_a_realistic_change_is_decided_right() {
    let (mut by_rule, mut plain) = (BTreeMap::<&str, Figures>::new(), BTreeMap::<&str, Figures>::new());
    let mut doubtful = BTreeMap::<&str, Figures>::new();
    for seed in seeds(SEEDS) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let original = code(&mut rng);
        let mut weave = Weave::new(Text::from(joined(original.into_iter())));
        let lines = weave.buffer().line_count();
        let hunks = weave.record(&edits(&mut rng, lines)).unwrap();
        let on: Vec<HunkId> = hunks.iter().copied().filter(|_| rng.chance(50)).collect();
        weave.switch(&on, &[]).unwrap();
        let mut weave = reopened(&weave);
        let states = weave.line_states();
        let spots: Vec<Spot> = hunks.iter().map(|id| Spot::of(&states, &weave, *id)).collect();
        let old = weave.buffer().all_lines().enumerate();
        let mut now: Vec<Now> = old
            .map(|(at, line)| Now { was: Some(at), changed: false, content: line.content().into_owned() })
            .collect();
        trace.note(format_args!("on {on:?} of {hunks:?} in\n{}", weave.buffer()));
        let mut what = change(&mut rng, &mut now, &spots);
        for _ in 0..rng.below(3) {
            change(&mut rng, &mut now, &spots);
            what = "several at once";
        }
        let text = joined(now.iter().map(|line| line.content.clone()));
        trace.note(format_args!("{what}:\n{text}"));
        if text == weave.buffer().to_string() {
            continue;
        }
        weave.unobserved(Text::from(text.as_str()));
        let found = all_found(&weave);
        for spot in &spots {
            let expected = spot.place(&now).map(|place| {
                let (before, after) = (&now[..place.start], &now[place.end..]);
                let content = |line: &Now| line.content.clone();
                joined(
                    before
                        .iter()
                        .map(content)
                        .chain(spot.other.iter().cloned())
                        .chain(after.iter().map(content)),
                )
            });
            if spot.is_ambiguous(&now) {
                doubtful.entry(what).or_default().count(&weave, spot.id, expected.as_ref());
                continue;
            }
            let figures = by_rule.entry(what).or_default();
            let before = figures.wrong + figures.unclear;
            figures.count(&weave, spot.id, expected.as_ref());
            assert_eq!(figures.wrong + figures.unclear, before, "{:?} was decided wrongly", spot.id);
            plain.entry(what).or_default().count(&found, spot.id, expected.as_ref());
        }
    }
    let sum = |figures: &BTreeMap<&str, Figures>| {
        figures.values().fold(Figures::default(), |sum, next| Figures {
            right: sum.right + next.right,
            wrong: sum.wrong + next.wrong,
            unclear: sum.unclear + next.unclear,
            refused: sum.refused + next.refused,
            rightly: sum.rightly + next.rightly,
        })
    };
    let mut table = format!(
        "{:<42} {:>7} {:>6} {:>8} {:>8} {:>8}\n",
        "", "right", "wrong", "unclear", "refused", "rightly"
    );
    for (what, figures) in &by_rule {
        write!(table, "{}{}", figures.row(what), plain[what].row("  without the rule")).unwrap();
    }
    let (rule, without) = (sum(&by_rule), sum(&plain));
    write!(table, "{}{}", rule.row("all"), without.row("  without the rule")).unwrap();
    table.push_str("\nWhere the only place that reads like the one before is another:\n");
    for (what, figures) in &doubtful {
        table.push_str(&figures.row(what));
    }
    println!("{table}");
    if seeds(SEEDS).count() < 100 {
        return;
    }
    assert!(without.wrong + without.unclear > 0, "the changes are no harder than an alignment can take");
    // Where the only place that reads like the one before is another, the two texts are those of a move, and a rule that looks at texts
    // takes it for one. Copies whose originals go or change are made here on purpose, and some by several changes at once; of all
    // that the rule lets through what was measured is 0.4 %. The first prototype of the rule decided 5 of 195 wrongly, 3 of which
    // were gone.
    let doubtful = sum(&doubtful);
    let wrong = doubtful.wrong + doubtful.unclear;
    assert!(wrong * 100 < rule.right + doubtful.right + wrong, "more is decided wrongly than was measured");
}
