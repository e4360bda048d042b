//! The person's decisions about what edits do to files themselves (rule W10).

use std::ops::Range;

use hashline_history::{Decision, FileChange, HunkRef, Reason};
use hashline_text::{DiskForm, FileHash, Text};
use hashline_weave::{HunkId, Plan, TakeOut, Weave};

use crate::document::{Along, Choice, Decided, Document, Edit, FileHunk, Request, Target, Undecided, Why};

/// What a file that is unmade takes with it.
struct Emptied {
    /// The hunks that have come into it since it was made, and what waits to build on them.
    hunks: Vec<HunkId>,
    /// The text without them, and how it is stored; none if they cannot be taken out, and may be lost.
    left: Option<(Weave, DiskForm)>,
    /// There is more in it than hunks.
    mine: bool,
}

impl Document {
    /// The edits whose file hunks a decision is about.
    pub(crate) fn file_targets(&self, request: &Request) -> Vec<usize> {
        if request.own.is_some() {
            // Only lines are rewritten.
            return Vec::new();
        }
        let named = |edit: &Edit| match &request.target {
            Target::Hunk(name) => name.number == 1 && edit.id.as_str().starts_with(name.edit.as_str()),
            Target::Edit(id) => edit.id.as_str().starts_with(id.as_str()),
            Target::Conversation(id) | Target::Whole(id) => edit.conversation == *id,
            Target::Lines(_) => false,
            Target::All => true,
        };
        let again = request.choice == Choice::Reopen
            || (request.choice != Choice::Comment
                && matches!(request.target, Target::Hunk(_) | Target::Edit(_)));
        let open = |edit: &Edit| {
            edit.file.as_ref().is_some_and(|file| {
                let whole =
                    matches!(request.target, Target::Whole(_)) && request.choice.is_against(file.decision);
                file.decision == Decision::Undecided
                    || whole
                    || (again && file.decision != Decision::Withdrawn)
            })
        };
        (0..self.edits().len()).filter(|at| named(&self.edits()[*at]) && open(&self.edits()[*at])).collect()
    }

    /// Decides about file hunks, those that make the file or the others. Returns what cannot be decided so.
    pub(crate) fn decide_file(&mut self, request: &Request, made: bool) -> Decided {
        let mut decided = Decided::default();
        let mut targets = self.file_targets(request);
        targets.retain(|at| self.edits()[*at].file.as_ref().is_some_and(|file| file.creates() == made));
        if request.choice.puts_in() == Some(false) {
            targets.reverse();
        }
        for at in targets {
            let done = match request.choice.puts_in() {
                Some(true) => self.accept_file(at, request),
                Some(false) => self.reject_file(at, request),
                None if request.choice == Choice::Comment && self.is_asking_for(&self.file_hunk_name(at)) => {
                    let words =
                        "The editor is about to do it, or to undo it. Comment on it when that is done.";
                    Err(self.file_refused(at, Why::Failed, words.to_owned()))
                }
                None => {
                    let says = request.reason.clone().filter(|_| request.choice == Choice::Comment);
                    self.set_file_decision(at, Decision::Undecided, says);
                    Ok(vec![self.file_hunk_name(at)])
                }
            };
            match done {
                Ok(hunks) => decided.add(hunks),
                Err(refused) => decided.refused.push(refused),
            }
        }
        decided
    }

