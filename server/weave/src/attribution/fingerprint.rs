//! What texts look like from afar: sums that a change keeps up to date at the cost of the lines that it touches.

use std::ops::Range;

use hashline_text::Text;

/// What a text looks like from afar, against the text that the weave began with: a sum over pairs of neighbouring lines, which a
/// change keeps up to date at the cost of the lines that it touches, and their number. Texts of one weave with different prints
/// differ; those with one print may be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Print {
    sum: u64,
    lines: usize,
    pub newline: bool,
}

impl Print {
    /// The print of the text that a weave begins with.
    pub(crate) fn first(text: &Text) -> Self {
        Self { sum: 0, lines: text.line_count(), newline: text.ends_with_newline() }
    }

    /// The print after lines of `old` have become lines of `new`.
    pub(crate) fn after(
        self,
        old: &Text,
        new: &Text,
        regions: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    ) -> Self {
        let sum = regions.fold(self.sum, |total, (left, right)| {
            total.wrapping_sub(pairs(old, left)).wrapping_add(pairs(new, right))
        });
        Self { sum, lines: new.line_count(), newline: new.ends_with_newline() }
    }
}

/// The sum over the pairs of which one line or both lie in the range, and over the pair around an empty range.
fn pairs(text: &Text, lines: Range<usize>) -> u64 {
    let mut around =
        text.lines(lines.start.saturating_sub(1)..lines.end + 1).map(|line| hash(&line.content()));
    let mut last = if lines.start == 0 { 1 } else { around.next().unwrap_or(1) };
    around.fold(0, |total, this| {
        let pair = mix(last.rotate_left(23) ^ mix(this));
        last = this;
        total.wrapping_add(pair)
    })
}

fn hash(content: &str) -> u64 {
    let mut bytes = content.as_bytes().chunks_exact(8);
    let mut sum = content.len() as u64;
    for eight in &mut bytes {
        let eight = eight.try_into().map_or(0, u64::from_le_bytes);
        sum = mix(sum ^ eight);
    }
    bytes.remainder().iter().fold(sum, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads the bits of a number (the end of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// What two texts with as many lines differ by: a sum over the lines that read otherwise, with their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents(u64);

impl Contents {
    /// One line reads otherwise, too.
    pub(crate) fn and(self, line: usize, was: &str, is: &str) -> Self {
        let place = mix(line as u64);
        Self(self.0.wrapping_add(mix(place ^ hash(is))).wrapping_sub(mix(place ^ hash(was))))
    }

    /// What the second text differs by from the first; none where they have not as many lines.
    pub(crate) fn of(first: &Text, second: &Text) -> Option<Self> {
        let both = first.all_lines().zip(second.all_lines()).enumerate();
        let other = both.filter(|(_, (first, second))| !first.same_content(*second));
        let all =
            other.fold(Self::default(), |all, (at, (was, is))| all.and(at, &was.content(), &is.content()));
        (first.line_count() == second.line_count()).then_some(all)
    }
}
