//! The journal (rule W7): what the latest changes of the buffer did to the structure, so that a change which exactly takes one back
//! takes back identities and presence as well.

use std::collections::VecDeque;
use std::sync::Arc;

use hashline_text::{Ending, Text};

use crate::align::align_lines;
use crate::attribution::earlier_text::{Difference, Earlier};
use crate::attribution::fingerprint::{Contents, Print};
use crate::attribution::region::{Region, Regions};
use crate::model::{Held, HunkId, IdRange, Model, Newline, bytes_of_lines};
use crate::shared::Shared;

/// How many changes are kept, and how many bytes they may keep in memory.
const KEPT: usize = 1000;
const BYTES: usize = 8 << 20;
/// How many changes one step of the editor's undo may take back at once.
const DEPTH: usize = 256;
/// Where an undo leads to a text that was never reported: how many texts are looked at at which hunks were switched, and how many of the others.
const NEAREST: (usize, usize) = (16, 64);
/// How many changes of contents may be one entry, and how many parts of a text they may touch.
const TOGETHER: usize = 64;

/// A change in the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalId(u64);

/// How many lines stand in one of two texts and not in the other, by an alignment of them that looks past indentation: a formatter moves
/// no line.
fn distance(left: &Text, right: &Text) -> usize {
    let left: Vec<_> = left.all_lines().map(|line| line.content()).collect();
    let right: Vec<_> = right.all_lines().map(|line| line.content()).collect();
    let left: Vec<&str> = left.iter().map(|line| line.trim()).collect();
    let right: Vec<&str> = right.iter().map(|line| line.trim()).collect();
    left.len() + right.len() - 2 * align_lines(&left, &right).len()
}

/// One thing that a change did. The contents of lines that stay shown are not among them: a line that returns to an earlier
/// content is as it was.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Typed(IdRange),
    Removed(IdRange),
    Regained(IdRange),
    Switched {
        hunk: HunkId,
        on: bool,
        turned: Option<Turned>,
    },
    /// Lines were hidden and came to be shown, and this is how they were. Once hidden again they are so again, whatever
    /// became of them meanwhile.
    Shown {
        ids: IdRange,
        was: Held,
    },
    /// Lines came to be hidden, and this is how they read while they are: the same taken back, or what was changed in them went to lines of
    /// the person's own.
    Hidden {
        ids: IdRange,
        was: Held,
    },
    /// The ending that the last line has or would have.
    Ending {
        was: Ending,
        is: Ending,
    },
    /// What the person said about the newline at the end, before and after.
    Newline {
        was: Newline,
        is: Newline,
    },
}

/// Which switch a switch took back, or made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turned {
    pub origin: JournalId,
    pub undone: bool,
}

impl Step {
    /// Lines went (true) or came back (false).
    pub(crate) fn moved(ids: IdRange, gone: bool) -> Self {
        if gone { Self::Removed(ids) } else { Self::Regained(ids) }
    }

    /// What takes this step of an entry back.
    pub(crate) fn inverse(&self, entry: JournalId) -> Self {
        match self {
            Self::Typed(ids) | Self::Regained(ids) => Self::Removed(*ids),
            Self::Removed(ids) => Self::Regained(*ids),
            Self::Switched { hunk, on, turned } => {
                let undone = !turned.is_some_and(|turned| turned.undone);
                let origin = turned.map_or(entry, |turned| turned.origin);
                Self::Switched { hunk: *hunk, on: !on, turned: Some(Turned { origin, undone }) }
            }
            Self::Shown { ids, was } => Self::Hidden { ids: *ids, was: was.clone() },
            Self::Hidden { ids, was } => Self::Shown { ids: *ids, was: was.clone() },
            Self::Ending { was, is } => Self::Ending { was: *is, is: *was },
            Self::Newline { was, is } => Self::Newline { was: *is, is: *was },
        }
    }
}

