//! What the person decides about hunks, and what they may expect of it.

use hashline_history::{Decision, Reason};
use hashline_weave::TakeOut;
use hashline_workspace::document::{Along, Choice, HunkState, HunkView, Request, Target, Why};

use crate::atom::{self, Maker, readable};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::model::{Fault, is_in_text};
use crate::page;

impl Desk {
    /// Decides about a hunk, or several. The editor sends what is unsent before any request.
    pub fn decide(&mut self, dice: &mut Dice, room: &mut Room) -> Result<(), Fault> {
        self.editor.send(None);
        self.receive_all(room)?;
        if self.out || self.model.hunks.is_empty() {
            return Ok(());
        }
        let review = self.document.review_where(|_| true);
        let views: Vec<HunkView> = review.edits.into_iter().flat_map(|edit| edit.hunks).collect();
        let open: Vec<usize> =
            (0..views.len()).filter(|at| views[*at].decision == Decision::Undecided).collect();
        let at = if dice.chance(75) { dice.pick(&open).copied() } else { None };
        let at = at.unwrap_or_else(|| dice.below(views.len()));
        let request = self.request(at, &views, dice);
        room.trace.say(|| {
            let name = &self.model.hunks[at].name;
            format!("the person at {} decides {request:?} ({name} is {:?})", self.uri, views[at].state)
        });
        let rejected_before: Vec<usize> =
            (0..views.len()).filter(|at| views[*at].decision == Decision::Rejected).collect();
        let text = self.document.text().to_string();
        let decided = self.document.decide(&request, room.now);
        for undecided in &decided.refused {
            room.trace.say(|| format!("  refused: {} {:?}", undecided.hunk, undecided.why));
            match undecided.why {
                Why::Edited => room.tally.edited += 1,
                Why::NeedsOthers => room.tally.needs_others += 1,
                Why::Collides => room.tally.collisions += 1,
                Why::Conflicted
                | Why::Lost
                | Why::Gone
                | Why::Changed
                | Why::Removed
                | Why::Open
                | Why::Failed
                | Why::Elsewhere => {}
            }
        }
        if text != self.document.text().to_string() {
            return Err("a decision changed the text without the editor".to_owned());
        }
        if request.choice == Choice::Comment {
            room.tally.commented += decided.queued.len() as u64;
            return self.observe(true, room);
        }
        // What goes along is told as well; it is the model's to know.
        let named: Vec<usize> = decided
            .queued
            .iter()
            .filter_map(|name| self.model.find(name))
            .filter(|at| self.is_named(*at, &request.target, &views[*at]))
            .collect();
        let wanted = match request.choice {
            Choice::Accept | Choice::TakeTheirs | Choice::KeepBoth => Decision::Accepted,
            Choice::Reject | Choice::KeepMine => Decision::Rejected,
            Choice::Reopen | Choice::Comment => Decision::Undecided,
        };
        // The last word wins over an earlier one about what it rests on, or what rests on it.
        let group = self.model.group(&named);
        let linked = match wanted {
            Decision::Accepted => self.model.below(&group),
            _ => self.model.above(&group),
        };
        for at in linked {
            self.model.hunks[at].asked = None;
        }
        for at in &named {
            self.model.hunks[*at].asked = Some(wanted);
            match request.choice {
                Choice::Reopen => room.tally.reopened += 1,
                Choice::KeepMine => room.tally.keep_mine += 1,
                Choice::TakeTheirs => room.tally.take_theirs += 1,
                Choice::KeepBoth => room.tally.keep_both += 1,
                Choice::Accept if request.own.is_some() => room.tally.revised += 1,
                Choice::Accept if rejected_before.contains(at) => room.tally.accepted_again += 1,
                Choice::Accept | Choice::Reject | Choice::Comment => {}
            }
            if let (Decision::Rejected, HunkState::Edited(edited)) = (wanted, views[*at].state)
                && edited.asks()
            {
                match request.edited {
                    Some(TakeOut::KeepMyLines) => room.tally.keep_lines += 1,
                    _ => room.tally.with_changes += 1,
                }
            }
        }
        if let Some(own) = &request.own
            && !named.is_empty()
        {
            self.model.rewritten(&named, &views[at].proposed, own);
        }
        let name = &self.model.hunks[at].name;
        let members = (0..views.len()).filter(|one| *one == at || views[*one].part_of.as_ref() == Some(name));
        let members: Vec<usize> = members.collect();
        let queued: Vec<usize> = decided.queued.iter().filter_map(|name| self.model.find(name)).collect();
        self.take_on(&named, &queued, &views, &request, wanted)?;
        self.observe(true, room)?;
        match &request.own {
            // Where it could not be recorded the decision was not made.
            Some(own) if named.iter().any(|at| self.model.hunks[*at].asked.is_some()) => {
                self.sends_rewritten(&members, own, room)
            }
            _ => Ok(()),
        }
    }

