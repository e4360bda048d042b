//! `mcpdiff accept` and `mcpdiff reject`: what they decide, what they say of it, and the code that they end with.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound::Excluded;
use std::process::ExitCode;

use hashline_history::path::to_text;
use hashline_history::{
    ConversationId, Decision, DocumentName, EditId, FileId, Found, HunkRef, HunkState, Reason, Sequence,
    Status, Store, Why,
};
use hashline_terminal::{Failure, Screen, inert, tell};
use hashline_workspace::document::Along;
use serde_json::json;

use super::arguments::Decide;
use super::decider::{Answer, Choice, Decider, Mine, Refusal, Target, Verb, Wish};
use super::edit_details::{Edit, Edits};
use super::messages;
use super::resolve_id::{Book, Named, hunk};
use super::sidecars::{Everywhere, Trial};

/// Decides about what is named.
pub fn run<'a>(
    store: &Store,
    verb: Verb,
    options: &Decide,
    decider: impl FnOnce() -> Result<Everywhere<'a>, Failure>,
    screen: Screen,
) -> Result<ExitCode, Failure> {
    if options.names.is_empty() {
        return Err(Book::open(store)?.name_something(verb.word()));
    }
    let mut decider = decider()?;
    // What was left half done is not decided already.
    let mended = decider.mended();
    decide(store, verb, options, &mut decider, &mended, screen).inspect_err(|_| {
        mended.iter().for_each(|note| tell(&format!("mcpdiff: {}", inert(note))));
    })
}

fn decide(
    store: &Store,
    verb: Verb,
    options: &Decide,
    decider: &mut Everywhere<'_>,
    mended: &[String],
    screen: Screen,
) -> Result<ExitCode, Failure> {
    let book = Book::open(store)?;
    let named = book.all(&options.names)?;
    let how = How {
        verb,
        reason: options.reason.as_deref().and_then(Reason::of),
        mine: match (options.keep, options.force) {
            (true, _) => Some(Mine::Keep),
            (_, true) => Some(Mine::GiveUp),
            _ => None,
        },
        along: if options.with_others { Along::Needed } else { Along::Named },
    };
    let mut edits = Edits::new(store);
    let mut plan = Plan::default();
    for one in &named {
        plan.add(one, &how, &mut edits)?;
    }
    plan.finish(&how);
    let all = Answer { notes: mended.to_vec(), ..Answer::default() };
    let mut told = Told { verb, said: String::new(), heading: None, all };
    if plan.is_one {
        let mut trial = decider.rehearsal();
        match in_order(&mut trial, plan.wishes, &named, &plan.open, &book) {
            Ok(wishes) => wishes.iter().zip(trial.make()).for_each(|(wish, one)| told.add(wish, one)),
            Err(refused) => told.all.refused.extend(refused),
        }
    } else {
        for (at, wish) in plan.wishes.iter().enumerate() {
            let mut wish = if at == 0 { wish.clone() } else { wish.found_again(store)? };
            let one = carry_out(decider, &mut wish, &named);
            told.add(&wish, one);
        }
    }
    let Told { mut said, mut all, .. } = told;
    if plan.is_one && named.len() > 1 && !all.refused.is_empty() && all.decided.is_empty() {
        all.notes.push(messages::NOTHING_ELSE.to_owned());
    }
    let code = all.refused.iter().map(|refusal| exit_code(refusal.why)).max().unwrap_or(0);
    let code = if code == 0 && all.decided.is_empty() { 1 } else { code };
    let folder = store.folder();
    let is_asked =
        |hunk: &HunkRef| plan.is_one && plan.open.get(&hunk.edit).is_some_and(|open| open.contains(hunk));
    if options.json {
        screen.print_json(&json!({
            "decision": verb.done(),
            "decided": all.decided,
            "waiting": all.waiting,
            "kept_in": all.kept.iter().map(|copy| to_text(copy)).collect::<Vec<_>>(),
            "notes": all.notes,
            "refused": all.refused.iter().map(|refusal| json!({
                "name": refusal.hunk,
                "file_path": refusal.document.as_ref().map(DocumentName::to_text),
                "why": word(refusal.why),
                "message": messages::refused(verb, refusal, folder, is_asked),
                "others": refusal.others,
            })).collect::<Vec<_>>(),
            "nothing_to_do": plan.idle,
        }))?;
        return Ok(ExitCode::from(code));
    }
    said.push_str(&messages::kept(&all.kept));
    screen.print(&screen.sentences(&said))?;
    let notes = all.notes.iter().map(|note| inert(note));
    let refused = all.refused.iter().map(|one| messages::refused(verb, one, folder, is_asked));
    for words in notes.chain(plan.idle.iter().cloned()).chain(refused) {
        tell(&format!("mcpdiff: {words}"));
    }
    Ok(ExitCode::from(code))
}

