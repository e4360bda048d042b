//! From a new text of the editor to lines (W5, W6, W9): which of them are the ones that were there, which hunks came or went with
//! the change, and what the person typed.

use std::borrow::Cow;

use hashline_text::{Line, OwnedLine, Text};

use crate::align::align;
use crate::hunk::HunkId;
use crate::journal::{JournalId, Print, Step};
use crate::line::{IdRange, push_range};
use crate::recognise::Candidate;
use crate::region::{Region, Regions};
use crate::run::Run;
use crate::weave::Weave;

/// What the editor says of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoMark {
    /// The editor undid something.
    Undo,
    /// The editor did something again that had been undone.
    Redo,
}

/// How it came that a hunk was switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was asked for, under this number.
    Asked(u64),
    /// A switch was undone in the editor.
    Undone(JournalId),
    /// An undone switch was made again in the editor.
    Redone(JournalId),
    /// The text shows it exactly, and nobody had asked.
    Seen,
}

/// A hunk that the new text has switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    /// The hunk.
    pub hunk: HunkId,
    /// Whether it is in the text now.
    pub on: bool,
    /// Why.
    pub how: How,
}

/// What a new text of the editor meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The hunks that came into the text or left it.
    pub switched: Vec<Switched>,
    /// The change in the journal, where it did more than change lines in place.
    pub entry: Option<JournalId>,
    /// Something that was asked for, or is in the journal, seems to be under way but not complete: the next
    /// notification should be judged together with this one.
    pub half_shown: bool,
    /// Lines that neither a hunk nor a line that was there explains: what the person typed.
    pub typed_lines: usize,
}

/// A line of the rebuilt stretch.
struct Item {
    run: usize,
    at: usize,
    fate: Fate,
}

#[derive(Clone)]
enum Fate {
    /// As it is, hidden or shown.
    Same,
    /// Shown, with this line of the new text as its content.
    Shows(usize),
    /// Removed by the person now.
    Removed,
    /// Removed by the person before, and there again.
    Regained(usize),
}

impl Weave {
    /// Takes over the editor's new text. `regions` are the lines that the notification touched, `asked` what was
    /// sent to the editor or offered to it, `mark` what the editor itself says.
    ///
    /// Never fails: whatever no hunk explains is typing.
    pub fn typed(
        &mut self,
        new: &Text,
        regions: &Regions,
        asked: &[Candidate],
        mark: Option<UndoMark>,
    ) -> Judgement {
        let before = self.print();
        let old = self.buffer.clone();
        let regions = regions.trimmed(&old, new);
        let after = before.after(&old, new, regions.iter().map(|r| (r.old.clone(), r.new.clone())));
        self.journal.print = Some(after);
        if self.types_in_place(&regions) && before.newline == after.newline {
            self.buffer = new.clone();
            self.touch();
            return Judgement { typed_lines: regions.len(), ..Judgement::default() };
        }
        if before != after
            && let Some(judgement) = self.turn_back(new, after, mark)
        {
            return judgement;
        }
        let (regions, kept, half_shown) = self.recognise(regions, new, asked, mark);
        let mut steps = Vec::new();
        let mut switched = Vec::new();
        for (candidate, hunks) in &kept {
            for (hunk, on) in hunks {
                steps.push(Step::Switched { hunk: *hunk, on: *on });
                switched.push(Switched { hunk: *hunk, on: *on, how: candidate.how });
            }
            steps.extend(candidate.plan.drop.iter().map(|ids| Step::Removed(*ids)));
            steps.extend(candidate.plan.revive.iter().map(|ids| Step::Regained(*ids)));
            self.set(&candidate.plan);
        }
        let mut typed_lines = 0;
        for region in regions.iter().rev() {
            typed_lines += self.rebuild(region, new, &mut steps);
        }
        self.take_newline(new, &mut steps);
        self.buffer = new.clone();
        self.show();
        self.touch();
        if !steps.is_empty() {
            self.tidy();
        }
        let entry = (!steps.is_empty()).then(|| self.journal.push(steps, before, after));
        Judgement { switched, entry, half_shown, typed_lines }
    }

    fn print(&mut self) -> Print {
        let buffer = &self.buffer;
        *self.journal.print.get_or_insert_with(|| Print::of(buffer))
    }

    /// Sets which runs stand in the buffer's rope to those that should.
    fn show(&mut self) {
        let hunks = &self.hunks;
        for run in &mut self.runs {
            run.shown = run.visible(|hunk| hunks[hunk.index()].in_buffer);
        }
        debug_assert_eq!(
            self.runs.iter().filter(|run| run.shown).map(Run::len).sum::<usize>(),
            self.buffer.line_count(),
            "the weave shows the lines that the buffer has"
        );
    }

