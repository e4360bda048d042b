//! The person at an editor: types, deletes, pastes, undoes, saves with a formatter, and decides about edits.

use std::ops::Range;

use hashline_history::Decision;
use hashline_weave::TakeOut;
use hashline_workspace::document::{Choice, HunkState, HunkView, Request, Target, Why};

use crate::atom::{self, Maker, readable};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::model::{Fault, is_in_text};
use crate::page::{self, Row};

/// What a person may do at the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Type,
    Enter,
    Erase,
    DeleteLines,
    Paste,
    Copy,
    Undo,
    Redo,
    Save,
    Rewrite,
    Leave,
}

/// The keys by how often they are used.
pub const KEYS: [(usize, Key); 11] = [
    (40, Key::Type),
    (10, Key::Enter),
    (8, Key::Erase),
    (5, Key::DeleteLines),
    (6, Key::Paste),
    (2, Key::Copy),
    (9, Key::Undo),
    (5, Key::Redo),
    (3, Key::Save),
    (1, Key::Rewrite),
    (8, Key::Leave),
];

impl Desk {
    /// Uses the keyboard.
    pub fn press(&mut self, key: Key, dice: &mut Dice, room: &mut Room) -> Result<(), Fault> {
        if !self.editor.inserting || dice.chance(15) {
            self.move_cursor(dice);
        }
        match key {
            Key::Type => self.type_some(dice, room),
            Key::Enter => {
                let at = self.editor.cursor;
                let row = self.row();
                if at < row.content_end {
                    self.loosen(at..at);
                }
                let ending = self.editor.ending;
                self.change(at..at, ending, true, room);
            }
            Key::Erase => self.erase(dice, room),
            Key::DeleteLines => {
                let rows = page::rows(&self.editor.text);
                let from = self.row_index();
                let to = (from + dice.within(1, 3)).min(rows.len());
                let bytes = rows[from].start..rows[to - 1].end;
                self.model.tear(&self.editor.text, &self.editor.text[bytes.clone()]);
                self.change(bytes, "", false, room);
            }
            Key::Paste => {
                let mut text = String::new();
                for _ in 0..dice.within(1, 3) {
                    text.push_str(&" ".repeat(dice.below(2) * 2));
                    text.push_str(&format!("paste({});", self.atoms.next(Maker::Person)));
                    text.push_str(self.editor.ending);
                }
                let at = self.row().start;
                self.change(at..at, &text, false, room);
            }
            Key::Copy => {
                let row = self.row();
                let line = self.editor.text[row.start..row.content_end].to_owned();
                self.model.loosen(&line);
                let text = format!("{line}{}", self.editor.ending);
                self.move_cursor(dice);
                let at = self.row().start;
                self.change(at..at, &text, false, room);
            }
            Key::Undo => return self.turn(false, room),
            Key::Redo => return self.turn(true, room),
            Key::Save => self.save(dice, room),
            Key::Rewrite => self.rewrite(dice, room),
            Key::Leave => self.editor.inserting = false,
        }
        Ok(())
    }

    fn rows(&self) -> Vec<Row> {
        page::rows(&self.editor.text)
    }

    fn row_index(&self) -> usize {
        self.rows().partition_point(|row| row.start <= self.editor.cursor) - 1
    }

    fn row(&self) -> Row {
        self.rows()[self.row_index()]
    }

    fn move_cursor(&mut self, dice: &mut Dice) {
        let rows = self.rows();
        let row = rows[dice.below(rows.len())];
        let line = &self.editor.text[row.start..row.content_end];
        let places: Vec<usize> = line.char_indices().map(|(at, _)| at).chain([line.len()]).collect();
        self.editor.cursor = row.start + places[dice.below(places.len())];
    }

    fn change(&mut self, bytes: Range<usize>, new: &str, joins: bool, room: &mut Room) {
        room.tally.keys += new.chars().count() as u64;
        room.trace.say(|| {
            let text = &self.editor.text;
            let (from, to) = (
                page::position_of(text, bytes.start, hashline_text::Encoding::Utf32),
                page::position_of(text, bytes.end, hashline_text::Encoding::Utf32),
            );
            let gone = readable(&text[bytes.clone()]);
            format!("the person at {} puts {:?} for {gone:?} at {from}-{to}", self.uri, readable(new))
        });
        self.loosen_unseen(bytes.clone(), new);
        self.editor.type_at(bytes, new, joins);
    }