/// What came of wishes so far, and what is said of it.
struct Told {
    verb: Verb,
    said: String,
    /// The conversation that was named last.
    heading: Option<ConversationId>,
    all: Answer,
}

impl Told {
    fn add(&mut self, wish: &Wish, mut one: Answer) {
        one.decided.retain(|hunk| !self.all.decided.contains(hunk));
        if wish.conversation != self.heading && !one.decided.is_empty() {
            self.said.push_str(&wish.conversation.as_ref().map_or_else(String::new, messages::conversation));
            self.heading.clone_from(&wish.conversation);
        }
        self.said.push_str(&messages::decided(self.verb, wish, &one));
        self.all.add(one);
    }
}

/// Wishes in an order in which all of them can be fulfilled: in theirs, but for those that wait for a name which another of them frees. Where
/// each waits for another, files share names until the last of them is fulfilled. What one takes along is not wished for again. An error is
/// what stands against the first that cannot be.
fn in_order(
    trial: &mut Trial<'_>,
    wishes: Vec<Wish>,
    named: &[Named],
    open: &HashMap<EditId, Vec<HunkRef>>,
    book: &Book,
) -> Result<Vec<Wish>, Vec<Refusal>> {
    // What waits for what others of these do to a file is not what stands against them.
    let files: HashSet<FileId> = wishes.iter().flat_map(|wish| &wish.edits).map(|found| found.file).collect();
    let (mut left, mut order, mut done) = (wishes, Vec::new(), HashSet::new());
    while !left.is_empty() {
        left = left.iter().filter_map(|wish| wish.without(&done, open)).collect();
        let waits = |refusals: &[Refusal]| {
            let is_waited_for =
                |hunk: &HunkRef| book.file_of(&hunk.edit).is_some_and(|file| files.contains(&file));
            let only = |refusal: &Refusal| {
                let others = &refusal.others;
                refusal.why == Why::Collides && !others.is_empty() && others.iter().all(is_waited_for)
            };
            refusals.iter().all(only)
        };
        let mut first: Option<Vec<Refusal>> = None;
        let next = [false, true].into_iter().find_map(|may_share| {
            left.iter_mut().position(|wish| {
                let mut tried = wish.clone();
                let answer = carry_out(trial, &mut tried, named);
                let is_refused = !answer.refused.is_empty();
                let fits = !is_refused && (may_share || !trial.shares_names());
                if fits {
                    trial.keep();
                    done.extend(answer.decided);
                    *wish = tried;
                } else {
                    trial.forget();
                }
                if is_refused && first.as_ref().is_none_or(|first| waits(first) && !waits(&answer.refused)) {
                    first = Some(answer.refused);
                }
                fits
            })
        });
        match next {
            Some(at) => order.push(left.remove(at)),
            None if left.is_empty() => {}
            None => return Err(first.unwrap_or_default()),
        }
    }
    match trial.collision() {
        Some(taken) => Err(vec![taken]),
        None => Ok(order),
    }
}

/// How it is to be decided.
#[derive(Clone, Debug)]
pub struct How {
    pub verb: Verb,
    pub reason: Option<Reason>,
    pub mine: Option<Mine>,
    pub along: Along,
}

