//! A seat in a folder: a process with its editor, the person at it, and the agents that it serves.

use std::sync::Arc;
use std::time::Duration;

use hashline_history::{Decision, HunkRef};
use hashline_text::{FileHash, HashPrefix, Text};
use hashline_weave::View;
use hashline_workspace::agent::{EditRequest, ReadRequest, ReviewScope};
use hashline_workspace::document::{Change, HunkView, Mode, Reports};
use hashline_workspace::{Histories, Settings};

use crate::breaks::Breaks;
use crate::chance::Rng;
use crate::desk::{Desk, Folder, Op, PATIENCE, agent};
use crate::editor::{Act, Answered, By, Diary, Editor};
use crate::failing::Failure;
use crate::model::{Model, Standing, standing};
use crate::street::Street;
use crate::tally::{Met, Tally};

pub const NAME: &str = "a.txt";
pub const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

/// What decides what happens, and what was met.
pub struct Luck {
    pub rng: Rng,
    pub tally: Tally,
}

/// A process, with its editor.
pub struct Process {
    pub desk: Desk,
    pub editor: Arc<Editor>,
    pub breaks: Arc<Breaks>,
    /// What it is called, and the others that it knows of.
    pub name: String,
    street: Option<Street>,
}

impl Process {
    /// One that begins, over a folder that is there or a new one.
    pub fn begin(
        name: String,
        folder: Option<Arc<Folder>>,
        street: Option<Street>,
        diary: &Arc<Diary>,
    ) -> Self {
        let breaks = Arc::new(Breaks::default());
        let histories = Histories::of(name.clone()).with_probe(breaks.clone());
        let folder = folder.unwrap_or_else(|| Desk::new(&[(NAME, FILE)]).folder);
        let others = street.as_ref().map(|street| street.seen_by(&name));
        let desk = Desk::beside(others, folder, Settings::default(), histories);
        if let Some(street) = &street {
            street.joined_by(&name, &desk.workspace);
        }
        desk.workspace.set_reports(Reports::Causes);
        let editor = Editor::of(desk.workspace.clone(), &desk.path(NAME), diary.clone());
        breaks.watch(&editor);
        Self { desk, editor, breaks, name, street }
    }

    fn path(&self) -> String {
        self.desk.path(NAME).display().to_string()
    }

    pub async fn read(&self) -> Result<(Text, FileHash), String> {
        let workspace = &self.desk.workspace;
        let request = ReadRequest { path: self.path(), view: View::Agent };
        let reply =
            workspace.read(&agent("tester"), &request).await.map_err(|refusal| refusal.to_string())?;
        workspace.shown(&reply, 0..reply.text().line_count());
        Ok((reply.text().clone(), reply.hash))
    }

    pub async fn standing(&self) -> Result<Standing, String> {
        let scope = ReviewScope { path: Some(self.path()), ..ReviewScope::default() };
        let edits = self.desk.workspace.edits(&agent("tester"), &scope).await;
        edits.map(standing).map_err(|refusal| refusal.to_string())
    }

    /// Whether another process decides about the edits, or tells of them.
    pub fn is_second(&self) -> bool {
        let uri = self.editor.uri();
        self.street.is_some() && self.desk.workspace.review(uri).is_some_and(|review| review.owner.is_some())
    }

    /// It ends: nothing that it still does reaches the disk.
    pub fn end(&self) {
        self.breaks.end();
        self.editor.gives_up();
        if let Some(street) = &self.street {
            street.left_by(&self.name);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The others hold it.
        if let Some(street) = &self.street {
            street.left_by(&self.name);
        }
    }
}

/// Waits for an answer that has to come.
pub async fn answer<T>(what: &str, coming: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(PATIENCE, coming).await.map_err(|_| format!("{what} is never answered"))
}

/// A process at a time, and what must hold of it.
pub struct Seat {
    pub process: Process,
    pub diary: Arc<Diary>,
    pub model: Model,
    /// What an agent has read, some time ago.
    pub read: Option<(Text, FileHash)>,
    /// The text of a window that was closed without being saved.
    pub swap: Option<String>,
    /// What the person was told so far.
    told: usize,
    /// A line could be neither made durable nor taken back at once: whoever else reads it takes it for recorded, though an agent may have been
    /// told that it is not.
    pub torn: bool,
}

impl Seat {
    pub fn new(process: Process, diary: Arc<Diary>, model: Model) -> Self {
        let (read, swap) = (None, None);
        Self { process, diary, model, read, swap, told: 0, torn: false }
    }

    /// Another process serves it from now on. Returns the editor of the one before.
    pub fn is_served_by(&mut self, next: Process) -> Arc<Editor> {
        self.told = 0;
        self.diary.disturb();
        self.model.told();
        self.model.laid_over();
        let before = std::mem::replace(&mut self.process, next);
        before.editor.clone()
    }

