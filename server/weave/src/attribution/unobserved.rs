//! A text that was changed while nobody watched (rule W17): between two runs of the program, by another program.

use hashline_text::Text;

use crate::attribution::aligned_region::Stretch;
use crate::attribution::earlier_text::Difference;
use crate::attribution::fingerprint::Print;
use crate::attribution::hunk_context::Surroundings;
use crate::attribution::interpretation::Judgement;
use crate::attribution::journal::Step;
use crate::attribution::region::{Regions, reach_the_end};
use crate::attribution::undo::TakesBack;
use crate::attribution::weave::Weave;
use crate::model::{HunkId, Model};

impl Weave {
    /// Takes over a text that the buffer has become while nobody watched. Its lines are aligned with those that were there; what no line
    /// explains is the person's. No hunk is taken to be switched by it.
    ///
    /// An alignment guesses. So a hunk can be switched across the change only if there is nothing to guess: its lines and three on each
    /// side, or the end of the text, stand there as they did, and nowhere else. Every other hunk is [lost](Model::is_lost), and so is
    /// whatever rests on one. Returns those that were not before.
    ///
    /// Where the text is the same nothing happens. Else nothing that was done before can be undone by the editor: the journal begins
    /// anew.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Conflict, Weave, WeaveError};
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let mut weave = Weave::new(Text::from("a\nb\nc\nd\ne\nf\ng\nh\n"));
    /// let first = weave.record(&[Change { lines: 0..1, new: vec![line("1")] }])?[0];
    /// let last = weave.record(&[Change { lines: 7..8, new: vec![line("8")] }])?[0];
    /// assert_eq!(weave.unobserved(Text::from("a\nb\nc\nd\nnew\ne\nf\ng\nh\n")), []);
    /// assert_eq!(weave.unobserved(Text::from("a\nb\nc\nd\nnew\ne\nf\nnew\ng\nh\n")), [last]);
    /// assert_eq!(weave.conflict(last), Some(Conflict::Lost));
    /// assert_eq!(weave.switch(&[last], &[]), Err(WeaveError::Lost { hunk: last }));
    /// weave.switch(&[first], &[])?;
    /// assert_eq!(weave.buffer().to_string(), "1\nb\nc\nd\nnew\ne\nf\nnew\ng\nh\n");
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    pub fn unobserved(&mut self, text: Text) -> Vec<HunkId> {
        self.unobserved_but(text, &[])
    }

    /// The same, where of some hunks the lines on one side are enough to be certain of their place.
    pub(crate) fn unobserved_but(&mut self, text: Text, one_sided: &[HunkId]) -> Vec<HunkId> {
        if *self.buffer() == text {
            return Vec::new();
        }
        let before = Surroundings::of(&mut self.model, one_sided);
        self.model.cross();
        let mut regions = Regions::default();
        regions.replace_all(&mut self.buffer().clone(), text.clone());
        let touched = regions.trimmed(self.buffer(), &text);
        // What can be taken back is forgotten below.
        let mut steps = Vec::new();
        let mut differing = Vec::new();
        for region in touched.iter().rev() {
            let (from, to) = self.model.stretch_of(&region.old);
            let stretch = Stretch::of(&self.model, region.clone(), from..to, &text).0;
            differing.splice(0..0, stretch.differing(self.runs()));
            stretch.rebuild(&mut self.model, &text, &mut steps, Model::cover);
        }
        self.take_newline(&text, &mut steps);
        let difference = Difference::of(self.buffer(), &text, differing);
        let to_end = reach_the_end(&touched, &text);
        self.take_text(text, &difference, &regions);
        self.model.show();
        self.model.take_ending(to_end);
        self.forget_past();
        let certain = before.certain_in(self);
        let lost = self.model.lose(|id| !certain[id.index()]);
        self.model.reshape();
        self.tidy();
        lost
    }

    /// Takes over a text that is found and is one of the latest that were here: all is as it was then, and what is switched is told. An editor
    /// that has kept its undo may still take back what was done before. None, and nothing has happened, where it is none of them.
    pub fn go_back_to(&mut self, text: &Text) -> Option<Judgement> {
        let mut regions = Regions::default();
        regions.replace_all(&mut self.buffer().clone(), text.clone());
        let print = self.print_of(text, &regions)?;
        self.turn_back(text, print, &regions, TakesBack::All)
    }

    /// Whether a text is one of the latest that were here. `regions` are the lines in which it differs from the present one.
    #[must_use]
    pub fn was(&self, text: &Text, regions: &Regions) -> bool {
        let print = self.print_of(text, regions);
        print.is_some_and(|print| self.journal.depth_of(self.buffer(), text, print, None).is_some())
    }

    /// The same, and hunks were in it or not that are otherwise now.
    #[must_use]
    pub fn was_otherwise(&self, text: &Text, regions: &Regions) -> bool {
        let Some(print) = self.print_of(text, regions) else { return false };
        let depth = self.journal.depth_of(self.buffer(), text, print, None);
        depth.is_some_and(|depth| {
            let back = self.journal.back(depth);
            back.iter().flatten().any(|step| matches!(step, Step::Switched { .. }))
        })
    }

    /// What a text looks like from afar; none if it is the present one.
    fn print_of(&self, text: &Text, regions: &Regions) -> Option<Print> {
        let touched = regions.trimmed(self.buffer(), text);
        let pairs = touched.iter().map(|region| (region.old.clone(), region.new.clone()));
        let print = self.journal.print.after(self.buffer(), text, pairs);
        (print != self.journal.print || self.buffer() != text).then_some(print)
    }
}
