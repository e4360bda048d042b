//! Which lines operations mean, and what comes of them.

use hashline_anchor::{
    Hunk, LineEdit, Moved, Operation, Options, apply, endings_for, merge_touching, resolve,
};
use hashline_text::{Ending, Text, TextError, decode};
use proptest::prelude::*;

use crate::model::{edited, lines_of, op, parsed, resolved, tag, text_of};

const ABC: &str = "a\nb\nc\n";

fn at(number: usize) -> String {
    tag(&ABC.into(), number)
}

#[test]
fn each_operation() {
    for (name, number, content, expected) in [
        ("replace", 2, Some("B"), "a\nB\nc\n"),
        ("replace", 2, Some("B\nBB"), "a\nB\nBB\nc\n"),
        ("insert_after", 2, Some("x"), "a\nb\nx\nc\n"),
        ("insert_after", 3, Some("x"), "a\nb\nc\nx\n"),
        ("insert_before", 1, Some("x"), "x\na\nb\nc\n"),
        ("delete", 3, None, "a\nb\n"),
    ] {
        assert_eq!(
            edited(ABC, &[op(name, &at(number), content)]),
            Ok(expected.to_owned()),
            "{name} {number}"
        );
    }
    assert_eq!(edited(ABC, &[op("insert_after", "0:", Some("x"))]).unwrap(), "x\na\nb\nc\n");
    assert_eq!(edited(ABC, &[op("replace", &at(1), Some("x")).end(at(2))]).unwrap(), "x\nc\n");
    assert_eq!(edited(ABC, &[op("delete_range", &at(1), None).end(at(3))]).unwrap(), "");
    assert_eq!(edited(ABC, &[op("delete_range", &at(2), None).end(at(2))]).unwrap(), "a\nc\n");
    assert_eq!(edited(ABC, &[]).unwrap(), ABC);
}

#[test]
fn what_is_named() {
    let raw = [
        op("insert_after", &at(3), Some("x")),
        op("insert_after", "0:", Some("x")),
        op("delete", &at(1), None).end(at(2)),
    ];
    let found = resolved(ABC, &raw).unwrap();
    assert_eq!(found.named, [Some(2..3), None, Some(0..2)]);
    let edit = |op, lines, content: &[&str]| LineEdit {
        op,
        lines,
        content: content.iter().map(|&line| line.into()).collect(),
    };
    assert_eq!(found.edits, [edit(1, 0..0, &["x"]), edit(2, 0..2, &[]), edit(0, 3..3, &["x"])]);
    assert!(found.moved.is_empty());
}

#[test]
fn one_other_line_with_the_hash_is_where_it_moved() {
    // The agent miscounted by one.
    let text = "new\na\nb\nc\n";
    let found = resolved(text, &[op("replace", &at(2), Some("B"))]).unwrap();
    assert_eq!(found.moved, [Moved { op: 0, from: 1..2, to: 2..3 }]);
    assert_eq!(found.moved[0].to_string(), "operation 1: named line 2, found at line 3 by hash");
    assert_eq!(found.named, [Some(2..3)]);
    assert_eq!(edited(text, &[op("replace", &at(2), Some("B"))]).unwrap(), "new\na\nB\nc\n");

    // Beyond the end, too.
    let found = resolved("c\n", &[op("delete", &at(3), None)]).unwrap();
    assert_eq!(found.edits[0].lines, 0..1);

    // Both ends of a range by the same distance.
    let found = resolved(text, &[op("delete", &at(1), None).end(at(3))]).unwrap();
    assert_eq!(found.moved, [Moved { op: 0, from: 0..3, to: 1..4 }]);
    assert_eq!(found.moved[0].to_string(), "operation 1: named lines 1-3, found at lines 2-4 by hash");
}

