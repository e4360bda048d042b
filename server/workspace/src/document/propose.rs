//! An agent's edit, from the anchors it names to hunks of the weave (rules W10, W11, W14).
//!
//! In three steps, so that neither hashing nor the search for anchors happens while the document is locked: [`Document::locate`]
//! finds the snapshot that a hash names, [`Located::resolve`] finds the lines in it, [`Document::propose`] carries them to where
//! they are now and records the hunks.

use std::ops::Range;
use std::sync::Arc;

use hashline_anchor::{
    AnchorFailure, LineEdit, Moved, Operation, Options, Resolved, merge_touching, owned_lines, resolve,
};
use hashline_history::{
    ConversationId, Decision, EditId, Location, NewEdit, NewHunk, Operation as FileOperation,
};
use hashline_text::{DiskForm, FileHash, HashPrefix, Text};
use hashline_weave::{Change, HunkId, Plan, Snapshot, Touched, View};

use crate::document::aim::Aim;
use crate::document::{Document, Edit, EditHunk, Mode, Served};
use crate::refusal::Refusal;

/// An edit that an agent asks for, as far as it is not lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The id that the edit gets.
    pub id: EditId,
    /// The turn of the agent that it belongs to.
    pub conversation: ConversationId,
    /// The agent named no conversation, so this edit opens one.
    pub opens_conversation: bool,
    /// Who makes it, as the agent named itself.
    pub agent: String,
    /// The connection that it comes through.
    pub connection: String,
    /// The tool.
    pub tool: String,
    /// How it is to be treated.
    pub mode: Mode,
    /// Refuse if the hash does not name the text as it is now.
    pub strict: bool,
}

impl Proposal {
    /// The edit as it is recorded, before it does anything.
    pub(crate) fn new_edit(&self) -> NewEdit {
        NewEdit {
            id: self.id.clone(),
            conversation: self.conversation.clone(),
            agent: self.agent.clone(),
            connection: self.connection.clone(),
            opens_conversation: self.opens_conversation,
            tool: self.tool.clone(),
            mode: self.mode,
            operation: FileOperation::Edit,
            hash_before: None,
            hash_after: None,
            hunks: Vec::new(),
            file: None,
        }
    }

    /// The edit as it is decided about, before it does anything.
    pub(crate) fn edit(&self) -> Edit {
        Edit {
            id: self.id.clone(),
            conversation: self.conversation.clone(),
            opened_conversation: self.opens_conversation,
            agent: self.agent.clone(),
            connection: self.connection.clone(),
            tool: self.tool.clone(),
            mode: self.mode,
            file: None,
            hunks: Vec::new(),
        }
    }
}

/// The snapshot that an agent's hash names.
#[derive(Clone, Debug)]
pub struct Located {
    snapshot: Arc<Snapshot>,
    /// Whether it is the text as it is now.
    current: bool,
    hash: FileHash,
    /// The lines that were shown under the hash; all of them for the text as it is now, if it was never served.
    seen: Option<Vec<Range<usize>>>,
    live: bool,
}

/// What an edit came to.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The hunks in the weave.
    pub hunks: Vec<HunkId>,
    /// The lines were carried from an older snapshot.
    pub carried: bool,
    /// Operations whose lines were found elsewhere than their anchors say.
    pub moved: Vec<Moved>,
    /// The agent has seen every line of the text that the edit was based on.
    pub seen_all: bool,
    /// Held, though the mode was apply, because it builds on hunks that are held.
    pub held_below: bool,
    /// The agent view with the edit in it.
    pub after: Served,
    before: Before,
    /// The first line that each hunk replaces, in the text before.
    lines: Vec<usize>,
}

/// The agent view that an edit was woven into.
#[derive(Clone, Debug)]
struct Before {
    text: Text,
    form: DiskForm,
    /// Its hash, where the agent named it.
    hash: Option<FileHash>,
}

impl Proposed {
    /// What is to be recorded before anybody is told. Computes the hashes that are not known, so not under a lock.
    pub fn new_edit(&mut self, proposal: &Proposal) -> NewEdit {
        let hunks = self.hunks.iter().zip(&self.lines).zip(1..);
        NewEdit {
            hash_before: Some(self.before.hash.unwrap_or_else(|| self.before.form.hash(&self.before.text))),
            hash_after: Some(self.after.hash()),
            hunks: hunks.map(|((id, line), number)| NewHunk { number, id: Some(*id), line: *line }).collect(),
            ..proposal.new_edit()
        }
    }
}

impl Located {
    fn seen_all(&self) -> bool {
        let all = 0..self.text().line_count();
        self.seen.as_ref().is_some_and(|seen| seen.contains(&all))
    }

    /// The text of the snapshot.
    #[must_use]
    pub fn text(&self) -> &Text {
        self.snapshot.text()
    }

