//! Which lines a notification of the editor touched (rule W6): its changes are judged together, so their places are brought to
//! one pair of texts, the one before and the one after.

use std::ops::Range;

use hashline_text::{ByteOffset, Encoding, Line, Span, SpanError, Text};

/// From how many lines on texts are compared in larger pieces first.
const MANY: usize = 16;

/// Lines of the old text that lines of the new one stand in place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// Lines that were put in belong to the line after them: they were typed in its first column.
    pub before_next: bool,
}

impl Region {
    /// The lines of both texts.
    pub(crate) fn lines(&self) -> (Range<usize>, Range<usize>) {
        (self.old.clone(), self.new.clone())
    }
}

/// The touched lines of one or more changes that follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    list: Vec<Region>,
}

impl Regions {
    /// Applies a change of the editor to `text` and notes the lines that it touched.
    ///
    /// # Errors
    ///
    /// [`SpanError`] where the span lies outside the text; text and regions are then as before.
    pub fn apply(
        &mut self,
        text: &mut Text,
        span: Span,
        encoding: Encoding,
        new: &str,
    ) -> Result<(), SpanError> {
        let before = text.line_count();
        let at = text.apply(span, encoding, new)?.start;
        let after = text.line_count();
        // A border at `\r` may make or break a `\r\n`, which changes the line before as well.
        let border = at.0 > 0 && text.slice(ByteOffset(at.0 - 1)..at).as_deref() == Some("\r");
        let (first, last) = (span.start.line as usize, span.end.line as usize);
        // Where whole lines are replaced, the line in whose first column the span ends is not touched.
        let whole = if new.is_empty() { span.start.character == 0 } else { new.ends_with('\n') };
        let at_start = span.end.character == 0 && !border && whole;
        let start = first.saturating_sub(usize::from(border)).min(before);
        let end = (last + usize::from(!at_start)).min(before).max(start);
        let before_next = span.start.character == 0 && span.start == span.end && new.ends_with(['\n', '\r']);
        self.add(start..end, (end - start + after).saturating_sub(before), before_next);
        Ok(())
    }

    /// Replaces the whole text and notes all lines as touched.
    pub fn replace_all(&mut self, text: &mut Text, new: Text) {
        self.add(0..text.line_count(), new.line_count(), false);
        *text = new;
    }

    /// Notes that `touched` lines of the present text have become `len` lines.
    fn add(&mut self, touched: Range<usize>, len: usize, before_next: bool) {
        let from = self.list.partition_point(|region| region.new.end < touched.start);
        let to = self.list.partition_point(|region| region.new.start <= touched.end);
        let merged = if from < to {
            let (first, last) = (&self.list[from], &self.list[to - 1]);
            let start = touched.start.min(first.new.start);
            let end = touched.end.max(last.new.end);
            // What is typed into lines that were put in before another leaves them there.
            let inside = first.new.start <= touched.start && touched.end <= first.new.end;
            let before_next = to - from == 1 && (before_next || (inside && first.before_next));
            Region {
                old: first.old.start - (first.new.start - start)..last.old.end + (end - last.new.end),
                new: start..end + len - touched.len(),
                before_next,
            }
        } else {
            // Nothing touched before: the same lines, but for what earlier regions have shifted.
            let shift = |line: usize| match from.checked_sub(1).map(|at| &self.list[at]) {
                Some(before) => before.old.end + (line - before.new.end),
                None => line,
            };
            Region {
                old: shift(touched.start)..shift(touched.end),
                new: touched.start..touched.start + len,
                before_next,
            }
        };
        for region in &mut self.list[to..] {
            region.new = region.new.start + len - touched.len()..region.new.end + len - touched.len();
        }
        self.list.splice(from..to, [merged]);
    }

    /// The regions cut to what really differs, those that do not differ left out. Regions that cannot lead from one text to the
    /// other are not believed: what differs then is looked for in all of it.
    pub(crate) fn trimmed(&self, old: &Text, new: &Text) -> Vec<Region> {
        let come: usize = self.list.iter().map(|region| region.new.len()).sum();
        let go: usize = self.list.iter().map(|region| region.old.len()).sum();
        if old.line_count() + come == new.line_count() + go {
            return self.list.iter().filter_map(|region| trim(region, old, new)).collect();
        }
        let all = Region { old: 0..old.line_count(), new: 0..new.line_count(), before_next: false };
        trim(&all, old, new).into_iter().collect()
    }

    /// How many bytes of the new text were said to be touched.
    pub(crate) fn len_bytes(&self, new: &Text) -> usize {
        let at = |line: usize| new.byte_of_line(Line(line)).0;
        self.list.iter().map(|region| at(region.new.end) - at(region.new.start)).sum()
    }

