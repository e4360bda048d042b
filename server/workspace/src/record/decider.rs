//! Who decides about the edits of a document: whoever has the history, this process, or another one.

/// Who decides about the edits of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Whoever has the history.
    #[default]
    Anybodys,
    /// This process, which has claimed them.
    Own,
    /// Another one.
    Others(OtherEditor),
}

/// An editor that another process serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherEditor {
    /// What its process is called in the record.
    pub process: String,
    /// What the editor is called.
    pub name: String,
}

impl Whose {
    /// The other editor that decides, if one does.
    pub fn other(&self) -> Option<&OtherEditor> {
        match self {
            Self::Others(other) => Some(other),
            Self::Anybodys | Self::Own => None,
        }
    }
}
