//! Files on disk: where agents may go, and how files are read and replaced there.
//!
//! [`Roots`] are the folders served. [`Roots::resolve`] turns what a caller wrote into a [`Place`], and only a place
//! can be read or written: [`read`], [`stamp`], [`write()`], [`remove`], [`create_folders`]. [`Roots::list`] tells what lies in a
//! folder, [`walk()`] goes through the files below folders of the roots. All of it blocks and belongs on a thread that may.
//!
//! ```
//! use hashline_workspace::disk::{read, write, Expect, PathStyle, Roots};
//!
//! let folder = tempfile::tempdir().unwrap();
//! std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
//!
//! let roots = Roots::open([folder.path()]).unwrap();
//! let place = roots.resolve("a.txt", PathStyle::Any).unwrap();
//! let file = read(&place).unwrap();
//! write(&place, b"two\n", Expect::Same(&file)).unwrap();
//! assert_eq!(read(&place).unwrap().bytes, b"two\n");
//!
//! assert!(roots.resolve("../a.txt", PathStyle::Any).is_err());
//! ```
//!
//! # Invariants
//! - Nothing outside the roots is read or written, whatever others do to links and folders at the same time.
//! - Nothing below `.mcp` is read or written, nothing below `.git` or in a bare repository is written, and nothing in the folder that is
//!   [closed](Roots::closing) is read, listed or written.
//! - Only regular files are opened; no call waits for another process.
//! - Where [hard links are refused](Roots::with_hard_links), no file is read or written that has more than one name.
//! - A file is whole at any instant: it has its old content or the new one.
//! - Every error has a path and says what to do next.
//!
//! # Limitations
//! Stand with each module: hard links and spellings in another case (`path.rs`), moved roots (`roots.rs`), what a
//! rename does not keep and the last instant before it (`write.rs`), clocks (`clock.rs`) and those of servers (`file_stamp.rs`), ignore files
//! above the roots (`skip_ignored.rs`).

#[cfg(target_os = "linux")]
mod attributes;
mod clock;
mod content;
mod error;
mod file;
mod file_stamp;
mod forbidden_folder;
mod git;
mod hard_links;
mod identity;
mod kind;
mod listing;
mod path;
mod roots;
mod skip_ignored;
mod spelling;
mod write;
mod written_by_git;

#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use content::FileContent;
pub use error::{Action, DiskError, PathRefusal};
pub use file::{FileBytes, MAX_FILE_BYTES, read, stamp};
pub use file_stamp::{QUIET, Stamp};
pub use hard_links::HardLinks;
pub use identity::identity;
pub use kind::FileKind;
pub use listing::{Entry, EntryKind, MAX_ENTRIES};
pub use path::Place;
pub use roots::{Root, Roots};
pub use skip_ignored::{Opener, is_folder, is_hidden, walk};
pub(crate) use spelling::folded;
pub use spelling::{PathStyle, names_within_root, path_of_file_uri};
pub use write::{
    Expect, check_folder, check_writable, create, create_folders, is_temporary, make_room, remove,
    remove_leftovers, rename, write, write_from,
};
pub(crate) use written_by_git::git_has_written;
