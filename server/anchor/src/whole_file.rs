//! A whole file written anew, as the fewest lines that lead to it.

use hashline_text::{Line, Text};

use crate::Rewrite;
use crate::indexed_text::Sheet;
use crate::rewrite::Draft;

/// What turns a text into another, line by line and byte for byte: endings, a final newline gained or lost, all of it.
///
/// Lines count as equal where their endings are equal, too, so lines put behind a last line without an ending change that line.
/// There are no hunks where the texts are the same. Texts that differ in very many places give fewer and larger hunks than they
/// could: a thousand at most, and one where more than half a million lines are left once the common ends are off.
///
/// ```
/// use hashline_anchor::rewrite_whole;
/// use hashline_text::{Ending, OwnedLine, Text};
/// let rewrite = rewrite_whole(&Text::from("a\nb\nc\n"), &Text::from("a\nB\nc\n"));
/// assert_eq!(rewrite.hunks[0].lines, 1..2);
/// assert_eq!(rewrite.hunks[0].new, [OwnedLine::new("B", Ending::Lf)]);
/// assert_eq!(rewrite.newline_at_end, None);
/// ```
#[must_use]
pub fn rewrite_whole(text: &Text, new: &Text) -> Rewrite {
    if text == new {
        return Rewrite::default();
    }
    let last = Line(new.line_count());
    let default =
        if last.0 > 1 { new.ending_for_insert(last) } else { text.first_ending().unwrap_or_default() };
    let (old, new) = (Sheet::of(text), Sheet::of(new));
    let mut draft = Draft::default();
    draft.compare(0, &old.lines(), &new.lines(), default, |_| vec![0]);
    draft.of_text(old.line_count(), new.text(), std::iter::once(0..old.line_count()).collect())
}
