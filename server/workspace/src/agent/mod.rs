//! The agents' side: reading, editing, and hearing what became of edits. Every call names its [`Caller`](crate::Caller), and reaches
//! no more than that caller may.

mod announced_writes;
mod contents;
mod conversation;
mod document_claims;
mod documents;
mod edit;
mod edit_outcomes;
mod files;
mod pattern;
mod program_writes;
mod read;
mod search;
mod waiting;

pub use announced_writes::{AnnouncedWrite, HeldWrite, NotHeld, WriteDecision};
pub use contents::{Contents, OpenDocument};
pub use document_claims::Holding;
pub use documents::DocumentInfo;
pub(crate) use edit::new_edit_id;
pub use edit::{EditReply, EditRequest};
pub use edit_outcomes::{EditInfo, HunkInfo, Review, ReviewScope, Withdrawal};
pub use files::{FileAction, FileReply, FileRequest};
pub use pattern::{FileGlob, Pattern};
pub use program_writes::WrittenFile;
pub use read::{ReadReply, ReadRequest};
pub use search::{FileMatches, LineMatch, SearchLimits, SearchReply, SearchRequest};
