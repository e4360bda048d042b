//! Recording what another program has made of the file, while the buffer may have gone on from it (rule W23).

use std::sync::Arc;

use hashline_text::Text;

use crate::model::base::{Base, BaseLines};
use crate::model::error::WeaveError;
use crate::model::hunk::{Change, HunkId};
use crate::model::ids::Ids;
use crate::model::line::IdRange;
use crate::model::run::Run;
use crate::model::state::Model;

impl Model {
    /// The text of the file, where it is known by its lines.
    #[must_use]
    pub fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    /// Says what the file has: an earlier [`base`](Self::base) of this weave, or nothing that is known.
    pub(crate) fn set_base(&mut self, base: Option<Base>) {
        self.base = base;
    }

    /// Notes that the file has what the buffer has.
    pub(crate) fn mark_base(&mut self) {
        if self.base.as_ref().is_none_or(|base| base.revision != self.revision) {
            let ids = self.ids(|run| run.shown);
            self.base = Some(self.base_of(self.buffer.clone(), &ids, &self.on));
        }
    }

    /// Records changes of the base as hunks, in its order; `after` is the base with all of them in it, and is the base from now on. They are
    /// held, or in conflict from the beginning where the buffer has gone on in the same place.
    pub(crate) fn record_on_base(
        &mut self,
        changes: &[Change],
        newline: Option<bool>,
        after: Text,
    ) -> Result<Vec<HunkId>, WeaveError> {
        let base = self.base.clone().ok_or(WeaveError::NoBase)?;
        Self::check_changes(changes, base.text().line_count())?;
        if !self.knows(&base) {
            return Err(WeaveError::NoBase);
        }
        let known = BaseLines::of(&base);
        self.cut_apart(&known);
        let in_base = |run: &Run| known.has(run.ids.first);
        let mut on = base.on.to_vec();
        on.resize(self.hunks.len(), false);
        let ids = self.weave_all(changes, newline, &on, in_base);
        for (change, id) in changes.iter().zip(&ids) {
            self.removes_as_in(*id, base.text(), change);
        }
        self.touch();
        self.base = Some(self.grown(&base, &known, &ids, after));
        Ok(ids)
    }

    /// What a base is once the file has these hunks of it as well; `text` is the base with them. None for lines that are not known any more.
    pub(crate) fn base_with(&mut self, base: &Base, hunks: &[HunkId], text: Text) -> Option<Base> {
        if !self.knows(base) {
            return None;
        }
        let known = BaseLines::of(base);
        self.cut_apart(&known);
        let grown = self.grown(base, &known, hunks, text);
        self.knows(&grown).then_some(grown)
    }

    /// The same; `known` are the lines of the base, from which runs are cut apart.
    fn grown(&self, base: &Base, known: &BaseLines, hunks: &[HunkId], text: Text) -> Base {
        let mut new = vec![false; self.hunks.len()];
        hunks.iter().for_each(|hunk| new[hunk.index()] = true);
        let is_new = |hunk: &HunkId| new[hunk.index()];
        let stays = |run: &Run| known.has(run.ids.first) && !run.removers.iter().any(is_new);
        let then = self.ids(|run| run.maker.as_ref().is_some_and(is_new) || stays(run));
        let mut on = base.on.to_vec();
        on.resize(self.hunks.len(), false);
        on.iter_mut().zip(&new).for_each(|(on, new)| *on |= new);
        self.base_of(text, &then, &on)
    }

    /// Whether the lines of a base are all among those that are known.
    pub(crate) fn knows(&self, base: &Base) -> bool {
        let known = BaseLines::of(base);
        let lines: usize = self.runs.iter().map(|run| known.count_in(run.ids)).sum();
        lines == base.text().line_count()
    }

    /// A base with these lines and hunks, as of now.
    fn base_of(&self, text: Text, ids: &[IdRange], on: &[bool]) -> Base {
        Base { text, ids: Ids::new(ids, &self.served_ids), on: on.into(), revision: self.revision }
    }

    /// Cuts runs so that each is of these lines as a whole, or not at all.
    fn cut_apart(&mut self, known: &BaseLines) {
        let mut index = 0;
        while index < self.runs.len() {
            let ids = self.runs[index].ids;
            let inside = |border: &u64| ids.first.0 < *border && *border < ids.end();
            let next = known.next(ids.first);
            let border = next.and_then(|range| [range.first.0, range.end()].into_iter().find(inside));
            if let Some(border) = border {
                let mut head = self.runs[index].clone();
                let tail = head.split_off((border - ids.first.0) as usize);
                self.runs.put(index..index + 1, [head, tail]);
            }
            index += 1;
        }
    }

    /// What a hunk removes, it removes as it reads in this text: the buffer may have it otherwise by now.
    fn removes_as_in(&mut self, id: HunkId, text: &Text, change: &Change) {
        let ending = self.ending;
        let then = text.lines(change.lines.clone()).map(|line| line.to_owned_line(ending));
        let hunk = Arc::make_mut(&mut self.hunks[id.index()]);
        hunk.removed.iter_mut().zip(then).for_each(|(removed, line)| removed.line = line);
    }
}
