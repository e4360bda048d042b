//! The hashline binary: wiring only.
fn main() {}
