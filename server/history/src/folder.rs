//! The folder `.mcp/edit_history`: the only code of this crate that touches the disk.
//!
//! Whatever is opened is reached name by name on the handle of the folder above, following no link, and is a regular file or a
//! folder, or it is refused. Every step that changes the disk asks a [`Probe`] first, so that tests can stop the world there.
//!
//! # Limitations
//!
//! - On Windows folders are not synced and modes are not set, as there is no such thing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, OpenOptions};

use crate::error::StoreError;

/// Where histories lie in their folder.
pub(crate) const WAY: [&str; 2] = [".mcp", "edit_history"];

/// What has git leave `.mcp` alone.
const IGNORE_ALL: &[u8] = b"*\n";

/// How many histories can be set aside in a folder. Whoever has filled that up makes mischief.
const MOST_ASIDE: usize = 1000;

/// A step that is about to change the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A folder is made.
    MakeFolder,
    /// A file is made, or emptied.
    Create,
    /// Bytes are written: so many.
    Write(usize),
    /// A file or folder is synced.
    Sync,
    /// A file is cut.
    Truncate,
    /// A file takes another's name.
    Rename,
    /// A file or an empty folder is removed.
    Remove,
}

/// What becomes of a step.
#[derive(Debug)]
pub enum Allow {
    /// It is done.
    All,
    /// Of a write only so many bytes get to the disk; any other step fails.
    Part(usize),
    /// It fails.
    Fail(io::Error),
}

/// Decides what becomes of the steps that change the disk. For tests.
pub trait Probe: Send + Sync {
    /// Called before each step.
    fn step(&self, step: Step, path: &str) -> Allow;
}

/// A history's folder, open.
pub(crate) struct Folder {
    dir: Dir,
    path: PathBuf,
    probe: Option<Arc<dyn Probe>>,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    Read,
    /// Made if it is not there. Written at its end.
    Append,
    /// Made, or emptied.
    Anew,
    /// Made if it is not there. Written from its beginning, over what it holds.
    Over,
}

type Result<T> = std::result::Result<T, StoreError>;

