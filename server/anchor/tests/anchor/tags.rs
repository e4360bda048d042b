//! Hashes of lines and the tags in front of them.

use std::hash::Hasher;
use std::time::Instant;

use fnv::FnvHasher;
use hashline_anchor::{
    line_hash, write_regions, write_tagged, write_tagged_cut, write_tagged_line, write_tagged_page,
};
use hashline_text::Text;
use proptest::prelude::*;

#[test]
fn vectors() {
    for (content, hash) in [
        ("", "25"),
        ("}", "88"),
        ("b", "a5"),
        ("secret", "51"),
        ("function hello() {", "d3"),
        ("fn main() {", "48"),
        ("  return \"world\";", "98"),
        ("\t\treturn 1;", "c3"),
        ("naïve", "ab"),
    ] {
        assert_eq!(line_hash(content).to_string(), hash, "{content:?}");
        for blank in [" ", "\t  ", "\u{a0}", "\u{2003}", "\u{2028}", "\u{b}\u{c}", "\u{85}"] {
            assert_eq!(line_hash(&[content, blank].concat()).to_string(), hash, "{content:?} and {blank:?}");
        }
    }
    assert_ne!(line_hash("  b"), line_hash("b"), "indentation counts");
    assert_ne!(line_hash("b\u{200b}"), line_hash("b"), "a zero-width space is no whitespace");
}

fn by_the_crate(content: &str) -> u8 {
    let mut hasher = FnvHasher::default();
    hasher.write(content.trim_end().as_bytes());
    hasher.finish().to_le_bytes()[0]
}

proptest! {
    #[test]
    fn the_hash_is_the_lowest_byte_of_fnv1a(content in "\\PC{0,200}") {
        prop_assert_eq!(line_hash(&content).0, by_the_crate(&content));
    }

    #[test]
    fn any_characters(content: String, blanks in "[ \t\u{a0}\u{b}\u{85}\u{3000}]{0,3}") {
        prop_assert_eq!(line_hash(&content).0, by_the_crate(&content));
        prop_assert_eq!(line_hash(&[&content[..], &blanks].concat()).0, by_the_crate(&content));
    }

    #[test]
    fn tags_are_as_formatted(contents in prop::collection::vec("[ -~é\u{b}]{0,12}", 0..30), from in 0..30_usize, len in 0..30_usize) {
        let text = Text::from(contents.iter().fold(String::new(), |text, line| text + line + "\n"));
        let mut expected = String::from("before\n");
        for (at, line) in contents.iter().enumerate().skip(from).take(len) {
            expected += &format!("{}:{}|{line}\n", at + 1, line_hash(line));
        }
        let mut out = String::from("before\n");
        write_tagged(&mut out, &text, from..from + len);
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn lines_of_any_length_beside_each_other() {
    let lines: Vec<String> =
        (0..300).map(|at: usize| "é \tx".repeat(at * at % 97) + &" ".repeat(at % 3)).collect();
    let text = Text::from(lines.join("\n"));
    let mut out = String::new();
    write_tagged(&mut out, &text, 0..usize::MAX);
    for (at, (tagged, line)) in out.lines().zip(&lines).enumerate() {
        assert_eq!(tagged, format!("{}:{:02x}|{line}", at + 1, by_the_crate(line)));
    }
}

#[test]
fn a_page_ends_before_the_line_that_does_not_fit() {
    let text = Text::from("é\n".repeat(100) + "long line\n");
    let page = |lines, chars| {
        let mut out = String::from("before\n");
        let page = write_tagged_page(&mut out, &text, lines, 4, chars);
        assert_eq!(out.lines().count(), 1 + page.lines.len());
        (page.lines, page.cut)
    };
    assert_eq!(page(0..50, usize::MAX), (0..50, 0));
    // Each of the first nine is seven characters.
    assert_eq!(page(0..50, 63), (0..9, 0));
    assert_eq!(page(0..50, 62), (0..8, 0));
    assert_eq!(page(40..50, 0), (40..41, 0));
    assert_eq!(page(99..200, usize::MAX), (99..101, 1));
    assert_eq!(page(200..300, 5), (101..101, 0));
}

#[test]
fn numbers_grow_digits() {
    let text = Text::from("\n".repeat(100_100));
    let mut out = String::new();
    write_tagged(&mut out, &text, 0..usize::MAX);
    assert_eq!(out.lines().count(), 100_100);
    for (at, line) in out.lines().enumerate() {
        assert_eq!(line, format!("{}:25|", at + 1));
    }
    let mut out = String::new();
    write_tagged_line(&mut out, 99, "b");
    write_tagged_line(&mut out, usize::MAX, "b");
    assert_eq!(out, "100:a5|b\n18446744073709551615:a5|b\n");
}

#[test]
fn a_last_line_without_newline_and_control_characters() {
    let mut out = String::new();
    write_tagged(&mut out, &"a\u{b}\u{0}\u{1b}[1m\r\nb".into(), 0..9);
    assert_eq!(out, format!("1:{}|a\u{b}\u{0}\u{1b}[1m\n2:a5|b\n", line_hash("a\u{b}\u{0}\u{1b}[1m")));
}

#[test]
fn long_lines_are_cut_with_a_notice() {
    let line = "é".repeat(5000);
    let text = Text::from(format!("short\n{line}\n"));
    let mut out = String::new();
    write_tagged_cut(&mut out, &text, 0..2, 10);
    let hash = line_hash(&line);
    let short = line_hash("short");
    assert_eq!(
        out,
        format!(
            "1:{short}|short\n2:{hash}|éééééééééé… [cut: 4990 more characters; line is 5000 characters]\n"
        )
    );
    for (content, shown) in [("éé", "éé"), ("ééé", "éé… [cut: 1 more characters; line is 3 characters]")]
    {
        let mut out = String::new();
        write_tagged_cut(&mut out, &content.into(), 0..1, 2);
        assert_eq!(out, format!("1:{}|{shown}\n", line_hash(content)));
    }
}

#[test]
fn regions_are_joined_and_parted() {
    let text: String = ('a'..='z').map(|char| format!("{char}\n")).collect();
    let text = Text::from(text);
    let shown = |places: &[std::ops::Range<usize>]| {
        let mut out = String::new();
        write_regions(&mut out, &text, places, 1, 80);
        out.lines().map(|line| line.rsplit('|').next().unwrap_or_default().to_owned()).collect::<String>()
    };
    assert_eq!(shown(&[10..11, 0..1]), "ab…jkl");
    assert_eq!(shown(&[3..4, 5..5]), "cdef");
    assert_eq!(shown(&[3..4, 4..5, 3..4]), "cdef");
    assert_eq!(shown(&[99..100, 99..99]), "z");
    assert_eq!(shown(&[]), "");
}

/// The speed of a whole read. Prints; the claim is made by the benchmarks.
#[test]
fn tagging_a_large_file() {
    let line = "    let value = compute(index, &mut state)?;\n";
    let text = Text::from(line.repeat(100_000));
    let best = (0..5).map(|_| {
        let start = Instant::now();
        let mut out = String::new();
        write_tagged(&mut out, &text, 0..100_000);
        assert!(out.len() > text.len_bytes());
        start.elapsed()
    });
    println!("100,000 lines tagged in {:?}", best.min().unwrap_or_default());
}
