//! An agent's edit, from the lines it names to hunks of the weave (rules W10, W11, W14).
//!
//! In three steps, so that neither hashing nor the search for lines happens while the document is locked: [`Document::locate`]
//! finds the snapshot that a hash names, [`Located::resolve`] finds the lines in it, [`Document::propose`] carries them to where
//! they are now and records the hunks.
//!
//! What asks for lines that stand there already makes no hunk, and a change of nothing else is none: there would be nothing to decide. A
//! hunk that changes something is recorded as the agent has given it, with those of its lines that stay the same: they belong to what the
//! agent means, and what happens to them is its concern (rule W7).

use std::ops::Range;

use hashline_anchor::{ExactHunk, LineEdit, Moved, Resolved, Rewrite, merge_touching, owned_lines};
use hashline_history::{
    AgentName, Connection, ConversationId, EditId, NewEdit, NewHunk, Operation as FileOperation, Reason,
    UnixMillis,
};
use hashline_text::{DiskForm, FileHash, HashPrefix, LineRef, OwnedLine, Text};
use hashline_weave::{Change, HunkId, Snapshot, Touched, View, Weave};

use crate::document::decisions::wishes::Way;
use crate::document::text::change::{Resolution, Work};
use crate::document::{Document, Edit, Located, Mode, Note, Refused, Served, Unit};

/// An edit that an agent asks for, as far as it is not lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The id that the edit gets.
    pub id: EditId,
    /// When it is made.
    pub made: Option<UnixMillis>,
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// The agent named no conversation, so this edit opens one.
    pub opens_conversation: bool,
    /// Who makes it, as the agent named itself.
    pub agent: AgentName,
    /// The connection that it comes through.
    pub connection: Connection,
    /// The tool.
    pub tool: String,
    /// Why, as the agent says.
    pub reason: Option<Reason>,
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
            reason: self.reason.clone(),
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
            made: self.made,
            conversation: self.conversation.clone(),
            opened_conversation: self.opens_conversation,
            agent: self.agent.clone(),
            connection: self.connection.clone(),
            tool: self.tool.clone(),
            reason: self.reason.clone(),
            mode: self.mode,
            file: None,
            hunks: Vec::new(),
        }
    }
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
    /// The agent knows every line of the text with the edit in it.
    pub seen_all: bool,
    /// Held, though the mode was apply, because it builds on hunks that are held.
    pub held_below: bool,
    /// What is worth telling of a whole new text.
    pub notes: Vec<Note>,
    /// What the parts of the change are called.
    pub unit: Unit,
    /// The parts that ask for what stood there already, by their index.
    pub idle: Vec<usize>,
    /// The agent view with the edit in it.
    pub after: Served,
    pub(super) before: Before,
    pub(super) operation: FileOperation,
    /// The first line that each hunk replaces, in the text before.
    pub(super) lines: Vec<usize>,
}

/// The agent view that an edit was woven into.
#[derive(Clone, Debug)]
pub(super) struct Before {
    pub text: Text,
    pub form: DiskForm,
    /// Its hash, where the agent named it.
    pub hash: Option<FileHash>,
}

impl Proposed {
    /// The hash of the text that the edit was woven into, where it is known.
    #[must_use]
    pub fn hash_before(&self) -> Option<FileHash> {
        self.before.hash
    }

    /// What is to be recorded before anybody is told. Computes the hashes that are not known, so not under a lock.
    pub fn new_edit(&mut self, proposal: &Proposal) -> NewEdit {
        let hunks = self.hunks.iter().zip(&self.lines).zip(1..);
        NewEdit {
            operation: self.operation,
            hash_before: Some(self.before.hash.unwrap_or_else(|| self.before.form.hash(&self.before.text))),
            hash_after: Some(self.after.hash()),
            hunks: hunks.map(|((id, line), number)| NewHunk { number, id: Some(*id), line: *line }).collect(),
            ..proposal.new_edit()
        }
    }
}

