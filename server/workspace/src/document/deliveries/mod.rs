//! Deliveries in flight, and what the editor's next changes are because of them.
//!
//! One delivery is under way at a time, and only the text tells what became of it. An editor that says what its changes were is believed as
//! far as the text goes with it; of one that says nothing it is guessed, here and nowhere else.
//!
//! The face: [`Flow`](retry_schedule::Flow), what is under way; [`Told`](announced_causes::Told), what the editor has said; [`Guesses`](guess_state::Guesses), what is known of one
//! that says nothing. In this room deliveries are made and answered (`deliver`), and changes are judged (`announced_change`, `recognise_change`).

pub(crate) mod announced_causes;
mod announced_change;
pub(crate) mod deliver;
pub(crate) mod guess_state;
mod recognise_change;
pub(crate) mod retry_schedule;
