//! What an agent's program has written with its own tools, in files that no editor has open.

use hashline_history::{EditId, FileChange};
use hashline_text::{DiskForm, Text};

use crate::agent::read::blocking;
use crate::closed_documents::Before;
use crate::document::{Document, Millis, Mode, NewFile, Proposal, Written};
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Workspace};

/// A file that an agent's program has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its path.
    pub path: String,
    /// What it held before; none if there was no such file.
    pub before: Option<Vec<u8>>,
    /// The conversation that the edit belongs to; none to open a new one.
    pub conversation: Option<String>,
    /// The tool by which it was written.
    pub tool: String,
}

impl Workspace {
    /// Records what an agent's program has written to a file that no editor has open, or that it has made or removed, as an edit that is
    /// made and not decided: it is kept or taken back like one by a tool of hashline. The file is read, and not written. None if there is
    /// nothing to be recorded: it holds what it held before, or no text.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: nothing is recorded then. Of a file that an editor has opened meanwhile that sees to what it finds.
    pub async fn record_written_file(
        &self,
        caller: &Caller,
        file: WrittenFile,
    ) -> Result<Option<EditId>, Refusal> {
        self.note_agent(caller);
        let proposal = self.new_proposal(caller, file.conversation.as_deref(), &file.tool, None).await?;
        let proposal = Proposal { mode: Mode::Apply, ..proposal };
        let found = self.find_to_write(caller, &file.path)?;
        let Some(place) = found.place.clone() else { return Ok(None) };
        let slot = self.load_unread(&found, &place);
        slot.wait_until_ready().await;
        let _turn = slot.queue.lock().await;
        let (workspace, written) = (self.clone(), slot.clone());
        let recorded = blocking(move || {
            let before = file.before.as_deref().map_or(Before::Missing, Before::Held);
            workspace.record_as_made(&written, &before, |document, text, now| {
                make(document, text, &proposal, now)?;
                Ok(proposal.id.clone())
            })
        });
        let recorded = recorded.await?;
        self.attend(&slot);
        Ok(recorded)
    }
}

/// Makes of a document what its file holds now, as far as that can be.
fn make(
    document: &mut Document,
    text: Option<(&Text, DiskForm)>,
    proposal: &Proposal,
    now: Millis,
) -> Result<(), Refusal> {
    let Some((text, form)) = text else {
        let removes = FileChange { exists: Some((true, false)), ..FileChange::default() };
        return Ok(document.propose_file(removes, None, proposal, now)?);
    };
    if !document.exists() {
        let creates = FileChange { exists: Some((false, true)), ..FileChange::default() };
        let content = NewFile::Text { text: text.clone(), form };
        return Ok(document.propose_file(creates, Some(content), proposal, now)?);
    }
    // Of what the file held: what agents see has held edits in it besides, of which the program knew nothing.
    let before = document.text().clone();
    document.note_file_has(&before);
    let Some(base) = document.base() else { return Ok(()) };
    let written = Written::of(base, form, before, &text.to_string())?;
    let Some(mut proposed) = document.propose_written(&written)? else { return Ok(()) };
    document.note_edit(proposed.new_edit(proposal));
    document.publish(&mut proposed, proposal);
    document.settle_on_disk(now);
    Ok(())
}
