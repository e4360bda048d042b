//! Typing that is judged among the runs around it leads to what judging it among all runs leads to.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;

use common::{Endings, Rng, Trace, Typing, changes, content, endings, inverse, new_seeds, typing};
use hashline_text::{Encoding, OwnedLine, Position, Span, Text};
use hashline_weave::{
    Candidate, Change, Conflict, Edited, How, HunkId, LineState, Plan, Regions, Turn, View, Weave,
};

/// A text in which many lines are equal, and many that follow one another.
fn text(rng: &mut Rng, kind: Endings) -> Text {
    let mut text = String::new();
    for _ in 0..rng.below(40) {
        let line = content(rng);
        for _ in 0..if rng.chance(10) { 1 + rng.below(12) } else { 1 } {
            text.push_str(&line);
            text.push_str(common::ending(rng, kind).as_str());
        }
    }
    if rng.chance(30) {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    Text::from(text)
}

/// A line or some come, go, are split or joined, most often where something happened before.
fn lines_change(rng: &mut Rng, kind: Endings, text: &Text, last: &mut usize) -> Typing {
    let lines = text.lsp_line_count();
    let far = rng.below(lines);
    *last = if rng.chance(70) { (*last + rng.below(4)).min(lines - 1) } else { far };
    let line = *last as u32;
    let at = |line: u32| Position::new(line.min(lines as u32 - 1), 0);
    let new = |rng: &mut Rng| OwnedLine::new(content(rng), common::ending(rng, kind));
    let (span, new) = match rng.below(6) {
        0 => (Span::new(at(line), at(line + 1)), String::new()),
        1 => (Span::new(at(line), at(line + 1 + rng.below(3) as u32)), String::new()),
        // The line itself once more: it is the same wherever it is put.
        2 => {
            let same = text.lines(line as usize..line as usize + 1).next();
            let same = same.map_or_else(String::new, |line| line.content().into_owned());
            (Span::new(at(line), at(line)), format!("{same}{}", common::ending(rng, kind).as_str()))
        }
        3 => {
            let column = Position::new(line, rng.below(8) as u32);
            (Span::new(column, column), common::ending(rng, kind).as_str().to_owned())
        }
        _ => {
            let new: String = (0..1 + rng.below(3))
                .map(|_| new(rng))
                .map(|line| line.content + line.ending.as_str())
                .collect();
            (Span::new(at(line), at(line + if rng.chance(50) { 0 } else { 2 })), new)
        }
    };
    Typing { span, new }
}

/// All that can be seen of a weave.
#[derive(Debug, PartialEq)]
struct State {
    lines: Vec<LineState>,
    texts: (Text, Text),
    before: Vec<Vec<String>>,
    newline: bool,
    in_view: Vec<(bool, bool)>,
    conflicts: Vec<Option<Conflict>>,
    edited: Vec<Edited>,
    places: Vec<Vec<Option<std::ops::Range<usize>>>>,
    runs: usize,
}

fn state(weave: &mut Weave) -> State {
    State {
        lines: weave.line_states(),
        texts: (weave.buffer().clone(), weave.agent().clone()),
        before: weave.texts_before(),
        newline: weave.newline_register(),
        in_view: weave.hunks().map(|hunk| (weave.in_buffer(hunk), weave.in_agent_view(hunk))).collect(),
        conflicts: weave.conflicts(),
        edited: weave.edited_hunks(),
        places: vec![weave.places(View::Buffer), weave.places(View::Agent)],
        runs: weave.run_count(),
    }
}

/// How hunks stand: their conflicts, and whether they are in the views.
type Stand = (Vec<Option<Conflict>>, Vec<(bool, bool)>);

/// A weave whose typing is judged near, and one whose typing is judged among all runs.
struct Two {
    near: Weave,
    all: Weave,
    /// Whether the editor says what it does.
    says: bool,
    /// How hunks stood when that was asked last.
    stood: Option<(u64, Stand)>,
}

impl Two {
    fn both<T: PartialEq + std::fmt::Debug>(&mut self, what: impl Fn(&mut Weave) -> T) -> T {
        let near = what(&mut self.near);
        assert_eq!(near, what(&mut self.all));
        near
    }

    /// The text that changes lead to, and what they touch; of the whole text where an editor sends that.
    fn applied(&self, typings: &[Typing], whole: bool) -> (Text, Regions) {
        let mut text = self.near.buffer().clone();
        let mut regions = Regions::default();
        for typing in typings {
            regions.apply(&mut text, typing.span, Encoding::Utf16, &typing.new).unwrap();
        }
        if whole {
            regions = Regions::default();
            regions.replace_all(&mut self.near.buffer().clone(), Text::from(text.to_string()));
            text = Text::from(text.to_string());
        }
        (text, regions)
    }

    fn types(&mut self, typings: &[Typing], whole: bool, asked: &[Candidate]) {
        let (text, regions) = self.applied(typings, whole);
        let (near, all) = match self.says {
            true => (self.near.typed(&text, &regions), self.all.typed_among_all(&text, &regions)),
            false => (
                self.near.recognised(&text, &regions, asked),
                self.all.recognised_among_all(&text, &regions, asked),
            ),
        };
        assert_eq!(near, all);
    }

    fn turns(&mut self, typings: &[Typing], turn: Turn) {
        let (text, regions) = self.applied(typings, false);
        self.both(|weave| weave.turned(&text, &regions, turn));
    }

    fn check(&mut self) {
        assert_eq!(self.near.agent_anew(), *self.near.agent(), "the agent view is that of the buffer");
        let State { conflicts, in_view, .. } = self.both(state);
        let standing = self.near.standing();
        if let Some((stood, how)) = &self.stood
            && *stood == standing
        {
            assert_eq!((&conflicts, &in_view), (&how.0, &how.1), "it would have been told");
        }
        self.stood = Some((standing, (conflicts, in_view)));
    }
}

fn any(weave: &Weave, rng: &mut Rng) -> HunkId {
    let count = weave.hunks().count();
    weave.hunks().nth(rng.below(count)).unwrap()
}

#[test]
fn a_last_line_with_another_ending_is_noted_beside_what_is_typed_before_it() {
    let text = Text::from("a\nb\nc\n");
    let mut two = Two { near: Weave::new(text.clone()), all: Weave::new(text), says: true, stood: None };
    let span = Span::new(Position::new(1, 0), Position::new(3, 0));
    two.types(&[Typing { span, new: "x\nc\r\n".to_owned() }], false, &[]);
    two.check();
}

#[test]
fn an_earlier_text_that_returns_with_another_ending_ends_as_it_reads() {
    let text = Text::from("a\nb\n");
    let mut two = Two { near: Weave::new(text.clone()), all: Weave::new(text), says: true, stood: None };
    let at = |line: u32, character: u32| Position::new(line, character);
    let typing = |from, to, new: &str| Typing { span: Span::new(from, to), new: new.to_owned() };
    two.types(&[typing(at(1, 1), at(2, 0), "")], false, &[]);
    two.types(&[typing(at(1, 1), at(1, 1), "\r\n")], false, &[]);
    two.types(&[typing(at(0, 1), at(0, 1), "x")], false, &[]);
    two.check();
}

#[test]
fn what_is_judged_near_is_what_it_is_among_all() {
    for seed in new_seeds(400) {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::new(seed);
        let kind = endings(&mut rng);
        let original = text(&mut rng, kind);
        trace.note(format_args!("text {:?}", original.to_string()));
        let says = rng.chance(60);
        let mut two =
            Two { near: Weave::new(original.clone()), all: Weave::new(original), says, stood: None };
        trace.note(format_args!("it says what it does: {says}"));
        let mut done: Vec<(Text, Typing)> = Vec::new();
        let mut undone: Vec<Typing> = Vec::new();
        let mut last = 0;
        // Where nobody reads in between, the agent view has more to follow.
        let reads = *rng.pick(&[10, 50, 100]);
        for _ in 0..20 + rng.below(40) {
            let hunks = two.near.hunks().count();
            match rng.below(20) {
                0..=2 if hunks < 12 => {
                    let lines = two.near.agent().line_count();
                    let shift = rng.below(lines + 1);
                    let mut changes = changes(&mut rng, kind, lines - shift);
                    for Change { lines, .. } in &mut changes {
                        *lines = lines.start + shift..lines.end + shift;
                    }
                    trace.note(format_args!("record {changes:?}"));
                    let _recorded = two.both(|weave| weave.record(&changes));
                }
                3 | 4 if hunks > 0 => {
                    let hunk = any(&two.near, &mut rng);
                    let plan = match two.near.in_buffer(hunk) {
                        true => {
                            let mut off = two.near.with_dependents(hunk);
                            off.retain(|hunk| two.near.in_buffer(*hunk));
                            Plan::switch(&[], &off)
                        }
                        false => Plan::switch(&two.near.with_prerequisites(hunk), &[]),
                    };
                    trace.note(format_args!("carry out {plan:?}"));
                    let _done = two.both(|weave| weave.carry_out(&plan));
                }
                5 if hunks > 0 => {
                    let hunk = any(&two.near, &mut rng);
                    let refused = !two.near.is_refused(hunk) && !two.near.in_buffer(hunk);
                    trace.note(format_args!("refuse {hunk:?} {refused}"));
                    two.both(|weave| weave.set_refused(hunk, refused));
                }
                6..=8 if !done.is_empty() => {
                    let (before, typing) = done.pop().unwrap();
                    let mut after = before.clone();
                    after.apply(typing.span, Encoding::Utf16, &typing.new).unwrap();
                    if after != *two.near.buffer() {
                        continue;
                    }
                    let back = inverse(&before, &after, &typing);
                    if says && rng.chance(50) {
                        trace.note(format_args!("undo {back:?}"));
                        two.turns(&[back], Turn::Undo);
                        undone.push(typing);
                    } else {
                        trace.note(format_args!("type back {back:?}"));
                        two.types(&[back], rng.chance(20), &[]);
                        undone.clear();
                    }
                }
                9 if !undone.is_empty() => {
                    let typing = undone.pop().unwrap();
                    let before = two.near.buffer().clone();
                    if before.clone().apply(typing.span, Encoding::Utf16, &typing.new).is_ok() {
                        trace.note(format_args!("redo {typing:?}"));
                        two.turns(std::slice::from_ref(&typing), Turn::Redo);
                        done.push((before, typing));
                    }
                }
                _ => {
                    let before = two.near.buffer().clone();
                    let change = match rng.chance(60) {
                        true => lines_change(&mut rng, kind, &before, &mut last),
                        false => typing(&mut rng, kind, &before),
                    };
                    let whole = rng.chance(10);
                    trace.note(format_args!("type {change:?} {whole}"));
                    let offered = (hunks > 0 && rng.chance(30)).then(|| any(&two.near, &mut rng));
                    let offered = offered.filter(|hunk| !two.near.in_buffer(*hunk));
                    let plan = |hunk| Plan::switch(&two.near.with_prerequisites(hunk), &[]);
                    let how = if rng.chance(50) { How::Asked(1) } else { How::Seen };
                    let asked = offered.map(|hunk| Candidate { plan: plan(hunk), how });
                    two.types(std::slice::from_ref(&change), whole, asked.as_slice());
                    undone.clear();
                    done.push((before, change));
                }
            }
            if rng.chance(reads) {
                two.check();
            }
        }
        two.check();
    }
}
