//! Decisions that one process hands to another: those that come in from `mcpdiff` and from other editors, and those about documents that
//! another editor has open (rule W19).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use hashline_history::{ConversationId, Decision as Standing, EditId, HunkRef};
use hashline_link::{Decide, DecideOutcome, DecideResult, Decision, FileThen, Mine, Refused};
use hashline_weave::TakeOut;
use hashline_workspace::agent::ReviewScope;
use hashline_workspace::document::{
    Along, Choice, Decided, Elsewhere, HunkView, Request, Target, Undecided, Unseen, Why,
};
use hashline_workspace::{Caller, Refusal, Rehearsed, Workspace};

use crate::session::Session;

/// How long the editor may take to show a decision before the other process is told that it waits.
const SHOWN_WITHIN: Duration = Duration::from_millis(1500);
/// The same where it is to rename or remove a file: longer than it is given for that, as what is decided next may rest on it.
const FILE_SHOWN_WITHIN: Duration = Duration::from_secs(8);
/// The pause before looking again.
const PAUSE: Duration = Duration::from_millis(10);

/// Carries out a decision that was made in another process.
pub(crate) async fn decided(workspace: &Workspace, decide: Decide) -> DecideOutcome {
    let request = match request(workspace, &decide).await {
        Ok(request) => request,
        Err((result, message)) => return DecideOutcome { result, message, ..DecideOutcome::default() },
    };
    let mut decided = workspace.decide_from_elsewhere(decide.path.as_deref(), &request).await;
    let (word, wanted) = match request.choice {
        Choice::Reject | Choice::KeepMine => ("rejected", Standing::Rejected),
        _ => ("accepted", Standing::Accepted),
    };
    let shown = shown(workspace, &decided.queued, wanted).await;
    for hunk in shown.iter().flatten() {
        decided.queued.retain(|queued| queued != hunk);
        let message = workspace.not_done_because(hunk).unwrap_or_default();
        let (hunk, why, others) = (hunk.to_string(), Why::Failed, Vec::new());
        decided.refused.push(Undecided { hunk, why, message, others });
    }
    let refused: Vec<Refused> = decided.refused.iter().map(refused).collect();
    let (result, message) = match (decided.refused.first(), shown) {
        (Some(first), _) => (result(first.why), first.message.clone()),
        (None, Some(_)) => (DecideResult::Done, word.to_owned()),
        (None, None) => (DecideResult::Queued, format!("{word}; waits for the editor to show it")),
    };
    let names = decided.queued.iter().map(HunkRef::to_string).collect();
    DecideOutcome { result, message, decided: names, refused, kept: decided.kept, file: None }
}

/// Finds out what would become of decisions about one document that another process is to make.
pub(crate) async fn rehearsed(workspace: &Workspace, decides: &[Decide]) -> DecideOutcome {
    let mut requests = Vec::new();
    for decide in decides {
        match request(workspace, decide).await {
            Ok(request) => requests.push(request),
            Err((result, message)) => return DecideOutcome { result, message, ..DecideOutcome::default() },
        }
    }
    let Some(path) = decides.iter().find_map(|decide| decide.path.clone()) else {
        let (result, message) = (DecideResult::NotFound, "name a document".to_owned());
        return DecideOutcome { result, message, ..DecideOutcome::default() };
    };
    let Rehearsed { decided, file } = workspace.rehearse(&path, requests).await;
    let refused: Vec<Refused> = decided.refused.iter().map(refused).collect();
    let (result, message) = match decided.refused.first() {
        Some(first) => (result(first.why), first.message.clone()),
        None => (DecideResult::Done, String::new()),
    };
    let names = decided.queued.iter().map(HunkRef::to_string).collect();
    let file = file.map(|(path, exists)| FileThen { path, exists });
    DecideOutcome { result, message, decided: names, refused, kept: Vec::new(), file }
}

