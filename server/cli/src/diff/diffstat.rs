//! `mcpdiff show --stat`: which files edits change, and how much, in a line each.

use std::collections::BTreeMap;
use std::path::Path;

use hashline_history::{DocumentName, FileChange, FileId, Status};
use hashline_terminal::{Ink, Screen, columns, end_of, padded};

use super::edit_details::{Edit, Edits, relative};
use super::hunk::{Diff, Kind};
use super::messages::count;
use super::status_table::ink;

/// The least room that a path is given.
const LEAST: usize = 16;

/// What edits do to one file.
#[derive(Default)]
struct Sum {
    /// What it is called, with what it was called if that is another name.
    name: String,
    edits: usize,
    lines: Lines,
    /// How many edits have a status.
    statuses: BTreeMap<&'static str, (Status, usize)>,
}

/// How many lines are put in, and taken out.
#[derive(Clone, Copy, Default)]
struct Lines {
    added: usize,
    removed: usize,
}

/// The files of some edits, by name.
pub fn of(edits: &[(Edit, Option<u32>)], read: &Edits<'_>, folder: &Path, screen: Screen) -> String {
    let mut files: BTreeMap<FileId, Vec<&(Edit, Option<u32>)>> = BTreeMap::new();
    for one in edits {
        files.entry(one.0.found.file).or_default().push(one);
    }
    let mut sums: Vec<Sum> = files.values().map(|edits| Sum::of(edits, read, folder)).collect();
    sums.sort_by(|one, other| one.name.cmp(&other.name));
    let all = Sum {
        edits: sums.iter().map(|sum| sum.edits).sum(),
        lines: Lines {
            added: sums.iter().map(|sum| sum.lines.added).sum(),
            removed: sums.iter().map(|sum| sum.lines.removed).sum(),
        },
        ..Sum::default()
    };
    let columns_of = |text: fn(&Sum) -> String| sums.iter().map(|sum| columns(&text(sum))).max().unwrap_or(0);
    let texts: [fn(&Sum) -> String; 4] = [Sum::edits, Sum::added, Sum::removed, Sum::status];
    let widths = texts.map(columns_of);
    let others: usize = widths.iter().map(|width| width + 2).sum();
    let longest = columns_of(|sum| sum.name.clone());
    let room = screen.width.map_or(longest, |width| width.saturating_sub(others).max(LEAST).min(longest));
    let mut out = String::new();
    for sum in &sums {
        out.push_str(&padded(&end_of(&sum.name, room), room + 2));
        out.push_str(&padded(&sum.edits(), widths[0] + 2));
        let number = |ink, text: String, width: usize| {
            " ".repeat(width - columns(&text)) + &screen.paint(ink, &text) + "  "
        };
        out.push_str(&number(Ink::Added, sum.added(), widths[1]));
        out.push_str(&number(Ink::Removed, sum.removed(), widths[2]));
        out.push_str(&sum.painted_status(screen));
        out.push('\n');
    }
    out.push_str(&format!(
        "{}, {}, {} {}\n",
        count(sums.len(), "file"),
        all.edits(),
        all.added(),
        all.removed()
    ));
    out
}

impl Sum {
    fn of(edits: &[&(Edit, Option<u32>)], read: &Edits<'_>, folder: &Path) -> Self {
        let mut sum = Self { edits: edits.len(), ..Self::default() };
        let name = |name: &DocumentName| relative(name.as_path(), folder);
        let mut names: Vec<String> = Vec::new();
        let mut exists: Option<(bool, bool)> = None;
        for (edit, only) in edits {
            let diff = match only {
                Some(number) => edit.hunk_diff(*number),
                None => edit.diff.clone(),
            };
            for line in diff
                .as_deref()
                .and_then(Diff::parse)
                .iter()
                .flat_map(|diff| &diff.groups)
                .flat_map(|group| &group.lines)
            {
                match line.kind {
                    Kind::Added => sum.lines.added += 1,
                    Kind::Removed => sum.lines.removed += 1,
                    Kind::Context => {}
                }
            }
            // Of a removed file all lines go.
            sum.lines.removed += read.removed(edit).map_or(0, |text| text.lines().count());
            let status = edit.found.status;
            sum.statuses.entry(status.as_str()).or_insert((status, 0)).1 += 1;
            if let Some((from, to)) = edit.moved() {
                names.extend([name(from), name(to)]);
            }
            if let Some(FileChange { exists: Some((was, is)), .. }) = edit.file_change() {
                exists = Some((exists.map_or(*was, |(was, _)| was), *is));
            }
        }
        sum.name = match (names.first(), names.last()) {
            (Some(first), Some(last)) if first != last => format!("{first} -> {last}"),
            _ => edits.last().map_or_else(String::new, |(edit, _)| name(&edit.found.document)),
        };
        sum.name.push_str(match exists {
            Some((false, true)) => " (new)",
            Some((true, false)) => " (removed)",
            _ => "",
        });
        sum
    }

    fn edits(&self) -> String {
        count(self.edits, "edit")
    }

    fn added(&self) -> String {
        format!("+{}", self.lines.added)
    }

    fn removed(&self) -> String {
        format!("-{}", self.lines.removed)
    }

    /// The statuses of its edits, with their numbers where they differ.
    fn parts(&self) -> Vec<(Status, String)> {
        let is_one = self.statuses.len() == 1;
        let words = |status: Status, edits: usize| match is_one {
            true => status.to_string(),
            false => format!("{edits} {status}"),
        };
        self.statuses.values().map(|(status, edits)| (*status, words(*status, *edits))).collect()
    }

    fn status(&self) -> String {
        self.parts().into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
    }

    fn painted_status(&self, screen: Screen) -> String {
        let parts = self.parts().into_iter().map(|(status, text)| screen.paint(ink(status), &text));
        parts.collect::<Vec<_>>().join(", ")
    }
}