    /// Returns what is decided: the hunk, and what goes with it.
    fn accept_file(&mut self, at: usize, request: &Request) -> Result<Vec<HunkRef>, Undecided> {
        let Some(hunk) = self.edits()[at].file.clone() else { return Ok(Vec::new()) };
        let name = self.file_hunk_name(at);
        if hunk.done && self.is_asking_for(&self.file_hunk_name(at)) {
            // The editor is about to undo it.
            self.is_asked(at, true)?;
        }
        if !hunk.done {
            if self.is_asked(at, true)? {
                return Ok(vec![name]);
            }
            let above = self.done_above(at);
            if !above.is_empty() {
                // The latest goes first.
                let others = above.into_iter().rev().map(|other| self.file_hunk_name(other)).collect();
                let words = |names: &str, those: &str| {
                    format!(
                        "{names} removed, made or renamed the file after it. Reject {those} first, or this one."
                    )
                };
                return Err(self.refused_for(at, Why::Collides, others, words));
            }
            if !self.file.now.is(&hunk.change, false) {
                return self.accept_file_with(at, request);
            }
            if hunk.creates() {
                if self.bytes().is_some_and(|bytes| Some(FileHash::of(bytes)) != hunk.makes) {
                    let words = "What it would make is no longer kept, as another file was made in its place. Reject the edit.";
                    return Err(self.file_refused(at, Why::Changed, words.to_owned()));
                }
                let beside = self.lines_beside(at);
                if !beside.is_empty() {
                    let words = |names: &str, those: &str| {
                        format!(
                            "{names} would be in the file as well, with the lines of one that was made and removed before. Reject {those} first, or this one."
                        )
                    };
                    return Err(self.refused_for(at, Why::Collides, beside, words));
                }
                self.take_form_of(at);
            }
            if self.is_open() {
                return self.ask(at, true, Decision::Accepted, request).map(|()| vec![name]);
            }
            self.switch_file(at, true);
        }
        self.set_file_decision(at, Decision::Accepted, request.reason.clone());
        Ok(vec![name])
    }

    /// The lines that other edits made the file of before it was removed, where this one, which makes it anew, has not taken their place: they
    /// were out when it was made.
    fn lines_beside(&self, at: usize) -> Vec<HunkRef> {
        let Some(weave) = self.text.woven() else { return Vec::new() };
        let lines = |edit: usize| self.edits()[edit].hunks.iter().map(|hunk| hunk.id);
        let own: Vec<HunkId> = lines(at).collect();
        let mut trial = weave.clone();
        if trial.carry_out(&Plan::switch(&weave.with_prerequisites_of(&own), &[])).is_err() {
            return Vec::new();
        }
        let makes = |edit: &usize| self.edits()[*edit].file.as_ref().is_some_and(FileHunk::creates);
        let is_beside = |id: &HunkId| {
            weave.in_buffer(*id) && !trial.with_dependents(*id).iter().any(|other| own.contains(other))
        };
        let beside = (0..at).filter(makes).flat_map(lines).filter(is_beside);
        beside.filter_map(|id| self.name(id)).collect()
    }

    /// Whether lines may come into the file, for the sake of a hunk: not those of one making beside those of another, where neither took the
    /// place of the other.
    pub(crate) fn check_makings(&mut self, id: HunkId, hunks: &[HunkId]) -> Result<(), Undecided> {
        let makes = |document: &Self, id: HunkId| {
            let edit = document.owner_of(id).map(|(edit, _)| edit);
            edit.and_then(|edit| edit.file.as_ref()).is_some_and(FileHunk::creates)
        };
        let (there, coming): (Vec<HunkId>, Vec<HunkId>) = {
            let weave = self.weave();
            let coming = hunks.iter().copied().filter(|id| !weave.in_buffer(*id)).collect();
            (weave.hunks().filter(|id| weave.in_buffer(*id)).collect(), coming)
        };
        let mut beside = Vec::new();
        for made in coming.into_iter().filter(|id| makes(self, *id)).collect::<Vec<_>>() {
            let below = self.all_below(made);
            let others = there.iter().filter(|other| makes(self, **other) && !below.contains(other));
            beside.extend(others.filter_map(|other| self.name(*other)));
        }
        if beside.is_empty() {
            return Ok(());
        }
        let names = beside.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
        let those = if beside.len() == 1 { "that one" } else { "those" };
        let message = format!(
            "{names} made the file anew, and the lines of both would be in it. Reject {those} first, or this one."
        );
        Err(Undecided { hunk: self.full_name(id), why: Why::Collides, message, others: beside })
    }

    /// The edit that would make the file that lines are to come into, where it is not there and no editor has it open.
    pub(crate) fn maker_of(&self, request: &Request, lines: &[HunkId]) -> Option<usize> {
        let goes_in = request.choice.puts_in() == Some(true) && !self.is_open() && !self.exists();
        let of_existence =
            |file: &FileHunk| file.change.exists.is_some() && file.decision != Decision::Withdrawn;
        let edit = self.edits.edit_of(*lines.first().filter(|_| goes_in)?)?;
        let latest = (0..=edit).rfind(|at| self.edits()[*at].file.as_ref().is_some_and(of_existence))?;
        // Lines of a file that was removed are still known.
        let makes = |file: &FileHunk| {
            file.creates() && !file.done && (file.decision == Decision::Undecided || !self.is_deleted())
        };
        self.edits()[latest].file.as_ref().is_some_and(makes).then_some(latest)
    }

