//! An edit with all that there is to show of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use hashline_history::path::quoted;
use hashline_history::{
    Decision, Document, DocumentName, EditState, FileChange, FileId, Found, HunkState, Store,
};
use hashline_terminal::{Failure, inert};
use hashline_workspace::document::Review;
use serde_json::{Value, json};

use super::hunk::Diff;
use super::hunk_status::{self, Standing};

/// Reads edits, and each of their documents once.
pub struct Edits<'a> {
    store: &'a Store,
    documents: HashMap<FileId, Result<Document, String>>,
    reviews: HashMap<FileId, Review>,
}

/// An edit with what became of it.
#[derive(Clone, Debug)]
pub struct Edit {
    pub found: Found,
    /// What the record says of it, or why that cannot be read.
    pub state: Result<EditState, String>,
    /// The diff as it was made; none if it changes no lines.
    pub diff: Option<String>,
}

impl<'a> Edits<'a> {
    pub fn new(store: &'a Store) -> Self {
        Self { store, documents: HashMap::new(), reviews: HashMap::new() }
    }

    /// Reads an edit.
    pub fn read(&mut self, found: &Found) -> Result<Edit, Failure> {
        let store = self.store;
        let document = self
            .documents
            .entry(found.file)
            .or_insert_with(|| store.file(found.file).map_err(|error| error.to_string()));
        let missing = || "it is not in the record of its file".to_owned();
        let state = match document {
            Ok(document) => document.edit(&found.edit).cloned().ok_or_else(missing),
            Err(error) => Err(error.clone()),
        };
        let diff = store.diff(&found.conversation, &found.edit).map_err(Failure::broken)?;
        Ok(Edit { found: found.clone(), state, diff })
    }

    /// How the hunks of an edit stand; nothing where its record cannot be read.
    pub fn stands(&mut self, edit: &Edit) -> Vec<Standing> {
        let file = edit.found.file;
        let Some(Ok(document)) = self.documents.get(&file) else { return Vec::new() };
        let review = self.reviews.entry(file).or_insert_with(|| hunk_status::review(document));
        hunk_status::of(&edit.found.edit, document, review)
    }

    /// The lines of a file that an edit removes.
    pub fn removed(&self, edit: &Edit) -> Option<String> {
        let removes = |change: &FileChange| change.exists == Some((true, false));
        if !edit.file_change().is_some_and(removes) {
            return None;
        }
        // As it was then: something may have made it again since.
        let then = self.store.file_as_of(edit.found.file, edit.found.sequence).ok()?;
        Some(then.weave()?.buffer().to_string())
    }

    /// Forgets what was read: something has changed.
    pub fn forget(&mut self) {
        self.documents.clear();
        self.reviews.clear();
    }
}

impl Edit {
    /// Its hunks, as far as they are known.
    pub fn hunks(&self) -> &[HunkState] {
        self.state.as_ref().map_or(&[], |state| &state.hunks)
    }

    /// The numbers of the hunks that nobody has decided about.
    pub fn undecided(&self) -> Vec<u32> {
        let open = self.hunks().iter().filter(|hunk| hunk.decision == Decision::Undecided);
        open.map(|hunk| hunk.number).collect()
    }

    /// The diff, taken apart, and the number of the hunk that its first change is; none if the two do not fit.
    pub fn numbered(&self) -> Option<(Diff<'_>, u32)> {
        let diff = Diff::parse(self.diff.as_deref()?)?;
        let state = self.state.as_ref().ok()?;
        let file_hunks = usize::from(state.made.file.is_some());
        let fits = state.hunks.len() == diff.changes() + file_hunks;
        fits.then(|| (diff, 1 + u32::from(file_hunks > 0)))
    }

    /// The diff of one hunk. None where it cannot be told from the others, or changes no lines.
    pub fn hunk_diff(&self, number: u32) -> Option<String> {
        let (diff, first) = self.numbered()?;
        diff.only(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// What it does to the file besides its lines.
    pub fn file_change(&self) -> Option<&FileChange> {
        self.state.as_ref().ok()?.made.file.as_ref()
    }

    /// The names of its file before and after, if it moves it.
    pub fn moved(&self) -> Option<(&DocumentName, &DocumentName)> {
        let (from, to) = self.file_change()?.name.as_ref()?;
        Some((from, to))
    }

    /// All of it, or as far as one hunk goes, for programs.
    pub fn json(&self, only: Option<u32>, stands: &[Standing]) -> Value {
        let standing = |number: u32| stands.iter().find(|standing| standing.number == number);
        let hunks: Vec<Value> = self
            .hunks()
            .iter()
            .filter(|hunk| only.is_none_or(|only| hunk.number == only))
            .map(|hunk| {
                json!({
                    "hunk": hunk.number,
                    "decision": hunk.decision,
                    "reason": hunk.reason,
                    "in": hunk.location,
                    "state": standing(hunk.number).map(|standing| standing.word),
                    "one_with": standing(hunk.number).map(|standing| &standing.one_with),
                    "diff": self.hunk_diff(hunk.number),
                })
            })
            .collect();
        let mut value = json!({
            "edit_id": self.found.edit,
            "conversation_id": self.found.conversation,
            "file_path": self.found.document.to_text(),
            "status": self.found.status,
            "hunks": hunks,
            "diff": match only {
                Some(number) => self.hunk_diff(number),
                None => self.diff.clone(),
            },
        });
        match (&self.state, value.as_object_mut()) {
            (Ok(state), Some(object)) => {
                object.insert("tool_call_index".into(), json!(state.index));
                object.insert("timestamp".into(), json!(state.time));
                object.insert("operation".into(), json!(state.made.operation));
                object.insert("agent".into(), json!(state.made.agent));
                object.insert("tool_name".into(), json!(state.made.tool));
                object.insert("reason".into(), json!(state.made.reason));
                object.insert("source_path".into(), json!(self.moved().map(|(from, _)| from.to_text())));
            }
            (Err(error), Some(object)) => {
                object.insert("problem".into(), json!(error));
            }
            _ => {}
        }
        value
    }
}

/// A path as people know it: from the folder of the history. One that is not UTF-8 is quoted, as diffs have it.
pub fn relative(path: &Path, folder: &Path) -> String {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    inert(&inside.to_str().map_or_else(|| quoted(inside.as_os_str()), Cow::from))
}
