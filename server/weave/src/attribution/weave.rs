//! The weave: a model, and the past that tells what a change of its text is. What changes the model is noted here.

use std::ops::{Deref, Range};

use hashline_text::{OwnedLine, Text};

use crate::attribution::earlier_text::Difference;
use crate::attribution::journal::{Journal, JournalId, Step, Turned};
use crate::attribution::region::Regions;
use crate::model::{
    Base, Carried, Change, Conflict, Delta, Done, HunkId, LineChange, Model, Plan, PutIn, Snapshot, TakeOut,
    Touched, View, WeaveError, places,
};

/// A document in which every line knows which hunk made it and which hunks removed it.
///
/// All that can be read of its [`Model`] can be read of it. Clones share what they can until one of them is changed; a clone is how a switch is
/// tried before it is made.
#[derive(Clone, Debug)]
pub struct Weave {
    pub(super) model: Model,
    pub(super) journal: Journal,
    /// The state before the latest notification, where that one should be judged again with the next.
    pub(super) checkpoint: Option<Box<Checkpoint>>,
}

/// The weave as it was before a notification that should be judged together with the next.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    pub weave: Weave,
    pub regions: Regions,
    /// What the first judgement is called in the journal.
    pub entry: Option<JournalId>,
}

/// A weave is read as its model is. It is changed by its own functions alone, which note the change.
impl Deref for Weave {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

impl Weave {
    /// A weave without hunks over a text.
    ///
    /// ```
    /// use hashline_weave::Weave;
    /// let mut weave = Weave::new(hashline_text::Text::from("one\ntwo\n"));
    /// assert_eq!(weave.buffer().to_string(), weave.agent().to_string());
    /// ```
    #[must_use]
    pub fn new(text: Text) -> Self {
        Self::of(Model::new(text))
    }

    /// A model of whose past nothing is known.
    pub(super) fn of(model: Model) -> Self {
        Self { journal: Journal::new(model.buffer()), checkpoint: None, model }
    }

    /// The text that agents read: the buffer with the held hunks in it.
    pub fn agent(&mut self) -> &Text {
        self.model.agent()
    }

    /// The text of a view.
    pub fn view(&mut self, view: View) -> &Text {
        self.model.view(view)
    }

    /// Whether the hunk is in the agent view.
    pub fn in_agent_view(&mut self, id: HunkId) -> bool {
        self.model.in_agent_view(id)
    }

    /// What stands against a hunk that is not in the buffer. A hunk that rests on one that is kept out is kept out with it and
    /// has no conflict of its own.
    pub fn conflict(&mut self, id: HunkId) -> Option<Conflict> {
        self.model.conflict(id)
    }

    /// For every hunk what stands against it; none for those in the buffer and the refused ones.
    pub fn conflicts(&mut self) -> Vec<Option<Conflict>> {
        self.model.conflicts()
    }

    /// For every hunk the lines of a view that lie inside its span: for a hunk that is in the view what it put there, with what the
    /// person typed between; for one that is not the lines that it would replace. None for a hunk without a span.
    pub fn places(&mut self, view: View) -> Vec<Option<Range<usize>>> {
        self.model.places(view)
    }

    /// A snapshot of a view as it is now. What it holds stays true while the weave changes.
    pub fn snapshot(&mut self, view: View) -> Snapshot {
        self.model.snapshot(view)
    }

    /// Where lines of a snapshot are now in the agent view: each visible with the content that was served, and without
    /// other lines between them.
    ///
    /// # Errors
    ///
    /// [`Touched`]: the first line of which that is not so.
    pub fn carry(&mut self, from: &Snapshot, lines: Range<usize>) -> Result<Carried, Touched> {
        self.model.carry(from, lines)
    }

    /// Records changes of the agent view as hunks, in text order. They are held: in the agent view, not in the buffer.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let mut weave = Weave::new(Text::from("one\ntwo\n"));
    /// let change = Change { lines: 1..2, new: vec![OwnedLine::new("2", Ending::Lf)] };
    /// let hunks = weave.record(&[change])?;
    /// assert_eq!(weave.buffer().to_string(), "one\ntwo\n");
    /// assert_eq!(weave.agent().to_string(), "one\n2\n");
    /// weave.switch(&hunks, &[])?;
    /// assert_eq!(weave.buffer().to_string(), "one\n2\n");
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`WeaveError::BadChange`], [`WeaveError::ContentHoldsEnding`] and [`WeaveError::EndingsWouldJoin`]; nothing is
    /// recorded then.
    pub fn record(&mut self, changes: &[Change]) -> Result<Vec<HunkId>, WeaveError> {
        self.record_as(changes, None)
    }

