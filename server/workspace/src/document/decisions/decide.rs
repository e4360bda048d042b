//! The person's decisions (rules W8, W11, W12). A decision that changes no text is made at once; one that does becomes
//! a [wish](super::settle_wishes).

use std::ops::Range;

use hashline_history::{Decision, EditId, HunkRef};
use hashline_weave::{Conflict, HunkId, Plan, PutIn, TakeOut, View};

use crate::document::decisions::group::hull;
use crate::document::decisions::request::Ruling;
use crate::document::decisions::undecided_reasons::changed_words;
use crate::document::decisions::wishes::Way;
use crate::document::{
    Choice, Decided, Document, FileHunk, HunkState, Millis, Request, Target, Undecided, Unseen, Why,
};

impl Document {
    /// Decides about hunks. What changes the text is under way when this returns; without an editor it waits for
    /// [`settle_on_disk`](Self::settle_on_disk).
    pub fn decide(&mut self, request: &Request, now: Millis) -> Decided {
        // The disk shows it already where a file is to be unmade that is gone: its edits are decided as if it went only now.
        let is_gone = self.was_removed() && self.unmakes_file(request);
        if is_gone {
            self.unremove();
        }
        // What is asked for by itself is done as a whole or not at all (rule W12).
        let before = request.is_exact().then(|| self.clone());
        let mut decided = self.decide_all(request, now);
        if let Some(before) = before.filter(|_| !decided.refused.is_empty()) {
            *self = before;
            decided.queued.clear();
        }
        if is_gone {
            self.stays_removed();
        }
        decided
    }

    fn decide_all(&mut self, request: &Request, now: Millis) -> Decided {
        let mut decided = Decided::default();
        if let Some(reason) = self.out_of_step() {
            let message = format!(
                "hashline has lost step with this document: {reason}. Close and open it again, then decide."
            );
            decided.refused.push(Self::not_decided(&request.target, message));
            return decided;
        }
        if request.choice != Choice::Comment
            && let Some(refusal) = self.unseen_removal(request).or_else(|| self.unseen_change(request))
        {
            decided.refused.push(refusal);
            return decided;
        }
        let puts_in = request.choice.puts_in() != Some(false);
        if let Some(refusal) = self.unmaking_refused(request).filter(|_| !puts_in) {
            decided.refused.push(refusal);
            return decided;
        }
        // A file is made before its lines are decided about, and unmade after them; what else becomes of it comes first.
        let before = if puts_in { &[true, false][..] } else { &[false][..] };
        for made in before {
            let file = self.decide_file(request, *made);
            decided.add(file.queued);
            decided.refused.extend(file.refused);
            if !decided.refused.is_empty() {
                return decided;
            }
        }
        let mut targets = self.targets(request);
        if !puts_in {
            // That of an open document is unmade by its editor, and takes its lines along.
            match self.unmake_open(request, &mut targets) {
                Ok(going) => decided.add(going),
                Err(refusal) => {
                    decided.refused.push(refusal);
                    return decided;
                }
            }
        }
        let wanted = request.choice.puts_in();
        let switches = |document: &mut Self, id: HunkId| {
            let in_buffer = document.weave().in_buffer(id);
            wanted.is_some_and(|wanted| in_buffer != wanted)
        };
        if self.is_asking() && targets.iter().any(|id| self.goes_with_file(*id) || switches(self, *id)) {
            let message =
                "The editor is renaming or removing the file. Decide about its lines when that is done.";
            decided.refused.push(Self::not_decided(&request.target, message.to_owned()));
            return decided;
        }
        let switched: Vec<HunkId> = targets.iter().copied().filter(|id| switches(self, *id)).collect();
        let maker = self.maker_of(request, &switched);
        if !switched.is_empty() {
            let missing = match self.bytes() {
                None if self.exists_for_agents() => None,
                Some(_) => Some("holds no text now. Put the text back, then decide about its lines."),
                // Of one that is gone as it should be the lines are still known, and come back with it.
                None if !self.is_open() => None,
                None => Some("is not there now. Put it back, then decide about its lines."),
            };
            if self.was_removed() {
                decided.refused.push(self.removed(&request.target));
                return decided;
            }
            if let Some(what) = missing {
                let message = format!("{} {what}", self.called());
                decided.refused.push(Self::not_decided(&request.target, message));
                return decided;
            }
        }
        if let Some(refusal) = self.conflict_within(request, &targets) {
            decided.refused.push(refusal);
            return decided;
        }
        let before = maker.map(|_| self.clone());
        match self.make_file_for(request, &switched) {
            Ok(made) => decided.add(made),
            Err(refusal) => {
                decided.refused.push(refusal);
                return decided;
            }
        }
        let of_many = targets.len() > 1;
        for id in targets {
            // What is asked for by itself is not decided as one with others (rule W12).
            let together = if request.is_exact() { vec![id] } else { self.group_of(id) };
            let ruling = Ruling { request: request.clone(), of_many, together };
            match self.decide_one(id, &ruling, now) {
                Ok(all) => decided.add(all.into_iter().filter_map(|id| self.name(id))),
                Err(undecided) => decided.refused.push(undecided),
            }
        }
        if let Some(before) = before.filter(|_| !decided.refused.is_empty()) {
            // A file is not made for lines that do not come into it.
            *self = before;
            decided.queued.clear();
        }
        if !puts_in && decided.refused.is_empty() {
            if !self.is_open() {
                self.settle_on_disk(now);
            }
            let file = self.decide_file(request, true);
            decided.add(file.queued);
            decided.refused.extend(file.refused);
        }
        if decided == Decided::default() {
            decided.refused.push(self.gone(request.choice, &request.target));
        }
        decided
    }