    /// The lines that the operations mean, in the snapshot.
    ///
    /// # Errors
    ///
    /// What is wrong with each operation.
    pub fn resolve(&self, operations: &[Operation]) -> Result<Resolved, Vec<AnchorFailure>> {
        let options = Options { blank_is_empty: self.live };
        let resolved = resolve(self.text(), operations, options)?;
        let unseen = |moved: &&Moved| {
            self.seen.as_ref().is_some_and(|seen| {
                !seen.iter().any(|range| range.start <= moved.to.start && moved.to.end <= range.end)
            })
        };
        let failures: Vec<AnchorFailure> = resolved
            .moved
            .iter()
            .filter(unseen)
            .filter_map(|moved| unseen_failure(moved, operations, self.text()))
            .collect();
        if failures.is_empty() { Ok(resolved) } else { Err(failures) }
    }
}

/// A moved anchor must land on a line that the agent was shown (rule W14): one byte of hash is no proof that it means this one.
fn unseen_failure(moved: &Moved, operations: &[Operation], text: &Text) -> Option<AnchorFailure> {
    use hashline_anchor::{Anchor, Problem, line_hash};
    let operation = operations.get(moved.op)?;
    let anchor = match operation {
        Operation::Replace { start, .. } | Operation::Delete { start, .. } => start.clone(),
        Operation::InsertAfter { anchor: Anchor::Line(anchor), .. }
        | Operation::InsertBefore { anchor, .. } => anchor.clone(),
        Operation::InsertAfter { anchor: Anchor::Start, .. } => return None,
    };
    let instead = text.line(anchor.line).map(|line| line_hash(&line.content()));
    let problem = Problem::NotFound { anchor, instead, lines: text.line_count() };
    Some(AnchorFailure { op: moved.op, name: operation.name(), problem })
}

impl Document {
    /// Finds the snapshot that a hash names. `now` is the agent view as it is, with its hash computed.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownHash`] and [`Refusal::AmbiguousHash`].
    pub fn locate(&self, prefix: &HashPrefix, now: &Served, hash: FileHash) -> Result<Located, Refusal> {
        let mut matching = self.snapshots.matching(prefix);
        let mut hashes: Vec<FileHash> = matching.iter().map(|(hash, ..)| *hash).collect();
        let current = prefix.matches(&hash);
        if current {
            hashes.push(hash);
        }
        hashes.sort_unstable();
        hashes.dedup();
        let live = self.is_open();
        match (hashes.len(), current) {
            (0, _) => {
                Err(Refusal::UnknownHash { given: prefix.to_string(), live, now: Box::new(now.clone()) })
            }
            (1, true) => {
                let seen = matching.into_iter().next().map(|(.., seen)| seen);
                Ok(Located { snapshot: now.snapshot.clone(), current, hash, seen, live })
            }
            (1, false) => {
                let (hash, snapshot, seen) = matching.remove(0);
                if !live {
                    return Err(Refusal::ChangedOnDisk { now: Box::new(now.clone()) });
                }
                Ok(Located { snapshot, current, hash, seen: Some(seen), live })
            }
            _ => Err(Refusal::AmbiguousHash { given: prefix.to_string() }),
        }
    }

    /// Carries resolved operations to where their lines are now and records them as hunks: provisional until
    /// [`publish`](Self::publish), gone with [`withdraw_provisional`](Self::withdraw_provisional).
    ///
    /// # Errors
    ///
    /// [`Refusal`]; nothing has changed then.
    pub fn propose(
        &mut self,
        located: &Located,
        resolved: &Resolved,
        proposal: &Proposal,
    ) -> Result<Proposed, Refusal> {
        if let Some(reason) = self.out_of_step() {
            return Err(Refusal::OutOfStep { uri: self.uri().to_owned(), reason: reason.clone() });
        }
        let agent = self.weave().agent();
        let unchanged = located.current
            && (agent.is_same_instance(located.text()) || (proposal.strict && agent == located.text()));
        let carried = match unchanged {
            true => resolved.edits.clone(),
            false => self.carried(located, resolved, proposal.strict)?,
        };
        let form = self.form();
        let weave = self.weave();
        let text = weave.agent().clone();
        let before = Before { text: text.clone(), form, hash: unchanged.then_some(located.hash) };
        let hunks = merge_touching(carried);
        let changes: Vec<Change> = hunks
            .into_iter()
            .map(|hunk| Change {
                new: owned_lines(&text, hunk.lines.clone(), &hunk.content),
                lines: hunk.lines,
            })
            .collect();
        let ids = weave.record(&changes).map_err(Refusal::CannotWeave)?;
        let made = self.exists();
        let weave = self.weave();
        let held_below = proposal.mode == Mode::Apply
            && (!made
                || ids
                    .iter()
                    .any(|id| weave.prerequisites(*id).iter().any(|below| !weave.in_buffer(*below))));
        let lines = changes.iter().map(|change| change.lines.start).collect();
        // Until it is recorded nobody sees it but its agent, in the reply (rule W20).
        let after = self.serve_agents()?;
        self.weave().conceal(&ids);
        Ok(Proposed {
            hunks: ids,
            carried: !located.current,
            moved: resolved.moved.clone(),
            seen_all: unchanged && located.seen_all(),
            held_below,
            after,
            before,
            lines,
        })
    }

