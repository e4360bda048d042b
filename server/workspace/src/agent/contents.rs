//! Documents and folders as a whole, as resources have them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashline_weave::View;
use tokio::sync::watch;

use crate::agent::read::{ReadReply, ReadRequest, blocking, name_of};
use crate::disk::{DiskError, Entry, PathStyle, stamp};
use crate::grants::Access;
use crate::record::uri_of;
use crate::refusal_messages::Refusal;
use crate::workspace::{Caller, Workspace};

/// All that a document holds.
#[derive(Clone, Debug)]
pub enum Contents {
    /// The agent view of a text.
    Text(Box<ReadReply>),
    /// A file that is no text.
    Bytes {
        /// What to call it: the path.
        name: String,
        /// What it holds.
        bytes: Arc<[u8]>,
    },
}

/// A document that an editor has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDocument {
    /// Its `file:` URI, or what its editor calls a document without a file.
    pub uri: String,
    /// The path, or the URI of a document without a file.
    pub name: String,
    /// The editor's name for its language.
    pub language: String,
    /// When it was opened or typed in last, in milliseconds since 1970.
    pub used: u64,
}

impl Workspace {
    /// All that a document of at most so many bytes holds. Say with [`shown`](Self::shown) if an agent gets the text.
    ///
    /// # Errors
    ///
    /// [`Refusal`], for the agent.
    pub async fn contents(&self, caller: &Caller, path: &str, limit: u64) -> Result<Contents, Refusal> {
        let found = self.find(caller, path)?;
        let too_large = |size| {
            let path = found.place.as_ref().map_or_else(|| path.into(), |place| place.absolute().to_owned());
            Err(DiskError::TooLarge { path, size, limit }.into())
        };
        let open = found.slot.as_ref().is_some_and(|slot| slot.lock().is_open());
        if let Some(Ok(stamp)) = found.place.as_ref().filter(|_| !open).map(stamp)
            && stamp.size() > limit
        {
            return too_large(stamp.size());
        }
        match self.read(caller, &ReadRequest { path: path.to_owned(), view: View::Agent }).await {
            Ok(read) => match u64::try_from(read.text().len_bytes()) {
                Ok(size) if size <= limit => Ok(Contents::Text(Box::new(read))),
                size => too_large(size.unwrap_or(u64::MAX)),
            },
            Err(not_text @ Refusal::NotText { .. }) => {
                let Some(place) = found.place.clone() else { return Err(not_text) };
                let (workspace, name) = (self.clone(), place.to_text());
                let slot = blocking(move || workspace.load_file(&found, &place)).await?;
                slot.wait_until_ready().await;
                let bytes = slot.lock().bytes().cloned();
                bytes.map(|bytes| Contents::Bytes { name, bytes }).ok_or(not_text)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// What lies in a folder, as far as the caller was given it.
    ///
    /// # Errors
    ///
    /// [`Refusal`], for the agent.
    pub async fn list(&self, caller: &Caller, path: &str, style: PathStyle) -> Result<Vec<Entry>, Refusal> {
        let (roots, caller, path) = (self.roots_of(caller), caller.clone(), path.to_owned());
        let list = move || {
            roots.list(&path, style, |entry| caller.may(Access::Read, entry)).map_err(|error| match error {
                DiskError::Refused(refusal) => refusal.into(),
                error => error.into(),
            })
        };
        blocking(list).await
    }

    /// Counts what may change any answer to an agent: texts, edits, decisions, which documents are open. What other programs do to files
    /// and to the record shows only when somebody looks.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// The documents that the editor has open and the caller may reach, the one that was used last first.
    #[must_use]
    pub fn open_documents(&self, caller: &Caller) -> Vec<OpenDocument> {
        let mut open: Vec<OpenDocument> = self
            .slots()
            .iter()
            .filter(|slot| slot.lock().is_open() && self.may_reach(caller, slot))
            .map(|slot| {
                let (uri, language) = {
                    let document = slot.lock();
                    (document.uri().to_owned(), document.language().to_owned())
                };
                let name = name_of(slot, uri.clone());
                let uri = slot.place().map_or(uri, |place| uri_of(&place));
                let used = slot.used.load(Ordering::Relaxed);
                OpenDocument { uri, name, language, used }
            })
            .collect();
        open.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        open
    }
}
