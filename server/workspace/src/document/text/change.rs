//! What an agent wants to change, in each of the forms that tools take, and the lines of a snapshot that it comes to.
//!
//! Operations name lines by anchors, numbered edits by number and content; both leave their endings to the text. The others say every byte: a whole new text, exact pieces
//! to replace, a unified diff. From here on they differ in that alone.
//!
//! # Limitations
//!
//! - The byte-order mark of a file belongs to none of its lines, so no hunk can add it or take it away. A whole new text without the mark that
//!   the file has keeps it, and says so; one that would add a mark is refused.
//! - The line endings of an open document are its editor's: lines of a whole new text that stand in the document keep theirs, and where all of
//!   its lines end in one way new ones do, too. Editors change endings that they are sent, and a change of nothing else is not seen to arrive.

use std::ops::Range;

use hashline_anchor::{
    AnchorFailure, Moved, NumberedEdit, Operation, Options, Patch, Replacement, Resolved, Rewrite,
    RewriteFailure, replace, resolve, rewrite_whole,
};
use hashline_history::Operation as FileOperation;
use hashline_text::{DiskForm, Ending, Line, Text};

use crate::document::Refused;
use crate::document::text::served_text::Located;
use crate::document::{Note, Served, Unit};

const MARK: char = '\u{feff}';

/// What an agent wants to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Lines named by anchors.
    Operations(Vec<Operation>),
    /// Lines named by number and content, in the text as it is now and in no other.
    Numbered(NumberedEdit),
    /// Everything: this is to be the text.
    Whole(Whole),
    /// Exact pieces of the text.
    Replacements(Vec<Replacement>),
    /// What a unified diff says.
    Patch(Patch),
}

/// A text that is to stand in the place of another, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    text: Text,
    /// Whether it came with a byte-order mark.
    mark: bool,
}

/// The lines of a snapshot that a change comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    pub(crate) work: Work,
    pub(crate) unit: Unit,
    /// What is worth telling of it.
    pub(crate) notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Lines whose endings are the text's business.
    Lines(Resolved),
    /// Lines whose endings are said.
    Exact(Rewrite),
}

impl Change {
    /// The text whose bytes these are.
    #[must_use]
    pub fn whole(content: &str) -> Self {
        Change::Whole(Whole::of(content))
    }

    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Change::Operations(operations) => operations.is_empty(),
            Change::Replacements(replacements) => replacements.is_empty(),
            Change::Numbered(_) | Change::Whole(_) | Change::Patch(_) => false,
        }
    }

    /// The lines of a text that it is about, whether or not it can be made there: what an agent has to see to ask again. For
    /// operations none, as their anchors say it.
    #[must_use]
    pub fn places(&self, text: &Text) -> Vec<Range<usize>> {
        let found = match self {
            Change::Operations(_) => return Vec::new(),
            Change::Numbered(edit) => return edit.places(text),
            Change::Whole(whole) => Ok(rewrite_whole(text, &whole.text)),
            Change::Replacements(replacements) => replace(text, replacements, Options::default()),
            Change::Patch(patch) => patch.resolve(text, Options::default()),
        };
        match found {
            Ok(rewrite) => rewrite.hunks.into_iter().map(|hunk| hunk.lines).collect(),
            Err(failures) => failures.iter().flat_map(RewriteFailure::places).collect(),
        }
    }
}

impl Resolution {
    /// What it does to the file, in the words of the history.
    pub(crate) fn operation(&self) -> FileOperation {
        match self.unit {
            Unit::Whole => FileOperation::Replace,
            Unit::Operation | Unit::Edit | Unit::Hunk => FileOperation::Edit,
        }
    }

    /// Operations whose lines were found elsewhere than their anchors say.
    pub(crate) fn moved(&self) -> &[Moved] {
        match &self.work {
            Work::Lines(resolved) => &resolved.moved,
            Work::Exact(_) => &[],
        }
    }
}

impl Located {
    /// The lines of the snapshot that a change means. `now` is the text as it is now, for the words of a refusal.
    ///
    /// # Errors
    ///
    /// [`Refused`], with what is wrong with each part.
    pub fn resolve(&self, change: &Change, now: &Served) -> Result<Resolution, Refused> {
        let options = Options { blank_is_empty: self.live };
        match change {
            Change::Operations(operations) => {
                let anchors = |failures| Refused::Anchors { failures, now: Box::new(now.clone()) };
                let resolved = self.find_operations(operations, options).map_err(anchors)?;
                Ok(Resolution { work: Work::Lines(resolved), unit: Unit::Operation, notes: Vec::new() })
            }
            Change::Numbered(edit) => self.numbered(edit, options, now),
            Change::Whole(whole) => self.write(whole, now),
            Change::Replacements(all) => self.exact(Unit::Edit, now, |text| replace(text, all, options)),
            Change::Patch(patch) => self.exact(Unit::Hunk, now, |text| patch.resolve(text, options)),
        }
    }

