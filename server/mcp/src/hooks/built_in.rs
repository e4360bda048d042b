//! The built-in tools of agents' programs, as far as they read and write texts.

use serde::{Deserialize, Serialize};

/// A use of a built-in tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BuiltIn {
    /// Lines of a file are read: from one, counted from 1, and so many.
    Read { path: String, first: Option<usize>, count: Option<usize> },
    /// A piece of a text is replaced, which stands in it once, or wherever it stands.
    Edit { path: String, old: String, new: String, all: bool },
    /// A text is written.
    Write { path: String, content: String },
}

/// What a write makes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// A piece of it is replaced. Whether it stands there once is found out where that is done.
    Once { old: String, new: String, after: String },
    /// All of it is this.
    Whole(String),
    /// It is no write.
    Nothing,
}

impl BuiltIn {
    /// The file, as the agent spells it.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Read { path, .. } | Self::Edit { path, .. } | Self::Write { path, .. } => path,
        }
    }

    /// What it makes of a text.
    pub(super) fn replaced(&self, text: &str) -> Replaced {
        match self {
            Self::Read { .. } => Replaced::Nothing,
            Self::Write { content, .. } => Replaced::Whole(as_ended(content, text)),
            Self::Edit { old, new, all, .. } => {
                let (mut old, mut new) = (old.clone(), new.clone());
                if !text.contains(&old) {
                    // Programs show their models texts whose lines end in \n alone.
                    (old, new) = (as_ended(&old, text), as_ended(&new, text));
                }
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
    }
}
