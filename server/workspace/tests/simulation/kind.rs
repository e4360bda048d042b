//! The editors, as they were measured: what each does with a delivery, how it reports what happened, and its undo.

use hashline_text::Encoding;
use hashline_workspace::document::Reports;

/// Which editor it is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Drops an edit for an older version and answers that it was applied; typing is one undo step until it is left.
    Neovim,
    /// The same with its plugin, which says what brings each change about, and refuses what was made for another version.
    NeovimPlugin,
    /// Refuses whenever the text has moved on; every step is its own.
    VsCode,
    /// The same with the extension, which says what brings each change about.
    VsCodePlugin,
    /// Refuses whenever the text has moved on; reports edits first to last.
    Helix,
    /// The same, asked for whole texts.
    HelixWhole,
    /// Reports half a second later, all in one range; checks only the version that it has sent.
    Emacs,
    /// Refuses whenever the text has moved on; tells of each change by itself, and so of an edit in several places in parts.
    LspMode,
    /// Emacs as it is by itself: puts an edit for the version that it has sent where what was typed since has moved the lines, and says that
    /// it was applied.
    Eglot,
    /// Does not say that it takes versions, so the server has to reckon with its carrying out anything at any time; it does look at its text.
    Unversioned,
    /// The same, and it looks at nothing: it carries out whatever comes, wherever that is by then.
    Unchecked,
}

/// What an editor looks at before it carries out a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The version of its text, with what was typed just now.
    Live,
    /// The version that it has sent, and that nothing is unsent.
    SentAndQuiet,
    /// The version that it has sent.
    Sent,
    Nothing,
}

/// All kinds, by how often they are met.
pub const KINDS: [(usize, Kind); 11] = [
    (16, Kind::Neovim),
    (16, Kind::NeovimPlugin),
    (12, Kind::VsCode),
    (16, Kind::VsCodePlugin),
    (10, Kind::Helix),
    (6, Kind::HelixWhole),
    (10, Kind::Emacs),
    (8, Kind::LspMode),
    (5, Kind::Eglot),
    (6, Kind::Unversioned),
    (5, Kind::Unchecked),
];

impl Kind {
    /// Whether it says what brings its changes about.
    pub fn is_plugin(self) -> bool {
        matches!(self, Kind::NeovimPlugin | Kind::VsCodePlugin)
    }

    /// What it says of its changes.
    pub fn reports(self) -> Reports {
        match self {
            Kind::NeovimPlugin | Kind::VsCodePlugin => Reports::Causes,
            Kind::Unversioned | Kind::Unchecked => Reports::Nothing,
            _ => Reports::Versions,
        }
    }

    /// What it looks at before it carries out a delivery.
    pub fn check(self) -> Check {
        match self {
            Kind::Emacs => Check::SentAndQuiet,
            Kind::Eglot => Check::Sent,
            Kind::Unchecked => Check::Nothing,
            _ => Check::Live,
        }
    }

    /// Whether it answers that it has applied what it has not.
    pub fn drops(self) -> bool {
        self == Kind::Neovim
    }

    /// Whether it reports without a pause.
    pub fn reports_at_once(self) -> bool {
        !matches!(self, Kind::Neovim | Kind::NeovimPlugin | Kind::Emacs | Kind::Eglot)
    }

    /// Whether it reports all that has happened since the last time as one replacement.
    pub fn joins_changes(self) -> bool {
        matches!(self, Kind::Emacs | Kind::Eglot)
    }

    /// Whether it sends one notification for each change.
    pub fn tells_each(self) -> bool {
        self == Kind::LspMode
    }

    /// Whether it sends the whole text each time.
    pub fn sends_whole(self) -> bool {
        self == Kind::HelixWhole
    }

    /// Whether all that is typed until the person leaves the insertion is one step of undo.
    pub fn joins_typing(self) -> bool {
        matches!(self, Kind::Neovim | Kind::NeovimPlugin | Kind::Helix | Kind::HelixWhole)
    }

    /// Whether a delivery becomes a part of the insertion that it comes into.
    pub fn joins_delivery(self) -> bool {
        matches!(self, Kind::Neovim | Kind::Helix | Kind::HelixWhole | Kind::Emacs | Kind::Eglot)
    }

    /// Whether it reports several places first to last.
    pub fn is_top_down(self) -> bool {
        matches!(self, Kind::Helix | Kind::HelixWhole)
    }

    /// Whether it cuts what is delivered to what differs.
    pub fn cuts(self) -> bool {
        matches!(self, Kind::VsCode | Kind::VsCodePlugin)
    }

    /// Whether it inserts endings as they come.
    pub fn is_raw(self) -> bool {
        matches!(self, Kind::Helix | Kind::HelixWhole | Kind::Emacs | Kind::Eglot | Kind::LspMode)
    }

    /// Whether a lone `\r` ends a line for it, as LSP says.
    pub fn ends_lines_with_return(self) -> bool {
        matches!(self, Kind::Helix | Kind::HelixWhole | Kind::Unversioned | Kind::Unchecked)
    }

    /// Whether it leaves a byte-order mark in the text.
    pub fn shows_marks(self) -> bool {
        self.is_raw() || self.reports() == Reports::Nothing
    }

    pub fn encoding(self) -> Encoding {
        match self {
            Kind::VsCode | Kind::VsCodePlugin | Kind::Unversioned | Kind::Unchecked => Encoding::Utf16,
            Kind::Emacs | Kind::Eglot | Kind::LspMode => Encoding::Utf32,
            _ => Encoding::Utf8,
        }
    }

    /// The version that it opens a document with.
    pub fn first_version(self) -> i32 {
        i32::from(matches!(self, Kind::VsCode | Kind::VsCodePlugin))
    }
}