    /// Whether each region is one line that stays one line, well inside a plain run: then only contents have changed,
    /// and they lie in the rope.
    fn types_in_place(&self, regions: &[Region]) -> bool {
        regions.iter().all(|region| {
            if region.old.len() != 1 || region.new.len() != 1 {
                return false;
            }
            let mut at = 0;
            for (index, run) in self.runs.iter().enumerate().filter(|(_, run)| run.shown) {
                if region.old.start < at + run.len() {
                    let inner = region.old.start > at && region.old.start + 1 < at + run.len();
                    let alone = |index: Option<usize>| {
                        index.and_then(|index| self.runs.get(index)).is_none_or(Run::is_plain)
                    };
                    return run.is_plain()
                        && (inner || (alone(index.checked_sub(1)) && alone(Some(index + 1))));
                }
                at += run.len();
            }
            false
        })
    }

    /// Takes back (or does again) what the journal says, where the new text is exactly that.
    fn turn_back(&mut self, new: &Text, after: Print, mark: Option<UndoMark>) -> Option<Judgement> {
        let found = self.journal.find(after, mark == Some(UndoMark::Redo))?;
        let mut next = self.clone();
        let mut switched = Vec::new();
        for entry in &found.entries {
            let steps: Box<dyn Iterator<Item = &Step>> =
                if found.redo { Box::new(entry.steps.iter()) } else { Box::new(entry.steps.iter().rev()) };
            for step in steps {
                next.replay(step, !found.redo);
                if let Step::Switched { hunk, on } = step {
                    let how = if found.redo { How::Redone(entry.id) } else { How::Undone(entry.id) };
                    switched.push(Switched { hunk: *hunk, on: *on == found.redo, how });
                }
            }
        }
        next.check().ok()?;
        let hunks = &next.hunks;
        let shown = |run: &Run| run.visible(|hunk| hunks[hunk.index()].in_buffer);
        let lines: usize = next.runs.iter().filter(|run| shown(run)).map(Run::len).sum();
        if lines != new.line_count() {
            return None;
        }
        next.buffer = new.clone();
        next.show();
        next.read_contents();
        next.tidy();
        next.touch();
        next.journal.turn(&found);
        *self = next;
        Some(Judgement { switched, ..Judgement::default() })
    }

    /// Takes the contents of all shown lines that have their own copy from the buffer.
    fn read_contents(&mut self) {
        let default = self.buffer.ending_for_insert(Line(self.buffer.line_count()));
        let mut at = 0;
        for run in self.runs.iter_mut().filter(|run| run.shown) {
            let len = run.len();
            if run.held.is_some() {
                let lines = self.buffer.lines(at..at + len);
                run.held = Some(lines.map(|line| line.to_owned_line(default)).collect());
            }
            at += len;
        }
    }

    /// Notes whether the person's text ends with a newline, where it says so.
    fn take_newline(&mut self, new: &Text, steps: &mut Vec<Step>) {
        let Some(last) = new.line_count().checked_sub(1).and_then(|line| new.line(Line(line))) else {
            return;
        };
        if !last.content_eq("") && new.ends_with_newline() != self.newline {
            steps.push(Step::Newline { was: self.newline });
            self.newline = new.ends_with_newline();
        }
    }

    /// Whether a run will be visible in the buffer when the switches that were set are settled.
    pub(crate) fn will_show(&self, run: &Run) -> bool {
        run.visible(|hunk| self.in_buffer(hunk))
    }

    /// Makes the runs of a region show the new text's lines. Returns how many lines were typed or changed.
    fn rebuild(&mut self, region: &Region, new: &Text, steps: &mut Vec<Step>) -> usize {
        let (from, to) = self.stretch_of(region);
        let default = new.ending_for_insert(Line(new.line_count()));
        let contents: Vec<OwnedLine> =
            new.lines(region.new.clone()).map(|line| line.to_owned_line(default)).collect();
        let (mut items, inserts, unmatched) = self.fates(from..to, region, &contents);
        let starts: Vec<usize> = {
            let mut line = self.shown_before(from);
            let step = |run: &Run| {
                let start = line;
                line += if run.shown { run.len() } else { 0 };
                start
            };
            self.runs[from..to].iter().map(step).collect()
        };
        let mut build = Build { runs: Vec::new(), contents: &contents };
        let mut inserts = inserts.into_iter().peekable();
        let (mut typed, mut removed, mut regained) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..=items.len() {
            while let Some(insert) = inserts.next_if(|insert| insert.before == index) {
                let ids = self.fresh(insert.lines.len());
                push_range(&mut typed, ids);
                build.typed(ids);
            }
            let Some(item) = items.get_mut(index) else { break };
            let run = &self.runs[item.run];
            let id = IdRange { first: run.ids.at(item.at), len: 1 };
            match item.fate {
                Fate::Removed => push_range(&mut removed, id),
                Fate::Regained(_) => push_range(&mut regained, id),
                Fate::Same | Fate::Shows(_) => {}
            }
            let start = starts[item.run - from];
            build.line(run, item, || {
                let line = self.buffer.line(Line(start + item.at));
                line.map(|line| line.to_owned_line(default)).unwrap_or_default()
            });
        }
        self.runs.splice(from..to, build.finish());
        steps.extend(removed.into_iter().map(Step::Removed));
        steps.extend(regained.into_iter().map(Step::Regained));
        steps.extend(typed.into_iter().map(Step::Typed));
        unmatched
    }

