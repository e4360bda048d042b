//! The editor's side: what it says of its documents, what is sent to it, and what the person decides.
//!
//! Every function here returns without waiting for an agent, for the disk or for the editor.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashline_history::HunkRef;
use hashline_text::{DocVersion, Encoding, Text};
use hashline_weave::UndoMark;

use crate::disk::path_of_file_uri;
use crate::document::{
    ContentChange, Decided, Delivery, Document, Millis, OutOfStep, Preview, Request, Review, Target,
};
use crate::workspace::{Slot, Workspace, key_of};

/// A review of one document.
#[derive(Clone, Debug)]
pub struct DocumentReview {
    /// The document's URI.
    pub uri: String,
    /// The version of its text that places belong to; none if it is not open.
    pub version: Option<DocVersion>,
    /// Its edits.
    pub review: Review,
}

impl Workspace {
    /// The editor has opened a document.
    pub fn did_open(&self, uri: &str, language: &str, version: DocVersion, encoding: Encoding, text: &str) {
        let text = Text::from(text);
        let path = path_of_file_uri(uri).ok();
        let place = path.as_deref().and_then(|path| self.identify(path));
        let identity = |path: &PathBuf| key_of(&crate::disk::identity(path));
        let key = match &place {
            Some(place) => key_of(place.absolute()),
            None => path.as_ref().map_or_else(|| uri.to_owned(), identity),
        };
        let known = self.inner.slots.get(&key).map(|slot| slot.clone());
        let slot = match known {
            Some(slot) => {
                slot.lock().reopen(uri, language, version, encoding, &text, self.now());
                slot
            }
            None => {
                let document = Document::open(uri, language, version, encoding, text);
                let slot = Arc::new(Slot::new(document, place));
                self.inner.slots.insert(key, slot.clone());
                slot
            }
        };
        self.inner.open.insert(uri.to_owned(), slot.clone());
        self.note_use(&slot);
        self.attend(&slot);
    }

    /// The editor has changed a document.
    ///
    /// # Errors
    ///
    /// [`OutOfStep`]: the change cannot be one of the text that is known. Agents are kept out until it is mended.
    pub fn did_change(
        &self,
        uri: &str,
        version: DocVersion,
        changes: &[ContentChange],
        mark: Option<UndoMark>,
    ) -> Result<(), OutOfStep> {
        let Some(slot) = self.open_slot(uri) else { return Ok(()) };
        let result = slot.lock().change(version, changes, mark, self.now());
        self.note_use(&slot);
        self.attend(&slot);
        result
    }

    /// The editor has written a document to the disk.
    pub fn did_save(&self, uri: &str) {
        if let Some(slot) = self.open_slot(uri) {
            slot.forget_read();
        }
    }

    /// The editor has closed a document. Its undecided edits wait for it to be opened again.
    pub fn did_close(&self, uri: &str) {
        let Some((_, slot)) = self.inner.open.remove(uri) else { return };
        slot.lock().close();
        slot.forget_read();
        // What became of edits can still be asked for.
        if slot.lock().edits().is_empty() {
            self.inner.slots.retain(|_, kept| !Arc::ptr_eq(kept, &slot));
        }
        self.attend(&slot);
    }

    fn note_use(&self, slot: &Slot) {
        slot.used.store(self.wall_clock(), Ordering::Relaxed);
    }

    pub(crate) fn open_slot(&self, uri: &str) -> Option<Arc<Slot>> {
        self.inner.open.get(uri).map(|slot| slot.clone())
    }

    /// The text that the editor has, as far as is known.
    #[must_use]
    pub fn text_of(&self, uri: &str) -> Option<(DocVersion, Text)> {
        let slot = self.open_slot(uri)?;
        let document = slot.lock();
        Some((document.version()?, document.text().clone()))
    }

    /// The text that agents see, and the version that it was made from.
    #[must_use]
    pub fn proposed_text(&self, uri: &str) -> Option<(Option<DocVersion>, Text)> {
        let slot = self.slot_of(uri)?;
        let mut document = slot.lock();
        let version = document.version();
        let text = document.weave().agent().clone();
        Some((version, text))
    }

    /// The review of a document.
    #[must_use]
    pub fn review(&self, uri: &str) -> Option<DocumentReview> {
        let slot = self.slot_of(uri)?;
        let mut document = slot.lock();
        let review = document.review();
        Some(DocumentReview { uri: document.uri().to_owned(), version: document.version(), review })
    }

    /// The review of a document, as far as it has to do with these lines of its text.
    #[must_use]
    pub fn review_near(&self, uri: &str, lines: &Range<usize>) -> Option<DocumentReview> {
        let slot = self.slot_of(uri)?;
        let mut document = slot.lock();
        let review = document.review_near(lines);
        Some(DocumentReview { uri: document.uri().to_owned(), version: document.version(), review })
    }

