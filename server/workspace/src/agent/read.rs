//! Reading a document.

use std::ops::Range;
use std::sync::Arc;

use hashline_text::{DiskForm, FileHash, Line, Text, decode};
use hashline_weave::View;

use crate::disk::{DiskError, Place};
use crate::document::{Refused, Served};
use crate::document_slot::Slot;
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Found, Workspace};

/// Texts up to this size are hashed where the call runs; larger ones on a thread that may block.
const HASHED_AT_ONCE: usize = 256 * 1024;

/// What an agent wants to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// The path, or the URI of an open document.
    pub path: String,
    /// Which view.
    pub view: View,
}

/// A document as it is read.
#[derive(Clone, Debug)]
pub struct ReadReply {
    /// What to call it in the reply: the path, or the URI of a document without a file.
    pub name: String,
    /// Whether an editor has it open.
    pub open: bool,
    /// The file of the open document was changed by something else since it was opened or saved, and the editor has not taken that over.
    pub disk_differs: bool,
    /// The hash of the view.
    pub hash: FileHash,
    /// Hunks of the view that are not in the editor's text.
    pub held: usize,
    /// The names of conflicted hunks, which are left out.
    pub conflicted: Vec<String>,
    served: Served,
    slot: Arc<Slot>,
}

impl ReadReply {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &Text {
        self.served.text()
    }

    /// Lines as they would be stored, with their endings, 0-based; without the byte-order mark, which belongs to no line.
    #[must_use]
    pub fn stored(&self, lines: Range<usize>) -> String {
        let text = self.text();
        let bytes = text.byte_of_line(Line(lines.start))..text.byte_of_line(Line(lines.end));
        let slice = text.slice(bytes).unwrap_or_default();
        match self.served.form() {
            DiskForm { ending: None, .. } => slice.into_owned(),
            form => {
                let stored = DiskForm { bom: false, ..form }.to_bytes(&Text::from(slice.as_ref()));
                String::from_utf8_lossy(&stored).into_owned()
            }
        }
    }
}

impl Workspace {
    /// Reads a document. Say with [`shown`](Self::shown) which lines the agent really got.
    ///
    /// # Errors
    ///
    /// [`Refusal`], for the agent.
    pub async fn read(&self, caller: &Caller, request: &ReadRequest) -> Result<ReadReply, Refusal> {
        self.note_agent(caller);
        let slot = self.reach(caller, &request.path).await?;
        let (mut served, name, open) = {
            let mut document = slot.lock();
            let uri = document.uri().to_owned();
            let served = document
                .serve(request.view)
                .map_err(|reason| Refusal::Edit(Refused::OutOfStep { uri: uri.clone(), reason }))?;
            (served, name_of(&slot, uri), document.is_open())
        };
        let known = served.hash.is_some();
        let hash = hash_of(&mut served).await;
        if !known {
            slot.lock().hashed(&served, hash);
        }
        let (held, conflicted) = (served.held, served.conflicted.clone());
        let disk_differs = open && slot.disk_differs();
        Ok(ReadReply { name, open, disk_differs, hash, held, conflicted, served, slot })
    }

    /// Remembers which lines of a reply the agent was shown, 0-based.
    pub fn shown(&self, reply: &ReadReply, lines: Range<usize>) {
        reply.slot.lock().served(&reply.served, reply.hash, lines, self.now());
    }

    /// The document that a caller's path means, with its text as it is now.
    pub(crate) async fn reach(&self, caller: &Caller, path: &str) -> Result<Arc<Slot>, Refusal> {
        self.reach_found(self.find(caller, path)?).await
    }

    /// The document that was found, if its file is there and is text.
    pub(crate) async fn reach_found(&self, found: Found) -> Result<Arc<Slot>, Refusal> {
        let slot = self.reach_any(found).await?;
        let Some(place) = slot.place() else { return Ok(slot) };
        let (exists, bytes) = {
            let document = slot.lock();
            // What an editor has open is text, whatever its file holds.
            (document.exists_for_agents(), document.bytes().filter(|_| !document.is_open()).cloned())
        };
        check_file(&place, exists, bytes.as_deref())?;
        Ok(slot)
    }

    /// The document that was found, for whoever changes it with [`change_on_disk`](Self::change_on_disk), which looks at the file of one
    /// that no editor has open: such a one, if it is known, is not looked at before.
    pub(crate) async fn reach_to_change(&self, found: Found) -> Result<Arc<Slot>, Refusal> {
        match found.slot.as_ref().filter(|slot| !slot.lock().is_open()) {
            Some(slot) => {
                slot.wait_until_ready().await;
                Ok(slot.clone())
            }
            None => self.reach_found(found).await,
        }
    }

    /// The document that was found, even if its file was removed.
    pub(crate) async fn reach_any(&self, found: Found) -> Result<Arc<Slot>, Refusal> {
        // Finding a path and a glance at its file are some system calls: less than handing them to another thread.
        if let Some(slot) = self.at_a_glance(&found) {
            slot.wait_until_ready().await;
            return Ok(slot);
        }
        let workspace = self.clone();
        let slot = blocking(move || workspace.load(&found)).await?;
        slot.wait_until_ready().await;
        Ok(slot)
    }
}

/// Sees to it that a file is there and holds text, by what is known of it: `bytes` are what it holds where that is no text. The record may
/// tell of a file that is not there.
pub(crate) fn check_file(place: &Place, exists: bool, bytes: Option<&[u8]>) -> Result<(), Refusal> {
    if !exists {
        return Err(DiskError::NotFound { path: place.absolute().to_owned() }.into());
    }
    let decoded = bytes.map(decode).transpose();
    decoded.map(drop).map_err(|error| Refusal::NotText { path: place.to_text(), error })
}

/// Runs what may wait for the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        // The process is ending: whoever asked hears it from the connection.
        Err(error) if error.is_cancelled() => std::future::pending().await,
        Err(error) => Err(Refusal::Broken(error.to_string())),
    }
}

/// The hash of what is served, computed where it does not hold up others.
pub(crate) async fn hash_of(served: &mut Served) -> FileHash {
    if let Some(hash) = served.hash {
        return hash;
    }
    if served.text().len_bytes() > HASHED_AT_ONCE {
        let mut copy = served.clone();
        if let Ok(hash) = tokio::task::spawn_blocking(move || copy.hash()).await {
            served.hash = Some(hash);
        }
    }
    served.hash()
}

/// What to call a document.
pub(crate) fn name_of(slot: &Slot, uri: String) -> String {
    match slot.place() {
        Some(place) => place.to_text(),
        None => uri,
    }
}