impl How {
    /// What is wanted of a target.
    pub fn wish(&self, target: Target, edits: Vec<Found>) -> Wish {
        let choice = match self.verb {
            Verb::Accept => Choice::Accept,
            Verb::Reject => Choice::Reject,
        };
        let (reason, mine, along) = (self.reason.clone(), self.mine, self.along);
        let (then, conversation) = (Vec::new(), None);
        Wish { choice, target, then, edits, conversation, reason, mine, along }
    }
}

/// What is to be asked for, and what need not be.
#[derive(Debug, Default)]
struct Plan {
    wishes: Vec<Wish>,
    /// The edits of conversations that do something to files, with what is wanted of their conversation.
    in_turn: Vec<Edit>,
    /// The hunks that are to be decided, by their edits.
    open: HashMap<EditId, Vec<HunkRef>>,
    /// All of them are to be fulfilled, or none.
    is_one: bool,
    /// Why not, in sentences.
    idle: Vec<String>,
}

impl Plan {
    /// What was made later may rest on what was made before it, such as lines on their file: it comes in after that, and goes out first.
    fn finish(&mut self, how: &How) {
        self.join_runs(how);
        let sequence = |edits: &[Found]| edits.iter().map(|edit| edit.sequence).min();
        self.wishes.sort_by_key(|wish| sequence(&wish.edits));
        if how.verb == Verb::Reject {
            self.wishes.reverse();
        }
    }

    /// What follows on each other in one file, with nothing else that is named in between, is written at once: names that the file had only
    /// in between may be taken.
    fn join_runs(&mut self, how: &How) {
        let mut edits = std::mem::take(&mut self.in_turn);
        edits.sort_by_key(|edit| edit.found.sequence);
        let all = edits.iter().map(|edit| &edit.found).chain(self.wishes.iter().flat_map(|wish| &wish.edits));
        let sequences: BTreeSet<Sequence> = all.map(|found| found.sequence).collect();
        let follows = |one: &Edit, next: &Edit| {
            let (one, next) = (&one.found, &next.found);
            let same = one.file == next.file && one.conversation == next.conversation;
            same && sequences.range((Excluded(one.sequence), Excluded(next.sequence))).next().is_none()
        };
        for run in edits.chunk_by(follows) {
            let mut targets: Vec<Target> = run.iter().flat_map(|edit| parts(edit, how.verb)).collect();
            if how.verb == Verb::Reject {
                targets.reverse();
            }
            let first = targets.remove(0);
            let edits: Vec<Found> = run.iter().map(|edit| edit.found.clone()).collect();
            let conversation = edits.first().map(|found| found.conversation.clone());
            self.wishes.push(Wish { then: targets, conversation, ..how.wish(first, edits) });
        }
    }

    /// Notes the hunks of an edit that are to be decided.
    fn note_open(&mut self, edit: &EditId, hunks: &[HunkState], verb: Verb) {
        let is_open = |hunk: &&HunkState| ![Decision::Withdrawn, decision_of(verb)].contains(&hunk.decision);
        let open =
            hunks.iter().filter(is_open).map(|hunk| HunkRef { edit: edit.clone(), number: hunk.number });
        self.open.entry(edit.clone()).or_default().extend(open);
    }

    fn add(&mut self, named: &Named, how: &How, edits: &mut Edits<'_>) -> Result<(), Failure> {
        match named {
            Named::Edit(found) => {
                let edit = edits.read(found)?;
                let target = Target::Edit(found.edit.clone());
                self.unless_idle(edit.hunks(), named, how, target, vec![found.clone()]);
            }
            Named::Hunk(found, number) => {
                let edit = edits.with_hunk(found, *number)?;
                let hunks: Vec<HunkState> =
                    edit.hunks().iter().filter(|hunk| hunk.number == *number).cloned().collect();
                let target = Target::Hunk(hunk(found, *number));
                self.unless_idle(&hunks, named, how, target, vec![found.clone()]);
            }
            Named::Conversation(id, found) => self.add_conversation(id, found, named, how, edits)?,
        }
        Ok(())
    }

