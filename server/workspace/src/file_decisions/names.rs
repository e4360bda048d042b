//! Who has which names while several decisions are made one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::path::{Path, PathBuf};

use hashline_history::{DocumentName, FileId, HunkRef};

use super::Holder;
use crate::document::Target;
use crate::workspace::Workspace;

/// Who has names by then, as far as files came to them or left them. Files on the disk come and go at once, so that of several that follow on each
/// other one may come to a name before another has left it.
///
/// Two names are as one where a file of the one would lie in a file of the other.
#[derive(Clone, Default)]
pub(super) struct Names {
    hands: BTreeMap<PathBuf, Hands>,
    /// The names that a file came to and another one has.
    shared: BTreeSet<PathBuf>,
    /// How many files came to a name so far.
    came: usize,
}

/// Who has one name.
#[derive(Clone)]
struct Hands {
    /// Who had it before; nobody if that has left.
    before: Holder,
    /// The files on the disk that came to it, in this order.
    came: Vec<Came>,
}

#[derive(Clone)]
struct Came {
    file: FileId,
    by: By,
    /// Its place among all that came to names.
    at: usize,
}

/// What gives a name to a file.
#[derive(Clone)]
pub(super) struct By {
    /// What was asked for.
    pub target: Target,
    /// What is decided then.
    pub hunk: HunkRef,
}

/// Two that have one name.
pub(super) struct Collision<'a> {
    pub name: &'a Path,
    /// The other one.
    pub file: FileId,
    pub holder: Holder,
    /// What gives the name to the other one.
    pub by: &'a By,
}

impl Names {
    /// Who has a name by then.
    pub fn holder(&self, workspace: &Workspace, name: &DocumentName) -> Holder {
        match self.all_near(name.as_path()).max_by_key(|(_, came)| came.at) {
            Some((name, came)) => came.holder(name),
            None => self.before(workspace, name.as_path()),
        }
    }

    /// Who has a name by then and keeps it while files on the disk come and go.
    pub fn keeper(&self, workspace: &Workspace, name: &DocumentName) -> Holder {
        match self.before(workspace, name.as_path()) {
            Holder::File(file) if !workspace.may_be_open_anywhere(&file) => Holder::Nobody,
            keeper => keeper,
        }
    }

    /// A file on the disk leaves a name and comes to another; none where it is not there.
    pub fn change(
        &mut self,
        workspace: &Workspace,
        file: FileId,
        was: Option<&Path>,
        now: Option<(&Path, By)>,
    ) {
        if let Some(was) = was {
            match self.hands.get_mut(was).and_then(|hands| Some((hands.place_of(file)?, hands))) {
                Some((at, hands)) => drop(hands.came.remove(at)),
                None => self.set_before(workspace, was, Holder::Nobody),
            }
            self.look_who_shares(was);
        }
        if let Some((now, by)) = now {
            let came = Came { file, by, at: self.came };
            self.came += 1;
            if !self.hands.contains_key(now) {
                let before = self.on_disk(workspace, now);
                self.hands.insert(now.to_owned(), Hands { before, came: Vec::new() });
            }
            self.hands.entry(now.to_owned()).and_modify(|hands| hands.came.push(came));
            self.look_who_shares(now);
        }
    }

    /// The same of a file that an editor has. It has come to its name when the next file is decided about.
    pub fn change_in_editor(
        &mut self,
        workspace: &Workspace,
        was: Option<&Path>,
        now: Option<(&Path, &HunkRef)>,
    ) {
        let now = now.map(|(now, hunk)| (now, Holder::Earlier(hunk.clone(), now.to_owned())));
        for (name, before) in was.map(|was| (was, Holder::Nobody)).into_iter().chain(now) {
            self.set_before(workspace, name, before);
            self.look_who_shares(name);
        }
    }

    /// How many names several have.
    pub fn shared(&self) -> usize {
        self.shared.len()
    }

