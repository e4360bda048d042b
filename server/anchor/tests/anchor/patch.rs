//! Unified diffs as agents write them: applied where their lines stand, refused with the reason where that is not certain.

use hashline_anchor::{
    Mismatch, Options, Part, Patch, PatchError, Rewrite, RewriteFailure, explain_patch, explain_rewrite,
};
use hashline_text::{Line, Text};
use proptest::prelude::*;
use similar::TextDiff;

use crate::model::tag;
use crate::whole::{any_text, assert_well_formed};

const FILE: &str = "/project/src/main.rs";

fn resolve(text: &str, diff: &str) -> Result<Rewrite, Vec<RewriteFailure>> {
    let text = Text::from(text);
    let patch = Patch::parse(diff, FILE).expect("the diff can be read");
    let rewrite = patch.resolve(&text, Options::default())?;
    assert_well_formed(&rewrite, &text);
    Ok(rewrite)
}

fn patched(text: &str, diff: &str) -> String {
    let rewrite = resolve(text, diff).expect("the lines stand there");
    rewrite.apply(&text.into()).expect("applies").to_string()
}

fn refused(text: &str, diff: &str) -> (Mismatch, String) {
    let failures = resolve(text, diff).expect_err("refused");
    let words = explain_rewrite(&failures, &text.into());
    assert!(words.starts_with("The edit was refused and nothing was changed.\n- hunk "), "{words}");
    (failures.into_iter().next().expect("at least one").problem, words)
}

fn unread(diff: &str) -> PatchError {
    let error = Patch::parse(diff, FILE).expect_err("refused");
    assert!(
        explain_patch(&error).starts_with("The edit was refused and nothing was changed.\n- the diff: it ")
            || matches!(
                error,
                PatchError::BadLine { .. } | PatchError::BehindEnd { .. } | PatchError::EmptyHunk { .. }
            )
    );
    error
}

#[test]
fn all_the_ways_to_write_one_change() {
    let text = "one\n\ntwo\nthree\n";
    for diff in [
        "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,4 +1,4 @@\n one\n \n-two\n+2\n three\n",
        "diff --git a/src/main.rs b/src/main.rs\nindex 1..2 100644\n--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,4 +1,4 @@ fn x\n one\n \n-two\n+2\n three",
        "--- a\n+++ b\n@@\n-two\n+2\n",
        "--- \n+++ \n@@ -1,3 +1,3 @@\n-two\n+2\n",
        "--- original\n+++ modified\n@@ ... @@ fn main\n-two\n+2\n",
        "--- main.rs\t2026-01-01 10:00:00\n+++ main.rs\t2026-01-01 10:00:01\n@@ -3 +3 @@\n-two\n+2\n",
        "--- /project/src/main.rs\n+++ /project/src/main.rs\n@@ -3 +3 @@\n-two\n+2\n",
        "--- src/main.rs.orig\n+++ src/main.rs\n@@ -3 +3 @@\n-two\n+2\n",
        "--- src/main.rs\n@@ -3 +3 @@\n-two\n+2\n",
        "\"not a header\"\n-two\n+2\n three\n",
        "-two\n+2\n",
        "@@ -70,19 +3,2 @@\n one\n\n-two\n+2\n",
        "@@ -1,4 +1,4 @@\r\n one\r\n\r\n-two\r\n+2\r\n three\r\n",
        "```diff\n@@ -3 +3 @@\n-two\n+2\n```\n",
        "*** Begin Patch\n*** Update File: src/main.rs\n@@ fn main\n-two\n+2\n*** End Patch",
        "Index: src/main.rs\n=======\n--- src/main.rs\t(revision 1)\n+++ src/main.rs\t(working copy)\n@@ -3 +3 @@\n-two\n+2\n",
        "@@ -3 +3 @@\n+2\n-two\n",
        "@@\n-two\n+2\n\n\n\n",
    ] {
        assert_eq!(patched(text, diff), "one\n\n2\nthree\n", "{diff}");
    }
}

#[test]
fn endings_are_the_files() {
    let diff = "@@\n one\n-two\n+2\n+3\n three\n";
    assert_eq!(patched("one\r\ntwo\r\nthree\r\n", diff), "one\r\n2\r\n3\r\nthree\r\n");
    assert_eq!(patched("one\rtwo\rthree\r", diff), "one\r2\r3\rthree\r");
    assert_eq!(patched("one\r\ntwo\nthree", diff), "one\r\n2\n3\nthree");
    assert_eq!(patched("one\ntwo\nthree", &diff.replace('\n', "\r\n")), "one\n2\n3\nthree");
    // A line of the diff that holds a lone `\r` is two lines of the file.
    assert_eq!(patched("a\rb\nc\n", "@@\n-a\rb\n+x\n c\n"), "x\rc\n");
}

