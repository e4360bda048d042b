//! Decisions about several files, found out in copies before the first of them is made.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::{DocumentName, FileId, HunkRef};

use super::{Holder, Met, former, refused};
use crate::document::{Decided, Document, Request, Undecided};
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Decisions about several files, tried one after the other before the first of them is made. What an editor has open is not looked at.
#[derive(Clone)]
pub struct Rehearsal {
    workspace: Workspace,
    /// The files as the decisions so far leave them.
    files: HashMap<FileId, Arc<Document>>,
    /// Who has a name by then, where that is not as the disk has it: the hunk that gives it to a file, or nobody.
    names: HashMap<PathBuf, Option<HunkRef>>,
    /// The files in the order in which they came to their names.
    order: Vec<FileId>,
    /// What was decided so far.
    steps: Vec<Arc<Step>>,
}

/// A decision about one file.
#[derive(Clone)]
pub(super) struct Step {
    pub path: PathBuf,
    pub file: FileId,
    pub requests: Vec<Request>,
}

impl Rehearsal {
    /// Nothing is decided yet.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self::of(workspace, HashMap::new())
    }

    /// Nothing is decided yet about these files.
    pub(super) fn of(workspace: Workspace, files: HashMap<FileId, Document>) -> Self {
        let files = files.into_iter().map(|(file, document)| (file, Arc::new(document))).collect();
        Self { workspace, files, names: HashMap::new(), order: Vec::new(), steps: Vec::new() }
    }

    /// How many decisions were rehearsed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// Decides some of what was rehearsed, by its place in the order in which it was, as one: all of it or nothing. What came before is made.
    /// `names`: what the files are called by now. Blocks.
    #[must_use]
    pub fn make(&self, which: Range<usize>, names: &HashMap<FileId, DocumentName>) -> Decided {
        let steps =
            self.steps.get(which).unwrap_or_default().iter().map(|step| match names.get(&step.file) {
                Some(name) => Arc::new(Step { path: name.as_path().to_owned(), ..Step::clone(step) }),
                None => step.clone(),
            });
        let steps: Vec<Arc<Step>> = steps.collect();
        let Some(first) = steps.first() else { return Decided::default() };
        let decided = self.workspace.switch(&steps);
        decided.unwrap_or_else(|refusal| match first.requests.first() {
            Some(request) => refused(&request.target, &refusal),
            None => Decided::default(),
        })
    }

    /// The files as the decisions leave them, in the order in which they came to their names.
    pub(super) fn into_files(mut self) -> Vec<(FileId, Document)> {
        let files = self.order.into_iter().filter_map(|file| Some((file, self.files.remove(&file)?)));
        files.map(|(file, document)| (file, Arc::unwrap_or_clone(document))).collect()
    }

    /// A file as the decisions so far leave it.
    pub(super) fn file(&mut self, file: FileId) -> Option<&mut Document> {
        self.files.get_mut(&file).map(Arc::make_mut)
    }

    /// What a decision about a file would come to after those before; one that is refused is as if it had not been asked for. Blocks.
    pub fn decide(&mut self, path: &Path, file: FileId, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        match self.document(path, file) {
            Ok(Some(mut document)) => {
                let (was, before) = (path_of(&document), document.file_now().clone());
                let decided =
                    self.workspace.decide_in_copy(&mut document, requests, |name| self.holder(name));
                if !decided.refused.is_empty() {
                    return decided;
                }
                self.note_name(was.as_deref(), path_of(&document).as_deref(), decided.queued.last());
                let now = document.file_now();
                let comes = now.exists && !before.exists || now.name != before.name;
                if comes || !self.order.contains(&file) {
                    self.order.retain(|other| *other != file);
                    self.order.push(file);
                }
                self.steps.push(Arc::new(Step { path: path.to_owned(), file, requests: requests.to_vec() }));
                self.files.insert(file, Arc::new(document));
                decided
            }
            Ok(None) => Decided { refused: vec![Document::no_such(&first.target)], ..Decided::default() },
            Err(refusal) => refused(&first.target, &refusal),
        }
    }

    /// Lets a file that another process decides about have this name by then, where it had that one; none: it is not there. `decided`: what is
    /// decided about it.
    ///
    /// # Errors
    ///
    /// Somebody else has the name by then.
    pub fn rename(
        &mut self,
        was: Option<&Path>,
        now: Option<&Path>,
        request: &Request,
        decided: &[HunkRef],
    ) -> Result<(), Undecided> {
        let takes = now.filter(|_| was != now).map(|path| DocumentName::Path(path.to_owned()));
        let taken =
            takes.and_then(|name| self.workspace.name_taken(&name, &self.holder(&name), &request.target));
        match taken {
            Some(undecided) => Err(undecided),
            None => {
                self.note_name(was, now, decided.last());
                Ok(())
            }
        }
    }

    fn note_name(&mut self, was: Option<&Path>, now: Option<&Path>, decided: Option<&HunkRef>) {
        if was == now {
            return;
        }
        if let Some(was) = was {
            self.names.insert(was.to_owned(), None);
        }
        if let (Some(now), Some(hunk)) = (now, decided) {
            self.names.insert(now.to_owned(), Some(hunk.clone()));
        }
    }

    /// Who has a name by then.
    fn holder(&self, name: &DocumentName) -> Holder {
        match self.names.get(name.as_path()) {
            Some(Some(hunk)) => Holder::Earlier(hunk.clone()),
            Some(None) => Holder::Nobody,
            None => self.workspace.holder(name),
        }
    }

    fn document(&self, path: &Path, file: FileId) -> Result<Option<Document>, Refusal> {
        if let Some(document) = self.files.get(&file) {
            return Ok(Some(Document::clone(document)));
        }
        Ok(match self.workspace.meet(path, file)? {
            Some(Met::Named(slot)) => Some(slot.lock().clone()),
            Some(Met::Former(place, store)) => Some(former(&place, &store.file(file)?)),
            None => None,
        })
    }
}

/// Where the file of a document is; none if it is not there.
fn path_of(document: &Document) -> Option<PathBuf> {
    let now = document.file_now();
    now.name.as_ref().filter(|_| now.exists).map(|name| name.as_path().to_owned())
}
