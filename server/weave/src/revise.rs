//! Putting a hunk in as the person has rewritten it (rule W12): the hunk is in the text, and what differs from its proposal is the
//! person's typing.

use hashline_text::OwnedLine;

use crate::align::align_lines;
use crate::hunk::HunkId;
use crate::line::{IdRange, push_range};
use crate::plan::Plan;
use crate::run::{Held, Run};
use crate::weave::Weave;

impl Weave {
    /// The plan that brings a hunk into the text, with what it rests on, but reading as `own` says: lines of the proposal that `own`
    /// lacks count as deleted by the person, lines that it has besides as typed. Where one of the hunks is [lost](Self::is_lost),
    /// the plan is refused when it is looked at or carried out.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let mut weave = Weave::new(Text::from("one\ntwo\n"));
    /// let hunk = weave.record(&[Change { lines: 1..2, new: vec![line("2"), line("3")] }])?[0];
    /// let plan = weave.plan_put_in_revised(hunk, &[line("2"), line("three")]);
    /// weave.carry_out(&plan)?;
    /// assert_eq!(weave.buffer().to_string(), "one\n2\nthree\n");
    /// assert!(weave.in_buffer(hunk) && weave.edited(hunk).any());
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    pub fn plan_put_in_revised(&mut self, id: HunkId, own: &[OwnedLine]) -> Plan {
        let mut plan = Plan { on: self.with_prerequisites(id), ..Plan::default() };
        let made = self.hunk(id).made;
        let proposed: Vec<String> = self.hunk(id).proposed.iter().map(|line| line.content.clone()).collect();
        let old: Vec<&str> = proposed.iter().map(String::as_str).collect();
        let new: Vec<&str> = own.iter().map(|line| line.content.as_str()).collect();
        let (mut o, mut n) = (0, 0);
        let mut pairs = align_lines(&old, &new);
        pairs.push((old.len(), new.len()));
        for (old_at, new_at) in pairs {
            for line in o..old_at {
                push_range(&mut plan.drop, IdRange { first: made.at(line), len: 1 });
            }
            if n < new_at {
                // Before what they stand for: there they are inside of the hunk, and are told of as its lines.
                plan.revive.extend(self.spare_before(id, o, &own[n..new_at]));
            }
            (o, n) = (old_at + 1, new_at + 1);
        }
        plan
    }

    /// Forgets what the person changed in the lines that a hunk made, as far as they are hidden: they read as they were proposed.
    pub fn forget_changes(&mut self, id: HunkId) {
        let hunk = self.hunks[id.index()].clone();
        for run in self.runs.iter_mut().filter(|run| run.maker == Some(id) && !run.shown) {
            let from = (run.ids.first.0 - hunk.made.first.0) as usize;
            run.held = Some(Held::new(&hunk.proposed[from..from + run.len()]));
        }
        self.checkpoint = None;
        self.touch();
    }

    /// Puts hidden lines before line `line` of those that a hunk made, or behind the last, ready to be shown.
    fn spare_before(&mut self, id: HunkId, line: usize, lines: &[OwnedLine]) -> Option<IdRange> {
        let made = self.hunk(id).made;
        let index = if line < made.len {
            let at = made.at(line);
            let index = self.runs.iter().position(|run| run.ids.contains(at))?;
            let cut = (at.0 - self.runs[index].ids.first.0) as usize;
            if cut > 0 {
                let tail = self.runs[index].split_off(cut);
                self.runs.insert(index + 1, tail);
                index + 1
            } else {
                index
            }
        } else {
            self.runs.iter().rposition(|run| run.belongs_to(id))? + 1
        };
        let ids = self.fresh(lines.len());
        let held = Some(Held::new(lines.to_vec()));
        self.runs.insert(index, Run { gone: true, shown: false, held, ..Run::plain(ids.first, ids.len) });
        self.keep_spare(ids);
        Some(ids)
    }
}
