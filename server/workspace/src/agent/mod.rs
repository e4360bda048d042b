//! The agents' side: reading, editing, and hearing what became of edits. Every call names its [`Caller`](crate::Caller), and reaches
//! no more than that caller may.

mod contents;
mod documents;
mod edit;
mod files;
mod holding;
mod outcome;
mod read;

pub use contents::{Contents, OpenDocument};
pub use documents::DocumentInfo;
pub use edit::{EditReply, EditRequest};
pub use files::{FileAction, FileReply, FileRequest};
pub use holding::Holding;
pub use outcome::{EditInfo, HunkInfo, Review, ReviewScope};
pub use read::{ReadReply, ReadRequest};
