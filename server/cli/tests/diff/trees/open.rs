//! What has to be so of files that an editor has open: what agents see there, what is not saved, and what becomes of it.

use super::oracle::{Now, Op, Oracle, Part, Saved, Status, Tree, is_beside};

impl Oracle {
    /// The hunks of lines of a file.
    fn lines_of(&self, file: usize) -> Vec<Part> {
        let is_one = |(edit, hunk): &Part| {
            let edit = &self.edits[*edit];
            edit.file == file && edit.is_of_lines(*hunk)
        };
        self.parts().filter(is_one).collect()
    }

    /// A file as agents see it.
    pub fn for_agents(&self, file: usize) -> Option<Now> {
        self.as_agents_see(file).file(file)
    }

    /// The edits as agents see a file: with the hunks that wait, as far as they go together, those that were made first before others.
    pub fn as_agents_see(&self, file: usize) -> Self {
        let mut seen = self.clone();
        for part in self.lines_of(file) {
            let (edit, hunk) = part;
            let waits = self.is_alive(part) && !self.is_in(part);
            let fits = |seen: &Self| {
                seen.needs(part).iter().all(|other| seen.is_in(*other))
                    && !seen.rivals(part).iter().any(|other| seen.is_in(*other))
            };
            if waits && fits(&seen) {
                seen.edits[edit].held[hunk - 1] = false;
            }
        }
        seen
    }

    /// Whether some of these lines are of hunks that wait.
    pub fn rests_on_held<'a>(&self, mut lines: impl Iterator<Item = &'a String>) -> bool {
        lines.any(|line| self.maker(line).is_some_and(|part| !self.is_in(part)))
    }

    pub fn is_open(&self, file: usize) -> bool {
        self.open.contains_key(&file)
    }

    /// Whether an editor has a text that is not on the disk.
    pub fn is_unsaved(&self, file: usize) -> bool {
        let text = self.file(file).map(|now| now.lines);
        self.open.get(&file).is_some_and(|saved| Some(&saved.lines) != text.as_ref())
    }

    /// Whether the removal of a file, or another name for it, waits.
    pub fn has_held_change(&self, file: usize) -> bool {
        let waits = |part: &Part| self.is_alive(*part) && !self.is_in(*part);
        self.parts_of_files().any(|part| self.edits[part.0].file == file && waits(&part))
    }

    /// Whether a file is to have a name that is accepted first.
    pub fn is_promised(&self, name: &str) -> bool {
        let waits = |part: &Part| self.is_alive(*part) && !self.is_in(*part);
        self.parts_of_files()
            .filter(waits)
            .any(|(edit, _)| matches!(&self.edits[edit].op, Op::Move(_, to) if is_beside(to, name)))
    }

    fn parts_of_files(&self) -> impl Iterator<Item = Part> {
        self.parts().filter(|(edit, hunk)| !self.edits[*edit].is_of_lines(*hunk))
    }

    /// What an editor has open, by name.
    pub fn texts(&self) -> Tree {
        let all = self.open.keys().filter_map(|file| self.file(*file));
        all.map(|now| (now.name, now.lines.concat())).collect()
    }

    /// The text of a file is on the disk.
    pub fn save(&mut self, file: usize) {
        let Some(now) = self.file(file) else { return };
        let parts = self.lines_of(file).into_iter().filter(|part| self.is_in(*part)).collect();
        self.open.insert(file, Saved { lines: now.lines, parts });
    }

    /// No editor has a file open any more. What was decided and not saved is to be decided again.
    pub fn close(&mut self, file: usize) {
        let Some(Saved { parts, .. }) = self.open.remove(&file) else { return };
        for part in self.lines_of(file) {
            let (is_saved, status) = (parts.contains(&part), self.status(part));
            if is_saved == self.is_in(part) {
                continue;
            }
            let (edit, hunk) = part;
            let edit = &mut self.edits[edit];
            edit.held[hunk - 1] = !is_saved;
            if status == Status::Accepted || is_saved {
                edit.statuses[hunk - 1] = Status::Pending;
            }
        }
    }

    /// How many pairs of files cannot be there together.
    pub fn clashes(&self) -> usize {
        let living = self.living();
        let pairs = living
            .iter()
            .enumerate()
            .flat_map(|(at, one)| living[at + 1..].iter().map(move |other| (one, other)));
        pairs.filter(|(one, other)| is_beside(&one.1.name, &other.1.name)).count()
    }
}
