//! Which documents there are.

use std::path::Path;

use hashline_history::path::from_text;

use crate::agent::read::name_of;
use crate::disk::{HardLinks, Place, Roots};
use crate::document_slot::Slot;
use crate::grants::Access;
use crate::refusal_messages::Refusal;
use crate::unsaved_work::Level;
use crate::workspace::{Caller, Workspace};

/// An open document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentInfo {
    /// The path, or the URI of a document without a file.
    pub name: String,
    /// How its text stands to its file.
    pub level: Level,
    /// The editor's name for its language.
    pub language: String,
    /// How many lines the agent view has.
    pub lines: usize,
    /// Undecided hunks.
    pub pending: usize,
    /// Conflicted ones among them.
    pub conflicted: usize,
    /// The other editor that decides about them, if one does (rule W19).
    pub owner: Option<String>,
    /// Why it is not served, if so.
    pub out_of_step: Option<String>,
    /// The version of its text.
    pub version: Option<i32>,
    /// The URI that the editor uses.
    pub uri: String,
}

impl Workspace {
    /// The open documents that a caller may reach, sorted by name. Looks at the disk, to see which are saved.
    #[must_use]
    pub fn documents(&self, caller: &Caller) -> Vec<DocumentInfo> {
        let mut documents: Vec<DocumentInfo> = self
            .slots()
            .iter()
            .filter(|slot| slot.lock().is_open() && self.may_reach(caller, slot))
            .map(|slot| info(slot))
            .collect();
        documents.sort_by(|a, b| a.name.cmp(&b.name));
        documents
    }

    /// Whether a document lies where a caller may reach it.
    pub(crate) fn may_reach(&self, caller: &Caller, slot: &Slot) -> bool {
        if !caller.is_given(slot) || self.is_closed_to_agents(slot) {
            return false;
        }
        let inside = |path: &std::path::Path, folders: &[std::path::PathBuf]| {
            folders.iter().any(|folder| path.starts_with(crate::disk::identity(folder)))
        };
        match (slot.place(), &caller.roots) {
            // A file outside the roots is its editor's, while that has it open.
            (None, None) => {
                let document = slot.lock();
                document.is_open() || !document.uri().starts_with("file:")
            }
            // A document without a file lies in nobody's folder; it is its editor's, which serves all its agents. A file outside the
            // roots is served while it is open, to those whose own folders hold it.
            (None, Some(folders)) => {
                let document = slot.lock();
                let file = document.uri().starts_with("file:");
                !file
                    || (document.is_open() && from_text(&slot.key).is_some_and(|path| inside(&path, folders)))
            }
            // What an editor has closed keeps its place when other folders are served.
            (Some(place), None) => {
                slot.lock().is_open() || self.roots().iter().any(|root| place.absolute().starts_with(root))
            }
            (Some(place), Some(folders)) => inside(place.absolute(), folders),
        }
    }

    /// Whether a document is one that lies below the roots and has no place there: hashline's own folder, a history, and what else agents are not
    /// served, which they do not hear of either because somebody has it open.
    fn is_closed_to_agents(&self, slot: &Slot) -> bool {
        slot.place().is_none()
            && slot.lock().uri().starts_with("file:")
            && from_text(&slot.key).is_some_and(|path| self.roots().iter().any(|root| path.starts_with(root)))
    }
}

pub(super) fn info(slot: &Slot) -> DocumentInfo {
    let (text, mut info) = {
        let mut document = slot.lock();
        let review = document.review();
        let hunks = review.edits.iter().flat_map(|edit| &edit.hunks);
        let undecided = hunks.filter(|hunk| hunk.decision == hashline_history::Decision::Undecided);
        let (mut pending, mut conflicted) = (0, 0);
        for hunk in undecided {
            pending += 1;
            conflicted += usize::from(matches!(hunk.state, crate::document::HunkState::Conflicted(_)));
        }
        let text = document.text().clone();
        let lines = if pending > 0 { document.weave().agent().line_count() } else { text.line_count() };
        let uri = document.uri().to_owned();
        let info = DocumentInfo {
            name: name_of(slot, uri.clone()),
            level: Level::Saved,
            language: document.language().to_owned(),
            lines,
            pending,
            conflicted,
            owner: None,
            out_of_step: document.out_of_step().map(ToString::to_string),
            version: document.version().map(|version| version.0),
            uri,
        };
        (text, info)
    };
    // Reading and comparing take as long as the file is large: the document is not locked meanwhile.
    info.level = slot.level(&text);
    info.owner = slot.whose().other().map(|other| other.name.clone());
    info
}

impl Caller {
    /// A caller that may reach all that is served.
    #[must_use]
    pub fn anywhere(agent: &str, connection: &str) -> Self {
        Self {
            agent: agent.into(),
            connection: connection.into(),
            roots: None,
            grants: None,
            reviews: true,
            hard_links: HardLinks::Served,
        }
    }

    /// The same caller, kept to what lies in these roots as well.
    #[must_use]
    pub fn within(mut self, roots: &Roots) -> Self {
        self.roots = Some(roots.iter().map(|root| root.path().to_owned()).collect());
        self
    }

    /// Whether the caller may do something to what lies at an absolute path free of links: for whoever lists or searches files.
    #[must_use]
    pub fn may(&self, access: Access, path: &Path) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.allow(access, path))
    }

    /// Refuses what the caller was not given. What has no place is a document without a file.
    pub(crate) fn check(&self, access: Access, place: Option<&Place>, given: &str) -> Result<(), Refusal> {
        let allowed = match (place, &self.grants) {
            (Some(place), _) => self.may(access, place.absolute()),
            (None, grants) => grants.as_ref().is_none_or(|grants| grants.allow_everywhere(access)),
        };
        if allowed { Ok(()) } else { Err(Refusal::NotGiven { access, path: given.to_owned() }) }
    }

    /// Whether the caller may hear of a document.
    fn is_given(&self, slot: &Slot) -> bool {
        let Some(grants) = &self.grants else { return true };
        match slot.place() {
            Some(place) => grants.allow(Access::Read, place.absolute()),
            // A file outside the roots is found by its path all the same.
            None => match from_text(&slot.key) {
                Some(path) if path.is_absolute() => grants.allow(Access::Read, &path),
                _ => grants.allow_everywhere(Access::Read),
            },
        }
    }
}