impl Folder {
    /// The history in a folder, if there is one.
    pub(crate) fn open(root: &Path, probe: Option<&Arc<dyn Probe>>) -> Result<Option<Self>> {
        let mut here = match Dir::open_ambient_dir(root, ambient_authority()) {
            Ok(dir) => Self { dir, path: root.to_path_buf(), probe: probe.cloned() },
            // What was a folder may be a file by now, which has none.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::io(root, "read", &error)),
        };
        for name in WAY {
            match here.enter(name)? {
                Some(next) => here = next,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    /// The history in a folder, made if there is none.
    pub(crate) fn create(root: &Path, probe: Option<&Arc<dyn Probe>>) -> Result<Self> {
        let mcp = Self::above(root, probe)?;
        // Another one may have come with the folder: by that git would take along, and publish, what is recorded here.
        if !mcp.ignores_all()?
            && let Some(mut ignore) = mcp.file(".gitignore", Open::Anew)?
        {
            ignore.write(IGNORE_ALL)?;
        }
        mcp.make(WAY[1], true)
    }

    /// The folder `.mcp`, made if there is none.
    fn above(root: &Path, probe: Option<&Arc<dyn Probe>>) -> Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())
            .map_err(|error| StoreError::io(root, "opened", &error))?;
        let top = Self { dir, path: root.to_path_buf(), probe: probe.cloned() };
        top.make(WAY[0], true)
    }

    /// Whether git takes nothing of this folder along.
    fn ignores_all(&self) -> Result<bool> {
        let Some(mut ignore) = self.file(".gitignore", Open::Read)? else { return Ok(false) };
        Ok(ignore.read_at(0, IGNORE_ALL.len() as u64 + 1)? == IGNORE_ALL)
    }

    /// Renames the history in a folder to a name that is free beside it, in the folder that git ignores and nobody is served.
    pub(crate) fn set_aside(root: &Path, probe: Option<&Arc<dyn Probe>>) -> Result<PathBuf> {
        let mcp = Self::above(root, probe)?;
        let failed = mcp.failed(WAY[1], "set aside");
        let mut names = (1..=MOST_ASIDE).map(|number| format!("{}.aside-{number}", WAY[1]));
        let free = names.find(|name| mcp.dir.symlink_metadata(name).is_err());
        let name = free.ok_or_else(|| failed(io::ErrorKind::AlreadyExists.into()))?;
        mcp.ask(Step::Rename, WAY[1]).map_err(&failed)?;
        mcp.dir.rename(WAY[1], &mcp.dir, &name).map_err(&failed)?;
        mcp.sync_names(WAY[1])?;
        Ok(mcp.at(&name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What tells this folder from another of its name.
    #[cfg(unix)]
    fn identity(&self) -> Option<(u64, u64)> {
        use cap_std::fs::MetadataExt;
        self.dir.dir_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
    }

    /// Whether the names of this folder and of a file in it still lead to them.
    pub(crate) fn still_has(&self, name: &str, opened: &Opened) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let found = |path: &Path| std::fs::symlink_metadata(path).ok();
            let same = |path: &Path, known| found(path).map(|found| (found.dev(), found.ino())) == known;
            same(&self.path, self.identity()) && same(&self.path.join(name), opened.identity())
        }
        #[cfg(not(unix))]
        std::fs::symlink_metadata(self.path.join(name)).is_ok()
    }

    fn at(&self, name: &str) -> PathBuf {
        name.split('/').fold(self.path.clone(), |path, part| path.join(part))
    }

    fn failed(&self, name: &str, action: &'static str) -> impl Fn(io::Error) -> StoreError {
        let path = self.at(name);
        move |error| StoreError::io(&path, action, &error)
    }

    pub(crate) fn ask(&self, step: Step, name: &str) -> io::Result<()> {
        match self.probe.as_ref().map(|probe| probe.step(step, name)) {
            None | Some(Allow::All) => Ok(()),
            Some(Allow::Part(_)) => Err(io::Error::other("stopped")),
            Some(Allow::Fail(error)) => Err(error),
        }
    }

    /// A folder in this one; none if there is nothing of the name.
    fn enter(&self, name: &str) -> Result<Option<Self>> {
        match self.dir.symlink_metadata(name) {
            Ok(found) if found.is_dir() => {}
            Ok(found) => {
                let found = if found.is_symlink() { "a link" } else { "not a folder" };
                return Err(StoreError::NotOurs { path: self.at(name), found });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(name, "read")(error)),
        }
        let dir = self.dir.open_dir_nofollow(name).map_err(self.failed(name, "opened"))?;
        Ok(Some(Self { dir, path: self.at(name), probe: self.probe.clone() }))
    }

    /// A folder in this one, made if there is nothing of the name; so that it outlives the machine, if that is asked for.
    fn make(&self, name: &str, sync: bool) -> Result<Self> {
        if let Some(there) = self.enter(name)? {
            return Ok(there);
        }
        let failed = self.failed(name, "made");
        self.ask(Step::MakeFolder, name).map_err(&failed)?;
        #[allow(unused_mut, reason = "there are no modes on Windows")]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        {
            use cap_std::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        match self.dir.create_dir_with(name, &builder) {
            Ok(()) if sync => self.sync_names(name)?,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        self.enter(name)?.ok_or_else(|| failed(io::Error::from(io::ErrorKind::NotFound)))
    }

    /// The folder that a way leads to, and the last name of it. `make` says whether folders are made, and whether they are synced.
    fn walk<'a>(&self, way: &'a str, make: Option<bool>) -> Result<Option<(Self, &'a str)>> {
        let mut here: Option<Self> = None;
        let mut rest = way;
        while let Some((name, more)) = rest.split_once('/') {
            let above = here.as_ref().unwrap_or(self);
            let next = match make {
                Some(sync) => Some(above.make(name, sync)?),
                None => above.enter(name)?,
            };
            let Some(next) = next else { return Ok(None) };
            here = Some(next);
            rest = more;
        }
        let here = match here {
            Some(here) => here,
            None => {
                let again = self.dir.try_clone().map_err(self.failed(way, "opened"))?;
                Self { dir: again, path: self.path.clone(), probe: self.probe.clone() }
            }
        };
        Ok(Some((here, rest)))
    }

    /// Whether there is a regular file of the name; anything else there is refused.
    fn is_file(&self, name: &str) -> Result<bool> {
        match self.dir.symlink_metadata(name) {
            Ok(found) if found.is_file() => Ok(true),
            Ok(found) => {
                let found = if found.is_symlink() { "a link" } else { "not a file" };
                Err(StoreError::NotOurs { path: self.at(name), found })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed(name, "read")(error)),
        }
    }

    /// A folder in this one; none if it is not there.
    pub(crate) fn folder(&self, name: &str) -> Result<Option<Self>> {
        self.enter(name)
    }

    /// Opens a file; none if it is to be read and is not there.
    pub(crate) fn file(&self, way: &str, how: Open) -> Result<Option<Opened>> {
        if !way.contains('/') {
            return self.file_here(way, way, how);
        }
        let make = (how != Open::Read).then_some(false);
        let Some((folder, name)) = self.walk(way, make)? else { return Ok(None) };
        folder.file_here(name, way, how)
    }

    /// Opens a file in this folder, which `way` led to.
    fn file_here(&self, name: &str, way: &str, how: Open) -> Result<Option<Opened>> {
        let there = self.is_file(name)?;
        if !there && how == Open::Read {
            return Ok(None);
        }
        let failed = self.failed(name, if how == Open::Read { "read" } else { "written" });
        if !there || how == Open::Anew {
            self.ask(Step::Create, way).map_err(&failed)?;
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        match how {
            Open::Read => {}
            Open::Append => drop(options.append(true).create(true)),
            Open::Anew => drop(options.write(true).truncate(true).create(true)),
            Open::Over => drop(options.write(true).create(true)),
        }
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = self.dir.open_with(name, &options).map_err(&failed)?.into_std();
        if !file.metadata().map_err(&failed)?.is_file() {
            return Err(StoreError::NotOurs { path: self.at(name), found: "not a file" });
        }
        Ok(Some(Opened { file, path: self.at(name), way: way.to_owned(), probe: self.probe.clone() }))
    }

    /// All bytes of a file; none if it is not there.
    pub(crate) fn read(&self, way: &str) -> Result<Option<Vec<u8>>> {
        let Some(opened) = self.file(way, Open::Read)? else { return Ok(None) };
        let mut bytes = Vec::new();
        (&opened.file).read_to_end(&mut bytes).map_err(|error| opened.failed("read", &error))?;
        Ok(Some(bytes))
    }

    /// Writes a file that takes the place of the one that is there, whole or not at all. Synced if that is asked for.
    pub(crate) fn write_whole(&self, way: &str, bytes: &[u8], sync: bool) -> Result<()> {
        let Some((folder, name)) = self.walk(way, Some(sync))? else { return Ok(()) };
        folder.is_file(name)?;
        let temporary = format!("{TEMPORARY}{}", uuid::Uuid::new_v4().simple());
        let written = || -> Result<()> {
            let Some(mut new) = folder.file(&temporary, Open::Anew)? else { return Ok(()) };
            new.write(bytes)?;
            if sync {
                new.sync()?;
            }
            let failed = folder.failed(name, "written");
            folder.ask(Step::Rename, way).map_err(&failed)?;
            folder.dir.rename(&temporary, &folder.dir, name).map_err(&failed)?;
            if sync { folder.sync_names(name) } else { Ok(()) }
        };
        written().inspect_err(|_| {
            if folder.ask(Step::Remove, &temporary).is_ok() {
                // What cannot be removed is removed by the next cleanup.
                let _ = folder.dir.remove_file(&temporary);
            }
        })
    }

    /// Makes the names in this folder durable.
    pub(crate) fn sync_names(&self, name: &str) -> Result<()> {
        let failed = self.failed(name, "synced");
        self.ask(Step::Sync, name).map_err(&failed)?;
        #[cfg(unix)]
        {
            // The handle itself may be of the kind that cannot be synced (O_PATH).
            match self.dir.open(".").and_then(|folder| folder.sync_all()) {
                Err(error)
                    if !matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
                {
                    return Err(failed(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes a file or an empty folder; nothing happens if it is not there, or if the folder is not empty.
    pub(crate) fn remove(&self, way: &str) -> Result<()> {
        let Some((folder, name)) = self.walk(way, None)? else { return Ok(()) };
        let failed = folder.failed(name, "removed");
        let Ok(found) = folder.dir.symlink_metadata(name) else { return Ok(()) };
        folder.ask(Step::Remove, way).map_err(&failed)?;
        let removed = if found.is_dir() { folder.dir.remove_dir(name) } else { folder.dir.remove_file(name) };
        match removed {
            Err(error)
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) =>
            {
                Err(failed(error))
            }
            _ => Ok(()),
        }
    }

    /// The names in a folder, in order; none if it is not there. Names that are no text are left out: none of ours are like that.
    pub(crate) fn names(&self, way: &str) -> Result<Vec<String>> {
        let Some((folder, name)) = self.walk(way, None)? else { return Ok(Vec::new()) };
        let folder = if name.is_empty() { Some(folder) } else { folder.enter(name)? };
        let Some(folder) = folder else { return Ok(Vec::new()) };
        let failed = self.failed(way, "read");
        let mut names = Vec::new();
        for entry in folder.dir.entries().map_err(&failed)? {
            names.extend(entry.map_err(&failed)?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// How many bytes the files in it have, and in the folders below it. Links are not followed.
    pub(crate) fn size(&self) -> Result<u64> {
        let failed = self.failed("", "read");
        let mut size = 0;
        for entry in self.dir.entries().map_err(&failed)? {
            let entry = entry.map_err(&failed)?;
            let name = entry.file_name();
            // What has gone meanwhile has no bytes.
            let Ok(found) = self.dir.symlink_metadata(&name) else { continue };
            size += match (found.is_dir(), name.to_str()) {
                (true, Some(name)) => self.enter(name)?.map_or(Ok(0), |folder| folder.size())?,
                (true, None) => 0,
                (false, _) => found.len(),
            };
        }
        Ok(size)
    }

    /// The length of a file; none if there is none.
    pub(crate) fn length(&self, way: &str) -> Result<Option<u64>> {
        let Some((folder, name)) = self.walk(way, None)? else { return Ok(None) };
        let there = folder.is_file(name)?;
        Ok(folder.dir.symlink_metadata(name).ok().filter(|_| there).map(|found| found.len()))
    }
}

/// How the names of files begin that are on their way.
pub(crate) const TEMPORARY: &str = ".new-";

/// A file of the history, open.
pub(crate) struct Opened {
    pub file: File,
    path: PathBuf,
    way: String,
    probe: Option<Arc<dyn Probe>>,
}

impl Opened {
    pub(crate) fn failed(&self, action: &'static str, error: &io::Error) -> StoreError {
        StoreError::io(&self.path, action, error)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn ask(&self, step: Step) -> io::Result<()> {
        match self.probe.as_ref().map(|probe| probe.step(step, &self.way)) {
            Some(Allow::Fail(error)) => Err(error),
            Some(Allow::Part(part)) => match step {
                Step::Write(len) if part >= len => Ok(()),
                _ => Err(io::Error::other("stopped")),
            },
            _ => Ok(()),
        }
    }

    /// Writes bytes in one piece.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match self.probe.as_ref().map(|probe| probe.step(Step::Write(bytes.len()), &self.way)) {
            None | Some(Allow::All) => self.file.write_all(bytes),
            Some(Allow::Fail(error)) => Err(error),
            Some(Allow::Part(part)) => {
                let part = bytes.get(..part).unwrap_or(bytes);
                self.file.write_all(part).and(Err(io::Error::other("stopped")))
            }
        };
        written.map_err(|error| self.failed("written", &error))
    }

    /// Writes bytes in one piece over what stands at a place.
    pub(crate) fn write_at(&mut self, from: u64, bytes: &[u8]) -> Result<()> {
        self.file.seek(SeekFrom::Start(from)).map_err(|error| self.failed("written", &error))?;
        self.write(bytes)
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.ask(Step::Sync)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| self.failed("synced", &error))
    }

    /// Cuts the file to a length.
    pub(crate) fn truncate(&self, len: u64) -> Result<()> {
        self.ask(Step::Truncate)
            .and_then(|()| self.file.set_len(len))
            .map_err(|error| self.failed("cut", &error))
    }

    pub(crate) fn len(&self) -> Result<u64> {
        self.file.metadata().map(|found| found.len()).map_err(|error| self.failed("read", &error))
    }

    /// What tells this file from another of its name.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            self.file.metadata().ok().map(|found| (found.dev(), found.ino()))
        }
        #[cfg(not(unix))]
        None
    }

    /// Some bytes of the file; fewer where it ends.
    pub(crate) fn read_at(&mut self, from: u64, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0));
        let read = self.file.seek(SeekFrom::Start(from)).and_then(|_| {
            let mut part = Read::take(&self.file, len);
            part.read_to_end(&mut bytes)
        });
        read.map_err(|error| self.failed("read", &error))?;
        Ok(bytes)
    }
}
