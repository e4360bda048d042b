//! The rules of the weave, line by line and without any cleverness.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Endings, Rng, Trace, changes};
use hashline_text::{Encoding, Ending, Line, Text};
use hashline_weave::{
    Change, Conflict, HunkId, LineId, LineState, Plan, View, Weave, WeaveError, apply_text_edits,
};

/// A hunk as the rules see it.
#[derive(Clone)]
pub struct Hunk {
    pub removed: Vec<(LineId, String)>,
    pub made: Vec<LineId>,
    pub before: Option<LineId>,
    pub after: Option<LineId>,
    pub depends: BTreeSet<usize>,
    pub collides: BTreeSet<usize>,
}

/// Reads the lines of a weave, judges by itself, and compares.
#[derive(Clone)]
pub struct Model {
    pub hunks: Vec<Hunk>,
    pub newline: bool,
}

pub type Set = BTreeSet<usize>;

fn visible(line: &LineState, on: &Set) -> bool {
    let is_on = |hunk: &HunkId| on.contains(&hunk.order());
    !line.gone && line.maker.iter().all(is_on) && !line.removers.iter().any(is_on)
}

fn belongs(line: &LineState, hunk: usize) -> bool {
    line.maker.iter().chain(&line.removers).any(|other| other.order() == hunk)
}

fn span(lines: &[LineState], hunk: usize) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| belongs(line, hunk))?;
    let last = lines.iter().rposition(|line| belongs(line, hunk))?;
    Some((first, last))
}

impl Model {
    pub fn new(text: &Text) -> Self {
        Self { hunks: Vec::new(), newline: text.is_empty() || text.ends_with_newline() }
    }

    /// The person's word on the newline at the end is in the text, where its last line is not empty.
    pub fn learn_newline(&mut self, weave: &mut Weave) {
        for view in [View::Buffer, View::Agent] {
            let text = weave.view(view);
            let last = text.line_count().checked_sub(1).and_then(|line| text.line(Line(line)));
            if last.is_some_and(|line| !line.content_eq("")) {
                self.newline = text.ends_with_newline();
                return;
            }
        }
        // Neither text says it: what it was before may have come back with an undo.
        self.newline = weave.newline_register();
    }

    /// The text under a set; none where two endings would be read as one.
    pub fn text(&self, lines: &[LineState], on: &Set) -> Option<String> {
        let shown: Vec<&LineState> = lines.iter().filter(|line| visible(line, on)).collect();
        let joins = |two: &[&LineState]| {
            two[0].line.ending == Ending::Cr
                && two[1].line.content.is_empty()
                && two[1].line.ending == Ending::Lf
        };
        if shown.windows(2).any(joins) {
            return None;
        }
        let mut text: String =
            shown.iter().flat_map(|line| [line.line.content.as_str(), line.line.ending.as_str()]).collect();
        if let Some(last) = shown.last()
            && !self.newline
            && !last.line.content.is_empty()
        {
            text.truncate(text.len() - last.line.ending.as_str().len());
        }
        Some(text)
    }

    pub fn valid(&self, on: &Set) -> bool {
        on.iter().all(|hunk| {
            let hunk = &self.hunks[*hunk];
            hunk.depends.is_subset(on) && hunk.collides.is_disjoint(on)
        })
    }

    /// Rule W4 (c) of a tear: replaying the hunks of a valid set one after the other, each finds the lines that it removes, all of them
    /// and next to each other.
    pub fn assert_whole(&self, lines: &[LineState], on: &Set) {
        let mut so_far = Set::new();
        for hunk in on {
            let removed: Vec<LineId> = self.hunks[*hunk].removed.iter().map(|(id, _)| *id).collect();
            let ids = |on: &Set| -> Vec<LineId> {
                lines.iter().filter(|line| visible(line, on)).map(|line| line.id).collect()
            };
            let before = ids(&so_far);
            if let Some(first) = removed.first() {
                let at = before.iter().position(|id| id == first).expect("removes a line that is there");
                assert_eq!(
                    before.get(at..at + removed.len()),
                    Some(&removed[..]),
                    "removes lines side by side"
                );
            }
            so_far.insert(*hunk);
            let made = &self.hunks[*hunk].made;
            if let Some(first) = made.first() {
                let after = ids(&so_far);
                let at = after.iter().position(|id| id == first).expect("made lines are there");
                assert_eq!(after.get(at..at + made.len()), Some(&made[..]), "made lines are side by side");
            }
        }
    }

