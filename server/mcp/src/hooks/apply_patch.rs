//! Patches as Codex writes them: files one after the other, and in each the lines that go, that come, and that stand around them.
//!
//! ```text
//! *** Begin Patch
//! *** Update File: src/a.py
//! @@ def one():
//!      x = 1
//! -    return x
//! +    return 2
//! *** Add File: src/b.py
//! +new
//! *** End Patch
//! ```

use std::cell::Cell;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::hooks::built_in::BuiltIn;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// A patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub files: Vec<FilePatch>,
}

/// How a patch is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By a tool.
    Tool,
    /// By a command in a shell.
    Shell,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// As the patch spells it.
    pub path: String,
    pub change: Change,
    /// Its lines in the patch.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is written, and holds this.
    Write(String),
    /// Lines of it are changed.
    Lines(Vec<Hunk>),
    /// It is removed.
    Removed,
    /// It has another name afterwards, and other lines perhaps.
    Moved,
}

/// Lines that take the place of others, without their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hunk {
    /// A line above them.
    pub below: Option<String>,
    pub old: Vec<String>,
    pub new: Vec<String>,
}

impl Patch {
    /// Reads a patch. None if it is none, or says something that is not known here.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.trim().lines();
        if lines.next()?.trim() != BEGIN || lines.next_back()?.trim() != END {
            return None;
        }
        let mut files: Vec<FilePatch> = Vec::new();
        for line in lines {
            let begun = [
                (ADD, Change::Write(String::new())),
                (UPDATE, Change::Lines(Vec::new())),
                (DELETE, Change::Removed),
            ]
            .into_iter()
            .find_map(|(words, change)| Some((line.strip_prefix(words)?, change)));
            if let Some((path, change)) = begun {
                files.push(FilePatch { path: path.trim().to_owned(), change, text: format!("{line}\n") });
                continue;
            }
            let file = files.last_mut()?;
            file.take(line)?;
            file.text.push_str(line);
            file.text.push('\n');
        }
        (!files.is_empty()).then_some(Self { files })
    }

    /// A patch that writes a line into a new file.
    pub(super) fn making(file: &str, line: &str) -> String {
        format!("{BEGIN}\n{ADD}{file}\n+{}\n{END}\n", line.trim_end())
    }

    /// What programs say of a patch that they have carried out.
    pub(super) fn made(&self) -> String {
        let named: String = self.files.iter().map(|file| format!("M {}\n", file.path)).collect();
        format!("Success. Updated the following files:\n{named}")
    }

    /// The patch of those of its files; none if there are none.
    pub(super) fn of(&self, is_kept: impl Fn(&FilePatch) -> bool) -> Option<String> {
        let kept: String =
            self.files.iter().filter(|file| is_kept(file)).map(|file| file.text.as_str()).collect();
        (!kept.is_empty()).then(|| format!("{BEGIN}\n{kept}{END}\n"))
    }
}

impl FilePatch {
    /// The write that it is, of an agent that works in a folder; none where the file is removed or renamed.
    pub(super) fn write(&self, folder: &Path) -> Option<BuiltIn> {
        let path = folder.join(&self.path).to_string_lossy().into_owned();
        match &self.change {
            Change::Write(content) => Some(BuiltIn::Write { path, content: content.clone() }),
            Change::Lines(hunks) => Some(BuiltIn::Patch { path, hunks: hunks.clone() }),
            Change::Removed | Change::Moved => None,
        }
    }

    /// The path of the file that it removes, if it removes one, for an agent that works in a folder.
    pub(super) fn removes(&self, folder: &Path) -> Option<String> {
        let removes = self.change == Change::Removed;
        removes.then(|| folder.join(&self.path).to_string_lossy().into_owned())
    }

    /// Takes a line of the patch in; none if there is no such line.
    fn take(&mut self, line: &str) -> Option<()> {
        if line.starts_with(MOVE) && matches!(self.change, Change::Lines(_)) {
            self.change = Change::Moved;
            return Some(());
        }
        match &mut self.change {
            Change::Write(content) => {
                content.push_str(line.strip_prefix('+')?);
                content.push('\n');
            }
            Change::Lines(hunks) => {
                if let Some(place) = line.strip_prefix("@@") {
                    let below = Some(place.trim().to_owned()).filter(|place| !place.is_empty());
                    hunks.push(Hunk { below, ..Hunk::default() });
                } else if line != END_OF_FILE {
                    if hunks.is_empty() {
                        hunks.push(Hunk::default());
                    }
                    hunks.last_mut()?.take(line)?;
                }
            }
            // What is kept of a patch is handed on in a shell's words: a line of any other kind could end them.
            Change::Removed => return None,
            Change::Moved => {
                let is_line =
                    line.is_empty() || line.starts_with([' ', '+', '-', '@']) || line == END_OF_FILE;
                return is_line.then_some(());
            }
        }
        Some(())
    }
}

impl Hunk {
    fn take(&mut self, line: &str) -> Option<()> {
        let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        match sign {
            "-" => self.old.push(rest.to_owned()),
            "+" => self.new.push(rest.to_owned()),
            " " => {
                self.old.push(rest.to_owned());
                self.new.push(rest.to_owned());
            }
            _ => return None,
        }
        Some(())
    }
}

/// How many lines are compared with others at most: the program does not wait for ever.
const MOST_COMPARED: usize = 20_000_000;

