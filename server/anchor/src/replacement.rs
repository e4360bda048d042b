//! Replacements of exact pieces of a text: `edits: [{old, new}]`.
//!
//! An old piece has to stand in the text exactly once; all pieces are found in the text as it is before the call, and none may
//! share a character with another. Line endings are the file's business: where the piece is not there as it was sent, it is found
//! whatever its lines end with, and lines that are put in end as those whose place they take, or as their neighbour. Only a piece
//! that was sent with the `\r`s that the file has is replaced as it was sent.
//!
//! A piece that is to become what it is changes nothing, wherever it stands; it only has to be there.
//!
//! Limitations: a piece whose place only its line endings tell apart is found as long as it stands in the text a hundred times or
//! less. A piece that begins or ends inside a `\r\n` takes the whole of it.

use std::ops::Range;

use hashline_text::{Ending, Line, Text};

use crate::difference::differing;
use crate::failure::{Mismatch, Part, RewriteFailure};
use crate::indexed_text::{Sheet, split_lines};
use crate::nearest_lines::nearest;
use crate::rewrite::Draft;
use crate::tagged::{leading_tag, tag_of};
use crate::{Options, Rewrite};

/// How many replacements, or hunks of a diff, one call takes.
pub(crate) const MAX_PARTS: usize = 1_000;
/// How many places are named.
pub(crate) const MAX_PLACES: usize = 5;
/// For how many parts that were not found the nearest lines are looked for.
pub(crate) const MAX_SEARCHED: usize = 5;
/// How many places of a piece are looked at.
const MAX_FOUND: usize = 100;

/// An exact piece of text and what is to stand in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replacement {
    /// The piece: any part of a line, or lines. Empty only where the text is.
    pub old: String,
    /// What takes its place.
    pub new: String,
}

impl Replacement {
    /// A replacement of `old` by `new`.
    pub fn new(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { old: old.into(), new: new.into() }
    }
}

/// Finds what replacements do to a text.
///
/// ```
/// use hashline_anchor::{Options, Replacement, explain_rewrite, replace};
/// use hashline_text::Text;
/// let text = Text::from("one\r\ntwo\r\nthree\r\n");
/// let edits = [Replacement::new("two\nth", "2\nTWO\nTh")];
/// let rewrite = replace(&text, &edits, Options::default()).unwrap();
/// assert_eq!(rewrite.apply(&text).unwrap(), "one\r\n2\r\nTWO\r\nThree\r\n");
///
/// let failures = replace(&text, &[Replacement::new("twice", "2")], Options::default()).unwrap_err();
/// assert!(explain_rewrite(&failures, &text).contains("read the file again"));
/// ```
///
/// # Errors
///
/// All that is wrong, in the order of the edits; [`explain_rewrite`](crate::explain_rewrite()) puts it in words.
pub fn replace(text: &Text, edits: &[Replacement], options: Options) -> Result<Rewrite, Vec<RewriteFailure>> {
    let failure = |index: usize, problem| RewriteFailure { part: Part::Edit(index), problem };
    if edits.len() > MAX_PARTS {
        return Err(vec![failure(MAX_PARTS, Mismatch::TooMany { most: MAX_PARTS })]);
    }
    let finder = Finder::new(text, options);
    let mut placed = Vec::with_capacity(edits.len());
    let mut failures = Vec::new();
    let mut lost = 0;
    for (part, edit) in edits.iter().enumerate() {
        match finder.place(part, edit, lost < MAX_SEARCHED) {
            Ok(found) => placed.push(found),
            Err(problem) => {
                lost += usize::from(matches!(problem, Mismatch::NotFound { .. }));
                failures.push(failure(part, problem));
            }
        }
    }
    let named = placed.iter().map(|piece| finder.touched(piece)).collect();
    let idle = placed.iter().filter(|piece| piece.idle).map(|piece| piece.part).collect();
    placed.retain(|piece| !piece.idle);
    placed.sort_by_key(|piece| (piece.bytes.start, piece.bytes.end));
    let shared = |two: &[Placed]| two[1].bytes.start < two[0].bytes.end || two[0].bytes == two[1].bytes;
    for two in placed.windows(2).filter(|two| shared(two)) {
        let (earlier, later) =
            if two[0].part < two[1].part { (&two[0], &two[1]) } else { (&two[1], &two[0]) };
        let problem = Mismatch::Overlap {
            other: earlier.part,
            lines: finder.touched(later),
            other_lines: finder.touched(earlier),
        };
        failures.push(failure(later.part, problem));
    }
    if !failures.is_empty() {
        failures.sort_by_key(|failure| failure.part.index());
        return Err(failures);
    }
    Ok(Rewrite { idle, ..finder.rewrite(&placed, named) })
}

