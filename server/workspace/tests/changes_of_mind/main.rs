//! What happens between a decision and the moment at which the editor carries it out: the person types on, decides otherwise, or the
//! editor is late. Each of these was found by the simulation, but for what an editor says of its changes (`told`).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it is")]

mod decisions;
mod desk;
mod own_text;
mod texts;
mod told;