impl Document {
    /// Finds the snapshot that a hash names. `now` is the agent view as it is, with its hash computed.
    ///
    /// # Errors
    ///
    /// [`Refused::UnknownHash`] and [`Refused::AmbiguousHash`].
    pub fn locate(&self, prefix: &HashPrefix, now: &Served, hash: FileHash) -> Result<Located, Refused> {
        let mut matching = self.text.snapshots.matching(prefix);
        let mut hashes: Vec<FileHash> = matching.iter().map(|(hash, ..)| *hash).collect();
        let current = prefix.matches(&hash);
        if current {
            hashes.push(hash);
        }
        hashes.sort_unstable();
        hashes.dedup();
        let (live, form) = (self.is_open(), now.form());
        match (hashes.len(), current) {
            (0, _) => {
                Err(Refused::UnknownHash { given: prefix.to_string(), live, now: Box::new(now.clone()) })
            }
            (1, true) => {
                let seen = matching.into_iter().next().map(|(.., seen)| seen);
                Ok(Located { snapshot: now.snapshot.clone(), current, hash, seen, live, form })
            }
            (1, false) => {
                let (hash, snapshot, seen) = matching.remove(0);
                if !live {
                    return Err(Refused::ChangedOnDisk { now: Box::new(now.clone()) });
                }
                Ok(Located { snapshot, current, hash, seen: Some(seen), live, form })
            }
            _ => Err(Refused::AmbiguousHash { given: prefix.to_string() }),
        }
    }

    /// Carries a change to where its lines are now and records it as hunks: provisional until
    /// [`publish`](Self::publish), gone with [`withdraw_provisional`](Self::withdraw_provisional).
    ///
    /// # Errors
    ///
    /// [`Refused`]; nothing has changed then. [`Refused::NothingToDo`] where the text reads so already, [`Refused::Unanswered`] while the
    /// document [awaits an answer](Self::awaits_answer).
    pub fn propose(
        &mut self,
        located: &Located,
        resolution: &Resolution,
        proposal: &Proposal,
    ) -> Result<Proposed, Refused> {
        self.takes_edits()?;
        let agent = self.weave().agent();
        // What must not be carried is compared, which takes time in the size of the text.
        let whole = resolution.unit == Unit::Whole;
        let unchanged = located.current
            && (agent.is_same_instance(located.text())
                || ((proposal.strict || whole) && agent == located.text()));
        let work = match unchanged {
            true => resolution.work.clone(),
            false if proposal.strict || whole => return Err(self.stale(resolution.unit, Vec::new())),
            false => self.carried(located, resolution)?,
        };
        let form = self.form();
        let text = self.weave().agent().clone();
        let Changes { changes, newline, idle } = work.into_changes(&text);
        if changes.is_empty() {
            let now = Box::new(self.serve_agents()?);
            return Err(Refused::NothingToDo { now, notes: resolution.notes.clone() });
        }
        let before = Before { text, form, hash: unchanged.then_some(located.hash) };
        let weave = self.weave();
        let ids = match newline {
            Some(newline) => weave.record_with_newline(&changes, newline),
            None => weave.record(&changes),
        };
        let ids = ids.map_err(Refused::CannotWeave)?;
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
            moved: resolution.moved().to_vec(),
            seen_all: unchanged && (whole || located.seen_all()),
            held_below,
            notes: resolution.notes.clone(),
            unit: resolution.unit,
            idle,
            after,
            before,
            operation: resolution.operation(),
            lines,
        })
    }

    /// Refuses edits while it is not known what the text is, or what its last change was.
    pub(crate) fn takes_edits(&self) -> Result<(), Refused> {
        if let Some(reason) = self.out_of_step() {
            return Err(Refused::OutOfStep { uri: self.uri().to_owned(), reason: reason.clone() });
        }
        if self.awaits_answer() {
            return Err(Refused::Unanswered { uri: self.uri().to_owned() });
        }
        Ok(())
    }

    /// The agent view, to find lines in and to reply with.
    ///
    /// # Errors
    ///
    /// [`Refused::OutOfStep`].
    pub fn serve_agents(&mut self) -> Result<Served, Refused> {
        let uri = self.uri().to_owned();
        self.serve(View::Agent).map_err(|reason| Refused::OutOfStep { uri, reason })
    }

    /// Takes back what was proposed and could not be recorded.
    pub fn withdraw_provisional(&mut self, proposed: &Proposed) {
        self.note_withdrawn(&proposed.hunks);
        let taken_back = self.weave().unrecord(&proposed.hunks);
        debug_assert!(taken_back, "what nobody has seen, nobody has switched or built on");
    }

    /// Lets what was proposed and recorded be shown and decided. In apply mode it is to come into the text: that is under way when
    /// this returns, and without an editor waits for [`settle_on_disk`](Self::settle_on_disk).
    pub fn publish(&mut self, proposed: &mut Proposed, proposal: &Proposal) {
        self.note_published(&proposed.hunks);
        let weave = self.weave();
        weave.reveal(&proposed.hunks);
        if weave.agent().is_same_instance(proposed.after.text()) {
            proposed.after.is_of(weave.revision());
        }
        self.edits.add(proposal.edit());
        self.edits.add_hunks(&proposed.hunks, 1);
        self.news.review();
        if proposal.mode == Mode::Apply && !proposed.held_below {
            self.want(&proposed.hunks, true, Way::AsProposed, None, None);
        }
    }

    /// The places of some hunks in the agent view.
    pub fn places_for_agent(&mut self, hunks: &[HunkId]) -> Vec<Range<usize>> {
        let places = self.weave().places(View::Agent);
        hunks.iter().filter_map(|id| places[id.order()].clone()).collect()
    }

    /// A change of the snapshot as one of the agent view as it is now.
    fn carried(&mut self, located: &Located, resolution: &Resolution) -> Result<Work, Refused> {
        let mut touched = Vec::new();
        let weave = self.weave();
        let carried = match &resolution.work {
            Work::Lines(resolved) => {
                Work::Lines(carry_lines(weave, &located.snapshot, resolved, &mut touched))
            }
            Work::Exact(rewrite) => {
                Work::Exact(carry_rewrite(weave, &located.snapshot, rewrite, &mut touched))
            }
        };
        if touched.is_empty() { Ok(carried) } else { Err(self.stale(resolution.unit, touched)) }
    }

    fn stale(&mut self, unit: Unit, touched: Vec<(usize, Touched)>) -> Refused {
        match self.serve_agents() {
            Ok(now) => Refused::Stale { now: Box::new(now), unit, touched },
            Err(refusal) => refusal,
        }
    }
}

