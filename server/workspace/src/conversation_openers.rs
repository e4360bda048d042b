//! Who opened which conversation, as far as it was asked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use hashline_history::{Connection, ConversationId};

/// How many conversations are remembered. Of others the documents and histories are asked again.
const REMEMBERED: usize = 1_000;

/// Who opened which conversation, as far as it was asked.
#[derive(Default)]
pub(crate) struct Openers(Mutex<HashMap<ConversationId, Connection>>);

impl Openers {
    pub fn get(&self, conversation: &ConversationId) -> Option<Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(conversation).cloned()
    }

    /// Remembers who opened a conversation; of two who open one at once the first has.
    pub fn note(&self, conversation: &ConversationId, opener: Connection) -> Connection {
        let mut openers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if openers.len() >= REMEMBERED {
            openers.clear();
        }
        match openers.entry(conversation.clone()) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(free) => free.insert(opener).clone(),
        }
    }
}
