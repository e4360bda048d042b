//! Unified diffs, from the ranges that an edit itself replaced. Nothing is compared but the last lines of unchanged stretches,
//! which an edit at the end of a text may have given a newline or taken it from.
//!
//! Lines of a diff end at `\n`. So a line that ends in a lone `\r` is a part of the line that it stands in for programs such as
//! `patch`, and a range is widened to whole such lines.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::ops::Range;

use hashline_text::{Ending, Line, Text};

use crate::path::quoted;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Lines of the text before, and the lines of the text after that took their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// A unified diff. A name is relative, with `/`; none for a side on which there is no file.
pub(crate) fn unified(
    names: (Option<&OsStr>, Option<&OsStr>),
    before: &Text,
    after: &Text,
    replaced: &[Replaced],
) -> String {
    let old = Side::new(before);
    let new = old.changed(after, replaced);
    let mut out = String::new();
    let _ = writeln!(out, "--- {}", side_name("a/", names.0));
    let _ = writeln!(out, "+++ {}", side_name("b/", names.1));
    let changes = whole_lines(&old, &new, replaced);
    // Changes whose contexts would touch share one.
    let mut rest = changes.as_slice();
    while !rest.is_empty() {
        let near = |two: &[Replaced]| old.ahead(two[0].old.end, 2 * CONTEXT) >= two[1].old.start;
        let len = 1 + rest.windows(2).take_while(|two| near(two)).count();
        let (group, others) = rest.split_at(len);
        write_group(&mut out, &old, &new, group);
        rest = others;
    }
    out
}

/// Writes changes with the lines around and between them.
fn write_group(out: &mut String, old: &Side<'_>, new: &Side<'_>, group: &[Replaced]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let start = old.back(first.old.start, CONTEXT);
    let end = old.ahead(last.old.end, CONTEXT);
    let mut body = String::new();
    let mut counts = (0, 0);
    let mut from = start;
    let mut put = |sign: char, side: &Side<'_>, lines: Range<usize>| {
        let text = side.raw(lines);
        let mut count = 0;
        for line in text.split_inclusive('\n') {
            body.push(sign);
            body.push_str(line);
            if !line.ends_with('\n') {
                body.push_str("\n\\ No newline at end of file\n");
            }
            count += 1;
        }
        counts.0 += if sign == '+' { 0 } else { count };
        counts.1 += if sign == '-' { 0 } else { count };
    };
    for change in group {
        put(' ', old, from..change.old.start);
        put('-', old, change.old.clone());
        put('+', new, change.new.clone());
        from = change.old.end;
    }
    put(' ', old, from..end);
    let new_start = first.new.start - (first.old.start - start);
    let range = |side: &Side<'_>, start: usize, count: usize| {
        let line = side.number(start);
        match count {
            0 => format!("{line},0"),
            1 => format!("{}", line + 1),
            _ => format!("{},{count}", line + 1),
        }
    };
    let _ = writeln!(out, "@@ -{} +{} @@", range(old, start, counts.0), range(new, new_start, counts.1));
    out.push_str(&body);
}

/// The changes, widened to what ends at `\n` or at the end of the text, apart from each other.
fn whole_lines(old: &Side<'_>, new: &Side<'_>, replaced: &[Replaced]) -> Vec<Replaced> {
    let mut rest = with_last_lines(old, new, replaced).into_iter().peekable();
    let mut changes: Vec<Replaced> = Vec::new();
    while let Some(mut change) = rest.next() {
        // What lies around a change is the same on both sides, so both are widened at once. The change before ends where a line
        // begins, on both sides: no other is run into.
        while change.old.start > 0
            && change.new.start > 0
            && (old.joins(change.old.start) || new.joins(change.new.start))
        {
            (change.old.start, change.new.start) = (change.old.start - 1, change.new.start - 1);
        }
        loop {
            if let Some(next) = rest.next_if(|next| change.old.end >= next.old.start) {
                (change.old.end, change.new.end) = (next.old.end, next.new.end);
                continue;
            }
            let inside = change.old.end < old.len && change.new.end < new.len;
            if !inside || !(old.joins(change.old.end) || new.joins(change.new.end)) {
                break;
            }
            (change.old.end, change.new.end) = (change.old.end + 1, change.new.end + 1);
        }
        changes.push(change);
    }
    changes
}

