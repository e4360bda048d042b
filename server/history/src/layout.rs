//! What the files of a history are called, relative to `.mcp/edit_history`.

use hashline_text::FileHash;

use crate::id::{ConversationId, EditId};
use crate::name::DocumentName;
use crate::record::Sequence;

/// The exact record.
pub(crate) const RECORD: &str = "decisions.log";
/// The lock that every writer holds. Never removed: a lock on a file without a name would exclude nobody.
pub(crate) const LOCK: &str = "lock";
/// Up to which sequence logs and diffs have been written.
pub(crate) const DERIVED: &str = "derived";
pub(crate) const LOGS: &str = "logs";
pub(crate) const DIFFS: &str = "diffs";
pub(crate) const CHECKPOINTS: &str = "checkpoints";
/// What a person gave up, as it was.
const DISCARDED: &str = "discarded";

/// Where checkpoints go that no conversation made. No conversation can be called so.
const NO_CONVERSATION: &str = "@history";

/// How much of a path a checkpoint's name shows.
const READABLE: usize = 60;

pub(crate) fn log(conversation: &ConversationId) -> String {
    format!("{LOGS}/{conversation}.log")
}

pub(crate) fn diff(conversation: &ConversationId, edit: &EditId) -> String {
    format!("{DIFFS}/{conversation}/{edit}.diff")
}

/// A name that no other checkpoint has: paths that read alike differ in their hash, states of one path in their sequence.
pub(crate) fn checkpoint(
    conversation: Option<&ConversationId>,
    document: &DocumentName,
    sequence: Sequence,
) -> String {
    let folder = conversation.map_or(NO_CONVERSATION, ConversationId::as_str);
    let hash = FileHash::of(document.as_os_str().as_encoded_bytes());
    format!("{CHECKPOINTS}/{folder}/{}-{}-{sequence}.chkpt", readable(document), hash.short())
}

/// The end of a document's name, as far as it may stand in a file's name.
fn readable(document: &DocumentName) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '_' };
    let name: Vec<char> = document.as_os_str().to_string_lossy().chars().map(safe).collect();
    let end: String = name[name.len().saturating_sub(READABLE)..].iter().collect();
    end.trim_start_matches('.').to_owned()
}

/// The name of a copy of what is given up: the same bytes of the same document have one.
pub(crate) fn discarded(document: &DocumentName, bytes: &[u8]) -> String {
    let hash = FileHash::of(bytes);
    format!("{DISCARDED}/{}-{}", readable(document), hash.short())
}

/// Whether a record may name this as a checkpoint.
pub(crate) fn is_checkpoint(way: &str) -> bool {
    let mut parts = way.split('/');
    let (top, folder, name, end) = (parts.next(), parts.next(), parts.next(), parts.next());
    let safe_name = |name: &str| {
        let stem = name.strip_suffix(".chkpt").unwrap_or_default();
        !stem.is_empty()
            && !stem.starts_with('.')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    top == Some(CHECKPOINTS)
        && folder.is_some_and(|folder| folder == NO_CONVERSATION || ConversationId::is_safe(folder))
        && name.is_some_and(safe_name)
        && end.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_read_alike_have_checkpoints_of_their_own() {
        let name = |path: &str, sequence| {
            checkpoint(Some(&"c".into()), &DocumentName::Path(path.into()), Sequence(sequence))
        };
        assert_ne!(name("a/b.txt", 1), name("a_b.txt", 1));
        assert_ne!(name("a/b.txt", 1), name("a/b.txt", 2));
        assert!(name("a/b.txt", 1).starts_with("checkpoints/c/a_b.txt-"));
        for path in ["..", "é/ü", &"x/".repeat(3000), "a\nb", ".hidden"] {
            assert!(is_checkpoint(&name(path, 1)), "{}", name(path, 1));
            assert!(name(path, 1).len() < 200);
        }
        assert!(is_checkpoint(&checkpoint(None, &DocumentName::Path("a".into()), Sequence(1))));
        for forged in [
            "",
            "a",
            "checkpoints/../../x.chkpt",
            "checkpoints/c/../x.chkpt",
            "/checkpoints/c/x.chkpt",
            "checkpoints/c/x",
            "checkpoints/c/.chkpt",
            "logs/c/x.chkpt",
            "checkpoints/c/x.chkpt/y",
            "checkpoints/.c/x.chkpt",
        ] {
            assert!(!is_checkpoint(forged), "{forged}");
        }
    }
}
