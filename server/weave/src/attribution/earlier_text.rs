//! What a text was before a change, told by what it is after it: which of its lines stand in the place of which, and how those read. It
//! keeps what it says in memory and nothing else, however much of the text was sent anew.

use std::borrow::Cow;
use std::ops::Range;

use hashline_text::{Line, Text};

/// The contents of some lines, each with a `\n` behind it, however it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Contents {
    text: Box<str>,
    lines: usize,
}

/// Lines that stand in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    is: Range<usize>,
    was: Contents,
}

/// The difference between a text and an earlier one, up to the endings of lines. Its parts are in order and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    parts: Vec<Part>,
    /// How many lines the text has.
    lines: usize,
}

/// A piece of an earlier text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// These lines of a later text, which read as they did.
    Stays(Range<usize>),
    /// Lines that read so.
    Was(&'a str, usize),
}

/// An earlier text in pieces.
#[derive(Default)]
pub(crate) struct Earlier<'a>(Vec<Piece<'a>>);

impl Contents {
    fn of(text: &Text, lines: Range<usize>) -> Self {
        let mut all = String::new();
        let count = lines.len();
        for line in text.lines(lines) {
            all.push_str(&line.content());
            all.push('\n');
        }
        Self { text: all.into(), lines: count }
    }

    /// Some of the lines.
    fn part(&self, lines: Range<usize>) -> &str {
        if lines == (0..self.lines) {
            return &self.text;
        }
        let len = |lines: usize| self.text.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
        &self.text[len(lines.start)..len(lines.end)]
    }
}

impl Difference {
    /// What `old` was against `new`, where lines of the one became lines of the other.
    pub(crate) fn of(
        old: &Text,
        new: &Text,
        regions: impl IntoIterator<Item = (Range<usize>, Range<usize>)>,
    ) -> Self {
        let part = |(was, is)| Part { is, was: Contents::of(old, was) };
        Self { parts: regions.into_iter().map(part).collect(), lines: new.line_count() }
    }

    /// About how many bytes it keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        let own = self.parts.capacity() * size_of::<Part>();
        own + self.parts.iter().map(|part| part.was.text.len()).sum::<usize>()
    }

    /// How many bytes of the text differ.
    pub(crate) fn new_bytes(&self, new: &Text) -> usize {
        let at = |line: usize| new.byte_of_line(Line(line)).0;
        self.parts.iter().map(|part| at(part.is.end) - at(part.is.start)).sum()
    }

    /// The lines that read otherwise where as many stand in the place of some: which, what they were, and what they are in the text.
    pub(crate) fn lines<'a>(&'a self, new: &'a Text) -> impl Iterator<Item = (usize, &'a str, Cow<'a, str>)> {
        self.parts.iter().flat_map(|part| {
            let was = part.was.text.split_terminator('\n');
            let is = new.lines(part.is.clone()).map(|line| line.content());
            part.is.clone().zip(was.zip(is)).map(|(line, (was, is))| (line, was, is))
        })
    }

    /// How many parts it has.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The parts of the text and what they were, as lines of both, and what stays the same between them: both as lines of the earlier
    /// text and of this one. From the beginning to the end.
    fn sides(&self) -> impl DoubleEndedIterator<Item = Side<'_>> {
        let mut sides = Vec::with_capacity(2 * self.parts.len() + 1);
        let (mut was, mut is) = (0, 0);
        for part in &self.parts {
            let stays = part.is.start - is;
            sides.push(Side { was: was..was + stays, is: is..part.is.start, part: None });
            was += stays + part.was.lines;
            is = part.is.end;
            sides.push(Side { was: was - part.was.lines..was, is: part.is.clone(), part: Some(part) });
        }
        sides.push(Side { was: was..was + self.lines.saturating_sub(is), is: is..self.lines, part: None });
        sides.into_iter()
    }

    /// The earlier text.
    pub(crate) fn earlier(&self) -> Earlier<'_> {
        let piece = |Side { is, part, .. }| {
            part.map_or(Piece::Stays(is), |part: &Part| Piece::Was(&part.was.text, part.was.lines))
        };
        Earlier(self.sides().map(piece).collect())
    }

    /// The difference from the text that `before` leads to, where this one leads to the text that `before` is told by.
    pub(crate) fn after(&self, before: &Self) -> Self {
        let earlier = before.earlier().seen_from(self);
        let mut parts: Vec<Part> = Vec::new();
        let mut next = 0;
        let mut was = String::new();
        let mut lines = 0;
        let end = Piece::Stays(self.lines..self.lines);
        for piece in earlier.0.iter().chain([&end]) {
            match piece {
                Piece::Was(text, count) => {
                    was.push_str(text);
                    lines += count;
                }
                Piece::Stays(stays) => {
                    if stays.start > next || lines > 0 {
                        let was = Contents { text: std::mem::take(&mut was).into(), lines };
                        parts.push(Part { is: next..stays.start, was });
                        lines = 0;
                    }
                    next = stays.end;
                }
            }
        }
        Self { parts, lines: self.lines }
    }

    /// A text, as a change of the one before it: it shares with that what is equal.
    pub(crate) fn share(&self, old: &Text, new: &Text) -> Text {
        let mut text = old.clone();
        let byte = |text: &Text, line: usize| text.byte_of_line(Line(line));
        let mut replace = |was: Range<usize>, is: Range<usize>| {
            let piece = new.slice(byte(new, is.start)..byte(new, is.end))?;
            text.replace_bytes(byte(old, was.start)..byte(old, was.end), &piece).ok()
        };
        // From the last to the first, so that places stay true.
        for Side { was, is, part } in self.sides().rev() {
            let done = if part.is_some() {
                replace(was, is)
            } else {
                // Their endings may differ.
                let (ahead, behind) = new.same_lines(is.clone(), old, was.start);
                let rest = |lines: Range<usize>| lines.start + ahead..lines.end - behind;
                if rest(is.clone()).is_empty() { Some(()) } else { replace(rest(was), rest(is)) }
            };
            if done.is_none() {
                return new.clone();
            }
        }
        debug_assert!(text == *new, "what is shared is the same");
        text
    }
}

