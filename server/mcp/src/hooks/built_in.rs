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

/// The arguments of such a tool, by the names that programs have for them.
#[derive(Deserialize)]
pub(super) struct Arguments {
    #[serde(alias = "filePath")]
    file_path: String,
    #[serde(alias = "oldString")]
    old_string: Option<String>,
    #[serde(alias = "newString")]
    new_string: Option<String>,
    #[serde(default, alias = "replaceAll", alias = "allow_multiple")]
    replace_all: bool,
    content: Option<String>,
    #[serde(alias = "start_line")]
    offset: Option<usize>,
    limit: Option<usize>,
    end_line: Option<usize>,
}

impl Arguments {
    /// Of a tool that reads.
    pub(super) fn read(self) -> BuiltIn {
        let first = self.offset.map(|first| first.max(1));
        let to_end = |last: usize| last.saturating_add(1).saturating_sub(first.unwrap_or(1));
        BuiltIn::Read { path: self.file_path, first, count: self.limit.or(self.end_line.map(to_end)) }
    }

    /// Of a tool that replaces a piece.
    pub(super) fn edit(self) -> Result<BuiltIn, String> {
        let old = self.old_string.ok_or("old_string is missing")?;
        let new = self.new_string.ok_or("new_string is missing")?;
        Ok(BuiltIn::Edit { path: self.file_path, old, new, all: self.replace_all })
    }

    /// Of a tool that writes.
    pub(super) fn write(self) -> Result<BuiltIn, String> {
        let content = self.content.ok_or("content is missing")?;
        Ok(BuiltIn::Write { path: self.file_path, content })
    }
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
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Read { path, .. }
            | Self::Edit { path, .. }
            | Self::Write { path, .. }
            | Self::Patch { path, .. } => path,
        }
    }

    /// What it is called in a history.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Edit { .. } => "edit",
            Self::Write { .. } => "write",
            Self::Patch { .. } => "patch",
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
    use serde_json::{Value, json};

    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> BuiltIn {
        BuiltIn::Edit { path: "/a".into(), old: old.into(), new: new.into(), all }
    }

    #[test]
    fn each_program_has_its_names_for_the_arguments() {
        let arguments = |json: Value| serde_json::from_value::<Arguments>(json).unwrap();
        let edit = edit("x", "y", true);
        for json in [
            json!({ "file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": true }),
            json!({ "filePath": "/a", "oldString": "x", "newString": "y", "replaceAll": true }),
            json!({ "file_path": "/a", "instruction": "i", "old_string": "x", "new_string": "y", "allow_multiple": true }),
        ] {
            assert_eq!(arguments(json).edit().as_ref(), Ok(&edit));
        }
        let read = |first, count| BuiltIn::Read { path: "/a".into(), first, count };
        for (json, read) in [
            (json!({ "file_path": "/a" }), read(None, None)),
            (json!({ "filePath": "/a", "offset": 2, "limit": 3 }), read(Some(2), Some(3))),
            (json!({ "file_path": "/a", "start_line": 3, "end_line": 5 }), read(Some(3), Some(3))),
            (
                json!({ "file_path": "/a", "start_line": 0, "end_line": usize::MAX }),
                read(Some(1), Some(usize::MAX - 1)),
            ),
        ] {
            assert_eq!(arguments(json).read(), read);
        }
        assert!(arguments(json!({ "file_path": "/a", "old_string": "x" })).edit().is_err());
        assert!(arguments(json!({ "file_path": "/a" })).write().is_err());
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
