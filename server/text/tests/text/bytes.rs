//! Bytes of files: decoding, storing, hashing.

use hashline_text::{
    DiskForm, Ending, FileHash, HashError, HashPrefix, Text, TextError, decode, decode_again,
};
use proptest::prelude::*;

use crate::model::{any_ending, any_text, lines_of};

#[test]
fn one_mark_is_taken_off() {
    let (text, form) = decode("\u{feff}a\r\n".as_bytes()).unwrap();
    assert_eq!(text, "a\r\n");
    assert_eq!(form, DiskForm { bom: true, ending: None });
    let (text, form) = decode("\u{feff}\u{feff}a".as_bytes()).unwrap();
    assert_eq!(text, "\u{feff}a", "a second one is content");
    assert_eq!(form.to_bytes(&text), "\u{feff}\u{feff}a".as_bytes());
    let (text, form) = decode(b"").unwrap();
    assert!(text.is_empty() && !form.bom);
}

#[test]
fn what_holds_a_known_text_is_that_text() {
    let known = Text::from("a\u{e4}\r\nb\n".repeat(1_000));
    let stored = known.to_string();
    let (text, form) = decode_again(stored.as_bytes(), &known).unwrap();
    assert!(text.is_same_instance(&known) && !form.bom);
    let (text, form) = decode_again(format!("\u{feff}{stored}").as_bytes(), &known).unwrap();
    assert!(text.is_same_instance(&known) && form.bom);
    let mut changed = stored.clone().into_bytes();
    changed[5_003] ^= 1;
    let (text, _) = decode_again(&changed, &known).unwrap();
    assert!(text.to_string().as_bytes() == changed, "as long, and another");
    let (text, _) = decode_again(&stored.as_bytes()[..4_998], &known).unwrap();
    assert_eq!(text, &stored[..4_998]);
    let within = stored.len() - 1;
    let mut broken = stored.into_bytes();
    broken[within] = 0xff;
    assert_eq!(decode_again(&broken, &known).unwrap_err(), TextError::NotUtf8 { offset: within });
}

#[test]
fn other_bytes_are_refused() {
    for (bytes, offset) in [
        (&b"ab\xff"[..], 2),
        (b"\xef\xbb\xbfa\x80", 4),
        (b"\xef\xbb", 0),
        (b"\xff\xfea\0", 0),
        (b"\xed\xa0\x80", 0),
    ] {
        assert_eq!(decode(bytes).unwrap_err(), TextError::NotUtf8 { offset }, "{bytes:?}");
    }
}

#[test]
fn the_form_of_a_file() {
    for (bytes, ending) in [
        ("", None),
        ("a", None),
        ("a\n\nb", Some(Ending::Lf)),
        ("a\r\nb\r\n", Some(Ending::CrLf)),
        ("a\r\r", Some(Ending::Cr)),
        ("a\r\nb\n", None),
        ("a\r\n\r", None),
    ] {
        assert_eq!(DiskForm::of_bytes(bytes.as_bytes()), DiskForm { bom: false, ending }, "{bytes:?}");
    }
    let behind = |served: &str, disk: &str| DiskForm::behind(&Text::from(served), disk.as_bytes());
    assert_eq!(behind("a\nb\n", "a\r\nb\r\n"), DiskForm { bom: false, ending: Some(Ending::CrLf) });
    assert_eq!(behind("a\r\nb\r\n", "\u{feff}a\r\nb\r\n"), DiskForm { bom: true, ending: None });
    assert_eq!(behind("\u{feff}a", "\u{feff}a"), DiskForm { bom: false, ending: None });
    assert_eq!(behind("a\nb\n", "a\r\nb\n"), DiskForm { bom: false, ending: None });
}