/// What a decision of another process asks for.
async fn request(workspace: &Workspace, decide: &Decide) -> Result<Request, (DecideResult, String)> {
    let newer = |what| {
        let message = format!(
            "{what} is nothing that this editor's hashline knows, which is older: restart the editor"
        );
        (DecideResult::Conflict, message)
    };
    let choice = match decide.decision {
        Decision::Accept => Choice::Accept,
        Decision::Reject => Choice::Reject,
        Decision::KeepMine => Choice::KeepMine,
        Decision::TakeTheirs => Choice::TakeTheirs,
        Decision::KeepBoth => Choice::KeepBoth,
        Decision::Unknown => return Err(newer("what was decided")),
    };
    let (edited, unseen) = match decide.mine {
        None => (None, Unseen::Refuse),
        Some(Mine::Keep) => (Some(TakeOut::KeepMyLines), Unseen::Keep),
        Some(Mine::GiveUp) => (Some(TakeOut::WithMyChanges), Unseen::GiveUp),
        Some(Mine::Unknown) => return Err(newer("what becomes of changed lines")),
    };
    let target = match (&decide.conversation, decide.edit.as_str()) {
        (Some(id), "") if decide.decided_too => Target::Whole(ConversationId::from(id.as_str())),
        (Some(id), "") => Target::Conversation(ConversationId::from(id.as_str())),
        (None, edit) if !edit.is_empty() => {
            let edit = whole_id(workspace, edit).await?;
            match decide.hunk {
                Some(number) => Target::Hunk(HunkRef { edit, number }),
                None => Target::Edit(edit.to_string()),
            }
        }
        _ => return Err((DecideResult::NotFound, "name an edit, or a conversation".to_owned())),
    };
    let along = match decide.along {
        hashline_link::Along::Named => Along::Named,
        hashline_link::Along::OfTurn => Along::OfTurn,
        hashline_link::Along::All => Along::All,
        hashline_link::Along::Needed => Along::Needed,
        hashline_link::Along::Unknown => return Err(newer("what else is decided")),
    };
    Ok(Request { choice, target, reason: decide.reason.clone(), edited, own: None, along, unseen })
}

/// The edit whose id begins so.
async fn whole_id(workspace: &Workspace, begin: &str) -> Result<EditId, (DecideResult, String)> {
    let scope = ReviewScope { edits: vec![begin.to_owned()], ..ReviewScope::default() };
    let edits = match workspace.edits(&the_person(), &scope).await {
        Ok(edits) => edits,
        Err(refusal @ Refusal::NoSuchEdit(_)) => return Err((DecideResult::NotFound, refusal.to_string())),
        Err(refusal) => return Err((DecideResult::Changed, refusal.to_string())),
    };
    match edits.first() {
        Some(first) if edits.iter().all(|edit| edit.id == first.id) => Ok(first.id.clone()),
        _ => {
            let message = format!("more than one edit begins with {begin}: give more of the id");
            Err((DecideResult::NotFound, message))
        }
    }
}

fn the_person() -> Caller {
    Caller::anywhere("mcpdiff", "mcpdiff")
}

