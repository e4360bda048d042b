//! What was decided about a hunk, and what was said about it.

use hashline_history::{Decision, Reason};

/// A decision, and what the person said about it; of one that is undecided, what they said without deciding.
pub type Verdict = (Decision, Option<Reason>);

/// What stands after a decision, if it is news. What the person has said without deciding stays: until something else is said or decided, and
/// where the agent has not heard it, with the decision, too.
pub(crate) fn stands_after(was: &Verdict, told: &Verdict, (decision, reason): Verdict) -> Option<Verdict> {
    let is_comment = was.0 == Decision::Undecided && was.1.is_some();
    let stays = is_comment && (decision == Decision::Undecided || was != told);
    let reason = if stays { reason.or_else(|| was.1.clone()) } else { reason };
    Some((decision, reason)).filter(|verdict| verdict != was)
}
