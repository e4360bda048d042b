//! Who made and who removed each line of a document; what its text is under any set of decisions; what depends on what.
//!
//! A document that agents edit has a [`Weave`]: its lines in order, those of the person, those that agents proposed and
//! those that were removed, each with the hunk that made it (or nobody) and the hunks that removed it. A line is visible under
//! a set of hunks if its maker is in the set and none of its removers is. So a decision is a switch of that set, and what it
//! changes in the text is the difference of two views: exact, in any order, any number of times.
//!
//! ```
//! use hashline_text::{Ending, OwnedLine, Text};
//! use hashline_weave::{Change, Weave};
//!
//! let line = |content: &str| OwnedLine::new(content, Ending::Lf);
//! let mut weave = Weave::new(Text::from("one\ntwo\nthree\n"));
//! let first = weave.record(&[Change { lines: 0..1, new: vec![line("1")] }])?[0];
//! let second = weave.record(&[Change { lines: 2..3, new: vec![line("3")] }])?[0];
//! weave.switch(&[second], &[])?;
//! assert_eq!(weave.buffer().to_string(), "one\ntwo\n3\n");
//! weave.switch(&[first], &[second])?;
//! assert_eq!(weave.buffer().to_string(), "1\ntwo\nthree\n");
//! # Ok::<(), hashline_weave::WeaveError>(())
//! ```
//!
//! What the editor reports goes to [`Weave::typed`], [`Weave::turned`] or [`Weave::made`] where its plugin says what it was, and to
//! [`Weave::recognised`] where nobody does, which tells deliveries, undo and redo from typing. An agent's snapshot is carried to now by [`Weave::carry`]. A text that was changed while nobody watched goes to [`Weave::unobserved`], one that an editor has
//! kept to [`Weave::unobserved_lacking`], or where it is one that was recorded, to [`Weave::returned_to`]. What another program has made of
//! the file meanwhile goes to [`Weave::record_on_base`].
//!
//! # Rooms
//!
//! - `model`: the state and its exact operations, which judge nothing. What can be read of it is read through the weave, as of a [`Model`].
//! - `attribution`: what a change of the text was, by the journal of the latest changes. It uses the face of the model alone, and the model knows
//!   nothing of it. The [`Weave`] is here: a model and its past.
//! - `align` (which line is which) and `shared` (what clones have in common) serve both.
//!
//! # Rules
//!
//! - The buffer's text is always what the editor has; the weave follows it ([`Weave::typed`]) and never disagrees.
//! - The person's lines have no owner: no switch removes one, but for a [`Plan`] that says so.
//! - The hunks that are on always make a valid set: all that they rest on, and no two that change one place.
//! - Lines never change their order, their maker or their removers. The content of a line is its version: a line that returns
//!   to an earlier content is as it was then.
//! - Conflicts are computed from the lines, never stored: undoing the typing ends them.
//! - Typing is judged among the runs around it: a key costs the same however many hunks there are.
//! - The agent view follows what is typed where no held hunk is near. Else it is computed when it is asked for, from what it was where
//!   only hunks have come or gone since, or from the buffer. All ways lead to the same text.
//! - Taking something back is a change like any other. Where the text is again what it was before one of the latest changes (256
//!   are looked at), all that was done since is taken back with it, in one step or in many.
//! - A switch that nobody asked for is recognised only where the text shows all of it; one that was asked for, or is in the
//!   journal, where the text shows at least half of what it puts there and nothing speaks against it.
//! - Of a change that nobody watched only what is beyond doubt is believed: a hunk whose surroundings do not stand once before and once
//!   after is lost, and nothing switches it until its place is known again.
//!
//! # Limitations
//!
//! - Runs lie in a plain vector: fine up to some ten thousand of them. Lines that the person removed, and that neither a
//!   hunk nor the journal speaks of, are dropped from it now and then.
//! - Endings are not part of a line's version: converting a file's endings conflicts with nothing.
//! - A line that is split in two stays itself in its first half, even where the second is the longer one.
//! - An empty last line always has its ending: a text whose last line is empty and unended reads as one line less.
//! - Where a hunk's own line is typed in at the moment of its delivery or undo, so that one notification reports both, one in
//!   twenty is taken for typing; the hunk is then as it was, and the text is the person's.
//! - Where the person has kept both, rejecting the hunk brings their line back beside the copy of it.
//! - Lines that were written again elsewhere while nobody watched, and whose first place has changed, are taken for moved: nothing in the two
//!   texts tells the one from the other. Of what is decided across changes that nobody watched that
//!   is some 0.4 % in the tests, which make such copies on purpose.
//! - Whether a text lacks a hunk is judged by how much of either fits it: where half of all lines stand everywhere, one hunk in a thousand
//!   is taken to be there though it is not, or the other way round, in the tests that make such texts on purpose.
//! - Where a long text repeats a few lines only, an alignment may give up, and hunks are lost that were in no doubt.
//! - A line of another hunk's that comes back by an undo between lines that a held hunk takes away is no conflict.

#![forbid(unsafe_code)]

mod align;
mod attribution;
mod model;
mod shared;

pub use attribution::{Candidate, Cost, How, JournalId, Judgement, Regions, Switched, Turn, Weave};
#[doc(hidden)]
pub use model::LineState;
pub use model::{
    Base, Carried, Change, Conflict, Delta, Edited, HunkId, IdRange, LineChange, LineId, Model, NewHunk,
    Plan, PutIn, Removers, RunState, Snapshot, SnapshotDifference, TakeOut, TextEdit, Touched, View,
    WeaveError, apply_text_edits,
};
