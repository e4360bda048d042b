//! The modules of a crate, read from its first file on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::items::Items;

/// Why a crate could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// A file is not there, or is no text.
    #[error("{} cannot be read: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A file is no Rust.
    #[error("{} is no Rust: {error}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// What is wrong in it.
        error: syn::Error,
    },
}

/// A module, in a file of its own or inside one.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Relative to the folder of the crate's first file.
    pub file: PathBuf,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    pub items: Items,
}

/// The modules of a crate.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    /// The crate's first file comes first.
    pub(crate) all: Vec<Module>,
}

impl Modules {
    /// The modules of the crate whose first file this is.
    ///
    /// # Errors
    ///
    /// [`Unread`].
    pub fn read(first: &Path) -> Result<Self, Unread> {
        let folder = first.parent().unwrap_or(first);
        let text = |file: &Path| std::fs::read_to_string(folder.join(file));
        Self::read_by(&text, Path::new(first.file_name().unwrap_or_default()))
    }

    /// The same, where `text` is what a file holds.
    pub(crate) fn read_by(
        text: &dyn Fn(&Path) -> std::io::Result<String>,
        first: &Path,
    ) -> Result<Self, Unread> {
        let mut modules = Self::default();
        modules.add_file(text, first, Path::new(""), None)?;
        Ok(modules)
    }

    /// Adds a file, and those of the modules that it declares, which lie in `folder`.
    fn add_file(
        &mut self,
        text: &dyn Fn(&Path) -> std::io::Result<String>,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
    ) -> Result<usize, Unread> {
        let source = text(file).map_err(|error| Unread::File { file: file.to_owned(), error })?;
        let parsed =
            syn::parse_file(&source).map_err(|error| Unread::Syntax { file: file.to_owned(), error })?;
        self.add(text, file, folder, parent, Items::of(&parsed.items))
    }

    fn add(
        &mut self,
        text: &dyn Fn(&Path) -> std::io::Result<String>,
        file: &Path,
        folder: &Path,
        parent: Option<usize>,
        mut items: Items,
    ) -> Result<usize, Unread> {
        let at = self.all.len();
        let declared = std::mem::take(&mut items.modules);
        self.all.push(Module { file: file.to_owned(), parent, children: BTreeMap::new(), items });
        for (name, inside) in declared {
            let folder = folder.join(&name);
            let child = match inside {
                Some(items) => self.add(text, file, &folder, Some(at), items)?,
                None => {
                    let (flat, nested) = (folder.with_extension("rs"), folder.join("mod.rs"));
                    let file = if text(&flat).is_ok() { flat } else { nested };
                    self.add_file(text, &file, &folder, Some(at))?
                }
            };
            self.all[at].children.insert(name, child);
        }
        Ok(at)
    }
}
