//! What agents are told when an edit is refused: the one place where failures become words.
//!
//! Some clients hide that a result is an error, so the words have to say it: that nothing was changed, why, and what
//! to do next, with fresh tagged lines, so that the agent can go on without another read.

use std::fmt::Write as _;
use std::ops::Range;

use hashline_text::{Line, Text};

use crate::{
    AnchorFailure, LineHash, Mismatch, Moved, NumberedFailure, OperationError, Part, PatchError, Problem,
    RewriteFailure, write_numbered_regions, write_regions,
};

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
    for error in errors.iter().take(MAX_TOLD) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {error}.");
    }
    if let Some(more) = errors.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        let _ = writeln!(out, "- and {more} more.");
    }
    out
}

/// How many lines of a place are shown.
const MAX_SHOWN_LINES: usize = 12;
/// How many failures are shown; the others are counted.
const MAX_TOLD: usize = 20;

/// Puts the failures of replacements or of a diff into words, with fresh tagged lines of `current`, as [`explain`] does.
///
/// ```
/// use hashline_anchor::{Options, Replacement, explain_rewrite, replace};
/// let text = "let x = 1;\nlet y = 2;\n".into();
/// let failures = replace(&text, &[Replacement::new("let  x = 1;", "")], Options::default()).unwrap_err();
/// let words = explain_rewrite(&failures, &text);
/// assert!(words.starts_with("The edit was refused and nothing was changed."));
/// assert!(words.contains("line 1, below, differs from it in spaces alone"), "{words}");
/// assert!(words.contains("|let x = 1;\n"), "{words}");
/// ```
#[must_use]
pub fn explain_rewrite(failures: &[RewriteFailure], current: &Text) -> String {
    let mut out = String::from(REFUSED);
    for RewriteFailure { part, problem } in failures.iter().take(MAX_TOLD) {
        let (name, parts) = match part {
            Part::Edit(index) => (format!("edit {}", index + 1), Parts::EDITS),
            Part::Hunk { index, line } => {
                (format!("hunk {} (line {line} of the diff)", index + 1), Parts::HUNKS)
            }
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {name}: {}", mismatch(problem, &parts));
    }
    if let Some(more) = failures.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        let _ = writeln!(out, "- and {more} more.");
    }
    if current.line_count() == 0 {
        out.push_str("The file is empty now.\n");
        return out;
    }
    let places: Vec<Range<usize>> = failures
        .iter()
        .take(MAX_TOLD)
        .flat_map(RewriteFailure::places)
        .map(|lines| lines.start..lines.end.min(lines.start.saturating_add(MAX_SHOWN_LINES)))
        .collect();
    if !places.is_empty() {
        out.push_str("The lines as they are now:\n");
        write_regions(&mut out, current, &places, CONTEXT, MAX_SHOWN_CHARS);
    }
    out
}

/// Puts what is wrong with the form of a diff into words.
///
/// ```
/// use hashline_anchor::{Patch, explain_patch};
/// let error = Patch::parse("--- a/x.rs\n+++ b/x.rs\n", "x.rs").unwrap_err();
/// assert!(explain_patch(&error).starts_with("The edit was refused and nothing was changed.\n- the diff: it has no hunk;"));
/// ```
#[must_use]
pub fn explain_patch(error: &PatchError) -> String {
    format!("{REFUSED}- the diff: {error}.\n")
}

