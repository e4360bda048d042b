//! How callers spell paths: pure functions from what was written to what is meant.
//!
//! Nothing here looks at a disk. A spelling that passes is only a list of names; whether they lie inside a root,
//! and where links on the way lead, is for the walk in `path.rs` to find out.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use hashline_history::path::from_bytes;

use super::error::PathRefusal;
use super::identity::MAX_PATH;

/// Which spellings of a path a tool takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// An absolute path inside a root, a path relative to the first root, or a `file:` URI.
    Any,
    /// A path within the root: a leading `/` is the root. With several roots the first segment names one.
    WithinRoot,
}

impl PathStyle {
    /// What to give in the place of a path that is refused.
    fn instead(self, root: &str) -> String {
        match self {
            PathStyle::Any => format!("an absolute path inside {root}, or one relative to it"),
            PathStyle::WithinRoot => "a path within the root, such as src/main.rs".to_owned(),
        }
    }
}

/// What was written, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// The names from the start to the file, without `.` and `..`.
    pub names: Vec<OsString>,
    /// Whether the names start at the top of the file system and not in a root.
    pub absolute: bool,
    /// Whether a final `/` or `.` says that a folder is meant.
    pub folder: bool,
}

impl Spelling {
    /// The path of an absolute spelling.
    pub(super) fn absolute_path(&self) -> PathBuf {
        // On Windows the first name is the drive, which has to stay in front of the separator.
        if cfg!(windows) {
            return PathBuf::from(self.names.join("\\".as_ref()));
        }
        let mut path = PathBuf::from("/");
        path.extend(&self.names);
        path
    }
}

/// The most bytes of a name in a path: Linux's `NAME_MAX`. No other system goes beyond it by default.
const MAX_NAME: usize = 255;
/// How much of what is too long is told again.
const TOLD: usize = 60;

/// Refuses what no file system takes, before anything is made of it: its length is in the caller's hand.
fn refuse_long(given: &str, len: usize, part: &'static str, most: usize) -> Result<(), PathRefusal> {
    if len <= most {
        return Ok(());
    }
    let given = given.chars().take(TOLD).chain(['…']).collect();
    Err(PathRefusal::TooLong { given, part, most })
}

/// Reads what a caller wrote. `root` is the first root, for the words of a refusal.
pub(super) fn read_spelling(given: &str, style: PathStyle, root: &str) -> Result<Spelling, PathRefusal> {
    // A URI may spell each byte with three.
    refuse_long(given, given.len(), "a URI", 3 * MAX_PATH + "file://localhost".len())?;
    if given.trim().is_empty() {
        return Err(PathRefusal::Empty);
    }
    refuse_nul(given, given.as_bytes())?;
    if is_drive_form(given.as_bytes()) || given.starts_with("\\\\") {
        if cfg!(windows) && style == PathStyle::Any && is_drive_form(given.as_bytes()) {
            return take_apart(given, given.as_bytes(), true, root);
        }
        return Err(PathRefusal::WindowsForm { given: given.into(), instead: style.instead(root) });
    }
    if let Some(scheme) = scheme(given) {
        if style == PathStyle::WithinRoot {
            return Err(PathRefusal::UriNotTaken { given: given.into() });
        }
        if !scheme.eq_ignore_ascii_case("file") {
            return Err(PathRefusal::NotAFile(given.into()));
        }
        let path = file_uri_path(given, root)?;
        return take_apart(given, &path, true, root);
    }
    if given == "~" || given.starts_with("~/") {
        return Err(PathRefusal::HomeSign { given: given.into(), instead: style.instead(root) });
    }
    let absolute = given.starts_with('/') && style == PathStyle::Any;
    take_apart(given, given.as_bytes(), absolute, root)
}

/// The names of a path within the root, `.` and `..` worked out.
///
/// # Errors
/// What is no such path: an empty one, a URI, one with a drive, one that leads above the root.
pub fn names_within_root(given: &str) -> Result<Vec<OsString>, PathRefusal> {
    Ok(read_spelling(given, PathStyle::WithinRoot, "/")?.names)
}

/// The path that a `file:` URI names, percent-decoded. For URIs of editors as much as of agents.
///
/// # Errors
/// A URI of another scheme or another machine, or one that cannot be read.
pub fn path_of_file_uri(uri: &str) -> Result<PathBuf, PathRefusal> {
    match scheme(uri) {
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => {
            let path = file_uri_path(uri, "a root")?;
            name_of(uri, &path).map(PathBuf::from)
        }
        _ => Err(PathRefusal::NotAFile(uri.into())),
    }
}

