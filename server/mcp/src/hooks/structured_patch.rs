//! The difference of two texts, as agents' programs show it.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{Algorithm, ChangeTag, TextDiff};

/// Lines around a change that are shown with it.
const CONTEXT: usize = 3;
/// How long the shortest difference is looked for; then one that is longer will do.
const PATIENCE: Duration = Duration::from_millis(100);

/// The hunks: where they begin, counted from 1 (without lines, the line before), how many lines they have, and the lines with their signs.
pub(super) fn structured_patch(before: &str, after: &str) -> Vec<Value> {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(before, after);
    let groups = diff.grouped_ops(CONTEXT);
    let hunks = groups.iter().filter_map(|ops| {
        let (first, last) = (ops.first()?, ops.last()?);
        let (old, new) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let lines: Vec<String> = ops
            .iter()
            .flat_map(|op| diff.iter_changes(op))
            .map(|change| {
                let sign = match change.tag() {
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                    ChangeTag::Equal => ' ',
                };
                format!("{sign}{}", change.value().trim_end_matches(['\r', '\n']))
            })
            .collect();
        Some(json!({
            "oldStart": old.start + usize::from(!old.is_empty()), "oldLines": old.len(),
            "newStart": new.start + usize::from(!new.is_empty()), "newLines": new.len(),
            "lines": lines,
        }))
    });
    hunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_says_where_it_is_and_shows_lines_around() {
        let before: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let after = before.replace("\n10\n", "\nten\nTEN\n").replace("20\n", "20");
        let hunks = structured_patch(&before, &after);
        let expected = json!([
            {"oldStart": 7, "oldLines": 7, "newStart": 7, "newLines": 8,
             "lines": [" 7", " 8", " 9", "-10", "+ten", "+TEN", " 11", " 12", " 13"]},
            {"oldStart": 17, "oldLines": 4, "newStart": 18, "newLines": 4,
             "lines": [" 17", " 18", " 19", "-20", "+20"]},
        ]);
        assert_eq!(Value::from(hunks), expected);
        assert_eq!(structured_patch("a\n", "a\n"), Vec::<Value>::new());
        let made = structured_patch("", "a\n");
        assert_eq!((&made[0]["oldStart"], &made[0]["newStart"]), (&json!(0), &json!(1)));
    }
}