/// Where a piece was found.
struct Placed {
    part: usize,
    bytes: Range<usize>,
    new: String,
    /// It is to become what it is.
    idle: bool,
}

/// A text in which pieces are looked for.
struct Finder<'a> {
    text: &'a Text,
    sheet: Sheet,
    plain: Plain,
    options: Options,
}

impl<'a> Finder<'a> {
    fn new(text: &'a Text, options: Options) -> Self {
        let sheet = Sheet::of(text);
        Self { plain: Plain::of(sheet.text()), text, sheet, options }
    }

    fn place(&self, part: usize, edit: &Replacement, search: bool) -> Result<Placed, Mismatch> {
        if edit.old.is_empty() {
            return self.place_in_empty(part, edit);
        }
        let idle = edit.old == edit.new;
        let old = plain(&edit.old);
        let found = self.found(&old, &edit.old);
        let bytes = match found.as_slice() {
            [only] => only.clone(),
            [] => return Err(self.lost(&old, search)),
            // Whichever is meant stays as it is.
            [first, ..] if idle => first.clone(),
            _ => {
                let mut places: Vec<_> = found.iter().map(|bytes| self.lines_of(bytes)).collect();
                places.truncate(MAX_PLACES);
                return Err(Mismatch::Ambiguous { places, more: found.len() > MAX_PLACES, named: None });
            }
        };
        let there = self.sheet.text().get(bytes.clone()).unwrap_or_default();
        if idle {
            return Ok(Placed { part, new: there.to_owned(), bytes, idle });
        }
        if let Some(problem) = self.repeated_tag(&edit.new, there) {
            return Err(problem);
        }
        let as_sent = edit.old.contains('\r') && there == edit.old;
        let new = if as_sent {
            edit.new.clone()
        } else {
            with_endings(there, &edit.new, self.ending_at(bytes.start))
        };
        if new == there {
            return Err(Mismatch::OnlyEndings);
        }
        Ok(Placed { part, bytes, new, idle })
    }

    /// An empty piece means all of an empty text.
    fn place_in_empty(&self, part: usize, edit: &Replacement) -> Result<Placed, Mismatch> {
        let blank =
            self.options.blank_is_empty && self.sheet.line_count() == 1 && self.sheet.content(0).is_empty();
        if !self.text.is_empty() && !blank {
            return Err(Mismatch::NoOld);
        }
        if edit.new.is_empty() {
            return Ok(Placed { part, bytes: 0..0, new: String::new(), idle: true });
        }
        if let Some(problem) = self.repeated_tag(&edit.new, "") {
            return Err(problem);
        }
        // The one empty line goes, but its ending stands in for one that the new text lacks.
        let end = if edit.new.ends_with(['\n', '\r']) { self.sheet.text().len() } else { 0 };
        Ok(Placed { part, bytes: 0..end, new: edit.new.clone(), idle: false })
    }

    /// The places of a piece, given with plain endings and as it was sent.
    fn found(&self, old: &str, sent: &str) -> Vec<Range<usize>> {
        // Preparing a search takes time in proportion to the piece, which may be a million times as long as the text.
        if old.len() > self.plain.text.len() {
            return Vec::new();
        }
        let step = old.chars().next().map_or(1, char::len_utf8);
        let mut found = Vec::new();
        let mut from = 0;
        while found.len() < MAX_FOUND
            && let Some(at) = self.plain.text.get(from..).and_then(|rest| rest.find(old))
        {
            let start = from + at;
            found.push(self.plain.origin(start)..self.plain.origin(start + old.len()));
            from = start + step;
        }
        if found.len() > 1 && found.len() < MAX_FOUND {
            let exact = |bytes: &&Range<usize>| self.sheet.text().get((*bytes).clone()) == Some(sent);
            let as_sent: Vec<_> = found.iter().filter(exact).cloned().collect();
            if !as_sent.is_empty() {
                return as_sent;
            }
        }
        found
    }