#[test]
fn the_newline_at_the_end() {
    for (text, diff, after) in [
        ("a\nb\n", "@@\n a\n-b\n+c\n\\ No newline at end of file\n", "a\nc"),
        ("a\nb", "@@\n a\n-b\n\\ No newline at end of file\n+c\n", "a\nc\n"),
        ("a\nb", "@@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", "a\nc"),
        ("a\nb", "@@\n-a\n+c\n b\n\\ No newline at end of file\n", "c\nb"),
        ("a\nb", "@@\n a\n-b\n+c\n", "a\nc"),
        ("a\nb\n", "@@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb", "@@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        (
            "a\nb",
            "@@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n",
            "a\nb\nc",
        ),
        ("a\nb", "@@\n b\n+c\n", "a\nb\nc"),
        ("a\r\nb", "@@\n b\n+\n", "a\r\nb\r\n\r\n"),
        ("a\nb\n", "@@\n-a\n-b\n", ""),
        ("a\nb\n", "@@\n a\n-b\n+\n\\ No newline at end of file\n", "a\n"),
        (
            "",
            "--- /dev/null\n+++ b/src/main.rs\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
            "a\nb",
        ),
        ("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"),
    ] {
        assert_eq!(patched(text, diff), after, "{text:?} {diff}");
    }
    let (problem, words) = refused("a\nb\nc\n", "@@\n a\n-b\n+x\n\\ No newline at end of file\n");
    assert_eq!(problem, Mismatch::NotAtEnd { lines: 0..2 });
    assert!(words.contains("the file goes on") && words.contains("|c\n"), "{words}");
    assert_eq!(unread("@@\n-a\n\\ No newline\n-b\n+c\n"), PatchError::BehindEnd { line: 4 });
}

#[test]
fn what_looks_like_a_header_is_content() {
    let text = "-- a\n++ b\n@@ x\nend\n";
    assert_eq!(patched(text, "@@ -1,2 +1,2 @@\n--- a\n+++ c\n ++ b\n"), "++ c\n++ b\n@@ x\nend\n");
    assert_eq!(patched(text, "@@\n--- a\n+-- b\n ++ b\n-@@ x\n+@@ y\n end\n"), "-- b\n++ b\n@@ y\nend\n");
    // Followed by another hunk, the counts tell ...
    let two = |counts: &str| format!("@@ {counts} @@\n--- a\n+++ c\n@@ -4 +4 @@\n-end\n+END\n");
    assert_eq!(patched(text, &two("-1,1 +1,1")), "++ c\n++ b\n@@ x\nEND\n");
    // ... and without them the text.
    assert_eq!(patched(text, &two("")), "++ c\n++ b\n@@ x\nEND\n");
    let (problem, words) = refused("one\nend\n", &format!("@@\n-one\n+1\n{}", &two("")[7..]));
    assert!(matches!(problem, Mismatch::NotFound { header: Some(4), .. }), "{problem:?}");
    assert!(words.contains("one call changes one file"), "{words}");
    // The same file again before each hunk.
    let again = "--- a/src/main.rs\n+++ b/src/main.rs\n";
    assert_eq!(patched("one\nend\n", &format!("{again}@@\n-one\n+1\n{again}@@\n-end\n+END\n")), "1\nEND\n");
}

#[test]
fn lines_that_stand_more_than_once_go_by_the_number() {
    let text = "x\na\nx\na\nx\na\n";
    assert_eq!(patched(text, "@@ -3,2 +3,2 @@\n x\n-a\n+b\n"), "x\na\nx\nb\nx\na\n");
    let (problem, words) = refused(text, "@@ -2,2 +2,2 @@\n x\n-a\n+b\n");
    let places = vec![0..2, 2..4, 4..6];
    assert_eq!(problem, Mismatch::Ambiguous { places, more: false, named: Some(Line(1)) });
    assert!(
        words.contains("in 3 places (lines 1-2, lines 3-4, lines 5-6). Its header says line 2, and none"),
        "{words}"
    );
    assert!(words.contains(&format!("{}|a\n", tag(&text.into(), 6))), "{words}");
    assert!(refused(text, "@@\n x\n-a\n+b\n").1.contains("enough of the lines around"));
    // The exact line counts however far down it is.
    let long = "x\n".repeat(5000);
    assert_eq!(resolve(&long, "@@ -4000 +4000 @@\n-x\n+y\n").unwrap().hunks[0].lines, 3999..4000);
    assert_eq!(patched("x\na\nx\n", "@@\n a\n-x\n\\ No newline at end of file\n+y\n"), "x\na\ny\n");
}

