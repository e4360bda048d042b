//! The files of the person, as a history asks for them: what they hold, and how they are changed where it finishes what a process has begun.
//! All paths come from the record, which anybody may have written: what does not lie in the folders that are served is neither read nor written.

use std::io;
use std::path::Path;

use hashline_history::path::to_text;
use hashline_history::{Change, FilesNow, Held};
use hashline_text::FileHash;

use crate::disk::{
    DiskError, Expect, FileBytes, FileKind, PathRefusal, PathStyle, Place, Roots, create, make_room, read,
    remove, rename, write,
};
use crate::workspace::{OpenElsewhere, Workspace};

/// What came of a change, and what the file held. An error is that nothing was tried.
fn carry_out(roots: &Roots, change: &Change<'_>) -> Result<(Result<(), DiskError>, Option<Held>), DiskError> {
    let place = place_of(roots, change.path())?;
    Ok(match *change {
        Change::Make { bytes, mode, .. } => {
            make_room(&place)?;
            (create(&place, bytes, mode).map(drop), None)
        }
        Change::Write { was, bytes, .. } => {
            let there = expected(&place, was)?;
            (write(&place, bytes, Expect::Same(&there)).map(drop), Some(held(&there)))
        }
        Change::Remove { was, .. } => {
            let there = expected(&place, was)?;
            (remove(&place, Expect::Same(&there)), Some(held(&there)))
        }
        Change::Rename { to, was, .. } => {
            let there = expected(&place, was)?;
            let to = place_of(roots, to)?;
            make_room(&to)?;
            (rename(&place, &to, Expect::Same(&there)).map(drop), None)
        }
    })
}

/// The place of a path that leads there by itself: a link that has come on its way since leads elsewhere.
fn place_of(roots: &Roots, path: &Path) -> Result<Place, DiskError> {
    let place = roots.resolve(&to_text(path), PathStyle::Any)?;
    if place.absolute() != path {
        return Err(DiskError::PathChanged { path: path.to_owned() });
    }
    place.check_write()?;
    Ok(place)
}

/// The file, if it is the one that is meant.
fn expected(place: &Place, was: FileHash) -> Result<FileBytes, DiskError> {
    let there = read(place)?;
    match FileHash::of(&there.bytes) == was {
        true => Ok(there),
        false => Err(DiskError::ChangedMeanwhile { path: place.absolute().to_owned() }),
    }
}

fn held(there: &FileBytes) -> Held {
    Held { bytes: there.bytes.to_vec(), mode: there.mode }
}

/// The files of a workspace. None is written under an editor that has it open.
impl FilesNow for Workspace {
    fn hash(&self, path: &Path) -> io::Result<Option<FileHash>> {
        let place = match self.read_roots().resolve(&to_text(path), PathStyle::Any) {
            Ok(place) => place,
            // A file stands where its folder would be.
            Err(PathRefusal::NotAFolder { .. }) => return Ok(None),
            Err(error) => return Err(io::Error::other(error)),
        };
        match read(&place) {
            Ok(bytes) => Ok(Some(FileHash::of(&bytes.bytes))),
            Err(DiskError::NotFound { .. } | DiskError::FolderMissing { .. }) => Ok(None),
            // There may be files in it, but it is none.
            Err(DiskError::NotRegular { kind: FileKind::Folder, .. }) => Ok(None),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn change(&self, change: &Change<'_>) -> io::Result<Option<Held>> {
        let in_the_way = change.paths().find_map(|path| match self.open_anywhere(path) {
            OpenElsewhere::No => None,
            OpenElsewhere::Yes => Some(format!("{} is open in an editor. Close it there.", to_text(path))),
            OpenElsewhere::NoAnswer { editor } => Some(format!(
                "{} may be open in {editor}, which does not answer. If it stays so, restart that editor.",
                to_text(path)
            )),
        });
        if let Some(words) = in_the_way {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
        }
        let (done, held) = carry_out(&self.read_roots(), change).map_err(io::Error::other)?;
        match done {
            // It stands. Were it lost with the power, the file would tell.
            Err(DiskError::NotSynced { .. }) => Ok(held),
            done => done.map(|()| held).map_err(io::Error::other),
        }
    }
}
