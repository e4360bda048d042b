//! The editor of a play: files are opened, saved and closed in it between the steps.

use std::path::{Path, PathBuf};

use hashline_history::Summary;
use hashline_link::{StateDir, discover};

use crate::plain_editor::{Editor, until};

use super::decision::Step;
use super::oracle::{Status, Tree};
use super::play::Play;

/// An editor, and how the person works with it.
pub struct Desk {
    editor: Editor,
    /// Each decision is saved at once.
    saves: bool,
    /// What is not saved may be given up.
    gives_up: bool,
}

impl Play {
    pub fn start_editor(&mut self) {
        let editor = Editor::start_with(&self.project, &["rename", "delete"]);
        let (saves, gives_up) = (self.rng.chance(25), self.rng.chance(35));
        self.desk = Some(Desk { editor, saves, gives_up });
        self.story.push(format!("an editor; saves each decision: {saves}"));
        self.met.note("editor");
    }

    fn path_of(&self, file: usize) -> PathBuf {
        self.project.folder.join(self.oracle.file(file).unwrap().name)
    }

    /// The texts that the editor has, by the names of their files.
    pub fn texts(&self) -> Tree {
        let Some(desk) = &self.desk else { return Tree::new() };
        let name =
            |path: PathBuf| path.strip_prefix(&self.project.folder).unwrap().to_str().unwrap().to_owned();
        desk.editor.documents().into_iter().map(|(path, text)| (name(path), text)).collect()
    }

    /// The editor shows what was decided, if not at once.
    pub fn check_texts(&self) {
        self.comes_to(|| self.texts(), &self.oracle.texts());
    }

    /// What the person does before the next step.
    pub fn at_desk(&mut self) {
        let Some(desk) = &self.desk else { return };
        let (saves, gives_up) = (desk.saves, desk.gives_up);
        let open: Vec<usize> = self.oracle.open.keys().copied().collect();
        let unsaved: Vec<usize> = open.iter().copied().filter(|file| self.oracle.is_unsaved(*file)).collect();
        if saves {
            unsaved.iter().for_each(|file| self.save(*file));
        }
        match self.rng.below(10) {
            0..3 => self.open_one(),
            3..5 if !unsaved.is_empty() => {
                let file = *self.rng.pick(&unsaved);
                self.save(file);
            }
            5 if !open.is_empty() => {
                let file = *self.rng.pick(&open);
                self.save(file);
                self.close(file);
            }
            6 if gives_up && !unsaved.is_empty() => {
                let file = *self.rng.pick(&unsaved);
                self.give_up(file);
            }
            7 if self.rng.chance(20) => self.restart_editor(),
            _ => {}
        }
    }

    fn open_one(&mut self) {
        let living = self.oracle.living().into_iter().map(|(file, _)| file);
        let closed: Vec<usize> = living.filter(|file| !self.oracle.is_open(*file)).collect();
        if !closed.is_empty() {
            let file = *self.rng.pick(&closed);
            self.open(file);
        }
    }

    fn open(&mut self, file: usize) {
        let (path, text) = (self.path_of(file), self.oracle.file(file).unwrap().lines.concat());
        let Some(desk) = &self.desk else { return };
        desk.editor.open(&path, &text);
        self.story.push(format!("open {}", path.display()));
        self.oracle.save(file);
        self.agent_finds(&path, true);
        self.met.note("open");
    }

    /// Until the agent's calls go to the editor, or to the disk again.
    fn agent_finds(&mut self, path: &Path, open: bool) {
        let agent = std::cell::RefCell::new(&mut self.agent);
        let what = if open { "the agent's way to the editor" } else { "the agent's way to the disk" };
        until(what, || agent.borrow_mut().read(path).contains(" Open in ") == open);
    }

    fn save(&mut self, file: usize) {
        let path = self.path_of(file);
        let Some(desk) = &self.desk else { return };
        desk.editor.save(&path);
        self.oracle.save(file);
        self.story.push(format!("save {}", path.display()));
        self.met.note("save");
    }

