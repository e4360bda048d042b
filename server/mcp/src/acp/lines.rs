//! Lines of a stream, with their ends, as far as they are short enough to be kept.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::argument_limits::MESSAGE;

/// The longest line that is kept, in bytes: one that never ends would take all memory.
const LONGEST: usize = MESSAGE;

/// What is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line with its end.
    Line(Vec<u8>),
    /// Some of a line that is too long, or that never ended.
    Part(Vec<u8>),
}

/// The lines of a stream.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    is_within: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(1 << 16, reader), line: Vec::new(), is_within: false }
    }

    /// Whether what was read last ended within a line.
    pub(super) fn is_within(&self) -> bool {
        self.is_within
    }

    /// What comes next; none at the end. Whoever waits for it may give up and come again.
    pub(super) async fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(Piece::Part(rest)));
            }
            let end = memchr::memchr(b'\n', read).map(|at| at + 1);
            let count = end.unwrap_or(read.len());
            self.line.extend_from_slice(&read[..count]);
            self.reader.consume(count);
            let was_within = self.is_within;
            self.is_within = end.is_none() && (was_within || self.line.len() > LONGEST);
            if was_within || self.is_within {
                return Ok(Some(Piece::Part(std::mem::take(&mut self.line))));
            }
            if end.is_some() {
                return Ok(Some(Piece::Line(std::mem::take(&mut self.line))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pieces(bytes: &[u8]) -> Vec<Piece> {
        let mut lines = Lines::new(bytes);
        let mut pieces = Vec::new();
        while let Some(piece) = lines.next().await.unwrap() {
            pieces.push(piece);
        }
        pieces
    }

    #[tokio::test]
    async fn lines_keep_their_ends_and_what_is_cut_off_is_no_line() {
        let read = pieces(b"a\r\n\n\xff\nb").await;
        let line = |bytes: &[u8]| Piece::Line(bytes.to_vec());
        assert_eq!(read, [line(b"a\r\n"), line(b"\n"), line(b"\xff\n"), Piece::Part(b"b".to_vec())]);
        assert_eq!(pieces(b"").await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_not_kept() {
        let mut bytes = vec![b'x'; 2 * LONGEST];
        bytes.extend_from_slice(b"\nnext\n");
        let mut lines = Lines::new(bytes.as_slice());
        let mut read = Vec::new();
        let last = loop {
            match lines.next().await.unwrap().unwrap() {
                Piece::Part(part) => {
                    assert!(part.len() <= LONGEST + (1 << 16));
                    read.extend_from_slice(&part);
                    assert_eq!(lines.is_within(), !read.ends_with(b"\n"));
                }
                Piece::Line(line) => break line,
            }
        };
        assert_eq!((read.len(), last.as_slice()), (2 * LONGEST + 1, &b"next\n"[..]));
    }
}