    /// Why nothing is decided about a file that was removed while nobody watched; has it written again where that is wanted.
    fn unseen_removal(&mut self, request: &Request) -> Option<Undecided> {
        if !self.was_removed() {
            return None;
        }
        match request.unseen {
            Unseen::Keep => None,
            Unseen::GiveUp => {
                self.unremove();
                None
            }
            Unseen::Refuse => Some(self.removed(&request.target)),
        }
    }

    /// Why nothing is decided about a file that was changed while nobody watched; takes the change back where that is wanted.
    fn unseen_change(&mut self, request: &Request) -> Option<Undecided> {
        if self.is_open() {
            return None;
        }
        let before = self.text.unseen()?;
        match request.unseen {
            Unseen::Keep => None,
            Unseen::GiveUp => {
                self.text.give_up_unseen();
                None
            }
            Unseen::Refuse => {
                let message = changed_words(&self.called(), before.buffer(), self.text());
                Some(Undecided { why: Why::Changed, message, ..Self::no_such(&request.target) })
            }
        }
    }

    /// Whether a decision would take out what a person has typed, or take back what was changed while nobody watched.
    pub(crate) fn gives_up(&mut self, request: &Request) -> bool {
        if request.unseen == Unseen::GiveUp && self.text.unseen().is_some() && !self.is_open() {
            return true;
        }
        let out = matches!(request.choice, Choice::Reject | Choice::KeepMine)
            && request.edited == Some(TakeOut::WithMyChanges);
        if !out && request.choice != Choice::TakeTheirs {
            return false;
        }
        if self.gives_up_file(request) {
            return true;
        }
        let targets = self.targets(request);
        let weave = self.weave();
        targets.into_iter().any(|id| match out {
            true => weave
                .with_dependents(id)
                .into_iter()
                .any(|hunk| weave.in_buffer(hunk) && weave.edited(hunk).asks()),
            false => matches!(weave.conflict(id), Some(Conflict::LineChanged | Conflict::LineTyped)),
        })
    }

