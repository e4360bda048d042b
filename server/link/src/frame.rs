//! The wire: one JSON object a line.
//!
//! | line | from | meaning |
//! | --- | --- | --- |
//! | `{"hello":{"protocol":2,"version":"0.1.0"}}` | both | the first line of either side |
//! | `{"id":7,"request":…}` | client | a [`Request`](crate::Request) |
//! | `{"id":7,"result":…}` | server | its answer |
//! | `{"id":7,"error":{"kind":"failed","message":"…"}}` | server | its refusal |
//! | `{"cancel":7}` | client | nobody waits for answer 7 any more; it is sent all the same |
//! | `{"fault":"…"}` | both | the sender closes the connection, and why |
//!
//! Each request has exactly one answer, in any order. Lines, rather than frames that begin with their length, were
//! chosen because they can be read and written by hand and cost little more: the search for the line break takes a
//! third of a microsecond for a reply of 100 lines, and three, at each end, of a round trip of 23 for one of
//! 48,000 characters. A body is cut out of a line of the exact form above without being parsed, which
//! would take 20; a line of any other form is parsed as JSON.

use bytes::{Buf, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::error::{Error, RemoteError, Result};
use crate::heavy_work::done_apart;
use crate::message::{Hello, Raw};

/// How long a line may be, its break included.
pub const FRAME_LIMIT: usize = 64 << 20;

/// What is read at once.
const CHUNK: usize = 16 << 10;
/// A line of more bytes than this is read into a buffer that is given back after it.
const LARGE: usize = 64 * CHUNK;

/// What one side sends at a time.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Hello(Hello),
    Request { id: u64, body: Raw },
    Result { id: u64, body: Raw },
    Error { id: u64, error: RemoteError },
    Cancel { id: u64 },
    Fault { message: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    hello: Option<Hello>,
    id: Option<u64>,
    #[serde(borrow, default, deserialize_with = "present")]
    request: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    error: Option<RemoteError>,
    cancel: Option<u64>,
    fault: Option<String>,
}

/// What is `null` is there.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

impl Frame {
    /// Reads a line, given without its break.
    pub(crate) fn parse(line: &[u8]) -> Result<Self> {
        match Self::cut(line) {
            Some((id, true, body)) => Ok(Self::Request { id, body: Raw::from_line(body)? }),
            Some((id, false, body)) => Ok(Self::Result { id, body: Raw::from_line(body)? }),
            None => Self::parse_any(line),
        }
    }

    /// The number, whether it is a request, and the body, of a line of exactly the form that [`line`] writes.
    fn cut(line: &[u8]) -> Option<(u64, bool, &[u8])> {
        let rest = line.strip_prefix(b"{\"id\":")?.strip_suffix(b"}")?;
        let comma = rest.iter().take(21).position(|&byte| byte == b',')?;
        let (digits, rest) = rest.split_at_checked(comma)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let id = std::str::from_utf8(digits).ok()?.parse().ok()?;
        match rest.strip_prefix(b",\"result\":") {
            Some(body) => Some((id, false, body)),
            None => Some((id, true, rest.strip_prefix(b",\"request\":")?)),
        }
    }

    /// Reads a line of any form.
    fn parse_any(line: &[u8]) -> Result<Self> {
        let bad = |what: &str| Error::Protocol(format!("a line is not a frame: {what}"));
        let raw = |body: &RawValue| Raw::from_json(body.get().to_owned());
        let Line { hello, id, request, result, error, cancel, fault } =
            serde_json::from_slice(line).map_err(|error| bad(&error.to_string()))?;
        match (id, hello, request, result, error, cancel, fault) {
            (None, Some(hello), None, None, None, None, None) => Ok(Self::Hello(hello)),
            (Some(id), None, Some(body), None, None, None, None) => {
                Ok(Self::Request { id, body: raw(body)? })
            }
            (Some(id), None, None, Some(body), None, None, None) => Ok(Self::Result { id, body: raw(body)? }),
            (Some(id), None, None, None, Some(error), None, None) => Ok(Self::Error { id, error }),
            (None, None, None, None, None, Some(id), None) => Ok(Self::Cancel { id }),
            (None, None, None, None, None, None, Some(message)) => Ok(Self::Fault { message }),
            _ => Err(bad("its parts do not belong together")),
        }
    }

    /// The line, with its break.
    pub(crate) fn to_line(&self) -> Result<Vec<u8>> {
        match self {
            Self::Hello(hello) => object("hello", hello),
            Self::Request { id, body } => line(*id, "request", body),
            Self::Result { id, body } => line(*id, "result", body),
            Self::Error { id, error } => line(*id, "error", &Raw::of(error)?),
            Self::Cancel { id } => object("cancel", id),
            Self::Fault { message } => object("fault", message),
        }
    }
}

fn object<T: Serialize>(key: &str, value: &T) -> Result<Vec<u8>> {
    Ok(format!("{{\"{key}\":{}}}\n", Raw::of(value)?.as_str()).into_bytes())
}

fn line(id: u64, key: &str, body: &Raw) -> Result<Vec<u8>> {
    let size = body.as_str().len().saturating_add(64);
    if size > FRAME_LIMIT {
        return Err(Error::TooLarge { size, limit: FRAME_LIMIT });
    }
    let mut line = Vec::with_capacity(size);
    line.extend_from_slice(b"{\"id\":");
    line.extend_from_slice(id.to_string().as_bytes());
    line.extend_from_slice(b",\"");
    line.extend_from_slice(key.as_bytes());
    line.extend_from_slice(b"\":");
    line.extend_from_slice(body.as_str().as_bytes());
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// Cuts what arrives into frames.
#[derive(Debug)]
pub(crate) struct FrameReader<R> {
    from: R,
    buffer: BytesMut,
    /// How much of the buffer is known to have no line break.
    searched: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(from: R) -> Self {
        Self::with_limit(from, FRAME_LIMIT)
    }

    pub(crate) fn with_limit(from: R, limit: usize) -> Self {
        Self { from, buffer: BytesMut::with_capacity(CHUNK), searched: 0, limit }
    }

    /// The next frame; `None` when the other side has closed. An end within a line is a close too: what was
    /// to be said is not known. May be dropped while it waits, and asked again.
    pub(crate) async fn next(&mut self) -> Result<Option<Frame>> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', unsearched) {
                let end = self.searched + found;
                if end >= self.limit {
                    return Err(Error::TooLarge { size: end + 1, limit: self.limit });
                }
                let frame = done_apart(end, || Frame::parse(self.buffer.get(..end).unwrap_or_default()));
                self.buffer.advance(end + 1);
                self.searched = 0;
                // What is left of a buffer keeps all of it in memory.
                if end > LARGE {
                    let mut rest = BytesMut::with_capacity(self.buffer.len().max(CHUNK));
                    rest.extend_from_slice(&self.buffer);
                    self.buffer = rest;
                }
                return frame.map(Some);
            }
            self.searched = self.buffer.len();
            if self.searched >= self.limit {
                return Err(Error::TooLarge { size: self.searched, limit: self.limit });
            }
            if self.buffer.spare_capacity_mut().len() < CHUNK / 4 {
                self.buffer.reserve(self.buffer.len().max(CHUNK));
            }
            // Whatever the error, nothing more will come.
            match self.from.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Ok(None),
                Ok(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::RemoteKind;
    use proptest::prelude::*;

    fn raw(json: &str) -> Raw {
        Raw::from_json(json.to_owned()).unwrap()
    }

    #[test]
    fn frames_survive_the_wire() {
        let frames = [
            Frame::Hello(Hello::ours()),
            Frame::Request { id: 0, body: raw("{\"status\":{}}") },
            Frame::Request { id: u64::MAX, body: raw("null") },
            Frame::Result { id: 7, body: raw("\"}\"") },
            Frame::Error { id: 7, error: RemoteError::new(RemoteKind::Busy, "line\nbreak") },
            Frame::Cancel { id: 3 },
            Frame::Fault { message: "why".to_owned() },
        ];
        for frame in frames {
            let line = frame.to_line().unwrap();
            assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
            assert_eq!(Frame::parse(&line[..line.len() - 1]).unwrap(), frame);
        }
    }

    #[test]
    fn any_order_and_spacing_is_read() {
        let same = Frame::Result { id: 7, body: raw("[1]") };
        for line in
            ["{\"id\":7,\"result\":[1]}", "{ \"result\" : [1], \"id\" : 7 }", "{\"id\" :7,\"result\":[1]}"]
        {
            assert_eq!(Frame::parse(line.as_bytes()).unwrap(), same, "{line}");
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        let lines: [&[u8]; 11] = [
            b"",
            b"null",
            b"{}",
            b"[]",
            b"{\"id\":1}",
            b"{\"cancel\":-1}",
            b"{\"id\":1,\"cancel\":1}",
            b"{\"id\":99999999999999999999,\"result\":1}",
            b"{\"id\":1,\"request\":1,\"other\":2",
            b"{\"id\":1,\"result\":\"\xff\"}",
            b"GET / HTTP/1.1\r",
        ];
        for line in lines {
            assert!(Frame::parse(line).is_err(), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn line_breaks_between_the_parts_of_raw_json_do_not_break_the_frame() {
        let pretty = RawValue::from_string("{\n \"a\": [\n1.00000000000000000001]\n}".to_owned()).unwrap();
        let line = Frame::Result { id: 1, body: Raw::of(&pretty).unwrap() }.to_line().unwrap();
        assert_eq!(line, b"{\"id\":1,\"result\":{  \"a\": [ 1.00000000000000000001] }}\n");
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_refused_before_it_is_whole() {
        let endless = tokio::io::repeat(b'x');
        let mut reader = FrameReader::with_limit(endless, 100_000);
        assert!(matches!(reader.next().await, Err(Error::TooLarge { limit: 100_000, .. })));
        assert!(reader.buffer.len() < 200_000);
    }

    #[tokio::test]
    async fn memory_of_a_large_frame_is_given_back() {
        let body = Raw::of(&"x".repeat(3 * LARGE)).unwrap();
        let large = Frame::Result { id: 1, body }.to_line().unwrap();
        for next in ["", "{\"cancel\":1}\n"] {
            let lines = [&large[..], next.as_bytes()].concat();
            let mut reader = FrameReader::new(&lines[..]);
            assert!(matches!(reader.next().await, Ok(Some(Frame::Result { .. }))));
            assert!(!reader.buffer.try_reclaim(LARGE), "it has no such room");
            let expected = (!next.is_empty()).then_some(Frame::Cancel { id: 1 });
            assert_eq!(reader.next().await.unwrap(), expected);
        }
    }

    #[tokio::test]
    async fn an_end_within_a_line_is_an_end() {
        let mut reader = FrameReader::new(&b"{\"cancel\":1}\n{\"cancel\":"[..]);
        assert_eq!(reader.next().await.unwrap(), Some(Frame::Cancel { id: 1 }));
        assert_eq!(reader.next().await.unwrap(), None);
    }

    proptest! {
        #[test]
        fn the_short_way_and_the_long_way_agree(id: u64, text: String, spaced: bool) {
            let body = if text.is_empty() { raw("null") } else { Raw::of(&text).unwrap() };
            let (key, frame) = if spaced {
                ("result", Frame::Result { id, body: body.clone() })
            } else {
                ("request", Frame::Request { id, body: body.clone() })
            };
            let line = format!("{{\"id\":{id},\"{key}\":{}}}", body.as_str());
            prop_assert!(Frame::cut(line.as_bytes()).is_some());
            prop_assert_eq!(&Frame::parse(line.as_bytes()).unwrap(), &frame);
            prop_assert_eq!(&Frame::parse_any(line.as_bytes()).unwrap(), &frame);
        }

        #[test]
        fn no_bytes_make_the_reader_fall_over(bytes: Vec<u8>) {
            let _ = Frame::parse(&bytes);
        }

        #[test]
        fn frames_are_found_however_they_arrive(sizes in prop::collection::vec(0usize..40_000, 1..6), chunk in 1usize..9000) {
            let frames: Vec<_> = sizes.iter().zip(0..)
                .map(|(&size, id)| Frame::Result { id, body: Raw::of(&"é".repeat(size / 2)).unwrap() })
                .collect();
            let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.to_line().unwrap()).collect();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let read = runtime.block_on(async {
                let (mut to, from) = tokio::io::duplex(chunk);
                let writing = tokio::spawn(async move {
                    tokio::io::AsyncWriteExt::write_all(&mut to, &bytes).await.unwrap();
                });
                let mut reader = FrameReader::new(from);
                let mut read = Vec::new();
                while let Some(frame) = reader.next().await.unwrap() {
                    read.push(frame);
                }
                writing.await.unwrap();
                read
            });
            prop_assert_eq!(read, frames);
        }
    }
}
