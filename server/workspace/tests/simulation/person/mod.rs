//! The person at an editor: types, deletes, pastes, undoes, saves, and decides about edits.

mod decide;
mod gestures;

use std::ops::Range;

use crate::atom::{self, Maker, readable};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::model::Fault;
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
    Reload,
    Indent,
    MoveLines,
    Cursors,
    Complete,
    Leave,
}

/// The keys by how often they are used.
pub const KEYS: [(usize, Key); 16] = [
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
    (1, Key::Reload),
    (3, Key::Indent),
    (2, Key::MoveLines),
    (3, Key::Cursors),
    (3, Key::Complete),
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
            Key::Reload => self.reload(dice, room),
            Key::Indent => self.indent(dice, room),
            Key::MoveLines => self.move_lines(dice, room),
            Key::Cursors => self.type_at_cursors(dice, room),
            Key::Complete => self.complete(room),
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
        self.is_changing(bytes.clone(), new, room);
        self.editor.type_at(bytes, new, joins);
    }

    fn is_changing(&mut self, bytes: Range<usize>, new: &str, room: &mut Room) {
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
        self.loosen_unseen(bytes, new);
    }

    /// Where the person changes lines of an agent's before the server has heard that they are there, the server cannot know what the
    /// delivery put there.
    fn loosen_unseen(&mut self, bytes: Range<usize>, new: &str) {
        let text = &self.editor.text;
        let rows = page::rows(text);
        let first = rows.partition_point(|row| row.start <= bytes.start) - 1;
        let last = rows.partition_point(|row| row.start <= bytes.end) - 1;
        let lines = &text[rows[first].start..rows[last].content_end];
        if self.document.awaits_answer() {
            self.model.wear(lines);
        }
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
}