    fn find_operations(
        &self,
        operations: &[Operation],
        options: Options,
    ) -> Result<Resolved, Vec<AnchorFailure>> {
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

    /// What numbers name in an older text says nothing of the text as it is.
    fn numbered(&self, edit: &NumberedEdit, options: Options, now: &Served) -> Result<Resolution, Refused> {
        let now = || Box::new(now.clone());
        if !self.current {
            return Err(Refused::Stale { now: now(), unit: Unit::Operation, touched: Vec::new() });
        }
        let found = edit.resolve(self.text(), options);
        let edit = found.map_err(|failure| Refused::Numbered { failure, now: now() })?;
        let resolved =
            Resolved { named: vec![Some(edit.lines.clone())], edits: vec![edit], moved: Vec::new() };
        Ok(Resolution { work: Work::Lines(resolved), unit: Unit::Operation, notes: Vec::new() })
    }

    fn exact(
        &self,
        unit: Unit,
        now: &Served,
        find: impl Fn(&Text) -> Result<Rewrite, Vec<RewriteFailure>>,
    ) -> Result<Resolution, Refused> {
        let rewrite = find(self.text()).map_err(|failures| {
            // Told are the lines as they are now, so what is told of them has to be true of them.
            let failures = if self.current { Err(failures) } else { find(now.text()).map(|_| ()) };
            let now = Box::new(now.clone());
            match failures {
                Err(failures) => Refused::Rewrite { failures, now },
                Ok(()) => Refused::NotInOldText { now },
            }
        })?;
        Ok(Resolution { work: Work::Exact(rewrite), unit, notes: Vec::new() })
    }

    /// A whole new text counts from the text as it is: from an older one it would put back what was there before.
    fn write(&self, whole: &Whole, now: &Served) -> Result<Resolution, Refused> {
        if !self.current {
            let now = Box::new(now.clone());
            return Err(Refused::Stale { now, unit: Unit::Whole, touched: Vec::new() });
        }
        let blank = |text: &Text| text.is_empty() || text.lsp_line_count() == 2 && text.len_bytes() <= 2;
        let (mut rewrite, notes) = whole.rewrite(self.text(), self.form, self.live)?;
        // Some editors hold an empty document as one empty line.
        if self.live && whole.text.is_empty() && blank(self.text()) {
            rewrite = Rewrite::default();
        }
        Ok(Resolution { work: Work::Exact(rewrite), unit: Unit::Whole, notes })
    }
}

impl Whole {
    /// The text whose bytes these are.
    pub(super) fn of(content: &str) -> Self {
        let plain = content.strip_prefix(MARK);
        Self { text: Text::from(plain.unwrap_or(content)), mark: plain.is_some() }
    }

    /// What makes it of another text, which is stored in this form, and what is to be told of that.
    pub(super) fn rewrite(
        &self,
        old: &Text,
        form: DiskForm,
        live: bool,
    ) -> Result<(Rewrite, Vec<Note>), Refused> {
        let mut notes = Vec::new();
        let shown = old.chunks().next().is_some_and(|chunk| chunk.starts_with(MARK));
        let text = match (self.mark, form.bom, shown) {
            // The editor has left it in the text, where it can be changed as the rest of it can.
            (true, _, true) => Text::from(format!("{MARK}{}", self.text)),
            (true, false, false) => return Err(Refused::AddsMark),
            (false, true, false) => {
                notes.push(Note::MarkKept);
                self.text.clone()
            }
            _ => self.text.clone(),
        };
        let sent = only_ending(&text);
        let rewrite = match only_ending(old) {
            Some(own) if live && text.first_ending().is_some() => {
                // What the editor serves may be stored otherwise.
                let stored = form.ending.unwrap_or(own);
                notes.extend((sent != Some(stored)).then_some(Note::EndingsKept(Some(stored))));
                rewrite_whole(old, &if sent == Some(own) { text } else { ending_in(&text, own) })
            }
            None if live => {
                let rewrite = rewrite_contents(old, &text);
                match rewrite.apply(old) {
                    Ok(made) => {
                        notes.extend((made != text).then_some(Note::EndingsKept(None)));
                        rewrite
                    }
                    // Two endings would run together.
                    Err(_) => rewrite_whole(old, &text),
                }
            }
            from => {
                if let (Some(from), Some(to)) = (from, sent)
                    && from != to
                {
                    notes.push(Note::EndingsChanged { from, to });
                }
                rewrite_whole(old, &text)
            }
        };
        Ok((rewrite, notes))
    }
}

/// What makes a text of another, where lines of the same content keep their endings.
fn rewrite_contents(old: &Text, new: &Text) -> Rewrite {
    let mut rewrite = rewrite_whole(&ending_in(old, Ending::Lf), &ending_in(new, Ending::Lf));
    // Where the lines between the hunks stand in the new text, as seen from the old one.
    let (mut put, mut taken) = (0, 0);
    let default = new.ending_for_insert(Line(new.line_count()));
    for hunk in &mut rewrite.hunks {
        let from = hunk.lines.start + put - taken;
        let count = hunk.new.len();
        for (own, sent) in hunk.new.iter_mut().zip(new.lines(from..from + count)) {
            own.ending = sent.ending().unwrap_or(default);
        }
        put += count;
        taken += hunk.lines.len();
    }
    rewrite
}

/// A text whose lines all end so.
fn ending_in(text: &Text, ending: Ending) -> Text {
    let bytes = DiskForm { bom: false, ending: Some(ending) }.to_bytes(text);
    Text::from(String::from_utf8_lossy(&bytes).as_ref())
}

/// The ending that all lines of a text share, but for a last one that has none.
fn only_ending(text: &Text) -> Option<Ending> {
    let first = text.first_ending()?;
    text.all_lines().all(|line| line.ending().is_none_or(|ending| ending == first)).then_some(first)
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
