//! How much memory a text takes that another does not take as well.

use std::collections::HashSet;

use ropey::iter::Chunks;

use crate::Text;

/// What a piece of a rope takes, however little is in it.
const NODE: usize = 1024;
/// How many pieces are under a node of the tree above them, at least.
const CHILDREN: usize = 12;

impl Text {
    /// About how many bytes of memory this text takes besides what it shares with another: nothing for an unchanged clone, the pieces
    /// around the changes for one that was changed, everything for a text that only reads the same.
    ///
    /// Costs the number of pieces of both, of which most are passed quickly where little has changed.
    ///
    /// ```
    /// use hashline_text::{ByteOffset, Text};
    /// let one = Text::from("line\n".repeat(10_000));
    /// let mut other = one.clone();
    /// assert_eq!(other.bytes_beside(&one), 0);
    /// other.replace_bytes(ByteOffset(500)..ByteOffset(504), "word")?;
    /// assert!((1..10_000).contains(&other.bytes_beside(&one)));
    /// assert!(Text::from("line\n".repeat(10_000)).bytes_beside(&one) >= 50_000);
    /// # Ok::<(), hashline_text::TextError>(())
    /// ```
    #[must_use]
    pub fn bytes_beside(&self, other: &Text) -> usize {
        if self.is_same_instance(other) {
            return 0;
        }
        let all = self.rope.chunks().count();
        let ahead = alike(self.rope.chunks(), other.rope.chunks());
        let behind = alike(back(self), back(other)).min(all - ahead);
        let others = other.rope.chunks().count();
        let rest = others.saturating_sub(ahead + behind);
        let shared: HashSet<*const u8> =
            other.rope.chunks().skip(ahead).take(rest).map(str::as_ptr).collect();
        let (mut own, mut groups, mut open) = (0, 0, false);
        for chunk in self.rope.chunks().skip(ahead).take(all - ahead - behind) {
            let is_own = !shared.contains(&chunk.as_ptr());
            own += usize::from(is_own);
            groups += usize::from(is_own && !open);
            open = is_own;
        }
        // Above each changed piece all nodes up to the root are changed.
        let depth = usize::try_from(all.max(1).ilog(CHILDREN)).unwrap_or_default() + 1;
        NODE * (own + own / CHILDREN + groups * depth) + self.marks.bytes_beside(&other.marks)
    }
}

/// The chunks from the last to the first.
fn back(text: &Text) -> Chunks<'_> {
    let mut chunks = text.rope.chunks_at_byte(text.rope.len_bytes()).0;
    while chunks.next().is_some() {}
    chunks.reversed()
}

/// How many pieces two walks begin with that are the same ones.
fn alike<'a>(one: impl Iterator<Item = &'a str>, other: impl Iterator<Item = &'a str>) -> usize {
    one.zip(other).take_while(|(one, other)| std::ptr::eq(*one, *other)).count()
}