/// Puts what is wrong with an edit of numbered lines into words, with the lines of `current` that it is about behind their numbers.
///
/// ```
/// use hashline_anchor::{NumberedEdit, Options, explain_numbered};
/// let text = "let x = 1;\nlet y = 2;\n".into();
/// let edit = NumberedEdit::Insert { line: 2, anchor: "let x = 1;".into(), content: "x".into() };
/// assert_eq!(
///     explain_numbered(&edit.resolve(&text, Options::default()).unwrap_err(), &text),
///     "The edit was refused and nothing was changed.\nLine 2 contains \"let y = 2;\", not \"let x = 1;\", which stands in line 1. \
///      Send the edit again with the number and the whole content of the line that you mean.\nThe lines as they are now, \
///      each behind its number and |:\n1|let x = 1;\n2|let y = 2;\n"
/// );
/// ```
#[must_use]
pub fn explain_numbered(failure: &NumberedFailure, current: &Text) -> String {
    let mut out = String::from(REFUSED);
    out.push_str(&numbered_sentence(failure));
    out.push('\n');
    let places: Vec<Range<usize>> = failure.places().iter().map(short).collect();
    if !places.is_empty() && current.line_count() > 0 {
        out.push_str("The lines as they are now, each behind its number and |:\n");
        write_numbered_regions(&mut out, current, &places, CONTEXT, MAX_SHOWN_CHARS);
    }
    out
}

/// As much of a place as is shown.
fn short(place: &Range<usize>) -> Range<usize> {
    place.start..place.end.min(place.start.saturating_add(MAX_SHOWN_LINES))
}

fn numbered_sentence(failure: &NumberedFailure) -> String {
    match failure {
        NumberedFailure::Number { problem, inserts } => {
            let problem = capital(&problem.to_string());
            let next = match inserts {
                true => "Give the number of a line that is there; lines at the end are appended.",
                false => "Give lines that are there; lines at the end are appended.",
            };
            format!("{problem}. {next}")
        }
        NumberedFailure::NoContent => {
            "The field content is empty, and that is no line. Send the lines to put in; \"\\n\" is one empty line."
                .to_owned()
        }
        NumberedFailure::ManyLines(count) => {
            format!(
                "The field anchor holds {count} lines, and it names one. Send the whole content of the line before which to insert."
            )
        }
        NumberedFailure::Differs { field, line, there, wanted, elsewhere, .. } => {
            let spaces = there.trim() == wanted.trim();
            let part = !spaces && !wanted.trim().is_empty() && there.contains(wanted.trim());
            let mut words = format!("Line {} contains {}, not {}", line + 1, quoted(there), quoted(wanted));
            match (spaces, part, elsewhere.is_empty()) {
                (true, ..) => words.push_str(": they differ in spaces. "),
                (_, true, _) => words.push_str(" alone: the whole line is needed. "),
                (.., true) => words.push_str(". "),
                (.., false) if *field == "old" => {
                    // Writing to a string cannot fail.
                    let _ = write!(
                        words,
                        "; all of old stands from {} on, outside of lines. ",
                        listed(elsewhere)
                    );
                }
                (.., false) => {
                    let _ = write!(words, ", which stands in {}. ", listed(elsewhere));
                }
            }
            words.push_str(match *field {
                "old" => {
                    "Send the edit again with lines that hold what is meant, and with old as it stands there."
                }
                _ => "Send the edit again with the number and the whole content of the line that you mean.",
            });
            words
        }
        NumberedFailure::NotFound { lines, wanted, elsewhere } => {
            let mut words = format!(
                "{} {} not contain the lines of old, which begin with {}",
                capital(&numbered(lines)),
                if lines.len() == 1 { "does" } else { "do" },
                quoted(wanted)
            );
            match elsewhere.is_empty() {
                true => words.push_str(". "),
                false => {
                    let _ = write!(words, "; they stand from {} on. ", listed(elsewhere));
                }
            }
            words.push_str(
                "Send the edit again with lines that hold all of old, and with old as it stands there.",
            );
            words
        }
        NumberedFailure::Ambiguous { places, more, .. } => format!(
            "The lines of old stand more than once in these lines: from {}{} on. Send the edit again with lines that hold only the one that you mean.",
            listed(places),
            if *more { ", …" } else { "" }
        ),
    }
}

/// The first letter as at the beginning of a sentence.
fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Lines counted from 0 in a list.
fn listed(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().map(|line| (line + 1).to_string()).collect();
    let name = if lines.len() == 1 { "line" } else { "lines" };
    format!("{name} {}", numbers.join(", "))
}

