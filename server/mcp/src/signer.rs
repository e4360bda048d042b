//! Who signs what a user's processes record.

use hashline_history::Signer;
use hashline_link::{Secret, StateDir};

/// The secret's name in the state folder.
const SECRET: &str = "history";

/// The user whose state folder this is. Their key is made when it is first needed.
#[must_use]
pub fn signer_of(state: &StateDir) -> Signer {
    let state = state.clone();
    Signer::new(move || match Secret::load(&state, SECRET) {
        Ok(secret) => Ok(secret.as_bytes().to_vec()),
        Err(error) => Err(error.to_string()),
    })
}