/// The changes, with the last lines of the unchanged stretches that differ in their endings after all.
fn with_last_lines(old: &Side<'_>, new: &Side<'_>, replaced: &[Replaced]) -> Vec<Replaced> {
    let mut changes = Vec::new();
    let end = Replaced { old: old.len..old.len, new: new.len..new.len };
    let mut behind = 0;
    for change in replaced.iter().chain([&end]) {
        let Replaced { old: mut left, new: mut right } = change.clone();
        let stretch = behind < left.start && right.start > 0;
        if stretch && old.raw(left.start - 1..left.start) != new.raw(right.start - 1..right.start) {
            (left.start, right.start) = (left.start - 1, right.start - 1);
        }
        behind = change.old.end;
        if !left.is_empty() || !right.is_empty() {
            changes.push(Replaced { old: left, new: right });
        }
    }
    changes
}

/// A text, as programs see it that know `\n` alone.
struct Side<'a> {
    text: &'a Text,
    len: usize,
    /// There may be lines that end in a lone `\r`.
    returns: bool,
}

impl<'a> Side<'a> {
    fn new(text: &'a Text) -> Self {
        let lone = |chunk: &str| {
            let next = |at: usize| chunk.as_bytes().get(at + 1);
            chunk.match_indices('\r').any(|(at, _)| next(at) != Some(&b'\n'))
        };
        Self { text, len: text.line_count(), returns: text.chunks().any(lone) }
    }

    /// The other side, of which these lines alone are to be looked at.
    fn changed<'b>(&self, text: &'b Text, replaced: &[Replaced]) -> Side<'b> {
        let mut new = replaced.iter().flat_map(|replaced| text.lines(replaced.new.clone()));
        let returns = self.returns || new.any(|line| line.ending() == Some(Ending::Cr));
        Side { text, len: text.line_count(), returns }
    }

    /// Whether the line is a part of the same line as the one before it.
    fn joins(&self, line: usize) -> bool {
        self.returns
            && line > 0
            && self.text.line(Line(line - 1)).is_some_and(|before| before.ending() == Some(Ending::Cr))
    }

    fn raw(&self, lines: Range<usize>) -> String {
        let mut raw = String::new();
        for line in self.text.lines(lines) {
            raw.push_str(&line.content());
            raw.push_str(line.ending().map_or("", Ending::as_str));
        }
        raw
    }

    /// How many lines that end at `\n` come before this one, which begins one.
    fn number(&self, line: usize) -> usize {
        if !self.returns {
            return line;
        }
        self.text.lines(0..line).filter(|line| line.ending() != Some(Ending::Cr)).count()
    }

    /// Where the lines begin that come before, so many of them that end at `\n`.
    fn back(&self, mut line: usize, count: usize) -> usize {
        for _ in 0..count {
            line = line.saturating_sub(1);
            while self.joins(line) {
                line -= 1;
            }
        }
        line
    }

    /// Where the lines end that come after.
    fn ahead(&self, mut line: usize, count: usize) -> usize {
        for _ in 0..count {
            line = (line + 1).min(self.len);
            while line < self.len && self.joins(line) {
                line += 1;
            }
        }
        line
    }
}