    /// Makes the file that lines are to come into, as far as that may be decided with them. Returns what is decided for that.
    pub(crate) fn make_file_for(
        &mut self,
        request: &Request,
        lines: &[HunkId],
    ) -> Result<Vec<HunkRef>, Undecided> {
        let (Some(at), Some(first)) = (self.maker_of(request, lines), lines.first()) else {
            return Ok(Vec::new());
        };
        let mut edits = lines.iter().filter_map(|id| self.owner_of(*id));
        let foreign = edits.any(|(edit, _)| !request.takes_along(edit, &self.edits()[at]));
        if foreign && !matches!(request.target, Target::All) {
            let maker = self.file_hunk_name(at);
            let words =
                format!("The file is not there: {} would make it. Decide that one with it.", maker.short());
            return Err(Undecided {
                hunk: self.full_name(*first),
                why: Why::NeedsOthers,
                message: words,
                others: vec![maker],
            });
        }
        self.accept_file(at, request)
    }

    /// The same.
    fn reject_file(&mut self, at: usize, request: &Request) -> Result<Vec<HunkRef>, Undecided> {
        let Some(hunk) = self.edits()[at].file.clone() else { return Ok(Vec::new()) };
        let mut decided = vec![self.file_hunk_name(at)];
        let asked = self.is_asked(at, false)?;
        if hunk.done {
            if asked {
                return Ok(decided);
            }
            if !self.file.now.is(&hunk.change, true) || !self.done_above(at).is_empty() {
                return self.reject_file_with(at, request);
            }
            if self.is_open() {
                return self.ask(at, false, Decision::Rejected, request).map(|()| decided);
            }
            if hunk.creates() {
                let emptied = self.may_be_emptied(at, request)?;
                decided.extend(emptied.hunks.iter().filter_map(|id| self.name(*id)));
                self.empty(emptied, Decision::Rejected, request.reason.as_ref());
            }
            self.switch_file(at, false);
        }
        self.set_file_decision(at, Decision::Rejected, request.reason.clone());
        Ok(decided)
    }

    /// Takes back an undecided file hunk, for the agent that made it.
    pub(crate) fn withdraw_file(&mut self, at: usize) {
        let Some(hunk) = self.edits()[at].file.clone() else { return };
        if hunk.decision != Decision::Undecided || self.is_asking_for(&self.file_hunk_name(at)) {
            // The person has decided, or is about to.
            return;
        }
        if hunk.done {
            if self.check_closed(at).is_err() || !self.file.now.is(&hunk.change, true) {
                return;
            }
            if hunk.creates() {
                let request = Request::of(Choice::Reject, Target::Edit(self.edits()[at].id.to_string()));
                // Something may rest on it: that is for the person to decide.
                let Ok(emptied) = self.may_be_emptied(at, &request) else { return };
                if !emptied.hunks.iter().all(|id| self.may_go_with(at, *id)) {
                    return;
                }
                self.empty(emptied, Decision::Withdrawn, None);
            }
            self.switch_file(at, false);
        }
        self.set_file_decision(at, Decision::Withdrawn, None);
    }

    /// Whether the agent of an edit may take back a hunk with it: one of its own that the person has not decided about.
    fn may_go_with(&self, at: usize, hunk: HunkId) -> bool {
        let connection = &self.edits()[at].connection;
        self.owner_of(hunk).is_none_or(|(other, hunk)| {
            other.connection == *connection && hunk.decision == Decision::Undecided
        })
    }

    /// Why a file that is to be unmade cannot be, as something has come to be in it.
    pub(crate) fn unmaking_refused(&mut self, request: &Request) -> Option<Undecided> {
        self.to_be_unmade(request).into_iter().find_map(|at| self.may_be_emptied(at, request).err())
    }