    /// Why an edit cannot be accepted as a whole: one of its hunks is conflicted. Names those that can be accepted without it (rule W12).
    fn conflict_within(&mut self, request: &Request, targets: &[HunkId]) -> Option<Undecided> {
        if request.choice != Choice::Accept || !matches!(request.target, Target::Edit(_)) || targets.len() < 2
        {
            return None;
        }
        let conflict = |document: &mut Self, id: HunkId| match document.state_of(id) {
            HunkState::Conflicted(conflict) => Some((id, conflict)),
            // One that was rejected is not judged, but cannot come back either.
            HunkState::Held if document.weave().is_lost(id) => Some((id, Conflict::Lost)),
            _ => None,
        };
        let (id, conflict_found) = targets.iter().find_map(|id| conflict(self, *id))?;
        let free: Vec<HunkId> = targets.iter().copied().filter(|id| conflict(self, *id).is_none()).collect();
        let others: Vec<HunkRef> = free.into_iter().filter_map(|id| self.name(id)).collect();
        let why = self.conflicted(id, conflict_found);
        let rest = match others.len() {
            0 => "Decide about its hunks one by one.".to_owned(),
            1 => "Accept the other hunk, or decide about this one first.".to_owned(),
            count => format!("Accept the {count} others, or decide about this one first."),
        };
        let name = self.full_name(id);
        Some(match conflict_found {
            // What stands against it is named, and not what does not.
            Conflict::With(_) => {
                let message = format!("Nothing was accepted, for hunk {name}: {} {rest}", why.message);
                Undecided { message, ..why }
            }
            Conflict::Lost => {
                let what = "has no certain place in the file any more";
                Undecided {
                    message: format!("Nothing was accepted: hunk {name} {what}. {rest}"),
                    others,
                    ..why
                }
            }
            _ => {
                let message = format!("Nothing was accepted: hunk {name} is conflicted. {rest}");
                Undecided { message, others, ..why }
            }
        })
    }

    /// Makes the changes that wait in the text of a file that no editor has open. The caller writes the file.
    pub fn settle_on_disk(&mut self, now: Millis) {
        while let Some(plan) = self.next_plan() {
            if !self.carry_out(&plan, now) {
                break;
            }
        }
    }

    /// Whether a target names something in this document.
    #[must_use]
    pub fn has_target(&self, target: &Target) -> bool {
        self.edits().iter().any(|edit| match target {
            Target::Hunk(name) => {
                edit.id.as_str().starts_with(name.edit.as_str())
                    && (edit.hunks.iter().any(|hunk| hunk.number == name.number)
                        || (name.number == 1 && edit.file.is_some()))
            }
            Target::Edit(id) => edit.id.as_str().starts_with(id.as_str()),
            Target::Conversation(id) | Target::Whole(id) => edit.conversation == *id,
            Target::Lines(_) => false,
            Target::All => true,
        })
    }

    pub(crate) fn name(&self, id: HunkId) -> Option<HunkRef> {
        self.owner_of(id).map(|(edit, hunk)| edit.name_of(hunk))
    }

    fn targets(&mut self, request: &Request) -> Vec<HunkId> {
        let touched = match &request.target {
            Target::Lines(lines) => {
                let places = self.weave().places(View::Buffer);
                let touches = |place: &Range<usize>| {
                    // A place between lines counts for the line on either side of it.
                    let wide = place.start.saturating_sub(usize::from(place.is_empty()))
                        ..place.end + usize::from(place.is_empty());
                    wide.start < lines.end.max(lines.start + 1) && lines.start < wide.end
                };
                // Where hunks are shown as one, the lines are those of all.
                let ids: Vec<HunkId> = self.weave().hunks().collect();
                let touched = ids
                    .into_iter()
                    .filter(|id| hull(&self.group_of(*id), &places).as_ref().is_some_and(touches));
                touched.collect()
            }
            _ => Vec::new(),
        };
        let mut targets = Vec::new();
        for edit in self.edits() {
            let settled = edit.hunks.iter().all(|hunk| hunk.decision != Decision::Undecided);
            for hunk in &edit.hunks {
                let named = match &request.target {
                    Target::Hunk(name) => {
                        hunk.number == name.number && edit.id.as_str().starts_with(name.edit.as_str())
                    }
                    Target::Edit(id) => edit.id.as_str().starts_with(id.as_str()),
                    Target::Conversation(id) | Target::Whole(id) => edit.conversation == *id,
                    Target::Lines(_) => touched.contains(&hunk.id),
                    Target::All => true,
                };
                // What is decided stays so, unless it is named by itself, or nothing else of its edit is left to decide.
                let again = match request.target {
                    _ if request.choice == Choice::Comment => false,
                    Target::Hunk(_) => true,
                    Target::Edit(_) => settled,
                    Target::Whole(_) => request.choice.is_against(hunk.decision),
                    _ => false,
                };
                let again = again || request.choice == Choice::Reopen;
                let open =
                    hunk.decision == Decision::Undecided || (again && hunk.decision != Decision::Withdrawn);
                if named && open {
                    targets.push(hunk.id);
                }
            }
        }
        targets
    }