/// A name in a header, as git writes it: quoted where `patch` would not find its end.
fn side_name(side: &str, name: Option<&OsStr>) -> String {
    let Some(name) = name else { return "/dev/null".to_owned() };
    let mut sided = OsString::from(side);
    sided.push(name);
    let name = quoted(&sided).into_owned();
    // The tab ends a name with a space in it.
    if name.contains(' ') && !name.starts_with('"') { name + "\t" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Ranges<'a> = &'a [(Range<usize>, Range<usize>)];

    fn diff(before: &str, after: &str, replaced: Ranges<'_>) -> String {
        let replaced: Vec<Replaced> =
            replaced.iter().cloned().map(|(old, new)| Replaced { old, new }).collect();
        unified((Some("f".as_ref()), Some("f".as_ref())), &Text::from(before), &Text::from(after), &replaced)
    }

    fn body(before: &str, after: &str, replaced: Ranges<'_>) -> String {
        diff(before, after, replaced).strip_prefix("--- a/f\n+++ b/f\n").unwrap().to_owned()
    }

    #[test]
    fn a_diff_is_what_patch_expects() {
        let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let cases: &[(&str, &str, &str, Ranges<'_>, &str)] = &[
            (
                "one line",
                ten,
                "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n",
                &[(4..5, 4..5)],
                "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
            ),
            ("an insert at the start", "1\n", "0\n1\n", &[(0..0, 0..1)], "@@ -1 +1,2 @@\n+0\n 1\n"),
            (
                "into nothing",
                "",
                "a\nb",
                &[(0..0, 0..2)],
                "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
            ),
            ("to nothing", "a\n", "", &[(0..1, 0..0)], "@@ -1 +0,0 @@\n-a\n"),
            (
                "behind a last line without a newline",
                "a\nb",
                "a\nb\nc",
                &[(2..2, 2..3)],
                "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n",
            ),
            (
                "a newline that only a far edit added",
                "1\n2\n3\n4\n5\n6\n7\n8\n9\nx",
                "one\n2\n3\n4\n5\n6\n7\n8\n9\nx\n",
                &[(0..1, 0..1)],
                "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-x\n\\ No newline at end of file\n+x\n",
            ),
            (
                "two that share their context",
                ten,
                "one\n2\n3\n4\n5\n6\n7\n8 8\n9\n10\n",
                &[(0..1, 0..1), (7..8, 7..8)],
                "@@ -1,10 +1,10 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+8 8\n 9\n 10\n",
            ),
            ("CRLF", "a\r\nb\r\n", "a\r\nB\r\n", &[(1..2, 1..2)], "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"),
            (
                "a lone CR is a part of its line",
                "a\rb\rc\nd\n",
                "a\rB\rc\nd\n",
                &[(1..2, 1..2)],
                "@@ -1,2 +1,2 @@\n-a\rb\rc\n+a\rB\rc\n d\n",
            ),
            (
                "a lone CR that comes to stand before a line",
                "a\nb\n",
                "a\nx\rb\n",
                &[(1..1, 1..2)],
                "@@ -1,2 +1,2 @@\n a\n-b\n+x\rb\n",
            ),
            (
                "a lone CR that joins what two changes touch",
                "a\rb\rc\nd\ne\n",
                "A\rb\rx\ry\nd\ne\n",
                &[(0..1, 0..1), (2..3, 2..4)],
                "@@ -1,3 +1,3 @@\n-a\rb\rc\n+A\rb\rx\ry\n d\n e\n",
            ),
            (
                "lines that look like a diff",
                "-- a\n+++ b\n@@ -1 +1 @@\n",
                "-- a\n--- b\n@@ -1 +1 @@\n",
                &[(1..2, 1..2)],
                "@@ -1,3 +1,3 @@\n -- a\n-+++ b\n+--- b\n @@ -1 +1 @@\n",
            ),
            (
                "U+2028 and a form feed end nothing",
                "a\u{2028}b\u{c}c\n",
                "a\u{2028}B\u{c}c\n",
                &[(0..1, 0..1)],
                "@@ -1 +1 @@\n-a\u{2028}b\u{c}c\n+a\u{2028}B\u{c}c\n",
            ),
            ("identical lines", "x\nx\nx\n", "x\nx\n", &[(1..2, 1..1)], "@@ -1,3 +1,2 @@\n x\n-x\n x\n"),
            ("nothing", "x\n", "x\n", &[], ""),
        ];
        for (what, before, after, replaced, expected) in cases {
            assert_eq!(body(before, after, replaced), *expected, "{what}");
        }
    }

    #[test]
    fn names_are_written_as_git_does() {
        for (name, expected) in [
            (None, "/dev/null"),
            (Some("src/a.rs"), "a/src/a.rs"),
            (Some("a b"), "a/a b\t"),
            (Some("é"), "a/é"),
            (Some("a\nb"), "\"a/a\\nb\""),
            (Some("a\"b"), "\"a/a\\\"b\""),
            (Some("\u{1}"), "\"a/\\001\""),
        ] {
            assert_eq!(side_name("a/", name.map(OsStr::new)), expected);
        }
        #[cfg(unix)]
        assert_eq!(side_name("b/", crate::path::from_bytes(b"a b\xff").as_deref()), "\"b/a b\\377\"");
    }
}
