//! `mcpdiff export`: edits, or a whole conversation, as one patch that `git apply` takes.

use std::collections::BTreeMap;
use std::process::ExitCode;

use hashline_history::{FileId, Found, HunkRef, Store};
use hashline_terminal::{Failure, Screen, inert_line, tell};

use super::arguments::Export;
use super::edit_details::Edits;
use super::git_patch::Change;
use super::messages;
use super::patch_sides::{Part, Sides, Which};
use super::resolve_id::{Book, Named};

/// There is nothing that a patch could say.
const NOTHING: u8 = 1;
/// Something stands against a part of it.
const LEFT_OUT: u8 = 4;

/// Prints a patch.
pub fn run(store: &Store, options: &Export, screen: Screen) -> Result<ExitCode, Failure> {
    let book = Book::open(store)?;
    if options.names.is_empty() {
        return Err(book.name_something("export"));
    }
    let which = match (options.proposed, options.rejected) {
        (true, _) => Which::Proposed,
        (_, true) => Which::Rejected,
        _ => Which::Enabled,
    };
    let mut parts: Vec<(Change, String)> = Vec::new();
    let (mut needed, mut without, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (file, named) in by_file(store, book.all(&options.names)?)? {
        let document = store.file(file).map_err(Failure::broken)?;
        let sides = Sides::of(&document, &named, which);
        match sides.change_in(store.folder()).map(|change| (change.patch(), change)) {
            Some((Ok(part), change)) => parts.push((change, part)),
            _ => left_out.extend(sides.chosen),
        }
        needed.extend(sides.needed);
        without.extend(sides.without);
        left_out.extend(sides.left_out);
    }
    // What takes the name of a removed file would be removed in its place.
    parts.sort_by_key(|(change, _)| !change.removes());
    let patch: String = parts.into_iter().map(|(_, part)| part).collect();
    if patch.is_empty() && left_out.is_empty() {
        tell(&format!("mcpdiff: {}", messages::nothing_to_export(which)));
        return Ok(ExitCode::from(NOTHING));
    }
    screen.print(&if screen.obeys() { inert_lines(&patch) } else { patch })?;
    let say = |hunks: &[HunkRef], words: fn(&[HunkRef]) -> String| {
        if !hunks.is_empty() {
            tell(&format!("mcpdiff: {}", words(hunks)));
        }
    };
    say(&needed, messages::patch_needs);
    say(&without, messages::patch_is_without);
    say(&left_out, messages::left_out_of_patch);
    Ok(ExitCode::from(if left_out.is_empty() { 0 } else { LEFT_OUT }))
}

/// What is named, by file.
fn by_file(store: &Store, named: Vec<Named>) -> Result<BTreeMap<FileId, Vec<Part>>, Failure> {
    let mut files: BTreeMap<FileId, Vec<Part>> = BTreeMap::new();
    let mut edits = Edits::new(store);
    let mut add =
        |found: &Found, number| files.entry(found.file).or_default().push((found.edit.clone(), number));
    for named in named {
        match named {
            Named::Edit(found) => add(&found, None),
            Named::Hunk(found, number) => {
                edits.with_hunk(&found, number)?;
                add(&found, Some(number));
            }
            Named::Conversation(_, found) => found.iter().for_each(|found| add(found, None)),
        }
    }
    Ok(files)
}

/// A patch for a terminal, which is not to obey what stands in it.
fn inert_lines(patch: &str) -> String {
    patch.split_inclusive('\n').map(|line| inert_line(line.trim_end_matches('\n')) + "\n").collect()
}