/// Blank lines at the end of a hunk are context if the counts say so; else they neither help nor hurt.
#[test]
fn trailing_blank_lines() {
    let text = "a\nb\nx\na\nb\n\ny\n";
    assert_eq!(patched(text, "@@ -90,3 +90,3 @@\n a\n-b\n+c\n\n"), "a\nb\nx\na\nc\n\ny\n");
    assert!(matches!(refused(text, "@@\n a\n-b\n+c\n\n").0, Mismatch::Ambiguous { .. }));
    assert_eq!(patched("a\nb\n", "@@\n a\n-b\n+c\n\n\n@@\n-a\n+A\n\n"), "A\nc\n");
}

#[test]
fn several_hunks_go_by_one_text() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let diff = "@@ -7,3 +7,2 @@\n 7\n-8\n 9\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+zwei\n 3\n";
    let rewrite = resolve(text, diff).unwrap();
    assert_eq!(rewrite.apply(&text.into()).unwrap(), "1\ntwo\nzwei\n3\n4\n5\n6\n7\n9\n");
    assert_eq!(rewrite.hunks.iter().map(|hunk| hunk.parts.clone()).collect::<Vec<_>>(), [[1], [0]]);
    assert_eq!(rewrite.named, [6..9, 0..3]);
    // Context may be shared, changes may not.
    assert_eq!(patched("1\n2\n3\n", "@@\n-1\n+a\n 2\n@@\n 2\n-3\n+c\n"), "a\n2\nc\n");
    let failures = resolve("1\n2\n3\n", "@@\n-1\n-2\n+a\n@@\n-2\n-3\n+c\n").unwrap_err();
    assert!(matches!(
        failures[..],
        [RewriteFailure {
            part: Part::Hunk { index: 1, line: 5 },
            problem: Mismatch::Overlap { other: 0, .. }
        }]
    ));
    let words = explain_rewrite(&failures, &"1\n2\n3\n".into());
    assert!(
        words.contains("- hunk 2 (line 5 of the diff): it takes lines 2-3 and hunk 1 takes lines 1-2."),
        "{words}"
    );
    // Unchanged lines that are taken out and put in again are no change.
    assert_eq!(resolve("1\n2\n3\n", "@@\n-1\n-2\n-3\n+1\n+b\n+3\n").unwrap().hunks[0].lines, 1..2);
}

#[test]
fn a_hunk_that_keeps_all_its_lines_makes_none() {
    let text = "fn one() {\n}\nfn two() {\n}\n";
    for diff in [
        "@@\n fn two() {\n",
        "@@\n-fn two() {\n+fn two() {\n",
        // Which one is meant does not matter.
        "@@\n }\n",
        "@@ -9,1 +9,1 @@\n-}\n+}\n",
    ] {
        let rewrite = resolve(text, diff).expect("the lines stand there");
        assert_eq!((rewrite.hunks.len(), rewrite.idle.as_slice()), (0, &[0][..]), "{diff}");
    }
    let rewrite = resolve(text, "@@\n fn one() {\n@@\n-fn two() {\n+fn three() {\n").unwrap();
    assert_eq!((rewrite.hunks.len(), rewrite.idle.as_slice()), (1, &[0][..]));
    assert!(matches!(refused(text, "@@\n fn four() {\n").0, Mismatch::NotFound { .. }));
    // The newline at the end is something to change.
    let open = "a\nb";
    let (gains, keeps) =
        ("@@\n-b\n\\ No newline at end of file\n+b\n", "@@\n-b\n+b\n\\ No newline at end of file\n");
    assert_eq!(patched(open, gains), "a\nb\n");
    assert_eq!(resolve(open, keeps).expect("the lines stand there").idle, [0]);
    assert_eq!(patched("a\nb\n", keeps), "a\nb");
}