    /// What to say of a piece that is not there.
    fn lost(&self, old: &str, search: bool) -> Mismatch {
        let wanted: Vec<&str> = old.lines().collect();
        if let Some(line) = tagged(&wanted) {
            return Mismatch::OldHasTags { line };
        }
        let nearest = if search { nearest(&self.sheet, &wanted) } else { Vec::new() };
        Mismatch::NotFound { nearest, header: None }
    }

    /// The first line put in that begins with a tag of this text, unless it was there before.
    fn repeated_tag(&self, new: &str, old: &str) -> Option<Mismatch> {
        let lines = split_lines(new).into_iter().map(|line| Ending::split(line).0).enumerate();
        for (content_line, content) in lines {
            if let Some((line, hash)) = tag_of(self.text, content)
                && !split_lines(old).into_iter().any(|line| Ending::split(line).0 == content)
            {
                return Some(Mismatch::RepeatsTag { content_line, line, hash });
            }
        }
        None
    }

    /// How the line ends in which a byte lies.
    fn ending_at(&self, byte: usize) -> Ending {
        let line = self.sheet.line(self.sheet.line_at(byte));
        Ending::split(line).1.unwrap_or_else(|| self.text.ending_for_insert(Line(self.sheet.line_count())))
    }

    fn touched(&self, piece: &Placed) -> Range<usize> {
        self.lines_of(&piece.bytes)
    }

    /// The lines of which a run of bytes has a part, endings included.
    fn lines_of(&self, bytes: &Range<usize>) -> Range<usize> {
        if self.sheet.line_count() == 0 {
            return 0..0;
        }
        let last = bytes.end.saturating_sub(1).max(bytes.start);
        self.sheet.line_at(bytes.start)..self.sheet.line_at(last) + 1
    }

    /// The pieces, in text order and apart from each other, as lines; `named` are those of all parts.
    fn rewrite(&self, placed: &[Placed], named: Vec<Range<usize>>) -> Rewrite {
        let mut draft = Draft::default();
        let mut at = 0;
        let mut end = String::new();
        while let Some(first) = placed.get(at) {
            let (mut lines, mut to) = (self.touched(first), at + 1);
            // Where `\r` alone ends lines, what stands on both sides of a border may become one ending.
            if self.plain.lone_cr || placed.iter().any(|piece| has_lone_cr(&piece.new)) {
                (lines, to) = (0..self.sheet.line_count(), placed.len());
            }
            let new = loop {
                while let Some(piece) = placed.get(to).map(|piece| self.touched(piece))
                    && piece.start < lines.end
                {
                    lines.end = lines.end.max(piece.end);
                    to += 1;
                }
                let new = self.spliced(&lines, &placed[at..to]);
                let open = !new.is_empty() && !new.ends_with(['\n', '\r']);
                if !open || lines.end >= self.sheet.line_count() {
                    break new;
                }
                // Without its newline the last line goes on in the next.
                lines.end += 1;
            };
            let parts = |hunk: &Range<usize>| parts_in(&placed[at..to], &named, hunk);
            let old: Vec<&str> = lines.clone().map(|line| self.sheet.line(line)).collect();
            let default = split_lines(&new)
                .iter()
                .rev()
                .find_map(|line| Ending::split(line).1)
                .unwrap_or_else(|| self.ending_at(self.sheet.start_of(lines.start)));
            draft.compare(lines.start, &old, &split_lines(&new), default, parts);
            if lines.end == self.sheet.line_count() {
                // Where nothing is left of these lines, the text ends with the line above, which has its newline.
                end = new;
            }
            at = to;
        }
        draft.of_text(self.sheet.line_count(), &end, named)
    }