    /// The first that came to a name which another one has.
    pub fn collision(&self) -> Option<Collision<'_>> {
        let shared = self.shared.iter().filter_map(|name| self.hands.get_key_value(name));
        let all = shared.filter_map(|(name, hands)| Some((name, self.collision_at(name, hands)?)));
        let (name, (holder, came)) = all.min_by_key(|(_, (_, came))| came.at)?;
        Some(Collision { name, file: came.file, holder, by: &came.by })
    }

    /// Who had a name when the first one came that found it taken, and that one.
    fn collision_at<'a>(&self, name: &Path, hands: &'a Hands) -> Option<(Holder, &'a Came)> {
        hands.came.iter().find_map(|came| {
            let before = || Some(&hands.before).filter(|before| !matches!(before, Holder::Nobody)).cloned();
            let earlier = || {
                let others = self.all_near(name).filter(|(_, other)| other.at < came.at);
                others.min_by_key(|(_, other)| other.at).map(|(name, other)| other.holder(name))
            };
            Some((self.in_editor(name).cloned().or_else(before).or_else(earlier)?, came))
        })
    }

    /// The hands of a name, of those above it and of those below.
    fn near(&self, name: &Path) -> impl Iterator<Item = (&Path, &Hands)> {
        let name = name.to_owned();
        let above: Vec<_> = name.ancestors().filter_map(|above| self.hands.get_key_value(above)).collect();
        let behind = self.hands.range::<Path, _>((Excluded(name.as_path()), Unbounded));
        let below = behind.take_while(move |(below, _)| below.starts_with(&name));
        above.into_iter().chain(below).map(|(name, hands)| (name.as_path(), hands))
    }

    fn all_near(&self, name: &Path) -> impl Iterator<Item = (&Path, &Came)> {
        self.near(name).flat_map(|(name, hands)| hands.came.iter().map(move |came| (name, came)))
    }

    /// The file of an editor that came to such a name.
    fn in_editor(&self, name: &Path) -> Option<&Holder> {
        self.near(name).map(|(_, hands)| &hands.before).find(|before| matches!(before, Holder::Earlier(..)))
    }

    /// Who has a name by then, but for the files on the disk that came to it.
    fn before(&self, workspace: &Workspace, name: &Path) -> Holder {
        let known = || self.hands.get(name).map(|hands| &hands.before);
        self.in_editor(name).or_else(known).cloned().unwrap_or_else(|| self.on_disk(workspace, name))
    }

    /// Who has a name on the disk, of those that have not left it.
    fn on_disk(&self, workspace: &Workspace, name: &Path) -> Holder {
        let has_left = |file: &Path| self.hands.get(file).is_some_and(|hands| !hands.before.is_file(file));
        workspace.holder(&DocumentName::Path(name.to_owned()), has_left)
    }

    /// Whoever had a name has left it; then the names that it was in the way of have others, or nobody.
    fn set_before(&mut self, workspace: &Workspace, name: &Path, before: Holder) {
        match self.hands.get_mut(name) {
            Some(hands) => hands.before = before,
            None => drop(self.hands.insert(name.to_owned(), Hands { before, came: Vec::new() })),
        }
        let waited = self.near(name).filter(|(_, hands)| hands.before.is_file(name));
        let waited: Vec<PathBuf> = waited.map(|(name, _)| name.to_owned()).collect();
        for name in waited {
            let before = self.on_disk(workspace, &name);
            self.hands.entry(name).and_modify(|hands| hands.before = before);
        }
    }

    /// Finds out which names several have, after something has changed about one.
    fn look_who_shares(&mut self, name: &Path) {
        let near = self.near(name).map(|(name, hands)| (name, self.collision_at(name, hands).is_some()));
        let near: Vec<(PathBuf, bool)> = near.map(|(name, is_shared)| (name.to_owned(), is_shared)).collect();
        for (name, is_shared) in near {
            match is_shared {
                true => self.shared.insert(name),
                false => self.shared.remove(&name),
            };
        }
    }
}

impl Hands {
    fn place_of(&self, file: FileId) -> Option<usize> {
        self.came.iter().position(|came| came.file == file)
    }
}

impl Came {
    fn holder(&self, name: &Path) -> Holder {
        Holder::Earlier(self.by.hunk.clone(), name.to_owned())
    }
}

impl Holder {
    fn is_file(&self, path: &Path) -> bool {
        matches!(self, Self::File(file) if file == path)
    }
}
