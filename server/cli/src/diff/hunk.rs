//! Hunks in the diff of an edit: which is which, and one by itself.
//!
//! A diff shows hunks that are close to each other together, behind one `@@`. What changes between two lines of context is one hunk,
//! and the diff has them in the order of their numbers; where that does not come out even, as a diff may widen a hunk by a line that ends
//! otherwise, nothing is claimed.

use std::fmt::Write as _;

/// Lines around a change.
const CONTEXT: usize = 3;

/// A unified diff of one file, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    /// The lines with the names.
    pub head: Vec<&'a str>,
    pub groups: Vec<Group<'a>>,
}

/// What stands behind one `@@`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group<'a> {
    /// The first line before and after, as the diff has it, and how many there are.
    old: (usize, usize),
    new: (usize, usize),
    pub lines: Vec<Line<'a>>,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub kind: Kind,
    /// As it stands there, without the newline, but with the sign.
    pub whole: &'a str,
    /// It is the last of its file and has no newline.
    pub unended: bool,
    /// The change that it belongs to, counted over the whole diff.
    pub change: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Context,
    Removed,
    Added,
}

const UNENDED: &str = "\\ No newline at end of file";

impl<'a> Diff<'a> {
    /// Takes a diff apart; none if it is not one.
    pub fn parse(diff: &'a str) -> Option<Self> {
        let mut parsed = Self::default();
        let mut rest = diff.strip_suffix('\n').unwrap_or(diff).split('\n').peekable();
        while let Some(line) = rest.next_if(|line| !line.starts_with("@@ ")) {
            parsed.head.push(line);
        }
        let mut changes = 0;
        while let Some(line) = rest.next() {
            let (old, new) = ranges(line)?;
            let mut group = Group { old, new, lines: Vec::new() };
            let (mut left, mut right) = (old.1, new.1);
            let mut inside = false;
            while left > 0 || right > 0 {
                let whole = rest.next()?;
                let kind = match whole.as_bytes().first() {
                    Some(b'-') => Kind::Removed,
                    Some(b'+') => Kind::Added,
                    _ => Kind::Context,
                };
                left = left.checked_sub(usize::from(kind != Kind::Added))?;
                right = right.checked_sub(usize::from(kind != Kind::Removed))?;
                let unended = rest.next_if(|line| line.starts_with('\\')).is_some();
                changes += usize::from(kind != Kind::Context && !inside);
                inside = kind != Kind::Context;
                group.lines.push(Line { kind, whole, unended, change: inside.then(|| changes - 1) });
            }
            parsed.groups.push(group);
        }
        Some(parsed)
    }

    /// How many changes there are.
    pub fn changes(&self) -> usize {
        let last = self.groups.iter().rev().flat_map(|group| group.lines.iter().rev());
        last.filter_map(|line| line.change).next().map_or(0, |last| last + 1)
    }

    /// The diff that makes one change only, to the text before all of them.
    pub fn only(&self, change: usize) -> Option<String> {
        let of = |line: &Line<'_>| line.change == Some(change);
        let group = self.groups.iter().find(|group| group.lines.iter().any(of))?;
        // Other changes are not made: what they remove is there, and what they add is not.
        let old = |line: &&Line<'a>| line.kind != Kind::Added || of(line);
        let lines: Vec<&Line<'a>> = group.lines.iter().filter(old).collect();
        let first = lines.iter().position(|line| of(line))?;
        let end = lines.iter().rposition(|line| of(line))? + 1;
        let (start, end) = (first.saturating_sub(CONTEXT), (end + CONTEXT).min(lines.len()));
        let shown = &lines[start..end];
        let before = shown.iter().filter(|line| !(of(line) && line.kind == Kind::Added)).count();
        let after = shown.iter().filter(|line| !(of(line) && line.kind == Kind::Removed)).count();
        // With no line before, the diff has the number of the line above.
        let above = group.old.0.saturating_sub(usize::from(group.old.1 > 0)) + start;
        let range = |count: usize| match count {
            0 => format!("{above},0"),
            1 => format!("{}", above + 1),
            _ => format!("{},{count}", above + 1),
        };
        let mut out = String::new();
        for line in &self.head {
            let _ = writeln!(out, "{line}");
        }
        let _ = writeln!(out, "@@ -{} +{} @@", range(before), range(after));
        for line in shown {
            match of(line) {
                true => out.push_str(line.whole),
                false => {
                    out.push(' ');
                    out.push_str(line.whole.get(1..).unwrap_or_default());
                }
            }
            out.push('\n');
            if line.unended {
                let _ = writeln!(out, "{UNENDED}");
            }
        }
        Some(out)
    }
}

