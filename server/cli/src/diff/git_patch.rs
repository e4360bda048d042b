//! A patch as git writes one: what becomes of some files, of their names and their modes. `git apply` takes it, in a folder that has the
//! files as they are before.
//!
//! # Limitations
//!
//! Bytes that are no text can be renamed and removed: a patch need not say them for that. It cannot say those of a new file.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;

use hashline_history::path::quoted;
use sha1::{Digest, Sha1};
use similar::TextDiff;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The mode of a file of which nothing is known.
const USUAL_MODE: u32 = 0o644;

/// What git calls the content of a file that is not there.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// A file on one side of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// From the folder that the patch is applied in, with `/` between the parts.
    pub name: OsString,
    /// Its permission bits, where they are known.
    pub mode: Option<u32>,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Text(String),
    Bytes(Vec<u8>),
    /// The same on both sides, whatever it is.
    Unknown,
}

/// A file before and after; none where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub before: Option<File>,
    pub after: Option<File>,
}

/// A patch cannot say what a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsayable;

impl Change {
    /// Whether the file is gone afterwards. Such changes come first in a patch: git looks for the others' files by themselves.
    pub fn removes(&self) -> bool {
        self.after.is_none()
    }

    /// The part of a patch that makes this change; empty if nothing is changed.
    pub fn patch(&self) -> Result<String, Unsayable> {
        let mut patch = String::new();
        let (before, after) = (self.before.as_ref(), self.after.as_ref());
        let (Some(from), Some(to)) = (before.or(after), after.or(before)) else { return Ok(patch) };
        if before == after {
            return Ok(patch);
        }
        let _ = writeln!(patch, "diff --git {} {}", sided("a/", &from.name), sided("b/", &to.name));
        match (before, after) {
            (Some(old), Some(new)) => {
                if let (Some(old), Some(new)) = (old.mode, new.mode)
                    && mode(Some(old)) != mode(Some(new))
                {
                    let _ = writeln!(patch, "old mode {}\nnew mode {}", mode(Some(old)), mode(Some(new)));
                }
                if old.name != new.name {
                    let likeness = likeness(&old.content, &new.content);
                    let (from, to) = (quoted(&old.name), quoted(&new.name));
                    let _ =
                        writeln!(patch, "similarity index {likeness}%\nrename from {from}\nrename to {to}");
                }
            }
            (None, Some(new)) => drop(writeln!(patch, "new file mode {}", mode(new.mode))),
            (Some(old), None) => drop(writeln!(patch, "deleted file mode {}", mode(old.mode))),
            (None, None) => {}
        }
        match (before.map(|file| &file.content), after.map(|file| &file.content)) {
            (one, other) if one == other => {}
            (Some(Content::Bytes(bytes)), None) => {
                let _ = writeln!(patch, "index {}..{NOTHING}", blob(bytes));
                let _ = writeln!(patch, "Binary files {} and /dev/null differ", sided("a/", &from.name));
            }
            (Some(Content::Bytes(_) | Content::Unknown), _)
            | (_, Some(Content::Bytes(_) | Content::Unknown)) => {
                return Err(Unsayable);
            }
            (one, other) => {
                let hunks = hunks(text_of(one), text_of(other));
                // An empty file comes and goes without lines.
                if !hunks.is_empty() {
                    let name = |side: &str, file: Option<&File>| {
                        file.map_or_else(|| "/dev/null".to_owned(), |file| ended(sided(side, &file.name)))
                    };
                    let _ = writeln!(patch, "--- {}\n+++ {}", name("a/", before), name("b/", after));
                    patch.push_str(&hunks);
                }
            }
        }
        Ok(patch)
    }
}

fn text_of(content: Option<&Content>) -> &str {
    match content {
        Some(Content::Text(text)) => text,
        _ => "",
    }
}

/// The lines of a text as programs such as git see them: they end at `\n` alone.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn hunks(before: &str, after: &str) -> String {
    let (before, after) = (lines(before), lines(after));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
    diff.unified_diff().context_radius(CONTEXT).to_string()
}

/// How much of a file is the same in another, in per cent. Only what is the same throughout is wholly so.
fn likeness(one: &Content, other: &Content) -> u32 {
    match (one, other) {
        _ if one == other => 100,
        (Content::Text(one), Content::Text(other)) => {
            let (one, other) = (lines(one), lines(other));
            let ratio = TextDiff::configure().newline_terminated(true).diff_slices(&one, &other).ratio();
            ((ratio * 100.0) as u32).min(99)
        }
        _ => 0,
    }
}

/// A mode as git knows modes: a file is a program or it is not.
fn mode(bits: Option<u32>) -> &'static str {
    if bits.unwrap_or(USUAL_MODE) & 0o100 == 0 { "100644" } else { "100755" }
}

fn sided(side: &str, name: &OsStr) -> String {
    let mut sided = OsString::from(side);
    sided.push(name);
    quoted(&sided).into_owned()
}

/// A tab ends a name with a space in it.
fn ended(name: String) -> String {
    if name.contains(' ') && !name.starts_with('"') { name + "\t" } else { name }
}

/// What git calls a content.
fn blob(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
