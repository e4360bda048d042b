//! Whose a conversation is: that of the connection that opened it. The person decides about a conversation as a whole, so no other agent
//! may put an edit into it, however it has come by the id. The history keeps to that for what is recorded in it; here it holds across
//! histories, and for documents that have none.

use hashline_history::{Connection, ConversationId};

use crate::agent::read::blocking;
use crate::document_slot::wall_clock;
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Workspace};

impl Workspace {
    /// The conversation that an edit of a caller goes into: the one that it names, or a new one.
    ///
    /// # Errors
    ///
    /// The name is none, or the conversation is somebody else's.
    pub(crate) async fn conversation(
        &self,
        caller: &Caller,
        named: Option<&str>,
    ) -> Result<ConversationId, Refusal> {
        let openers = &self.inner.openers;
        let Some(id) = named else { return Ok(self.open_conversation(&caller.connection)) };
        if !ConversationId::is_safe(id) {
            return Err(Refusal::BadConversation(id.to_owned()));
        }
        let id = ConversationId::from(id);
        let opener = match openers.get(&id) {
            Some(opener) => opener,
            None => {
                let (workspace, asked) = (self.clone(), id.clone());
                let opener = blocking(move || workspace.look_up_opener(&asked)).await?;
                openers.note(&id, opener.unwrap_or_else(|| caller.connection.clone()))
            }
        };
        if opener == caller.connection { Ok(id) } else { Err(Refusal::OthersConversation(id)) }
    }

    /// A new conversation of a connection.
    pub(crate) fn open_conversation(&self, connection: &Connection) -> ConversationId {
        let new = new_conversation();
        self.inner.openers.note(&new, connection.clone());
        new
    }

    /// Who opened a conversation, as documents and histories say.
    fn look_up_opener(&self, id: &ConversationId) -> Result<Option<Connection>, Refusal> {
        for slot in self.slots() {
            let document = slot.lock();
            let mut edits = document.edits().iter();
            let of_it = edits.find(|edit| edit.conversation == *id && edit.connection.is_known());
            if let Some(edit) = of_it {
                return Ok(Some(edit.connection.clone()));
            }
        }
        for store in self.histories_in_use() {
            if let Some(opener) = store.opener(id)? {
                return Ok(Some(opener));
            }
        }
        Ok(None)
    }
}

fn new_conversation() -> ConversationId {
    let random = uuid::Uuid::new_v4().simple().to_string();
    ConversationId::from(format!("conv_{}_{}", wall_clock(), &random[..8]))
}
