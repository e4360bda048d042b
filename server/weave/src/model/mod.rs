//! The state of a document with the edits in it, and its exact operations: runs of lines, hunks, views, deltas, plans and snapshots.
//!
//! Nothing here guesses. What is asked for is carried out exactly or refused; what a change of the editor's text *was* is decided elsewhere
//! (`attribution`), of which this room knows nothing.
//!
//! # Invariants
//!
//! - Lines never change their order, their maker or their removers, and an id is given once.
//! - The shown runs are the lines of the buffer, in order. A run that is not plain holds its content itself.
//! - The hunks that are on make a valid set (rule W4), and the buffer shows those. Who takes a text over sets hunks, lines and text apart
//!   ([`set_on`](Model::set_on), [`rebuild`](Model::rebuild), [`set_buffer`](Model::set_buffer)) and then says what is [shown](Model::show).
//! - The agent view is made when it is asked for, from what it was if only hunks have come or gone since; it is never out of date when read.
//!
//! # Face
//!
//! What is exported here, with its functions. What a [`Model`] and a [`Run`] hold is this room's own.

mod base;
mod buffer;
mod comparison;
mod conflict;
mod delta;
mod earlier_buffer;
mod error;
mod hunk;
mod ids;
mod line;
mod marks;
mod plan;
mod rebuild;
mod record;
mod record_on_base;
mod revise;
mod run;
mod runs;
mod snapshot;
mod spans;
mod state;
mod switch_hunks;
mod test_access;
mod text_edits;
mod view;
mod window;

pub use base::Base;
pub use delta::{Delta, NewHunk, RunState};
pub use error::WeaveError;
pub use hunk::{Change, Conflict, Edited, HunkId};
pub use line::{IdRange, LineId};
pub use plan::{Plan, PutIn, TakeOut};
pub use run::Removers;
pub use snapshot::{Carried, Snapshot, SnapshotDifference, Touched};
pub use state::{Model, View};
pub use test_access::LineState;
pub use text_edits::{TextEdit, apply_text_edits};
pub use view::LineChange;

pub(crate) use line::push_range;
pub(crate) use marks::{Moment, Piece};
pub(crate) use plan::Done;
pub(crate) use rebuild::{Fate, Fates};
pub(crate) use run::{Held, Run, bytes_of_lines};
pub(crate) use spans::{Cover, Spans};
pub(crate) use state::Newline;
pub(crate) use view::places;