#[test]
fn what_editors_take_from_a_file_or_add_to_it_is_no_difference() {
    let served = |text: &str, stored: &[u8]| Text::from(text).is_served_from(stored);
    for (text, stored) in [
        ("", ""),
        ("", "\n"),
        ("\n", ""),
        ("\n", "\r\n"),
        ("", "\u{feff}"),
        ("a", "a\n"),
        ("a\n", "a"),
        ("a\nb\n", "\u{feff}a\r\nb"),
        ("\u{feff}a\n", "\u{feff}a\r\n"),
        ("a\r\rb", "a\n\nb"),
    ] {
        assert!(served(text, stored.as_bytes()), "{text:?} and {stored:?}");
    }
    for (text, stored) in [
        ("a", "b"),
        ("a", "ab"),
        ("ab", "a"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("a", "a\n\n"),
        ("\n\n", ""),
        ("", "\n\n"),
        ("", " "),
        ("\u{feff}a", "a"),
        ("a", "\u{feff}\u{feff}a"),
    ] {
        assert!(!served(text, stored.as_bytes()), "{text:?} and {stored:?}");
    }
    assert!(!served("a", b"a\xff"));
}

#[test]
fn hashes_in_words() {
    let abc = FileHash::of(b"abc");
    assert_eq!(abc.to_hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(abc.to_string(), abc.to_hex());
    assert_eq!(abc.short(), "ba7816bf8f01");
    assert_eq!(abc.to_hex().parse(), Ok(abc));
    assert_eq!("ba7816bf".parse::<FileHash>(), Err(HashError::Incomplete { len: 8 }));

    for text in ["ba7816bf", "BA7816BF8F", " \tba7816bf8f01cfe\n", &abc.to_hex()] {
        let prefix: HashPrefix = text.parse().unwrap();
        assert!(prefix.matches(&abc), "{text:?}");
        assert_eq!(prefix.to_string(), text.trim().to_lowercase());
    }
    assert!(!"ba7816bf0".parse::<HashPrefix>().unwrap().matches(&abc));
    assert!(HashPrefix::from(abc).matches(&abc));
    for (text, error) in [
        ("", HashError::Empty),
        ("  ", HashError::Empty),
        ("ba7816b", HashError::TooShort { len: 7 }),
        ("ba7816bg", HashError::NotHex { found: 'g' }),
        ("ba78 16bf", HashError::NotHex { found: ' ' }),
        (&"a".repeat(65), HashError::TooLong { len: 65 }),
        (&"a".repeat(600), HashError::TooLong { len: 600 }),
    ] {
        assert_eq!(text.parse::<HashPrefix>(), Err(error), "{text:?}");
        assert!(error.to_string().starts_with("the file hash "), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_served_from_a_file_has_its_lines(text in any_text(), stored in any_text(), converted: bool) {
        let stored = if converted { text.replace("\r\n", "\n") } else { stored };
        let contents = |text: &str| -> Vec<String> {
            let contents: Vec<String> = lines_of(text).into_iter().map(|(content, _)| content).collect();
            if contents == [""] { Vec::new() } else { contents }
        };
        let same = contents(&text) == contents(&stored);
        prop_assert_eq!(Text::from(text.as_str()).is_served_from(stored.as_bytes()), same);
    }

    #[test]
    fn decoding_and_storing_round_trip(text in any_text(), known in any_text(), bom: bool) {
        let bytes = [if bom { "\u{feff}" } else { "" }, &text].concat().into_bytes();
        let (rope, form) = decode(&bytes).unwrap();
        for known in [&known, &text].map(|known| Text::from(known.as_str())) {
            prop_assert_eq!(&decode_again(&bytes, &known).unwrap(), &(rope.clone(), form));
        }
        prop_assert_eq!(form, DiskForm { bom, ending: None });
        prop_assert_eq!(form.to_bytes(&rope), &bytes[..]);
        prop_assert_eq!(form.hash(&rope), FileHash::of(&bytes));
        prop_assert_eq!(rope.hash(), FileHash::of(text.as_bytes()));
        let form = DiskForm::of_bytes(&bytes);
        prop_assert_eq!(form.hash(&rope), FileHash::of(&bytes));
    }

    #[test]
    fn endings_are_converted_one_by_one(text in any_text(), bom: bool, to in any_ending()) {
        let mut expected = String::from(if bom { "\u{feff}" } else { "" });
        for (content, ending) in lines_of(&text) {
            expected.push_str(&content);
            expected.push_str(ending.map_or("", |_| to.as_str()));
        }
        let form = DiskForm { bom, ending: Some(to) };
        let rope = Text::from(text.as_str());
        prop_assert_eq!(form.to_bytes(&rope), expected.as_bytes());
        prop_assert_eq!(form.hash(&rope), FileHash::of(expected.as_bytes()));
    }

    #[test]
    fn parsing_a_prefix_never_panics(text in "\\PC{0,80}") {
        let _ = text.parse::<HashPrefix>();
    }
}
