//! Hover: the hunk under the cursor as a diff.

use hashline_workspace::DocumentReview;
use hashline_workspace::document::{HunkState, HunkView, ReviewEdit};
use tower_lsp::lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use crate::hunk_choices::{elsewhere, gist, offers, waiting};
use crate::to_proto;

/// How many lines of a hunk are shown.
const SHOWN: usize = 60;

/// The hunk on a line of the text.
pub(crate) fn at(review: &DocumentReview, line: usize, line_count: usize, markdown: bool) -> Option<Hover> {
    let touching = waiting(review).filter(|(.., lines)| touches(lines, &(line..line + 1)));
    // The one that begins last is the innermost.
    let (edit, hunk, lines) = touching.max_by_key(|(.., lines)| lines.start)?;
    let (kind, value) = match markdown {
        true => (MarkupKind::Markdown, markdown_of(review, edit, hunk)),
        false => (MarkupKind::PlainText, plain(review, edit, hunk)),
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: Some(to_proto::lines(&lines, line_count.saturating_sub(1))),
    })
}

/// Whether a hunk lies on lines. A place between two lines belongs to both of them.
pub(crate) fn touches(place: &std::ops::Range<usize>, lines: &std::ops::Range<usize>) -> bool {
    let wide = usize::from(place.is_empty());
    let place = place.start.saturating_sub(wide)..place.end + wide;
    place.start < lines.end.max(lines.start + 1) && lines.start < place.end
}

fn heading(edit: &ReviewEdit, hunk: &HunkView) -> String {
    let says = match hunk.state {
        HunkState::InText | HunkState::Edited(_) => "is in the text",
        HunkState::Conflicted(_) => "conflicts with your text",
        HunkState::Held | HunkState::Withdrawn => "is proposed",
    };
    let (agent, number) = (&edit.edit.agent, hunk.number);
    match edit.hunks.len() {
        1 => format!("{agent}'s edit {says}"),
        count => format!("Hunk {number} of {count} of {agent}'s edit {says}"),
    }
}

fn diff(hunk: &HunkView) -> Vec<String> {
    if hunk.file.is_some() {
        return vec![gist(hunk)];
    }
    let removed = hunk.removed.iter().map(|line| format!("-{line}"));
    let proposed = hunk.proposed.iter().map(|line| format!("+{line}"));
    let mut lines: Vec<String> = removed.chain(proposed).collect();
    if lines.len() > SHOWN {
        let more = lines.len() - SHOWN;
        lines.truncate(SHOWN);
        lines.push(format!(" … {more} more lines"));
    }
    lines
}

fn ways(review: &DocumentReview, edit: &ReviewEdit, hunk: &HunkView) -> String {
    elsewhere(review).unwrap_or_else(|| {
        let words: Vec<&str> = offers(&review.uri, edit, hunk).iter().map(|offer| offer.word).collect();
        format!("Code actions: {}.", words.join(" · "))
    })
}

/// What the person has had its agent told.
fn told(hunk: &HunkView) -> Option<String> {
    Some(format!("You said: {}", hunk.reason.as_ref()?))
}

fn plain(review: &DocumentReview, edit: &ReviewEdit, hunk: &HunkView) -> String {
    let mut parts = vec![heading(edit, hunk)];
    parts.extend(edit.edit.reason.as_ref().map(ToString::to_string));
    parts.extend(hunk.conflict.clone());
    parts.extend(told(hunk));
    parts.extend(diff(hunk));
    parts.push(ways(review, edit, hunk));
    parts.join("\n")
}

fn markdown_of(review: &DocumentReview, edit: &ReviewEdit, hunk: &HunkView) -> String {
    let diff = diff(hunk).join("\n");
    // Longer than any run of backticks within.
    let longest = diff.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let paragraph =
        |words: Option<&str>| words.map_or_else(String::new, |words| format!("{}\n\n", escaped(words)));
    let (reason, conflict) = (paragraph(edit.edit.reason.as_deref()), paragraph(hunk.conflict.as_deref()));
    let told = paragraph(told(hunk).as_deref());
    let (heading, ways) = (escaped(&heading(edit, hunk)), ways(review, edit, hunk));
    format!("**{heading}**\n\n{reason}{conflict}{told}{fence}diff\n{diff}\n{fence}\n\n{ways}")
}

/// Text that markdown shows as it is: an agent names itself, and a name is no markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | '-' | '/' | '\'') {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_between_lines_belongs_to_both() {
        assert!(touches(&(2..4), &(3..4)) && touches(&(2..4), &(2..2)));
        assert!(!touches(&(2..4), &(4..5)) && !touches(&(2..4), &(1..2)));
        assert!(touches(&(2..2), &(1..2)) && touches(&(2..2), &(2..3)));
        assert!(!touches(&(2..2), &(0..1)) && !touches(&(2..2), &(3..4)));
        assert!(touches(&(0..0), &(0..1)));
    }

    #[test]
    fn a_name_is_no_markup() {
        assert_eq!(escaped("a*b*\n<i>`x`"), "a\\*b\\* \\<i\\>\\`x\\`");
    }
}