#[test]
fn inserts_keep_their_sides_and_their_order() {
    let raw = [
        op("insert_before", &at(3), Some("before c, 1")),
        op("insert_after", &at(2), Some("after b, 1")),
        op("insert_before", &at(3), Some("before c, 2")),
        op("insert_after", &at(2), Some("after b, 2")),
    ];
    assert_eq!(edited(ABC, &raw).unwrap(), "a\nb\nafter b, 1\nafter b, 2\nbefore c, 1\nbefore c, 2\nc\n");
}

#[test]
fn inserts_beside_what_is_replaced() {
    let raw = [
        op("replace", &at(2), Some("B")),
        op("insert_after", &at(2), Some("after")),
        op("insert_before", &at(2), Some("before")),
        op("delete", &at(3), None),
        op("insert_after", &at(3), Some("end")),
    ];
    assert_eq!(edited(ABC, &raw).unwrap(), "a\nbefore\nB\nafter\nend\n");
    let hunks = merge_touching(resolved(ABC, &raw).unwrap().edits);
    let content = ["before", "B", "after", "end"].map(str::to_owned).to_vec();
    assert_eq!(hunks, [Hunk { lines: 1..3, content, ops: vec![2, 0, 1, 3, 4] }]);
}

#[test]
fn what_touches_is_one_hunk() {
    let text = "a\nb\nc\nd\ne\n";
    let at = |number| tag(&text.into(), number);
    let raw = [
        op("delete", &at(5), None),
        op("replace", &at(1), Some("A")),
        op("replace", &at(2), Some("B")),
        op("insert_after", &at(3), Some("x")),
    ];
    let hunks = merge_touching(resolved(text, &raw).unwrap().edits);
    let found: Vec<_> = hunks.into_iter().map(|hunk| (hunk.lines, hunk.ops)).collect();
    assert_eq!(found, [(0..2, vec![1, 2]), (3..3, vec![3]), (4..5, vec![0])]);
}

#[test]
fn a_blank_document_counts_as_empty() {
    let options = Options { blank_is_empty: true };
    let run = |text: &str, raw: &[hashline_anchor::RawOperation], options| {
        let text = Text::from(text);
        let edits = resolve(&text, &parsed(raw), options).unwrap().edits;
        apply(&text, &edits).unwrap().to_string()
    };
    let start = |content| op("insert_after", "0:", Some(content));
    assert_eq!(run("\n", &[start("a")], options), "a\n");
    assert_eq!(run("\r\n", &[start("a"), start("b")], options), "a\r\nb\r\n");
    assert_eq!(run("\n", &[start("a")], Options::default()), "a\n\n");
    assert_eq!(run("", &[start("a"), start("b")], options), "a\nb\n");
    assert_eq!(run("\n\n", &[start("a")], options), "a\n\n\n");
    assert_eq!(run(" \n", &[start("a")], options), "a\n \n");
    // Somebody names the line: then it is one.
    assert_eq!(run("\n", &[start("a"), op("insert_after", "1:25", Some("b"))], options), "a\n\nb\n");
    assert_eq!(run("\n", &[op("replace", "1:25", Some("b"))], options), "b\n");
}

#[test]
fn endings_are_those_of_the_neighbours() {
    use Ending::{Cr, CrLf, Lf};
    let text = Text::from("a\nb\r\nc\rd");
    for (lines, count, endings) in [
        (0..2, 2, vec![Lf, CrLf]),
        (0..2, 4, vec![Lf, CrLf, CrLf, CrLf]),
        (0..3, 1, vec![Lf]),
        (1..1, 2, vec![Lf, Lf]),
        (0..0, 1, vec![Lf]),
        (3..4, 2, vec![Cr, Cr]),
        (4..4, 1, vec![Cr]),
        (2..4, 0, vec![]),
    ] {
        assert_eq!(endings_for(&text, lines.clone(), count), endings, "{count} for {lines:?}");
    }
    assert_eq!(endings_for(&Text::new(), 0..0, 1), [Lf]);
    assert_eq!(endings_for(&"a\r\n".into(), 0..0, 1), [CrLf]);
}