/// What hunks make of a text, each found behind the one before; an error has the lines that are not there, or are not found by so many
/// comparisons as may be made.
pub(super) fn apply(hunks: &[Hunk], text: &str) -> Result<String, Vec<String>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let compared = Cell::new(0);
    let is_same = |line: &str, wanted: &str| {
        compared.set(compared.get() + 1);
        compared.get() <= MOST_COMPARED && line.trim_end() == wanted.trim_end()
    };
    let end = if lines.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let mut made = String::new();
    let mut at = 0;
    for hunk in hunks {
        let mut from = at;
        if let Some(below) = &hunk.below {
            let found = lines[at..].iter().position(|line| line.trim() == below);
            from = at + found.ok_or_else(|| vec![below.clone()])? + 1;
        }
        // Lines with nothing around them come last.
        let place = if hunk.old.is_empty() {
            lines.len()
        } else {
            let mut places = lines[from..].windows(hunk.old.len());
            let stands = |window: &[&str]| window.iter().zip(&hunk.old).all(|(line, old)| is_same(line, old));
            let place = places.position(stands);
            from + place.ok_or_else(|| hunk.old.clone())?
        };
        made.extend(lines[at..place].iter().copied());
        if !made.is_empty() && !made.ends_with('\n') {
            made.push_str(end);
        }
        at = place + hunk.old.len();
        for line in &hunk.new {
            made.push_str(line);
            made.push_str(end);
        }
        // The last line of the text ends as it did.
        let is_last = at == lines.len() && !hunk.new.is_empty();
        if is_last && lines.last().is_some_and(|line| !line.ends_with('\n')) {
            made.truncate(made.len() - end.len());
        }
    }
    made.extend(lines[at..].iter().copied());
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "\
*** Begin Patch
*** Update File: a.py
@@ def one():
     x = 1
-    return x
+    return 2
@@
+last
*** Add File: b.py
+new

*** Delete File: c.py
*** Update File: d.py
*** Move to: e.py
@@
-a
+b
*** End Patch
";

    #[test]
    fn a_patch_is_read_file_by_file_and_can_be_parted() {
        assert_eq!(Patch::parse(PATCH), None, "a line of a new file has no sign");
        let patch = Patch::parse(&PATCH.replace("+new\n\n", "+new\n+\n")).unwrap();
        let changes: Vec<_> = patch.files.iter().map(|file| (file.path.as_str(), &file.change)).collect();
        let [first, last] = [
            Hunk {
                below: Some("def one():".into()),
                old: vec!["    x = 1".into(), "    return x".into()],
                new: vec!["    x = 1".into(), "    return 2".into()],
            },
            Hunk { new: vec!["last".into()], ..Hunk::default() },
        ];
        assert_eq!(
            changes,
            [
                ("a.py", &Change::Lines(vec![first, last])),
                ("b.py", &Change::Write("new\n\n".into())),
                ("c.py", &Change::Removed),
                ("d.py", &Change::Moved),
            ]
        );
        let kept = patch.of(|file| file.path != "a.py" && file.path != "d.py").unwrap();
        assert_eq!(
            kept,
            "*** Begin Patch\n*** Add File: b.py\n+new\n+\n*** Delete File: c.py\n*** End Patch\n"
        );
        assert_eq!(patch.of(|_| false), None);
        for none in [
            "",
            "ls",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n+x\n*** End Patch",
            "*** Begin Patch\n*** Update File: a",
            // What a shell would do behind the end of its words.
            "*** Begin Patch\n*** Delete File: c\nEOF\ntouch x\n*** End Patch",
            "*** Begin Patch\n*** Update File: c\n*** Move to: d\nEOF\ntouch x\n*** End Patch",
            "*** Begin Patch\n*** Delete File: c\n*** Move to: d\n*** End Patch",
        ] {
            assert_eq!(Patch::parse(none), None, "{none:?}");
        }
    }

    #[test]
    fn hunks_are_found_behind_each_other_and_lines_end_as_the_text_has_them() {
        let hunk = |below: Option<&str>, old: &[&str], new: &[&str]| Hunk {
            below: below.map(str::to_owned),
            old: old.iter().map(ToString::to_string).collect(),
            new: new.iter().map(ToString::to_string).collect(),
        };
        for (text, hunks, made) in [
            ("a\nb\na\nb\n", vec![hunk(None, &["b"], &["1"]), hunk(None, &["b"], &["2"])], "a\n1\na\n2\n"),
            ("a\nx\n  b:\nx\n", vec![hunk(Some("b:"), &["x"], &["y"])], "a\nx\n  b:\ny\n"),
            ("a\r\nb\r\n", vec![hunk(None, &["a", "b"], &["1", "2"])], "1\r\n2\r\n"),
            ("a\nb", vec![hunk(None, &["b"], &["c"])], "a\nc"),
            ("a\nb", vec![hunk(None, &["a"], &[])], "b"),
            ("a\nb", vec![hunk(None, &[], &["c"])], "a\nb\nc"),
            ("", vec![hunk(None, &[], &["c"])], "c\n"),
            ("a  \nb\n", vec![hunk(None, &["a", "b"], &["a", "c"])], "a\nc\n"),
        ] {
            assert_eq!(apply(&hunks, text).as_deref(), Ok(made), "{text:?}");
        }
        assert_eq!(apply(&[hunk(None, &["b", "c"], &[])], "a\nb\n"), Err(vec!["b".into(), "c".into()]));
        assert_eq!(apply(&[hunk(Some("nowhere"), &["a"], &[])], "a\n"), Err(vec!["nowhere".into()]));
    }
}
