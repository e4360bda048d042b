//! What has to be so when the disk is well again.

use std::collections::BTreeMap;
use std::path::Path;

use hashline_history::{Decision, Document as Past, EditId, HunkRef, Location};
use hashline_text::FileHash;
use hashline_workspace::agent::ReviewScope;
use hashline_workspace::{Histories, Refusal, Settings};

use super::seat::{NAME, Seat};
use crate::desk::{Desk, Folder, agent};
use crate::order::{Event, in_order};

/// How each hunk stands: what was decided, and how it is shown.
pub type Standing = BTreeMap<HunkRef, (Decision, String)>;

/// What has happened, and at which step.
#[derive(Default)]
pub struct Checks {
    step: usize,
    events: Vec<(usize, Event)>,
    now: Standing,
}

impl Checks {
    pub fn next_step(&mut self) {
        self.step += 1;
    }

    pub fn happened(&mut self, event: Event) {
        self.events.push((self.step, event));
    }

    /// Notes what has become of the hunks.
    pub fn stands(&mut self, now: &Standing) {
        for (hunk, (decision, _)) in now {
            let before = self.now.get(hunk).map_or(Decision::Undecided, |(decision, _)| *decision);
            if before != *decision {
                self.events.push((self.step, Event::Decided(hunk.clone(), *decision)));
            }
        }
        self.now.clone_from(now);
    }

    pub fn hunks(&self) -> Vec<HunkRef> {
        self.now.keys().cloned().collect()
    }

    /// The hunk about which this was decided last.
    pub fn latest(&self, decision: Decision) -> Option<HunkRef> {
        self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Decided(hunk, decided) if *decided == decision => Some(hunk.clone()),
            _ => None,
        })
    }

    fn edited(&self) -> impl Iterator<Item = &EditId> {
        self.events.iter().filter_map(|(_, event)| match event {
            Event::Edited(id) => Some(id),
            Event::Decided(..) => None,
        })
    }

    pub fn edits(&self) -> usize {
        self.edited().count()
    }

    /// Everything is in the record, as it stands in the document.
    pub fn assert_recorded(&self, past: &Past, now: &Standing, about: &str) {
        let recorded: Vec<&EditId> = past.edits.iter().map(|edit| &edit.made.id).collect();
        assert_eq!(recorded, self.edited().collect::<Vec<_>>(), "{about}: the edits");
        let of = |hunk: &HunkRef| past.hunk(hunk).map(|hunk| hunk.decision);
        let recorded: Vec<_> = now.keys().map(|hunk| (hunk, of(hunk))).collect();
        let stands: Vec<_> = now.iter().map(|(hunk, (decision, _))| (hunk, Some(*decision))).collect();
        assert_eq!(recorded, stands, "{about}: the decisions, as they are recorded and as they stand");
    }

    /// What is recorded later has not happened earlier.
    pub fn assert_in_order(&self, history: &Path, about: &str) {
        if let Err(words) = in_order(history, &self.events) {
            panic!("{about}: {words}");
        }
    }
}

impl Seat {
    pub fn path(&self) -> String {
        self.desk().path(NAME).display().to_string()
    }

    /// What an agent reads.
    pub async fn read(&self) -> Result<(hashline_text::Text, FileHash), Refusal> {
        let path = self.path();
        read(&self.workspace, path).await
    }

    /// How all edits stand, if they can be looked at.
    pub async fn standing(&self) -> Option<Standing> {
        let path = self.path();
        standing(&self.workspace, path).await
    }
}

async fn read(
    workspace: &hashline_workspace::Workspace,
    path: String,
) -> Result<(hashline_text::Text, FileHash), Refusal> {
    let request = hashline_workspace::agent::ReadRequest { path, view: hashline_weave::View::Agent };
    let reply = workspace.read(&agent("tester"), &request).await?;
    workspace.shown(&reply, 0..reply.text().line_count());
    Ok((reply.text().clone(), reply.hash))
}

async fn standing(workspace: &hashline_workspace::Workspace, path: String) -> Option<Standing> {
    let scope = ReviewScope { path: Some(path), ..ReviewScope::default() };
    let edits = workspace.edits(&agent("tester"), &scope).await.ok()?;
    let hunks = edits.into_iter().flat_map(|edit| {
        let id = edit.id;
        let named = move |hunk: hashline_workspace::agent::HunkInfo| {
            let shown = format!("{:?} at {:?}", hunk.view.state, hunk.view.lines);
            (HunkRef { edit: id.clone(), number: hunk.view.number }, (hunk.view.decision, shown))
        };
        edit.hunks.into_iter().map(named)
    });
    Some(hunks.collect())
}

/// The file holds what was saved, and the record knows it.
pub fn assert_saved(seat: &Seat, about: &str) {
    let desk = seat.desk();
    let stored = desk.stored(NAME);
    drop(desk);
    assert_eq!(seat.saved().as_ref(), Some(&stored), "{about}: the file");
    assert_eq!(seat.text(), stored, "{about}: the window");
    let Some(past) = seat.desk().try_past(NAME) else { return };
    assert_eq!(
        past.weave().map(|weave| weave.buffer().to_string()),
        Some(stored.clone()),
        "{about}: the text"
    );
    let hunks = past.edits.iter().flat_map(|edit| edit.hunks.iter().map(move |hunk| (edit, hunk)));
    for (edit, hunk) in hunks {
        assert_ne!(hunk.location, Location::Buffer, "{about}: {} {} was saved", edit.made.id, hunk.number);
    }
    if past.edits.iter().any(|edit| edit.hunks.iter().any(|hunk| hunk.location == Location::Disk)) {
        assert_eq!(past.saved, Some(FileHash::of(stored.as_bytes())), "{about}: what was saved last");
    }
}

/// A process that begins with what is on the disk shows the document as this one does.
pub async fn assert_same_for_another_process(seat: &Seat, about: &str) {
    let copy = tempfile::tempdir().unwrap();
    let from = seat.desk().folder.path().to_owned();
    copy_folder(&from, copy.path());
    let path = copy.path().canonicalize().unwrap();
    let mut desk = Desk::over(Folder::at(&path), Settings::default(), Histories::of("another"));
    desk.open(NAME);
    let name = path.join(NAME).display().to_string();
    let here = (seat.standing().await, seat.read().await.ok().map(|(text, _)| text.to_string()));
    let there = (
        standing(&desk.workspace, name.clone()).await,
        read(&desk.workspace, name).await.ok().map(|(text, _)| text.to_string()),
    );
    assert_eq!(here, there, "{about}: here, and as another process finds it");
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