    /// These lines with the pieces in them replaced.
    fn spliced(&self, lines: &Range<usize>, placed: &[Placed]) -> String {
        let (mut at, end) = (self.sheet.start_of(lines.start), self.sheet.start_of(lines.end));
        let mut out = String::with_capacity(end - at);
        for piece in placed {
            out.push_str(self.sheet.text().get(at..piece.bytes.start).unwrap_or_default());
            out.push_str(&piece.new);
            at = piece.bytes.end;
        }
        out.push_str(self.sheet.text().get(at..end).unwrap_or_default());
        out
    }
}

/// The parts that a hunk comes from: those whose lines it changes.
fn parts_in(placed: &[Placed], named: &[Range<usize>], hunk: &Range<usize>) -> Vec<usize> {
    let all = || placed.iter().map(|piece| piece.part);
    let inside = |part: &usize| {
        named.get(*part).is_some_and(|named| match hunk.is_empty() {
            true => named.start <= hunk.start && hunk.start <= named.end,
            false => named.start < hunk.end && hunk.start < named.end,
        })
    };
    let mut parts: Vec<usize> = all().filter(inside).collect();
    if parts.is_empty() {
        parts = all().collect();
    }
    parts.sort_unstable();
    parts
}

/// The line that the first tag names, where every line but the first and the last, which may be cut, begins with one.
pub(crate) fn tagged(lines: &[&str]) -> Option<Line> {
    let tag = |line: &&str| leading_tag(line.trim_start()).map(|(line, _)| line);
    let tags: Vec<Line> = lines.iter().filter_map(tag).collect();
    let expected = if lines.len() > 2 { lines.len() - 2 } else { 1 };
    tags.first().copied().filter(|_| tags.len() >= expected)
}

/// A text whose lines all end in `\n`, and where each of its bytes comes from.
struct Plain {
    text: String,
    /// Where a `\n` stands that was `\r\n`.
    pairs: Vec<usize>,
    /// Whether `\r` alone ends a line.
    lone_cr: bool,
}

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(text.len()), pairs: Vec::new(), lone_cr: false };
        let mut rest = text;
        while let Some(at) = rest.find('\r') {
            let (before, behind) = rest.split_at(at);
            plain.text.push_str(before);
            let pair = behind.starts_with("\r\n");
            if pair {
                plain.pairs.push(plain.text.len());
            }
            plain.lone_cr |= !pair;
            plain.text.push('\n');
            rest = &behind[if pair { 2 } else { 1 }..];
        }
        plain.text.push_str(rest);
        plain
    }

    fn origin(&self, at: usize) -> usize {
        at + self.pairs.partition_point(|pair| *pair < at)
    }
}

fn plain(text: &str) -> String {
    Plain::of(text).text
}

fn has_lone_cr(text: &str) -> bool {
    text.contains('\r') && Plain::of(text).lone_cr
}

/// `new` with the endings of the file: lines that stand in `old`, too, keep theirs, the others take that of the line whose place
/// they take, or of the line before, or `beside`.
fn with_endings(old: &str, new: &str, beside: Ending) -> String {
    if !new.contains(['\n', '\r']) {
        return new.to_owned();
    }
    let split = |text| {
        split_lines(text).into_iter().map(Ending::split).unzip::<_, _, Vec<&str>, Vec<Option<Ending>>>()
    };
    let (olds, old_endings) = split(old);
    let (news, new_endings) = split(new);
    // By the new line the old one whose place it takes.
    let mut origins: Vec<Option<usize>> = Vec::with_capacity(news.len());
    let mut at = 0;
    let end = (olds.len()..olds.len(), news.len()..news.len());
    for (from, to) in differing(&olds, &news).into_iter().chain([end]) {
        origins.extend((at..from.start).map(Some));
        origins
            .extend(to.clone().enumerate().map(|(n, _)| Some(from.start + n).filter(|old| *old < from.end)));
        at = from.end;
    }
    let mut out = String::with_capacity(new.len() + news.len());
    let mut last = beside;
    for ((content, ending), origin) in news.into_iter().zip(new_endings).zip(origins) {
        out.push_str(content);
        if let Some(own) = origin.and_then(|old| old_endings.get(old).copied().flatten()) {
            last = own;
        }
        if ending.is_some() {
            out.push_str(last.as_str());
        }
    }
    out
}
