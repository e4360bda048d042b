//! What a line is.

use hashline_text::{ByteOffset, Ending, Line, OwnedLine, Text};
use proptest::prelude::*;

use crate::model::{any_text, lines_of};

#[test]
fn only_lf_crlf_and_cr_end_lines() {
    for content in ["\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}", "\u{1c}", "\u{1e}"] {
        let text = Text::from(format!("a{content}b").as_str());
        assert_eq!(text.line_count(), 1, "{content:?} is content");
        assert_eq!(text.lsp_line_count(), 1, "{content:?} is content");
        assert_eq!(text.line(Line(0)).unwrap().content(), format!("a{content}b"));
    }
    for ending in [Ending::Lf, Ending::CrLf, Ending::Cr] {
        let text = Text::from(format!("a{}b", ending.as_str()).as_str());
        assert_eq!(text.line_count(), 2);
        assert_eq!(text.line(Line(0)).unwrap().ending(), Some(ending));
        assert_eq!(text.line(Line(1)).unwrap().ending(), None);
    }
}

#[test]
fn line_counts() {
    for (text, lines, lsp, newline) in [
        ("", 0, 1, false),
        ("\n", 1, 2, true),
        ("\r\n", 1, 2, true),
        ("\r", 1, 2, true),
        ("a", 1, 1, false),
        ("a\n", 1, 2, true),
        ("a\n\n", 2, 3, true),
        ("a\r\rb", 3, 3, false),
        ("a\n\rb\r\n", 3, 4, true),
    ] {
        let rope = Text::from(text);
        assert_eq!(rope.line_count(), lines, "{text:?}");
        assert_eq!(rope.lsp_line_count(), lsp, "{text:?}");
        assert_eq!(rope.ends_with_newline(), newline, "{text:?}");
        assert_eq!(rope.is_empty(), text.is_empty());
        assert_eq!(rope.all_lines().count(), lines, "{text:?}");
        assert!(rope.line(Line(lines)).is_none());
        assert!(rope.line(Line(usize::MAX)).is_none());
    }
}

#[test]
fn an_inserted_line_takes_the_ending_of_its_neighbour() {
    use Ending::{Cr, CrLf, Lf};
    for (text, at, expected) in [
        ("", 0, Lf),
        ("a", 0, Lf),
        ("a", 1, Lf),
        ("a\r\n", 0, CrLf),
        ("a\r\n", 1, CrLf),
        ("a\r\nb", 0, CrLf),
        ("a\r\nb", 2, CrLf),
        ("a\rb\r\nc\n", 1, Cr),
        ("a\rb\r\nc\n", 2, CrLf),
        ("a\rb\r\nc\n", 3, Lf),
        ("a\rb\r\nc", 3, CrLf),
        ("a\rb\r\nc", 99, CrLf),
    ] {
        assert_eq!(Text::from(text).ending_for_insert(Line(at)), expected, "{text:?} at {at}");
    }
    assert_eq!(Text::from("a\rb\n").first_ending(), Some(Cr));
    assert_eq!(Text::from("a").first_ending(), None);
}

#[test]
fn lines_and_bytes() {
    let text = Text::from("ab\r\nc\n");
    assert_eq!(text.byte_of_line(Line(1)), ByteOffset(4));
    assert_eq!(text.byte_of_line(Line(2)), ByteOffset(6));
    assert_eq!(text.byte_of_line(Line(usize::MAX)), ByteOffset(6));
    assert_eq!(text.slice(ByteOffset(1)..ByteOffset(5)).unwrap(), "b\r\nc");
    assert!(text.slice(ByteOffset(5)..ByteOffset(7)).is_none());
    let reversed = ByteOffset(5)..ByteOffset(4);
    assert!(text.slice(reversed).is_none());
    assert!(Text::from("é").slice(ByteOffset(1)..ByteOffset(2)).is_none());
}

#[test]
fn a_clone_is_the_same_until_it_is_changed() {
    let text = Text::from("one\n");
    let mut other = text.clone();
    assert!(text.is_same_instance(&other));
    other.replace_bytes(ByteOffset(0)..ByteOffset(1), "O").unwrap();
    assert_ne!(text, other);
    other.replace_bytes(ByteOffset(0)..ByteOffset(1), "o").unwrap();
    assert_eq!(text, other);
    assert_eq!(format!("{text:?}"), "Text(4 bytes, \"one\\n\")");
}

proptest! {
    #[test]
    fn lines_are_those_of_the_model(text in any_text(), from in 0..50_usize, len in 0..50_usize) {
        let rope = Text::from(text.as_str());
        let model = lines_of(&text);
        prop_assert_eq!(rope.line_count(), model.len());
        let all: Vec<_> = rope.all_lines().map(|line| (line.content().into_owned(), line.ending())).collect();
        prop_assert_eq!(&all, &model);
        prop_assert_eq!(rope.to_string(), text);

        let end = (from + len).min(model.len());
        let some = rope.lines(from..from + len);
        prop_assert_eq!(some.len(), end.saturating_sub(from));
        let some: Vec<_> = some.map(|line| (line.content().into_owned(), line.ending())).collect();
        prop_assert_eq!(&some[..], &model[from.min(end)..end]);

        for (at, (content, ending)) in model.iter().enumerate() {
            let line = rope.line(Line(at)).unwrap();
            prop_assert!(line.content_eq(content));
            let longer = [content, "x"].concat();
            prop_assert!(!line.content_eq(&longer));
            prop_assert_eq!(line.len_bytes(), content.len());
            prop_assert!(line.as_str().is_none_or(|own| own == content));
            let owned = line.to_owned_line(Ending::Cr);
            prop_assert_eq!(owned, OwnedLine::new(content.as_str(), ending.unwrap_or(Ending::Cr)));
        }
    }

    /// Ropes that have grown by many edits hold their pieces differently from fresh ones.
    #[test]
    fn lines_of_an_edited_rope(edits in prop::collection::vec((0.0..1.0_f64, any_text()), 1..12)) {
        let mut rope = Text::new();
        let mut text = String::new();
        for (at, new) in edits {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
                reason = "a place in the text, roughly")]
            let mut at = (at * text.len() as f64) as usize;
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            rope.replace_bytes(ByteOffset(at)..ByteOffset(at), &new).unwrap();
            text.insert_str(at, &new);
        }
        let all: Vec<_> = rope.all_lines().map(|line| (line.content().into_owned(), line.ending())).collect();
        prop_assert_eq!(all, lines_of(&text));
    }
}

#[test]
fn lines_across_the_pieces_of_the_rope() {
    for len in [1, 30, 700, 5_000] {
        let lines: Vec<String> =
            (0..3_000_000 / len / 50).map(|at| "é".repeat(at % 7) + &"x".repeat(len)).collect();
        let text = Text::from(lines.join("\r\n"));
        assert_eq!(text.line_count(), lines.len());
        for (line, expected) in text.all_lines().zip(&lines) {
            assert_eq!(line.content(), *expected);
            assert_eq!(line.len_bytes(), expected.len());
            assert!(line.as_str().is_none_or(|content| content == expected));
            assert!(line.content_eq(expected));
            assert!(!line.content_eq(&expected[..expected.len() - 1]));
        }
    }
}
