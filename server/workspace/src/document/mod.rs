//! One document: the editor's text (or the file's), the edits that agents made to it, and what became of each.
//!
//! A state machine without IO, clock or tasks: whoever owns it says what happened and when ([`Millis`]), and asks what is
//! to be done ([`Document::poll`]). So the same code runs under an editor, on the disk, and in the simulation.
//!
//! # Rooms
//!
//! A [`Document`] is its rooms. What is in a room is private to that, and others use what it offers:
//!
//! | room | what is in it |
//! | --- | --- |
//! | `text` | the text and its weave, what was served of it, and whether it follows its editor |
//! | `decisions` | the edits, what is decided about each hunk, and what is wanted of it |
//! | `deliveries` | what is on its way to the editor, and what its next changes are because of that |
//! | `file` | the file itself, and what the editor is asked to do with it |
//! | `outbox` | what has happened and is not recorded yet |
//! | `document_name`, `events` | where the document is, and what has come up in it |
//!
//! What happens to a document concerns several rooms, so it is a method of [`Document`], which stands in the room that it is about most.
//!
//! # Rules
//!
//! - The text is what the editor said last. Nothing else changes it; a decision changes it by a [`Delivery`] that the
//!   editor carries out, and counts only when the text shows it.
//! - An agent's edit is in the agent view when it is recorded, or it is refused with the reason.
//! - A document that is out of step with its editor serves no agents. A change that names a line outside the text is out of step, with
//!   one exception: the line directly behind a last line without an ending, in its column 0. Neovim counts an ending there, and
//!   appends and takes away lines at that place.
//! - A notification is judged as a whole, but for this: where its changes pass through the text that the delivery under way makes,
//!   the delivery was made, and what follows is judged by itself. It may be the undo.
//!
//! # Limitations
//!
//! - Documents that were never served keep no weave: what was typed before the first read has no history.
//! - A client that joins a delivery and its undo to no change at all, and says nothing, is taken not to have made it: it is sent again.

mod decisions;
mod deliveries;
mod document_name;
mod events;
mod file;
mod moment;
mod outbox;
mod text;

use std::sync::Arc;

use hashline_text::{DiskForm, DocVersion, Encoding, Text};
use hashline_weave::{HunkId, Weave};

pub use decisions::decision_result::{Decided, Elsewhere, Undecided};
pub use decisions::edit_and_hunks::{Edit, EditHunk, HunkLines, HunkState};
pub use decisions::preview::Preview;
pub use decisions::request::{Along, Choice, Request, Target, Unseen};
pub use decisions::review::{HunkView, Review, ReviewEdit};
pub use decisions::verdict::Verdict;
pub use decisions::wishes::UnderWay;
pub use deliveries::announced_causes::Cause;
pub use deliveries::retry_schedule::{Delivered, Delivery};
pub use document_name::{Home, Reports};
pub use events::News;
pub(crate) use file::contents::Contents;
pub(crate) use file::editor_request::Looked;
pub use file::editor_request::{FileAnswer, FileDelivery, FileOperation, FileOperations};
pub use file::hunk::{FileHunk, NewFile, in_words};
pub use hashline_history::{Mode, Why};
pub use moment::Millis;
pub use outbox::{State, Unrecorded};
pub use text::change::{Change, Resolution, Whole};
pub use text::content_change::{ContentChange, OutOfStep};
pub use text::edit_notes::{Note, Unit};
pub use text::edit_refused::Refused;
pub(crate) use text::foreign_write::Written;
pub use text::load_text::Earlier;
pub use text::propose::{Proposal, Proposed};
pub use text::proposed_text::{PlacedHunk, ProposedText};
pub use text::served_text::Located;
pub use text::snapshots::Served;

use crate::document::decisions::edits::Edits;
use crate::document::decisions::wishes::Wanted;
use crate::document::deliveries::announced_causes::Told;
use crate::document::deliveries::guess_state::Guesses;
use crate::document::deliveries::retry_schedule::Flow;
use crate::document::document_name::Address;
use crate::document::events::Tidings;
use crate::document::file::OwnFile;
use crate::document::outbox::Outbox;
use crate::document::text::WovenText;

/// A document and the edits of it.
#[derive(Clone, Debug)]
pub struct Document {
    address: Address,
    text: WovenText,
    edits: Edits,
    wanted: Wanted,
    flow: Flow,
    told: Told,
    guesses: Guesses,
    file: OwnFile,
    outbox: Outbox,
    news: Tidings,
}

impl Document {
    /// A document that an editor has opened.
    #[must_use]
    pub fn open(uri: &str, language: &str, version: DocVersion, encoding: Encoding, text: Text) -> Self {
        let reports = Reports::Nothing;
        let home = Home::Editor { version, encoding, language: language.to_owned(), reports };
        Self::new(uri, home, text, DiskForm::default())
    }

    /// A file that no editor has open.
    #[must_use]
    pub fn on_disk(uri: &str, text: Text, form: DiskForm) -> Self {
        Self::new(uri, Home::Disk, text, form)
    }

    fn new(uri: &str, home: Home, text: Text, form: DiskForm) -> Self {
        Self {
            address: Address::of(uri, home),
            text: WovenText::of(text, form),
            edits: Edits::default(),
            wanted: Wanted::default(),
            flow: Flow::default(),
            told: Told::default(),
            guesses: Guesses::default(),
            file: OwnFile::default(),
            outbox: Outbox::default(),
            news: Tidings::default(),
        }
    }

