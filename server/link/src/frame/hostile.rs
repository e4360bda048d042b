//! Whatever arrives, in whatever pieces: frames, or an error that says so, and never more in memory than the limit.

use std::pin::Pin;
use std::task::{Context, Poll};

use proptest::prelude::*;
use proptest::sample::Index;
use tokio::io::ReadBuf;

use super::*;
use crate::cases::fuzz;
use crate::error::RemoteKind;

/// Bytes that arrive in pieces of these lengths, again and again.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    lengths: Vec<usize>,
    turn: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let length = self.lengths[self.turn % self.lengths.len()].min(into.remaining());
        let end = (self.at + length).min(self.bytes.len());
        into.put_slice(&self.bytes[self.at..end]);
        self.at = end;
        self.turn += 1;
        Poll::Ready(Ok(()))
    }
}

/// All that a reader makes of some bytes, up to the first error that ends it.
fn read(bytes: &[u8], lengths: &[usize], limit: usize) -> Vec<std::result::Result<Frame, String>> {
    let pieces = Pieces { bytes: bytes.to_owned(), at: 0, lengths: lengths.to_owned(), turn: 0 };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut reader = FrameReader::with_limit(pieces, limit);
        let mut all = Vec::new();
        loop {
            let next = reader.next().await;
            assert!(reader.buffer.len() <= limit + CHUNK * 2, "{} of {limit}", reader.buffer.len());
            match next {
                Ok(None) => return all,
                Ok(Some(frame)) => all.push(Ok(frame)),
                Err(error) => {
                    let ends = matches!(error, Error::TooLarge { .. });
                    all.push(Err(error.to_string()));
                    if ends {
                        return all;
                    }
                }
            }
        }
    })
}

/// The same, line by line.
fn model(bytes: &[u8], limit: usize) -> Vec<std::result::Result<Frame, String>> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        if end >= limit {
            all.push(Err(Error::TooLarge { size: end + 1, limit }.to_string()));
            return all;
        }
        all.push(Frame::parse(&rest[..end]).map_err(|error| error.to_string()));
        rest = &rest[end + 1..];
    }
    if rest.len() >= limit {
        all.push(Err(Error::TooLarge { size: rest.len(), limit }.to_string()));
    }
    all
}

/// How large something was is told as far as it was read.
fn without_size(all: Vec<std::result::Result<Frame, String>>) -> Vec<std::result::Result<Frame, String>> {
    let words = |error: String| error.chars().filter(|char| !char.is_ascii_digit()).collect();
    all.into_iter().map(|one| one.map_err(words)).collect()
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        ".{0,12}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            prop::collection::vec(("[a-z\"\\\\\n]{0,4}", inner), 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let body = || json().prop_map(|value| Raw::of(&value).unwrap());
    prop_oneof![
        Just(()).prop_map(|()| Frame::Hello(Hello::ours())),
        (any::<u64>(), body()).prop_map(|(id, body)| Frame::Request { id, body }),
        (any::<u64>(), body()).prop_map(|(id, body)| Frame::Result { id, body }),
        (any::<u64>(), ".*")
            .prop_map(|(id, words)| Frame::Error { id, error: RemoteError::new(RemoteKind::Busy, words) }),
        any::<u64>().prop_map(|id| Frame::Cancel { id }),
        ".*".prop_map(|message| Frame::Fault { message }),
    ]
}

/// A byte that becomes another, goes, or comes.
fn mutated(mut bytes: Vec<u8>, mutations: &[(Index, u8, u8)]) -> Vec<u8> {
    for (at, how, byte) in mutations {
        let place = at.index(bytes.len() + 1);
        match how % 5 {
            0 if place < bytes.len() => bytes[place] = *byte,
            1 if place < bytes.len() => drop(bytes.remove(place)),
            2 => bytes.insert(place, *b"\n\"{}[]:,\\0-9.e \r\xff".get(*byte as usize % 17).unwrap()),
            3 => bytes.truncate(place),
            _ => bytes.insert(place, *byte),
        }
    }
    bytes
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![Just(1_usize), 1..8_usize, 1..20_000_usize], 1..6)
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    prop::collection::vec(frame(), 0..6)
}

#[test]
fn frames_come_out_as_they_went_in() {
    fuzz(file!(), (frames(), lengths()), |(frames, lengths)| {
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.to_line().unwrap()).collect();
        let frames: Vec<_> = frames.into_iter().map(Ok).collect();
        prop_assert_eq!(read(&bytes, &lengths, FRAME_LIMIT), frames);
        Ok(())
    });
}

/// However it is cut, the same is made of it, and what is no frame costs none of the others.
#[test]
fn where_it_is_cut_makes_no_difference() {
    let mutations = prop::collection::vec((any::<Index>(), any::<u8>(), any::<u8>()), 0..6);
    fuzz(file!(), (frames(), lengths(), 1..400_usize, mutations), |(frames, lengths, limit, mutations)| {
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.to_line().unwrap()).collect();
        let bytes = mutated(bytes, &mutations);
        let expected = without_size(model(&bytes, limit));
        prop_assert_eq!(without_size(read(&bytes, &lengths, limit)), expected);
        Ok(())
    });
}

#[test]
fn any_bytes_are_frames_or_errors() {
    fuzz(file!(), (any::<Vec<u8>>(), lengths(), 1..200_usize), |(bytes, lengths, limit)| {
        let expected = without_size(model(&bytes, limit));
        prop_assert_eq!(without_size(read(&bytes, &lengths, limit)), expected);
        Ok(())
    });
}