/// Splits at `/`, drops `.`, and lets `..` take back the name before it.
fn take_apart(given: &str, path: &[u8], absolute: bool, root: &str) -> Result<Spelling, PathRefusal> {
    refuse_long(given, path.len(), "a path", MAX_PATH)?;
    let parts = |byte: &u8| *byte == b'/' || (cfg!(windows) && *byte == b'\\');
    let mut names: Vec<OsString> = Vec::new();
    let mut folder = false;
    for part in path.split(parts) {
        folder = matches!(part, b"" | b"." | b"..");
        match part {
            b"" | b"." => {}
            // Above the top of the file system is its top, as the system has it.
            b".." if names.pop().is_none() && !absolute => {
                return Err(PathRefusal::AboveRoot { given: given.into(), root: root.into() });
            }
            b".." => {}
            name => {
                refuse_long(given, name.len(), "a name", MAX_NAME)?;
                names.push(name_of(given, name)?);
            }
        }
    }
    Ok(Spelling { names, absolute, folder })
}

/// A name, which on Unix may be any bytes.
fn name_of(given: &str, bytes: &[u8]) -> Result<OsString, PathRefusal> {
    from_bytes(bytes).ok_or_else(|| PathRefusal::NameNotText { given: given.into() })
}

fn refuse_nul(given: &str, path: &[u8]) -> Result<(), PathRefusal> {
    if path.contains(&0) { Err(PathRefusal::Nul { given: given.into() }) } else { Ok(()) }
}

/// `C:…`: no scheme of a URI has one letter.
fn is_drive_form(given: &[u8]) -> bool {
    matches!(given, [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The scheme, if this is a URI. A dot is legal in a scheme but in no known one, and common in file names
/// (`main.rs:12`), so it makes a path.
fn scheme(given: &str) -> Option<&str> {
    let (scheme, _) = given.split_once(':')?;
    let mut bytes = scheme.bytes();
    let first = bytes.next()?;
    (first.is_ascii_alphabetic() && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-')))
        .then_some(scheme)
}

/// The path in a `file:` URI, which starts with `/` (with the drive on Windows).
fn file_uri_path(given: &str, root: &str) -> Result<Vec<u8>, PathRefusal> {
    let bad = |why| PathRefusal::BadFileUri { given: given.into(), why };
    let rest = given.get("file:".len()..).unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(PathRefusal::OtherHost {
                    given: given.into(),
                    host: host.into(),
                    root: root.into(),
                });
            }
            path
        }
        None => rest,
    };
    if !path.starts_with('/') {
        return Err(bad("it has no absolute path"));
    }
    if path.contains(['?', '#']) {
        return Err(bad("a ? or # in a name has to be written %3F or %23"));
    }
    let mut path = percent_decoded(path).ok_or_else(|| bad("a % is not followed by two hex digits"))?;
    refuse_nul(given, &path)?;
    let drive = path.get(1..).is_some_and(is_drive_form);
    if drive && !cfg!(windows) {
        return Err(PathRefusal::WindowsForm { given: given.into(), instead: PathStyle::Any.instead(root) });
    }
    if drive {
        path.remove(0);
    }
    Ok(path)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' {
            let (high, low) = (hex(bytes.next()?)?, hex(bytes.next()?)?);
            high << 4 | low
        } else {
            byte
        });
    }
    Some(decoded)
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A folder that agents may not touch, or not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarded {
    /// `.mcp`: neither read nor written.
    Store,
    /// `.git`: read, not written.
    Git,
}

/// A name as the file systems that tell the fewest names apart compare it: those of Windows and macOS take `.GIT`, `.git.`, `.git ` and
/// `.git::$INDEX_ALLOCATION` for `.git`, and some leave out characters that nobody sees.
pub(crate) fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or_default();
    let seen: String = name.chars().filter(|c| !is_ignorable(*c)).collect();
    // By way of capitals, as `ſ` is a small letter already, and an `s` there.
    seen.trim_end_matches(['.', ' ']).to_uppercase().to_lowercase()
}

/// Whether a name is one of the guarded ones on any file system. On Windows `GIT~1` is the short name of one.
pub(super) fn guarded(name: &str) -> Option<Guarded> {
    match folded(name).as_str() {
        ".mcp" => Some(Guarded::Store),
        ".git" => Some(Guarded::Git),
        short if cfg!(windows) && is_short_name(short, "mcp") => Some(Guarded::Store),
        short if cfg!(windows) && is_short_name(short, "git") => Some(Guarded::Git),
        _ => None,
    }
}

/// The first guard on a path, `.mcp` before `.git`.
pub(super) fn guarded_path(path: &Path) -> Option<Guarded> {
    let mut found = None;
    for component in path.components() {
        if let Component::Normal(name) = component {
            match guarded(&name.to_string_lossy()) {
                Some(Guarded::Store) => return Some(Guarded::Store),
                Some(Guarded::Git) => found = Some(Guarded::Git),
                None => {}
            }
        }
    }
    found
}

fn is_short_name(name: &str, start: &str) -> bool {
    name.strip_prefix(start)
        .and_then(|rest| rest.strip_prefix('~'))
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Unicode's Default_Ignorable_Code_Point, which HFS+ and case-folding ext4 leave out when they compare names.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}
