//! File names in the headers of diffs.

use std::borrow::Cow;

/// Names that stand for no file: what people, models and libraries write where they have none.
const PLACEHOLDERS: [&str; 13] = [
    "", "a", "b", "old", "new", "before", "after", "original", "modified", "updated", "current", "file", "-",
];

/// The name in a `--- ` or `+++ ` line or behind another header, without quotes and time; none where it stands for no file.
pub(super) fn name_in(header: &str) -> Option<Cow<'_, str>> {
    let name = header.split('\t').next().unwrap_or_default().trim();
    let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    let name = quoted.map_or(Cow::Borrowed(name), unquoted);
    (!PLACEHOLDERS.contains(&&*name)).then_some(name)
}

/// A name without the escapes that git puts into its quotes, as near to it as text can come.
fn unquoted(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return name.into();
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', behind @ ..] => {
                bytes.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
                behind
            }
            [b'\\', b't', behind @ ..] => {
                bytes.push(b'\t');
                behind
            }
            [b'\\', b'n', behind @ ..] => {
                bytes.push(b'\n');
                behind
            }
            [b'\\', letter @ (b'"' | b'\\'), behind @ ..] | [letter, behind @ ..] => {
                bytes.push(*letter);
                behind
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Whether a header says that there is no file on this side.
pub(super) fn is_nothing(name: &str) -> bool {
    matches!(name, "/dev/null" | "NUL")
}

/// Whether a name may be that of the file that was asked for: the one is the other's path, or its end.
pub(super) fn names(name: &str, file: &str) -> bool {
    let parts = |path| {
        str::split(path, ['/', '\\']).filter(|part| !matches!(*part, "" | ".")).rev().collect::<Vec<_>>()
    };
    let (name, file) = (parts(name), parts(file));
    let ends = |name: &[&str]| {
        !name.is_empty() && !file.is_empty() && name.iter().zip(&file).all(|(name, file)| name == file)
    };
    let prefixed = matches!(name.last(), Some(&("a" | "b" | "c" | "i" | "o" | "w")));
    ends(&name) || prefixed && ends(&name[..name.len() - 1])
}

/// Whether the old name is the new one of a copy that was kept aside, such as `name.orig`.
pub(super) fn is_backup(old: &str, file: &str) -> bool {
    [".orig", ".old", ".bak", "~"].iter().any(|end| old.strip_suffix(end).is_some_and(|old| names(old, file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_as_git_writes_them() {
        for (header, name) in [
            (" a/src/x.rs\t2026-01-01", "a/src/x.rs"),
            (" \"a/b c.txt\"", "a/b c.txt"),
            (r#" "a/\303\251\"\\\t\n.txt""#, "a/é\"\\\t\n.txt"),
            (r#" "a/\377.txt""#, "a/\u{fffd}.txt"),
            (r#" "C:\dir\x.txt""#, "C:\\dir\\x.txt"),
        ] {
            assert_eq!(name_in(header).as_deref(), Some(name), "{header}");
        }
        for header in ["", " \"\"", " a", " old\t"] {
            assert_eq!(name_in(header), None, "{header:?}");
        }
    }
}