    /// What a record of changes did: the new hunk's lines, relations and place are by the rules.
    pub fn recorded(&mut self, before: &[LineState], after: &[LineState], on: &Set, changes: &[Change]) {
        let view: Vec<&LineState> = before.iter().filter(|line| visible(line, on)).collect();
        let first = self.hunks.len();
        let is_new = |hunk: &HunkId| hunk.order() >= first;
        let old: Vec<LineState> = after
            .iter()
            .filter(|line| !line.maker.as_ref().is_some_and(is_new))
            .map(|line| {
                let mut line = line.clone();
                line.removers.retain(|hunk| !is_new(hunk));
                line
            })
            .collect();
        assert_eq!(old, before, "what was there stays");
        for (index, change) in changes.iter().enumerate() {
            let hunk = first + index;
            let at = |line: usize| view.get(line).map(|line| line.id);
            let removed: Vec<(LineId, String)> =
                view[change.lines.clone()].iter().map(|line| (line.id, line.line.content.clone())).collect();
            let removes = |line: &&LineState| line.removers.iter().any(|other| other.order() == hunk);
            let now: Vec<LineId> = after.iter().filter(removes).map(|line| line.id).collect();
            assert_eq!(now, removed.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            let makes = |line: &LineState| line.maker.is_some_and(|other| other.order() == hunk);
            let made: Vec<&LineState> = after.iter().filter(|line| makes(line)).collect();
            assert_eq!(made.iter().map(|line| line.line.clone()).collect::<Vec<_>>(), change.new);
            if let Some(place) = after.iter().position(makes) {
                assert!(after[place..place + made.len()].iter().all(makes), "made lines are side by side");
            }
            let (before, after_id) = (change.lines.start.checked_sub(1).and_then(at), at(change.lines.end));
            self.hunks.push(Hunk {
                removed,
                made: made.iter().map(|line| line.id).collect(),
                before,
                after: after_id,
                depends: Set::new(),
                collides: Set::new(),
            });
        }
        for hunk in first..self.hunks.len() {
            self.relate(after, on, hunk, first);
            self.assert_best_place(after, on, hunk, first);
        }
    }

    /// Rule W4, word by word.
    fn relate(&mut self, lines: &[LineState], on: &Set, hunk: usize, first_of_call: usize) {
        let Some((from, to)) = span(lines, hunk) else { return };
        for other in 0..first_of_call {
            let inside = lines[from..=to].iter();
            let made = |line: &LineState| line.maker.is_some_and(|maker| maker.order() == other);
            let removed = |line: &LineState| line.removers.iter().any(|remover| remover.order() == other);
            let mine = |line: &LineState| line.removers.iter().any(|remover| remover.order() == hunk);
            let holds = span(lines, other)
                .is_some_and(|(from, to)| lines[from..=to].iter().any(|line| belongs(line, hunk)));
            if on.contains(&other) {
                let made_mine = lines.iter().any(|line| mine(line) && made(line));
                if made_mine || inside.clone().any(removed) || holds {
                    self.hunks[hunk].depends.insert(other);
                }
            } else {
                let same = lines.iter().any(|line| mine(line) && removed(line));
                if same || inside.clone().any(made) || holds {
                    self.hunks[hunk].collides.insert(other);
                    self.hunks[other].collides.insert(hunk);
                }
            }
        }
    }

    /// Rule W5: an insert lies inside the fewest spans of earlier hunks that its place between two visible lines allows.
    fn assert_best_place(&self, lines: &[LineState], on: &Set, hunk: usize, first_of_call: usize) {
        let this = &self.hunks[hunk];
        let (true, Some(made)) = (this.removed.is_empty(), this.made.first()) else { return };
        let others: Vec<LineState> =
            lines.iter().filter(|line| line.maker.is_none_or(|m| m.order() != hunk)).cloned().collect();
        let place = lines.iter().position(|line| line.id == *made).unwrap();
        let inside = |place: usize| {
            (0..first_of_call)
                .filter_map(|other| span(&others, other))
                .filter(|(from, to)| *from < place && place <= *to)
                .count()
        };
        let is_visible = |line: &LineState| visible(line, on);
        let first = others[..place].iter().rposition(is_visible).map_or(0, |at| at + 1);
        let last = others[place..].iter().position(is_visible).map_or(others.len(), |at| place + at);
        let best = (first..=last).map(inside).min().unwrap();
        assert_eq!(inside(place), best, "lies inside the fewest spans");
        let earliest = (first..=last).find(|at| inside(*at) == best);
        assert_eq!(earliest, Some(place), "directly behind the line before it");
    }

    fn needs(&self, hunk: usize) -> Set {
        let mut all = self.hunks[hunk].depends.clone();
        loop {
            let more: Set = all.iter().flat_map(|hunk| self.hunks[*hunk].depends.clone()).collect();
            if more.is_subset(&all) {
                return all;
            }
            all.extend(more);
        }
    }

    /// Rule W7: whether the person's typing stands against a held hunk.
    pub fn disturbed(&self, lines: &[LineState], hunk: usize) -> bool {
        let this = &self.hunks[hunk];
        let find = |id: LineId| lines.iter().find(|line| line.id == id);
        let touched = |(id, content): &(LineId, String)| {
            find(*id).is_none_or(|line| line.gone || line.line.content != *content)
        };
        if this.removed.iter().any(touched) {
            return true;
        }
        let needs = self.needs(hunk);
        if let Some((from, to)) = span(lines, hunk) {
            let between = |line: &LineState| {
                let removed = |by: &HunkId| by.order() == hunk || needs.contains(&by.order());
                line.maker.is_none() && !line.gone && !line.removers.iter().any(removed)
            };
            if lines[from..=to].iter().any(between) {
                return true;
            }
        }
        let gone = |id: Option<LineId>| id.is_some_and(|id| find(id).is_none_or(|line| line.gone));
        this.removed.is_empty() && gone(this.before) && gone(this.after)
    }

    pub fn on(&self, weave: &Weave) -> Set {
        weave.hunks().filter(|hunk| weave.in_buffer(*hunk)).map(HunkId::order).collect()
    }

    /// Rule W3: the hunks of the agent view.
    pub fn agent_set(&self, weave: &Weave, lines: &[LineState]) -> Set {
        let mut on = self.on(weave);
        for hunk in weave.hunks() {
            let index = hunk.order();
            let this = &self.hunks[index];
            let kept_out = weave.is_refused(hunk) || weave.is_lost(hunk) || self.disturbed(lines, index);
            let wanted = !on.contains(&index) && !kept_out;
            if wanted && this.depends.is_subset(&on) && this.collides.is_disjoint(&on) {
                on.insert(index);
            }
        }
        on
    }

    /// Compares all that can be asked of a weave with what the rules say.
    pub fn check(&self, weave: &mut Weave) -> Set {
        let lines = weave.line_states();
        let on = self.on(weave);
        assert!(self.valid(&on), "the buffer's hunks are a valid set");
        for line in &lines {
            assert_eq!(line.shown, visible(line, &on), "shown is what is visible: {line:?}");
        }
        assert_eq!(self.text(&lines, &on).as_deref(), Some(weave.buffer().to_string().as_str()), "buffer");
        let mut agent = self.agent_set(weave, &lines);
        let seen: Set = weave
            .hunks()
            .collect::<Vec<_>>()
            .into_iter()
            .filter(|hunk| weave.in_agent_view(*hunk))
            .map(HunkId::order)
            .collect();
        let joins = self.text(&lines, &agent).is_none();
        if joins {
            assert!(self.valid(&seen), "without the hunks that would join endings");
            agent = seen;
        } else {
            assert_eq!(seen, agent, "hunks of the agent view");
        }
        assert_eq!(
            self.text(&lines, &agent).as_deref(),
            Some(weave.agent().to_string().as_str()),
            "agent view"
        );
        assert_eq!(weave.agent_anew(), *weave.agent(), "the agent view, computed anew");
        let conflicts = weave.conflicts();
        assert_eq!(joins, conflicts.contains(&Some(Conflict::EndingsWouldJoin)), "who would join endings");
        for hunk in weave.hunks() {
            let index = hunk.order();
            let held = !on.contains(&index) && !weave.is_refused(hunk);
            match conflicts[index] {
                None => assert!(!held || !(weave.is_lost(hunk) || self.disturbed(&lines, index))),
                Some(Conflict::Lost) => assert!(held && weave.is_lost(hunk)),
                Some(Conflict::With(other)) => {
                    assert!(
                        self.hunks[index].collides.contains(&other.order()) && agent.contains(&other.order())
                    );
                }
                Some(Conflict::EndingsWouldJoin) => assert!(held && joins),
                Some(_) => assert!(held && !weave.is_lost(hunk) && self.disturbed(&lines, index)),
            }
            let (depends, collides): (Set, Set) = (
                weave.prerequisites(hunk).iter().map(|hunk| hunk.order()).collect(),
                weave.collisions(hunk).iter().map(|hunk| hunk.order()).collect(),
            );
            assert_eq!(depends, self.hunks[index].depends, "what {index} rests on");
            assert_eq!(collides, self.hunks[index].collides, "what {index} collides with");
        }
        agent
    }

    /// Learns what the person says of the end, and compares. With `ages` a copy is looked at: what the weave remembers of the agent
    /// view, and goes on from when it is asked for it again, is older then than one step.
    pub fn follow(&mut self, weave: &mut Weave, ages: bool) {
        let mut copy = weave.clone();
        let weave = if ages { &mut copy } else { weave };
        self.learn_newline(weave);
        self.check(weave);
    }

    /// Records changes, or finds them refused for their endings.
    /// Records one to three changes of an agent's somewhere in its view.
    pub fn edit_any(&mut self, weave: &mut Weave, rng: &mut Rng, kind: Endings, trace: &mut Trace) {
        let lines = weave.agent().line_count();
        let changes = changes(rng, kind, lines);
        trace.note(format_args!("record {changes:?}"));
        self.record(weave, &changes);
    }

    /// Refuses one of the hunks if it is held, and takes back that it is refused otherwise.
    pub fn refuse_any(&self, weave: &mut Weave, rng: &mut Rng, trace: &mut Trace) {
        let hunk = weave.hunks().nth(rng.below(self.hunks.len())).unwrap();
        let refused = !weave.is_refused(hunk) && !weave.in_buffer(hunk);
        trace.note(format_args!("refuse {hunk:?} {refused}"));
        weave.set_refused(hunk, refused);
    }

    /// Switches about half of the hunks on, and the others off.
    pub fn switch_any(&self, weave: &mut Weave, rng: &mut Rng, trace: &mut Trace) {
        let target: Set = (0..self.hunks.len()).filter(|_| rng.chance(50)).collect();
        trace.note(format_args!("switch to {target:?}"));
        self.switch_to(weave, &target);
    }

    pub fn record(&mut self, weave: &mut Weave, changes: &[Change]) -> Option<Vec<HunkId>> {
        let before = weave.line_states();
        let on: Set = weave
            .hunks()
            .collect::<Vec<_>>()
            .into_iter()
            .filter(|hunk| weave.in_agent_view(*hunk))
            .map(HunkId::order)
            .collect();
        match weave.record(changes) {
            Ok(hunks) => {
                self.recorded(&before, &weave.line_states(), &on, changes);
                Some(hunks)
            }
            Err(refusal) => {
                assert_eq!(refusal, WeaveError::EndingsWouldJoin);
                assert_eq!(weave.line_states(), before, "a refusal changes nothing");
                None
            }
        }
    }

    /// Switches to a set, or finds it refused as it should be. The change goes through an editor's text edits as well.
    pub fn switch_to(&self, weave: &mut Weave, target: &Set) -> bool {
        let plan = plan_to(weave, target);
        let lines = weave.line_states();
        let expected = self.text(&lines, target);
        let before = weave.buffer().clone();
        let preview = weave.preview(&plan);
        let edits = preview.as_ref().map(|changes| weave.text_edits(changes, Encoding::Utf16));
        let done = weave.carry_out(&plan);
        assert_eq!(preview, done, "the preview is what happens");
        match done {
            Ok(_) => {
                let plan = plan.on.iter().chain(&plan.off);
                assert!(plan.into_iter().all(|hunk| !weave.is_lost(*hunk)), "no lost hunk is switched");
                assert!(self.valid(target), "valid: {target:?}");
                assert_eq!(
                    weave.buffer().to_string(),
                    expected.expect("no endings join"),
                    "the text of {target:?}"
                );
                let mut edited = before;
                apply_text_edits(&mut edited, &edits.unwrap(), Encoding::Utf16).unwrap();
                assert_eq!(edited.to_string(), weave.buffer().to_string(), "the text edits lead there");
                true
            }
            Err(WeaveError::EndingsWouldJoin) => {
                assert!(expected.is_none(), "endings join");
                assert_eq!(weave.line_states(), lines);
                false
            }
            Err(WeaveError::Lost { hunk }) => {
                assert!(
                    weave.is_lost(hunk) && weave.in_buffer(hunk) != target.contains(&hunk.order()),
                    "lost"
                );
                assert_eq!(weave.line_states(), lines);
                false
            }
            Err(_) => {
                assert!(!self.valid(target), "invalid: {target:?}");
                assert_eq!(weave.line_states(), lines);
                false
            }
        }
    }
}

pub fn plan_to(weave: &Weave, target: &Set) -> Plan {
    let (on, off): (Vec<HunkId>, Vec<HunkId>) = weave
        .hunks()
        .filter(|hunk| weave.in_buffer(*hunk) != target.contains(&hunk.order()))
        .partition(|hunk| target.contains(&hunk.order()));
    Plan::switch(&on, &off)
}

/// Carried ranges have the contents that were served; all others were touched.
pub fn check_carry(weave: &mut Weave, snapshot: &hashline_weave::Snapshot, range: Range<usize>) -> bool {
    let ids = |weave: &Weave, on: &Set| -> Vec<LineId> {
        weave.line_states().iter().filter(|line| visible(line, on)).map(|line| line.id).collect()
    };
    match weave.carry(snapshot, range.clone()) {
        Ok(now) => {
            assert_eq!(now.len(), range.len());
            let then: Vec<String> =
                snapshot.text().lines(range).map(|line| line.content().into_owned()).collect();
            let here: Vec<String> =
                weave.agent().lines(now).map(|line| line.content().into_owned()).collect();
            assert_eq!(then, here, "carried lines read as they did");
            true
        }
        Err(touched) => {
            assert!(range.contains(&touched.line));
            if let Some(now) = touched.now {
                let agent: Set = weave
                    .hunks()
                    .collect::<Vec<_>>()
                    .into_iter()
                    .filter(|hunk| weave.in_agent_view(*hunk))
                    .map(HunkId::order)
                    .collect();
                assert!(now < ids(weave, &agent).len());
            }
            false
        }
    }
}

pub fn view_text(weave: &mut Weave, view: View) -> String {
    weave.view(view).to_string()
}
