//! A file of the person's that is to be changed: what it holds, what is shown of the change, and the change itself.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use hashline_terminal::{Ink, Screen, inert, inert_line};
use similar::TextDiff;

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The file itself, where its name is a link.
    target: PathBuf,
    linked: bool,
    text: Option<String>,
}

impl Stored {
    /// Reads a file; there may be none. An error says why it cannot be changed.
    pub fn read(file: &Path) -> Result<Self, String> {
        let target = match file.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if fs::symlink_metadata(file).is_ok() {
                    return Err("it is a link to nothing".to_owned());
                }
                return Ok(Self { target: below_real_folder(file), linked: false, text: None });
            }
            Err(error) => return Err(error.to_string()),
        };
        // Reading anything else might wait for ever.
        if !fs::metadata(&target).is_ok_and(|found| found.is_file()) {
            return Err("it is no regular file".to_owned());
        }
        let bytes = fs::read(&target).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())?;
        let linked = fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink());
        Ok(Self { target, linked, text: Some(text) })
    }

    /// Whether its name is a link.
    pub fn is_linked(&self) -> bool {
        self.linked
    }

    /// The file itself, where its name, or that of a folder above it, is a link.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Its text, if there is such a file.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// A file that is not there, in the folder above it that is, without links.
fn below_real_folder(file: &Path) -> PathBuf {
    let real = file.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
    let rest = real.as_ref().and_then(|(above, _)| file.strip_prefix(above).ok());
    match (&real, rest) {
        (Some((_, real)), Some(rest)) => real.join(rest),
        _ => file.to_owned(),
    }
}

/// A change of one file.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    pub file: &'a Path,
    pub stored: Stored,
    /// What it is to hold; none for no file.
    pub wanted: Option<String>,
}

impl Change<'_> {
    /// Whether nothing would change.
    pub fn is_none(&self) -> bool {
        self.stored.text == self.wanted
    }

    /// The change as a unified diff.
    pub fn shown(&self, screen: Screen) -> String {
        let (old, new) = (self.stored.text().unwrap_or_default(), self.wanted.as_deref().unwrap_or_default());
        let name = inert(&self.file.to_string_lossy());
        let side = |there: bool| if there { name.clone() } else { "/dev/null".to_owned() };
        let diff = TextDiff::from_lines(old, new);
        let text = diff
            .unified_diff()
            .context_radius(3)
            .header(&side(self.stored.text.is_some()), &side(self.wanted.is_some()))
            .to_string();
        let painted = text.lines().map(|line| {
            let ink = match line.as_bytes().first() {
                _ if line.starts_with("---") || line.starts_with("+++") => Ink::Heading,
                Some(b'+') => Ink::Added,
                Some(b'-') => Ink::Removed,
                Some(b'@') => Ink::Place,
                _ => return inert_line(line) + "\n",
            };
            screen.paint(ink, &inert_line(line)) + "\n"
        });
        painted.collect()
    }

    /// Makes the change: the file is whole at any moment, keeps its mode bits, and stays a link if it is one.
    pub fn make(&self) -> Result<(), String> {
        let plain = |error: std::io::Error| error.to_string();
        let target = &self.stored.target;
        if Stored::read(self.file)? != self.stored {
            return Err("it was changed meanwhile. Run the command again".to_owned());
        }
        let Some(wanted) = &self.wanted else { return fs::remove_file(target).map_err(plain) };
        let folder = target.parent().ok_or("it lies in no folder")?;
        fs::create_dir_all(folder).map_err(plain)?;
        let mut fresh = tempfile::Builder::new();
        // The system takes from these what the person does not want for new files.
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        #[cfg(unix)]
        fresh.permissions(mode);
        let mut fresh = fresh.prefix(".hashline-").tempfile_in(folder).map_err(plain)?;
        fresh.write_all(wanted.as_bytes()).map_err(plain)?;
        if let Ok(found) = fs::metadata(target) {
            fresh.as_file().set_permissions(found.permissions()).map_err(plain)?;
        }
        fresh.as_file().sync_all().map_err(plain)?;
        fresh.persist(target).map(drop).map_err(|error| plain(error.error))
    }
}