    /// The runs between the shown line before a region and the shown line after it, cut so that they are whole.
    pub(crate) fn stretch_of(&mut self, region: &Region) -> (usize, usize) {
        let first = self.cut_at(region.old.start, |run| run.shown);
        let to = self.cut_at(region.old.end, |run| run.shown);
        let mut from = first.min(to);
        while from > 0 && !self.runs[from - 1].shown {
            from -= 1;
        }
        let ends = to == self.runs.len() || !self.runs[to].shown;
        (from, if ends { self.runs.len() } else { to })
    }

    /// The number of the buffer's lines before a run.
    fn shown_before(&self, run: usize) -> usize {
        self.runs[..run].iter().filter(|run| run.shown).map(Run::len).sum()
    }

    /// Decides what becomes of each line of a stretch, and where typed lines go.
    fn fates(
        &self,
        stretch: std::ops::Range<usize>,
        region: &Region,
        contents: &[OwnedLine],
    ) -> (Vec<Item>, Vec<Insert>, usize) {
        let mut items = Vec::new();
        for index in stretch.clone() {
            items.extend((0..self.runs[index].len()).map(|at| Item { run: index, at, fate: Fate::Same }));
        }
        let expected = self.expected(stretch.clone());
        let visible: Vec<usize> =
            (0..items.len()).filter(|index| self.will_show(&self.runs[items[*index].run])).collect();
        let old: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        let fresh: Vec<&str> = contents.iter().map(|line| line.content.as_str()).collect();
        let mut pairs = align(&old, &fresh);
        let unmatched = (old.len() - pairs.len()).max(fresh.len() - pairs.len());
        pairs.push((old.len(), fresh.len()));
        let mut groups: Vec<(usize, usize, std::ops::Range<usize>)> = Vec::new();
        let (mut o, mut n) = (0usize, 0usize);
        for (old_at, new_at) in pairs {
            // Where the gap lies among the items: behind the visible line before it, before the one after it.
            let behind = o.checked_sub(1).map_or(0, |at| visible[at] + 1);
            let until = visible.get(old_at).copied().unwrap_or(items.len());
            let both = (old_at - o).min(new_at - n);
            for k in 0..both {
                items[visible[o + k]].fate = Fate::Shows(n + k);
            }
            for k in both..old_at - o {
                items[visible[o + k]].fate = Fate::Removed;
            }
            let behind = if both > 0 { visible[o + both - 1] + 1 } else { behind };
            let mut rest = n + both..new_at;
            if old_at == o {
                rest = self.regain(&mut items, behind..until, rest, &fresh, &mut groups);
            }
            if !rest.is_empty() {
                let behind = groups.last().map_or(behind, |group| behind.max(group.0));
                groups.push((behind, until, rest));
            }
            if let Some(at) = visible.get(old_at) {
                items[*at].fate = Fate::Shows(new_at);
            }
            (o, n) = (old_at + 1, new_at + 1);
        }
        let spans = if self.hunks.is_empty() { Vec::new() } else { self.spans() };
        let place =
            |behind: usize, until: usize| self.item_place(&items, behind..=until, &spans, region, &stretch);
        let inserts = groups
            .into_iter()
            .filter(|(.., lines)| !lines.is_empty())
            .map(|(behind, until, lines)| Insert { before: place(behind, until), lines })
            .collect();
        (items, inserts, unmatched)
    }

    /// Lines between the same visible neighbours that the person removed before and that read as new lines do are the
    /// same ones again. Returns the new lines that are left at the end; those between go to `groups`.
    fn regain(
        &self,
        items: &mut [Item],
        gap: std::ops::Range<usize>,
        new: std::ops::Range<usize>,
        fresh: &[&str],
        groups: &mut Vec<(usize, usize, std::ops::Range<usize>)>,
    ) -> std::ops::Range<usize> {
        if new.is_empty() {
            return new;
        }
        let hidden: Vec<usize> = gap
            .clone()
            .filter(|index| {
                let run = &self.runs[items[*index].run];
                run.gone && Run { gone: false, ..run.clone() }.visible(|hunk| self.in_buffer(hunk))
            })
            .collect();
        let held = |index: &usize| {
            let item = &items[*index];
            let held = self.runs[item.run].held.as_ref();
            held.map_or("", |held| held[item.at].content.as_str())
        };
        let old: Vec<&str> = hidden.iter().map(held).collect();
        let pairs = align(&old, &fresh[new.clone()]);
        let (mut behind, mut n) = (gap.start, new.start);
        for (old_at, new_at) in pairs {
            let (index, line) = (hidden[old_at], new.start + new_at);
            items[index].fate = Fate::Regained(line);
            groups.push((behind, index, n..line));
            (behind, n) = (index + 1, line + 1);
        }
        // An empty group keeps the place behind the last regained line.
        groups.push((behind, gap.end, n..n));
        n..new.end
    }