#[test]
fn what_cannot_be_applied() {
    let text = "fn one() {\n    work();\n}\n";
    let (problem, words) = refused(text, "@@ -1,2 +1,2 @@\n fn one() {\n-    wrok();\n+    rest();\n");
    assert!(
        matches!(&problem, Mismatch::NotFound { nearest, header: None } if nearest[0].lines == (0..2)),
        "{problem:?}"
    );
    assert!(words.contains(&format!("{}|    work();", tag(&text.into(), 2))), "{words}");
    let (_, words) = refused(text, "@@\n-\twork();\n+    rest();\n");
    assert!(words.contains("But line 2, below, differs from it in spaces alone."), "{words}");
    assert_eq!(refused(text, "@@ -1,0 +2,1 @@\n+x\n").0, Mismatch::NoContext);
    let tagged = format!("{}|    work();", tag(&text.into(), 2));
    assert_eq!(refused(text, &format!("@@\n-{tagged}\n+x\n")).0, Mismatch::OldHasTags { line: Line(1) });
    assert!(matches!(
        refused(text, &format!("@@\n }}\n+{tagged}\n")).0,
        Mismatch::RepeatsTag { content_line: 0, .. }
    ));
}

#[test]
fn what_cannot_be_read() {
    let other = |name: &str| PatchError::OtherFile { name: name.into(), file: FILE.into() };
    let several = |name: &str| PatchError::SeveralFiles { name: name.into(), file: FILE.into() };
    for (diff, error) in [
        ("", PatchError::Empty),
        (" \n\n", PatchError::Empty),
        ("--- a/src/main.rs\n+++ b/src/main.rs\n", PatchError::NoHunks),
        ("I have changed it.\n", PatchError::NoHunks),
        ("@@ -1,2 +1,2 @@\n", PatchError::EmptyHunk { line: 1 }),
        ("@@\n@@\n-a\n+b\n", PatchError::EmptyHunk { line: 1 }),
        ("@@\n-a\n+b\nlost its space\n", PatchError::BadLine { line: 4, found: "lost its space".into() }),
        (
            "\\ No newline at end of file\n",
            PatchError::BadLine { line: 1, found: "\\ No newline at end of file".into() },
        ),
        ("--- a/src/lib.rs\n+++ b/src/lib.rs\n@@\n-a\n+b\n", other("b/src/lib.rs")),
        ("--- a/other/main.rs\n+++ b/other/main.rs\n@@\n-a\n+b\n", other("b/other/main.rs")),
        ("*** Begin Patch\n*** Update File: lib.rs\n@@\n-a\n+b\n", other("lib.rs")),
        (
            "--- src/main.rs\n+++ src/main.rs\n@@ -1 +1 @@\n-a\n+b\n--- x.rs\n+++ x.rs\n@@\n-a\n+b\n",
            several("x.rs"),
        ),
        (
            "diff --git a/src/main.rs b/src/main.rs\n@@\n-a\n+b\ndiff --git a/x.rs b/x.rs\n@@\n-a\n+b\n",
            several("x.rs"),
        ),
        (
            "--- a/old.rs\n+++ b/src/main.rs\n@@\n-a\n+b\n",
            PatchError::Renames { what: "a/old.rs to b/src/main.rs".into() },
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            PatchError::Renames { what: "rename from x".into() },
        ),
        (
            "--- a/src/main.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            PatchError::Deletes { name: "a/src/main.rs".into() },
        ),
        ("Binary files a/src/main.rs and b/src/main.rs differ\n", PatchError::Binary),
        ("diff --git a/src/main.rs b/src/main.rs\nold mode 100644\nnew mode 100755\n", PatchError::Mode),
        ("@@@ -1,2 -1,2 +1,2 @@@\n- a\n", PatchError::Merge),
    ] {
        assert_eq!(unread(diff), error, "{diff}");
    }
    let many = "@@\n-a\n+b\n".repeat(1001);
    assert_eq!(unread(&many), PatchError::TooManyHunks { found: 1001, most: 1000 });
    let deep = "--- a/src/main.rs\n+++ b/src/main.rs\n@@\n".repeat(20_000);
    assert_eq!(unread(&deep), PatchError::EmptyHunk { line: 3 });
}

#[test]
fn hostile_sizes_take_no_time_to_speak_of() {
    let text = "a\n".repeat(100_000);
    let diff = format!("@@\n{}+c\n", " a\n".repeat(50_000));
    assert!(matches!(refused(&text, &diff).0, Mismatch::Ambiguous { more: true, .. }));
    let diff = "@@\n a\n a\n a\n-b\n+c\n".repeat(1000);
    assert!(matches!(refused(&text, &diff).0, Mismatch::NotFound { .. }));
    let diff = format!("@@\n-a\n+c\n{}", "\n".repeat(200_000));
    assert!(matches!(refused(&text, &diff).0, Mismatch::Ambiguous { .. }));
}