    /// Where the person changes lines of an agent's before the server has heard that they are there, the server cannot know what the
    /// delivery put there.
    fn loosen_unseen(&mut self, bytes: Range<usize>, new: &str) {
        let text = &self.editor.text;
        let rows = page::rows(text);
        let first = rows.partition_point(|row| row.start <= bytes.start) - 1;
        let last = rows.partition_point(|row| row.start <= bytes.end) - 1;
        let lines = &text[rows[first].start..rows[last].content_end];
        let known = self.document.text().to_string();
        let unseen = |atom: char| atom::maker(atom) == Some(Maker::Agent) && !known.contains(atom);
        if atom::atoms(lines).any(unseen) {
            self.model.loosen(lines);
            self.model.loosen(new);
        }
    }

    fn type_some(&mut self, dice: &mut Dice, room: &mut Room) {
        for _ in 0..dice.within(1, 3) {
            let char = if dice.chance(80) { self.atoms.next(Maker::Person) } else { 'x' };
            let at = self.editor.cursor;
            self.change(at..at, char.encode_utf8(&mut [0; 4]), true, room);
            // In an empty range the cursor stays before what was typed.
            self.editor.cursor = at + char.len_utf8();
        }
    }

    /// The characters of the lines that some bytes touch may end up anywhere.
    fn loosen(&mut self, bytes: Range<usize>) {
        let rows = self.rows();
        let first = rows.partition_point(|row| row.start <= bytes.start) - 1;
        let last = rows.partition_point(|row| row.start <= bytes.end) - 1;
        let lines = self.editor.text[rows[first].start..rows[last].end].to_owned();
        self.model.loosen(&lines);
    }

    fn erase(&mut self, dice: &mut Dice, room: &mut Room) {
        let at = self.editor.cursor;
        let row = self.row();
        let bytes = if at > row.start {
            let before = self.editor.text[..at].chars().next_back().map_or(0, char::len_utf8);
            at - before..at
        } else if at > 0 && dice.chance(60) {
            // Joins two lines.
            let above = self.rows()[self.row_index() - 1];
            above.content_end..above.end
        } else {
            return;
        };
        if bytes.end == row.start {
            self.loosen(bytes.start..bytes.end);
        }
        self.change(bytes, "", true, room);
    }

    /// Undoes or redoes a step, and sees whether the server understands what that did to the hunks.
    fn turn(&mut self, redo: bool, room: &mut Room) -> Result<(), Fault> {
        // Neovim sends what is pending first if it is asked; so the undo is reported by itself half of the time anyway.
        let before = (self.shown(), self.in_text());
        let Some(delivered) = self.editor.turn(redo) else { return Ok(()) };
        for (at, (was, is)) in before.0.iter().zip(self.shown()).enumerate() {
            // The latest word about it is this; of what is neither wholly there nor wholly gone, or lies under others, it may be.
            let open = is.is_none() || self.model.is_covered(at);
            let hunk = &mut self.model.hunks[at];
            if *was != is || (delivered && open && (hunk.may_come || hunk.may_go)) {
                hunk.asked = None;
            }
        }
        room.trace.say(|| format!("the person at {} {}", self.uri, if redo { "redoes" } else { "undoes" }));
        if !delivered || self.out || !self.editor.outbox.is_empty() && self.editor.outbox.len() > 1 {
            return Ok(());
        }
        self.editor.send(None);
        self.receive_all(room)?;
        if self.out {
            return Ok(());
        }
        let after = (self.shown(), self.in_text());
        for at in 0..after.0.len() {
            let (Some(was), Some(is)) = (before.0[at], after.0[at]) else { continue };
            // Only where text and state agreed before is there something to recognise.
            if was == is || before.1[at] != was {
                continue;
            }
            let seen = after.1[at] == is;
            room.trace.say(|| {
                let name = &self.model.hunks[at].name;
                format!(
                    "  {name} {} the text{}",
                    if is { "is in" } else { "has left" },
                    if seen { "" } else { ", unnoticed" }
                )
            });
            let (met, known) = if redo {
                (&mut room.tally.redone, &mut room.tally.redone_seen)
            } else {
                (&mut room.tally.undone, &mut room.tally.undone_seen)
            };
            *met += 1;
            *known += u64::from(seen);
        }
        Ok(())
    }