/// About how many bytes of hidden lines steps keep from being dropped.
pub(crate) fn pinned_by(model: &Model, steps: &[Step]) -> usize {
    let removed = steps.iter().filter_map(|step| match step {
        Step::Removed(ids) => Some(*ids),
        _ => None,
    });
    model.bytes_of(&removed.collect::<Vec<_>>())
}

/// Which way an editor went in the list of what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It undid something.
    Undo,
    /// It did something again that had been undone.
    Redo,
}

/// A text between changes of contents that are one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Between {
    print: Print,
    /// What it differs by from the text before the first of them.
    contents: Contents,
}

/// One change of the buffer.
#[derive(Clone, Debug)]
struct Entry {
    id: JournalId,
    steps: Vec<Step>,
    /// The text before, told by the text after.
    difference: Difference,
    /// About how many bytes of lines it keeps from being dropped.
    pinned: usize,
    switches: bool,
    /// What the texts between the changes of contents look like that are this one entry.
    between: Vec<Between>,
    /// What the text after them differs by from the one before them.
    contents: Contents,
    /// It took the editor back or on to a text that was so deep.
    turned: Option<(Turn, Depth)>,
}

impl Entry {
    /// About how many bytes it keeps in memory.
    fn bytes(&self) -> usize {
        let held = |step: &Step| match step {
            Step::Shown { ids, was } | Step::Hidden { ids, was } => bytes_of_lines(was.part(0..ids.len)),
            _ => 0,
        };
        size_of::<Kept>()
            + size_of::<Self>()
            + self.steps.capacity() * size_of::<Step>()
            + self.between.capacity() * size_of::<Between>()
            + self.steps.iter().map(held).sum::<usize>()
            + self.difference.bytes()
            + self.pinned
    }
}

/// An entry, and what the text before it looks like from afar.
#[derive(Clone, Debug)]
struct Kept {
    before: Print,
    entry: Arc<Entry>,
}

/// What has happened, the latest last. To take something back is a change like any other: so whatever text comes, if it is one
/// of those before, all that was done since can be taken back.
///
/// Each change of a line's content in the buffer is in an entry: else the texts before could not be told from the present one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    entries: Shared<VecDeque<Kept>>,
    next: u64,
    bytes: usize,
    /// About how many bytes of lines the entries kept that are no longer here.
    let_go: usize,
    /// The print of the buffer.
    pub print: Print,
}

/// How deep in the journal a text is: how many entries have to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// It is the text before the oldest of them.
    Before(usize),
    /// It is a text between the changes that the oldest of them is made of. None of these changes the structure: it is as it was then.
    Between(usize),
}

impl Depth {
    fn entries(self) -> usize {
        let (Self::Before(entries) | Self::Between(entries)) = self;
        entries
    }
}

/// A way back to an earlier text.
pub(crate) struct WayBack {
    /// What takes everything back that was done since: the newest entry first.
    pub entries: Vec<Vec<Step>>,
    /// The present text, told by the earlier one.
    pub difference: Difference,
}

impl Journal {
    pub(crate) fn new(text: &Text) -> Self {
        Self { print: Print::first(text), ..Self::default() }
    }

    /// Adds an entry for a change of a text, which looked so from afar before; `pinned` is how many bytes of lines it keeps in memory.
    pub(crate) fn push(
        &mut self,
        steps: Vec<Step>,
        difference: Difference,
        before: Print,
        pinned: usize,
    ) -> JournalId {
        let id = JournalId(self.next);
        self.next += 1;
        let switches = steps.iter().any(|step| matches!(step, Step::Switched { .. }));
        let (between, contents) = (Vec::new(), Contents::default());
        let entry = Entry { id, steps, difference, pinned, switches, between, contents, turned: None };
        self.add(entry, before);
        id
    }

