//! Finding the lines that operations mean, all in one snapshot.

use std::ops::Range;

use hashline_text::{Line, Text};

use crate::tagged::{CUT_BEFORE, CUT_MARK, tag_of};
use crate::{Anchor, AnchorFailure, LineAnchor, LineEdit, LineHash, OpName, Operation, Problem, line_hash};

/// How to resolve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A text that is exactly one empty line counts as having none, so that an insert at `0:` takes the place of
    /// that line. For live documents: some editors hold an empty document as one empty line.
    pub blank_is_empty: bool,
}

/// Where all operations of a call apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// What to replace, in text order and without overlaps. Several inserts at one anchor are in request order; at
    /// one place, what goes after the line above comes before what goes before the line below.
    pub edits: Vec<LineEdit>,
    /// The operations whose lines were found elsewhere than their anchors say. The reply has to tell.
    pub moved: Vec<Moved>,
    /// By operation: the lines that it names, counted from 0 in the snapshot. For a replace or a delete all that it
    /// takes out, for an insert the line of its anchor; none for `0:`.
    pub named: Vec<Option<Range<usize>>>,
}

/// An operation whose lines were found elsewhere than its anchors say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The operation, by its index in the call.
    pub op: usize,
    /// The lines as the anchors number them, counted from 0.
    pub from: Range<usize>,
    /// The lines that have the hashes, counted from 0.
    pub to: Range<usize>,
}

/// Finds the lines that the operations mean.
///
/// An anchor means the line of its number if that has its hash; else the only line of the snapshot that has it; else
/// it is refused. The ends of a range are where their anchors say or moved by the same distance. Operations must not
/// overlap; an insert beside replaced lines is no overlap, one between them is.
///
/// # Errors
///
/// All that is wrong, by operation; [`explain`](crate::explain()) puts it in words.
pub fn resolve(
    snapshot: &Text,
    operations: &[Operation],
    options: Options,
) -> Result<Resolved, Vec<AnchorFailure>> {
    let mut finder = Finder { text: snapshot, lines: snapshot.line_count(), by_hash: None };
    let mut found = Vec::with_capacity(operations.len());
    let mut failures = Vec::new();
    let mut moved = Vec::new();
    for (op, operation) in operations.iter().enumerate() {
        let name = operation.name();
        if let Some(problem) = finder.repeated_tag(operation.content()) {
            failures.push(AnchorFailure { op, name, problem });
        }
        match finder.target(operation) {
            Ok(target) => {
                if let Some((from, to)) = target.moved.clone() {
                    moved.push(Moved { op, from, to });
                }
                found.push((op, target));
            }
            Err(problem) => failures.push(AnchorFailure { op, name, problem }),
        }
    }
    if options.blank_is_empty && finder.is_blank() {
        take_blank_line(&mut found);
    }
    let named = found.iter().map(|(_, target)| target.named.clone()).collect();
    // Stable: what shares place and side stays in request order.
    found.sort_by_key(|(_, target)| (target.lines.start, target.lines.end, target.side));
    failures.extend(overlaps(&found, operations));
    if !failures.is_empty() {
        failures.sort_by_key(|failure| failure.op);
        return Err(failures);
    }
    let edit = |(op, target): (usize, Target)| LineEdit {
        op,
        lines: target.lines,
        content: operations.get(op).map(|operation| operation.content().to_vec()).unwrap_or_default(),
    };
    Ok(Resolved { edits: found.into_iter().map(edit).collect(), moved, named })
}

/// Where one operation applies.
struct Target {
    lines: Range<usize>,
    side: Side,
    named: Option<Range<usize>>,
    moved: Option<(Range<usize>, Range<usize>)>,
}

/// To which line an insert belongs; of no meaning for other operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Above,
    Below,
}

/// Lets the first insert at `0:` take the place of the only, empty line, unless an operation names that line.
fn take_blank_line(found: &mut [(usize, Target)]) {
    if found.iter().any(|(_, target)| target.named.is_some()) {
        return;
    }
    for (at, (_, target)) in found.iter_mut().enumerate() {
        target.lines = usize::from(at > 0)..1;
    }
}

/// The operations that overlap an earlier one of the call; `found` is in text order.
fn overlaps(found: &[(usize, Target)], operations: &[Operation]) -> Vec<AnchorFailure> {
    let name = |op: usize| operations.get(op).map_or(OpName::Replace, Operation::name);
    let mut failures = Vec::new();
    // The one that reaches furthest down so far. Whatever overlaps any earlier one overlaps it.
    let mut furthest: Option<&(usize, Target)> = None;
    for this in found {
        if let Some(last) = furthest
            && this.1.lines.start < last.1.lines.end
            // In text order, an insert that starts with the other's lines comes first: this one is inside or behind.
            && (!this.1.lines.is_empty() || this.1.lines.start > last.1.lines.start)
        {
            let (later, earlier) = if this.0 > last.0 { (this, last) } else { (last, this) };
            let problem = Problem::Overlap {
                other: earlier.0,
                other_name: name(earlier.0),
                lines: later.1.lines.clone(),
                other_lines: earlier.1.lines.clone(),
            };
            failures.push(AnchorFailure { op: later.0, name: name(later.0), problem });
        }
        if furthest.is_none_or(|last| this.1.lines.end >= last.1.lines.end) {
            furthest = Some(this);
        }
    }
    failures
}

