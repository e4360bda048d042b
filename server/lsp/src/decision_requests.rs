//! The person's decisions, from plugins and from commands.

use hashline_history::EditId;
use hashline_history::path::to_text;
use hashline_workspace::Caller;
use hashline_workspace::agent::ReviewScope;
use tower_lsp::lsp_types::MessageType;

use crate::from_proto::{self, BadDecision};
use crate::handover;
use crate::protocol::{Decide, Decided};
use crate::session::Session;
use crate::to_proto;

/// How long the id of an edit is when it is whole.
const WHOLE_ID: usize = 36;

/// Decides. What changes an open document's text is under way when this returns.
///
/// # Errors
///
/// [`BadDecision`]: it does not say what is wanted of what.
pub(crate) async fn decide(session: &Session, said: &Decide) -> Result<Decided, BadDecision> {
    let mut request = from_proto::request(said)?;
    if let Some(begin) = said.edit.as_ref().filter(|begin| begin.len() < WHOLE_ID)
        && let Some(edit) = whole_id(session, begin).await?
    {
        request = from_proto::request(&Decide { edit: Some(edit), ..said.clone() })?;
    }
    let uri = said.uri.as_ref().map(|uri| session.spelled(uri));
    let mut decided = session.workspace.decide(uri.as_deref(), &request).await;
    handover::hand_over(session, &request, &mut decided).await;
    for copy in &decided.kept {
        let copy = to_text(copy);
        session.say(MessageType::INFO, format!("hashline: the text with your changes is kept in {copy}"));
    }
    Ok(to_proto::decided(&decided))
}

/// The edit whose id begins so; none if there is no such edit.
async fn whole_id(session: &Session, begin: &str) -> Result<Option<String>, BadDecision> {
    let caller = Caller::anywhere("editor", "editor");
    let scope = ReviewScope { edits: vec![begin.to_owned()], ..ReviewScope::default() };
    let edits = session.workspace.edits(&caller, &scope).await.unwrap_or_default();
    // A person also decides about what was closed and whose folder is not served any more.
    let pending = session.workspace.reviews().into_iter().flat_map(|review| review.review.edits);
    let pending = pending.map(|edit| edit.edit.id.clone()).filter(|id| id.as_str().starts_with(begin));
    the_one(begin, edits.into_iter().map(|edit| edit.id).chain(pending))
}

/// The only one of the ids that begin so; an edit may come more than once.
fn the_one(begin: &str, mut ids: impl Iterator<Item = EditId>) -> Result<Option<String>, BadDecision> {
    let first = ids.next();
    match ids.find(|id| Some(id) != first.as_ref()) {
        Some(_) => Err(BadDecision::Ambiguous(begin.to_owned())),
        None => Ok(first.map(|id| id.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_names_an_edit_if_no_other_begins_so() {
        let one = |ids: &[&str]| the_one("3f", ids.iter().map(|id| EditId::from(*id)));
        assert_eq!(one(&[]), Ok(None));
        assert_eq!(one(&["3f2a"]), Ok(Some("3f2a".to_owned())));
        assert_eq!(one(&["3f2a", "3f2a"]), Ok(Some("3f2a".to_owned())));
        assert_eq!(one(&["3f2a", "3f2b"]), Err(BadDecision::Ambiguous("3f".to_owned())));
        assert!(one(&["3f2a", "3f2a", "3f2b"]).unwrap_err().to_string().contains("`3f`"));
    }
}
