//! What a file holds, or is to hold.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use hashline_text::{DiskForm, FileHash, Text};

/// How many bytes of a text are written in one go: more would not be in the processor's cache any more.
const AT_ONCE: usize = 64 << 10;

/// What a file holds, or is to hold. A clone costs O(1).
#[derive(Clone, Debug)]
pub(crate) enum Contents {
    /// A text, and how it is stored.
    Text(Text, DiskForm),
    /// What is no text.
    Bytes(Arc<[u8]>),
}

impl Contents {
    /// The bytes.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Contents::Text(text, form) => form.to_bytes(text).into(),
            Contents::Bytes(bytes) => Cow::Borrowed(bytes),
        }
    }

    /// Writes the bytes, without having all of them in memory once more.
    pub(crate) fn write_to(&self, mut to: impl Write) -> io::Result<()> {
        let (text, form) = match self {
            Contents::Text(text, form) => (text, form),
            Contents::Bytes(bytes) => return to.write_all(bytes),
        };
        let mut to = BufWriter::with_capacity(AT_ONCE, to);
        let mut done = Ok(());
        form.write(text, |piece| {
            if done.is_ok() {
                done = to.write_all(piece);
            }
        });
        done.and_then(|()| to.flush())
    }

    /// The hash of the bytes. What was hashed of a text before is not hashed again.
    pub(crate) fn hash(&self) -> FileHash {
        match self {
            Contents::Text(text, form) => form.hash(text),
            Contents::Bytes(bytes) => FileHash::of(bytes),
        }
    }
}

/// Compares the bytes.
impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Contents::Text(text, form), Contents::Text(other, other_form)) if form == other_form => {
                text == other
            }
            (Contents::Bytes(bytes), Contents::Bytes(other)) => bytes == other,
            // A line ending that is not stored as it is served, or bytes that happen to be a text.
            _ => self.bytes() == other.bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use hashline_text::Ending;

    use super::*;

    #[test]
    fn a_long_text_is_written_whole_or_the_error_told() {
        let text = Contents::Text(
            Text::from("0123456789\n".repeat(20_000)),
            DiskForm { bom: true, ending: Some(Ending::CrLf) },
        );
        let mut written = Vec::new();
        text.write_to(&mut written).unwrap();
        assert_eq!(written, *text.bytes());
        let mut too_short = vec![0; 100_000];
        assert!(text.write_to(&mut too_short[..]).is_err());
    }

    #[test]
    fn contents_are_the_same_if_their_bytes_are() {
        let text = |text: &str, bom, ending| Contents::Text(Text::from(text), DiskForm { bom, ending });
        let bytes = |bytes: &str| Contents::Bytes(bytes.as_bytes().into());
        let all = [
            text("a\nb\n", false, None),
            text("a\nb\n", true, None),
            text("a\nb\n", false, Some(Ending::CrLf)),
            text("a\r\nb\r\n", false, None),
            text("a\r\nb\r\n", false, Some(Ending::Lf)),
            text("", true, None),
            bytes("a\nb\n"),
            bytes("\u{feff}a\nb\n"),
            bytes("\u{feff}"),
            bytes(""),
        ];
        for one in &all {
            let mut written = Vec::new();
            one.write_to(&mut written).unwrap();
            assert_eq!(written, *one.bytes());
            assert_eq!(one.hash(), FileHash::of(&written));
            for other in &all {
                assert_eq!(one == other, one.bytes() == other.bytes(), "{one:?} {other:?}");
            }
        }
    }
}
