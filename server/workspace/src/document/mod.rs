//! One document: the editor's text (or the file's), the edits that agents made to it, and what became of each.
//!
//! A state machine without IO, clock or tasks: whoever owns it says what happened and when ([`Millis`]), and asks what is
//! to be done ([`Document::poll`]). So the same code runs under an editor, on the disk, and in the simulation.
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

mod asked;
mod change;
mod decide;
mod decide_file;
mod deliver;
mod edit;
mod file;
mod found;
mod group;
mod guesses;
mod outbox;
mod plan;
mod preview;
mod propose;
mod proposed_text;
mod remade;
mod request;
mod review;
mod revise;
mod serve;
mod sync;
mod told;
mod undecided;
mod wanted;

use std::collections::HashMap;
use std::sync::Arc;

use hashline_history::HunkRef;
use hashline_text::{DiskForm, DocVersion, Encoding, Text};
use hashline_weave::{HunkId, JournalId, Weave};

pub use asked::{FileAnswer, FileDelivery, FileOperation, FileOperations};
pub use change::{Change, Note, Resolution, Unit, Whole};
pub use deliver::{Delivered, Delivery};
pub use edit::{Edit, EditHunk, HunkLines, HunkState};
pub use file::{FileHunk, NewFile, in_words};
pub use found::Earlier;
pub use hashline_history::Mode;
pub use outbox::{State, Unrecorded};
pub use preview::Preview;
pub use propose::{Located, Proposal, Proposed};
pub use proposed_text::{PlacedHunk, ProposedText};
pub use request::{Choice, Decided, Elsewhere, Request, Target, Unseen};
pub use review::{HunkView, Review, ReviewEdit};
pub use serve::Served;
pub use sync::{ContentChange, OutOfStep};
pub use told::{Cause, Reports};
pub use undecided::{Undecided, Why};
pub use wanted::UnderWay;

use crate::document::asked::Asked;
pub(crate) use crate::document::asked::Looked;
use crate::document::deliver::Flow;
use crate::document::edit::Turn;
use crate::document::file::FileNow;
use crate::document::guesses::Guesses;
use crate::document::outbox::Outbox;
use crate::document::serve::Snapshots;
use crate::document::told::Told;
use crate::document::wanted::Wanted;

/// A moment, in milliseconds of a clock that only goes forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    pub(crate) fn after(self, millis: u64) -> Self {
        Self(self.0 + millis)
    }

    pub(crate) fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Where the text of a document is at home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// Open in an editor.
    Editor {
        /// The version of the text, as the editor counts.
        version: DocVersion,
        /// How the editor counts characters.
        encoding: Encoding,
        /// The editor's name for the language.
        language: String,
        /// What the editor says of its changes.
        reports: Reports,
    },
    /// A file that no editor has open.
    Disk,
}

/// Something the outside should know of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The list of edits, their states or their places have changed.
    pub review: bool,
    /// Places have moved with what was typed; how hunks stand has not changed.
    pub moved: bool,
    /// A decision was made or taken back.
    pub decided: bool,
    /// There may be something to deliver.
    pub deliver: bool,
}

/// A document and the edits of it.
#[derive(Clone, Debug)]
pub struct Document {
    uri: String,
    home: Home,
    text: Text,
    weave: Option<Weave>,
    form: DiskForm,
    file: FileNow,
    /// What the file holds, where that is no text.
    bytes: Option<Arc<[u8]>>,
    out_of_step: Option<OutOfStep>,
    edits: Vec<Edit>,
    /// Which edit each hunk of the weave belongs to, by the hunk's order of record; none for those of forgotten edits.
    owners: Vec<Option<(usize, usize)>>,
    snapshots: Snapshots,
    /// What the person, or an agent, wants of each hunk.
    wanted: Wanted,
    flow: Flow,
    told: Told,
    /// How often what the editor said did not go with the text.
    told_wrong: u64,
    guesses: Guesses,
    /// What the editor is to do with the file.
    asked: Option<Asked>,
    /// What was found out of the file for the next decision about it.
    looked: Option<Looked>,
    turns: HashMap<JournalId, Vec<Turn>>,
    outbox: Outbox,
    /// Decisions are recorded before they are sent to the editor.
    is_recorded: bool,
    /// The hunks of decisions that could not be.
    dropped: Vec<HunkRef>,
    /// The text before a change that nobody watched, until something is decided or edited in spite of it.
    unseen: Option<Box<Weave>>,
    notices: Vec<String>,
    news: News,
}

