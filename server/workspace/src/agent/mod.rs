//! The agents' side: reading, editing, and hearing what became of edits. Every call names its [`Caller`](crate::Caller), and reaches
//! no more than that caller may.

mod contents;
mod conversation;
mod documents;
mod edit;
mod files;
mod holding;
mod outcome;
mod pattern;
mod read;
mod search;

pub use contents::{Contents, OpenDocument};
pub use documents::DocumentInfo;
pub use edit::{EditReply, EditRequest};
pub use files::{FileAction, FileReply, FileRequest};
pub use holding::Holding;
pub use outcome::{EditInfo, HunkInfo, Review, ReviewScope, Withdrawal};
pub use pattern::{FileGlob, Pattern};
pub use read::{ReadReply, ReadRequest};
pub use search::{FileMatches, LineMatch, SearchLimits, SearchReply, SearchRequest};
