//! Why a path is refused and what can go wrong on the disk, in the words that agents read.
//!
//! Every message is complete: it names the path and ends with what to do next. No caller adds to it.

use std::io;
use std::path::{Path, PathBuf};

use hashline_history::path::{from_text, to_text};
use thiserror::Error;

use super::kind::FileKind;

/// Why a path leads to no place. Nothing was opened, and nothing outside the roots was told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathRefusal {
    /// Nothing, or only blanks.
    #[error("The path is empty. Give the path of a file inside a root.")]
    Empty,
    /// A NUL character, also one written `%00` in a URI.
    #[error("The path {given:?} holds a NUL character, which no file name can. Give the path without it.")]
    Nul {
        /// As the caller wrote it.
        given: String,
    },
    /// There is no root at all, so no path can be inside one.
    #[error(
        "{given} lies in no root, as there is none here: the roots of client and server have nothing in \
         common. Ask the person to open the folder, or to start the server with --root."
    )]
    NoRoots {
        /// As the caller wrote it.
        given: String,
    },
    /// `C:\…`, `C:…`, `\\server\share`, `\\?\…`.
    #[error(
        "{given} is a Windows path, which is not served here. Give {instead}, with / between the folders."
    )]
    WindowsForm {
        /// As the caller wrote it.
        given: String,
        /// What to give instead.
        instead: String,
    },
    /// A backslash in a path that no existing file has.
    #[error("{given} has \\ where folders are parted by /, and no file has that name. Write it with /.")]
    Backslash {
        /// As the caller wrote it.
        given: String,
    },
    /// `~` or `~/…`.
    #[error("{given} starts with ~, which is not expanded. Give {instead}.")]
    HomeSign {
        /// As the caller wrote it.
        given: String,
        /// What to give instead.
        instead: String,
    },
    /// A URI of another kind: perhaps a document that has no file. Callers look it up among the open documents
    /// and show this message only when there is none.
    #[error(
        "{0} names no file, and no open document has this URI. list_documents shows the open ones; for a file \
         whose name has a colon, put ./ before it."
    )]
    NotAFile(String),
    /// A URI where only paths within the root are taken.
    #[error(
        "{given} is a URI, and this tool takes paths within the root. Give the path with / between the folders; \
         for a file whose name has a colon, put ./ before it."
    )]
    UriNotTaken {
        /// As the caller wrote it.
        given: String,
    },
    /// A `file:` URI that cannot be read as one.
    #[error("{given} is not a file URI that can be read: {why}. Give the plain absolute path.")]
    BadFileUri {
        /// As the caller wrote it.
        given: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A `file:` URI of another machine.
    #[error(
        "{given} names a file on the machine {host:?}; only files of this one are served. Give a path inside {root}."
    )]
    OtherHost {
        /// As the caller wrote it.
        given: String,
        /// The host in the URI.
        host: String,
        /// The first root.
        root: String,
    },
    /// `..` leads above the root.
    #[error("The .. in {given} leads above the root {root}. Give a path that stays inside it.")]
    AboveRoot {
        /// As the caller wrote it.
        given: String,
        /// The root that the path starts in.
        root: String,
    },
    /// An absolute path inside no root.
    #[error("{given} is outside the roots. Only what lies below these folders is served: {}.", .roots.join(", "))]
    OutsideRoots {
        /// As the caller wrote it.
        given: String,
        /// The folders of all roots.
        roots: Vec<String>,
    },
    /// The first segment names no root, where it must.
    #[error(
        "{given} does not start with the name of a root. There are several, so start the path with one of: {}.",
        .names.join(", ")
    )]
    UnknownRootName {
        /// As the caller wrote it.
        given: String,
        /// The names of all roots.
        names: Vec<String>,
    },
    /// A symbolic link on the way leads to a place outside of all roots.
    #[error(
        "The link {link} on the way to {given} leads outside the roots, and such links are not followed. Use a \
         file inside the roots."
    )]
    LinkLeadsOut {
        /// As the caller wrote it.
        given: String,
        /// Where the link lies.
        link: String,
    },
    /// A symbolic link on the way leads to what the caller was not given. Whether anything is there is not said.
    #[error("A link on the way to {given} leads to what this agent was not given. Go on without it.")]
    LinkNotGiven {
        /// As the caller wrote it.
        given: String,
        /// Where it leads, by its words.
        path: PathBuf,
    },
    /// Links that lead to each other, or more of them than anybody means.
    #[error("The links on the way to {given} lead round in a circle. Name the file that is meant.")]
    LinkLoop {
        /// As the caller wrote it.
        given: String,
    },
    /// `.mcp`, in any spelling that a file system may take for it.
    #[error(
        "{given} lies in .mcp, where the record of edits is kept; tools neither read nor write it. Name \
         edits by their ids, and leave these files alone."
    )]
    Store {
        /// As the caller wrote it.
        given: String,
    },
    /// The folder of hashline's own state, under any name.
    #[error(
        "{given} lies in hashline's own folder, where its keys and the records of its processes are kept; tools neither \
         read nor write it. Choose a file of the project."
    )]
    State {
        /// As the caller wrote it.
        given: String,
    },
    /// A path or a name in it that no file system takes.
    #[error(
        "{given} is too long for the path of a file: {part} may have {most} bytes at most. Check the path."
    )]
    TooLong {
        /// The beginning of what the caller wrote.
        given: String,
        /// What is too long.
        part: &'static str,
        /// The most bytes that it may have.
        most: usize,
    },
    /// A write below `.git`, in any spelling that a file system may take for it.
    #[error(
        "{path} lies in .git, which tools may read but not write. Use git itself to change the repository."
    )]
    GitWrite {
        /// Where the file lies.
        path: String,
    },
    /// A write below a folder that git takes for a repository, whatever its name, or that would make it one.
    #[error(
        "{path} was left as it is: {folder} is a git repository (it has HEAD, objects and refs), or would be with this file, and git runs \
         what stands in those. Tools may read it but not write it. Use git itself to change a repository; else choose another folder \
         or another name."
    )]
    RepositoryWrite {
        /// Where the file lies.
        path: String,
        /// The folder.
        folder: String,
    },
    /// A name that is no text, on a system where names are.
    #[error("{given} holds a name that is not Unicode, which no file has on this system. Check the name.")]
    NameNotText {
        /// As the caller wrote it, or as near to it as text can come.
        given: String,
    },
    /// A part of the path is a file, and the path goes on behind it.
    #[error("{part} is a file and not a folder, so {given} cannot lie in it. Check the name.")]
    NotAFolder {
        /// As the caller wrote it.
        given: String,
        /// The part that is a file.
        part: String,
    },
    /// A `/` at the end of a path that is no folder.
    #[error("{given} ends with / as folders do, and is none. Leave the final / out to name a file.")]
    FinalSlash {
        /// As the caller wrote it.
        given: String,
    },
    /// The system would not tell where the path leads.
    #[error(
        "{given} cannot be followed: {why}. Check the name and the permissions of the folders on its way."
    )]
    Unreadable {
        /// As the caller wrote it.
        given: String,
        /// The system's word.
        why: String,
    },
}

