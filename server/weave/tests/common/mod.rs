//! What the simulations share: chance that can be replayed, texts, and a plain model of the rules.

#![allow(dead_code, unused_imports, reason = "each test uses a part")]

mod chance;
pub mod model;

use std::fmt::Write;

pub use chance::{Rng, seeds};

use hashline_text::{ByteOffset, Encoding, Ending, OwnedLine, Position, Span, Text};
use hashline_weave::Change;

/// As [`seeds`], others each time. The first is printed, and `HASHLINE_SEED_BASE` plays them again.
pub fn new_seeds(count: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let base = number("HASHLINE_SEED_BASE").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_millis() as u64 * 1_000_000)
    });
    let base = if number("HASHLINE_SEED").is_some() { 0 } else { base };
    eprintln!("HASHLINE_SEED_BASE={base}");
    seeds(count).map(move |seed| base + seed)
}

/// What happened, printed when the test fails.
pub struct Trace {
    seed: u64,
    steps: String,
}

impl Trace {
    pub fn new(seed: u64) -> Self {
        Self { seed, steps: String::new() }
    }

    pub fn note(&mut self, step: impl std::fmt::Display) {
        writeln!(self.steps, "  {step}").unwrap();
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HASHLINE_SEED={} replays this:\n{}", self.seed, self.steps);
        }
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endings {
    Lf,
    CrLf,
    Mixed,
}

pub fn endings(rng: &mut Rng) -> Endings {
    *rng.pick(&[Endings::Lf, Endings::Lf, Endings::Lf, Endings::CrLf, Endings::Mixed])
}

pub fn ending(rng: &mut Rng, of: Endings) -> Ending {
    match of {
        Endings::Lf => Ending::Lf,
        Endings::CrLf => Ending::CrLf,
        Endings::Mixed => *rng.pick(&[Ending::Lf, Ending::CrLf, Ending::Cr]),
    }
}

/// The content of a line: often empty or one of few, so that equal lines are common.
pub fn content(rng: &mut Rng) -> String {
    const FEW: [&str; 8] = ["", "", "}", "a", "b", "return x;", "é😀", "  "];
    if rng.chance(50) { (*rng.pick(&FEW)).to_owned() } else { format!("line {}", rng.below(1000)) }
}

pub fn lines(rng: &mut Rng, of: Endings, count: usize) -> Vec<OwnedLine> {
    (0..count).map(|_| OwnedLine::new(content(rng), ending(rng, of))).collect()
}

pub fn text(rng: &mut Rng, of: Endings, most: usize) -> Text {
    let count = rng.below(most + 1);
    let mut text = String::new();
    for line in lines(rng, of, count) {
        text.push_str(&line.content);
        text.push_str(line.ending.as_str());
    }
    if rng.chance(30) {
        let end = text.trim_end_matches(['\r', '\n']).len();
        text.truncate(end);
    }
    Text::from(text)
}

/// One to three changes of a view of so many lines, apart from each other.
pub fn changes(rng: &mut Rng, of: Endings, lines: usize) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut from = 0;
    for _ in 0..1 + rng.below(3) {
        if from > lines {
            break;
        }
        let start = from + rng.below((lines - from).min(6) + 1);
        let end = start + rng.below((lines - start).min(3) + 1);
        let count = if start == end { 1 + rng.below(2) } else { rng.below(3) };
        changes.push(Change { lines: start..end, new: self::lines(rng, of, count) });
        from = end + 1;
    }
    changes
}

pub fn position(rng: &mut Rng, text: &Text) -> Position {
    let line = rng.below(text.lsp_line_count());
    let character = if rng.chance(30) { 0 } else { rng.below(12) };
    Position::new(line as u32, character as u32)
}

/// A change of an editor.
#[derive(Clone, Debug)]
pub struct Typing {
    pub span: Span,
    pub new: String,
}

pub fn span(start: Position, end: Position) -> Span {
    Span::new(start, end)
}

/// A keystroke, a paste, a deletion.
pub fn typing(rng: &mut Rng, of: Endings, text: &Text) -> Typing {
    let at = position(rng, text);
    let newline = |rng: &mut Rng| ending(rng, of).as_str();
    let line = |n: u32| Position::new(n, 0);
    let lines = text.lsp_line_count() as u32;
    let near = |rng: &mut Rng| (at.line + rng.below(3) as u32).min(lines - 1);
    let (start, end, new) = match rng.below(10) {
        0..=2 => (at, at, (*rng.pick(&["x", "}", "a", "é", " "])).to_owned()),
        3 => (at, at, newline(rng).to_owned()),
        4 => (line(at.line), line(at.line), format!("{}{}", content(rng), newline(rng))),
        5 => (line(at.line), line(near(rng)), String::new()),
        6 if at.line + 1 < lines => (Position::new(at.line, u32::MAX), line(at.line + 1), String::new()),
        7 => {
            let pasted = self::lines(rng, of, 3).iter().fold(String::new(), |pasted, line| {
                format!("{pasted}{}{}", line.content, line.ending.as_str())
            });
            (at, at, pasted)
        }
        8 => {
            let end = Position::new(near(rng), rng.below(8) as u32);
            let (start, end) = if end < at { (end, at) } else { (at, end) };
            (start, end, content(rng))
        }
        _ => (Position::new(at.line, at.character.saturating_sub(1)), at, String::new()),
    };
    Typing { span: Span::new(start, end), new }
}

/// The change that takes another back, which was made in `before` and led to `after`.
pub fn inverse(before: &Text, after: &Text, typing: &Typing) -> Typing {
    let encoding = Encoding::Utf16;
    let from = before.byte_of(typing.span.start, encoding).unwrap();
    let to = before.byte_of(typing.span.end, encoding).unwrap();
    let mut old = before.slice(from..to).unwrap().into_owned();
    let (mut from, mut end) = (from.0, from.0 + typing.new.len());
    // No position lies inside `\r\n`.
    let byte = |at: usize| after.slice(ByteOffset(at)..ByteOffset(at + 1)).map(std::borrow::Cow::into_owned);
    let splits =
        |at: usize| at > 0 && byte(at - 1).as_deref() == Some("\r") && byte(at).as_deref() == Some("\n");
    if splits(end) {
        end += 1;
        old.push('\n');
    }
    if splits(from) {
        from -= 1;
        old.insert(0, '\r');
    }
    let at = |byte| after.position_of(ByteOffset(byte), encoding);
    Typing { span: Span::new(at(from), at(end)), new: old }
}
