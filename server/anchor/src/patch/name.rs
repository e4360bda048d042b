//! File names in the headers of diffs.

/// Names that stand for no file: what people, models and libraries write where they have none.
const PLACEHOLDERS: [&str; 13] = [
    "", "a", "b", "old", "new", "before", "after", "original", "modified", "updated", "current", "file", "-",
];

/// The name in a `--- ` or `+++ ` line or behind another header, without quotes and time; none where it stands for no file.
pub(super) fn name_in(header: &str) -> Option<&str> {
    let name = header.split('\t').next().unwrap_or_default().trim();
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
    (!PLACEHOLDERS.contains(&name)).then_some(name)
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
