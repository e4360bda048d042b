//! What a decision would do, for offering it: decided on a copy of the document, so that it can be nothing else than what is done when
//! it is taken.

use crate::document::deliver::Flow;
use crate::document::{Decided, Delivery, Document, Millis, Request};

/// What a decision would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What would be decided, and what not.
    pub decided: Decided,
    /// What it would change in the editor's text; none if nothing, or if no editor has the document open.
    pub delivery: Option<Delivery>,
    /// Nothing but hunks would be switched, so that the change is recognised when the editor makes it by itself.
    pub recognisable: bool,
}

impl Document {
    /// What a decision would do, by itself: decisions that wait for the text are left out of account. Takes a copy of the document.
    #[must_use]
    pub fn preview(mut self, request: &Request, now: Millis) -> Preview {
        self.flow = Flow::default();
        // Nothing of it is recorded.
        self.is_recorded = false;
        let decided = self.decide(request, now);
        let recognisable = self.flow.only_switches();
        Preview { decided, delivery: self.poll(now), recognisable }
    }
}
