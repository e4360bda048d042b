//! What the recorder is to do, and the way to it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hashline_history::{FileId, Store};
use hashline_text::Text;

use crate::document::FileAnswer;
use crate::document_slot::Slot;

/// Something to do for a document, or for all.
pub(crate) enum Job {
    /// Record what has happened to it.
    Record(Arc<Slot>),
    /// Its editor has written this text to the disk: record that.
    Saved(Arc<Slot>, Text),
    /// An editor has opened it: its edits come back.
    Opened(Arc<Slot>),
    /// Its editor has closed it.
    Closed(Arc<Slot>),
    /// It has not been opened again since. With it the file that it was then, whatever that is called by now.
    Settle(Arc<Slot>, Option<FileId>),
    /// Its editor is asked to rename or remove its file.
    Asked(Arc<Slot>, u64),
    /// Its editor says what became of that.
    Answered(Arc<Slot>, u64, FileAnswer),
    /// Its editor has had its time for that.
    Due(Arc<Slot>, u64),
    /// The edits of documents that nobody has opened are to be offered.
    Offer,
    /// Take a refused line back out of a history.
    TakeBack(Store),
    /// What other processes have recorded is to be looked for, again and again.
    Watch,
    /// Say when all before is done.
    Tell(Sender<()>),
}

/// The way to whoever does the jobs, one after the other.
#[derive(Default)]
pub(crate) struct Jobs {
    sender: OnceLock<Mutex<Sender<Job>>>,
}

impl Jobs {
    /// Lets a job be done soon, in order. With the first of all, `begin` starts whoever does them.
    pub(crate) fn send(&self, job: Job, begin: impl FnOnce(Receiver<Job>)) {
        let sender = self.sender.get_or_init(|| {
            let (sender, coming) = channel();
            begin(coming);
            Mutex::new(sender)
        });
        // Whoever does them goes only with the workspace.
        let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(job);
    }
}
