//! What is recorded and read without anybody waiting for it, on a thread of its own.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::document::FileAnswer;
use crate::document_slot::Slot;
use crate::record::Job;
use crate::workspace::{Inner, Workspace};

/// How long a closed document may be opened again before its file has the last word (rule W16).
const REOPENED_WITHIN: Duration = Duration::from_secs(2);
/// How long an editor may take to say that it has renamed or removed a file.
const DONE_WITHIN: Duration = Duration::from_secs(5);
/// How long it may take until the disk shows it, once the editor says so.
const SHOWN_WITHIN: Duration = Duration::from_secs(2);
/// The pause before something is tried to be recorded again.
const PAUSE: Duration = Duration::from_secs(1);
/// The pause before a document whose turn it is not is looked at again.
const TURN: Duration = Duration::from_millis(20);
/// How often it is looked for what other processes have recorded, and have written.
const WATCH: Duration = Duration::from_millis(500);
/// How long a file that was just written is left alone before it is looked at again: its writer may not be done, and an editor has yet to
/// say that it was itself.
const AT_REST: Duration = Duration::from_millis(250);

impl Workspace {
    /// Lets something be recorded or read without waiting for it.
    pub(crate) fn later(&self, job: Job) {
        self.inner.jobs.send(job, |coming| {
            let inner = Arc::downgrade(&self.inner);
            let work = move || Worker { inner, waiting: Vec::new(), failed: HashSet::new() }.run(&coming);
            if let Err(error) = std::thread::Builder::new().name("recorder".to_owned()).spawn(work) {
                tracing::error!("nothing will be recorded: there is no thread for it ({error})");
            }
        });
    }

    /// Waits until what has happened so far is recorded, or was tried to be, and logs and diffs have it. Blocks.
    pub fn settle_record(&self) {
        self.settle_jobs();
        for store in self.inner.histories.open() {
            store.wait_for_sessions();
        }
    }

    /// Waits until the jobs so far are done. Blocks.
    pub(crate) fn settle_jobs(&self) {
        let (done, told) = channel();
        self.later(Job::Tell(done));
        let _ = told.recv();
    }
}

/// Does the jobs.
struct Worker {
    inner: Weak<Inner>,
    /// What waits for its time.
    waiting: Vec<(Instant, Job)>,
    /// The documents that could not be recorded, by identity; the person knows of them.
    failed: HashSet<String>,
}