    /// Takes back the undecided hunks of an edit, for the agent that made it: marks the held ones, and takes those in the text out of
    /// it. Lines that the person changed inside stay.
    pub fn withdraw(&mut self, id: &EditId) {
        let Some(at) = self.edits().iter().position(|edit| edit.id == *id) else { return };
        self.withdraw_file(at);
        let edit = &self.edits()[at];
        let stays = |file: &FileHunk| file.done && file.creates() && file.decision == Decision::Undecided;
        if edit.file.as_ref().is_some_and(stays) {
            // The lines of a file that the person is to decide about stay with it.
            return;
        }
        let undecided: Vec<HunkId> = edit
            .hunks
            .iter()
            .filter(|hunk| hunk.decision == Decision::Undecided)
            .map(|hunk| hunk.id)
            .collect();
        for hunk in undecided {
            self.withdraw_one(hunk);
        }
    }

    /// Decides about a hunk. Returns it, and those that are decided with it.
    fn decide_one(&mut self, id: HunkId, ruling: &Ruling, now: Millis) -> Result<Vec<HunkId>, Undecided> {
        let request = &ruling.request;
        if let (Some(own), Choice::Accept) = (&request.own, request.choice) {
            return self.revise(id, own, ruling);
        }
        if self.wanted.get(id).is_some_and(|wish| wish.is_what(request.choice, request.edited)) {
            // Asked for already, by itself or with another hunk of this decision.
            self.try_again(now);
            return Ok(vec![id]);
        }
        let in_text = self.weave().in_buffer(id);
        match request.choice {
            Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth if in_text => {
                self.keep(id, request);
                Ok(vec![id])
            }
            Choice::Accept => match self.state_of(id) {
                HunkState::Conflicted(conflict) => Err(self.conflicted(id, conflict)),
                _ => self.accept(id, ruling),
            },
            Choice::Reject | Choice::KeepMine => self.reject(id, ruling, in_text),
            Choice::TakeTheirs => self.put_in_spite(id, ruling, PutIn::TakeTheirs),
            Choice::KeepBoth => self.put_in_spite(id, ruling, PutIn::KeepBoth),
            Choice::Reopen => {
                self.decide_again_later(id);
                Ok(vec![id])
            }
            Choice::Comment => self.comment(id, ruling),
        }
    }

    /// Has the agent told what the person says of a hunk that stays undecided.
    fn comment(&mut self, id: HunkId, ruling: &Ruling) -> Result<Vec<HunkId>, Undecided> {
        let together = self.still_together(id, ruling);
        if together.iter().any(|member| self.under_way(*member).is_some()) {
            return Err(Undecided {
                hunk: self.full_name(id),
                why: Why::Failed,
                message: "It is on its way into the text, or out of it. Comment on it when that is done."
                    .to_owned(),
                others: Vec::new(),
            });
        }
        for member in &together {
            self.set_decision(*member, Decision::Undecided, ruling.request.reason.clone());
        }
        Ok(together)
    }

    /// Accepts a hunk that is in the text, with what it builds on there.
    fn keep(&mut self, id: HunkId, request: &Request) {
        self.keep_below(&[id]);
        if self.flow.is_sent(id) {
            self.want(&[id], true, Way::AsProposed, Some(Decision::Accepted), request.reason.clone());
        } else {
            self.wanted.remove(id);
            self.set_decision(id, Decision::Accepted, request.reason.clone());
        }
    }

