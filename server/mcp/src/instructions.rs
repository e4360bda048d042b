//! What agents are told of the server as a whole: of the tools that they are offered, and of no others.

use std::collections::BTreeSet;

use crate::toolset::{NameStyle, ToolName, Toolset};

/// For whom some words are: whoever is offered all of one of these.
type For = &'static [&'static [Toolset]];

/// How it begins: the first that fits. Some clients show their models the first 250 characters only, none more than 2,000.
const BEGINNINGS: [(For, &str); 7] = [
    (
        &[&[Toolset::Hashline, Toolset::Search]],
        "Reads, searches and edits files as the person's editor has them, unsaved work included (else the disk). Use these tools, not \
         other file tools, for text: read_text_file or search_text, then edit_text_file with that file_hash and LINE:HH anchors.",
    ),
    (
        &[&[Toolset::Hashline]],
        "Reads and edits files as the person's editor has them, unsaved work included (else the disk). Use these tools, not \
         other file tools, for text: read_text_file, then edit_text_file with that file_hash and LINE:HH anchors.",
    ),
    (
        &[&[Toolset::Text]],
        "Reads and edits files as they are in the person's editor, unsaved work included (disk when not open there). Use these tools \
         instead of other file tools: text_read, then text_replace with its hash. Paths begin at the root.",
    ),
    (
        &[&[Toolset::Files]],
        "Changes files as the person's editor has them, unsaved work included (else the disk). Use these tools, not other file tools: \
         write_file, edit_file_diff, move_file, delete_file.",
    ),
    (
        &[&[Toolset::Search]],
        "Searches files as the person's editor has them, unsaved work included (else the disk), and lists what is open there: \
         search_text, list_documents.",
    ),
    (
        &[&[Toolset::Review]],
        "Tells what became of the edits of files that wait for the person: list_edits, await_review, withdraw_edit.",
    ),
    (&[&[]], "No tools are offered here."),
];

/// What comes behind it, point by point.
const POINTS: [(For, &str); 14] = [
    (
        &[&[Toolset::Hashline]],
        "A read shows each line as LINE:HH|content, e.g. `2:98|  return \"world\";`. The anchor is 2:98. Never write tags into content.",
    ),
    (
        &[&[Toolset::Hashline, Toolset::Search]],
        "search_text shows the lines that match in the same form, file by file: edit them by that without reading.",
    ),
    (
        &[&[Toolset::Hashline]],
        "One call can hold many operations; all go by the text before the call, and all are done or none. The reply has the new \
         file_hash and the changed lines with fresh anchors, so edit on from there without reading again.",
    ),
    (
        &[&[Toolset::Files]],
        "write_file (a whole text) and edit_file_diff (exact text or a diff) need no anchors. Give the file_hash of your read: without \
         it nothing notices newer text, and in open files the edit is always held.",
    ),
    (
        &[&[Toolset::Hashline]],
        "While the person types, an edit with an older file_hash still lands if the lines it names were not touched. A refusal \
         changes nothing and shows the lines as they are now: send the edit again with those anchors.",
    ),
    (
        &[&[Toolset::Text]],
        "Every change names the hash of your last read or change of that file and returns the next one: go on with that, without reading \
         again. A hash of an older text is refused; the refusal shows the lines as they are now.",
    ),
    (
        &[&[Toolset::Text]],
        "lines is [start, end] with end exclusive: [5, 6] is line 5, [1, 0] the whole file, [-3, 0] the last three lines. old and anchor \
         are whole lines, all of their content. One newline at the end of old, new or content adds no line.",
    ),
    (
        &[&[Toolset::Text]],
        "Line numbers shift with every change: count them from your last one, or read again.",
    ),
    (
        &[&[Toolset::Hashline], &[Toolset::Files], &[Toolset::Text]],
        "In files that are open in the editor an edit is held until the person accepts it. Your reads show it; the editor's text, the \
         disk, builds and tests do not. Only the person accepts or rejects.",
    ),
    (
        &[&[Toolset::Review]],
        "Call await_review to learn the decision, its reason and comments, list_edits to see how edits stand, withdraw_edit to \
         take one back.",
    ),
    (
        &[&[Toolset::Hashline], &[Toolset::Files], &[Toolset::Text]],
        "In files that are not open an edit is written to disk at once, but held in those that programs act on by themselves (.vscode, .envrc, \
         agents' settings).",
    ),
    (&[&[Toolset::Review]], "Where no editor is running nobody decides: go on without waiting."),
    (
        &[&[Toolset::Hashline], &[Toolset::Files], &[Toolset::Text]],
        "Pass the mcp_conversation_id of your first edit on with further edits of the same task: the person reviews them together.",
    ),
    (
        &[&[Toolset::Hashline], &[Toolset::Files]],
        "Give an edit a reason, in a few words: the person reads it beside the edit.",
    ),
];

/// What agents are told that are offered these toolsets, under names of this style.
#[must_use]
pub fn instructions(sets: &BTreeSet<Toolset>, names: NameStyle) -> String {
    let mut sets = sets.clone();
    // Both do the same: it is enough to tell of one.
    if sets.contains(&Toolset::Hashline) {
        sets.remove(&Toolset::Text);
    }
    let is_for = |whom: For| whom.iter().any(|all| all.iter().all(|set| sets.contains(set)));
    let beginning = BEGINNINGS.iter().find(|(whom, _)| is_for(whom));
    let mut told = beginning.map_or_else(String::new, |(_, words)| format!("{words}\n"));
    for (_, point) in POINTS.iter().filter(|(whom, _)| is_for(whom)) {
        told.extend(["\n- ", point]);
    }
    ToolName::ALL.iter().fold(told, |told, tool| told.replace(tool.as_str(), tool.spelt(names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stands_in_front() {
        for (sets, words) in [
            (
                &Toolset::DEFAULT[..],
                &["unsaved", "read_text_file", "search_text", "edit_text_file", "file_hash", "LINE:HH"][..],
            ),
            (&[Toolset::Text], &["unsaved", "text_read", "text_replace", "hash", "root"]),
        ] {
            let all = instructions(&sets.iter().copied().collect(), NameStyle::Plain);
            let (first, _) = all.split_once('\n').unwrap();
            for word in words {
                assert!(first.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn all_of_it_is_shown_and_names_only_what_is_offered() {
        for chosen in 0..1 << Toolset::ALL.len() {
            let sets: BTreeSet<Toolset> =
                (0..).zip(Toolset::ALL).filter(|(at, _)| chosen & 1 << at != 0).map(|(_, set)| set).collect();
            for style in [NameStyle::Plain, NameStyle::Dotted] {
                let all = instructions(&sets, style);
                assert!(all.chars().count() <= 2_000, "{sets:?}: {}", all.chars().count());
                let (first, _) = all.split_once('\n').unwrap();
                assert!(first.chars().count() <= 250, "{sets:?}: {}", first.chars().count());
                let words: Vec<&str> =
                    all.split(|char: char| !char.is_alphanumeric() && !"_.".contains(char)).collect();
                for tool in ToolName::ALL {
                    let listed = sets.contains(&tool.toolset());
                    let other = [NameStyle::Plain, NameStyle::Dotted].map(|style| tool.spelt(style));
                    let wrong = other.iter().find(|name| {
                        words.iter().any(|word| word.trim_matches('.') == **name)
                            && (!listed || **name != tool.spelt(style))
                    });
                    assert_eq!(wrong, None, "{sets:?} {style:?}: {all}");
                }
            }
        }
    }
}
