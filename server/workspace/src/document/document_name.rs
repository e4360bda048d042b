//! Where a document is: its name, and whether an editor has it open.
//!
//! The face: [`Address::home`] says where the text is at home, and an editor opens it, tells of its versions and of what it says, and closes it.

use hashline_text::{DocVersion, Encoding};

/// What an editor says of its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reports {
    /// Nothing, and it may carry out a delivery for another text than it was made for.
    #[default]
    Nothing,
    /// Nothing; but it carries out a delivery for that very text or not at all, so the first change of it holds the delivery, or none does.
    Versions,
    /// The cause of each that was not typed: it has a plugin.
    Causes,
}

/// Where the text of a document is at home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// Open in an editor.
    Editor {
        /// The version of the text, as the editor counts.
        version: DocVersion,
        /// How the editor counts characters.
        encoding: Encoding,
        /// The editor's name for the language.
        language: String,
        /// What the editor says of its changes.
        reports: Reports,
    },
    /// A file that no editor has open.
    Disk,
}

/// The name of a document, and where its text is at home.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    uri: String,
    home: Home,
}

impl Address {
    pub(crate) fn of(uri: &str, home: Home) -> Self {
        Self { uri: uri.to_owned(), home }
    }

    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    pub(crate) fn rename(&mut self, uri: &str) {
        uri.clone_into(&mut self.uri);
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    pub(crate) fn moves_to(&mut self, home: Home) {
        self.home = home;
    }

    /// The editor's text is of this version now.
    pub(crate) fn has_version(&mut self, new: DocVersion) {
        if let Home::Editor { version, .. } = &mut self.home {
            *version = new;
        }
    }

    /// The editor says this of its changes.
    pub(crate) fn reports(&mut self, what: Reports) {
        if let Home::Editor { reports, .. } = &mut self.home {
            *reports = what;
        }
    }
}
