//! Large files take time in proportion, not more.

use std::time::{Duration, Instant};

use hashline_text::{Encoding, FileHash, Line, Position, Span, Text, decode};

/// Decoding, hashing, reading a range, walking all lines, typing.
fn work(size: usize) -> Duration {
    let line = "    let value = compute(index, &mut state)?;\n";
    let bytes = line.repeat(size / line.len()).into_bytes();
    let count = size / line.len();

    let start = Instant::now();
    let (mut text, form) = decode(&bytes).expect("ASCII");
    assert_eq!(form.hash(&text), FileHash::of(&bytes));
    assert_eq!(text.line_count(), count);
    assert!(text.lines(count / 2..count / 2 + 100).all(|read| read.content_eq(line.trim_end())));
    assert_eq!(text.all_lines().map(|read| read.len_bytes() + 1).sum::<usize>(), bytes.len());
    let at = Position { line: u32::try_from(count / 2).expect("a few million"), character: 4 };
    for _ in 0..1000 {
        text.apply(Span { start: at, end: at }, Encoding::Utf16, "x").expect("inside");
    }
    text.replace_lines(Line(1)..Line(count - 1), &[], true).expect("inside");
    assert_eq!(text, line.repeat(2).as_str());
    start.elapsed()
}

#[test]
fn time_grows_with_size() {
    // Fifty times as much takes about fifty times as long: 2,500 would be a square. Wide margins to both sides, best of three, as other
    // tests and programs run beside this one.
    let best = |size| (0..3).map(|_| work(size)).min().unwrap_or_default();
    let small = best(400_000);
    let large = best(20_000_000);
    assert!(large < small * 400, "{small:?} for 400 kB, {large:?} for 20 MB");
}

/// One line of many bytes, as in minified files: no step may walk the line.
#[test]
fn typing_in_a_long_line() {
    let mut text = Text::from("é".repeat(2_000_000).as_str());
    let start = Instant::now();
    for _ in 0..2000 {
        let at = Position { line: 0, character: 1_000_000 };
        text.apply(Span { start: at, end: at }, Encoding::Utf16, "x").unwrap();
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn a_hundred_megabytes() {
    work(100_000_000);
}
