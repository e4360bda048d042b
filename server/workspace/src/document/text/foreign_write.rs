//! What another program has written to the file of an open document, as an edit of what the file had before (rule W23).
//!
//! In three steps, as an agent's edit: [`Document::base`] says what the file had, [`Written::of`] finds what was made of it, without a lock,
//! and [`Document::propose_written`] records that as hunks.

use hashline_anchor::{ExactHunk, Rewrite, rewrite_whole};
use hashline_history::Operation as FileOperation;
use hashline_text::{DiskForm, Text};
use hashline_weave::{Base, Change, HunkId, Regions, WeaveError};

use crate::document::text::change::Whole;
use crate::document::text::propose::{Before, changes_of_rewrite};
use crate::document::{Document, Proposed, Refused, Unit};

/// What another program has made of the file's text.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    base: Base,
    /// The editor's text, of which it is known what it has of this already.
    mine: Text,
    changes: Vec<Change>,
    /// What the editor's text has to the letter.
    agreed: Vec<ExactHunk>,
    /// Whether the text ends with a newline afterwards, where its last change or what is agreed last says so.
    ends: Option<bool>,
    newline: Option<bool>,
    /// The base with the changes in it.
    after: Text,
    /// What the file has, as the editor would serve it.
    pub text: Text,
}

impl Written {
    /// What makes the file's content of its base. What the editor's text has as well is nothing to decide about.
    ///
    /// # Errors
    ///
    /// [`Refused::AddsMark`], and [`Refused::CannotWeave`] where two endings would be read as one.
    pub(crate) fn of(base: Base, form: DiskForm, mine: Text, content: &str) -> Result<Self, Refused> {
        let old = base.text();
        let (all, _) = Whole::of(content).rewrite(old, form, true)?;
        let joined = |_| Refused::CannotWeave(WeaveError::EndingsWouldJoin);
        let text = all.apply(old).map_err(joined)?;
        let own = rewrite_whole(old, &mine);
        let is_mine =
            |hunk: &ExactHunk| own.hunks.iter().any(|own| own.lines == hunk.lines && own.new == hunk.new);
        let last = all.hunks.last().is_none_or(|last| !is_mine(last));
        let newline = all.newline_at_end.filter(|_| last);
        let ends = all.newline_at_end;
        let (agreed, hunks) = all.hunks.into_iter().partition(is_mine);
        let rewrite = Rewrite { hunks, newline_at_end: newline, ..Rewrite::default() };
        let after = rewrite.apply(old).map_err(joined)?;
        let changes = changes_of_rewrite(old, rewrite).changes;
        Ok(Self { base, mine, changes, agreed, ends, newline, after, text })
    }

    /// The base with some of the changes in it, by their index, and with what the editor's text has as well.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub(crate) fn with(&self, is_in: impl Fn(usize) -> bool) -> Result<Text, Refused> {
        let accepted = self.changes.iter().enumerate().filter(|(index, _)| is_in(*index));
        let mut hunks = self.agreed.clone();
        hunks.extend(accepted.map(|(_, Change { lines, new })| ExactHunk {
            lines: lines.clone(),
            new: new.clone(),
            parts: Vec::new(),
        }));
        hunks.sort_by_key(|hunk| hunk.lines.start);
        // The word goes with the last of all.
        let starts =
            self.agreed.iter().map(|hunk| &hunk.lines).chain(self.changes.iter().map(|change| &change.lines));
        let last = starts.map(|lines| lines.start).max();
        let newline_at_end = self.ends.filter(|_| hunks.last().map(|hunk| hunk.lines.start) == last);
        let rewrite = Rewrite { hunks, newline_at_end, ..Rewrite::default() };
        rewrite.apply(self.base.text()).map_err(|_| Refused::CannotWeave(WeaveError::EndingsWouldJoin))
    }

    /// Whether none of it is in the editor's text already.
    pub(crate) fn is_all_new(&self) -> bool {
        self.agreed.is_empty()
    }

    /// What the file had.
    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// Whether the editor's text has all of it.
    pub(crate) fn is_nothing(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Document {
    /// Notes that the file has this text.
    pub(crate) fn note_file_has(&mut self, text: &Text) {
        self.text.note_file_has(text);
    }

    /// What the file had, where that is known by its lines.
    pub(crate) fn base(&mut self) -> Option<Base> {
        self.weave().base().cloned()
    }

    /// Goes back to what the file had before something was written to it that counts no longer.
    pub(crate) fn set_base(&mut self, base: Base) {
        self.weave().set_base(Some(base));
    }

    /// Says what the file has, where it was this until now. False where it was not.
    pub(crate) fn replace_base(&mut self, until_now: &Base, base: &Base) -> bool {
        let is_it = self.weave().base().is_some_and(|own| own.is_same_instance(until_now));
        if is_it {
            self.weave().set_base(Some(base.clone()));
        }
        is_it
    }

    /// What the file has once it is this text: the base, and these hunks that were recorded on it. None where that is not known by its lines.
    pub(crate) fn base_with(&mut self, base: &Base, hunks: &[HunkId], text: Text) -> Option<Base> {
        self.weave().base_with(base, hunks, text)
    }

    /// Whether a text is one of the latest that the editor had. Takes a copy, as it takes time in the size of the text.
    pub(crate) fn had(mut self, text: &Text) -> bool {
        if self.text.was_plain(text) {
            return true;
        }
        let weave = self.weave();
        let mut regions = Regions::default();
        regions.replace_all(&mut weave.buffer().clone(), text.clone());
        weave.was(text, &regions)
    }

    /// Records what another program has written as hunks: provisional until [`publish`](Self::publish), gone with
    /// [`withdraw_provisional`](Self::withdraw_provisional) and [`set_base`](Self::set_base). None, and nothing has changed, where the text or
    /// the file is another one by now.
    ///
    /// # Errors
    ///
    /// As for [`propose`](Self::propose).
    pub(crate) fn propose_written(&mut self, written: &Written) -> Result<Option<Proposed>, Refused> {
        self.takes_edits()?;
        let base = self.weave().base();
        let is_same = base.is_some_and(|base| base.is_same_instance(&written.base));
        if !is_same || !self.text().is_same_instance(&written.mine) {
            return Ok(None);
        }
        let (form, text) = (self.form(), written.base.text().clone());
        let Written { changes, newline, after, .. } = written.clone();
        let lines = changes.iter().map(|change| change.lines.start).collect();
        let recorded = self.weave().record_on_base(&changes, newline, after);
        let hunks = recorded.map_err(Refused::CannotWeave)?;
        // Until it is recorded nobody sees it (rule W20).
        let after = self.serve_agents()?;
        self.weave().conceal(&hunks);
        Ok(Some(Proposed {
            hunks,
            carried: false,
            moved: Vec::new(),
            seen_all: false,
            held_below: false,
            notes: Vec::new(),
            unit: Unit::Whole,
            idle: Vec::new(),
            after,
            before: Before { text, form, hash: None },
            operation: FileOperation::Edit,
            lines,
        }))
    }
}