    /// The agent view, to find lines in and to reply with.
    ///
    /// # Errors
    ///
    /// [`Refusal::OutOfStep`].
    pub fn serve_agents(&mut self) -> Result<Served, Refusal> {
        let uri = self.uri().to_owned();
        self.serve(View::Agent).map_err(|reason| Refusal::OutOfStep { uri, reason })
    }

    /// Takes back what was proposed and could not be recorded.
    pub fn withdraw_provisional(&mut self, proposed: &Proposed) {
        let taken_back = self.weave().unrecord(&proposed.hunks);
        debug_assert!(taken_back, "what nobody has seen, nobody has switched or built on");
    }

    /// Lets what was proposed and recorded be shown and decided. In apply mode it is to come into the text: that is under way when
    /// this returns, and without an editor waits for [`settle_on_disk`](Self::settle_on_disk).
    pub fn publish(&mut self, proposed: &mut Proposed, proposal: &Proposal) {
        let weave = self.weave();
        weave.reveal(&proposed.hunks);
        if weave.agent().is_same_instance(proposed.after.text()) {
            proposed.after.is_of(weave.revision());
        }
        self.edits.push(proposal.edit());
        self.add_hunks(&proposed.hunks, 1);
        self.news.review = true;
        if proposal.mode == Mode::Apply && !proposed.held_below {
            self.intend(Aim::PutIn, Plan::switch(&proposed.hunks, &[]), None, None);
        }
    }

    /// Gives the last edit hunks of the weave, numbered from `first`.
    pub(crate) fn add_hunks(&mut self, hunks: &[HunkId], first: u32) {
        let Some(at) = self.edits.len().checked_sub(1) else { return };
        self.owners.extend((0..hunks.len()).map(|hunk| Some((at, hunk))));
        let undecided = Decision::Undecided;
        let hunk = |(id, number): (&HunkId, u32)| EditHunk {
            number,
            id: *id,
            decision: undecided,
            reason: None,
            told: undecided,
            location: Location::None,
        };
        self.edits[at].hunks = hunks.iter().zip(first..).map(hunk).collect();
    }

    /// The places of some hunks in the agent view.
    pub fn places_for_agent(&mut self, hunks: &[HunkId]) -> Vec<Range<usize>> {
        let places = self.weave().places(View::Agent);
        hunks.iter().filter_map(|id| places[id.order()].clone()).collect()
    }

    /// The resolved operations as edits of the agent view as it is now.
    fn carried(
        &mut self,
        located: &Located,
        resolved: &Resolved,
        strict: bool,
    ) -> Result<Vec<LineEdit>, Refusal> {
        let mut carried = Vec::with_capacity(resolved.edits.len());
        let mut touched = Vec::new();
        let weave = self.weave();
        if strict {
            return Err(self.stale(touched));
        }
        // Behind the one empty line of a blank text, which the first insert at `0:` takes away.
        let mut blank = 0;
        for edit in &resolved.edits {
            let lines = match resolved.named.get(edit.op).and_then(Option::as_ref) {
                // Before line 1, wherever that is.
                None if edit.lines.is_empty() => Ok(blank..blank),
                None => weave.carry(&located.snapshot, edit.lines.clone()).inspect(|lines| blank = lines.end),
                Some(named) if !edit.lines.is_empty() => weave.carry(&located.snapshot, named.clone()),
                Some(named) => weave.carry(&located.snapshot, named.clone()).map(|now| {
                    let at = if edit.lines.start >= named.end { now.end } else { now.start };
                    at..at
                }),
            };
            match lines {
                Ok(lines) => carried.push(LineEdit { lines, ..edit.clone() }),
                Err(line) => touched.push((edit.op, line)),
            }
        }
        if touched.is_empty() {
            carried.sort_by_key(|edit| (edit.lines.start, edit.lines.end));
            return Ok(carried);
        }
        Err(self.stale(touched))
    }

    fn stale(&mut self, touched: Vec<(usize, Touched)>) -> Refusal {
        match self.serve_agents() {
            Ok(now) => Refusal::Stale { now: Box::new(now), touched },
            Err(refusal) => refusal,
        }
    }
}
