//! Typing, judged among the runs around it: a key costs the same however many hunks there are and however long the text is. It leads to
//! what judging it among all runs leads to (rules W5, W6); a property in `tests/near.rs` compares the two.
//!
//! It can be so because nothing but the runs between the two shown lines around the touched ones decides what becomes of a line that was
//! typed: those runs are taken out as a list of their own, changed there, and put back. Where new lines may go to several places, the spans
//! that begin or end among these runs tell which of the places is inside fewer.
//!
//! The agent view follows where no hunk that waits has a line among these runs or reaches over them, so that a read makes nothing anew.
//!
//! # Limits
//!
//! Judged among all runs are changes in several places that are one edit, unless each is one line that stays one; what changes whether the text ends
//! with a newline, as hunks have a word on that; and what takes back an earlier change, as the journal may speak of any line. What a client
//! that says nothing of its changes did is looked for among all hunks first, but where lines that lie in the rope alone have other contents.
//! A change of the last line asks hunks for their word on the newline. What the person has removed at the place costs as much as it has lines.

use hashline_text::{Ending, Line, Text};

use crate::attribution::aligned_region::Stretch;
use crate::attribution::earlier_text::Difference;
use crate::attribution::interpretation::Judgement;
use crate::attribution::journal::{Step, pinned_by};
use crate::attribution::region::{Region, Regions, reach_the_end};
use crate::attribution::typing::Arrival;
use crate::attribution::weave::Weave;

impl Weave {
    /// Takes over lines that have only other contents and lie in the rope alone.
    pub(crate) fn typed_in_place(
        &mut self,
        new: &Text,
        regions: &Regions,
        arrival: &Arrival,
    ) -> Option<Judgement> {
        let Arrival { old, before, after, touched } = arrival;
        // What the last line is says whether the text ends with a newline.
        if before.newline != after.newline || reach_the_end(touched, new) || !self.stay_in_rope(touched) {
            return None;
        }
        if !touched.is_empty() && last_ending(old) != last_ending(new) {
            // The last line is not touched, and ends with another line ending: the journal has to know that.
            return None;
        }
        let seen: Vec<_> = touched.iter().filter_map(|region| self.seen(&region.old)).collect();
        let difference = Difference::of(old, new, touched.iter().map(Region::lines));
        self.take_text(new.clone(), &difference, regions);
        self.journal.print = *after;
        let ending = self.ending();
        if touched.is_empty() {
            self.model.take_ending(false);
        }
        self.journal.push_contents(difference, *before, new);
        let only = self.ending() == ending && regions.touch_only(touched, old, new);
        let now = touched.iter().map(|region| region.new.clone());
        let follows = only && self.model.agent_follows(old, seen.into_iter().zip(now));
        self.model.follow(follows, !only);
        Some(Judgement { typed_lines: touched.len(), ..Judgement::default() })
    }

    /// Takes over a change in one place, among the runs around it.
    pub(crate) fn typed_near(
        &mut self,
        new: &Text,
        regions: &Regions,
        arrival: &Arrival,
    ) -> Option<Judgement> {
        let Arrival { old, before, after, touched } = arrival;
        let ([region], true) = (touched.as_slice(), before.newline == after.newline) else { return None };
        self.model.find_places();
        let window = self.around(&region.old)?;
        let at_end = reach_the_end(touched, new);
        let waited_for = self.are_waited_for(&window);
        let seen = window.seen + region.old.start - window.line;
        let seen = seen..seen + region.old.len();

        let mut steps = Vec::new();
        let (difference, stood, typed_lines, pinned) = self.model.among(&window, |near, all| {
            let lines = region.old.start - window.line..region.old.end - window.line;
            let (from, to) = near.stretch_of(&lines);
            let stretch = Stretch::of(near, region.clone(), from..to, new).0;
            let stood = if new.ends_with_newline() { Vec::new() } else { near.shown_ids(window.line) };
            let difference = Difference::of(old, new, stretch.differing(near.runs()));
            let typed_lines = stretch.rebuild(near, new, &mut steps, |near| all.cover_of(near.runs()));
            near.set_shown();
            let pinned = pinned_by(near, &steps);
            near.join_runs();
            (difference, stood, typed_lines, pinned)
        });

        let moved = steps.iter().any(|step| matches!(step, Step::Removed(_) | Step::Regained(_)));
        if at_end {
            self.take_newline(new, &mut steps);
        }
        self.take_text(new.clone(), &difference, regions);
        self.journal.print = *after;
        let ending = self.ending();
        self.model.take_ending_of(&stood, old, at_end);
        if self.ending() != ending {
            steps.push(Step::Ending { was: ending, is: self.ending() });
        }
        let only = !at_end && self.ending() == ending && regions.touch_only(touched, old, new);
        let apart = only && !waited_for;
        let follows = apart && self.model.agent_follows(old, [(seen, region.new.clone())]);
        // A hunk may have had its place beside lines that are gone, or that are there again.
        self.model.follow(follows, !apart || moved);
        let entry = self.note(steps, difference, *before, new, pinned);
        self.drop_untidy();
        Some(Judgement { entry, typed_lines, ..Judgement::default() })
    }

