//! What an editor does for its person in several places at once, each time with one command and one step of undo.

use std::ops::Range;

use crate::atom::{Maker, readable};
use crate::desk::{Desk, Room};
use crate::dice::Dice;
use crate::first::MARK;
use crate::page::{self, Patch};

impl Desk {
    /// Some lines from the cursor on, as rows.
    fn block(&self, dice: &mut Dice) -> Range<usize> {
        let from = self.row_index();
        from..(from + dice.within(1, 4)).min(self.rows().len())
    }

    /// Indents some lines, or takes their indentation back.
    pub fn indent(&mut self, dice: &mut Dice, room: &mut Room) {
        let (block, deeper) = (self.block(dice), dice.chance(60));
        let rows = self.rows();
        let text = &self.editor.text;
        let patch = |start: usize| match deeper {
            true => Some(Patch { bytes: start..start, new: "  ".to_owned() }),
            false => {
                text[start..].starts_with("  ").then(|| Patch { bytes: start..start + 2, new: String::new() })
            }
        };
        let filled = rows[block].iter().filter(|row| row.start < row.content_end);
        let patches: Vec<Patch> = filled.filter_map(|row| patch(row.start)).collect();
        room.tally.indents += u64::from(self.change_many(&patches, room));
    }

    /// Moves some lines over the one above them or below them.
    pub fn move_lines(&mut self, dice: &mut Dice, room: &mut Room) {
        let (block, up) = (self.block(dice), dice.chance(50));
        let rows = self.rows();
        let all = if up { block.start.wrapping_sub(1)..block.end } else { block.start..block.end + 1 };
        let whole = |at: usize| rows.get(at).is_some_and(|row| row.content_end < row.end);
        if all.start >= rows.len() || !all.clone().all(whole) {
            return;
        }
        let bytes = rows[all.start].start..rows[all.end - 1].end;
        let old = self.editor.text[bytes.clone()].to_owned();
        let mut lines: Vec<&str> = all.map(|at| &self.editor.text[rows[at].start..rows[at].end]).collect();
        if up {
            lines.rotate_left(1);
        } else {
            lines.rotate_right(1);
        }
        let new = lines.concat();
        // Some editors report where each line goes, some the whole.
        let patches = match dice.chance(60) {
            true => page::by_lines(&old, &new),
            false => page::single(&old, &new).into_iter().collect(),
        };
        let placed = |patch: Patch| Patch {
            bytes: bytes.start + patch.bytes.start..bytes.start + patch.bytes.end,
            new: patch.new,
        };
        let patches: Vec<Patch> = patches.into_iter().map(placed).collect();
        self.model.loosen(&old);
        room.tally.moves += u64::from(self.change_many(&patches, room));
    }

    /// Types, or erases, at several cursors.
    pub fn type_at_cursors(&mut self, dice: &mut Dice, room: &mut Room) {
        let mut cursors = Vec::new();
        for _ in 0..dice.within(2, 4) {
            self.move_cursor(dice);
            cursors.push(self.editor.cursor);
        }
        cursors.sort_unstable();
        let erases = dice.chance(20);
        let mut patches: Vec<Patch> = Vec::new();
        for at in cursors {
            let before = self.editor.text[..at].chars().next_back();
            let before = before.filter(|char| erases && !matches!(char, '\r' | '\n'));
            let from = at - before.map_or(0, char::len_utf8);
            let is_apart = patches.last().is_none_or(|last| last.bytes.end < from);
            if is_apart && (before.is_some() || !erases) {
                let new = if erases { String::new() } else { self.atoms.next(Maker::Person).to_string() };
                patches.push(Patch { bytes: from..at, new });
            }
        }
        room.tally.cursors += u64::from(self.change_many(&patches, room));
    }

    /// Completes a word, which brings an import to the beginning.
    pub fn complete(&mut self, room: &mut Room) {
        let at = self.editor.cursor;
        let top = if self.editor.text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
        let import = format!("import({}){}", self.atoms.next(Maker::Person), self.editor.ending);
        let word = format!("{}()", self.atoms.next(Maker::Person));
        let patches = match at <= top {
            true => vec![Patch { bytes: top..top, new: import + &word }],
            false => {
                vec![Patch { bytes: top..top, new: import }, Patch { bytes: at..at, new: word }]
            }
        };
        room.tally.completions += u64::from(self.change_many(&patches, room));
    }

    /// Changes several places in one step. Returns whether there is one.
    fn change_many(&mut self, patches: &[Patch], room: &mut Room) -> bool {
        for Patch { bytes, new } in patches {
            self.is_changing(bytes.clone(), new, room);
        }
        self.editor.type_many(patches);
        !patches.is_empty()
    }

    pub fn save(&mut self, dice: &mut Dice, room: &mut Room) {
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
            if !text.is_empty() && !text.ends_with(['\n', '\r']) && dice.chance(50) {
                text.push_str(self.editor.ending);
            }
            self.editor.rewrite(&text, dice);
        }
        self.model.saved(&self.editor.text);
        self.disk.clone_from(&self.editor.text);
        if let Some(text) = self.editor.save() {
            self.was_saved(text);
        }
    }

    /// Reads the text from the file again, as it was saved or as a checkout has put it there.
    pub fn reload(&mut self, dice: &mut Dice, room: &mut Room) {
        let recorded: Vec<String> = self.texts_recorded().map(str::to_owned).collect();
        if let Some(text) = dice.pick(&recorded).filter(|_| dice.chance(40)) {
            room.tally.checkouts += 1;
            self.disk.clone_from(text);
        }
        if self.disk == self.editor.text {
            return;
        }
        room.tally.reloads += 1;
        let disk = self.disk.clone();
        room.trace.say(|| format!("the person at {} reads the file again: {:?}", self.uri, readable(&disk)));
        self.model.muddle_all(&self.editor.text, &disk);
        let before = self.shown();
        self.editor.reload(&disk, dice);
        let after = self.shown();
        for (hunk, (was, is)) in self.model.hunks.iter_mut().zip(before.into_iter().zip(after)) {
            // The latest word about it is this.
            if was != is || is.is_none() {
                hunk.asked = None;
            }
        }
    }

    /// Puts the whole text in another order.
    pub fn rewrite(&mut self, dice: &mut Dice, room: &mut Room) {
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
}