    /// Adds all of a conversation: at once where it changes lines alone, else edit by edit, as what is done to files has an order.
    fn add_conversation(
        &mut self,
        id: &ConversationId,
        found: &[Found],
        named: &Named,
        how: &How,
        edits: &mut Edits<'_>,
    ) -> Result<(), Failure> {
        // What was rejected stays so while there is something else to accept; a rejection takes out what was accepted, too.
        let pending = |found: &Found| found.status == Status::Pending;
        let rest = how.verb == Verb::Accept && found.iter().any(pending);
        let mut all = Vec::new();
        for found in found.iter().filter(|found| !rest || pending(found)) {
            all.push(edits.read(found)?);
        }
        let hunks: Vec<HunkState> = all.iter().flat_map(Edit::hunks).cloned().collect();
        if let Some(why) = idle(&hunks, how.verb) {
            self.idle.push(messages::nothing_to_do(why, named));
            return Ok(());
        }
        all.retain(|edit| edit.state.is_err() || idle(edit.hunks(), how.verb).is_none());
        self.is_one = true;
        for edit in &all {
            self.note_open(&edit.found.edit, edit.hunks(), how.verb);
        }
        if all.iter().any(|edit| edit.file_change().is_some()) {
            self.in_turn.extend(all);
            return Ok(());
        }
        let target = if rest { Target::Conversation(id.clone()) } else { Target::Whole(id.clone()) };
        let edits = all.into_iter().map(|edit| edit.found).collect();
        self.wishes.push(Wish { conversation: Some(id.clone()), ..how.wish(target, edits) });
        Ok(())
    }

    /// Adds a wish about hunks, unless there is nothing to do.
    fn unless_idle(
        &mut self,
        hunks: &[HunkState],
        named: &Named,
        how: &How,
        target: Target,
        found: Vec<Found>,
    ) {
        match idle(hunks, how.verb) {
            Some(why) => self.idle.push(messages::nothing_to_do(why, named)),
            None => {
                found.iter().for_each(|found| self.note_open(&found.edit, hunks, how.verb));
                self.wishes.push(how.wish(target, found));
            }
        }
    }
}

/// What has to be named so that all of an edit is decided: where it was decided in part, that is each of its hunks.
fn parts(edit: &Edit, verb: Verb) -> Vec<Target> {
    let has = |decision| edit.hunks().iter().any(|hunk| hunk.decision == decision);
    if verb == Verb::Accept || !has(Decision::Undecided) || !has(Decision::Accepted) {
        return vec![Target::Edit(edit.found.edit.clone())];
    }
    let open = |hunk: &&HunkState| !matches!(hunk.decision, Decision::Rejected | Decision::Withdrawn);
    let hunks = edit.hunks().iter().filter(open);
    hunks.map(|state| Target::Hunk(hunk(&edit.found, state.number))).collect()
}

/// Why nothing is to be decided about hunks: they are all decided so, or taken back by their agent.
fn idle(hunks: &[HunkState], verb: Verb) -> Option<Decision> {
    let mut left = hunks.iter().filter(|hunk| hunk.decision != Decision::Withdrawn).peekable();
    if hunks.is_empty() {
        return None;
    }
    if left.peek().is_none() {
        return Some(Decision::Withdrawn);
    }
    let wanted = decision_of(verb);
    left.all(|hunk| hunk.decision == wanted).then_some(wanted)
}

fn decision_of(verb: Verb) -> Decision {
    match verb {
        Verb::Accept => Decision::Accepted,
        Verb::Reject => Decision::Rejected,
    }
}

/// More conflicts than this in one edit are left for the next time.
const CONFLICTS: usize = 1000;

