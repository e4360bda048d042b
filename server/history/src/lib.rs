//! The record of edits and decisions.