    fn in_text(&self) -> Vec<bool> {
        self.model.hunks.iter().map(|hunk| hunk.in_text).collect()
    }

    /// For each hunk whether the editor's text has all its characters or none; none for one between.
    fn shown(&self) -> Vec<Option<bool>> {
        let counts = atom::count(&self.editor.text);
        let shown = |hunk: &crate::model::Hunk| {
            let mut own = hunk.proposed.iter().flat_map(|line| atom::atoms(line)).peekable();
            own.peek()?;
            let all: Vec<bool> = own.map(|atom| counts.contains_key(&atom)).collect();
            all.iter().all(|is| *is == all[0]).then_some(all[0])
        };
        self.model.hunks.iter().map(shown).collect()
    }

    fn save(&mut self, dice: &mut Dice, room: &mut Room) {
        room.tally.saves += 1;
        room.trace.say(|| format!("the person at {} saves", self.uri));
        if dice.chance(70) {
            let mut text = String::new();
            for row in self.rows() {
                let line = &self.editor.text[row.start..row.content_end];
                let trimmed = line.trim();
                let indent = if trimmed.is_empty() || dice.chance(85) {
                    line.len() - line.trim_start().len()
                } else {
                    dice.below(4)
                };
                if !trimmed.is_empty() {
                    text.push_str(&" ".repeat(indent));
                    text.push_str(trimmed);
                }
                text.push_str(&self.editor.text[row.content_end..row.end]);
            }
            if !text.is_empty() && !text.ends_with('\n') && dice.chance(50) {
                text.push_str(self.editor.ending);
            }
            self.editor.rewrite(&text, dice);
        }
        self.model.saved(&self.editor.text);
        self.disk.clone_from(&self.editor.text);
    }

    /// Puts the whole text in another order.
    fn rewrite(&mut self, dice: &mut Dice, room: &mut Room) {
        room.tally.rewrites += 1;
        room.trace.say(|| format!("the person at {} rewrites all", self.uri));
        self.model.loosen(&self.editor.text);
        let text = &self.editor.text;
        let mut lines: Vec<&str> =
            page::rows(text).iter().map(|row| &text[row.start..row.content_end]).collect();
        for _ in 0..2 {
            let (a, b) = (dice.below(lines.len()), dice.below(lines.len()));
            lines.swap(a, b);
        }
        while lines.last() == Some(&"") {
            lines.pop();
        }
        let mut text = lines.join(self.editor.ending);
        if !lines.is_empty() {
            text.push_str(self.editor.ending);
        }
        self.editor.rewrite(&text, dice);
    }

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
            Choice::Reopen => Decision::Undecided,
        };
        // The last word wins over an earlier one about what it rests on, or what rests on it.
        let linked = match wanted {
            Decision::Accepted => self.model.below(&named),
            _ => self.model.above(&named),
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
                Choice::Accept | Choice::Reject => {}
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
            Some(own) if !named.is_empty() => self.sends_rewritten(&members, own, room),
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
            let asked = request.with_others || request.target == Target::All || named.iter().any(turn);
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
                // After keeping both, a rejection brings the person's line back a second time.
                let text = self.document.text().to_string();
                let contents = page::contents(&text);
                let place = views[at].lines.clone().and_then(|place| contents.get(place)).unwrap_or_default();
                let lines = contents.iter().filter(own).chain(place);
                let lines: Vec<String> = lines.map(|line| (*line).to_owned()).collect();
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
                (58, Choice::Accept),
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
        let with_others = dice.chance(50);
        let is_whole = matches!(target, Target::Hunk(_)) && view.part_of.is_none();
        let rewrites = choice == Choice::Accept && view.state == HunkState::Held && is_whole;
        let own = (rewrites && dice.chance(12)).then(|| self.rewritten(&view.proposed, dice));
        Request { edited, with_others, own, ..Request::of(choice, target) }
    }
}