impl Document {
    /// A document that an editor has opened.
    #[must_use]
    pub fn open(uri: &str, language: &str, version: DocVersion, encoding: Encoding, text: Text) -> Self {
        let reports = Reports::Nothing;
        let home = Home::Editor { version, encoding, language: language.to_owned(), reports };
        Self::new(uri, home, text)
    }

    /// A file that no editor has open.
    #[must_use]
    pub fn on_disk(uri: &str, text: Text, form: DiskForm) -> Self {
        Self { form, ..Self::new(uri, Home::Disk, text) }
    }

    fn new(uri: &str, home: Home, text: Text) -> Self {
        Self {
            uri: uri.to_owned(),
            home,
            text,
            weave: None,
            form: DiskForm::default(),
            file: FileNow::default(),
            bytes: None,
            out_of_step: None,
            edits: Vec::new(),
            owners: Vec::new(),
            snapshots: Snapshots::default(),
            wanted: Wanted::default(),
            flow: Flow::default(),
            told: Told::default(),
            told_wrong: 0,
            guesses: Guesses::default(),
            asked: None,
            looked: None,
            turns: HashMap::new(),
            outbox: Outbox::default(),
            is_recorded: false,
            dropped: Vec::new(),
            unseen: None,
            notices: Vec::new(),
            news: News::default(),
        }
    }

    /// The document's URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Its file has another name.
    pub(crate) fn set_uri(&mut self, uri: &str) {
        uri.clone_into(&mut self.uri);
    }

    /// Where its text is at home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The editor's name for its language; empty for a file that no editor has open.
    #[must_use]
    pub(crate) fn language(&self) -> &str {
        match &self.home {
            Home::Editor { language, .. } => language,
            Home::Disk => "",
        }
    }