/// The snapshot, and its lines by hash once an anchor is not where it says.
struct Finder<'a> {
    text: &'a Text,
    lines: usize,
    by_hash: Option<Vec<Vec<usize>>>,
}

impl Finder<'_> {
    fn is_blank(&self) -> bool {
        self.lines == 1 && self.text.line(Line(0)).is_some_and(|line| line.len_bytes() == 0)
    }

    fn hash_at(&self, line: Line) -> Option<LineHash> {
        self.text.line(line).map(|line| line_hash(&line.content()))
    }

    fn with_hash(&mut self, hash: LineHash) -> &[usize] {
        let text = self.text;
        let by_hash = self.by_hash.get_or_insert_with(|| {
            let mut by_hash = vec![Vec::new(); 256];
            for (at, line) in text.all_lines().enumerate() {
                by_hash[usize::from(line_hash(&line.content()).0)].push(at);
            }
            by_hash
        });
        &by_hash[usize::from(hash.0)]
    }

    fn target(&mut self, operation: &Operation) -> Result<Target, Problem> {
        match operation {
            Operation::Replace { start, end, .. } | Operation::Delete { start, end } => {
                self.range(start, end.as_ref())
            }
            Operation::InsertAfter { anchor: Anchor::Start, .. } => {
                Ok(Target { lines: 0..0, side: Side::Above, named: None, moved: None })
            }
            Operation::InsertAfter { anchor: Anchor::Line(anchor), .. } => {
                let at = self.find(anchor)?;
                Ok(Target { lines: at.0 + 1..at.0 + 1, side: Side::Above, ..named(anchor, at) })
            }
            Operation::InsertBefore { anchor, .. } => {
                let at = self.find(anchor)?;
                Ok(Target { lines: at.0..at.0, side: Side::Below, ..named(anchor, at) })
            }
        }
    }

    fn range(&mut self, start: &LineAnchor, end: Option<&LineAnchor>) -> Result<Target, Problem> {
        let Some(end) = end else {
            let at = self.find(start)?;
            return Ok(named(start, at));
        };
        if end.line < start.line {
            return Err(Problem::EndBeforeStart { start: start.clone(), end: end.clone() });
        }
        let (first, last) = (self.find(start)?, self.find(end)?);
        // As far apart as they say, and so neither moved or both by the same distance.
        if last.0.checked_sub(first.0) != end.line.0.checked_sub(start.line.0) {
            return Err(Problem::UnevenMove { start: (start.clone(), first), end: (end.clone(), last) });
        }
        let lines = first.0..last.0 + 1;
        let moved =
            (first != start.line).then(|| (start.line.0..end.line.0.saturating_add(1), lines.clone()));
        Ok(Target { named: Some(lines.clone()), lines, side: Side::Above, moved })
    }

    /// The line that an anchor means.
    fn find(&mut self, anchor: &LineAnchor) -> Result<Line, Problem> {
        let instead = self.hash_at(anchor.line);
        if instead == Some(anchor.hash) {
            return self.agreeing(anchor, anchor.line);
        }
        let lines = self.lines;
        let places = self.with_hash(anchor.hash);
        match *places {
            [] => Err(Problem::NotFound { anchor: anchor.clone(), instead, lines }),
            [only] => self.agreeing(anchor, Line(only)),
            _ => {
                let matches = places.len();
                let mut nearest: Vec<Line> = places.iter().copied().map(Line).collect();
                nearest.sort_by_key(|line| line.0.abs_diff(anchor.line.0));
                nearest.truncate(3);
                Err(Problem::Ambiguous { anchor: anchor.clone(), instead, lines, matches, nearest })
            }
        }
    }

    /// The line, if it says what was copied along with the anchor.
    fn agreeing(&self, anchor: &LineAnchor, at: Line) -> Result<Line, Problem> {
        let (Some(copied), Some(line)) = (&anchor.copied, self.text.line(at)) else {
            return Ok(at);
        };
        let content = line.content();
        // A long line is shown cut, and copied so.
        let agrees = match copied.rsplit_once(CUT_MARK) {
            Some((kept, _)) => {
                content.starts_with(kept)
                    || kept.strip_prefix(CUT_BEFORE).is_some_and(|part| content.contains(part))
                    || content.trim_end() == copied.trim_end()
            }
            None => content.trim_end() == copied.trim_end(),
        };
        if agrees {
            return Ok(at);
        }
        Err(Problem::CopiedDiffers { anchor: anchor.clone(), at, content: content.into_owned() })
    }

    /// The first line of the content that begins with the tag of a line of this snapshot.
    fn repeated_tag(&self, content: &[String]) -> Option<Problem> {
        content.iter().enumerate().find_map(|(content_line, text)| {
            let (line, hash) = tag_of(self.text, text)?;
            Some(Problem::RepeatsTag { content_line, line, hash })
        })
    }
}

/// A target that is one line.
fn named(anchor: &LineAnchor, at: Line) -> Target {
    let lines = at.0..at.0 + 1;
    let from = anchor.line.0..anchor.line.0.saturating_add(1);
    let moved = (at != anchor.line).then(|| (from, lines.clone()));
    Target { named: Some(lines.clone()), lines, side: Side::Above, moved }
}
