//! Changing a text: runs of bytes, and runs of whole lines.

use std::ops::Range;

use crate::{ByteOffset, Ending, Line, OwnedLine, Text, TextError};

impl Text {
    /// Replaces a run of bytes. Refused where it is out of bounds or would cut a character.
    ///
    /// # Errors
    ///
    /// [`TextError::BytesOutOfText`] and [`TextError::InsideCharacter`]; the text is then as before.
    pub fn replace_bytes(&mut self, range: Range<ByteOffset>, new: &str) -> Result<(), TextError> {
        let Range { start, end } = range;
        let len = self.len_bytes();
        if start > end || end.0 > len {
            return Err(TextError::BytesOutOfText { start, end, len });
        }
        let chars = self.char_at_boundary(start)?..self.char_at_boundary(end)?;
        self.replace_chars(chars, new);
        Ok(())
    }

    /// Replaces a run of whole lines by others. Costs the logarithm of the text plus the size of the change.
    ///
    /// The text is taken as lines that all have an ending, and whether the ending of the very last one is really
    /// there is told apart, by `newline_at_end`: it is the final state of the whole resulting text and says
    /// nothing about an empty one. A last line that lacked its ending and needs one now, because lines follow
    /// or because `newline_at_end` says so, takes that of the line before it, else `\n`;
    /// [`replace_lines_or`](Self::replace_lines_or) takes it as an argument instead.
    ///
    /// An *empty* last line without its ending leaves no trace: the text then ends with the ending of the line
    /// before, reads as one line less, and [`ends_with_newline`](Self::ends_with_newline) is true.
    ///
    /// ```
    /// use hashline_text::{Ending, Line, OwnedLine, Text};
    /// let mut text = Text::from("a\r\nb");
    /// text.replace_lines(Line(2)..Line(2), &[OwnedLine::new("c", Ending::CrLf)], false).unwrap();
    /// assert_eq!(text, "a\r\nb\r\nc");
    /// text.replace_lines(Line(1)..Line(3), &[], true).unwrap();
    /// assert_eq!(text, "a\r\n");
    /// ```
    ///
    /// # Errors
    ///
    /// [`TextError::LinesOutOfText`], [`TextError::ContentHoldsEnding`] and [`TextError::EndingsWouldJoin`]; the
    /// text is then as before.
    pub fn replace_lines(
        &mut self,
        lines: Range<Line>,
        new: &[OwnedLine],
        newline_at_end: bool,
    ) -> Result<(), TextError> {
        let default = self.ending_for_insert(Line(self.line_count()));
        self.replace_lines_or(lines, new, newline_at_end, default)
    }

    /// As [`replace_lines`](Self::replace_lines), with `default` as the ending that the present last line takes
    /// where it has none and needs one.
    ///
    /// # Errors
    ///
    /// As for [`replace_lines`](Self::replace_lines).
    pub fn replace_lines_or(
        &mut self,
        lines: Range<Line>,
        new: &[OwnedLine],
        newline_at_end: bool,
        default: Ending,
    ) -> Result<(), TextError> {
        let count = self.line_count();
        let Range { start, end } = lines;
        if start > end || end.0 > count {
            return Err(TextError::LinesOutOfText { start, end, count });
        }
        if let Some(index) = new.iter().position(|line| Ending::find(line.content.as_bytes()).is_some()) {
            return Err(TextError::ContentHoldsEnding { index });
        }
        let had_newline = self.ends_with_newline() || self.is_empty();
        let mut bytes = self.byte_of_line(start).0..self.byte_of_line(end).0;
        let mut body = String::with_capacity(new.iter().map(OwnedLine::len_bytes).sum::<usize>() + 2);
        let to_end = end.0 == count;

        if to_end && start == end && !had_newline && (!new.is_empty() || newline_at_end) {
            body.push_str(default.as_str());
        }
        for (index, line) in new.iter().enumerate() {
            let cut = to_end && !newline_at_end && index + 1 == new.len();
            let ending = if cut { "" } else { line.ending.as_str() };
            if line.content.is_empty() && ending == "\n" && self.ends_in_cr(bytes.start, &body) {
                return Err(TextError::EndingsWouldJoin);
            }
            body.push_str(&line.content);
            body.push_str(ending);
        }
        if to_end && !newline_at_end && new.is_empty() {
            let before = start.0.checked_sub(1).and_then(|at| self.line(Line(at)));
            bytes.start -= before.and_then(|line| line.ending()).map_or(0, Ending::len);
        }
        // Where the next line is the last one and loses its ending, there is nothing to join.
        let next_is_cut = end.0 + 1 == count && !newline_at_end;
        let next_is_lf = self.rope.get_byte(bytes.end) == Some(b'\n') && !next_is_cut;
        if next_is_lf && self.ends_in_cr(bytes.start, &body) {
            return Err(TextError::EndingsWouldJoin);
        }
        // Behind the run first, so that the offsets of the run stay true.
        if !to_end && had_newline != newline_at_end {
            let len = self.len_bytes();
            if newline_at_end {
                self.replace_whole_chars(len..len, default.as_str());
            } else if let Some(last) = self.line(Line(count - 1)).and_then(|line| line.ending()) {
                self.replace_whole_chars(len - last.len()..len, "");
            }
        }
        self.replace_whole_chars(bytes, &body);
        Ok(())
    }

    /// Whether the text up to byte `end`, with `body` behind it, ends in `\r`.
    fn ends_in_cr(&self, end: usize, body: &str) -> bool {
        match body.as_bytes().last() {
            Some(last) => *last == b'\r',
            None => end.checked_sub(1).and_then(|at| self.rope.get_byte(at)) == Some(b'\r'),
        }
    }

    /// The index of the character that starts at this byte.
    fn char_at_boundary(&self, at: ByteOffset) -> Result<usize, TextError> {
        let index = self.rope.byte_to_char(at.0.min(self.len_bytes()));
        if self.rope.char_to_byte(index) == at.0 { Ok(index) } else { Err(TextError::InsideCharacter { at }) }
    }

    /// Replaces bytes that are known to be in bounds and to cut no character.
    fn replace_whole_chars(&mut self, bytes: Range<usize>, new: &str) {
        let chars = self.rope.byte_to_char(bytes.start)..self.rope.byte_to_char(bytes.end);
        self.replace_chars(chars, new);
    }

    /// Replaces characters that are known to be in bounds.
    pub(crate) fn replace_chars(&mut self, chars: Range<usize>, new: &str) {
        let at = chars.start;
        self.marks = self.marks.after_change(self.rope.char_to_byte(at));
        if !chars.is_empty() {
            self.rope.remove(chars);
        }
        if !new.is_empty() {
            self.rope.insert(at, new);
        }
    }
}
