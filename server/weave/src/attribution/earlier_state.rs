//! Going back to an earlier state, with all that was recorded since (rule W17): the text of a document turns out to be one that was
//! recorded, as after a change of branches.

use crate::attribution::hunk_context::Surroundings;
use crate::attribution::weave::Weave;

impl Weave {
    /// This weave with all its hunks, but with the buffer as it was in `earlier`, which is an earlier state of it, as it is or as it was
    /// [told](Self::as_told): the hunks that it has are on or off, and lost or not, as they were in it; those that were recorded since
    /// are off, and their lines read as they were proposed. The person's lines are as they were; those that they typed since are
    /// removed. Which hunks are refused stays as it is.
    ///
    /// Where a change that nobody watched lies between the two, the hunks that were recorded since are judged as in
    /// [`unobserved`](Self::unobserved). Nothing that was done before can be undone by the editor: the journal begins anew.
    ///
    /// None where `earlier` is no earlier state of this weave.
    ///
    /// ```
    /// use hashline_text::{Ending, OwnedLine, Text};
    /// use hashline_weave::{Change, Weave};
    /// let line = |content: &str| OwnedLine::new(content, Ending::Lf);
    /// let mut weave = Weave::new(Text::from("one\ntwo\nthree\n"));
    /// let first = weave.record(&[Change { lines: 0..1, new: vec![line("1")] }])?[0];
    /// let earlier = weave.clone();
    /// let second = weave.record(&[Change { lines: 2..3, new: vec![line("3")] }])?[0];
    /// weave.switch(&[first, second], &[])?;
    /// let mut back = weave.returned_to(&earlier).unwrap();
    /// assert_eq!(back.buffer().to_string(), "one\ntwo\nthree\n");
    /// assert_eq!(back.agent().to_string(), "1\ntwo\n3\n");
    /// # Ok::<(), hashline_weave::WeaveError>(())
    /// ```
    #[must_use]
    pub fn returned_to(&self, earlier: &Self) -> Option<Self> {
        let mut model = self.model.with_buffer_of(&earlier.model)?;
        if self.model.is_across(&earlier.model) {
            // Where the text cannot be without those that came since, nothing is certain about them.
            let certain = match self.model.without_newer_than(&earlier.model) {
                Some(mut without) => Surroundings::of(&mut without, &[]).certain_in(&model),
                None => vec![false; self.on().len()],
            };
            let since = earlier.on().len();
            model.lose(|id| id.order() >= since && !certain[id.order()]);
            model.cross();
        }
        let mut back = Self::of(model);
        back.journal.number_from(&self.journal);
        back.drop_untidy();
        Some(back)
    }
}
