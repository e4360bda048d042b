//! How far what other programs write to the file of an open document is known.

use hashline_history::EditId;
use hashline_text::{DocVersion, Text};
use hashline_weave::Base;

use crate::disk::Stamp;

/// How far what is written to the file of a document is known.
#[derive(Debug, Default)]
pub(crate) struct WatchedFile {
    /// The file as it was seen last: it is at rest when it is seen so again.
    pub seen: Option<Stamp>,
    /// The file as it was dealt with last. Where its editor has yet to read it, the version of the text then.
    pub done: Option<(Stamp, Option<DocVersion>)>,
    /// What the file had when it was dealt with last, where the editor has not had that text.
    pub known: Option<Text>,
    /// What was held of it last.
    pub held: Option<Held>,
    /// What an agent's program is about to write to it, as the person has decided.
    pub expected: Option<Expected>,
}

/// What is about to be written to a file.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// What the file has before, and with it.
    pub before: Base,
    pub after: Base,
}

/// An edit that was made of what another program has written.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub edit: EditId,
    /// What the file had before, and with it.
    pub before: Base,
    pub after: Base,
}

impl WatchedFile {
    /// Whether nothing is left to be done about the file as it is, while the text has this version.
    pub fn is_done(&self, stamp: Stamp, now: DocVersion) -> bool {
        self.done.is_some_and(|(done, version)| done == stamp && version.is_none_or(|then| then == now))
    }
}