    /// Whether an editor has it open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.home, Home::Editor { .. })
    }

    /// The editor's version of the text, if it is open.
    #[must_use]
    pub fn version(&self) -> Option<DocVersion> {
        match &self.home {
            Home::Editor { version, .. } => Some(*version),
            Home::Disk => None,
        }
    }

    /// The text that the editor has, or the file.
    #[must_use]
    pub fn text(&self) -> &Text {
        match &self.weave {
            Some(weave) => weave.buffer(),
            None => &self.text,
        }
    }

    /// What the file holds, where that is no text.
    #[must_use]
    pub(crate) fn bytes(&self) -> Option<&Arc<[u8]>> {
        self.bytes.as_ref()
    }

    /// Says what the file holds, where that is no text: as seen on the disk, or as it is to be made.
    pub(crate) fn set_bytes(&mut self, bytes: Option<Arc<[u8]>>) {
        self.bytes = bytes;
    }

    /// Notes that the text is another one.
    pub(crate) fn text_changed(&mut self) {
        self.snapshots.text_changed();
    }

    /// How the text would be stored.
    #[must_use]
    pub fn form(&self) -> DiskForm {
        self.form
    }

    /// Says how the text would be stored, as seen from the file.
    pub fn set_form(&mut self, form: DiskForm) {
        if self.form != form {
            self.form = form;
            self.snapshots.forget_hashes();
        }
    }

    /// The edits, in the order in which they were made.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Whether a hunk of it is undecided.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.edits.iter().any(|edit| edit.status() == hashline_history::Status::Pending)
    }

    /// Whether a hunk of it is undecided, and there is something to decide about it: a file that is gone has no lines.
    #[must_use]
    pub fn has_something_to_decide(&self) -> bool {
        let undecided = |edit: &Edit| {
            edit.file.as_ref().is_some_and(|file| file.decision == hashline_history::Decision::Undecided)
        };
        self.has_pending() && (self.exists_for_agents() || self.edits.iter().any(undecided))
    }

    /// Whether nobody needs to know of it any more: no editor has it open, nothing of it is undecided or to be recorded, and no agent
    /// has read it lately.
    #[must_use]
    pub fn is_forgettable(&self, now: Millis) -> bool {
        !self.is_open() && !self.has_pending() && !self.has_unrecorded() && self.snapshots.are_old(now)
    }

    /// Whether it may be made anew of its file and its record: no editor has it open, and no agent's edit is just being recorded in it.
    #[must_use]
    pub(crate) fn may_be_made_anew(&self) -> bool {
        !self.is_open() && self.weave.as_ref().is_none_or(|weave| weave.hunks().count() == self.owners.len())
    }

    /// Why agents are not served, if they are not.
    #[must_use]
    pub fn out_of_step(&self) -> Option<&OutOfStep> {
        self.out_of_step.as_ref()
    }

    /// What has come up since this was asked last.
    pub fn take_news(&mut self) -> News {
        std::mem::take(&mut self.news)
    }

    /// Notes that something was typed. `stood` tells how hunks stood before.
    pub(crate) fn news_of_typing(&mut self, stood: Option<u64>) {
        if self.edits.is_empty() {
            return;
        }
        self.news.moved = true;
        self.news.review |= stood.is_none() || self.weave_standing() != stood;
    }

    /// A number that is another when hunks may stand otherwise.
    pub(crate) fn weave_standing(&self) -> Option<u64> {
        self.weave.as_ref().map(Weave::standing)
    }

    /// What the person should be told, since this was asked last.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// The weave, made now if there was none.
    pub(crate) fn weave(&mut self) -> &mut Weave {
        let text = &self.text;
        self.weave.get_or_insert_with(|| Weave::new(text.clone()))
    }

    /// Takes over from another state of the same document that an editor has opened it since.
    pub(crate) fn follow_home(&mut self, other: &Self, now: Millis) {
        if let Home::Editor { version, encoding, language, reports } = &other.home {
            self.reopen(&other.uri, language, *version, *encoding, other.text(), now);
            self.set_reports(*reports);
            self.out_of_step.clone_from(&other.out_of_step);
            self.is_recorded = other.is_recorded;
            if other.asked.is_some() {
                self.asked.clone_from(&other.asked);
            }
        }
    }

    /// Takes over from another state of the same document what agents were told meanwhile: texts, outcomes, and that what they take back is
    /// on its way out.
    pub(crate) fn keep_told(&mut self, other: &Self) {
        self.snapshots.merge(&other.snapshots);
        self.keep_withdrawals(other);
        for (own, other) in self.edits.iter_mut().zip(&other.edits).filter(|(own, other)| own.id == other.id)
        {
            for (own, other) in own.hunks.iter_mut().zip(&other.hunks) {
                own.told = other.told;
            }
            if let (Some(own), Some(other)) = (&mut own.file, &other.file) {
                own.told = other.told;
            }
        }
    }

    fn hunk_mut(&mut self, id: HunkId) -> Option<&mut EditHunk> {
        let (edit, hunk) = (*self.owners.get(id.order())?)?;
        self.edits.get_mut(edit)?.hunks.get_mut(hunk)
    }

    pub(crate) fn owner_of(&self, id: HunkId) -> Option<(&Edit, &EditHunk)> {
        let (edit, hunk) = (*self.owners.get(id.order())?)?;
        let edit = self.edits.get(edit)?;
        Some((edit, edit.hunks.get(hunk)?))
    }
}