    /// Hunks that were rewritten as one read so in the delivery that brings them: what the person put there is there once, what they left
    /// of them is there once, and what they took out is not.
    fn sends_rewritten(&mut self, hunks: &[usize], own: &[String], room: &mut Room) -> Result<(), Fault> {
        let sent = self.parcels.len();
        let before = self.document.text().to_string();
        self.poll(room)?;
        let Some(parcel) = self.parcels.get(sent) else { return Ok(()) };
        let after = self.text_after(&before, &parcel.delivery)?;
        let (there, was, wanted) = (atom::count(&after), atom::count(&before), atom::count(&own.join("\n")));
        let typed = |atom: &&char| atom::maker(**atom) == Some(Maker::Person) && !was.contains_key(*atom);
        let brings = |at: &usize| {
            let mut switches = parcel.delivery.switches.iter();
            switches.any(|switched| switched.on && switched.hunk == self.model.hunks[*at].name)
        };
        if !hunks.iter().any(brings) {
            // It waits for another delivery.
            return Ok(());
        }
        room.tally.revised_sent += 1;
        let agents = hunks.iter().flat_map(|at| &self.model.hunks[*at].proposed);
        // What another hunk takes out may go at the same time.
        let taken = |atom: &char| {
            let removed = self.model.hunks.iter().flat_map(|hunk| &hunk.removed);
            removed.into_iter().any(|line| line.contains(*atom))
        };
        let agents = agents.flat_map(|line| atom::atoms(line));
        let agents = agents.filter(|atom| !was.contains_key(atom) && !taken(atom));
        for atom in agents.chain(wanted.keys().filter(typed).copied()) {
            let (is, should) = (there.get(&atom), wanted.get(&atom));
            if is != should {
                return Err(format!(
                    "{} stands {} times, and the person has it {} times in {:?}",
                    readable(&atom.to_string()),
                    is.copied().unwrap_or_default(),
                    should.copied().unwrap_or_default(),
                    readable(&own.join("|"))
                ));
            }
        }
        Ok(())
    }

    /// Some lines as the person would rather have them; at least one is theirs.
    fn rewritten(&mut self, lines: &[String], dice: &mut Dice) -> Vec<String> {
        let mut own = Vec::new();
        let new = dice.below(lines.len() + 1);
        for at in 0..=lines.len() {
            if at == new {
                own.push(format!("own({});", self.atoms.next(Maker::Person)));
            }
            let Some(line) = lines.get(at) else { break };
            match dice.below(5) {
                0 => {}
                1 => own.push(format!("{line}{}", self.atoms.next(Maker::Person))),
                _ => own.push(line.clone()),
            }
        }
        own
    }

    /// Whether a hunk was asked for, and does not only go along.
    fn is_named(&self, at: usize, target: &Target, view: &HunkView) -> bool {
        let hunk = &self.model.hunks[at];
        match target {
            Target::Hunk(name) => hunk.name == *name,
            Target::Edit(id) => hunk.name.edit.as_str() == id,
            Target::Conversation(id) | Target::Whole(id) => hunk.conversation == *id,
            Target::Lines(lines) => view.lines.as_ref().is_some_and(|place| {
                // A place between lines counts for the line on either side of it.
                let wide = usize::from(place.is_empty());
                place.start.saturating_sub(wide) < lines.end.max(lines.start + 1)
                    && lines.start < place.end + wide
            }),
            Target::All => true,
        }
    }

