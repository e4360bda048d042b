//! What agents are told when an edit is refused: the one place where failures become words.
//!
//! Some clients hide that a result is an error, so the words have to say it: that nothing was changed, why, and what
//! to do next, with fresh tagged lines, so that the agent can go on without another read.

use std::fmt::Write as _;
use std::ops::Range;

use hashline_text::{Line, Text};

use crate::{AnchorFailure, LineHash, Moved, OperationError, Problem, write_regions};

const REFUSED: &str = "The edit was refused and nothing was changed.\n";

/// How many lines are shown on either side of a place.
pub const CONTEXT: usize = 2;

/// How many characters of a line are shown.
pub const MAX_SHOWN_CHARS: usize = 400;

/// Puts failures into words, with fresh tagged lines of `current`: the text that the agent's next edit should go by,
/// which may be newer than the snapshot.
///
/// ```
/// use hashline_anchor::{Operation, Options, RawOperation, explain, resolve};
/// let text = "one\ntwo\n".into();
/// let operation = Operation::parse(0, RawOperation::new("delete", "2:00")).unwrap();
/// let failures = resolve(&text, &[operation], Options::default()).unwrap_err();
/// let words = explain(&failures, &text);
/// assert!(words.starts_with("The edit was refused and nothing was changed."));
/// assert!(words.contains("1:af|one\n2:09|two\n"), "{words}");
/// ```
#[must_use]
pub fn explain(failures: &[AnchorFailure], current: &Text) -> String {
    let mut out = String::from(REFUSED);
    for failure in failures {
        let AnchorFailure { op, name, problem } = failure;
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- operation {} ({name}): {}", op + 1, sentence(problem));
    }
    if current.line_count() == 0 {
        out.push_str("The file is empty now. To put lines into it, use insert_after with the anchor 0:\n");
        return out;
    }
    out.push_str("The lines as they are now:\n");
    let places: Vec<Range<usize>> = failures.iter().flat_map(AnchorFailure::places).collect();
    write_regions(&mut out, current, &places, CONTEXT, MAX_SHOWN_CHARS);
    out
}

/// Puts operations whose form is wrong into words. Which lines they mean is not certain; whoever has the text may show those whose
/// numbers can be read.
///
/// ```
/// use hashline_anchor::{Operation, RawOperation, explain_form};
/// let error = Operation::parse(0, RawOperation::new("delete_range", "2:98")).unwrap_err();
/// assert_eq!(
///     explain_form(&[error]),
///     "The edit was refused and nothing was changed.\n- operation 1 (delete_range): end_anchor is missing; give the \
///      last line of the range, or use the operation without _range for one line.\n"
/// );
/// ```
#[must_use]
pub fn explain_form(errors: &[OperationError]) -> String {
    let mut out = String::from(REFUSED);
    for error in errors {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {error}.");
    }
    out
}

/// What happened and what to do about it.
fn sentence(problem: &Problem) -> String {
    match problem {
        Problem::NotFound { anchor, instead, lines } => format!(
            "the anchor {anchor} fits no line: {}, and no other line has the hash {}. Send the operation again with \
             an anchor from the lines below, or read the file again.",
            stands_there(anchor.line, *instead, *lines),
            anchor.hash,
        ),
        Problem::Ambiguous { anchor, instead, lines, matches, nearest } => format!(
            "the anchor {anchor} is not certain: {}, and {matches} other lines have the hash {} (nearest: {}). Send \
             the operation again with the full anchor of the line you mean, from the lines below.",
            stands_there(anchor.line, *instead, *lines),
            anchor.hash,
            nearest.iter().map(|line| format!("line {line}")).collect::<Vec<_>>().join(", "),
        ),
        Problem::CopiedDiffers { anchor, at, content } => format!(
            "the text copied with the anchor {anchor} is not that of line {at}, which reads {:?}. Send the operation \
             again with the anchor of the line you mean, from the lines below.",
            shortened(content),
        ),
        Problem::UnevenMove { start, end } => format!(
            "the range {}..{} does not stand together in the file: its first line is line {} and its last is line {}. \
             Name both ends as they are now, from the lines below.",
            start.0, end.0, start.1, end.1,
        ),
        Problem::EndBeforeStart { start, end } => format!(
            "the range ends at {end}, before it starts at {start}. Give the first line as anchor and the last as \
             end_anchor.",
        ),
        Problem::Overlap { other, other_name, lines, other_lines } => format!(
            "it {} and operation {} ({other_name}) {}. Operations of one call must not overlap, as all of them go by \
             the text before the call: make one operation of the two.",
            takes(lines),
            other + 1,
            takes(other_lines),
        ),
        Problem::RepeatsTag { content_line, line, hash } => format!(
            "line {} of its content begins with {line}:{hash}|, the tag of line {line} of this file. Tags are not part \
             of the text: send the content without them. If the file should really have these characters, write them \
             with another tool.",
            content_line + 1,
        ),
    }
}

fn stands_there(line: Line, instead: Option<LineHash>, lines: usize) -> String {
    match instead {
        Some(hash) => format!("line {line} has the hash {hash}"),
        None => match lines {
            0 => "the file is empty".to_owned(),
            1 => "the file has only one line".to_owned(),
            _ => format!("the file has only {lines} lines"),
        },
    }
}

fn takes(lines: &Range<usize>) -> String {
    match lines.len() {
        0 if lines.start == 0 => "inserts before line 1".to_owned(),
        0 => format!("inserts between lines {} and {}", lines.start, lines.start + 1),
        _ => format!("takes {}", numbered(lines)),
    }
}

/// Lines counted from 0, as people number them.
fn numbered(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("line {}", lines.start.saturating_add(1)),
        _ => format!("lines {}-{}", lines.start + 1, lines.end),
    }
}

fn shortened(content: &str) -> String {
    const MAX: usize = 120;
    match content.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &content[..end]),
        None => content.to_owned(),
    }
}

/// What the reply to an edit says about an operation whose lines were found elsewhere.
impl std::fmt::Display for Moved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Moved { op, from, to } = self;
        write!(f, "operation {}: named {}, found at {} by hash", op + 1, numbered(from), numbered(to))
    }
}