impl Group<'_> {
    /// The line with the `@@`, without what may stand behind it.
    pub fn place(&self) -> String {
        let range = |(start, count): (usize, usize)| match count {
            1 => start.to_string(),
            _ => format!("{start},{count}"),
        };
        format!("@@ -{} +{} @@", range(self.old), range(self.new))
    }

    /// The changes in it, from the first to the last.
    pub fn changes(&self) -> Option<(usize, usize)> {
        let mut changes = self.lines.iter().filter_map(|line| line.change);
        let first = changes.next()?;
        Some((first, changes.next_back().unwrap_or(first)))
    }
}

impl Line<'_> {
    /// What follows the line where it has no newline.
    pub fn behind(&self) -> Option<&'static str> {
        self.unended.then_some(UNENDED)
    }
}

type Range = (usize, usize);

/// The two ranges of `@@ -1,2 +1,3 @@`.
fn ranges(line: &str) -> Option<(Range, Range)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |range: &str| match range.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((range.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,6 +1,7 @@
 one
-two
+2
+zwei
 three
 four
--- five
+++ fünf
 six
@@ -20,2 +21,3 @@
 twenty
 end
+more
\\ No newline at end of file
";

    #[test]
    fn changes_are_counted_over_the_whole_diff() {
        let diff = Diff::parse(THREE).unwrap();
        assert_eq!((diff.head.len(), diff.groups.len(), diff.changes()), (2, 2, 3));
        assert_eq!(diff.groups[0].changes(), Some((0, 1)));
        assert_eq!(diff.groups[1].changes(), Some((2, 2)));
        assert_eq!(diff.groups[0].place(), "@@ -1,6 +1,7 @@");
    }

    #[test]
    fn one_change_stands_by_itself() {
        let diff = Diff::parse(THREE).unwrap();
        for (change, expected) in [
            (0, "@@ -1,5 +1,6 @@\n one\n-two\n+2\n+zwei\n three\n four\n -- five\n"),
            (1, "@@ -2,5 +2,5 @@\n two\n three\n four\n--- five\n+++ fünf\n six\n"),
            (2, "@@ -20,2 +20,3 @@\n twenty\n end\n+more\n\\ No newline at end of file\n"),
        ] {
            assert_eq!(
                diff.only(change).unwrap(),
                format!("--- a/a.txt\n+++ b/a.txt\n{expected}"),
                "{change}"
            );
        }
        assert_eq!(diff.only(3), None);
    }

    #[test]
    fn a_file_that_is_made_or_emptied() {
        let made = "--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        assert_eq!(Diff::parse(made).unwrap().only(0).unwrap(), made);
        let gone = "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-a\n-b\n";
        assert_eq!(Diff::parse(gone).unwrap().only(0).unwrap(), gone);
        let between = "--- a/a\n+++ b/a\n@@ -4,0 +5 @@\n+x\n";
        assert_eq!(Diff::parse(between).unwrap().only(0).unwrap(), between);
    }

    #[test]
    fn what_is_no_diff_is_not_taken_apart() {
        assert_eq!(Diff::parse("").map(|diff| diff.changes()), Some(0));
        for torn in
            ["@@ -1,2 +1,2 @@\n a\n", "@@ nothing @@\n", "@@ -1 +1 @@\n-a\n+b\nwhat\n", "@@ -1,0 +1 @@\n-a\n"]
        {
            assert_eq!(Diff::parse(torn), None, "{torn}");
        }
    }
}