    fn close(&mut self, file: usize) {
        let path = self.path_of(file);
        let Some(desk) = &self.desk else { return };
        desk.editor.close(&path);
        self.story.push(format!("close {}", path.display()));
        self.oracle.close(file);
        self.agent_finds(&path, false);
        self.met.note("close");
    }

    /// Closes a document that is not saved. What was decided in it is asked again as soon as the editor does not open it anew.
    fn give_up(&mut self, file: usize) {
        let before = self.oracle.clone();
        self.close(file);
        self.until_given_back();
        self.check_hunks();
        for part in before.parts().filter(|part| before.status(*part) != self.oracle.status(*part)) {
            self.met.note(format!("asked again: {}", before.status(part).word()));
        }
        self.met.note("close: not saved");
    }

    /// An editor that has saved all ends as in a crash, and another one comes.
    fn restart_editor(&mut self) {
        let open: Vec<usize> = self.oracle.open.keys().copied().collect();
        open.iter().for_each(|file| self.save(*file));
        self.desk = None;
        for file in &open {
            self.oracle.close(*file);
        }
        self.start_editor();
        for file in open {
            self.open(file);
        }
        self.met.note("editor: again");
    }

    /// Closes all that is open, for good or with an editor that goes on.
    pub fn leave_desk(&mut self) {
        for file in self.oracle.open.keys().copied().collect::<Vec<_>>() {
            self.save(file);
            self.close(file);
        }
        if self.rng.chance(75) {
            self.desk = None;
        }
        self.until_given_back();
    }

    /// The files about which an editor still decides, though it has closed them: it may be about to open them again.
    fn kept_closed(&self) -> Vec<String> {
        let open = self.oracle.texts();
        let name =
            |path: &Path| path.strip_prefix(&self.project.folder).unwrap().to_str().unwrap().to_owned();
        let state = StateDir::new(Some(&self.project.temp.path().join("state"))).unwrap();
        let running: Vec<String> =
            discover(&state).iter().map(|sidecar| sidecar.id.as_str().to_owned()).collect();
        let documents = self.project.store().documents().unwrap();
        let is_owned =
            |document: &&Summary| document.owner.as_ref().is_some_and(|owner| running.contains(owner));
        let owned = documents.iter().filter(is_owned);
        let mut kept: Vec<String> = owned.map(|document| name(document.name.as_path())).collect();
        // Of files that had one name only one is open.
        for name in open.keys() {
            if let Some(at) = kept.iter().position(|kept| kept == name) {
                kept.remove(at);
            }
        }
        kept
    }

    /// Until all that the editor has closed is nobody's: what is decided about several files is done in one step then, and one after the
    /// other before.
    fn until_given_back(&self) {
        if self.desk.is_some() {
            let what = format!("the end of claims to {:?}\n{}\n", self.kept_closed(), self.told());
            until(&what, || self.kept_closed().is_empty());
        }
    }

    /// Whether something may be decided about files and their names now.
    pub fn may_decide_about_names(&mut self) -> bool {
        if self.desk.is_none() || self.kept_closed().is_empty() {
            return true;
        }
        let waits = self.rng.chance(20);
        if waits {
            self.until_given_back();
        }
        waits
    }

    /// Counts what was decided about files that are open.
    pub fn note_in_editor(&mut self, steps: &[Step], status: Status) {
        let verb = status.word();
        for part in steps.iter().filter(|step| self.oracle.is_open(step.file)).flat_map(|step| &step.parts) {
            let of = if self.oracle.edits[part.0].is_of_lines(part.1) { "lines" } else { "file" };
            let held =
                if self.oracle.is_alive(*part) && !self.oracle.is_in(*part) { "held" } else { "other" };
            self.met.note(format!("{verb}: {held} hunk, {of}, in the editor"));
        }
    }
}
