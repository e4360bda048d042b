//! Positions of editors.

use hashline_text::{ByteOffset, Encoding, Ending, OutOfText, Position, Span, SpanError, Text};
use proptest::prelude::*;

use crate::model::{any_text, lines_of};

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

#[test]
fn in_words() {
    use Encoding::{Utf8, Utf16, Utf32};
    let text = Text::from("aé😀z\r\nb");
    for (position, encoding, byte) in [
        (at(0, 0), Utf16, 0),
        (at(0, 2), Utf8, 1), // inside é
        (at(0, 4), Utf8, 3), // inside the emoji
        (at(0, 7), Utf8, 7),
        (at(0, 2), Utf16, 3),
        (at(0, 3), Utf16, 3), // inside the surrogate pair
        (at(0, 4), Utf16, 7),
        (at(0, 2), Utf32, 3),
        (at(0, 3), Utf32, 7),
        (at(0, 5), Utf16, 8),
        (at(0, 6), Utf16, 8), // clamped before the ending
        (at(0, u32::MAX), Utf8, 8),
        (at(1, 0), Utf16, 10),
        (at(1, 9), Utf32, 11),
    ] {
        assert_eq!(text.byte_of(position, encoding), Ok(ByteOffset(byte)), "{position} {encoding:?}");
    }
    assert_eq!(text.byte_of(at(2, 0), Utf16), Err(OutOfText { line: 2, lines: 2 }));
    assert_eq!(text.position_of(ByteOffset(9), Utf16), at(0, 5), "inside an ending");
    assert_eq!(text.position_of(ByteOffset(2), Utf16), at(0, 1), "inside a character");
    assert_eq!(text.position_of(ByteOffset(99), Utf16), at(1, 1));
    assert_eq!(text.end_position(Utf16), at(1, 1));
    assert_eq!(Text::from("a\n").end_position(Utf16), at(1, 0));
    assert_eq!(Text::new().end_position(Utf16), at(0, 0));
}

#[test]
fn the_last_line_is_the_one_behind_the_last_ending() {
    for (text, last) in [("", 0), ("a", 0), ("a\n", 1), ("a\r", 1), ("a\r\n\n", 2)] {
        let text = Text::from(text);
        assert!(text.byte_of(at(last, 0), Encoding::Utf16).is_ok());
        assert_eq!(
            text.byte_of(at(last + 1, 0), Encoding::Utf16),
            Err(OutOfText { line: last + 1, lines: last as usize + 1 })
        );
    }
}

#[test]
fn changes() {
    let mut text = Text::from("one\r\ntwo\r\n");
    let all = Span { start: at(0, 0), end: at(2, 0) };
    let before = text.clone();
    assert_eq!(
        text.apply(Span { start: at(1, 1), end: at(1, 0) }, Encoding::Utf16, "x"),
        Err(SpanError::Reversed { start: at(1, 1), end: at(1, 0) })
    );
    assert_eq!(
        text.apply(Span { start: at(0, 9), end: at(0, 8) }, Encoding::Utf16, "x"),
        Err(SpanError::Reversed { start: at(0, 9), end: at(0, 8) }),
        "clamped to one place, and reversed all the same"
    );
    let outside = Span { start: at(0, 0), end: at(3, 0) };
    assert_eq!(
        text.apply(outside, Encoding::Utf16, "x"),
        Err(SpanError::OutOfText(OutOfText { line: 3, lines: 3 }))
    );
    assert!(text.is_same_instance(&before));

    // A deletion of an ending by its span joins two lines.
    text.apply(Span { start: at(0, 3), end: at(1, 0) }, Encoding::Utf16, " ").unwrap();
    assert_eq!(text, "one two\r\n");
    assert!(text.apply(all, Encoding::Utf16, "").is_err());
    let old = text.apply(Span { start: at(0, 0), end: at(1, 0) }, Encoding::Utf16, "").unwrap();
    assert_eq!(old, ByteOffset(0)..ByteOffset(9));
    assert_eq!(text, "");
}

/// Typing LF behind a lone CR makes one CRLF of the two, and the line count stays.
#[test]
fn typing_into_a_pair() {
    let mut text = Text::from("a\rb");
    text.apply(Span { start: at(1, 0), end: at(1, 0) }, Encoding::Utf16, "\n").unwrap();
    assert_eq!(text, "a\r\nb");
    assert_eq!(text.byte_of(at(1, 0), Encoding::Utf16), Ok(ByteOffset(3)));
    assert_eq!(text.byte_of(at(2, 0), Encoding::Utf16), Err(OutOfText { line: 2, lines: 2 }));
    assert_eq!(text.position_of(ByteOffset(2), Encoding::Utf16), at(0, 1));
}

fn width(char: char, encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => char.len_utf8(),
        Encoding::Utf16 => char.len_utf16(),
        Encoding::Utf32 => 1,
    }
}

proptest! {
    #[test]
    fn as_counted_by_hand(text in any_text(), line: prop::sample::Index, character in 0..12_usize, which in 0..3_usize) {
        let encoding = ENCODINGS[which];
        let rope = Text::from(text.as_str());
        let mut lines = lines_of(&text);
        if lines.last().is_none_or(|(_, ending)| ending.is_some()) {
            lines.push((String::new(), None));
        }
        let line = line.index(lines.len());
        let mut byte: usize =
            lines[..line].iter().map(|(content, end)| content.len() + end.map_or(0, Ending::len)).sum();
        let mut column = 0;
        for char in lines[line].0.chars() {
            if column + width(char, encoding) > character {
                break;
            }
            column += width(char, encoding);
            byte += char.len_utf8();
        }
        let position = at(u32::try_from(line).unwrap(), u32::try_from(character).unwrap());
        prop_assert_eq!(rope.byte_of(position, encoding), Ok(ByteOffset(byte)));
        let back = rope.position_of(ByteOffset(byte), encoding);
        prop_assert_eq!(back, at(position.line, u32::try_from(column).unwrap()));
    }

    #[test]
    fn positions_round_trip(text in any_text(), byte: prop::sample::Index, which in 0..3_usize) {
        let rope = Text::from(text.as_str());
        let byte = byte.index(text.len() + 1);
        let position = rope.position_of(ByteOffset(byte), ENCODINGS[which]);
        let back = rope.byte_of(position, ENCODINGS[which]).unwrap();
        prop_assert!(back.0 <= byte);
        prop_assert_eq!(rope.position_of(back, ENCODINGS[which]), position);
        // Only the inside of a character or of CRLF is not reached.
        let inside = !text.is_char_boundary(byte) || text[..byte].ends_with('\r') && text[byte..].starts_with('\n');
        prop_assert_eq!(back.0 == byte, !inside);
    }

    #[test]
    fn any_change_is_the_replacement_of_the_bytes_it_names(
        text in any_text(), new in any_text(),
        a in (0..40_u32, 0..10_u32), b in (0..40_u32, 0..10_u32), which in 0..3_usize,
    ) {
        let mut rope = Text::from(text.as_str());
        let (start, end) = (at(a.0, a.1), at(b.0, b.1));
        match rope.apply(Span { start, end }, ENCODINGS[which], &new) {
            Ok(old) => {
                let mut expected = text;
                expected.replace_range(old.start.0..old.end.0, &new);
                prop_assert_eq!(rope.to_string(), expected);
            }
            Err(_) => prop_assert_eq!(rope.to_string(), text),
        }
    }
}
