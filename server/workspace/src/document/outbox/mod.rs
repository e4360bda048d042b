//! What has happened to a document and is not in the record yet, and the state that is recorded with it (rule W15).
//!
//! A queue: what happened is recorded in the order in which it did, and leaves the queue only when it is recorded. A save has a state of its
//! own, as what happens after it is not saved, and so has a text that gives way to one that is found; all else is recorded with the
//! document as it is when its turn comes. Whatever fails is still there as it was.
//!
//! The face: rooms note what happens, by the methods of `Document` in `recording`; whoever records asks for [`State`]s there, and says what became of each.

mod recording;

use std::collections::VecDeque;
use std::sync::Arc;

use hashline_history::{Continuity, Decided, HunkRef, Located, Location, NewEdit, Registers};
use hashline_text::{DiskForm, FileHash};
use hashline_weave::{HunkId, Weave};

/// How many states of their own wait at most. Of later saves it is recorded with the next one that the file has the text.
const FIXED: usize = 64;

/// What has happened to the edits of a document since it was recorded last.
#[derive(Clone, Debug, Default)]
pub struct Unrecorded {
    /// An edit that is recorded together with what it did to the file.
    pub edit: Option<NewEdit>,
    /// The latest decision about each hunk that was decided.
    pub decisions: Vec<Decided>,
    /// The decisions that wait to be brought into the text until it is recorded that they are wanted.
    pub wanted: Vec<Decided>,
    /// Where each hunk is that came into a text or left it.
    pub locations: Vec<Located>,
    /// The hash of the file, where that was seen to hold the text.
    pub saved: Option<FileHash>,
    /// How the weave goes on from the recorded one.
    pub continuity: Continuity,
    /// The decisions that `wanted` speaks of.
    tokens: Vec<u64>,
}

impl Unrecorded {
    fn add(&mut self, note: Note) {
        match note {
            Note::Decided(decided) => {
                self.decisions.retain(|earlier| earlier.hunk != decided.hunk);
                self.decisions.push(decided);
            }
            Note::Located(located) => self.locate(located),
            Note::Wanted(token, wanted) => {
                self.wanted.extend(wanted);
                self.tokens.push(token);
            }
            Note::Edited(edit) => self.edit = Some(*edit),
            Note::Saved(hash) => self.saved = Some(hash),
            Note::Unobserved => self.continuity = Continuity::Unobserved,
        }
    }

    fn locate(&mut self, located: Located) {
        self.locations.retain(|earlier| earlier.hunk != located.hunk);
        self.locations.push(located);
    }
}

/// A document as it is to be recorded.
#[derive(Clone, Debug)]
pub struct State {
    /// Its text with all that agents did to it.
    pub weave: Weave,
    /// How its text would be stored.
    pub form: DiskForm,
    /// What the file holds instead, where that is no text.
    pub bytes: Option<Arc<[u8]>>,
    /// Whether there is a file, and its mode bits.
    pub registers: Registers,
    /// What has happened.
    pub unrecorded: Unrecorded,
    /// The last that has happened.
    upto: Serial,
    /// The hunks that the text had and the file had not, where this is the document as its editor has saved it.
    saved: Option<Vec<HunkRef>>,
    /// It is the first that waits in the queue as it was at one moment.
    is_fixed: bool,
}

impl State {
    /// Whether this is the document as its editor has saved it.
    #[must_use]
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Notes that the file holds the text, with this hash; or another one's, where something has formatted it meanwhile: then its hash is
    /// all that is known of it.
    pub fn is_stored(&mut self, form: DiskForm, hash: FileHash) {
        self.unrecorded.saved = Some(hash);
        if form.hash(self.weave.buffer()) != hash {
            self.saved = Some(Vec::new());
            return;
        }
        self.form = form;
        for hunk in self.saved.iter().flatten() {
            self.unrecorded.locate(Located { hunk: hunk.clone(), location: Location::Disk });
        }
    }

    /// The hash of its text, where the file holds text.
    #[must_use]
    pub fn text_hash(&self) -> Option<FileHash> {
        self.bytes.is_none().then(|| self.form.hash(self.weave.buffer()))
    }

    /// Whether a decision is recorded as wanted by this.
    #[must_use]
    pub fn wants(&self) -> bool {
        !self.unrecorded.wanted.is_empty()
    }
}

/// Counts what happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Serial(u64);

/// One thing that has happened.
#[derive(Clone, Debug)]
enum Note {
    Decided(Decided),
    Located(Located),
    /// A decision is wanted, under this number.
    Wanted(u64, Vec<Decided>),
    Edited(Box<NewEdit>),
    /// The file was seen to hold the text.
    Saved(FileHash),
    /// Nobody watched how the text came to be.
    Unobserved,
}

impl Note {
    /// Whether it would be missed. How the text came to be is told with the next that is.
    fn counts(&self) -> bool {
        !matches!(self, Note::Saved(_) | Note::Unobserved)
    }
}

/// The document as it was at one moment.
#[derive(Clone, Debug)]
struct Fixed {
    state: State,
    /// Hunks of an edit that was not recorded yet.
    provisional: Vec<HunkId>,
    /// The hunks that have left the text since. One that is back is so without the file, though that had it then.
    left: Vec<HunkRef>,
}

/// What is to be recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    queue: Queue,
    /// Decisions are recorded before they are sent to the editor.
    is_recorded: bool,
    /// The hunks of decisions that could not be.
    dropped: Vec<HunkRef>,
}

impl Outbox {
    /// Whether decisions are recorded before they are sent is as in another state of the document.
    pub(crate) fn records_as(&mut self, other: &Self) {
        self.is_recorded = other.is_recorded;
    }

    /// Nothing of what is decided from now on is recorded.
    pub(crate) fn records_nothing(&mut self) {
        self.is_recorded = false;
    }

    /// A decision could not be made.
    pub(crate) fn drop_hunk(&mut self, hunk: HunkRef) {
        self.dropped.push(hunk);
    }

    /// What was dropped in another state of the document is told by this one.
    pub(crate) fn drop_with(&mut self, other: &mut Self) {
        self.dropped.append(&mut other.dropped);
    }
}

/// What is to be recorded, oldest first.
#[derive(Clone, Debug, Default)]
struct Queue {
    notes: VecDeque<(Serial, Note)>,
    fixed: VecDeque<Fixed>,
    last: Serial,
}

impl Queue {
    fn push(&mut self, note: Note) {
        self.last.0 += 1;
        self.notes.push_back((self.last, note));
    }

    fn is_empty(&self) -> bool {
        self.fixed.is_empty() && !self.notes.iter().any(|(_, note)| note.counts())
    }

    /// What has happened up to a moment.
    fn upto(&self, last: Serial) -> Unrecorded {
        let mut all = Unrecorded::default();
        let notes = self.notes.iter().take_while(|(serial, _)| *serial <= last);
        notes.for_each(|(_, note)| all.add(note.clone()));
        all
    }

    /// An edit is recorded: those who saved meanwhile had its hunks.
    fn published(&mut self, hunks: &[HunkId]) {
        for fixed in &mut self.fixed {
            if fixed.provisional.iter().any(|id| hunks.contains(id)) {
                fixed.provisional.clear();
                fixed.state.weave.reveal(hunks);
            }
        }
    }

    /// An edit is not recorded.
    fn withdrawn(&mut self, hunks: &[HunkId]) {
        for fixed in &mut self.fixed {
            if fixed.provisional.iter().any(|id| hunks.contains(id)) {
                fixed.state.weave.unrecord(hunks);
                fixed.provisional.clear();
            }
        }
    }
}