/// What is to be recorded over a text.
pub(super) struct Changes {
    pub changes: Vec<Change>,
    /// Whether the text ends with a newline then, where that is said.
    newline: Option<bool>,
    /// The parts that ask for what stands there already.
    idle: Vec<usize>,
}

impl Work {
    /// What is to be recorded over a text.
    fn into_changes(self, text: &Text) -> Changes {
        let mut changes = match self {
            Work::Lines(resolved) => changes_of_lines(text, resolved),
            Work::Exact(rewrite) => changes_of_rewrite(text, rewrite),
        };
        changes.idle.sort_unstable();
        changes.idle.dedup();
        changes
    }
}

/// What operations come to. One that puts in what it takes out does not join those beside it.
fn changes_of_lines(text: &Text, resolved: Resolved) -> Changes {
    let (edits, idle): (Vec<_>, Vec<_>) =
        resolved.edits.into_iter().partition(|edit| !reads(text, &edit.lines, &edit.content));
    let mut idle: Vec<usize> = idle.into_iter().map(|edit| edit.op).collect();
    let mut changes = Vec::with_capacity(edits.len());
    for hunk in merge_touching(edits) {
        // What one of them takes out another one puts in.
        if reads(text, &hunk.lines, &hunk.content) {
            idle.extend(hunk.ops);
            continue;
        }
        let new = owned_lines(text, hunk.lines.clone(), &hunk.content);
        changes.push(Change { lines: hunk.lines, new });
    }
    Changes { changes, newline: None, idle }
}

/// What a change comes to that says how its lines end.
pub(super) fn changes_of_rewrite(text: &Text, rewrite: Rewrite) -> Changes {
    let mut hunks: Vec<ExactHunk> = Vec::with_capacity(rewrite.hunks.len());
    for hunk in rewrite.hunks {
        match hunks.last_mut() {
            // The lines between have gone since.
            Some(last) if hunk.lines.start <= last.lines.end => {
                last.lines.end = last.lines.end.max(hunk.lines.end);
                last.new.extend(hunk.new);
                last.parts.extend(hunk.parts);
            }
            _ => hunks.push(hunk),
        }
    }
    let newline = rewrite.newline_at_end;
    let count = text.line_count();
    let ends_anew = newline.is_some_and(|newline| newline != ends_with_newline(text));
    let mut idle = rewrite.idle;
    let mut changes = Vec::with_capacity(hunks.len());
    for ExactHunk { lines, new, parts } in hunks {
        if stands(text, &lines, &new) && !(ends_anew && lines.end == count) {
            idle.extend(parts);
        } else {
            changes.push(Change { lines, new });
        }
    }
    Changes { changes, newline, idle }
}

