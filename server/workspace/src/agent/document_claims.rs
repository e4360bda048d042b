//! What other processes ask of a document before they touch it (rule W19): whether it is open here, and what decides between several
//! sidecars that have it.

use std::path::Path;
use std::sync::atomic::Ordering;

use hashline_text::FileHash;

use crate::agent::documents::info;
use crate::disk::identity;
use crate::unsaved_work::Level;
use crate::workspace::{Workspace, key_of};

/// A document that is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Whether the editor has it open.
    pub open: bool,
    /// How its text stands to its file; a document that is not open has the text of that.
    pub level: Level,
    /// The editor's name for its language.
    pub language: Option<String>,
    /// Undecided edits that are decided here.
    pub pending: usize,
    /// Whether another editor that has it open takes no edits of it: those here are claimed, and any is undecided or not saved.
    pub claimed: bool,
    /// The hash of its text, if that is unsaved: two editors that have the same text are of one mind.
    pub hash: Option<FileHash>,
    /// When it was opened or typed in last, in milliseconds since 1970.
    pub used: Option<u64>,
}

impl Workspace {
    /// How a path stands here; none if it is not known. Looks at the disk, and waits for nobody who may be waiting for an agent or
    /// for the history.
    #[must_use]
    pub fn holding(&self, path: &Path) -> Option<Holding> {
        let slot = self.inner.slots.get(&key_of(&identity(path))).map(|slot| slot.value().clone());
        let Some(slot) = slot else { return self.claimed_only(path) };
        let elsewhere = slot.whose().other().is_some();
        let (open, pending) = {
            let document = slot.lock();
            let pending = document.edits().iter();
            let pending = pending.filter(|edit| edit.status() == hashline_history::Status::Pending).count();
            (document.is_open(), if elsewhere { 0 } else { pending })
        };
        let used = Some(slot.used.load(Ordering::Relaxed)).filter(|used| *used > 0);
        if !open {
            let claimed = !elsewhere && slot.place().is_some_and(|place| self.has_claimed_at(&place));
            return Some(Holding { pending, claimed, used, ..Holding::closed() });
        }
        let info = info(&slot);
        let hash = (info.level == Level::Unsaved).then(|| {
            let (text, form) = {
                let document = slot.lock();
                (document.text().clone(), document.form())
            };
            form.hash(&text)
        });
        let language = Some(info.language).filter(|language| !language.is_empty());
        let claimed = self.has_claimed(&slot);
        Some(Holding { open, level: info.level, language, pending, claimed, hash, used })
    }

    /// A file that is claimed here, and that had this name before another file had it.
    fn claimed_only(&self, path: &Path) -> Option<Holding> {
        let place = self.read_roots().identify(path)?;
        self.has_claimed_at(&place).then(|| Holding { claimed: true, ..Holding::closed() })
    }
}

impl Holding {
    /// A document that is not open.
    fn closed() -> Self {
        let (level, open, pending, claimed) = (Level::Saved, false, 0, false);
        Self { open, level, language: None, pending, claimed, hash: None, used: None }
    }
}