    /// The reviews of all documents that have undecided edits.
    #[must_use]
    pub fn reviews(&self) -> Vec<DocumentReview> {
        let uris: Vec<String> = self
            .slots()
            .iter()
            .filter_map(|slot| {
                let document = slot.lock();
                document.has_pending().then(|| document.uri().to_owned())
            })
            .collect();
        let mut reviews: Vec<_> = uris.iter().filter_map(|uri| self.review(uri)).collect();
        reviews.sort_by(|a, b| a.uri.cmp(&b.uri));
        reviews
    }

    /// A document by its URI, open or not.
    pub(crate) fn slot_of(&self, uri: &str) -> Option<Arc<Slot>> {
        self.open_slot(uri).or_else(|| self.slots().into_iter().find(|slot| slot.lock().uri() == uri))
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.inner.slots.iter().map(|entry| entry.value().clone()).collect()
    }

    /// What to send to the editor for a document now, and when to ask again.
    #[must_use]
    pub fn poll(&self, uri: &str) -> (Option<Delivery>, Option<Millis>) {
        let Some(slot) = self.open_slot(uri) else { return (None, None) };
        let result = {
            let mut document = slot.lock();
            let delivery = document.poll(self.now());
            (delivery, document.next_poll())
        };
        self.attend_but_deliver(&slot);
        result
    }

    /// The editor has answered a delivery.
    pub fn answered(&self, uri: &str, number: u64, applied: bool) {
        if let Some(slot) = self.open_slot(uri) {
            slot.lock().answered(number, applied, self.now());
            self.attend(&slot);
        }
    }

    /// Accepts a hunk of an open document as the person has rewritten it.
    #[must_use]
    pub fn accept_revised(
        &self,
        uri: &str,
        hunk: &HunkRef,
        own: &[String],
        reason: Option<String>,
    ) -> Decided {
        let Some(slot) = self.open_slot(uri) else {
            let refused = vec![Document::no_such(&Target::Hunk(hunk.clone()))];
            return Decided { refused, ..Decided::default() };
        };
        let decided = slot.lock().accept_revised(hunk, own, reason);
        self.attend(&slot);
        decided
    }

    /// Decides about hunks. What changes the text is under way when this returns. For `uri` none, the target says which documents.
    pub async fn decide(&self, uri: Option<&str>, request: &Request) -> Decided {
        let slots = match uri {
            Some(uri) => self.slot_of(uri).into_iter().collect(),
            None => self.slots_with(&request.target),
        };
        let mut decided = Decided::default();
        for slot in &slots {
            let one = self.decide_in(slot, request).await;
            decided.queued.extend(one.queued);
            decided.refused.extend(one.refused);
        }
        if slots.is_empty() {
            decided.refused.push(Document::no_such(&request.target));
        }
        decided
    }

    /// What a decision about a document would do, without making it; none if the document is not known.
    #[must_use]
    pub fn preview(&self, uri: &str, request: &Request) -> Option<Preview> {
        let slot = self.slot_of(uri)?;
        let copy = slot.lock().clone();
        Some(copy.preview(request, self.now()))
    }

    /// How many documents the editor has open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.inner.open.len()
    }

    fn slots_with(&self, target: &Target) -> Vec<Arc<Slot>> {
        self.slots().into_iter().filter(|slot| slot.lock().has_target(target)).collect()
    }

    async fn decide_in(&self, slot: &Arc<Slot>, request: &Request) -> Decided {
        let open = slot.lock().is_open();
        if open {
            let decided = slot.lock().decide(request, self.now());
            self.attend(slot);
            return decided;
        }
        // On the disk a decision writes: it waits for its turn among the agents' edits.
        let _turn = slot.queue.lock().await;
        let (workspace, slot, request) = (self.clone(), slot.clone(), request.clone());
        let written = tokio::task::spawn_blocking(move || workspace.decide_on_disk(&slot, &request)).await;
        written.unwrap_or_default()
    }

    fn decide_on_disk(&self, slot: &Arc<Slot>, request: &Request) -> Decided {
        let mut decided = Decided::default();
        let result = self.change_on_disk(slot, |document, now| {
            decided = document.decide(request, now);
            Ok(())
        });
        if let Err(refusal) = result {
            let message = refusal.to_string();
            decided.refused.push(Document::not_written(&request.target, message));
            decided.queued.clear();
        }
        self.attend(slot);
        decided
    }

    fn attend_but_deliver(&self, slot: &Slot) {
        slot.lock().quiet_delivery();
        self.attend(slot);
    }
}
