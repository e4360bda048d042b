//! How a text is stored: byte-order mark and, where an editor serves another one, the kind of line ending.

use crate::hash::FileHasher;
use crate::{Ending, FileHash, Text, TextError};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// What a stored file has that the served text lacks.
///
/// ```
/// use hashline_text::{decode, DiskForm, FileHash, Text};
/// // A CRLF file with a byte-order mark that an editor serves with LF.
/// let disk = b"\xef\xbb\xbfone\r\ntwo\r\n";
/// let form = DiskForm::of_bytes(disk);
/// let served = Text::from("one\ntwo\n");
/// assert_eq!(form.to_bytes(&served), disk);
/// assert_eq!(form.hash(&served), FileHash::of(disk));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DiskForm {
    /// Whether the file starts with a byte-order mark.
    pub bom: bool,
    /// The ending that every line of the file has, where it may differ from what is served. None keeps the
    /// endings of the text as they are.
    pub ending: Option<Ending>,
}

impl DiskForm {
    /// The form of these bytes: the mark, and the ending if all lines share one. A text decoded from the bytes
    /// itself should use the form that [`decode`] gives, which leaves endings alone, mixed ones added later too.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { bom: bytes.starts_with(BOM), ending: only_ending(bytes) }
    }

    /// The form of these bytes as seen from a text that an editor serves for them: the mark counts unless the
    /// editor left it in the text, and the ending only if the editor serves another one.
    #[must_use]
    pub fn behind(served: &Text, bytes: &[u8]) -> Self {
        let form = Self::of_bytes(bytes);
        let converted =
            form.ending.is_some() && served.first_ending().is_some_and(|own| form.ending != Some(own));
        Self { bom: form.bom && !served.has_mark(), ending: form.ending.filter(|_| converted) }
    }

    /// The hash of the file that the text would be stored as.
    #[must_use]
    pub fn hash(&self, text: &Text) -> FileHash {
        if self.ending.is_none() {
            return text.marks.hash(&text.rope, self.bom.then_some(BOM));
        }
        let mut hasher = FileHasher::default();
        self.write(text, |bytes| hasher.update(bytes));
        hasher.finish()
    }

    /// The bytes of the file that the text would be stored as.
    #[must_use]
    pub fn to_bytes(&self, text: &Text) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len_bytes() + BOM.len());
        self.write(text, |bytes| out.extend_from_slice(bytes));
        out
    }

    /// Gives the same bytes piece by piece, most of them some hundred bytes long.
    pub fn write(&self, text: &Text, mut put: impl FnMut(&[u8])) {
        if self.bom {
            put(BOM);
        }
        let Some(to) = self.ending else {
            text.chunks().for_each(|chunk| put(chunk.as_bytes()));
            return;
        };
        let to = to.as_str().as_bytes();
        let mut after_cr = false;
        for chunk in text.chunks() {
            let mut rest = chunk.as_bytes();
            // A `\n` whose `\r` ended the chunk before: the pair is already written.
            if after_cr && rest.first() == Some(&b'\n') {
                rest = &rest[1..];
            }
            while let Some((len, from)) = Ending::find(rest) {
                put(&rest[..len]);
                put(to);
                rest = &rest[len + from.len()..];
            }
            put(rest);
            after_cr = chunk.ends_with('\r');
        }
    }
}

impl Text {
    /// Whether these stored bytes are this text, but for what an editor takes from a file or adds to it: the byte-order mark, the kind of
    /// endings, the final newline. Allocates nothing.
    ///
    /// ```
    /// use hashline_text::Text;
    /// assert!(Text::from("one\ntwo").is_served_from(b"\xef\xbb\xbfone\r\ntwo\r\n"));
    /// assert!(!Text::from("one\ntwo").is_served_from(b"one\n"));
    /// ```
    #[must_use]
    pub fn is_served_from(&self, bytes: &[u8]) -> bool {
        let content = bytes.strip_prefix(BOM).filter(|_| !self.has_mark()).unwrap_or(bytes);
        let Ok(mut stored) = std::str::from_utf8(content) else { return false };
        if self.rope == *stored {
            return true;
        }
        if self.line_count() <= 1 && self.all_lines().all(|line| line.len_bytes() == 0) {
            // An empty file may have got a final newline, which looks like a line.
            return Ending::split(stored).0.is_empty();
        }
        for line in self.all_lines() {
            let (content, ending) =
                Ending::find(stored.as_bytes()).map_or((stored.len(), 0), |(at, ending)| (at, ending.len()));
            if stored.is_empty() || !line.content_eq(&stored[..content]) {
                return false;
            }
            stored = &stored[content + ending..];
        }
        stored.is_empty()
    }

    /// Whether it is these bytes.
    fn has_bytes(&self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        self.len_bytes() == bytes.len()
            && self.chunks().all(|chunk| {
                let (piece, behind) = rest.split_at(chunk.len());
                rest = behind;
                piece == chunk.as_bytes()
            })
    }

    /// Whether an editor has left the byte-order mark in it.
    fn has_mark(&self) -> bool {
        self.chunks().next().is_some_and(|chunk| chunk.as_bytes().starts_with(BOM))
    }
}

/// The ending that all lines share.
fn only_ending(bytes: &[u8]) -> Option<Ending> {
    let (at, only) = Ending::find(bytes)?;
    let mut rest = &bytes[at + only.len()..];
    while let Some((at, ending)) = Ending::find(rest) {
        if ending != only {
            return None;
        }
        rest = &rest[at + ending.len()..];
    }
    Some(only)
}

/// Reads a file's bytes: UTF-8 only, with one byte-order mark moved into the form. The form keeps the endings of
/// the text as they are, so that storing the text again gives the same bytes.
///
/// # Errors
///
/// [`TextError::NotUtf8`] with the offset of the first invalid byte.
pub fn decode(bytes: &[u8]) -> Result<(Text, DiskForm), TextError> {
    decode_again(bytes, &Text::default())
}

/// Reads a file's bytes as [`decode`] does. Where they hold a text that is known already, the text is a clone of that: it costs a
/// comparison, and what was hashed of the known text is not hashed again.
///
/// # Errors
///
/// [`TextError::NotUtf8`] with the offset of the first invalid byte.
pub fn decode_again(bytes: &[u8], known: &Text) -> Result<(Text, DiskForm), TextError> {
    let (bom, content) = match bytes.strip_prefix(BOM) {
        Some(content) => (true, content),
        None => (false, bytes),
    };
    let form = DiskForm { bom, ending: None };
    if known.has_bytes(content) {
        return Ok((known.clone(), form));
    }
    match std::str::from_utf8(content) {
        Ok(content) => Ok((Text::from(content), form)),
        Err(error) => Err(TextError::NotUtf8 { offset: bytes.len() - content.len() + error.valid_up_to() }),
    }
}
