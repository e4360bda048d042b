//! The edits of a document, what the person has decided about each hunk, and what is wanted and the text does not show yet.
//!
//! A decision that changes no text is made at once; one that does becomes a wish, and stands when the text shows it.
//!
//! The face: [`Edits`](edits::Edits) for what is decided, [`Wanted`](wishes::Wanted) for what is wanted; each is changed by what it offers alone. In
//! this room the person decides (`decide`, `revise`), wishes are made and end (`settle_wishes`), come to a change of the text (`delivery_plan`), are shown (`review`,
//! `preview`) and are carried over to a state that was made anew (`reload_from_record`).

mod decide;
pub(crate) mod decision_result;
mod delivery_plan;
pub(crate) mod edit_and_hunks;
pub(crate) mod edits;
pub(crate) mod group;
mod hunk_states;
pub(crate) mod preview;
mod reload_from_record;
pub(crate) mod request;
pub(crate) mod review;
mod revise;
mod settle_wishes;
mod undecided_reasons;
pub(crate) mod verdict;
pub(crate) mod wishes;
