//! What a decision would do, for offering it: decided on a copy of the document, so that it can be nothing else than what is done when
//! it is taken.

use hashline_weave::Plan;

use crate::document::decisions::wishes::Wanted;
use crate::document::deliveries::retry_schedule::Flow;
use crate::document::{Decided, Delivery, Document, Millis, Request};

/// What a decision would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What would be decided, and what not.
    pub decided: Decided,
    /// What it would change in the editor's text; none if nothing, or if no editor has the document open.
    pub delivery: Option<Delivery>,
    /// The same as a change of hunks and lines.
    pub(crate) plan: Option<Plan>,
}

impl Preview {
    /// Whether nothing but hunks would be switched, so that the change is recognised when the editor makes it by itself.
    #[must_use]
    pub fn is_recognisable(&self) -> bool {
        self.plan.as_ref().is_none_or(Plan::only_switches)
    }
}

impl Document {
    /// What a decision would do, by itself: decisions that wait for the text are left out of account. Takes a copy of the document.
    #[must_use]
    pub fn preview(mut self, request: &Request, now: Millis) -> Preview {
        (self.flow, self.wanted) = (Flow::default(), Wanted::default());
        // Nothing of it is recorded.
        self.outbox.records_nothing();
        let decided = self.decide(request, now);
        let delivery = self.poll(now);
        Preview { decided, delivery, plan: self.flow.plan().cloned() }
    }
}
