//! What the command says why something was not decided, taken apart.

use std::collections::BTreeSet;
use std::path::Path;

use super::decision::Against;
use super::oracle::{Oracle, Part};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One hunk stands against another of the same file.
    Of(Against),
    /// What is named takes others along.
    Along,
    /// Another file has the name.
    Taken,
    /// The decision gives the name to two files.
    Shared,
    /// It is decided so already.
    Already,
    /// Something has the name that an editor is to give a file.
    There,
}

/// The phrases by which refusals are known.
const PHRASES: [(&str, Kind); 24] = [
    (" already. Nothing was changed.", Kind::Already),
    ("This would also decide about ", Kind::Along),
    ("It builds on ", Kind::Of(Against::BuildsOn)),
    ("It is built on by ", Kind::Of(Against::BuiltOnBy)),
    (" changed the file since it was made. ", Kind::Of(Against::Since)),
    (" first, or this one. ", Kind::Of(Against::UnderLater)),
    (" removed, made or renamed the file after it. ", Kind::Of(Against::After)),
    (" removed, made or renamed the file before it. ", Kind::Of(Against::Before)),
    ("The file is no longer as it was then: ", Kind::Of(Against::NoWay)),
    (" would be in the file as well, ", Kind::Of(Against::Beside)),
    (" made the file anew, and the lines of both ", Kind::Of(Against::MadeAnew)),
    ("The file is not there: ", Kind::Of(Against::NoFile)),
    (" changes the same place, and only one of the two can be in the text. ", Kind::Of(Against::SamePlace)),
    (" is another file now: ", Kind::Taken),
    ("There is another file called ", Kind::Taken),
    (" is a folder now", Kind::Taken),
    (" is a file now, and no folder for ", Kind::Taken),
    (" would be the name of two files: ", Kind::Shared),
    (" cannot both be there, ", Kind::Shared),
    (" is there already. Rename or remove it first, ", Kind::There),
    (" is a folder and not a regular file, ", Kind::There),
    ("The file has changes that are not saved. ", Kind::Of(Against::NotSaved)),
    ("Lines of the file would be changed before, ", Kind::Of(Against::LinesFirst)),
    ("The file is open in the editor. ", Kind::Of(Against::Open)),
];

/// A sentence that says why something was not decided.
#[derive(Debug)]
pub struct Refusal {
    pub kind: Kind,
    /// The edit that it is about, and its hunk where one is named.
    pub about: Option<(usize, Option<usize>)>,
    /// The others that it names.
    pub others: BTreeSet<Part>,
    /// The names of files in the reason.
    pub names: BTreeSet<String>,
    /// It is said how the others are decided about as well.
    pub tells_of_others: bool,
    /// The hunk whose rejection is said to help.
    pub offers: Option<Part>,
}

/// The refusals in what the command said; an error is a line that is none.
pub fn refusals(said: &str, oracle: &Oracle, folder: &Path) -> Result<Vec<Refusal>, String> {
    said.lines().map(|line| refusal(line, oracle, folder).ok_or_else(|| line.to_owned())).collect()
}

fn refusal(line: &str, oracle: &Oracle, folder: &Path) -> Option<Refusal> {
    let line = line.strip_prefix("mcpdiff: ")?;
    let (about, reason) = [" was not accepted. ", " was not rejected. "]
        .into_iter()
        .find_map(|not| line.split_once(not))
        .unzip();
    let reason = reason.unwrap_or(line);
    let kind = kind_of(reason)?;
    let about = about.and_then(|about| hunk(about.split_whitespace().next()?, oracle));
    let words = || reason.split_whitespace().map(|word| word.trim_matches(|letter| ",.:`".contains(letter)));
    let others = words().filter_map(|word| hunk(word, oracle));
    let others = others.map(|(edit, hunk)| (edit, hunk.unwrap_or(1))).collect();
    let name = |word: &str| Some(Path::new(word).strip_prefix(folder).ok()?.to_str()?.to_owned());
    let names = words().filter_map(name).collect();
    let offers = reason.split_once("`mcpdiff reject ").and_then(|(_, rest)| rest.split_once('`'));
    let offers = offers.and_then(|(name, _)| oracle.named(name));
    let tells_of_others = reason.contains("--with-others");
    Some(Refusal { kind, about, others, names, tells_of_others, offers })
}

fn kind_of(reason: &str) -> Option<Kind> {
    // Where several stand there the first phrase is what tells them apart, and each is as good at the end.
    let reason = format!("{reason} ");
    let is_later = reason.contains(" removed, made or renamed the file after it. ");
    let fits = |(phrase, kind): &&(&str, Kind)| match kind {
        Kind::Of(Against::UnderLater) => is_later && reason.contains(phrase),
        _ => reason.contains(phrase),
    };
    PHRASES.iter().find(fits).map(|(_, kind)| *kind)
}

/// The edit that the short form of its name means, and its hunk where that is named.
fn hunk(word: &str, oracle: &Oracle) -> Option<(usize, Option<usize>)> {
    let (short, number) = match word.split_once(':') {
        Some((short, number)) => (short, Some(number.parse().ok()?)),
        None => (word, None),
    };
    let edit = (0..oracle.edits.len()).find(|edit| oracle.short(*edit) == short)?;
    Some((edit, number))
}