fn quoted(content: &str) -> String {
    format!("{:?}", shortened(content))
}

/// What the parts of a request are called.
struct Parts {
    /// One of them.
    part: &'static str,
    /// What it looks for does not stand in the file.
    lost: &'static str,
    /// What it looks for stands there.
    found: &'static str,
}

impl Parts {
    const EDITS: Self =
        Self { part: "edit", lost: "old does not stand in the file", found: "old stands in the file" };
    const HUNKS: Self = Self {
        part: "hunk",
        lost: "its lines with space and - do not stand in the file",
        found: "its lines with space and - stand in the file",
    };
}

/// What happened and what to do about it.
fn mismatch(problem: &Mismatch, Parts { part, lost, found }: &Parts) -> String {
    match problem {
        Mismatch::TooMany { most } => format!(
            "there are more than {most} {part}s. Send them in several calls, or write the whole file with write_file."
        ),
        Mismatch::NoOld => "old is empty and the file is not. Give the exact text that new takes the place of; to write the whole \
                            file use write_file."
            .to_owned(),
        Mismatch::NoContext => "it only adds lines and has no context, so where they go is not certain. Send the hunk again with the \
                                line before or after them; to write the whole file use write_file."
            .to_owned(),
        Mismatch::OnlyEndings => {
            "it would change nothing but line endings, and those stay as the file has them. To change them, write the whole file \
             with write_file."
                .to_owned()
        }
        Mismatch::NotFound { nearest, header } => {
            let mut words = format!("{lost} as sent. ");
            match nearest.first() {
                Some(near) if near.spaces_only => {
                    let verb = if near.lines.len() == 1 { "differs" } else { "differ" };
                    let _ = write!(words, "But {}, below, {verb} from it in spaces alone. ", numbered(&near.lines));
                }
                Some(near) => {
                    let _ = write!(words, "What comes nearest is {}, below. ", numbered(&near.lines));
                }
                None => {}
            }
            if let Some(line) = header {
                let _ = write!(
                    words,
                    "If line {line} of the diff begins another file: one call changes one file; send the parts in calls of their own. "
                );
            }
            match nearest.is_empty() {
                true => words.push_str("Nothing like it is there: read the file again, then send it as the file has it."),
                false => {
                    words.push_str("If that is what you mean, send it again exactly as it is, without the tags; else read the file again.");
                }
            }
            words
        }
        Mismatch::Ambiguous { places, more, named } => {
            let lines = places.iter().map(numbered).collect::<Vec<_>>().join(", ");
            let count = if *more { format!("more than {}", places.len()) } else { places.len().to_string() };
            let mut words = format!("{found} in {count} places ({lines}{}). ", if *more { ", …" } else { "" });
            if let Some(line) = named {
                let _ = write!(words, "Its header says line {line}, and none of them begins there. ");
            }
            words.push_str("Send it again with enough of the lines around the one you mean to make it unique.");
            words
        }
        Mismatch::NotAtEnd { lines } => format!(
            "its \"\\ No newline at end of file\" says that the file ends there, but its lines are {} and the file goes on. Leave \
             that mark out, or send the lines with which the file ends.",
            numbered(lines),
        ),
        Mismatch::Overlap { other, lines, other_lines } => format!(
            "it {} and {part} {} {}. The {part}s of one call must not overlap, as all of them go by the text before the call: make \
             one {part} of the two.",
            takes(lines),
            other + 1,
            takes(other_lines),
        ),
        Mismatch::RepeatsTag { content_line, line, hash } => format!(
            "line {} of what it puts in begins with {line}:{hash}|, the tag of line {line} of this file. Tags are not part of the \
             text: send the lines without them. If the file should really have these characters, write them with another tool.",
            content_line + 1,
        ),
        Mismatch::OldHasTags { line } => format!(
            "the lines that it looks for begin with tags, such as that of line {line}. Tags are not part of the text: send the lines \
             without them, or use edit_text_file, which takes tags as anchors."
        ),
    }
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
