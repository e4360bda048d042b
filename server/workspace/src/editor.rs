//! The editor's side: what it says of its documents, and what is sent to it. What the person decides is in `editor_decisions.rs`.
//!
//! What the editor says takes effect without waiting for an agent, for the disk or for the editor.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hashline_text::{DocVersion, Encoding, Text};

use crate::disk::path_of_file_uri;
use crate::document::{
    Cause, ContentChange, Delivery, Document, Millis, OutOfStep, ProposedText, Reports, Review,
};
use crate::document_slot::Slot;
use crate::record::Job;
use crate::workspace::{Event, Workspace, key_of};

/// A review of one document.
#[derive(Clone, Debug)]
pub struct DocumentReview {
    /// The document's URI.
    pub uri: String,
    /// The version of its text that places belong to; none if it is not open.
    pub version: Option<DocVersion>,
    /// The other editor that decides about its edits, if one does (rule W19).
    pub owner: Option<String>,
    /// Its edits.
    pub review: Review,
}

impl DocumentReview {
    /// Whether its edits can be looked at here but not decided: it is open here, and another editor decides.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.owner.is_some() && self.version.is_some()
    }
}

impl Workspace {
    /// The editor has opened a document.
    pub fn did_open(&self, uri: &str, language: &str, version: DocVersion, encoding: Encoding, text: &str) {
        let text = Text::from(text);
        let place = self.place_of(uri);
        let identity = |path: PathBuf| key_of(&crate::disk::identity(&path));
        let key = match &place {
            Some(place) => key_of(place.absolute()),
            None => path_of_file_uri(uri).map_or_else(|_| uri.to_owned(), identity),
        };
        let reports = self.inner.reports.get().copied().unwrap_or_default();
        let mut document = Document::open(uri, language, version, encoding, text.clone());
        document.set_reports(reports);
        let fresh = Arc::new(Slot::new(key.clone(), document, place.clone()));
        let known = self.inner.slots.entry(key).or_insert_with(|| fresh.clone()).value().clone();
        let slot = if Arc::ptr_eq(&known, &fresh) {
            fresh
        } else if let Some(other) = self.other_name(&known, uri) {
            let _ = self.inner.events.send(Event::Notice(format!(
                "One file is open under two names, {other} and {uri}. Agents work in the first; close one of the two."
            )));
            fresh
        } else {
            let mut document = known.lock();
            let open_it = |document: &mut Document| {
                document.reopen(uri, language, version, encoding, &text, self.now());
            };
            if *document.text() != text && place.is_some() {
                // What became of its edits in this text is for the record to tell, and not for the text that the file has.
                document.look_up_later(open_it);
                known.look_up_anew();
            } else {
                open_it(&mut document);
            }
            document.set_reports(reports);
            drop(document);
            // How the file was when an agent read it says nothing of what the editor has read.
            known.set_place(place);
            known.forget_read();
            known.awaited.store(false, Ordering::Relaxed);
            known
        };
        self.inner.open.insert(uri.to_owned(), slot.clone());
        // It may be unsaved work that an editor has kept: the file is looked at with the record.
        slot.share_with_file(None);
        slot.note_use();
        self.changed();
        if slot.place().is_some() {
            slot.note_found(text);
            slot.lock().record_before_delivery();
            slot.whole.send_replace(false);
            self.later(Job::Opened(slot.clone()));
        }
        self.attend(&slot);
    }

    /// The other name under which the editor has a document open.
    fn other_name(&self, slot: &Arc<Slot>, uri: &str) -> Option<String> {
        let name = {
            let document = slot.lock();
            document.is_open().then(|| document.uri().to_owned())
        };
        let open = |name: &String| self.open_slot(name).is_some_and(|open| Arc::ptr_eq(&open, slot));
        name.filter(|name| name != uri && open(name))
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
    ) -> Result<(), OutOfStep> {
        let Some(slot) = self.open_slot(uri) else { return Ok(()) };
        let (result, is_found) = {
            let mut document = slot.lock();
            let is_found = slot.place().is_some() && document.is_found(version, changes);
            let is_turn = document.is_turn(version);
            let mut result = Ok(());
            if is_found {
                // What became of its edits in this text is for the record to tell.
                document.look_up_later(|document| result = document.change(version, changes, self.now()));
                slot.note_found(document.text().clone());
                slot.look_up_anew();
            } else {
                result = document.change(version, changes, self.now());
                if is_turn && slot.found().is_some() {
                    // It may lead to a text that the record has.
                    slot.note_found(document.text().clone());
                }
            }
            (result, is_found)
        };
        if is_found {
            self.later(Job::Opened(slot.clone()));
        }
        slot.note_use();
        self.changed();
        self.attend(&slot);
        result
    }