    pub fn editor(&self) -> &Arc<Editor> {
        &self.process.editor
    }

    /// The text that the person has before them.
    pub fn text(&self) -> String {
        self.editor().text().unwrap_or_else(|| self.editor().stored())
    }

    /// Whether there is anything in the window that the file has not.
    pub fn is_unsaved(&self) -> bool {
        self.editor().text().is_some_and(|text| text != self.editor().stored())
    }

    pub fn person(&mut self, act: Act, luck: &mut Luck) {
        let editor = self.editor().clone();
        let tally = &mut luck.tally;
        match act {
            Act::Close if self.is_unsaved() => {
                tally.met(Met::ClosedUnsaved);
                self.swap = editor.text();
            }
            Act::Undo if editor.is_open() => tally.met(Met::Undone),
            Act::Save if editor.is_open() => tally.met(Met::Saved),
            Act::CarryOut if editor.is_delivering() => tally.met(Met::Delivered),
            Act::Decline if editor.is_delivering() => tally.met(Met::Declined),
            Act::Accept | Act::Reject if !editor.is_open() && !editor.offered().is_empty() => {
                tally.met(Met::DecisionsOnDisk);
            }
            Act::Type | Act::WriteOver | Act::Delete if editor.is_delivering() => tally.met(Met::MovedOn),
            _ => {}
        }
        editor.act(act);
    }

    pub fn set_mode(&self, open: Mode) {
        self.process.desk.workspace.set_settings(Settings { open, ..Settings::default() });
    }

    /// What an agent sees of the file now, or saw some time ago.
    async fn seen(&mut self, luck: &mut Luck) -> Result<Option<(Text, FileHash)>, String> {
        if let Some(read) = self.read.take_if(|_| luck.rng.chance(30)) {
            luck.tally.met(Met::EditsOfOldTexts);
            return Ok(Some(read));
        }
        let Ok(read) = answer("an agent's read", self.process.read()).await? else { return Ok(None) };
        self.read = Some(read.clone());
        Ok(Some(read))
    }

    /// An agent edits some lines. What it is called, if it was taken.
    pub async fn edit(&mut self, luck: &mut Luck) -> Result<(), String> {
        let Some(read) = self.seen(luck).await? else { return Ok(()) };
        let (lines, rng) = (read.0.line_count(), &mut luck.rng);
        let new: Vec<String> =
            (0..1 + rng.below(3)).map(|_| format!("agent's {}", self.diary.turn())).collect();
        let (new, from) = (new.join("\n"), rng.below(lines.max(1)));
        let to = (from + 1 + rng.below(2)).min(lines);
        let op = match rng.below(6) {
            _ if lines < 4 => Op::Top(&new),
            0 => Op::Top(&new),
            1 => Op::After(from, &new),
            2 => Op::Delete(from, to),
            _ => Op::Replace(from, to, &new),
        };
        let change = Change::Operations(vec![op.of(0, &read.0)]);
        self.send(read.1, change, luck).await
    }

    /// An agent says what the whole file is to hold.
    pub async fn rewrite(&mut self, luck: &mut Luck) -> Result<(), String> {
        let Some((text, hash)) = self.seen(luck).await? else { return Ok(()) };
        let text = text.to_string();
        let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
        if lines.len() > 3 {
            lines.remove(luck.rng.below(lines.len()));
        }
        let whole = format!("agent's {}\n{}", self.diary.turn(), lines.concat());
        self.send(hash, Change::whole(&whole), luck).await
    }

