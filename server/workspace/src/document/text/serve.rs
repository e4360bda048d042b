//! Serving the text to agents, and remembering what was served (rule W14): all agents see the editor's text with the held hunks in it.

use std::ops::Range;
use std::sync::Arc;

use hashline_text::FileHash;
use hashline_weave::View;

use crate::document::{Document, Millis, OutOfStep, Served};

impl Document {
    /// A view of the document as it is now.
    ///
    /// # Errors
    ///
    /// [`OutOfStep`]: the text cannot be trusted.
    pub fn serve(&mut self, view: View) -> Result<Served, OutOfStep> {
        if let Some(reason) = &self.text.out_of_step {
            return Err(reason.clone());
        }
        let form = self.text.form;
        let weave = self.weave();
        let revision = weave.revision();
        let (held, conflicted) = match weave.hunks().next() {
            None => (0, Vec::new()),
            Some(_) => self.left_out(),
        };
        let (hash, snapshot) = match self.text.snapshots.latest(view, revision) {
            Some((hash, snapshot)) => (Some(hash), snapshot),
            None => (None, Arc::new(self.weave().snapshot(view))),
        };
        Ok(Served { snapshot, hash, view, held, conflicted, form, revision })
    }

    /// Remembers the hash of a view, so that it is not computed again while the text stays as it is.
    pub(crate) fn hashed(&mut self, served: &Served, hash: FileHash) {
        if self.has(served) {
            self.text.snapshots.hashed(served, hash);
        }
    }

    /// Whether a view is of the weave that the document has: made anew of its record it counts revisions anew.
    fn has(&mut self, served: &Served) -> bool {
        let weave = self.weave();
        weave.revision() != served.revision || weave.view(served.view).is_same_instance(served.text())
    }

    /// Remembers what an agent was given: these lines of a view with this hash.
    pub fn served(&mut self, served: &Served, hash: FileHash, lines: Range<usize>, now: Millis) {
        self.hashed(served, hash);
        self.text.snapshots.keep(served, hash, lines, now);
    }

    /// How many hunks of the agent view are not in the text, and the names of the conflicted ones.
    fn left_out(&mut self) -> (usize, Vec<String>) {
        let weave = self.weave();
        let conflicts = weave.conflicts();
        let hunks: Vec<_> = weave.hunks().collect();
        let held = hunks.iter().filter(|id| !weave.in_buffer(**id) && weave.in_agent_view(**id)).count();
        let conflicted = hunks.into_iter().filter(|id| conflicts[id.order()].is_some());
        let named = conflicted
            .filter_map(|id| self.owner_of(id).map(|(edit, hunk)| edit.name_of(hunk).short()))
            .collect();
        (held, named)
    }
}