    /// Whether all that was said to be touched and does not differ is the same with its endings.
    pub(crate) fn touch_only(&self, differing: &[Region], old: &Text, new: &Text) -> bool {
        let same = |left: Range<usize>, right: usize| {
            let len = left.len();
            let (ahead, behind) = old.same_lines(left, new, right);
            ahead + behind >= len
        };
        let mut differing = differing.iter().peekable();
        let all_same = self.list.iter().all(|region| {
            let (mut left, mut right) = (region.old.start, region.new.start);
            let inside = |other: &&Region| other.old.end <= region.old.end && other.new.end <= region.new.end;
            while let Some(other) = differing.next_if(inside) {
                if left > other.old.start || !same(left..other.old.start, right) {
                    return false;
                }
                (left, right) = (other.old.end, other.new.end);
            }
            left <= region.old.end && same(left..region.old.end, right)
        });
        all_same && differing.next().is_none()
    }

    /// These regions followed by later ones, as one step.
    #[must_use]
    pub fn then(&self, later: &Self) -> Self {
        let mut all = self.clone();
        // From the last to the first, so that earlier line numbers stay true.
        for region in later.list.iter().rev() {
            all.add(region.old.clone(), region.new.len(), region.before_next);
        }
        all
    }
}

/// Whether what was touched reaches the end of the new text.
pub(crate) fn reach_the_end(touched: &[Region], new: &Text) -> bool {
    touched.last().is_some_and(|region| region.new.end == new.line_count())
}

fn trim(region: &Region, old: &Text, new: &Text) -> Option<Region> {
    let Region { old: mut left, new: mut right, before_next } = region.clone();
    let head = |left: &mut Range<usize>, right: &mut Range<usize>| {
        let least = left.len().min(right.len());
        if least > MANY {
            let (same, _) = old.same_lines(left.start..left.start + least, new, right.start);
            left.start += same;
            right.start += same;
        }
        let both = old.lines(left.clone()).zip(new.lines(right.clone()));
        let equal = both.take_while(|(l, r)| l.same_content(*r)).count();
        left.start += equal;
        right.start += equal;
    };
    let tail = |left: &mut Range<usize>, right: &mut Range<usize>| {
        let least = left.len().min(right.len());
        if least > MANY {
            let (all, same) = old.same_lines(left.end - least..left.end, new, right.end - least);
            let same = if all == least { all } else { same };
            left.end -= same;
            right.end -= same;
        }
        // One line each, and they differ: the head was compared already.
        while left.len().max(right.len()) > 1 && left.start < left.end && right.start < right.end {
            let both = old.line(Line(left.end - 1)).zip(new.line(Line(right.end - 1)));
            if !both.is_some_and(|(l, r)| l.same_content(r)) {
                break;
            }
            left.end -= 1;
            right.end -= 1;
        }
    };
    // What was typed in the first column of a line stands before it: that line is the same one at the end.
    if before_next && left.len().max(right.len()) > 1 {
        tail(&mut left, &mut right);
        head(&mut left, &mut right);
    } else {
        head(&mut left, &mut right);
        tail(&mut left, &mut right);
    }
    (!left.is_empty() || !right.is_empty()).then_some(Region { old: left, new: right, before_next })
}

#[cfg(test)]
mod tests {
    use hashline_text::Position;

    use super::*;

    fn regions(text: &str, changes: &[((u32, u32), &str)]) -> Vec<Region> {
        let mut text = Text::from(text);
        let mut regions = Regions::default();
        for ((line, character), new) in changes {
            let at = Position::new(*line, *character);
            regions.apply(&mut text, Span::new(at, at), Encoding::Utf16, new).unwrap();
        }
        regions.list
    }

    #[test]
    fn typing_into_lines_that_were_put_in_before_another_leaves_them_there() {
        let put_in = ((1, 0), "x\ny\n");
        let before_b = |new| Region { old: 1..1, new, before_next: true };
        assert_eq!(regions("a\nb\n", &[put_in]), [before_b(1..3)]);
        for typed in [((1, 0), "z"), ((2, 1), "z"), ((2, 0), "z\n")] {
            let lines = if typed.1 == "z" { 1..3 } else { 1..4 };
            assert_eq!(regions("a\nb\n", &[put_in, typed]), [before_b(lines)], "{typed:?}");
        }
        assert_eq!(regions("a\nb\n", &[put_in, ((2, 1), "\n"), ((3, 0), "z")]), [before_b(1..4)]);
        // Typing beyond them touches the line before which they stand.
        assert!(!regions("a\nb\n", &[put_in, ((3, 0), "z")])[0].before_next);
    }
}