    /// Wants a hunk in the text in spite of what stands against it.
    fn put_in_spite(&mut self, id: HunkId, ruling: &Ruling, how: PutIn) -> Result<Vec<HunkId>, Undecided> {
        let request = &ruling.request;
        let needed = self.weave().with_prerequisites(id);
        let others: Vec<HunkId> = needed.into_iter().filter(|other| *other != id).collect();
        self.with_others(id, &others, request, ruling.of_many, "It builds on")?;
        let plan = self.weave().plan_put_in(id, how);
        self.check_makings(id, &plan.on)?;
        self.check(id, &plan)?;
        for hunk in &plan.on {
            self.free(*hunk);
        }
        self.keep_below(&plan.on);
        let wanted = self.not_yet_accepted(&plan.on, &[id]);
        let reason = request.reason.clone();
        self.want(&wanted, true, Way::InSpite(id, how), Some(Decision::Accepted), reason);
        Ok(std::iter::once(id).chain(plan.on.iter().copied().filter(|hunk| *hunk != id)).collect())
    }

    /// A hunk and those that were shown as one with it when it was decided about, as far as they still are: what has joined them
    /// since was not decided about.
    pub(crate) fn still_together(&mut self, id: HunkId, ruling: &Ruling) -> Vec<HunkId> {
        let mut together = self.group_of(id);
        together.retain(|member| *member == id || ruling.together.contains(member));
        together
    }

    /// Takes the mark of a rejection from a hunk that is to be in the text after all.
    pub(crate) fn free(&mut self, id: HunkId) {
        if self.weave().is_refused(id) {
            self.set_decision(id, Decision::Undecided, None);
        }
    }

    fn accept(&mut self, id: HunkId, ruling: &Ruling) -> Result<Vec<HunkId>, Undecided> {
        let request = &ruling.request;
        let together = self.still_together(id, ruling);
        let all = self.weave().with_prerequisites_of(&together);
        let others: Vec<HunkId> = all.iter().copied().filter(|other| *other != id).collect();
        self.with_others(id, &others, request, ruling.of_many, "It builds on")?;
        if let Some((other, conflict)) = self.obstacle(&all) {
            return Err(self.conflicted(other, conflict));
        }
        self.check_makings(id, &all)?;
        let plan = Plan::switch(&all, &[]);
        self.check(id, &plan)?;
        for hunk in &all {
            self.free(*hunk);
        }
        self.keep_below(&all);
        let wanted = self.not_yet_accepted(&all, &together);
        self.want(&wanted, true, Way::AsProposed, Some(Decision::Accepted), request.reason.clone());
        Ok(std::iter::once(id).chain(others).collect())
    }