    /// Whether a decision would remove a file with what a person has written in it.
    pub(crate) fn gives_up_file(&mut self, request: &Request) -> bool {
        request.choice.puts_in() == Some(false)
            && request.edited == Some(TakeOut::WithMyChanges)
            && self.to_be_unmade(request).into_iter().any(|at| self.emptied(at).mine)
    }

    /// Whether a decision is that the file was not to be made.
    pub(crate) fn unmakes_file(&self, request: &Request) -> bool {
        request.choice.puts_in() == Some(false) && !self.to_be_unmade(request).is_empty()
    }

    /// The edits that made the file, where that is to be undone.
    fn to_be_unmade(&self, request: &Request) -> Vec<usize> {
        let made =
            |at: &usize| self.edits()[*at].file.as_ref().is_some_and(|file| file.done && file.creates());
        self.file_targets(request).into_iter().filter(made).collect()
    }

    /// Asks the editor to remove the file of an open document whose making is to be undone. What has come into the file goes with it when
    /// it does so, and is taken from the hunks that are decided about by themselves. Returns all that goes.
    pub(crate) fn unmake_open(
        &mut self,
        request: &Request,
        hunks: &mut Vec<HunkId>,
    ) -> Result<Vec<HunkRef>, Undecided> {
        let mut going = Vec::new();
        let made = if self.is_open() { self.to_be_unmade(request) } else { Vec::new() };
        for at in made.into_iter().rev() {
            let with_it = self.may_be_emptied(at, request)?.hunks;
            if hunks.iter().any(|id| !with_it.contains(id) && self.weave().in_buffer(*id)) {
                // Lines of a file that was there before would have to leave the text first.
                self.check_closed(at)?;
            }
            self.reject_file(at, request)?;
            hunks.retain(|id| !with_it.contains(id));
            going.push(self.file_hunk_name(at));
            going.extend(with_it.into_iter().filter_map(|id| self.name(id)));
        }
        Ok(going)
    }

    /// The file that an edit made is gone, and what had come into it as well. An editor may still have the text: then it is the person's, to
    /// be saved again or closed.
    pub(crate) fn was_unmade(&mut self, at: usize, reason: Option<&Reason>) {
        let emptied = self.emptied(at);
        if !self.is_open() {
            self.empty(emptied, Decision::Rejected, reason);
            return;
        }
        for id in emptied.hunks {
            self.set_decision(id, Decision::Rejected, reason.cloned());
        }
    }

    /// A file that is made again is stored as it was: the text that was there before may have had a mark that it has not.
    fn take_form_of(&mut self, at: usize) {
        let ids: Vec<HunkId> = self.edits()[at].hunks.iter().map(|hunk| hunk.id).collect();
        let makes = self.edits()[at].file.as_ref().and_then(|file| file.makes);
        let mut trial = self.weave().clone();
        if trial.carry_out(&Plan::switch(&ids, &[])).is_ok()
            && let Some(form) = self.form_with(trial.buffer(), makes)
        {
            self.set_form(form);
        }
    }

    /// The form in which a text has this hash.
    fn form_with(&self, text: &Text, hash: Option<FileHash>) -> Option<DiskForm> {
        let forms = [self.form(), DiskForm { bom: !self.form().bom, ..self.form() }];
        forms.into_iter().find(|form| Some(form.hash(text)) == hash)
    }

    /// Takes out of a file that is to be unmade all lines that have come into it since it was made, by a decision about their hunks.
    fn empty(&mut self, emptied: Emptied, decision: Decision, reason: Option<&Reason>) {
        let Some((left, form)) = emptied.left else { return };
        let weave = std::mem::replace(self.weave(), left);
        self.set_form(form);
        self.text_changed();
        for id in emptied.hunks {
            if weave.in_buffer(id) {
                self.note_switch(id, false);
            }
            self.set_decision(id, decision, reason.cloned());
        }
    }

