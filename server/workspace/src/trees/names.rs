//! Who has which names while several decisions are made one after the other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hashline_history::{DocumentName, FileId, HunkRef};

use super::Holder;
use crate::document::Target;
use crate::workspace::Workspace;

/// Who has names by then, as far as files came to them or left them. Files on the disk come and go at once, so that of several that follow on each
/// other one may come to a name before another has left it.
#[derive(Clone, Default)]
pub(super) struct Names {
    hands: HashMap<PathBuf, Hands>,
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
    pub holder: Holder,
    /// What gives the name to the other one.
    pub by: &'a By,
}

impl Names {
    /// Who has a name by then.
    pub fn holder(&self, workspace: &Workspace, name: &DocumentName) -> Holder {
        match self.hands.get(name.as_path()) {
            Some(hands) => hands.last(),
            None => workspace.holder(name),
        }
    }

    /// Who has a name by then and keeps it while files on the disk come and go.
    pub fn keeper(&self, workspace: &Workspace, name: &DocumentName) -> Holder {
        let before = match self.hands.get(name.as_path()) {
            Some(hands) => hands.before.clone(),
            None => workspace.holder(name),
        };
        match before {
            Holder::File if !workspace.is_open_anywhere(name.as_path()) => Holder::Nobody,
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
            self.leave(file, was);
        }
        if let Some((now, by)) = now {
            let at = self.came;
            self.came += 1;
            let found =
                || Hands { before: workspace.holder(&DocumentName::Path(now.to_owned())), came: Vec::new() };
            self.hands.entry(now.to_owned()).or_insert_with(found).came.push(Came { file, by, at });
        }
    }

    /// The same of a file that an editor has. It has come to its name when the next file is decided about.
    pub fn change_in_editor(&mut self, was: Option<&Path>, now: Option<(&Path, &HunkRef)>) {
        if let Some(was) = was {
            self.hands.insert(was.to_owned(), Hands { before: Holder::Nobody, came: Vec::new() });
        }
        if let Some((now, hunk)) = now {
            self.hands
                .insert(now.to_owned(), Hands { before: Holder::Earlier(hunk.clone()), came: Vec::new() });
        }
    }

    fn leave(&mut self, file: FileId, name: &Path) {
        let hands = self.hands.entry(name.to_owned());
        let hands = hands.or_insert(Hands { before: Holder::Nobody, came: Vec::new() });
        match hands.came.iter().position(|came| came.file == file) {
            Some(at) => drop(hands.came.remove(at)),
            None => hands.before = Holder::Nobody,
        }
    }

    /// How many names several have.
    pub fn shared(&self) -> usize {
        self.hands.values().filter(|hands| hands.collision().is_some()).count()
    }

    /// The first that came to a name which another one has.
    pub fn collision(&self) -> Option<Collision<'_>> {
        let all = self.hands.iter().filter_map(|(name, hands)| Some((name, hands.collision()?)));
        let (name, (holder, came)) = all.min_by_key(|(_, (_, came))| came.at)?;
        Some(Collision { name, holder, by: &came.by })
    }
}

impl Hands {
    fn last(&self) -> Holder {
        self.came.last().map_or_else(|| self.before.clone(), |came| Holder::Earlier(came.by.hunk.clone()))
    }

    /// Who had the name when the first one came that found it taken, and that one.
    fn collision(&self) -> Option<(Holder, &Came)> {
        match (&self.before, &self.came[..]) {
            (Holder::Nobody, [first, second, ..]) => Some((Holder::Earlier(first.by.hunk.clone()), second)),
            (Holder::Nobody, _) | (_, []) => None,
            (before, [first, ..]) => Some((before.clone(), first)),
        }
    }
}