    fn reject(&mut self, id: HunkId, ruling: &Ruling, in_text: bool) -> Result<Vec<HunkId>, Undecided> {
        let request = &ruling.request;
        let mut dependents = self.weave().with_dependents(id);
        for member in self.still_together(id, ruling) {
            let above = self.weave().with_dependents(member);
            dependents
                .extend(above.into_iter().filter(|hunk| !dependents.contains(hunk)).collect::<Vec<_>>());
        }
        let others: Vec<HunkId> = dependents.iter().copied().filter(|other| *other != id).collect();
        self.with_others(id, &others, request, ruling.of_many, "It is built on by")?;
        let mut held = dependents.clone();
        let in_buffer: Vec<HunkId> = {
            let weave = self.weave();
            held.iter().copied().filter(|hunk| weave.in_buffer(*hunk)).collect()
        };
        held.retain(|hunk| !in_buffer.contains(hunk));
        let lost = in_buffer.iter().copied().find(|hunk| self.weave().is_lost(*hunk));
        if let Some(lost) = lost {
            if request.edited != Some(TakeOut::KeepMyLines) {
                return Err(self.lost(id, lost));
            }
            dependents.iter().for_each(|hunk| drop(self.wanted.remove(*hunk)));
            self.reject_where_it_is(&dependents, request);
            return Ok(std::iter::once(id).chain(others).collect());
        }
        // What is on its way into the text leaves it again, should it arrive.
        let (flying, held): (Vec<HunkId>, Vec<HunkId>) =
            held.into_iter().partition(|hunk| self.flow.is_sent(*hunk));
        let mut leaving = flying;
        if in_text {
            let asks = in_buffer.iter().any(|hunk| self.weave().edited(*hunk).asks());
            if asks && request.edited.is_none() {
                return Err(Undecided {
                    hunk: self.full_name(id),
                    why: Why::Edited,
                    message: "You changed lines inside this edit. Choose “Undo it, my changes too” or “Undo it, keep my \
                              lines”."
                        .to_owned(),
                    others: Vec::new(),
                });
            }
            let how = request.edited.unwrap_or(TakeOut::WithMyChanges);
            let plan = if asks { self.weave().plan_take_out(id, how) } else { Plan::switch(&[], &in_buffer) };
            self.check(id, &plan)?;
            leaving.extend(in_buffer);
        }
        for hunk in held {
            self.wanted.remove(hunk);
            self.set_decision(hunk, Decision::Rejected, request.reason.clone());
        }
        if !leaving.is_empty() {
            let way = Way::Out(request.edited);
            self.want(&leaving, false, way, Some(Decision::Rejected), request.reason.clone());
        }
        Ok(std::iter::once(id).chain(others).collect())
    }

    /// Rejects hunks and leaves the text as it is: what of it is theirs is not certain, and for the person to take out.
    fn reject_where_it_is(&mut self, hunks: &[HunkId], request: &Request) {
        for hunk in hunks {
            self.set_decision(*hunk, Decision::Rejected, request.reason.clone());
        }
        let names: Vec<String> =
            hunks.iter().filter_map(|hunk| self.name(*hunk)).map(|name| name.short()).collect();
        self.news.tell(format!(
            "The text was left as it is, as the place of {} in it is no longer certain. Take out by hand what you do not want.",
            names.join(", ")
        ));
    }

    /// Whether hunks that must be decided with one may be: asked for, or of the same turn (rule W11).
    pub(crate) fn with_others(
        &self,
        id: HunkId,
        others: &[HunkId],
        request: &Request,
        of_many: bool,
        how: &str,
    ) -> Result<(), Undecided> {
        let Some((edit, _)) = self.owner_of(id) else { return Ok(()) };
        let foreign: Vec<HunkRef> = others
            .iter()
            .filter_map(|other| self.owner_of(*other))
            .filter(|(other, _)| !request.takes_along(edit, other))
            .map(|(other, hunk)| other.name_of(hunk))
            .collect();
        if foreign.is_empty() || (of_many && matches!(request.target, Target::All)) {
            return Ok(());
        }
        let names = foreign.iter().map(HunkRef::short).collect::<Vec<_>>().join(", ");
        let count = foreign.len();
        let message = format!(
            "{how} {names}. Decide {} with it, or leave this one for later.",
            if count == 1 { "that one".to_owned() } else { format!("those {count}") }
        );
        Err(Undecided { hunk: self.full_name(id), why: Why::NeedsOthers, message, others: foreign })
    }

    pub(crate) fn check(&mut self, id: HunkId, plan: &Plan) -> Result<(), Undecided> {
        match self.weave().preview(plan) {
            Ok(_) => Ok(()),
            Err(hashline_weave::WeaveError::Collides { hunk, other }) => {
                let other = if hunk == id { other } else { hunk };
                Err(self.collides(id, other))
            }
            Err(hashline_weave::WeaveError::Lost { hunk }) => Err(self.lost(id, hunk)),
            Err(_) => Err(Undecided {
                hunk: self.full_name(id),
                why: Why::Conflicted,
                message: "It cannot be put into the text as it is now. Decide about the edits next to it first, or change \
                          the lines around it."
                    .to_owned(),
                others: Vec::new(),
            }),
        }
    }

    pub(crate) fn full_name(&self, id: HunkId) -> String {
        self.name(id).map_or_else(String::new, |name| name.to_string())
    }
}