    /// The document's URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.address.uri()
    }

    /// Its file has another name.
    pub(crate) fn set_uri(&mut self, uri: &str) {
        self.address.rename(uri);
    }

    /// Where its text is at home.
    #[must_use]
    pub fn home(&self) -> &Home {
        self.address.home()
    }

    /// The editor's name for its language; empty for a file that no editor has open.
    #[must_use]
    pub(crate) fn language(&self) -> &str {
        match self.home() {
            Home::Editor { language, .. } => language,
            Home::Disk => "",
        }
    }

    /// Whether an editor has it open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.home(), Home::Editor { .. })
    }

    /// The editor's version of the text, if it is open.
    #[must_use]
    pub fn version(&self) -> Option<DocVersion> {
        match self.home() {
            Home::Editor { version, .. } => Some(*version),
            Home::Disk => None,
        }
    }

    /// The text that the editor has, or the file.
    #[must_use]
    pub fn text(&self) -> &Text {
        self.text.now()
    }

    /// What the file holds, where that is no text.
    #[must_use]
    pub(crate) fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.file.bytes()
    }

    /// Says what the file holds, where that is no text: as seen on the disk, or as it is to be made.
    pub(crate) fn set_bytes(&mut self, bytes: Option<Arc<[u8]>>) {
        self.file.set_bytes(bytes);
    }

    /// Notes that the text is another one.
    pub(crate) fn text_changed(&mut self) {
        self.text.was_changed();
    }

    /// How the text would be stored.
    #[must_use]
    pub fn form(&self) -> DiskForm {
        self.text.form()
    }

    /// Says how the text would be stored, as seen from the file.
    pub fn set_form(&mut self, form: DiskForm) {
        self.text.set_form(form);
    }

    /// The edits, in the order in which they were made.
    #[must_use]
    pub fn edits(&self) -> &[Arc<Edit>] {
        self.edits.all()
    }

    /// Whether a hunk of it is undecided.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.edits().iter().any(|edit| edit.status() == hashline_history::Status::Pending)
    }

    /// Whether a hunk of it is undecided, and there is something to decide about it: a file that is gone has no lines.
    #[must_use]
    pub fn has_something_to_decide(&self) -> bool {
        let undecided = |edit: &Arc<Edit>| {
            edit.file.as_ref().is_some_and(|file| file.decision == hashline_history::Decision::Undecided)
        };
        self.has_pending() && (self.exists_for_agents() || self.edits().iter().any(undecided))
    }

    /// Whether nobody needs to know of it any more: no editor has it open, nothing of it is undecided or to be recorded, and no agent
    /// has read it lately.
    #[must_use]
    pub fn is_forgettable(&self, now: Millis) -> bool {
        !self.is_open() && !self.has_pending() && !self.has_unrecorded() && self.text.was_served_long_ago(now)
    }

    /// Whether it may be made anew of its file and its record: no editor has it open, and no agent's edit is just being recorded in it.
    #[must_use]
    pub(crate) fn may_be_made_anew(&self) -> bool {
        !self.is_open()
            && self.text.woven().is_none_or(|weave| weave.hunks().count() == self.edits.known_hunks())
    }

    /// Why agents are not served, if they are not.
    #[must_use]
    pub fn out_of_step(&self) -> Option<&OutOfStep> {
        self.text.out_of_step()
    }

    /// What has come up since this was asked last.
    pub fn take_news(&mut self) -> News {
        self.news.take_news()
    }

    /// Notes that something was typed. `stood` tells how hunks stood before.
    pub(crate) fn news_of_typing(&mut self, stood: Option<u64>) {
        if self.edits.is_empty() {
            return;
        }
        self.news.moved();
        if stood.is_none() || self.weave_standing() != stood {
            self.news.review();
        }
    }

    /// A number that is another when hunks may stand otherwise.
    pub(crate) fn weave_standing(&self) -> Option<u64> {
        self.text.woven().map(|weave| weave.standing())
    }

    /// What the person should be told, since this was asked last.
    pub fn take_notices(&mut self) -> Vec<String> {
        self.news.take_notices()
    }

    /// The weave, made now if there was none.
    pub(crate) fn weave(&mut self) -> &mut Weave {
        self.text.weave()
    }

    /// Takes over from another state of the same document that an editor has opened it since, with the text that it has there.
    pub(crate) fn follow_home(&mut self, other: &Self, now: Millis) {
        self.moves_into(other, other.text(), now);
    }

    /// The same, and its text stays for now.
    pub(crate) fn moves_home(&mut self, other: &Self, now: Millis) {
        let text = self.text().clone();
        self.moves_into(other, &text, now);
    }

    fn moves_into(&mut self, other: &Self, text: &Text, now: Millis) {
        if let Home::Editor { version, encoding, language, reports } = other.home() {
            self.reopen(other.uri(), language, *version, *encoding, text, now);
            self.set_reports(*reports);
            self.text.keep_step_of(&other.text);
            self.outbox.records_as(&other.outbox);
            self.file.keep_asking(&other.file);
        }
    }

    /// Takes over from another state of the same document what agents were told meanwhile: texts, outcomes, and that what they take back is
    /// on its way out.
    pub(crate) fn keep_told(&mut self, other: &Self) {
        self.text.merge_served(&other.text);
        self.keep_withdrawals(other);
        self.edits.keep_told(&other.edits);
    }

    pub(crate) fn owner_of(&self, id: HunkId) -> Option<(&Edit, &EditHunk)> {
        self.edits.owner_of(id)
    }
}
