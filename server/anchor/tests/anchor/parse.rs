//! Anchors as agents write them.

use hashline_anchor::{Anchor, AnchorError, AnchorSpan, LineAnchor, LineHash};
use hashline_text::Line;
use proptest::prelude::*;

fn line(number: usize, hash: u8, copied: Option<&str>) -> Anchor {
    let line = Line::from_number(number).unwrap_or_default();
    Anchor::Line(LineAnchor { line, hash: LineHash(hash), copied: copied.map(str::to_owned) })
}

#[test]
fn what_is_accepted() {
    for (text, anchor) in [
        ("2:98", line(2, 0x98, None)),
        ("2:a5", line(2, 0xa5, None)),
        ("2:A5", line(2, 0xa5, None)),
        ("  2 : a5 \n", line(2, 0xa5, None)),
        (">>> 2:a5", line(2, 0xa5, None)),
        (">>>2:a5", line(2, 0xa5, None)),
        ("002:a5", line(2, 0xa5, None)),
        ("12:ab|", line(12, 0xab, Some(""))),
        ("12:ab|text", line(12, 0xab, Some("text"))),
        (">>> 12:AB|  a | b..c 3:88", line(12, 0xab, Some("  a | b..c 3:88"))),
        ("0", Anchor::Start),
        ("0:", Anchor::Start),
        (" 0: ", Anchor::Start),
        ("0:00", Anchor::Start),
        ("0:25|", Anchor::Start),
        ("0:|", Anchor::Start),
    ] {
        assert_eq!(text.parse(), Ok(anchor), "{text:?}");
    }
}

#[test]
fn what_is_refused() {
    use AnchorError as E;
    let found = |text: &str| text.trim().to_owned();
    for (text, error) in [
        ("", E::Empty),
        ("  ", E::Empty),
        ("2", E::NoHash { found: found("2") }),
        ("2:", E::NoHash { found: found("2:") }),
        ("2|text", E::NoHash { found: found("2|text") }),
        ("2:|text", E::NoHash { found: found("2:|text") }),
        ("0x2:a5", E::NoHash { found: found("0x2:a5") }),
        ("2:zz", E::BadHash { found: found("2:zz") }),
        ("2:9", E::BadHash { found: found("2:9") }),
        ("2:988", E::BadHash { found: found("2:988") }),
        ("2:9g", E::BadHash { found: found("2:9g") }),
        ("2:98 x", E::Trailing { found: found("2:98 x") }),
        ("2:98-3:88", E::Trailing { found: found("2:98-3:88") }),
        ("a5", E::NoNumber { found: found("a5") }),
        (":a5", E::NoNumber { found: found(":a5") }),
        ("-2:a5", E::NoNumber { found: found("-2:a5") }),
        ("٢:a5", E::NoNumber { found: found("٢:a5") }),
        ("1:d3|a\n2:98|b", E::SeveralLines { found: found("1:d3|a\n2:98|b") }),
        ("1:d3..3:88", E::Range { found: found("1:d3..3:88") }),
        ("99999999999999999999999:a5", E::NumberTooLarge { found: found("99999999999999999999999:a5") }),
    ] {
        assert_eq!(text.parse::<Anchor>(), Err(error.clone()), "{text:?}");
        let words = error.to_string();
        assert!(words.contains("2:98") || words.contains("name one line"), "{words}");
    }
    let long = "x".repeat(10_000).parse::<Anchor>().unwrap_err().to_string();
    assert!(long.len() < 300, "{long}");
}

#[test]
fn ranges() {
    let span = |text: &str| text.parse::<AnchorSpan>();
    let expected = AnchorSpan { start: line(1, 0xd3, None), end: Some(line(3, 0x88, None)) };
    for text in ["1:d3..3:88", " 1:D3 .. 3:88 ", ">>> 1:d3..>>> 3:88"] {
        assert_eq!(span(text), Ok(expected.clone()), "{text:?}");
    }
    let copied = AnchorSpan { start: line(1, 0xd3, None), end: Some(line(3, 0x88, Some("}"))) };
    assert_eq!(span("1:d3..3:88|}"), Ok(copied));
    assert_eq!(span("1:d3..").unwrap_err(), AnchorError::NoNumber { found: "1:d3..".into() });
    assert_eq!(
        span("1:d3..3:88..4:88").unwrap_err(),
        AnchorError::Trailing { found: "1:d3..3:88..4:88".into() }
    );
}

proptest! {
    #[test]
    fn print_and_parse(number in 1..usize::MAX, hash: u8, end in prop::option::of((1..9999_usize, any::<u8>()))) {
        let start = line(number, hash, None);
        prop_assert_eq!(start.to_string().parse(), Ok(start.clone()));
        let span = AnchorSpan { start, end: end.map(|(number, hash)| line(number, hash, None)) };
        prop_assert_eq!(span.to_string().parse(), Ok(span));
    }

    #[test]
    fn as_copied(number in 1..9999_usize, hash: u8, text in "[ -~é]{0,20}") {
        let copied = format!("{number}:{}|{text}", LineHash(hash));
        let Ok(Anchor::Line(anchor)) = copied.parse::<Anchor>() else {
            return Err(TestCaseError::fail(copied));
        };
        prop_assert_eq!(anchor.copied.as_deref(), Some(text.trim_end()));
        prop_assert_eq!(anchor.line, Line(number - 1));
    }

    #[test]
    fn nothing_panics(text: String, short in "[0-9a-f:.|> ]{0,12}") {
        let _ = text.parse::<AnchorSpan>();
        let _ = short.parse::<AnchorSpan>();
    }
}
