//! How far downloads are: bars on a terminal, and elsewhere a line for each file that is there.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use hashline_package::{FileHash, Identifier, Watch};
use hashline_terminal::{inert, tell};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::messages;

/// Shows downloads on standard error.
pub enum Progress {
    /// A bar for each file.
    Bars { all: MultiProgress, of_files: Mutex<HashMap<String, ProgressBar>> },
    /// A line for each file.
    Lines,
}

impl Progress {
    /// As standard error wants it.
    pub fn of_stderr() -> Self {
        if std::io::stderr().is_terminal() {
            Self::Bars { all: MultiProgress::new(), of_files: Mutex::default() }
        } else {
            Self::Lines
        }
    }

    /// The bar of a file.
    fn bar(
        all: &MultiProgress,
        of_files: &Mutex<HashMap<String, ProgressBar>>,
        file: &Identifier,
    ) -> ProgressBar {
        let name = file.to_string();
        let mut of_files = of_files.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = of_files.entry(name).or_insert_with_key(|name| {
            all.add(
                ProgressBar::no_length()
                    .with_style(style("{bytes:>12}            {wide_msg}"))
                    .with_message(inert(name)),
            )
        });
        bar.clone()
    }
}

/// Nothing of the bars is left for what is said next to stand behind.
impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bars { all, .. } = self {
            // Nobody may be looking.
            let _ = all.clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Watch for Progress {
    fn fetched(&self, file: &Identifier, bytes: u64, of: Option<u64>) {
        let Self::Bars { all, of_files } = self else { return };
        let bar = Self::bar(all, of_files, file);
        if let Some(of) = of
            && bar.length().is_none()
        {
            bar.set_length(of);
            bar.set_style(style("{bytes:>12} {bar:10} {wide_msg}"));
        }
        bar.set_position(bytes);
    }

    fn hashed(&self, file: &Identifier, hash: &FileHash) {
        match self {
            Self::Bars { all, of_files } => Self::bar(all, of_files, file).finish(),
            Self::Lines => tell(&messages::hashed(file, hash)),
        }
    }
}
