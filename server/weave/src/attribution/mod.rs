//! What a change of the text was: typing, undo, and what is recognised.

pub(crate) mod again;
pub(crate) mod difference;
pub(crate) mod journal;
pub(crate) mod judgement;
pub(crate) mod lacking;
pub(crate) mod near;
pub(crate) mod print;
pub(crate) mod recognise;
pub(crate) mod region;
pub(crate) mod stretch;
pub(crate) mod surroundings;
pub(crate) mod trial;
pub(crate) mod typing;
pub(crate) mod undo;
pub(crate) mod unobserved;