impl PathRefusal {
    /// The same with the paths in it as they are within the roots.
    pub(super) fn within(mut self, roots: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        if let Self::AboveRoot { root: path, .. }
        | Self::NotAFolder { part: path, .. }
        | Self::LinkLeadsOut { link: path, .. } = &mut self
            && let Some(inside) = from_text(path).and_then(|absolute| roots(&absolute))
        {
            *path = format!("/{}", to_text(&inside));
        }
        self
    }
}

/// What was being done when the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A root was opened.
    OpenRoot,
    /// A folder on the way was opened.
    OpenFolder,
    /// A folder was made.
    MakeFolder,
    /// A file was looked at.
    Look,
    /// A file was read.
    Read,
    /// A file was written.
    Write,
    /// A file was removed.
    Remove,
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Action::OpenRoot => "opened as a root",
            Action::OpenFolder => "reached",
            Action::MakeFolder => "made",
            Action::Look => "looked at",
            Action::Read => "read",
            Action::Write => "written",
            Action::Remove => "removed",
        })
    }
}

/// What went wrong on the disk. But for [`DiskError::NotSynced`], nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DiskError {
    /// The path itself is refused.
    #[error(transparent)]
    Refused(#[from] PathRefusal),
    /// No such file.
    #[error("{} does not exist. Check the name.", to_text(.path))]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// The folder that a new file should lie in is missing.
    #[error("The folder {} does not exist, so nothing can be written there. Check the name, or create the folder first.", to_text(.folder))]
    FolderMissing {
        /// The file that was to be written.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// A folder, FIFO, socket or device. It was not opened.
    #[error("{} is a {kind} and not a regular file, so it was not opened. Name a regular file{}.", to_text(.path), kind.hint())]
    NotRegular {
        /// What was named.
        path: PathBuf,
        /// What it is.
        kind: FileKind,
    },
    /// A file that has more than one name, where such are refused.
    #[error(
        "{} is a hard link: the file has another name, which may lie anywhere, and such files are not served here (--no-hard-links). Ask the \
         person to make it a file of its own, as by copying it, or go on without it.",
        to_text(.path)
    )]
    HardLink {
        /// The file, by the name that was given.
        path: PathBuf,
    },
    /// Larger than [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
    #[error(
        "{} has {size} bytes, and files of more than {limit} are not served. Use a command-line tool for a file of \
         that size.",
        to_text(.path)
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The most that is served.
        limit: u64,
    },
    /// What should be listed is no folder.
    #[error("{} is not a folder, so there is nothing to list. Name a folder, or read it as a file.", to_text(.path))]
    NotAFolder {
        /// What was named.
        path: PathBuf,
    },
    /// A folder with more names than are listed.
    #[error(
        "{} holds more than {limit} names, and folders of that size are not listed. Use a command-line tool, or name a folder in it.",
        to_text(.path)
    )]
    TooManyEntries {
        /// The folder.
        path: PathBuf,
        /// The most names that are listed.
        limit: usize,
    },
    /// The file is not as it was when the caller read it.
    #[error("{} was changed meanwhile by something else, and was left as it is. Read it again and repeat the edit.", to_text(.path))]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// The file changes faster than it can be read.
    #[error("{} was being written while it was read. Wait a moment and read it again.", to_text(.path))]
    BeingWritten {
        /// The file.
        path: PathBuf,
    },
    /// A folder or the file was replaced by something else (a link, say) since the path was resolved.
    #[error("A part of {} was replaced by a link or by something else meanwhile. Repeat the call to follow the path anew.", to_text(.path))]
    PathChanged {
        /// The place that was resolved.
        path: PathBuf,
    },
    /// A new file was to be made, and there is one.
    #[error("{} exists already and was left as it is. Read it and edit it, or choose another name.", to_text(.path))]
    AlreadyThere {
        /// The file.
        path: PathBuf,
    },
    /// The file has no write permission.
    #[error("{} is read-only and was left as it is. Ask the person for write permission on it, then try again.", to_text(.path))]
    ReadOnlyFile {
        /// The file.
        path: PathBuf,
    },
    /// No file can be made in the folder, so none can be replaced there either.
    #[error("{} cannot be changed, as its folder {} is read-only for this user. Ask the person for write permission.", to_text(.path), to_text(.folder))]
    ReadOnlyFolder {
        /// The file.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// No space, or no more of it for this user.
    #[error("The disk is full or the user's share of it is used up, so {} was left as it is. Free some space and repeat the call.", to_text(.path))]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Permission is missing.
    #[error("{} cannot be {action}: permission denied. Ask the person for access to it.", to_text(.path))]
    Denied {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        action: Action,
    },
    /// The file that would take the place of the old one cannot have what that has.
    #[error(
        "{} was left as it is: its extended attribute {name} cannot be kept on a file with other content ({why}). Ask the person to change \
         the file, or to take the attribute from it.",
        to_text(.path)
    )]
    AttributeNotKept {
        /// The file.
        path: PathBuf,
        /// The attribute.
        name: String,
        /// The system's word.
        why: String,
    },
    /// The new content stands, but the system could not promise that it outlives a power cut.
    #[error("{} was written, but the disk would not confirm it: {why}. Read it again to see how it stands.", to_text(.path))]
    NotSynced {
        /// The file.
        path: PathBuf,
        /// The system's word.
        why: String,
    },
    /// A root that is none.
    #[error("{} cannot be a root: {why}. Give an existing folder.", to_text(.path))]
    BadRoot {
        /// As given.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Anything else, in the system's words.
    #[error("{} cannot be {action}: {why}. Check the file and its folder, and repeat the call.", to_text(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done.
        action: Action,
        /// The system's kind of error.
        kind: io::ErrorKind,
        /// The system's word.
        why: String,
    },
}

impl DiskError {
    /// What the system's error means for the file at `path`.
    pub(super) fn from_io(path: &Path, action: Action, error: &io::Error) -> DiskError {
        let path = path.to_path_buf();
        match (error.kind(), action) {
            (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => DiskError::DiskFull { path },
            (io::ErrorKind::ReadOnlyFilesystem, _)
            | (io::ErrorKind::PermissionDenied, Action::Write | Action::Remove) => {
                let folder = path.parent().unwrap_or(&path).to_path_buf();
                DiskError::ReadOnlyFolder { path, folder }
            }
            (io::ErrorKind::PermissionDenied, _) => DiskError::Denied { path, action },
            (io::ErrorKind::NotFound, _) => DiskError::NotFound { path },
            (kind, _) => DiskError::Io { path, action, kind, why: error.to_string() },
        }
    }
}