    /// The editor's plugin says what brings about the change that makes this version.
    pub fn did_cause(&self, uri: &str, version: DocVersion, cause: Cause) {
        let Some(slot) = self.open_slot(uri) else { return };
        slot.lock().say_cause(version, cause, self.now());
        self.attend(&slot);
    }

    /// Takes over, once, what the editor says of its changes: of the documents that it opens from now on.
    pub fn set_reports(&self, reports: Reports) {
        self.inner.reports.get_or_init(|| reports);
    }

    /// The editor has written a document to the disk.
    pub fn did_save(&self, uri: &str) {
        if let Some(slot) = self.open_slot(uri) {
            slot.forget_read();
            let text = {
                let mut document = slot.lock();
                document.was_saved();
                let text = document.text().clone();
                document.note_file_has(&text);
                text
            };
            self.later(Job::Saved(slot, text));
        }
    }

    /// The editor has closed a document. Its undecided edits wait for it to be opened again.
    pub fn did_close(&self, uri: &str) {
        let Some((_, slot)) = self.inner.open.remove(uri) else { return };
        let served = self.inner.slots.get(&slot.key).is_some_and(|served| Arc::ptr_eq(&served, &slot));
        if !served {
            // A second name of a file that is open.
            return;
        }
        let twin = self.inner.open.iter().find(|open| open.key == slot.key).map(|open| open.value().clone());
        match twin {
            Some(twin) => {
                // It stays open under its other name, with the text that it has there.
                let other = twin.lock().clone();
                slot.lock().follow_home(&other, self.now());
                self.inner.open.insert(other.uri().to_owned(), slot.clone());
            }
            None => slot.lock().close(self.now()),
        }
        slot.forget_read();
        self.changed();
        self.attend(&slot);
        self.later(Job::Closed(slot));
        self.forget_idle();
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
    pub fn proposed_text(&self, uri: &str) -> Option<(Option<DocVersion>, ProposedText)> {
        let slot = self.slot_of(uri)?;
        // Of a copy, as the review.
        let mut document = slot.lock().clone();
        Some((document.version(), document.proposed_text()))
    }

    /// The review of a document.
    #[must_use]
    pub fn review(&self, uri: &str) -> Option<DocumentReview> {
        let slot = self.slot_of(uri)?;
        // Of a copy: no keystroke waits while a long list is made.
        let mut document = slot.lock().clone();
        let review = document.review();
        Some(shown(&slot, &document, review))
    }

    /// Everything that was done to a document by edits, whatever was decided about them, once its record is read.
    pub async fn history(&self, uri: &str) -> Option<DocumentReview> {
        let slot = self.slot_of(uri)?;
        slot.wait_until_ready().await;
        // Of a copy, as the review.
        let mut document = slot.lock().clone();
        let all = document.review_where(|_| true);
        Some(shown(&slot, &document, all))
    }

    /// The review of a document, as far as it has to do with these lines of its text.
    #[must_use]
    pub fn review_near(&self, uri: &str, lines: &Range<usize>) -> Option<DocumentReview> {
        let slot = self.slot_of(uri)?;
        let mut document = slot.lock();
        let review = document.review_near(lines);
        Some(shown(&slot, &document, review))
    }

    /// The reviews of all documents that have undecided edits.
    #[must_use]
    pub fn reviews(&self) -> Vec<DocumentReview> {
        let uris: Vec<String> = self
            .slots()
            .iter()
            .filter_map(|slot| {
                let document = slot.lock();
                let shows = document.has_something_to_decide() && !slot.is_guessed();
                shows.then(|| document.uri().to_owned())
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

    /// How often it was guessed what a change of an open document was. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn guesses(&self, uri: &str) -> Option<u64> {
        self.open_slot(uri).map(|slot| slot.lock().guesses())
    }

    /// The editor has answered a delivery.
    pub fn answered(&self, uri: &str, number: u64, applied: bool) {
        if let Some(slot) = self.open_slot(uri) {
            slot.lock().answered(number, applied, self.now());
            self.attend(&slot);
        }
    }

    /// How many documents the editor has open.
    #[must_use]
    pub fn open_count(&self) -> usize {
        self.inner.open.len()
    }

    pub(crate) fn attend_but_deliver(&self, slot: &Arc<Slot>) {
        slot.lock().quiet_delivery();
        self.attend(slot);
    }
}

/// A review as it is shown.
fn shown(slot: &Slot, document: &Document, review: Review) -> DocumentReview {
    let review = if slot.is_guessed() { Review::default() } else { review };
    let owner = slot.whose().other().map(|other| other.name.clone());
    DocumentReview { uri: document.uri().to_owned(), version: document.version(), owner, review }
}