    fn add(&mut self, entry: Entry, before: Print) {
        self.bytes += entry.bytes();
        self.entries.push_back(Kept { before, entry: Arc::new(entry) });
        while self.entries.len() > KEPT || (self.bytes > BYTES && self.entries.len() > 1) {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.entry.bytes());
            self.let_go += oldest.entry.pinned;
        }
    }

    /// Adds changes of contents alone, which made `new`. They need no steps; but a text that is as before them is to be known again. A few
    /// that follow one another are one entry.
    pub(crate) fn push_contents(&mut self, difference: Difference, before: Print, new: &Text) {
        if difference.len() == 0 && before == self.print {
            return;
        }
        let fits = |last: &Kept| {
            last.entry.steps.is_empty()
                && last.entry.turned.is_none()
                && last.entry.between.len() + 1 < TOGETHER
                && last.entry.difference.len() + difference.len() <= TOGETHER
        };
        let changed =
            |from: Contents| difference.lines(new).fold(from, |all, (line, was, is)| all.and(line, was, &is));
        match self.entries.back().filter(|last| fits(last)).is_some().then(|| self.entries.pop_back()) {
            Some(Some(Kept { before: first, entry })) => {
                self.bytes = self.bytes.saturating_sub(entry.bytes());
                let mut entry = Arc::unwrap_or_clone(entry);
                entry.between.push(Between { print: before, contents: entry.contents });
                entry.contents = changed(entry.contents);
                entry.difference = difference.after(&entry.difference);
                self.add(entry, first);
            }
            _ => {
                let contents = changed(Contents::default());
                self.push(Vec::new(), difference, before, 0);
                if let Some(last) = self.entries.back_mut() {
                    Arc::make_mut(&mut last.entry).contents = contents;
                }
            }
        }
    }

    /// Whether lines that nothing speaks of any more may take a lot of memory. Says so once.
    pub(crate) fn has_let_go(&mut self) -> bool {
        let much = self.let_go > BYTES / 2;
        if much {
            self.let_go = 0;
        }
        much
    }

    /// Goes on with the numbers where another journal is, so that none is given twice.
    pub(crate) fn number_from(&mut self, other: &Self) {
        self.next = self.next.max(other.next);
    }

    /// The hunks whose switches are in the journal, with what it is to take back the newest of each: newest first.
    pub(crate) fn switches(&self) -> Vec<(HunkId, Turned)> {
        let mut known: Vec<bool> = Vec::new();
        let mut found = Vec::new();
        let entries = self.entries.iter().rev().map(|kept| &kept.entry);
        for entry in entries.filter(|entry| entry.switches) {
            for step in &entry.steps {
                let Step::Switched { hunk, .. } = step else { continue };
                if known.len() <= hunk.index() {
                    known.resize(hunk.index() + 1, false);
                }
                if !std::mem::replace(&mut known[hunk.index()], true)
                    && let Step::Switched { turned: Some(turned), .. } = step.inverse(entry.id)
                {
                    found.push((*hunk, turned));
                }
            }
        }
        found
    }

    /// Whether a switch of this hunk or a later one is in the journal.
    pub(crate) fn names_from(&self, hunk: HunkId) -> bool {
        self.switches().iter().any(|(named, ..)| *named >= hunk)
    }

    /// The ids of all lines that the entries speak of, in no order.
    pub(crate) fn ids(&self) -> Vec<IdRange> {
        let ids = |step: &Step| match step {
            Step::Typed(ids) | Step::Removed(ids) | Step::Regained(ids) => Some(*ids),
            Step::Shown { ids, .. } | Step::Hidden { ids, .. } => Some(*ids),
            Step::Switched { .. } | Step::Ending { .. } | Step::Newline { .. } => None,
        };
        self.entries.iter().flat_map(|kept| &kept.entry.steps).filter_map(ids).collect()
    }

    /// Of the texts that an editor can go to this way, as far as the last at which hunks were switched, the one that differs least from a new
    /// one; if it differs less than the present one does. Of equals the next one: what is farther away asks for more to be undone.
    pub(crate) fn nearest(&self, new: &Text, present: &Text, turn: Turn) -> Option<(Text, Print)> {
        let ways = self.ways(turn);
        let switches = |at: &usize| self.entries[*at].entry.switches;
        // Either side of a switch: the next way leads to the text before it.
        let beside = |k: &usize| switches(&ways[*k]) || ways.get(k + 1).is_some_and(switches);
        let (most, others) = NEAREST;
        let last = (0..ways.len()).filter(beside).take(most).last()?;
        let looked_at = (0..=last).filter(|k| *k < others || beside(k)).map(|k| ways[k]);
        let texts = looked_at
            .map(|at| (self.whole_before(at, present), self.entries[at].before))
            .map(|(text, print)| (distance(&text, new), text, print));
        let (least, text, print) = texts.min_by_key(|(distance, ..)| *distance)?;
        (least < distance(present, new)).then_some((text, print))
    }

    /// The text before an entry, with endings of its own.
    fn whole_before(&self, at: usize, present: &Text) -> Text {
        let lines = self.text_before(self.entries.len() - at - 1).contents(present).join("\n");
        Text::from(if self.entries[at].before.newline { lines + "\n" } else { lines })
    }

    /// How many entries have to be taken back so that the text is this one: the fewest. Where the editor says which way it went, that way
    /// first, the nearest text on it, be it between changes that are one entry. Elsewhere such a text comes after all others.
    pub(crate) fn depth_of(
        &self,
        present: &Text,
        text: &Text,
        print: Print,
        turn: Option<Turn>,
    ) -> Option<Depth> {
        let last = self.entries.len();
        let is_it = |depth: &Depth| match *depth {
            Depth::Before(depth) => {
                self.entries[last - depth].before == print
                    && self.text_before(depth - 1).reads_as(present, text)
            }
            Depth::Between(depth) => {
                let at = last - depth;
                let alike = || self.entries[at].entry.between.iter().filter(|between| between.print == print);
                alike().next().is_some_and(|_| {
                    let contents = Contents::of(&self.whole_before(at, present), text);
                    alike().any(|between| contents == Some(between.contents))
                })
            }
        };
        let said = turn.and_then(|turn| {
            let found = self.on_the_way(turn).into_iter().find(is_it)?;
            // What was decided in that text without a change of it is done again, too.
            let again = || {
                let states = self.on_the_way(turn).into_iter().skip_while(|depth| *depth != found);
                states.filter(|depth| matches!(depth, Depth::Before(_))).take_while(is_it).last()
            };
            (turn == Turn::Redo).then(again).flatten().or(Some(found))
        });
        let depths = 1..=last.min(DEPTH);
        said.or_else(|| depths.clone().map(Depth::Before).find(is_it))
            .or_else(|| depths.map(Depth::Between).find(is_it))
    }

    /// The texts that an editor can go to by undoing, or by doing again, the next one first.
    fn on_the_way(&self, turn: Turn) -> Vec<Depth> {
        let last = self.entries.len();
        let stops = |state: usize| {
            // What lies between is passed before the state that the way leads to: undoing goes through the entry behind that one, doing
            // again through the entry that made it.
            let through = match turn {
                Turn::Undo => Some(state),
                Turn::Redo => state.checked_sub(1),
            };
            let between = through.map(|entry| Depth::Between(last - entry));
            between.into_iter().chain([Depth::Before(last - state)])
        };
        self.ways(turn).into_iter().flat_map(stops).filter(|depth| depth.entries() <= DEPTH).collect()
    }

    /// The states that an editor can go to by undoing, or by doing again, the next one first: by the number of the entry that each is
    /// before.
    fn ways(&self, turn: Turn) -> Vec<usize> {
        let (mut undo, mut redo): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for (at, kept) in self.entries.iter().enumerate() {
            let Some((turn, depth)) = kept.entry.turned else {
                undo.push(at);
                redo.clear();
                continue;
            };
            let (from, to) = match turn {
                Turn::Undo => (&mut undo, &mut redo),
                Turn::Redo => (&mut redo, &mut undo),
            };
            to.push(at);
            // What is older than the oldest entry is not known any more.
            let Some(state) = at.checked_sub(depth.entries()) else {
                to.extend(from.drain(..).rev());
                continue;
            };
            while let Some(passed) = from.pop().filter(|passed| *passed != state) {
                to.push(passed);
            }
            // Between changes that are one entry, the text before them is still to be undone, or has been passed.
            match (depth, turn) {
                (Depth::Before(_), _) => {}
                (Depth::Between(_), Turn::Undo) => from.push(state),
                (Depth::Between(_), Turn::Redo) => to.push(state),
            }
        }
        let mut ways = if turn == Turn::Undo { undo } else { redo };
        ways.reverse();
        ways
    }

    /// Notes of the latest entry that the editor went so far by it.
    pub(crate) fn note_turn(&mut self, turn: Turn, depth: Depth) {
        if let Some(kept) = self.entries.back_mut() {
            Arc::make_mut(&mut kept.entry).turned = Some((turn, depth));
        }
    }

    /// What takes the latest entries back, the newest first.
    pub(crate) fn back(&self, depth: Depth) -> Vec<Vec<Step>> {
        let inverse = |kept: &Kept| kept.entry.steps.iter().map(|step| step.inverse(kept.entry.id)).collect();
        self.entries.iter().rev().take(depth.entries()).map(inverse).collect()
    }

    /// The way back from the present text to an earlier one, which is so deep.
    pub(crate) fn way_back(&self, present: &Text, text: &Text, depth: Depth) -> WayBack {
        let entries = depth.entries();
        let before = self.text_before(entries - 1);
        let difference = match depth {
            Depth::Before(_) => before.back(present, text.line_count()),
            Depth::Between(_) => {
                let first = self.whole_before(self.entries.len() - entries, present);
                let mut regions = Regions::default();
                regions.replace_all(&mut first.clone(), text.clone());
                let regions = regions.trimmed(&first, text);
                let on = Difference::of(&first, text, regions.iter().map(Region::lines));
                on.after(&before.back(present, first.line_count()))
            }
        };
        WayBack { entries: self.back(depth), difference }
    }

    /// The text before the newest entry but so many, told by the present one.
    fn text_before(&self, at: usize) -> Earlier<'_> {
        let mut since =
            self.entries.iter().skip(self.entries.len() - at - 1).map(|kept| &kept.entry.difference);
        let first = since.next().map(Difference::earlier).unwrap_or_default();
        since.fold(first, Earlier::seen_from)
    }

    /// The contents of the lines of the texts before, the latest first.
    pub(crate) fn texts_before(&self, present: &Text) -> Vec<Vec<String>> {
        (0..self.entries.len()).map(|at| self.text_before(at).contents(present)).collect()
    }

    /// About how many bytes the entries keep in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LineId;

    /// A journal of a text of which one line after the other was replaced, and the text as it is.
    fn journal(texts: &[&str]) -> (Journal, Text) {
        let mut texts = texts.iter().map(|text| Text::from(*text));
        let mut text = texts.next().unwrap_or_default();
        let mut journal = Journal::new(&text);
        for (line, new) in texts.enumerate() {
            let regions = || [(line..line + 1, line..line + 1)].into_iter();
            let (before, steps) =
                (journal.print, vec![Step::Typed(IdRange { first: LineId::from_number(0), len: 1 })]);
            journal.print = before.after(&text, &new, regions());
            journal.push(steps, Difference::of(&text, &new, regions()), before, 0);
            text = new;
        }
        (journal, text)
    }

    #[test]
    fn a_text_that_only_looks_like_an_earlier_one_is_not_taken_for_it() {
        let texts = ["a\nb\nc\n", "A\nb\nc\n", "A\nB\nc\n", "A\nB\nC\n"];
        let (journal, present) = journal(&texts);
        for (at, text) in texts.iter().take(3).enumerate() {
            let newest_first = 2 - at;
            let print = journal.entries[at].before;
            let way = journal.depth_of(&present, &Text::from(*text), print, None);
            assert_eq!(way, Some(Depth::Before(newest_first + 1)));
            for other in ["a\nb\nC\n", "A\nB\nC\n", "A\nB\nc\n\n", "A\nB\n", ""] {
                assert!(journal.depth_of(&present, &Text::from(other), print, None).is_none(), "{other:?}");
            }
        }
    }

    #[test]
    fn a_text_between_changes_that_are_one_entry_is_known_and_none_that_looks_like_it() {
        let texts = ["a\nb\na\nc\na\nd\n", "a\nb\na\nc\na\nD\n", "a\nb\na\nc\na\nDD\n"].map(Text::from);
        let mut journal = Journal::new(&texts[0]);
        for (old, new) in texts.iter().zip(&texts[1..]) {
            let regions = || [(5..6, 5..6)].into_iter();
            let before = journal.print;
            journal.print = before.after(old, new, regions());
            journal.push_contents(Difference::of(old, new, regions()), before, new);
        }
        assert_eq!(journal.entries.len(), 1);
        let depth = |text: &Text| {
            let print = journal.print.after(&texts[2], text, [(0..6, 0..6)].into_iter());
            journal.depth_of(&texts[2], text, print, None)
        };
        assert_eq!(depth(&texts[0]), Some(Depth::Before(1)));
        assert_eq!(depth(&texts[1]), Some(Depth::Between(1)));
        // The same neighbours in another order.
        assert_eq!(depth(&Text::from("a\nc\na\nb\na\nD\n")), None);
        assert_eq!(depth(&Text::from("a\nb\na\nc\na\nd!\n")), None);
    }

    #[test]
    fn keys_in_one_line_are_so_many_to_an_entry_and_each_text_is_known() {
        let text = |keys: usize| Text::from(format!("{}\n", "x".repeat(keys)));
        let mut journal = Journal::new(&text(0));
        for keys in 0..3 * TOGETHER {
            let (old, new) = (text(keys), text(keys + 1));
            let before = journal.print;
            journal.print = before.after(&old, &new, [(0..1, 0..1)].into_iter());
            journal.push_contents(Difference::of(&old, &new, [(0..1, 0..1)]), before, &new);
        }
        assert_eq!(journal.entries.len(), 3);
        let present = text(3 * TOGETHER);
        for keys in 0..3 * TOGETHER {
            let print = journal.print.after(&present, &text(keys), [(0..1, 0..1)].into_iter());
            assert!(journal.depth_of(&present, &text(keys), print, None).is_some(), "{keys}");
        }
    }

    #[test]
    fn the_way_back_leads_forth_again() {
        let (journal, present) = journal(&["a\nb\nc\n", "A\nb\nc\n", "A\nB\nc\n", "A\nB\nC\n"]);
        let first = Text::from("a\nb\nc\n");
        let depth = journal.depth_of(&present, &first, journal.entries[0].before, None);
        let depth = depth.unwrap_or(Depth::Before(1));
        let difference = journal.way_back(&present, &first, depth).difference;
        assert_eq!(difference.earlier().contents(&first), ["A", "B", "C"]);
    }

    #[test]
    fn what_is_let_go_of_makes_room() {
        let mut journal = Journal::default();
        let line = "x".repeat(1 << 20);
        for n in 0..40 {
            let (old, new) = (Text::from(format!("{line}{n}")), Text::from(format!("{n}")));
            journal.push(Vec::new(), Difference::of(&old, &new, [(0..1, 0..1)]), Print::default(), 1 << 20);
        }
        assert!(journal.bytes <= BYTES && journal.entries.len() == 3, "{}", journal.entries.len());
        assert_eq!(journal.bytes, journal.entries.iter().map(|kept| kept.entry.bytes()).sum::<usize>());
        assert!(journal.has_let_go() && !journal.has_let_go());
    }
}