/// The header of a hunk with other numbers, or none.
fn corrupted(diff: &str, how: usize) -> String {
    let header = |line: &str| match how {
        0 => line.to_owned(),
        1 => "@@".to_owned(),
        2 => {
            // The line is right, the counts are not.
            let start: String = line["@@ -".len()..].chars().take_while(char::is_ascii_digit).collect();
            format!("@@ -{start},70 +{start},80 @@")
        }
        3 => "@@ -900,7 +900,9 @@ fn context".to_owned(),
        _ => "@@ ... @@".to_owned(),
    };
    diff.split_inclusive('\n')
        .map(|line| if line.starts_with("@@ -") { header(line.trim_end()) + "\n" } else { line.to_owned() })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// With true numbers a rendered diff always applies. With wrong counts or without a line number it applies to the same end, or it
    /// is refused.
    #[test]
    fn a_rendered_diff_leads_from_one_to_the_other(
        old in any_text(), new in any_text(), crlf: bool, radius in 1..4_usize, headers: bool, how in 0..5_usize, lose: bool,
    ) {
        let lf = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let (old, new) = (lf(&old), lf(&new));
        if old == new {
            return Ok(());
        }
        let diff = TextDiff::from_lines(old.as_str(), new.as_str());
        let mut unified = diff.unified_diff();
        unified.context_radius(radius);
        if headers {
            unified.header("a/src/main.rs", "b/src/main.rs");
        }
        let mut diff = corrupted(&unified.to_string(), how);
        if lose {
            diff = diff.replace("\n \n", "\n\n");
        }
        let ending = if crlf && old.contains('\n') { "\r\n" } else { "\n" };
        let text = Text::from(old.replace('\n', ending));
        let patch = Patch::parse(&diff, FILE).map_err(|error| TestCaseError::fail(format!("{error}: {diff}")))?;
        match patch.resolve(&text, Options::default()) {
            Ok(rewrite) => {
                assert_well_formed(&rewrite, &text);
                prop_assert_eq!(rewrite.apply(&text).unwrap().to_string(), new.replace('\n', ending), "{}", diff);
            }
            Err(failures) => {
                prop_assert!(how != 0 && (how != 2 || lose), "{}{}", diff, explain_rewrite(&failures, &text));
                for failure in failures {
                    // Blank lines that lost their space are context only if the numbers say so.
                    let bare = lose && failure.problem == Mismatch::NoContext;
                    prop_assert!(bare || matches!(failure.problem, Mismatch::Ambiguous { .. }), "{:?}", failure);
                }
            }
        }
    }

    /// Where lines are unique, numbers do not matter at all.
    #[test]
    fn numbers_do_not_matter_where_lines_are_unique(count in 2..30_usize, marks in prop::collection::vec(0..4_u8, 30), how in 1..5_usize) {
        let old: String = (0..count).map(|line| format!("line {line}\n")).collect();
        let new: String = (0..count).map(|line| match marks[line] {
            0 => String::new(),
            1 => format!("line {line}\nmore {line}\n"),
            2 => format!("other {line}\n"),
            _ => format!("line {line}\n"),
        }).collect();
        if old == new {
            return Ok(());
        }
        let diff = TextDiff::from_lines(old.as_str(), new.as_str()).unified_diff().context_radius(1).to_string();
        prop_assert_eq!(patched(&old, &corrupted(&diff, how)), new);
    }

    #[test]
    fn nothing_panics(text in any_text(), diff in "([-+ @\\\\]?(@@|---|\\+\\+\\+|a|b|\\*\\*\\*|diff --git|[ -~]{0,4}|\\PC{0,3})[ ]?[\r]?\n){0,12}", raw: String) {
        let text = Text::from(text);
        for diff in [diff, raw] {
            match Patch::parse(&diff, "a") {
                Ok(patch) => match patch.resolve(&text, Options { blank_is_empty: true }) {
                    Ok(rewrite) => {
                        assert_well_formed(&rewrite, &text);
                        let _ = rewrite.apply(&text);
                    }
                    Err(failures) => prop_assert!(!explain_rewrite(&failures, &text).is_empty()),
                },
                Err(error) => prop_assert!(!explain_patch(&error).is_empty()),
            }
        }
    }
}