/// Lines of the earlier text and of this one, and the part that they are of if they differ.
struct Side<'a> {
    was: Range<usize>,
    is: Range<usize>,
    part: Option<&'a Part>,
}

impl<'a> Earlier<'a> {
    /// The same text, told by a later one: `since` leads from that to the one that it is told by now.
    pub(crate) fn seen_from(self, since: &'a Difference) -> Self {
        let mut pieces = Vec::with_capacity(self.0.len() + since.parts.len());
        let sides: Vec<Side<'a>> = since.sides().collect();
        let mut from = 0;
        for piece in self.0 {
            let Piece::Stays(lines) = piece else {
                pieces.push(piece);
                continue;
            };
            from += sides[from..].partition_point(|side| side.was.end <= lines.start);
            for side in sides[from..].iter().take_while(|side| side.was.start < lines.end) {
                let both = side.was.start.max(lines.start)..side.was.end.min(lines.end);
                if both.is_empty() {
                    continue;
                }
                let at = both.start - side.was.start..both.end - side.was.start;
                pieces.push(match side.part {
                    Some(part) => Piece::Was(part.was.part(at.clone()), at.len()),
                    None => Piece::Stays(side.is.start + at.start..side.is.start + at.end),
                });
            }
        }
        Self(pieces)
    }

    /// Whether another text has the same lines, where this one is told by `text`.
    pub(crate) fn reads_as(&self, text: &Text, other: &Text) -> bool {
        let mut at = 0;
        let reads = self.0.iter().all(|piece| match piece {
            Piece::Stays(lines) => {
                at += lines.len();
                stays(text, lines, other, at - lines.len())
            }
            Piece::Was(was, count) => {
                at += count;
                let lines = other.lines(at - count..at);
                lines.len() == *count && lines.zip(was.split('\n')).all(|(line, was)| line.content_eq(was))
            }
        });
        reads && at == other.line_count()
    }

    /// What `text`, by which this text is told, is against this one, which is `lines` long.
    pub(crate) fn back(&self, text: &Text, lines: usize) -> Difference {
        let mut parts: Vec<Part> = Vec::new();
        let (mut at, mut next) = (0, 0);
        let mut from = 0;
        let count = text.line_count();
        let end = Piece::Stays(count..count);
        for piece in self.0.iter().chain([&end]) {
            match piece {
                Piece::Was(_, count) => at += count,
                Piece::Stays(stays) => {
                    if from < at || next < stays.start {
                        parts.push(Part { is: from..at, was: Contents::of(text, next..stays.start) });
                    }
                    at += stays.len();
                    (from, next) = (at, stays.end);
                }
            }
        }
        Difference { parts, lines }
    }

    /// The contents of its lines, where it is told by `text`.
    pub(crate) fn contents(&self, text: &Text) -> Vec<String> {
        let mut contents = Vec::new();
        for piece in &self.0 {
            match piece {
                Piece::Stays(lines) => {
                    contents.extend(text.lines(lines.clone()).map(|line| line.content().into_owned()));
                }
                Piece::Was(was, _) => contents.extend(was.split_terminator('\n').map(str::to_owned)),
            }
        }
        contents
    }
}

/// Whether lines of a text have the contents of those of another from a line on.
fn stays(text: &Text, lines: &Range<usize>, other: &Text, from: usize) -> bool {
    if from + lines.len() > other.line_count() {
        return false;
    }
    let (ahead, behind) = text.same_lines(lines.clone(), other, from);
    let rest = ahead..lines.len() - behind;
    let left = text.lines(lines.start + rest.start..lines.start + rest.end);
    left.zip(other.lines(from + rest.start..from + rest.end)).all(|(left, right)| left.same_content(right))
}
