//! Decisions about several files, found out in copies before the first of them is made.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hashline_history::{DocumentName, FileId, HunkRef};

use super::names::{By, Collision, Names};
use super::{FormerFile, Holder, Met, former, refused, taken_by_file};
use crate::document::{Decided, Document, Request, Target, Undecided};
use crate::refusal_messages::Refusal;
use crate::workspace::Workspace;

/// Decisions about several files, tried one after the other before the first of them is made. What an editor has open is not looked at.
///
/// Those that are made as one may meet names that another file has yet, as the disk gets to see the last of them only: whoever has them made
/// sees to it that nobody shares a name by then.
#[derive(Clone)]
pub struct Rehearsal {
    workspace: Workspace,
    /// The files as the decisions so far leave them.
    files: HashMap<FileId, Arc<Document>>,
    names: Names,
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
        Self { workspace, files, names: Names::default(), order: Vec::new(), steps: Vec::new() }
    }

    /// How many decisions were rehearsed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// How many names two files would have by then.
    #[must_use]
    pub fn shared_names(&self) -> usize {
        self.names.shared()
    }

    /// Why what was decided so far cannot be made as it is, if two files would have one name.
    #[must_use]
    pub fn collision(&self) -> Option<Undecided> {
        let Collision { name, file, holder, by } = self.names.collision()?;
        self.name_taken(&DocumentName::Path(name.to_owned()), &holder, &by.target, Some(file))
    }

    /// Why a file cannot have a name by then, if somebody has it. `comes`: that file, where it is one of these.
    fn name_taken(
        &self,
        name: &DocumentName,
        holder: &Holder,
        target: &Target,
        comes: Option<FileId>,
    ) -> Option<Undecided> {
        let mut others = self.files.iter().filter(|(file, _)| Some(**file) != comes);
        if let Holder::File(path) = holder
            && let Some((_, theirs)) = others.find(|(_, file)| path_of(file).as_ref() == Some(path))
        {
            // What gave it that name before may be undone by then.
            let giver = theirs.giver_of_name();
            return Some(taken_by_file(name, &DocumentName::Path(path.clone()), giver, target));
        }
        self.workspace.name_taken(name, holder, target)
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

    /// What a decision about a file would come to after those before; one that is refused is as if it had not been asked for. Another file that
    /// may leave its name yet does not stand against it. Blocks.
    pub fn decide(&mut self, path: &Path, file: FileId, requests: &[Request]) -> Decided {
        let Some(first) = requests.first() else { return Decided::default() };
        match self.document(path, file) {
            Ok(Some(mut document)) => {
                let (was, before) = (path_of(&document), document.file_now().clone());
                let keeper = |name: &DocumentName| self.names.keeper(&self.workspace, name);
                let decided = self.workspace.decide_in_copy(&mut document, requests, keeper);
                if !decided.refused.is_empty() {
                    return decided;
                }
                let is = path_of(&document);
                if was != is {
                    let by = |hunk| By { target: first.target.clone(), hunk };
                    let comes = is.as_deref().zip(document.giver_among(&decided.queued).map(by));
                    self.names.change(&self.workspace, file, was.as_deref(), comes);
                }
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
        let holder = |name: &DocumentName| self.names.holder(&self.workspace, name);
        let taken = takes.and_then(|name| self.name_taken(&name, &holder(&name), &request.target, None));
        match taken {
            Some(undecided) => Err(undecided),
            None => {
                if was != now {
                    self.names.change_in_editor(&self.workspace, was, now.zip(decided.last()));
                }
                Ok(())
            }
        }
    }

    fn document(&self, path: &Path, file: FileId) -> Result<Option<Document>, Refusal> {
        if let Some(document) = self.files.get(&file) {
            return Ok(Some(Document::clone(document)));
        }
        Ok(match self.workspace.meet(path, file)? {
            Some(Met::Named(slot)) => Some(slot.lock().clone()),
            Some(Met::Former(FormerFile { place, store, .. })) => Some(former(&place, &store.file(file)?)),
            None => None,
        })
    }
}

/// Where the file of a document is; none if it is not there.
fn path_of(document: &Document) -> Option<PathBuf> {
    let now = document.file_now();
    now.name.as_ref().filter(|_| now.exists).map(|name| name.as_path().to_owned())
}
