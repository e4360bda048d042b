//! Finding positions in a text, and changing it, as LSP counts.

use std::ops::Range;

use ropey::RopeSlice;

use crate::{ByteOffset, Encoding, OutOfText, Position, Span, SpanError, Text};

impl Text {
    /// The byte at a position. A character past the end of the line is clamped to the end of its content, before
    /// its ending; one inside a surrogate pair or a multi-byte character is rounded down.
    ///
    /// ```
    /// use hashline_text::{ByteOffset, Encoding, Position, Text};
    /// let text = Text::from("a😀b\n");
    /// let byte = |line, character| text.byte_of(Position { line, character }, Encoding::Utf16);
    /// assert_eq!(byte(0, 3), Ok(ByteOffset(5)));
    /// assert_eq!(byte(0, 2), Ok(ByteOffset(1)), "inside the surrogate pair");
    /// assert_eq!(byte(0, 99), Ok(ByteOffset(6)), "clamped");
    /// assert_eq!(byte(1, 0), Ok(ByteOffset(7)));
    /// assert!(byte(2, 0).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`OutOfText`] where there is no such line.
    pub fn byte_of(&self, position: Position, encoding: Encoding) -> Result<ByteOffset, OutOfText> {
        let index = self.char_of(position, encoding)?;
        Ok(ByteOffset(self.rope.char_to_byte(index)))
    }

    /// The position of a byte. An offset beyond the text counts as its end, one inside a character is rounded
    /// down, and one inside a line ending counts as the end of the line's content.
    #[must_use]
    pub fn position_of(&self, at: ByteOffset, encoding: Encoding) -> Position {
        let index = self.rope.byte_to_char(at.0.min(self.len_bytes()));
        let line = self.rope.char_to_line(index);
        let content = self.content_of_lsp_line(line);
        let within = (index - self.rope.line_to_char(line)).min(content.len_chars());
        let character = match encoding {
            Encoding::Utf8 => content.char_to_byte(within),
            Encoding::Utf16 => content.char_to_utf16_cu(within),
            Encoding::Utf32 => within,
        };
        Position { line: clamp_u32(line), character: clamp_u32(character) }
    }

    /// The position behind the last character.
    #[must_use]
    pub fn end_position(&self, encoding: Encoding) -> Position {
        self.position_of(ByteOffset(self.len_bytes()), encoding)
    }

    /// Applies one change that an editor reports and tells which bytes it replaced, counted before the change.
    ///
    /// ```
    /// use hashline_text::{ByteOffset, Encoding, Position, Span, Text};
    /// let mut text = Text::from("fn main() {}\n");
    /// let span = Span { start: Position { line: 0, character: 3 }, end: Position { line: 0, character: 7 } };
    /// let old = text.apply(span, Encoding::Utf16, "start").unwrap();
    /// assert_eq!(old, ByteOffset(3)..ByteOffset(7));
    /// assert_eq!(text, "fn start() {}\n");
    /// ```
    ///
    /// # Errors
    ///
    /// [`SpanError`] where the span lies outside the text or ends before it starts; the text is then as before.
    pub fn apply(
        &mut self,
        span: Span,
        encoding: Encoding,
        new: &str,
    ) -> Result<Range<ByteOffset>, SpanError> {
        let Span { start, end } = span;
        let first = self.char_of(start, encoding)?;
        let last = if end == start { first } else { self.char_of(end, encoding)? };
        // Positions are compared as such: both may be clamped to one place, and the client is wrong all the same.
        if end < start {
            return Err(SpanError::Reversed { start, end });
        }
        let first_byte = self.rope.char_to_byte(first);
        let last_byte = if last == first { first_byte } else { self.rope.char_to_byte(last) };
        self.replace_chars(first..last, new);
        Ok(ByteOffset(first_byte)..ByteOffset(last_byte))
    }

    /// The index of the character at a position.
    fn char_of(&self, position: Position, encoding: Encoding) -> Result<usize, OutOfText> {
        let lines = self.rope.len_lines();
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        if line >= lines {
            return Err(OutOfText { line: position.line, lines });
        }
        let start = self.rope.line_to_char(line);
        let wanted = usize::try_from(position.character).unwrap_or(usize::MAX);
        if wanted == 0 {
            return Ok(start);
        }
        let content = self.content_of_lsp_line(line);
        let within = match encoding {
            Encoding::Utf8 if wanted < content.len_bytes() => content.byte_to_char(wanted),
            Encoding::Utf16 if wanted < content.len_utf16_cu() => content.utf16_cu_to_char(wanted),
            Encoding::Utf32 if wanted < content.len_chars() => wanted,
            _ => content.len_chars(),
        };
        Ok(start + within)
    }

    /// The content of a line that is known to exist, counted as LSP does.
    fn content_of_lsp_line(&self, line: usize) -> RopeSlice<'_> {
        let line = self.rope.line(line);
        let len = line.len_chars();
        // The endings are ASCII: as many bytes as characters.
        let ending = match line.len_bytes().checked_sub(1).map(|last| line.byte(last)) {
            Some(b'\n') if len > 1 && line.byte(line.len_bytes() - 2) == b'\r' => 2,
            Some(b'\n' | b'\r') => 1,
            _ => return line,
        };
        line.slice(..len - ending)
    }
}

fn clamp_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