    /// Notes what is under way now: the hunks that were named, and those that go with them.
    fn take_on(
        &mut self,
        named: &[usize],
        queued: &[usize],
        views: &[HunkView],
        request: &Request,
        wanted: Decision,
    ) -> Result<(), Fault> {
        let review = self.document.review_where(|_| true);
        let now: Vec<&HunkView> = review.edits.iter().flat_map(|edit| &edit.hunks).collect();
        let with = match wanted {
            Decision::Accepted => self.model.below(&self.model.group(named)),
            Decision::Rejected => self.model.above(&self.model.group(named)),
            _ => named.to_vec(),
        };
        // What the review says it builds on goes with it, too.
        let told =
            named.iter().flat_map(|at| views[*at].depends_on.iter().filter_map(|name| self.model.find(name)));
        let told: Vec<usize> = if wanted == Decision::Accepted { told.collect() } else { Vec::new() };
        let with: Vec<usize> = with.into_iter().chain(told).collect();
        let newly = |at: &usize| {
            (now[*at].deciding && !views[*at].deciding)
                || now[*at].decision != views[*at].decision
                || queued.contains(at)
        };
        for (at, hunk) in self.model.hunks.iter().enumerate() {
            // What was wanted before and had to wait may be clear now.
            let waited = hunk.granted.contains(&now[at].decision) && (views[at].deciding || hunk.may_go);
            let changed = newly(&at) && !waited && hunk.asked != Some(now[at].decision);
            // Those of one turn go together without being asked for.
            let turn = |other: &usize| self.model.hunks[*other].conversation == hunk.conversation;
            let asked =
                request.along == Along::All || request.target == Target::All || named.iter().any(turn);
            if changed && !with.contains(&at) && !asked {
                return Err(format!("{} goes with a decision that it does not hang on", hunk.name));
            }
        }
        let others: Vec<usize> = (0..now.len()).filter(newly).filter(|at| !with.contains(at)).collect();
        for at in with.iter().copied().chain(others) {
            let keeps = request.edited == Some(TakeOut::KeepMyLines);
            let hunk = &mut self.model.hunks[at];
            // Of a hunk whose place is certain they go at the next delivery.
            hunk.left |= wanted == Decision::Rejected
                && keeps
                && is_in_text(&now[at].state)
                && now[at].decision == Decision::Rejected;
            hunk.granted.insert(wanted);
            hunk.may_come |= wanted == Decision::Accepted;
            hunk.may_go |= wanted == Decision::Rejected;
            hunk.over_mine |= request.choice == Choice::TakeTheirs
                || (wanted == Decision::Rejected && request.edited == Some(TakeOut::WithMyChanges));
            if matches!(request.choice, Choice::KeepBoth | Choice::TakeTheirs) {
                // Lines that the person has changed come back as they are now.
                let removed = hunk.removed.clone();
                let own =
                    |line: &&&str| removed.iter().any(|own| atom::atoms(own).any(|atom| line.contains(atom)));
                self.model.hunks[at].forced = true;
                let text = self.document.text().to_string();
                let contents = page::contents(&text);
                let lines: Vec<String> = contents.iter().filter(own).map(|line| (*line).to_owned()).collect();
                lines.iter().for_each(|line| self.model.loosen(line));
            }
            let hunk = &self.model.hunks[at];
            if request.choice == Choice::KeepBoth || request.edited == Some(TakeOut::KeepMyLines) {
                let lines: Vec<String> = hunk.removed.iter().chain(&hunk.proposed).cloned().collect();
                for line in lines {
                    self.model.loosen(&line);
                }
            }
        }
        Ok(())
    }

    fn request(&mut self, at: usize, views: &[HunkView], dice: &mut Dice) -> Request {
        let view = &views[at];
        let choice = match (view.state, view.decision) {
            (HunkState::Conflicted(_), _) => dice.weighted(&[
                (25, Choice::KeepMine),
                (25, Choice::TakeTheirs),
                (25, Choice::KeepBoth),
                (15, Choice::Accept),
                (10, Choice::Reject),
            ]),
            (_, Decision::Rejected | Decision::Withdrawn) => {
                dice.weighted(&[(60, Choice::Accept), (35, Choice::Reopen), (5, Choice::Reject)])
            }
            (_, Decision::Accepted) => {
                dice.weighted(&[(70, Choice::Reject), (20, Choice::Reopen), (10, Choice::Accept)])
            }
            (_, Decision::Undecided) => dice.weighted(&[
                (54, Choice::Accept),
                (4, Choice::Comment),
                (38, Choice::Reject),
                (2, Choice::KeepMine),
                (2, Choice::KeepBoth),
            ]),
        };
        let name = self.model.hunks[at].name.clone();
        let target = dice.weighted(&[(82, 0), (6, 1), (4, 2), (5, 3), (3, 4)]);
        let target = match (target, &view.lines) {
            (1, _) => Target::Edit(name.edit.to_string()),
            (2, _) => Target::Conversation(self.model.hunks[at].conversation.clone()),
            (3, Some(lines)) => Target::Lines(lines.clone()),
            (4, _) => Target::All,
            _ => Target::Hunk(name),
        };
        let edited = dice.weighted(&[
            (40, None),
            (30, Some(TakeOut::WithMyChanges)),
            (30, Some(TakeOut::KeepMyLines)),
        ]);
        let along = if dice.chance(50) { Along::All } else { Along::OfTurn };
        let is_whole = matches!(target, Target::Hunk(_)) && view.part_of.is_none();
        let rewrites = choice == Choice::Accept && view.state == HunkState::Held && is_whole;
        let own = (rewrites && dice.chance(12)).then(|| self.rewritten(&view.proposed, dice));
        let reason = (choice == Choice::Comment).then(|| Reason::of("is it used?")).flatten();
        Request { edited, along, own, reason, ..Request::of(choice, target) }
    }
}