/// Whether these lines of a text have this content.
fn reads(text: &Text, lines: &Range<usize>, content: &[String]) -> bool {
    lines.len() == content.len()
        && text.lines(lines.clone()).zip(content).all(|(line, content)| line.content_eq(content))
}

/// Whether these lines of a text are exactly those, but for an ending that the last one lacks.
fn stands(text: &Text, lines: &Range<usize>, exact: &[OwnedLine]) -> bool {
    let same = |line: LineRef<'_>, exact: &OwnedLine| {
        line.content_eq(&exact.content) && line.ending().is_none_or(|ending| ending == exact.ending)
    };
    lines.len() == exact.len() && text.lines(lines.clone()).zip(exact).all(|(line, exact)| same(line, exact))
}

/// Whether a text ends with a newline, or has no line that could lack one.
fn ends_with_newline(text: &Text) -> bool {
    text.is_empty() || text.ends_with_newline()
}

/// Operations where their lines are now; which of them cannot be, as a line that they name was touched.
fn carry_lines(
    weave: &mut Weave,
    snapshot: &Snapshot,
    resolved: &Resolved,
    touched: &mut Vec<(usize, Touched)>,
) -> Resolved {
    let mut edits = Vec::with_capacity(resolved.edits.len());
    // Behind the one empty line of a blank text, which the first insert at `0:` takes away.
    let mut blank = 0;
    for edit in &resolved.edits {
        let lines = match resolved.named.get(edit.op).and_then(Option::as_ref) {
            // Before line 1, wherever that is.
            None if edit.lines.is_empty() => Ok(blank..blank),
            None => weave.carry(snapshot, edit.lines.clone()).inspect(|lines| blank = lines.end),
            Some(named) if !edit.lines.is_empty() => weave.carry(snapshot, named.clone()),
            Some(named) => weave.carry(snapshot, named.clone()).map(|now| {
                let at = if edit.lines.start >= named.end { now.end } else { now.start };
                at..at
            }),
        };
        match lines {
            Ok(lines) => edits.push(LineEdit { lines, ..edit.clone() }),
            Err(line) => touched.push((edit.op, line)),
        }
    }
    edits.sort_by_key(|edit| (edit.lines.start, edit.lines.end));
    Resolved { edits, ..resolved.clone() }
}

/// Hunks where their lines are now, if no line that their parts name was touched.
fn carry_rewrite(
    weave: &mut Weave,
    snapshot: &Snapshot,
    rewrite: &Rewrite,
    touched: &mut Vec<(usize, Touched)>,
) -> Rewrite {
    let mut hunks = Vec::with_capacity(rewrite.hunks.len());
    for hunk in &rewrite.hunks {
        let named = hunk.parts.iter().filter_map(|part| rewrite.named.get(*part));
        let around =
            named.fold(hunk.lines.clone(), |all, named| all.start.min(named.start)..all.end.max(named.end));
        let now = match around.is_empty() {
            false => weave.carry(snapshot, around.clone()),
            // It fills a text without lines.
            true if weave.agent().line_count() == 0 => Ok(0..0),
            true => Err(Touched { line: 0, now: Some(0) }),
        };
        match now {
            Ok(now) => {
                let at = |line: usize| now.start + (line - around.start);
                hunks.push(ExactHunk { lines: at(hunk.lines.start)..at(hunk.lines.end), ..hunk.clone() });
            }
            Err(line) => touched.push((hunk.parts.first().copied().unwrap_or_default(), line)),
        }
    }
    for part in &rewrite.idle {
        let named = rewrite.named.get(*part).filter(|named| !named.is_empty());
        if let Some(Err(line)) = named.map(|named| weave.carry(snapshot, named.clone())) {
            touched.push((*part, line));
        }
    }
    let at_end = hunks.last().is_some_and(|hunk| hunk.lines.end == weave.agent().line_count());
    // What leaves the end as it was leaves it as it is now.
    let newline_at_end =
        rewrite.newline_at_end.filter(|word| at_end && *word != ends_with_newline(snapshot.text()));
    Rewrite { hunks, newline_at_end, named: rewrite.named.clone(), idle: rewrite.idle.clone() }
}