    /// The item before which typed lines go (W5).
    fn item_place(
        &self,
        items: &[Item],
        places: std::ops::RangeInclusive<usize>,
        spans: &[Option<(usize, usize)>],
        region: &Region,
        stretch: &std::ops::Range<usize>,
    ) -> usize {
        let run_at = |index: Option<usize>| index.and_then(|index| items.get(index)).map(|item| item.run);
        let outside_left = stretch.start.checked_sub(1);
        let mut best = (*places.start(), usize::MAX);
        for at in places {
            let left = if at == 0 { outside_left } else { run_at(Some(at - 1)) };
            let right = run_at(Some(at)).or((stretch.end < self.runs.len()).then_some(stretch.end));
            let count = match (left, right) {
                (Some(left), Some(right)) => {
                    spans.iter().flatten().filter(|(from, to)| *from <= left && right <= *to).count()
                }
                _ => 0,
            };
            if count < best.1 || (region.before_next && count == best.1) {
                best = (at, count);
            }
        }
        best.0
    }

    /// The contents of the lines of a stretch that should be visible in the buffer.
    pub(crate) fn expected(&self, stretch: std::ops::Range<usize>) -> Vec<Cow<'_, str>> {
        self.contents_where(stretch, |run| self.will_show(run))
    }

    /// The contents of the lines of a stretch whose runs are visible.
    pub(crate) fn contents_where(
        &self,
        stretch: std::ops::Range<usize>,
        visible: impl Fn(&Run) -> bool,
    ) -> Vec<Cow<'_, str>> {
        let mut start = self.shown_before(stretch.start);
        let mut contents = Vec::new();
        for run in &self.runs[stretch] {
            if visible(run) {
                match &run.held {
                    Some(held) => {
                        contents.extend(held.iter().map(|line| Cow::Borrowed(line.content.as_str())))
                    }
                    None => {
                        contents
                            .extend(self.buffer.lines(start..start + run.len()).map(|line| line.content()));
                    }
                }
            }
            if run.shown {
                start += run.len();
            }
        }
        contents
    }
}

/// Typed lines and the item that they go before.
struct Insert {
    before: usize,
    lines: std::ops::Range<usize>,
}

/// Puts lines together to runs again.
struct Build<'a> {
    runs: Vec<(Run, Vec<OwnedLine>)>,
    contents: &'a [OwnedLine],
}

impl Build<'_> {
    fn line(&mut self, of: &Run, item: &Item, in_buffer: impl FnOnce() -> OwnedLine) {
        let gone = match item.fate {
            Fate::Same => of.gone,
            Fate::Removed => true,
            Fate::Shows(_) | Fate::Regained(_) => false,
        };
        let plain = of.maker.is_none() && of.removers.is_empty() && !gone;
        let content = match item.fate {
            Fate::Shows(line) | Fate::Regained(line) => Some(self.contents[line].clone()),
            Fate::Same | Fate::Removed => None,
        };
        let line = (!plain).then(|| {
            content.or_else(|| of.held.as_ref().map(|held| held[item.at].clone())).unwrap_or_else(in_buffer)
        });
        let run = Run {
            ids: IdRange { first: of.ids.at(item.at), len: 1 },
            maker: of.maker,
            removers: of.removers.clone(),
            gone,
            held: None,
            shown: of.shown,
        };
        self.push(run, line);
    }

    fn typed(&mut self, ids: IdRange) {
        self.runs.push((Run::plain(ids.first, ids.len), Vec::new()));
    }

    fn push(&mut self, run: Run, line: Option<OwnedLine>) {
        match self.runs.last_mut() {
            Some((last, held)) if last.continues_in(&run) => {
                last.ids.len += 1;
                held.extend(line);
            }
            _ => self.runs.push((run, line.into_iter().collect())),
        }
    }

    fn finish(self) -> Vec<Run> {
        let close = |(mut run, held): (Run, Vec<OwnedLine>)| {
            run.held = (!held.is_empty()).then(|| held.into());
            run
        };
        self.runs.into_iter().map(close).collect()
    }
}
