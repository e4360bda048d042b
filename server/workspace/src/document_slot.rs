//! A document and what is needed to use it in turn: the agents' queue, its file, and how far its record is known.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::SystemTime;

use hashline_text::Text;
use tokio::sync::watch;

use crate::disk::{Place, Stamp};
use crate::document::{Contents, Document};
use crate::record::{Recorded, Whose};
use crate::watched_file::WatchedFile;

/// A document and what is needed to use it in turn.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The identity of its document, under which it is found.
    pub key: String,
    /// One agent at a time changes the document, first come first served.
    pub queue: tokio::sync::Mutex<()>,
    pub document: Mutex<Document>,
    /// Where its file is; none for a document without one, or outside the roots.
    pub place: RwLock<Option<Place>>,
    /// The file as it was read last; none if a later change need not show in its stamp.
    pub read: Mutex<Option<LastRead>>,
    /// Something else has changed the file of an open document.
    pub differs: AtomicBool,
    /// The text that was in the editor and in the file when both had the same; none if that is not known.
    pub shared: Mutex<Option<Text>>,
    /// How far what other programs write to its file is known.
    pub watched: Mutex<WatchedFile>,
    /// When an editor opened it or typed in it last, in milliseconds since 1970; 0 for never.
    pub used: AtomicU64,
    /// How far its record is known.
    pub record: Mutex<Recorded>,
    /// It is to be made anew of its record, whatever is known of that.
    pub anew: AtomicBool,
    /// What has become of its edits in the text that it was opened with is not known yet, but guessed: they are not shown.
    pub guessed: AtomicBool,
    /// The text that was opened, or found since, until its record was read for it: what comes after it is typed.
    pub found: Mutex<Option<Text>>,
    /// An editor has given its file this name, and may be about to open it under that.
    pub awaited: AtomicBool,
    /// It was opened, and is made anew of its record in a moment: it may be a document that had another name.
    pub deferred: AtomicBool,
    /// Who decides about its edits.
    pub whose: Mutex<Whose>,
    /// Whether its recorded edits are in it: agents wait for that.
    pub whole: watch::Sender<bool>,
}

/// A file as it was read last.
#[derive(Clone, Debug)]
pub(crate) struct LastRead {
    pub stamp: Stamp,
    /// What it held; not kept of the file of an open document.
    pub contents: Option<Contents>,
}

impl Slot {
    pub fn new(key: String, document: Document, place: Option<Place>) -> Self {
        Self {
            key,
            queue: tokio::sync::Mutex::new(()),
            document: Mutex::new(document),
            place: RwLock::new(place),
            read: Mutex::new(None),
            differs: AtomicBool::new(false),
            shared: Mutex::default(),
            watched: Mutex::default(),
            used: AtomicU64::new(0),
            record: Mutex::default(),
            anew: AtomicBool::new(false),
            guessed: AtomicBool::new(false),
            found: Mutex::default(),
            awaited: AtomicBool::new(false),
            deferred: AtomicBool::new(false),
            whose: Mutex::default(),
            whole: watch::Sender::new(true),
        }
    }

    /// Lets the file be read anew when it is needed next.
    pub fn forget_read(&self) {
        *self.last_read() = None;
        self.set_disk_differs(false);
    }

    /// Whether something else has changed the file of an open document, so that it is neither what was opened nor what the editor has.
    pub fn disk_differs(&self) -> bool {
        self.differs.load(Ordering::Relaxed)
    }

    pub fn set_disk_differs(&self, differs: bool) {
        self.differs.store(differs, Ordering::Relaxed);
    }

    pub fn last_read(&self) -> MutexGuard<'_, Option<LastRead>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far what other programs write to its file is known.
    pub fn watched(&self) -> MutexGuard<'_, WatchedFile> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stamp of the file as it was read last.
    pub fn last_stamp(&self) -> Option<Stamp> {
        self.last_read().as_ref().map(|last| last.stamp)
    }

    pub fn lock(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An editor has opened it or typed in it.
    pub fn note_use(&self) {
        self.used.store(wall_clock(), Ordering::Relaxed);
    }

    pub fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who decides about its edits.
    pub fn whose(&self) -> Whose {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_whose(&self, whose: Whose) {
        *self.whose.lock().unwrap_or_else(PoisonError::into_inner) = whose;
    }

    /// Its recorded edits are in it: lets agents go on. If its text was found meanwhile they are looked up again first.
    pub fn ready(&self) {
        let mut document = self.lock();
        if self.anew.load(Ordering::Relaxed) {
            return;
        }
        if self.guessed.swap(false, Ordering::Relaxed) {
            // Somebody else may have told of it before, while it was a guess and nothing of it was shown.
            document.news_of_edits();
        }
        self.forget_found();
        self.whole.send_replace(true);
    }

    /// Its text was opened, or found since: its record is read for this one, whatever is typed meanwhile.
    pub fn note_found(&self, text: Text) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    fn forget_found(&self) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The text for which its record is to be read; none for the present one.
    pub fn found(&self) -> Option<Text> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its text is found: what became of its edits in it is looked up in the record, and not shown before that. Said with the document locked,
    /// as whoever looks up another text may be about to be [`ready`](Self::ready).
    pub fn look_up_anew(&self) {
        self.anew.store(true, Ordering::Relaxed);
        self.guessed.store(true, Ordering::Relaxed);
        self.whole.send_replace(false);
    }

    /// It is known by other means what became of its edits: nothing is looked up. Said with the document locked.
    pub fn is_no_guess(&self) {
        self.anew.store(false, Ordering::Relaxed);
        self.guessed.store(false, Ordering::Relaxed);
    }

    /// Whether what is known of its edits is a guess.
    pub fn is_guessed(&self) -> bool {
        self.guessed.load(Ordering::Relaxed)
    }

    /// Whether its editor may be about to open it under the name that it has given its file, or has just done so.
    pub fn is_awaited(&self) -> bool {
        self.deferred.load(Ordering::Relaxed)
            || self.awaited.load(Ordering::Relaxed) && !self.lock().is_open()
    }

    /// Waits until its recorded edits are in it.
    pub async fn wait_until_ready(&self) {
        // The sender lives as long as the slot.
        let _ = self.whole.subscribe().wait_for(|whole| *whole).await;
    }

    /// Where its file is.
    pub fn place(&self) -> Option<Place> {
        self.place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_place(&self, place: Option<Place>) {
        *self.place.write().unwrap_or_else(PoisonError::into_inner) = place;
    }
}

/// Milliseconds since 1970, by the system's clock as it stands now. Moments of several processes are compared, so none may count on from
/// a reading of its own: where the clock is set or the machine sleeps, processes of different age would disagree.
pub(crate) fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