/// Waits a moment for the texts and the disk to show what was decided, and for the record to have it: whoever asked looks there before
/// anything else is decided. Gives back the hunks about which the editor says that it has not made it; none if that takes longer.
async fn shown(workspace: &Workspace, hunks: &[HunkRef], wanted: Standing) -> Option<Vec<HunkRef>> {
    if hunks.is_empty() {
        return Some(Vec::new());
    }
    let ids: BTreeSet<&str> = hunks.iter().map(|hunk| hunk.edit.as_str()).collect();
    let edits = ids.into_iter().map(str::to_owned).collect();
    let scope = ReviewScope { edits, ..ReviewScope::default() };
    let begun = Instant::now();
    loop {
        let edits = workspace.edits(&the_person(), &scope).await.unwrap_or_default();
        let views = || edits.iter().flat_map(|edit| edit.hunks.iter().map(|hunk| (&edit.id, &hunk.view)));
        if !views().any(|(_, view)| view.deciding) && workspace.recorded_by_now(hunks).await {
            let is_one = |(edit, view): &(&EditId, &HunkView)| {
                hunks.iter().any(|hunk| hunk.edit == **edit && hunk.number == view.number)
            };
            let unmade = views().filter(is_one).filter(|(_, view)| view.decision != wanted);
            let name =
                |(edit, view): (&EditId, &HunkView)| HunkRef { edit: edit.clone(), number: view.number };
            let unmade: Vec<HunkRef> = unmade.map(name).collect();
            // One that says nothing may have done it, and its document be on the way to its new name.
            if unmade.iter().all(|hunk| workspace.not_done_because(hunk).is_some()) {
                return Some(unmade);
            }
        }
        let of_files = views().any(|(_, view)| view.file.is_some());
        if begun.elapsed() >= if of_files { FILE_SHOWN_WITHIN } else { SHOWN_WITHIN } {
            return None;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn result(why: Why) -> DecideResult {
    match why {
        Why::Gone => DecideResult::NotFound,
        Why::Changed | Why::Removed => DecideResult::Changed,
        _ => DecideResult::Conflict,
    }
}

fn refused(undecided: &Undecided) -> Refused {
    let others = undecided.others.iter().map(HunkRef::to_string).collect();
    Refused { hunk: undecided.hunk.clone(), why: undecided.why, message: undecided.message.clone(), others }
}

/// Hands over what another editor decides about, and adds what became of it.
pub(crate) async fn hand_over(session: &Session, request: &Request, decided: &mut Decided) {
    for Elsewhere { file, refused } in std::mem::take(&mut decided.elsewhere) {
        let said = said(request, &file);
        let asked = match (&session.presence.neighbours, said) {
            (Some(neighbours), Some(said)) => neighbours.hand_over(&file, &said).await,
            _ => None,
        };
        match asked {
            // Nobody has it open any more.
            None => decided.refused.push(refused),
            Some((editor, Err(error))) => {
                let message = format!(
                    "It is decided in {editor}, which does not answer ({error}). Decide there, or try again in a moment."
                );
                decided.refused.push(Undecided { message, ..refused });
            }
            Some((_, Ok(outcome))) => add(decided, outcome, &refused),
        }
    }
}

/// Adds what another process says became of a decision.
fn add(decided: &mut Decided, outcome: DecideOutcome, asked: &Undecided) {
    decided.queued.extend(outcome.decided.iter().filter_map(|hunk| hunk.parse().ok()));
    decided.kept.extend(outcome.kept);
    let is_done = matches!(outcome.result, DecideResult::Done | DecideResult::Queued);
    if !is_done && outcome.refused.is_empty() {
        let why = if outcome.result == DecideResult::NotFound { Why::Gone } else { Why::Elsewhere };
        decided.refused.push(Undecided { why, message: outcome.message, ..asked.clone() });
    }
    decided.refused.extend(outcome.refused.into_iter().map(heard));
}

/// A decision about one file as another process is told of it; none of one about what is on this editor's screen, or in words of the
/// person's own.
fn said(request: &Request, file: &Path) -> Option<Decide> {
    if request.own.is_some() {
        return None;
    }
    let (edit, hunk, conversation) = match &request.target {
        Target::Hunk(hunk) => (hunk.edit.to_string(), Some(hunk.number), None),
        Target::Edit(edit) => (edit.clone(), None, None),
        Target::Conversation(id) | Target::Whole(id) => (String::new(), None, Some(id.to_string())),
        Target::Lines(_) | Target::All => return None,
    };
    let decision = match request.choice {
        Choice::Accept => Decision::Accept,
        Choice::Reject => Decision::Reject,
        Choice::KeepMine => Decision::KeepMine,
        Choice::TakeTheirs => Decision::TakeTheirs,
        Choice::KeepBoth => Decision::KeepBoth,
        Choice::Reopen | Choice::Comment => return None,
    };
    let mine = match (request.edited, request.unseen) {
        (Some(TakeOut::KeepMyLines), _) | (None, Unseen::Keep) => Some(Mine::Keep),
        (Some(TakeOut::WithMyChanges), _) | (None, Unseen::GiveUp) => Some(Mine::GiveUp),
        (None, Unseen::Refuse) => None,
    };
    Some(Decide {
        edit,
        hunk,
        conversation,
        decided_too: matches!(request.target, Target::Whole(_)),
        path: Some(file.to_owned()),
        decision,
        reason: request.reason.clone(),
        mine,
        along: match request.along {
            Along::Named => hashline_link::Along::Named,
            Along::OfTurn => hashline_link::Along::OfTurn,
            Along::All => hashline_link::Along::All,
            Along::Needed => hashline_link::Along::Needed,
        },
    })
}

fn heard(refused: Refused) -> Undecided {
    let others = refused.others.iter().filter_map(|hunk| hunk.parse().ok()).collect();
    Undecided { hunk: refused.hunk, why: refused.why, message: refused.message, others }
}