#[test]
fn untouched_bytes_stay() {
    // Mixed endings, a mark, no final newline.
    let (text, form) = decode("\u{feff}a \r\nb\t\nc\rd".as_bytes()).unwrap();
    let raw = [op("replace", &tag(&text, 2), Some("B")), op("insert_after", &tag(&text, 4), Some("e"))];
    let edits = resolve(&text, &parsed(&raw), Options::default()).unwrap().edits;
    let after = apply(&text, &edits).unwrap();
    assert_eq!(form.to_bytes(&after), "\u{feff}a \r\nB\nc\rd\re".as_bytes());

    // The end of a file without a final newline.
    let text = "a\r\nb";
    let at = |number| tag(&text.into(), number);
    assert_eq!(edited(text, &[op("replace", &at(2), Some("B\nC\n"))]).unwrap(), "a\r\nB\r\nC");
    assert_eq!(edited(text, &[op("delete", &at(2), None)]).unwrap(), "a");
    assert_eq!(edited(text, &[op("delete", &at(1), None)]).unwrap(), "b");
    assert_eq!(edited("a", &[op("insert_after", &tag(&"a".into(), 1), Some("b"))]).unwrap(), "a\nb");
    // An empty last line leaves the others as they are.
    let raw = [op("replace", &at(2), Some("")), op("replace", &at(1), Some("A"))];
    assert_eq!(edited(text, &raw).unwrap(), "A\r\n");
    let text = "a\nb\nc\nd";
    let at = |number| tag(&text.into(), number);
    let raw = [op("replace", &at(4), Some("")), op("replace", &at(1), Some("A"))];
    assert_eq!(edited(text, &raw).unwrap(), "A\nb\nc\n");
}

#[test]
fn endings_that_would_join_are_refused() {
    let text = Text::from("a\rb\nc\n");
    let raw = [op("replace", &tag(&text, 2), Some(""))];
    let edits = resolve(&text, &parsed(&raw), Options::default()).unwrap().edits;
    assert_eq!(apply(&text, &edits), Err(TextError::EndingsWouldJoin));
}

/// Texts of distinct and repeated lines with all endings but lone CR before empty lines, which may join.
fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![3 => "[a-z]{1,4}", 1 => Just(String::new()), 1 => Just("}".to_owned())];
    let ending = prop_oneof![3 => Just("\n"), 2 => Just("\r\n")];
    (prop::collection::vec((line, ending), 0..12), any::<bool>()).prop_map(|(lines, newline)| {
        let text: String = lines.iter().map(|(line, ending)| [line, *ending].concat()).collect();
        if newline { text } else { text.trim_end_matches(['\r', '\n']).to_owned() }
    })
}

#[derive(Debug, Clone)]
struct Wish {
    kind: u8,
    from: prop::sample::Index,
    len: usize,
    content: Vec<String>,
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let content = prop::collection::vec("[A-Z]{0,3}", 1..4);
    (0..4_u8, any::<prop::sample::Index>(), 0..3_usize, content).prop_map(|(kind, from, len, content)| Wish {
        kind,
        from,
        len,
        content,
    })
}

/// Replaces the plain lines, from the last edit to the first, so that the numbers above stay true.
fn by_the_model(text: &str, edits: &[LineEdit]) -> String {
    let (mut lines, newline) = lines_of(text);
    let before = lines.clone();
    let neighbour = |at: usize| before.get(at.saturating_sub(1)).map_or(Ending::Lf, |(_, ending)| *ending);
    for hunk in merge_touching(edits.to_vec()).into_iter().rev() {
        let mut ending = neighbour(hunk.lines.start);
        let mut new = Vec::new();
        for (at, content) in hunk.content.iter().enumerate() {
            if let Some((_, own)) = before[hunk.lines.clone()].get(at) {
                ending = *own;
            }
            new.push((content.clone(), ending));
        }
        lines.splice(hunk.lines, new);
    }
    text_of(&lines, newline)
}

