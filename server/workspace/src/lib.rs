//! Roots, live and disk documents, the life of an edit, decisions.

pub mod disk;
