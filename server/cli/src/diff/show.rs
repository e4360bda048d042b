//! `mcpdiff show`: edits with their diffs.

use std::process::ExitCode;

use hashline_history::{Decision, DocumentName, Found, HunkRef, HunkState, Store};
use hashline_terminal::{Failure, Ink, Screen, inert, inert_line};
use serde_json::json;

use super::arguments::Show;
use super::diffstat;
use super::edit_details::{Edit, Edits, relative};
use super::hunk::{Diff, Kind, Line};
use super::hunk_status::Standing;
use super::local_time::Clock;
use super::messages;
use super::resolve_id::{Book, Named};
use super::status_table::ink;

/// Shows edits.
pub fn run(store: &Store, options: &Show, screen: Screen) -> Result<ExitCode, Failure> {
    let book = Book::open(store)?;
    if options.names.is_empty() {
        return Err(book.name_something("show"));
    }
    let mut edits = Edits::new(store);
    let mut all: Vec<(Edit, Option<u32>)> = Vec::new();
    for named in book.all(&options.names)? {
        match named {
            Named::Edit(found) => all.push((edits.read(&found)?, None)),
            Named::Hunk(found, number) => all.push((edits.with_hunk(&found, number)?, Some(number))),
            Named::Conversation(_, found) => {
                for found in &found {
                    all.push((edits.read(found)?, None));
                }
            }
        }
    }
    if options.json {
        let mut json = |edit: &Edit, only| edit.json(only, &edits.stands(edit));
        let edits: Vec<_> = all.iter().map(|(edit, only)| json(edit, *only)).collect();
        screen.print_json(&json!({ "edits": edits }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.stat {
        screen.print(&diffstat::of(&all, &edits, store.folder(), screen))?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = if options.raw { Lines::AsTheyAre } else { Lines::WrittenOut };
    let page = Page { store, clock: Clock::of_this_machine(), screen, lines };
    let shown: Vec<String> = all.iter().map(|(edit, only)| page.edit(edit, *only, &mut edits)).collect();
    screen.print(&shown.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

impl Edits<'_> {
    /// Reads an edit that must have a hunk of this number, as far as its hunks are known.
    pub fn with_hunk(&mut self, found: &Found, number: u32) -> Result<Edit, Failure> {
        let edit = self.read(found)?;
        let hunks = edit.hunks();
        if edit.state.is_ok() && !hunks.iter().any(|hunk| hunk.number == number) {
            return Err(Failure::broken(messages::no_such_hunk(found, number, hunks.len())));
        }
        Ok(edit)
    }
}

/// How edits look.
pub struct Page<'a> {
    pub store: &'a Store,
    pub clock: Clock,
    pub screen: Screen,
    pub lines: Lines,
}

/// How the lines of files look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Without power over whatever shows them.
    WrittenOut,
    /// Byte for byte.
    AsTheyAre,
}

impl Page<'_> {
    /// An edit, or one hunk of it: a header, and the diff.
    pub fn edit(&self, edit: &Edit, only: Option<u32>, edits: &mut Edits<'_>) -> String {
        let mut stands = edits.stands(edit);
        stands.retain(|standing| only.is_none_or(|only| standing.number == only));
        let mut out = self.header(edit, only, &stands);
        out.push_str(&match only {
            Some(number) => self.hunk(edit, number, true, edits),
            None => self.diff(edit, edits),
        });
        for standing in &stands {
            out.push_str(&self.together(standing));
        }
        out
    }

    /// What hunks come to that are decided as one.
    fn together(&self, standing: &Standing) -> String {
        let Some((removed, proposed)) = &standing.together else { return String::new() };
        let mut out = format!("\n{}\n", messages::together(&standing.one_with));
        let lines = [(Ink::Removed, '-', removed), (Ink::Added, '+', proposed)];
        for (ink, sign, line) in
            lines.into_iter().flat_map(|(ink, sign, lines)| lines.iter().map(move |line| (ink, sign, line)))
        {
            out.push_str(&self.screen.paint(ink, &format!("{sign}{}", self.shown(line))));
            out.push('\n');
        }
        out
    }

    fn header(&self, edit: &Edit, only: Option<u32>, stands: &[Standing]) -> String {
        let Edit { found, state, .. } = edit;
        let screen = self.screen;
        let title = match only {
            Some(number) => format!("edit {}, hunk {number} of {}", found.edit, edit.hunks().len()),
            None => format!("edit {}", found.edit),
        };
        let status = screen.paint(ink(found.status), found.status.as_str());
        let path = relative(found.document.as_path(), self.store.folder());
        let mut out = format!("{}  {status}\n", screen.paint(Ink::Heading, &title));
        let mut row = |name: &str, value: &str| {
            out.push_str(&screen.paint(Ink::Faint, &format!("{name:<13}")));
            out.push_str(value);
            out.push('\n');
        };
        row("File", &path);
        match state {
            Ok(state) => {
                row("Time", &self.clock.long(&state.time));
                row("Agent", &format!("{}, {}", state.made.agent, inert(&state.made.tool)));
                if let Some(reason) = &state.made.reason {
                    row("Why", reason);
                }
            }
            Err(error) => row("Problem", &inert(&messages::capital(error))),
        }
        row("Conversation", &inert(found.conversation.as_str()));
        for line in decisions(edit.hunks(), only) {
            row("Decision", &line);
        }
        for line in by_hunk(stands, |standing| standing.words.clone()) {
            row("State", &line);
        }
        let told =
            |hunks: &[HunkRef], words: fn(&[HunkRef]) -> String| (!hunks.is_empty()).then(|| words(hunks));
        let others = [
            by_hunk(stands, |standing| told(&standing.one_with, messages::one_with)),
            by_hunk(stands, |standing| told(&standing.builds_on, messages::builds_on)),
            by_hunk(stands, |standing| told(&standing.under, messages::under)),
        ];
        for line in others.iter().flatten() {
            row("With others", line);
        }
        out.push('\n');
        out
    }

    /// The whole diff, with the numbers of the hunks behind each place.
    fn diff(&self, edit: &Edit, edits: &Edits<'_>) -> String {
        let mut out = self.of_file(edit, edits);
        let Some(text) = &edit.diff else { return out };
        let Some(diff) = Diff::parse(text) else {
            // Somebody else wrote it. It is shown as it is.
            out.push_str(&self.lines(text));
            return out;
        };
        let first = edit.numbered().map(|(_, first)| first);
        let numbers = |changes: Option<(usize, usize)>| {
            let number = |change: usize| u32::try_from(change).ok().map(|change| change + first.unwrap_or(0));
            let (from, to) = changes.filter(|_| first.is_some())?;
            let (from, to) = (number(from)?, number(to)?);
            Some(if from == to { format!(" hunk {from}") } else { format!(" hunks {from}-{to}") })
        };
        self.write(&mut out, &diff, |group| numbers(group.changes()).unwrap_or_default());
        out
    }

    /// One hunk, below the names of its file or without them.
    pub fn hunk(&self, edit: &Edit, number: u32, names: bool, edits: &Edits<'_>) -> String {
        if number == 1 && edit.file_change().is_some() {
            return self.of_file(edit, edits);
        }
        let text = edit.hunk_diff(number);
        match text.as_deref().and_then(Diff::parse) {
            Some(mut diff) => {
                let mut out = String::new();
                if !names {
                    diff.head.clear();
                }
                self.write(&mut out, &diff, |_| format!(" hunk {number}"));
                out
            }
            // One that cannot be told from its neighbours.
            None => self.diff(edit, edits),
        }
    }

    /// What the edit does to its file besides its lines.
    fn of_file(&self, edit: &Edit, edits: &Edits<'_>) -> String {
        let name = |name: &DocumentName| relative(name.as_path(), self.store.folder());
        let Some(change) = edit.file_change() else {
            let nothing = edit.diff.is_none() && edit.state.is_ok();
            return if nothing { "It changes no lines.\n".to_owned() } else { String::new() };
        };
        let mut words = format!("hunk 1: {}", messages::file_hunk(change));
        if let Some((from, to)) = edit.moved() {
            words.push_str(&format!("\nrename from {}\nrename to {}", name(from), name(to)));
        }
        let mut out = self.screen.paint(Ink::Heading, &words) + "\n";
        if let Some(text) = edits.removed(edit).filter(|text| !text.is_empty()) {
            let diff = removal(&name(&edit.found.document), &text);
            if let Some(diff) = Diff::parse(&diff) {
                self.write(&mut out, &diff, |_| " hunk 1".to_owned());
            }
        }
        out
    }

    fn write(&self, out: &mut String, diff: &Diff<'_>, behind: impl Fn(&super::hunk::Group<'_>) -> String) {
        // Where every line ends in a carriage return it says nothing.
        let all = || diff.groups.iter().flat_map(|group| &group.lines);
        let returns = self.lines == Lines::WrittenOut && all().all(|line| line.whole.ends_with('\r'));
        let shown = |text: &str| self.shown(if returns { text.trim_end_matches('\r') } else { text });
        for line in &diff.head {
            out.push_str(&self.screen.paint(Ink::Heading, &self.shown(line)));
            out.push('\n');
        }
        for group in &diff.groups {
            out.push_str(&self.screen.paint(Ink::Place, &group.place()));
            out.push_str(&self.screen.paint(Ink::Faint, &behind(group)));
            out.push('\n');
            for line in &group.lines {
                out.push_str(&self.painted(line, &shown(line.whole)));
                out.push('\n');
                if let Some(behind) = line.behind() {
                    out.push_str(&self.screen.paint(Ink::Faint, behind));
                    out.push('\n');
                }
            }
        }
    }

    fn painted(&self, line: &Line<'_>, text: &str) -> String {
        match line.kind {
            Kind::Context => text.to_owned(),
            Kind::Removed => self.screen.paint(Ink::Removed, text),
            Kind::Added => self.screen.paint(Ink::Added, text),
        }
    }

    fn lines(&self, text: &str) -> String {
        text.split_inclusive('\n').map(|line| self.shown(line.trim_end_matches('\n')) + "\n").collect()
    }

    fn shown(&self, text: &str) -> String {
        match self.lines {
            Lines::WrittenOut => inert_line(text),
            Lines::AsTheyAre => text.to_owned(),
        }
    }
}

/// The diff that removes a file.
fn removal(name: &str, text: &str) -> String {
    let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    let count = if lines.len() == 1 { "1".to_owned() } else { format!("1,{}", lines.len()) };
    let mut diff = format!("--- a/{name}\n+++ /dev/null\n@@ -{count} +0,0 @@\n");
    for line in lines {
        diff.push('-');
        diff.push_str(line);
        diff.push('\n');
    }
    if !text.ends_with('\n') {
        diff.push_str("\\ No newline at end of file\n");
    }
    diff
}

/// What there is to say of hunks: at once where it is the same of all, else by hunk.
fn by_hunk(stands: &[Standing], said: impl Fn(&Standing) -> Option<String>) -> Vec<String> {
    let all: Vec<(u32, Option<String>)> =
        stands.iter().map(|standing| (standing.number, said(standing))).collect();
    match all.first() {
        Some((_, first)) if all.iter().all(|(_, one)| one == first) => first.clone().into_iter().collect(),
        _ => {
            all.iter().filter_map(|(number, one)| Some(format!("hunk {number}: {}", one.as_ref()?))).collect()
        }
    }
}

/// What was decided about hunks, and why.
fn decisions(hunks: &[HunkState], only: Option<u32>) -> Vec<String> {
    let words = |hunk: &HunkState| {
        let reason = hunk.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        format!("{}{reason}", hunk.decision.as_str())
    };
    let hunks: Vec<&HunkState> =
        hunks.iter().filter(|hunk| only.is_none_or(|only| hunk.number == only)).collect();
    let same = hunks.windows(2).all(|two| words(two[0]) == words(two[1]));
    let said = |hunk: &&HunkState| hunk.decision != Decision::Undecided || hunk.reason.is_some();
    match hunks.first() {
        Some(first) if same => {
            // The status says it already.
            if said(first)
                && (first.reason.is_some() || first.decision == Decision::Withdrawn || only.is_some())
            {
                vec![words(first)]
            } else {
                Vec::new()
            }
        }
        _ => hunks.iter().map(|hunk| format!("hunk {} {}", hunk.number, words(hunk))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use hashline_history::Reason;

    use super::*;

    #[test]
    fn decisions_are_told_where_the_status_does_not_say_them() {
        let hunk = |number, decision, reason: Option<&str>| HunkState {
            number,
            decision,
            reason: reason.and_then(Reason::of),
            ..HunkState::default()
        };
        use Decision::{Accepted, Rejected, Undecided, Withdrawn};
        let told = |hunks: &[HunkState], only| decisions(hunks, only);
        let none: [&str; 0] = [];
        assert_eq!(told(&[], None), none);
        assert_eq!(told(&[hunk(1, Accepted, None)], None), none);
        assert_eq!(told(&[hunk(1, Rejected, Some("no\n\x1b"))], None), ["rejected: no"]);
        assert_eq!(told(&[hunk(1, Withdrawn, None), hunk(2, Withdrawn, None)], None), ["withdrawn"]);
        let mixed = [hunk(1, Accepted, None), hunk(2, Rejected, Some("long")), hunk(3, Undecided, None)];
        assert_eq!(told(&mixed, None), ["hunk 1 accepted", "hunk 2 rejected: long", "hunk 3 undecided"]);
        assert_eq!(told(&mixed, Some(2)), ["rejected: long"]);
        assert_eq!(told(&mixed, Some(3)), none);
    }
}