    /// Whether each region is one line that stays one line, and only contents have changed that lie in the rope.
    fn stay_in_rope(&mut self, regions: &[Region]) -> bool {
        regions.iter().all(|region| region.old.len() == 1 && region.new.len() == 1)
            && self.model.are_in_rope(regions.iter().map(|region| region.old.start))
    }
}

/// The line ending of the last line.
fn last_ending(text: &Text) -> Option<Ending> {
    let last = text.line_count().checked_sub(1)?;
    text.line(Line(last))?.ending()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use hashline_text::{Encoding, OwnedLine, Position, Span};

    use super::*;
    use crate::model::Change;

    /// A weave of a hundred lines with a held hunk in the place of line 50, whose agent view was read.
    fn held() -> Weave {
        let mut weave = Weave::new(Text::from((0..100).map(|n| format!("line {n}\n")).collect::<String>()));
        let new = vec![OwnedLine::new("new", Ending::Lf)];
        assert!(weave.record(&[Change { lines: 50..51, new }]).is_ok());
        weave.agent();
        weave
    }

    fn types(weave: &mut Weave, lines: Range<u32>, column: u32, new: &str) {
        let mut text = weave.buffer().clone();
        let mut regions = Regions::default();
        let span = Span::new(Position::new(lines.start, column), Position::new(lines.end, column));
        assert!(regions.apply(&mut text, span, Encoding::Utf16, new).is_ok());
        weave.typed(&text, &regions);
    }

    /// Whether the agent view is that of now after a change of these lines, without being made anew.
    fn follows(lines: Range<u32>, column: u32, new: &str) -> bool {
        let mut weave = held();
        types(&mut weave, lines, column, new);
        let follows = weave.agent_is_current();
        assert!(weave.agent_anew() == *weave.agent());
        follows
    }

    #[test]
    fn how_hunks_stand_is_touched_by_typing_near_those_that_wait_alone() {
        let stays = |lines: Range<u32>, new: &str| {
            let mut weave = held();
            let before = weave.standing();
            types(&mut weave, lines, 0, new);
            weave.standing() == before
        };
        assert!(stays(10..10, "x") && stays(10..10, "a\n") && stays(53..53, "a\n"));
        assert!(!stays(50..50, "x") && !stays(51..51, "a\n") && !stays(10..11, ""));
    }

    #[test]
    fn the_agent_view_follows_what_is_typed_where_no_hunk_waits() {
        assert!(follows(10..10, 3, "x") && follows(90..90, 3, "x"), "in a line");
        assert!(follows(10..10, 3, "\n") && follows(90..90, 3, "\n"), "a line is split");
        assert!(follows(10..10, 0, "a\nb\nc\n") && follows(0..0, 0, "a\n"), "lines come");
        assert!(follows(10..11, 3, "a\nb\n"), "lines are replaced by more");
        assert!(follows(48..48, 0, "a\n") && !follows(50..50, 0, "a\n"), "before the hunk");
        assert!(follows(53..53, 0, "a\n") && !follows(51..51, 0, "a\n"), "behind the hunk");
        assert!(!follows(99..99, 3, "\n"), "what the last line is may change");
        assert!(!follows(10..11, 0, ""), "a hunk may have been beside lines that go");
    }

    #[test]
    fn the_index_of_the_runs_is_as_if_it_were_made_anew() {
        let mut weave = held();
        for n in 0..1200_u32 {
            let line = [3, 90 + n / 2, 20, 70 + n / 3][n as usize % 4];
            let to = if n % 5 == 4 { line + 1 } else { line };
            types(&mut weave, line..to, 0, if to > line { "" } else { "typed\n" });
            assert!(weave.has_places(), "it need not be made again");
            let places = |weave: &Weave| {
                let lines = (0..weave.buffer().line_count()).step_by(17);
                let around = lines.filter_map(|line| weave.around(&(line..line)));
                around.map(|window| (weave.are_waited_for(&window), window)).collect::<Vec<_>>()
            };
            let found = places(&weave);
            // A clone has no index.
            let mut anew = weave.clone();
            anew.model.find_places();
            assert_eq!(found, places(&anew), "after {n}");
            assert!(found.len() * 17 >= weave.buffer().line_count());
        }
        assert!(weave.run_count() > 300);
    }
}