proptest! {
    #[test]
    fn resolving_and_applying_is_replacing_lines(text in any_text(), wishes in prop::collection::vec(any_wish(), 1..5)) {
        let rope = Text::from(text.as_str());
        let count = rope.line_count();
        let raw: Vec<_> = wishes.iter().map(|wish| {
            let content = wish.content.join("\n") + "\n";
            if count == 0 {
                return op("insert_after", "0:", Some(&content));
            }
            let from = wish.from.index(count);
            let to = (from + wish.len).min(count - 1);
            let (start, end) = (tag(&rope, from + 1), tag(&rope, to + 1));
            match wish.kind {
                0 => op("replace", &start, Some(&content)).end(end),
                1 => op("delete", &start, None).end(end),
                2 => op("insert_before", &start, Some(&content)),
                _ => op("insert_after", &start, Some(&content)),
            }
        }).collect();
        let operations = parsed(&raw);
        match resolve(&rope, &operations, Options::default()) {
            Ok(found) => {
                prop_assert_eq!(found.edits.len(), operations.len());
                prop_assert!(found.moved.is_empty());
                prop_assert!(found.edits.is_sorted_by(|one, other| one.lines.end <= other.lines.start));
                let after = apply(&rope, &found.edits).unwrap();
                prop_assert_eq!(after.to_string(), by_the_model(&text, &found.edits));
                prop_assert_eq!(rope.to_string(), text, "the snapshot is left alone");
                let content: usize = operations.iter().map(|operation| operation.content().len()).sum();
                let gone: usize = found.edits.iter().map(|edit| edit.lines.len()).sum();
                // But for an empty last line without an ending.
                prop_assert!(after.line_count().abs_diff(count - gone + content) <= 1);
            }
            Err(failures) => {
                // Anchors are true, so all that can be wrong is overlap; each pair is checked by hand.
                prop_assert!(!failures.is_empty());
                for failure in failures {
                    let hashline_anchor::Problem::Overlap { other, lines, other_lines, .. } = failure.problem else {
                        return Err(TestCaseError::fail(format!("{failure:?}")));
                    };
                    prop_assert!(other < failure.op);
                    prop_assert!(overlap(&lines, &other_lines), "{:?} {:?}", lines, other_lines);
                }
            }
        }
    }

    /// Overlaps are found in whatever order the operations come, and only real ones.
    #[test]
    fn overlaps_whatever_the_order(ranges in prop::collection::vec((0..8_usize, 0..3_usize, any::<bool>()), 1..5)) {
        let text: String = ('a'..='j').map(|char| format!("{char}\n")).collect();
        let rope = Text::from(text.as_str());
        let raw: Vec<_> = ranges.iter().map(|&(from, len, insert)| {
            let (start, end) = (tag(&rope, from + 1), tag(&rope, from + len + 1));
            if insert { op("insert_after", &start, Some("x")) } else { op("delete", &start, None).end(end) }
        }).collect();
        let lines: Vec<_> = ranges.iter().map(|&(from, len, insert)| {
            if insert { from + 1..from + 1 } else { from..from + len + 1 }
        }).collect();
        let any = (0..lines.len()).any(|at| (0..at).any(|other| overlap(&lines[at], &lines[other])));
        prop_assert_eq!(resolve(&rope, &parsed(&raw), Options::default()).is_err(), any);
    }

    #[test]
    fn form_is_checked_without_panics(op in "[a-z_]{0,8}|replace|delete_range", anchor: Option<String>, end: Option<String>, content: Option<String>) {
        let raw = hashline_anchor::RawOperation { op, anchor, end_anchor: end, content };
        if let Ok(operation) = Operation::parse(0, raw) {
            let _ = resolve(&"a\n\nb".into(), &[operation], Options::default());
        }
    }
}

fn overlap(one: &std::ops::Range<usize>, other: &std::ops::Range<usize>) -> bool {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => false,
        (true, false) => other.start < one.start && one.start < other.end,
        (false, true) => overlap(other, one),
        (false, false) => one.start < other.end && other.start < one.end,
    }
}