/// Decides, and again where the person has said already what to do about what stands against it. The wish is then what was wished for in the
/// end.
pub fn carry_out(decider: &mut dyn Decider, wish: &mut Wish, named: &[Named]) -> Answer {
    let mut answer = decider.decide(wish);
    let is_named = |hunk: &HunkRef| {
        named.iter().any(|named| match named {
            Named::Edit(found) => found.edit == hunk.edit,
            Named::Hunk(found, number) => found.edit == hunk.edit && *number == hunk.number,
            Named::Conversation(_, found) => found.iter().any(|found| found.edit == hunk.edit),
        })
    };
    let needed = |refusal: &Refusal| {
        refusal.why == Why::NeedsOthers && !refusal.others.is_empty() && refusal.others.iter().all(is_named)
    };
    if wish.along == Along::Named && !answer.refused.iter().all(needed) {
        // What is named as well stands against nothing.
        answer.refused.retain(|refusal| !needed(refusal));
    } else if wish.along == Along::Named && !answer.refused.is_empty() {
        // It may need more than it has said.
        let whole = Wish { along: Along::Needed, ..wish.clone() };
        let mut others = decider.look_at(&whole).decided;
        others.retain(|hunk| !is_named(hunk));
        if others.is_empty() {
            answer.refused.clear();
            *wish = whole;
            answer.add(decider.decide(wish));
        } else {
            for refusal in &mut answer.refused {
                refusal.message = messages::takes_along(&others);
                refusal.others.clone_from(&others);
            }
        }
    }
    let way = match (wish.choice, wish.mine) {
        (Choice::Accept, Some(Mine::Keep)) => Choice::KeepBoth,
        (Choice::Accept, Some(Mine::GiveUp)) => Choice::TakeTheirs,
        _ => return answer,
    };
    for _ in 0..CONFLICTS {
        let conflict = answer.refused.iter().position(|refusal| refusal.why == Why::Conflicted);
        let Some((at, hunk)) =
            conflict.and_then(|at| Some((at, answer.refused[at].hunk.parse::<HunkRef>().ok()?)))
        else {
            break;
        };
        let target = Target::Hunk(hunk);
        let one = decider.decide(&Wish { choice: way, target, then: Vec::new(), ..wish.clone() });
        answer.refused.remove(at);
        let stuck = !one.refused.is_empty();
        answer.add(one);
        if stuck {
            break;
        }
        if answer.refused.is_empty() && !matches!(wish.target, Target::Hunk(_)) {
            // One that is conflicted keeps the others of its edit waiting.
            let mut rest = decider.decide(wish);
            rest.refused.retain(|refusal| refusal.why != Why::Gone);
            answer.add(rest);
        }
    }
    answer
}

/// The code that the program ends with where something was not decided.
fn exit_code(why: Why) -> u8 {
    match why {
        Why::Gone | Why::Failed => 1,
        Why::Changed | Why::Removed => 3,
        Why::Conflicted
        | Why::Edited
        | Why::NeedsOthers
        | Why::Collides
        | Why::Lost
        | Why::Open
        | Why::Elsewhere => 4,
    }
}

