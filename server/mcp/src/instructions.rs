//! What agents are told of the server as a whole.

use std::collections::BTreeSet;

use crate::toolset::Toolset;

/// What agents are told that are offered these toolsets.
pub(crate) fn instructions(sets: &BTreeSet<Toolset>) -> &'static str {
    let is_text = sets.contains(&Toolset::Text) && !sets.contains(&Toolset::Hashline);
    if is_text { TEXT_INSTRUCTIONS } else { INSTRUCTIONS }
}

/// What agents are told. Some of them show their models the first 250 characters only, none more than 2,000.
pub const INSTRUCTIONS: &str = "\
Reads, searches and edits files as the person's editor has them, unsaved work included (else the disk). Use these tools, not \
other file tools, for text: read_text_file or search_text, then edit_text_file with that file_hash and LINE:HH anchors.

- A read shows each line as LINE:HH|content, e.g. `2:98|  return \"world\";`. The anchor is 2:98. Never write tags into content.
- search_text shows the lines that match in the same form, file by file: edit them by that without reading.
- One call can hold many operations; all go by the text before the call, and all are done or none. The reply has the new \
file_hash and the changed lines with fresh anchors, so edit on from there without reading again.
- write_file (a whole text) and edit_file_diff (exact text or a diff) need no anchors. Give the file_hash of your read: without \
it nothing notices newer text, and in open files the edit is always held.
- While the person types, an edit with an older file_hash still lands if the lines it names were not touched. A refusal \
changes nothing and shows the lines as they are now: send the edit again with those anchors.
- In files that are open in the editor an edit is held until the person accepts it. Your reads show it; the editor's text, the \
disk, builds and tests do not. Call await_review to learn the decision (and the reason of a rejection), list_edits to see how \
edits stand, withdraw_edit to take one back. Only the person accepts or rejects.
- In files that are not open an edit is written to disk at once. Where no editor is running nobody decides: go on without waiting.
- Pass the mcp_conversation_id of your first edit on with further edits of the same task: the person reviews them together.";

/// The same for those that read and edit with the toolset `text`.
const TEXT_INSTRUCTIONS: &str = "\
Reads and edits files as they are in the person's editor, unsaved work included (disk when not open there). Use these tools \
instead of other file tools: text_read, then text_replace with its hash. Paths begin at the root.

- Every change names the hash of your last read or change of that file and returns the next one: go on with that, without reading \
again. A hash of an older text is refused; the refusal shows the lines as they are now.
- lines is [start, end] with end exclusive: [5, 6] is line 5, [1, 0] the whole file, [-3, 0] the last three lines. old and anchor \
are whole lines, all of their content. One newline at the end of old, new or content adds no line.
- Line numbers shift with every change: count them from your last one, or read again.
- In files that are open in the editor a change is held until the person accepts it. Your reads show it; the editor's text, the \
disk, builds and tests do not. Only the person accepts or rejects. In other files it is on the disk at once.";

#[cfg(test)]
mod tests {
    use super::{INSTRUCTIONS, TEXT_INSTRUCTIONS};

    #[test]
    fn what_matters_stands_in_front_and_all_of_it_is_shown() {
        for (all, words) in [
            (
                INSTRUCTIONS,
                &["unsaved", "read_text_file", "search_text", "edit_text_file", "file_hash", "LINE:HH"][..],
            ),
            (TEXT_INSTRUCTIONS, &["unsaved", "text_read", "text_replace", "hash", "root"]),
        ] {
            assert!(all.chars().count() <= 2_000, "{}", all.chars().count());
            let (first, _) = all.split_once('\n').unwrap();
            assert!(first.chars().count() <= 250, "{}", first.chars().count());
            for word in words {
                assert!(first.contains(word), "{word}");
            }
        }
    }
}
