//! The built-in tools of agents' programs, as far as they read and write texts.

use serde::{Deserialize, Serialize};

use crate::hooks::apply_patch::{Hunk, apply};

/// A use of a built-in tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BuiltIn {
    /// Lines of a file are read: from one, counted from 1, and so many.
    Read { path: String, first: Option<usize>, count: Option<usize> },
    /// A piece of a text is replaced, which stands in it once, or wherever it stands.
    Edit { path: String, old: String, new: String, all: bool },
    /// A text is written.
    Write { path: String, content: String },
    /// Lines are changed, wherever they are found one after the other.
    Patch { path: String, hunks: Vec<Hunk> },
}

/// What a write makes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// A piece of it is replaced. Whether it stands there once is found out where that is done.
    Once { old: String, new: String, after: String },
    /// All of it is this.
    Whole(String),
    /// It has not these lines.
    Missing(Vec<String>),
    /// It is no write.
    Nothing,
}

impl BuiltIn {
    /// The file, as the agent spells it.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Read { path, .. }
            | Self::Edit { path, .. }
            | Self::Write { path, .. }
            | Self::Patch { path, .. } => path,
        }
    }

    /// What it makes of a text.
    pub(super) fn replaced(&self, text: &str) -> Replaced {
        match self {
            Self::Read { .. } => Replaced::Nothing,
            Self::Write { content, .. } => Replaced::Whole(as_ended(content, text)),
            Self::Patch { hunks, .. } => apply(hunks, text).map_or_else(Replaced::Missing, Replaced::Whole),
            Self::Edit { old, new, all, .. } => {
                // Programs show their models texts whose lines end in \n alone.
                let new = as_ended(new, text);
                let old = if text.contains(old) { old.clone() } else { as_ended(old, text) };
                if *all && !old.is_empty() && text.contains(&old) {
                    return Replaced::Whole(text.replace(&old, &new));
                }
                let after = text.replacen(&old, &new, 1);
                Replaced::Once { old, new, after }
            }
        }
    }
}

/// Lines with the ending that all lines of a text have, where that is \r\n and theirs is not.
fn as_ended(lines: &str, text: &str) -> String {
    let crlf = text.matches("\r\n").count();
    if crlf == 0 || crlf < text.matches('\n').count() || lines.contains("\r\n") {
        return lines.to_owned();
    }
    lines.replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> BuiltIn {
        BuiltIn::Edit { path: "/a".into(), old: old.into(), new: new.into(), all }
    }

    #[test]
    fn a_piece_is_replaced_once_or_wherever_it_stands() {
        let once = Replaced::Once { old: "b".into(), new: "c".into(), after: "acb".into() };
        assert_eq!(edit("b", "c", false).replaced("abb"), once);
        assert_eq!(edit("b", "c", true).replaced("abb"), Replaced::Whole("acc".into()));
        // Refused where it is looked for, in words.
        assert!(matches!(edit("x", "c", true).replaced("abb"), Replaced::Once { .. }));
        let read = BuiltIn::Read { path: "/a".into(), first: None, count: None };
        assert_eq!(read.replaced("abb"), Replaced::Nothing);
    }

    #[test]
    fn lines_end_as_those_of_the_text_do() {
        let write = |content: &str| BuiltIn::Write { path: "/a".into(), content: content.into() };
        for (content, text, after) in [
            ("1\n2\n", "a\r\nb\r\n", "1\r\n2\r\n"),
            ("1\r\n2\n", "a\r\nb\r\n", "1\r\n2\n"),
            ("1\n2\n", "a\r\nb\n", "1\n2\n"),
            ("1\n2\n", "a\nb\n", "1\n2\n"),
            ("1\n2\n", "", "1\n2\n"),
        ] {
            assert_eq!(write(content).replaced(text), Replaced::Whole(after.into()), "{content:?} {text:?}");
        }
        let Replaced::Once { after, .. } = edit("a\nb", "1\n2", false).replaced("a\r\nb\r\n") else {
            panic!()
        };
        assert_eq!(after, "1\r\n2\r\n");
        let all = edit("a", "1\n2", true).replaced("a\r\na\r\n");
        assert_eq!(all, Replaced::Whole("1\r\n2\r\n1\r\n2\r\n".into()));
    }
}