impl Worker {
    fn run(&mut self, coming: &Receiver<Job>) {
        loop {
            let job = match self.next_due() {
                None => coming.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => coming.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            let Some(inner) = self.inner.upgrade() else { return };
            let workspace = Workspace { inner };
            match job {
                Ok(job) => self.work_safely(&workspace, job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = Instant::now();
            while let Some(at) = self.waiting.iter().position(|(due, _)| *due <= now) {
                let (_, job) = self.waiting.swap_remove(at);
                self.work_safely(&workspace, job);
            }
        }
    }

    /// Does a job. A fault in it costs that job and none of those behind it: all documents are recorded by this one thread.
    fn work_safely(&mut self, workspace: &Workspace, job: Job) {
        let about = match &job {
            Job::Record(slot) | Job::Opened(slot) | Job::Closed(slot) | Job::Settle(slot, _) => {
                Some(slot.clone())
            }
            Job::Saved(slot, _) => Some(slot.clone()),
            Job::Asked(slot, ..) | Job::Answered(slot, ..) | Job::Due(slot, ..) => Some(slot.clone()),
            Job::Offer | Job::TakeBack(_) | Job::Watch | Job::Tell(_) => None,
        };
        let watches = matches!(job, Job::Watch);
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| self.work(workspace, job)));
        if done.is_ok() {
            return;
        }
        if watches {
            self.waiting.push((Instant::now() + WATCH, Job::Watch));
        }
        if let Some(slot) = &about {
            // Agents that wait for its edits go on without them.
            slot.anew.store(false, Ordering::Relaxed);
            slot.ready();
        }
        let what = about.map_or_else(|| "the edit history".to_owned(), |slot| slot.key.clone());
        workspace.notice(format!(
            "A fault in hashline kept it from recording or reading {what}; please report it, with the log. The text is as it was. Close the \
             file and open it again to see its edits."
        ));
    }

    fn next_due(&self) -> Option<Instant> {
        self.waiting.iter().map(|(due, _)| *due).min()
    }

    fn work(&mut self, workspace: &Workspace, job: Job) {
        match job {
            Job::Record(slot) => self.record(workspace, &slot),
            Job::Saved(slot, text) => {
                // Typed while it was written, the text may be another than the file has.
                slot.share_with_file(None);
                slot.level(&text);
                self.record(workspace, &slot);
            }
            Job::Opened(slot) if workspace.may_be_renamed(&slot) => {
                // Then it is the document that had the other name.
                slot.deferred.store(true, Ordering::Relaxed);
                self.waiting.push((Instant::now() + TURN, Job::Opened(slot)));
            }
            Job::Opened(slot) => {
                if !workspace.bring_back(&slot) {
                    self.waiting.push((Instant::now() + TURN, Job::Opened(slot)));
                    return;
                }
                slot.deferred.store(false, Ordering::Relaxed);
                if !*slot.whole.borrow() {
                    self.waiting.push((Instant::now() + PAUSE, Job::Opened(slot)));
                    return;
                }
                // What the file holds by now, it and the editor share: later that tells unsaved work from a text of yesterday.
                let text = slot.lock().text().clone();
                slot.level(&text);
            }
            Job::Closed(slot) => {
                if slot.lock().is_open() {
                    return;
                }
                // With what was typed, which an editor may have kept.
                if workspace.has_more_than_recorded(&slot) {
                    self.record_all(workspace, &slot);
                }
                workspace.look_whether_done(&slot, false);
                let file = slot.recorded().latest.map(|(file, _)| file);
                self.waiting.push((Instant::now() + REOPENED_WITHIN, Job::Settle(slot, file)));
            }
            Job::Settle(slot, file) => {
                if !workspace.settle_closed(&slot) {
                    self.waiting.push((Instant::now() + TURN, Job::Settle(slot, file)));
                } else if let Some(file) = file {
                    workspace.give_back(&slot, file);
                }
            }
            Job::Asked(slot, number) => {
                self.waiting.push((Instant::now() + DONE_WITHIN, Job::Due(slot, number)));
            }
            Job::Answered(slot, number, answer) => match answer {
                _ if workspace.look_whether_done(&slot, false) || !slot.lock().is_at(number) => {}
                FileAnswer::Done => {
                    self.waiting.push((Instant::now() + SHOWN_WITHIN, Job::Due(slot, number)));
                }
                FileAnswer::NotDone(Some(why)) => {
                    workspace.not_done(&slot, &format!("the editor says “{why}”"));
                }
                FileAnswer::NotDone(None) => workspace.not_done(&slot, "the editor did not do it"),
            },
            Job::Due(slot, number) if slot.queue.try_lock().is_err() => {
                self.waiting.push((Instant::now() + TURN, Job::Due(slot, number)));
            }
            Job::Due(slot, number) => {
                if slot.lock().is_at(number) && !workspace.look_whether_done(&slot, true) {
                    workspace.not_done(&slot, "the editor was asked, and the disk does not show it");
                }
            }
            Job::Offer => workspace.offer_recorded(),
            Job::TakeBack(store) => {
                if store.is_unsure() && workspace.session(&store).is_err() {
                    self.waiting.push((Instant::now() + PAUSE, Job::TakeBack(store)));
                }
            }
            Job::Watch => {
                let (behind, grown) = workspace.left_behind();
                for slot in behind {
                    if slot.lock().is_open() {
                        slot.whole.send_replace(false);
                        self.work(workspace, Job::Opened(slot));
                    } else {
                        self.work(workspace, Job::Settle(slot, None));
                    }
                }
                if grown {
                    workspace.offer_recorded();
                }
                let pause = if workspace.look_for_foreign_writes() { AT_REST } else { WATCH };
                self.waiting.push((Instant::now() + pause, Job::Watch));
            }
            // Whoever asked may have gone.
            Job::Tell(done) => drop(done.send(())),
        }
    }

    fn record(&mut self, workspace: &Workspace, slot: &Arc<Slot>) {
        if slot.lock().has_unrecorded() {
            self.record_all(workspace, slot);
        }
    }

    fn record_all(&mut self, workspace: &Workspace, slot: &Arc<Slot>) {
        match workspace.record(slot, None) {
            Ok(unfinished) => {
                drop(unfinished);
                self.recorded(slot);
            }
            Err(error) => self.not_recorded(workspace, slot, &error),
        }
    }

    /// What there was to record of a document is recorded, or is another process's by now, so that it comes back from there.
    fn recorded(&mut self, slot: &Arc<Slot>) {
        self.failed.remove(&slot.key);
        if !*slot.whole.borrow() {
            self.waiting.push((Instant::now(), Job::Opened(slot.clone())));
        }
    }

    /// What was seen in the text has happened: it is kept and tried again, and the person is told once.
    fn not_recorded(
        &mut self,
        workspace: &Workspace,
        slot: &Arc<Slot>,
        error: &hashline_history::StoreError,
    ) {
        if !slot.lock().has_unrecorded() {
            // Nothing has happened yet.
            workspace.tell_not_made(slot, error);
            workspace.attend(slot);
            return;
        }
        if self.failed.insert(slot.key.clone()) {
            workspace.notice(format!(
                "What became of the edits in {} could not be recorded: {error}. It is kept here and tried again; agents cannot edit the \
                 document until then.",
                slot.key
            ));
        }
        let same = |job: &Job| matches!(job, Job::Record(waiting) if Arc::ptr_eq(waiting, slot));
        if !self.waiting.iter().any(|(_, job)| same(job)) {
            self.waiting.push((Instant::now() + PAUSE, Job::Record(slot.clone())));
        }
    }
}