    async fn send(&mut self, hash: FileHash, change: Change, luck: &mut Luck) -> Result<(), String> {
        let edit = EditRequest {
            path: self.process.path(),
            file_hash: Some(HashPrefix::from(hash)),
            change,
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        match answer("an edit", self.process.desk.workspace.edit(&agent("tester"), edit)).await? {
            Ok(reply) => {
                self.diary.say(format!("    {}", reply.edit));
                self.diary.note_taken(&reply.edit);
                self.model.acknowledged(&reply.edit);
                luck.tally.met(Met::Edits);
                if !reply.open {
                    luck.tally.met(Met::EditsOnDisk);
                }
                self.look().await?;
            }
            Err(refusal) => {
                self.diary.say(format!("    refused: {refusal}"));
                luck.tally.met(Met::EditsRefused);
            }
        }
        Ok(())
    }

    /// An agent takes the latest undecided edit back.
    pub async fn withdraw(&mut self, luck: &mut Luck) -> Result<(), String> {
        let offered = self.editor().offered();
        let Some((HunkRef { edit, .. }, _)) = offered.last() else { return Ok(()) };
        self.diary.disturb();
        self.model.withdrawn(edit);
        let (caller, id) = (agent("tester"), edit.to_string());
        let taken = self.process.desk.workspace.withdraw(&caller, &id);
        if answer("a withdrawal", taken).await?.is_ok() {
            luck.tally.met(Met::Withdrawn);
        }
        Ok(())
    }

    /// Looks how all edits stand.
    pub async fn look(&mut self) -> Result<Standing, String> {
        let now = answer("a look at the edits", self.process.standing()).await??;
        self.model.stands(&now);
        Ok(now)
    }

    /// Whether a decision waits for the text, be it about a hunk that is offered or about one that was decided before. What agents take back of
    /// a text that is closed waits until that is opened again, or its agent asks again: nobody writes the file by themselves.
    pub async fn is_deciding(&self) -> Result<bool, String> {
        let is_open = self.editor().is_open();
        let waits = |hunk: &HunkView| {
            let way = hunk.under_way.and_then(|way| way.decision);
            hunk.deciding && (is_open || way != Some(Decision::Withdrawn))
        };
        let now = answer("a look at the edits", self.process.standing()).await??;
        Ok(self.editor().offered().iter().any(|(_, hunk)| waits(hunk)) || now.values().any(waits))
    }

    /// Lets come to something what was begun, as far as it does not wait for a disk or for the editor.
    pub async fn calm(&self) {
        for _ in 0..5 {
            self.process.desk.settle();
            tokio::time::sleep(Duration::from_millis(1)).await;
            if !self.editor().is_waiting() {
                break;
            }
        }
    }

    /// Takes note of what is offered: once it is decided it is offered no more.
    pub fn meets(&mut self) {
        let offered = self.editor().offered().into_iter().collect();
        self.model.meets(&offered);
    }

    /// Takes note of what became of decisions, and of what went wrong. Returns the decisions that were answered.
    pub async fn follow(&mut self, tally: &mut Tally) -> Result<Vec<Answered>, String> {
        let all = self.editor().answered().await;
        for answered in &all {
            let (choice, decided) = (answered.request.choice, &answered.decided);
            self.diary.say(format!("    {choice:?} {:?}: {decided:?}", answered.request.target));
            tally.met(if decided.queued.is_empty() { Met::DecisionsRefused } else { Met::Decided });
            self.model.decided(choice, decided, answered.undisturbed);
        }
        if self.editor().is_waiting() {
            tally.met(Met::DecisionsThatWaited);
        }
        for failure in self.process.breaks.met() {
            self.torn |= failure == Failure::Torn;
            tally.met(match failure {
                Failure::Refused => Met::AppendRefused,
                Failure::Full => Met::DiskFull,
                Failure::Half => Met::AppendTornInHalf,
                Failure::Unsynced => Met::AppendNotSynced,
                Failure::Torn => Met::AppendNotTakenBack,
                Failure::Slow => Met::AppendSlow,
            });
        }
        self.meets();
        for made in self.diary.take() {
            self.diary.say(format!("    {:?} makes {:?}", made.by, made.after));
            self.model.made(&made)?;
        }
        self.diary.trouble().map_or(Ok(all), Err)
    }

    /// hashline has written the file, on behalf of this seat or of another one.
    pub fn is_written(&self, known: &str, stored: &str, is_own: bool) {
        if is_own {
            self.diary.note(By::Hashline, known, stored);
        } else if !self.editor().is_open() {
            self.diary.find(stored);
        }
    }

    /// Whether the person was told of something.
    pub fn hears(&mut self) -> bool {
        let told = self.process.desk.told();
        for words in &told[self.told..] {
            self.diary.say(format!("    told: {words}"));
        }
        std::mem::replace(&mut self.told, told.len()) < told.len()
    }

    /// The file holds what was saved, and the record knows it.
    pub fn saved(&self) -> Result<(), String> {
        let stored = self.editor().stored();
        if self.editor().text().as_ref() != Some(&stored) {
            return Err(format!("the file has\n{stored}\nand the editor {:?}", self.editor().text()));
        }
        let Some(past) = self.process.desk.try_past(NAME) else { return Ok(()) };
        let recorded = past.weave().map(|weave| weave.buffer().to_string());
        if recorded.as_ref() != Some(&stored) {
            return Err(format!("the file has\n{stored}\nand the record {recorded:?}"));
        }
        Ok(())
    }

    /// A process that begins now shows the document as this one does.
    pub async fn same_for_the_next(&self) -> Result<(), String> {
        let folder = Some(self.process.desk.folder.clone());
        let next = Process::begin("the next".to_owned(), folder, None, &Arc::new(Diary::default()));
        next.editor.open(&next.editor.stored());
        next.desk.settle();
        let shown = |standing: Standing| {
            let shown =
                standing.into_iter().map(|(hunk, view)| (hunk, view.decision, view.state, view.lines));
            shown.collect::<Vec<_>>()
        };
        let here = (shown(self.process.standing().await?), self.process.read().await?.0.to_string());
        let there = (shown(next.standing().await?), next.read().await?.0.to_string());
        match here == there {
            true => Ok(()),
            false => Err(format!("here {here:?}\nand for the next process {there:?}")),
        }
    }
}