    /// Records changes as [`record`](Self::record) does, that also say whether the text ends with a newline afterwards:
    /// what a rewrite of a whole file says. The word goes with the last of the hunks (rule W1).
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record).
    pub fn record_with_newline(
        &mut self,
        changes: &[Change],
        newline: bool,
    ) -> Result<Vec<HunkId>, WeaveError> {
        self.record_as(changes, Some(newline))
    }

    fn record_as(&mut self, changes: &[Change], newline: Option<bool>) -> Result<Vec<HunkId>, WeaveError> {
        let recorded = self.model.record(changes, newline)?;
        self.checkpoint = None;
        Ok(recorded)
    }

    /// Notes that the file has what the buffer has.
    pub fn mark_base(&mut self) {
        self.model.mark_base();
    }

    /// Says what the file has: an earlier [`base`](Model::base) of this weave, or nothing that is known.
    pub fn set_base(&mut self, base: Option<Base>) {
        self.model.set_base(base);
    }

    /// What a base is once the file has these of its hunks as well: those that [`record_on_base`](Self::record_on_base) recorded on it. `text`
    /// is the base with them. None where its lines are not known any more.
    #[must_use]
    pub fn base_with(&mut self, base: &Base, hunks: &[HunkId], text: Text) -> Option<Base> {
        self.model.base_with(base, hunks, text)
    }

    /// Records what another program has made of the [base](Model::base), while the buffer may have gone on from it: changes of its lines as
    /// hunks, in its order. `after` is the base with all of them in it, and is the base from now on. They are held like those of
    /// [`record`](Self::record), and in conflict from the beginning where the person has changed the same lines (rule W23).
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Conflict, Regions, Weave};
    /// let mut weave = Weave::new(Text::from("one\ntwo\nthree\n"));
    /// weave.mark_base();
    /// let (mine, mut regions) = (Text::from("1\ntwo\nthree\n"), Regions::default());
    /// regions.replace_all(&mut weave.buffer().clone(), mine.clone());
    /// weave.typed(&mine, &regions);
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let theirs = [
    ///     Change { lines: 0..1, new: vec![line("ONE")] },
    ///     Change { lines: 2..3, new: vec![line("THREE")] },
    /// ];
    /// let hunks = weave.record_on_base(&theirs, None, Text::from("ONE\ntwo\nTHREE\n"))?;
    /// assert_eq!(weave.agent().to_string(), "1\ntwo\nTHREE\n");
    /// assert_eq!(weave.conflict(hunks[0]), Some(Conflict::LineChanged));
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`WeaveError::NoBase`], [`WeaveError::BadChange`] and [`WeaveError::ContentHoldsEnding`]; nothing is recorded then.
    pub fn record_on_base(
        &mut self,
        changes: &[Change],
        newline: Option<bool>,
        after: Text,
    ) -> Result<Vec<HunkId>, WeaveError> {
        let recorded = self.model.record_on_base(changes, newline, after)?;
        self.checkpoint = None;
        Ok(recorded)
    }

    /// Keeps hunks that were recorded last out of both views, until they are [revealed](Self::reveal) or
    /// [taken back](Self::unrecord).
    pub fn conceal(&mut self, ids: &[HunkId]) {
        self.checkpoint = None;
        self.model.conceal(ids);
    }

    /// Shows hunks that were concealed; others it does not know. Where nothing has changed since, the agent view is the very one that it was before.
    pub fn reveal(&mut self, ids: &[HunkId]) {
        // In the state before the latest notification they were hidden.
        self.checkpoint = None;
        self.model.reveal(ids);
    }

    /// Takes back the hunks that were recorded last, as if they had never been. For hunks that nobody has seen yet: a later
    /// hunk, or a switch of one of these, makes it impossible. Nothing happens then, and the answer is false.
    pub fn unrecord(&mut self, ids: &[HunkId]) -> bool {
        let was_switched = ids.iter().min().is_some_and(|first| self.journal.names_from(*first));
        if was_switched || !self.model.unrecord(ids) {
            return false;
        }
        self.checkpoint = None;
        self.drop_untidy();
        true
    }

    /// Marks a hunk as rejected or withdrawn, or takes that mark back. Such a hunk is in no view, once it is out of the buffer.
    pub fn set_refused(&mut self, id: HunkId, refused: bool) {
        if self.model.set_refused(id, refused) {
            self.checkpoint = None;
        }
    }

    /// The plan that takes a hunk out of the text, and with it all that rests on it. Where one of them is [lost](Model::is_lost), it is
    /// refused when it is looked at or carried out.
    pub fn plan_take_out(&mut self, id: HunkId, how: TakeOut) -> Plan {
        let plan = self.model.plan_take_out(id, how);
        self.note_plan(plan)
    }

    /// The plan that brings a conflicted hunk into the text, with what it rests on. Where one of them is [lost](Model::is_lost), it is
    /// refused when it is looked at or carried out.
    pub fn plan_put_in(&mut self, id: HunkId, how: PutIn) -> Plan {
        let plan = self.model.plan_put_in(id, how);
        self.note_plan(plan)
    }

    /// The plan that brings hunks that are one to the person into the text, with what they rest on, but reading as `own` says: lines
    /// that they would show and `own` lacks count as deleted by the person, lines that it has besides as typed. Which of the hunks
    /// those belong to nobody can say, so they come with each of them. Lines of other held hunks between these are left to their own
    /// decision, whether `own` repeats them or not. Where one of the hunks is [lost](Model::is_lost), the plan is refused when it is
    /// looked at or carried out.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let mut weave = Weave::new(Text::from("one\ntwo\n"));
    /// let hunk = weave.record(&[Change { lines: 1..2, new: vec![line("2"), line("3")] }])?[0];
    /// let plan = weave.plan_put_in_revised(&[hunk], &[line("2"), line("three")]);
    /// weave.carry_out(&plan)?;
    /// assert_eq!(weave.buffer().to_string(), "one\n2\nthree\n");
    /// assert!(weave.in_buffer(hunk) && weave.edited(hunk).any());
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    pub fn plan_put_in_revised(&mut self, hunks: &[HunkId], own: &[OwnedLine]) -> Plan {
        let plan = self.model.plan_put_in_revised(hunks, own);
        self.note_plan(plan)
    }

    /// Sees to it that lines which stand ready for a plan stay so.
    fn note_plan(&mut self, plan: Plan) -> Plan {
        if plan.revives() {
            // The state before the latest notification lacks them.
            self.checkpoint = None;
        }
        plan
    }

    /// Switches hunks in the buffer view and returns the change of its text.
    ///
    /// # Errors
    ///
    /// [`WeaveError::Needs`], [`WeaveError::Collides`], [`WeaveError::Lost`], [`WeaveError::EndingsWouldJoin`]; nothing has
    /// changed then.
    pub fn switch(&mut self, on: &[HunkId], off: &[HunkId]) -> Result<Vec<LineChange>, WeaveError> {
        self.carry_out(&Plan::switch(on, off))
    }

    /// Carries out a plan in the buffer view and returns the change of its text.
    ///
    /// # Errors
    ///
    /// As for [`switch`](Self::switch).
    pub fn carry_out(&mut self, plan: &Plan) -> Result<Vec<LineChange>, WeaveError> {
        self.switch_as(plan, None).map(|(changes, _)| changes)
    }

    /// Carries out a plan; where it takes switches back or makes them again, `turned` says so.
    pub(super) fn switch_as(
        &mut self,
        plan: &Plan,
        turned: Option<Turned>,
    ) -> Result<(Vec<LineChange>, Option<JournalId>), WeaveError> {
        let (old, before) = (self.buffer().clone(), self.journal.print);
        let Done { changes, switched, moved, shown, hidden, ending: (was, is) } =
            self.model.carry_out(plan)?;
        self.checkpoint = None;
        self.journal.print = before.after(&old, self.buffer(), places(&changes));
        let mut steps: Vec<Step> = Vec::new();
        steps.extend(switched.into_iter().map(|(hunk, on)| Step::Switched { hunk, on, turned }));
        steps.extend(moved.into_iter().map(|(ids, gone)| Step::moved(ids, gone)));
        steps.extend(shown.into_iter().map(|(ids, was)| Step::Shown { ids, was }));
        steps.extend(hidden.into_iter().map(|(ids, was)| Step::Hidden { ids, was }));
        let entry = (!steps.is_empty()).then(|| {
            steps.push(Step::Ending { was, is });
            let difference = Difference::of(&old, self.buffer(), places(&changes));
            let gone: Vec<_> = plan.moves().filter(|(_, gone)| *gone).map(|(ids, _)| ids).collect();
            let pinned = self.bytes_of(&gone);
            self.journal.push(steps, difference, before, pinned)
        });
        self.tidy();
        Ok((changes, entry))
    }

    /// This weave as whoever was told of it knows it: told all up to `earlier`, and then [what has happened
    /// since](Model::delta_since). It is what the next delta has to be told against, and shares its texts with this one.
    #[must_use]
    pub fn as_told(&self, earlier: &Self) -> Self {
        Self::of(self.model.as_told(&earlier.model))
    }

    /// Does again what a delta tells. What undoes earlier changes is forgotten: the journal begins anew.
    ///
    /// # Errors
    ///
    /// [`WeaveError::BadDelta`]: it does not fit this state. Nothing has changed then.
    pub fn apply_delta(&mut self, delta: &Delta) -> Result<(), WeaveError> {
        self.model.apply_delta(delta)?;
        self.journal = Journal::new(self.model.buffer());
        self.checkpoint = None;
        self.drop_untidy();
        Ok(())
    }

    /// Forgets how the text came to be as it is: nothing of it is taken back by a change that looks like that. For an editor that has just
    /// opened the text, whose undo reaches no further.
    pub fn forget_past(&mut self) {
        let numbers = std::mem::replace(&mut self.journal, Journal::new(self.model.buffer()));
        self.journal.number_from(&numbers);
        self.checkpoint = None;
        self.model.forget_past();
    }

    /// Joins runs that need not be apart, and looks for what can be dropped.
    pub(super) fn tidy(&mut self) {
        self.model.join_runs();
        self.drop_untidy();
    }

    /// Looks now and then for what can be dropped.
    pub(super) fn drop_untidy(&mut self) {
        if self.journal.has_let_go() || self.model.has_many_runs() {
            self.model.drop_forgotten(self.journal.ids());
        }
    }
}