    /// What goes with a file, if that may be.
    fn may_be_emptied(&mut self, at: usize, request: &Request) -> Result<Emptied, Undecided> {
        let emptied = self.emptied(at);
        let edit = &self.edits()[at];
        let with_it = emptied.hunks.iter().filter_map(|id| self.owner_of(*id));
        let foreign: Vec<HunkRef> = with_it
            .filter(|(other, _)| !request.takes_along(edit, other))
            .map(|(other, hunk)| other.name_of(hunk))
            .collect();
        if !foreign.is_empty() && !matches!(request.target, Target::All) {
            let names = foreign.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
            let words = format!(
                "{names} changed the file since it was made. Decide about {} with it, or leave this one for later.",
                if foreign.len() == 1 { "that one" } else { "those" }
            );
            return Err(Undecided { others: foreign, ..self.file_refused(at, Why::NeedsOthers, words) });
        }
        if emptied.mine && request.edited != Some(TakeOut::WithMyChanges) {
            let words = "You have written in the file since it was made: undoing that would remove your lines with it.";
            return Err(self.file_refused(at, Why::Edited, words.to_owned()));
        }
        Ok(emptied)
    }

    /// The hunks that have come into a file since an edit made it. Those before are of a file that was removed, and have to come back
    /// with it.
    pub(crate) fn hunks_since(&self, at: usize) -> Vec<HunkId> {
        let since = |id: &HunkId| self.edits.edit_of(*id).is_some_and(|edit| edit >= at);
        let weave = self.text.woven();
        weave.map_or_else(Vec::new, |weave| {
            weave.hunks().filter(|id| weave.in_buffer(*id) && since(id)).collect()
        })
    }

    /// What goes with a file.
    fn emptied(&mut self, at: usize) -> Emptied {
        let mut hunks = self.hunks_since(at);
        let edit = self.edits()[at].clone();
        let mut trial = self.weave().clone();
        let left = trial.carry_out(&Plan::switch(&[], &hunks)).is_ok().then_some(trial);
        let below = edit.file.as_ref().and_then(|file| file.below);
        let (form, mine) = match left.as_ref().map(|weave| weave.buffer()) {
            Some(left) if left.is_empty() => (self.form(), false),
            // Where it is not the text of then, hunks from before have come or gone since, or the person has written.
            Some(left) => self.form_with(left, below).map_or((self.form(), true), |form| (form, false)),
            None => (self.form(), true),
        };
        let mine = mine && (left.is_none() || self.has_lines_of_the_person(at));
        let makes = edit.file.as_ref().and_then(|file| file.makes);
        let mine = mine || self.bytes().is_some_and(|bytes| Some(FileHash::of(bytes)) != makes);
        let weave = self.weave();
        let held: Vec<HunkId> = hunks.iter().flat_map(|id| weave.with_dependents(*id)).collect();
        hunks.extend(held.into_iter().filter(|id| !weave.in_buffer(*id)));
        hunks.sort_unstable();
        hunks.dedup();
        Emptied { hunks, left: left.map(|left| (left, form)), mine }
    }

    /// Whether there may be lines in the text that the person has written since an edit made the file. Lines that it or an edit before it
    /// removes were there before, and those of hunks are agents'.
    fn has_lines_of_the_person(&mut self, made: usize) -> bool {
        let edits = self.edits.clone();
        let is_from_before = |id: HunkId| edits.edit_of(id).is_some_and(|edit| edit <= made);
        let weave = self.weave();
        let mut on = weave.hunks().filter(|id| weave.in_buffer(*id));
        weave.shows_lines_of_nobody(is_from_before) || on.any(|id| weave.edited(id).changed)
    }

    /// A file that an editor has open is not removed or renamed under it, unless it does so itself.
    pub(crate) fn check_closed(&self, at: usize) -> Result<(), Undecided> {
        if !self.is_open() {
            return Ok(());
        }
        let words =
            "The file is open in the editor. Close it first, then decide about its removal or its new name.";
        Err(self.file_refused(at, Why::Open, words.to_owned()))
    }

    /// Does a file hunk for which the file is not as it was then: with the earlier ones that lead there, if they may be done.
    fn accept_file_with(&mut self, at: usize, request: &Request) -> Result<Vec<HunkRef>, Undecided> {
        let Some(below) = self.way_to(at) else {
            let words = "The file is no longer as it was then: it was made, removed or renamed since. Reject the edit.";
            return Err(self.file_refused(at, Why::Collides, words.to_owned()));
        };
        let words = |names: &str, those: &str| {
            format!("{names} removed, made or renamed the file before it. Accept {those} first.")
        };
        self.with_other_files(at, &below, request, words, Self::accept_file)
    }

