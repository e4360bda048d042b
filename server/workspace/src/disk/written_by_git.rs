//! Whether git has written a file, as with a checkout, a stash or a rebase.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::file::FileBytes;
use super::path::Place;

/// The coarsest step of a clock by which files are stamped in one moment.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// A lock that is older than the file by so much was left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(10);

/// How long the name of another folder may be, in bytes.
const LONGEST: u64 = 4096;

/// Whether git has written a file: it keeps a list of the files of a working tree, which it writes after them, and for which it holds a lock
/// until then; and it writes what it has. None while it holds the lock. Blocks as long as the file system and git do.
///
/// # Limitations
/// - A program that writes a file and adds it, or commits it, in the same moment is taken for git. So is one that writes back what git has.
/// - What git turns into something else when it writes it, but for the ends of lines, is not known to be git's.
pub(crate) fn git_has_written(place: &Place, file: &FileBytes) -> Option<bool> {
    let Some(folder) = git_folder_of(place.absolute()) else { return Some(false) };
    let written = file.stamp.changed();
    let changed = |name: &str| folder.join(name).symlink_metadata().and_then(|found| found.modified()).ok();
    if changed("index.lock").is_some_and(|locked| locked + LEFT_BEHIND >= written) {
        return None;
    }
    let is_listed = changed("index").is_some_and(|listed| listed + CLOCK_TICK >= written);
    Some(is_listed && git_has(&folder, &file.bytes))
}

/// Whether git has a file of this content, as it is or with its lines ending as git keeps them. Where git cannot be asked, it may have.
fn git_has(folder: &Path, content: &[u8]) -> bool {
    let has = |content: &[u8]| {
        let id = git(folder, &["hash-object", "--no-filters", "--stdin"], content)?;
        let id = String::from_utf8(id.stdout).ok().filter(|id| id.trim().len() >= 40)?;
        Some(git(folder, &["cat-file", "-e", id.trim()], &[])?.status.success())
    };
    let plain = |content: &[u8]| String::from_utf8_lossy(content).replace("\r\n", "\n");
    has(content).unwrap_or(true) || has(plain(content).as_bytes()).unwrap_or(true)
}

/// What git answers; none where it is not there. It may fetch nothing, and so starts nothing that the repository names.
fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> Option<Output> {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(folder).args(arguments);
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
    command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut asked = command.spawn().ok()?;
    // It reads all of it before it answers; one that has ended instead is waited for all the same.
    let sent = asked.stdin.take().map(|mut stdin| stdin.write_all(input));
    let answer = asked.wait_with_output().ok()?;
    sent?.ok().map(|()| answer)
}

/// Where git keeps what it knows of the working tree that a file is in.
fn git_folder_of(path: &Path) -> Option<PathBuf> {
    let named = path.ancestors().skip(1).map(|folder| folder.join(".git"));
    let found = named.into_iter().find(|named| named.symlink_metadata().is_ok())?;
    let kind = found.metadata().ok()?;
    if kind.is_dir() {
        return Some(found);
    }
    // A second working tree has a file that says where.
    let said = (kind.is_file() && kind.len() < LONGEST).then(|| std::fs::read_to_string(&found))?.ok()?;
    let folder = said.strip_prefix("gitdir:")?.trim();
    Some(found.parent()?.join(folder))
}
