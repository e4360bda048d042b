//! What the modules of a crate import of each other, and the circles that they do so in.
//!
//! Modules that import each other in a circle are one module: none of them can be understood, tested or changed without the others. A test of this
//! crate holds every crate of the workspace to having none ([`circles`]); those that still have some are listed there, and the list only
//! becomes shorter.
//!
//! # What counts
//!
//! - A module is a file. A module inside a file is part of it, and a folder is no module of its own: its `mod.rs` is.
//! - An arrow runs from a file that names something to the file that defines it: by `use`, or by a path in its code or in a macro's
//!   arguments (`crate::…`, `super::…`, `self::…`, or through a module that is in scope).
//! - A name is followed to where it is defined. So what a parent re-exports of a child is the child's, and whoever imports it from the
//!   parent has no arrow to the parent: that it declares `mod child` and hands on what is in there is no arrow either. But a parent
//!   that *uses* what a child defines, and defines what that child uses, is in a circle with it.
//! - What stands under `#[cfg(test)]` does not count: tests may use anything.
//!
//! # Limitations
//!
//! - Names are followed, types are not: a method that is called on a value, wherever it is defined, is no arrow.
//! - A name that a macro defines, a `#[path]` of a module and a glob import of another crate are not followed.

mod circle;
mod items;
mod modules;
mod names;

pub use circle::{Arrow, Circle, circles};
pub use modules::{Modules, Unread};
