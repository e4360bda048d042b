//! Line hashes, tagged lines, anchors, and operations turned into hunks.
//!
//! Agents read text as *tagged lines*, `LINE:HH|content`, and name lines in their edits by the tag, the *anchor*.
//! This crate writes tags, reads what agents send back, and finds the lines that are meant in one snapshot of the
//! text. What it hands on is plain: which lines are replaced by which.
//!
//! ```
//! use hashline_anchor::{Operation, Options, RawOperation, apply, resolve, write_tagged};
//! use hashline_text::Text;
//!
//! let text = Text::from("function hello() {\n  return \"world\";\n}\n");
//! let mut tagged = String::new();
//! write_tagged(&mut tagged, &text, 0..3);
//! assert_eq!(tagged, "1:d3|function hello() {\n2:98|  return \"world\";\n3:88|}\n");
//!
//! let raw = RawOperation::new("replace", "2:98").content("  return \"hello\";");
//! let operation = Operation::parse(0, raw).unwrap();
//! let resolved = resolve(&text, &[operation], Options::default()).unwrap();
//! let after = apply(&text, &resolved.edits).unwrap();
//! assert_eq!(after, "function hello() {\n  return \"hello\";\n}\n");
//! ```
//!
//! Files are also edited without anchors: written whole ([`rewrite_whole`]), by exact pieces ([`replace`]) and by unified diffs
//! ([`Patch`]). All of these come to a [`Rewrite`]: lines replaced by lines whose endings are said, too. And lines are named by number
//! and whole content ([`NumberedEdit`]).
//!
//! # Invariants
//!
//! - All operations of a call are resolved against one snapshot; either all of them are, or none.
//! - Nothing is repaired in silence: a line found elsewhere than its anchor says is reported as moved, and
//!   what is doubtful is refused with the reason, the next step and fresh tagged lines ([`explain`](explain())).
//! - Lines that no operation names keep their bytes.
//!
//! # Limitations
//!
//! - The hash of a line is one byte: a check of what was copied, not an identity. Whether the snapshot is the text
//!   the agent read is for the caller to know, by the file hash.
//! - Lines that differ only in trailing whitespace have the same hash.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod anchor;
mod apply;
mod content;
mod difference;
mod failure;
mod failure_messages;
mod indexed_text;
mod line_edit;
mod line_hash;
mod nearest_lines;
mod numbered_lines;
mod operation;
mod patch;
mod replacement;
mod resolve;
mod rewrite;
mod tagged;
mod whole_file;

pub use anchor::{Anchor, AnchorError, AnchorSpan, LineAnchor};
pub use apply::{apply, endings_for, owned_lines};
pub use content::content_lines;
pub use failure::{AnchorFailure, Mismatch, Part, Problem, RewriteFailure};
pub use failure_messages::{
    CONTEXT, MAX_SHOWN_CHARS, explain, explain_form, explain_numbered, explain_patch, explain_rewrite,
};
pub use line_edit::{Hunk, LineEdit, merge_touching};
pub use line_hash::{LineHash, line_hash};
pub use nearest_lines::Near;
pub use numbered_lines::{LineRange, NumberProblem, NumberedEdit, NumberedFailure};
pub use operation::{OpName, Operation, OperationError, OperationProblem, RawOperation};
pub use patch::{Patch, PatchError};
pub use replacement::{Replacement, replace};
pub use resolve::{Moved, Options, Resolved, resolve};
pub use rewrite::{ExactHunk, Rewrite};
pub use tagged::{
    Page, write_numbered_regions, write_regions, write_tagged, write_tagged_around, write_tagged_cut,
    write_tagged_line, write_tagged_page,
};
pub use whole_file::rewrite_whole;