    /// The earlier edits whose file hunks, done in this order, leave the file as this one found it; none if there is no such way.
    fn way_to(&self, at: usize) -> Option<Vec<usize>> {
        let change = |at: usize| self.edits()[at].file.as_ref().map(|file| file.change.clone());
        let (mut way, mut next) = (Vec::new(), at);
        while !self.file.now.is(&change(next)?, false) {
            let found = change(next)?;
            let leads = |file: &FileHunk| {
                let exists = found
                    .exists
                    .is_some_and(|(was, _)| file.change.exists.is_some_and(|(_, now)| now == was));
                let name = found.name.as_ref().is_some_and(|(was, _)| file.moves_to() == Some(was));
                !file.done && file.decision != Decision::Withdrawn && (exists || name)
            };
            next = self.setting_the_same(next, 0..next, leads).pop()?;
            way.push(next);
        }
        way.reverse();
        Some(way)
    }

    /// Undoes a file hunk for which the file is not as it left it: with the later ones that are to be undone first, if they may be.
    fn reject_file_with(&mut self, at: usize, request: &Request) -> Result<Vec<HunkRef>, Undecided> {
        let mut above = self.done_above(at);
        if above.is_empty() {
            let words = "The file was removed or renamed by something else since. Put it back, then decide.";
            return Err(self.file_refused(at, Why::Changed, words.to_owned()));
        }
        above.reverse();
        let words = |names: &str, those: &str| {
            format!("{names} removed, made or renamed the file after it. Reject {those} first.")
        };
        self.with_other_files(at, &above, request, words, Self::reject_file)
    }

    /// A refusal for the sake of other hunks. `words` are told their names, and what stands for them.
    fn refused_for(
        &self,
        at: usize,
        why: Why,
        others: Vec<HunkRef>,
        words: impl Fn(&str, &str) -> String,
    ) -> Undecided {
        let names = others.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
        let those = if others.len() == 1 { "that" } else { "those, in this order," };
        Undecided { others, ..self.file_refused(at, why, words(&names, those)) }
    }

    /// The later edits whose file hunks are done and set what this one sets: what they found may be what it left.
    fn done_above(&self, at: usize) -> Vec<usize> {
        self.setting_the_same(at, at + 1..self.edits().len(), |file| file.done)
    }

    /// The edits among these whose file hunks set what this one sets.
    fn setting_the_same(
        &self,
        at: usize,
        edits: Range<usize>,
        wanted: impl Fn(&FileHunk) -> bool,
    ) -> Vec<usize> {
        let change = self.edits()[at].file.as_ref().map(|file| file.change.clone()).unwrap_or_default();
        let same = |file: &FileChange| {
            (file.exists.is_some() && change.exists.is_some())
                || (file.name.is_some() && change.name.is_some())
        };
        let sets = |at: &usize| {
            self.edits()[*at].file.as_ref().is_some_and(|file| wanted(file) && same(&file.change))
        };
        edits.filter(sets).collect()
    }

    /// Decides about file hunks in this order, and then about this one: all of them or none.
    fn with_other_files(
        &mut self,
        at: usize,
        others: &[usize],
        request: &Request,
        words: impl Fn(&str, &str) -> String,
        decide: impl Fn(&mut Self, usize, &Request) -> Result<Vec<HunkRef>, Undecided>,
    ) -> Result<Vec<HunkRef>, Undecided> {
        if !matches!(request.along, Along::All | Along::Needed) {
            let others = others.iter().map(|other| self.file_hunk_name(*other)).collect();
            return Err(self.refused_for(at, Why::NeedsOthers, others, words));
        }
        // An editor is asked for one thing at a time.
        self.check_closed(at)?;
        let mut trial = self.clone();
        let mut along = Vec::new();
        for other in others {
            along.extend(decide(&mut trial, *other, request)?);
        }
        let mut decided = decide(&mut trial, at, request)?;
        decided.extend(along);
        *self = trial;
        Ok(decided)
    }
}