/// The word in JSON for why something was not decided.
fn word(why: Why) -> &'static str {
    match why {
        Why::Gone => "gone",
        Why::Changed => "changed",
        Why::Removed => "removed",
        Why::Conflicted => "conflicted",
        Why::Edited => "edited",
        Why::NeedsOthers => "needs_others",
        Why::Collides => "collides",
        Why::Lost => "lost",
        Why::Open => "open",
        Why::Failed => "failed",
        Why::Elsewhere => "unreachable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_history::FileId;

    /// Answers in turn, and remembers what it was asked.
    struct Fake {
        answers: Vec<Answer>,
        asked: Vec<(Choice, Target, Along)>,
    }

    impl Decider for Fake {
        fn decide(&mut self, wish: &Wish) -> Answer {
            self.asked.push((wish.choice, wish.target.clone(), wish.along));
            if self.answers.is_empty() { Answer::default() } else { self.answers.remove(0) }
        }

        fn look_at(&mut self, _: &Wish) -> Answer {
            Answer::default()
        }
    }

    fn found(edit: &str) -> Found {
        Found {
            edit: edit.into(),
            conversation: "conv".into(),
            file: FileId(Sequence(1)),
            document: DocumentName::Path("/p/a".into()),
            sequence: Sequence(1),
            status: Status::Pending,
        }
    }

    fn name(hunk: &str) -> HunkRef {
        hunk.parse().unwrap()
    }

    fn decided(hunks: &[&str]) -> Answer {
        Answer { decided: hunks.iter().map(|hunk| name(hunk)).collect(), ..Answer::default() }
    }

    fn refused(hunk: &str, why: Why, others: &[&str]) -> Answer {
        let others = others.iter().map(|hunk| name(hunk)).collect();
        let refusal = Refusal { hunk: hunk.to_owned(), why, message: String::new(), others, document: None };
        Answer { refused: vec![refusal], ..Answer::default() }
    }

    fn wish(verb: Verb, mine: Option<Mine>, target: Target) -> Wish {
        How { verb, reason: None, mine, along: Along::Named }.wish(target, vec![found("a")])
    }

    fn edit() -> Target {
        Target::Edit("a".into())
    }

    #[test]
    fn what_was_named_with_it_is_decided_with_it() {
        let needs = || refused("a:1", Why::NeedsOthers, &["b:1"]);
        let both = [Named::Edit(found("a")), Named::Hunk(found("b"), 1)];
        for (named, asked, refusals) in [(&both[..], 2, 0), (&both[..1], 1, 1)] {
            let mut fake = Fake { answers: vec![needs(), decided(&["a:1", "b:1"])], asked: Vec::new() };
            let answer = carry_out(&mut fake, &mut wish(Verb::Accept, None, edit()), named);
            assert_eq!((fake.asked.len(), answer.refused.len()), (asked, refusals));
            assert_eq!(fake.asked.last().unwrap().2 == Along::Needed, asked == 2);
        }
        // Where something else stands against it, that alone is said.
        let mut answer = needs();
        answer.add(refused("a:2", Why::NeedsOthers, &["c:1"]));
        let mut fake = Fake { answers: vec![answer], asked: Vec::new() };
        let answer = carry_out(&mut fake, &mut wish(Verb::Accept, None, edit()), &both);
        assert_eq!(answer.refused, refused("a:2", Why::NeedsOthers, &["c:1"]).refused);
    }

    #[test]
    fn a_conflict_is_solved_as_the_person_said() {
        for (mine, way) in [(Mine::Keep, Choice::KeepBoth), (Mine::GiveUp, Choice::TakeTheirs)] {
            let answers =
                vec![refused("a:2", Why::Conflicted, &["a:1"]), decided(&["a:2"]), decided(&["a:1"])];
            let mut fake = Fake { answers, asked: Vec::new() };
            let answer = carry_out(&mut fake, &mut wish(Verb::Accept, Some(mine), edit()), &[]);
            assert_eq!((answer.decided, answer.refused), (decided(&["a:2", "a:1"]).decided, Vec::new()));
            assert_eq!(
                fake.asked,
                [
                    (Choice::Accept, edit(), Along::Named),
                    (way, Target::Hunk(name("a:2")), Along::Named),
                    (Choice::Accept, edit(), Along::Named)
                ]
            );
        }
        // Without a word nothing is solved, and neither is a rejection.
        for (verb, mine) in [(Verb::Accept, None), (Verb::Reject, Some(Mine::Keep))] {
            let mut fake = Fake { answers: vec![refused("a:2", Why::Conflicted, &[])], asked: Vec::new() };
            let answer = carry_out(&mut fake, &mut wish(verb, mine, edit()), &[]);
            assert_eq!((fake.asked.len(), answer.refused.len()), (1, 1));
        }
        // What cannot be solved stays refused.
        let answers = vec![refused("a:2", Why::Conflicted, &[]), refused("a:2", Why::Conflicted, &[])];
        let mut fake = Fake { answers, asked: Vec::new() };
        let answer = carry_out(&mut fake, &mut wish(Verb::Accept, Some(Mine::Keep), edit()), &[]);
        assert_eq!((fake.asked.len(), answer.refused.len()), (2, 1));
    }

    #[test]
    fn codes_say_why() {
        for (why, code) in [
            (Why::Gone, 1),
            (Why::Changed, 3),
            (Why::Removed, 3),
            (Why::Conflicted, 4),
            (Why::Edited, 4),
            (Why::NeedsOthers, 4),
            (Why::Collides, 4),
            (Why::Open, 4),
            (Why::Elsewhere, 4),
        ] {
            assert_eq!(exit_code(why), code, "{why:?}");
        }
    }
}
