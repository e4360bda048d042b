//! The lines that come nearest to a piece of text that was not found: for words about it, never to be edited in its place.
//!
//! The work is bounded: three lines of the piece are held against all lines of the text by a count of bytes, and only the best
//! places are compared in full.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::indexed_text::Sheet;

/// A place that comes near to what was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The lines, counted from 0, as many as were asked for where the text has them.
    pub lines: Range<usize>,
    /// They differ from it in spaces and tabs alone.
    pub spaces_only: bool,
}

/// How many bytes of a line are looked at.
const MAX_BYTES: usize = 160;
/// How many lines of a text are looked at.
const MAX_LINES: usize = 300_000;
/// How many places are compared in full, for each of the lines looked for.
const MAX_PLACES: usize = 12;
/// How many lines of a place are compared in full.
const MAX_HEIGHT: usize = 24;
/// How many lines of the piece are looked for.
const KEYS: usize = 3;
/// How near a place has to come, of 1.
const NEAR: f32 = 0.6;

/// The places nearest to these lines (without endings), best first, two at most.
pub(crate) fn nearest(sheet: &Sheet, wanted: &[&str]) -> Vec<Near> {
    let mut keys: Vec<usize> = (0..wanted.len()).filter(|at| !wanted[*at].trim().is_empty()).collect();
    keys.sort_by_key(|at| std::cmp::Reverse(wanted[*at].trim().len().min(MAX_BYTES)));
    keys.truncate(KEYS);
    let last = sheet.line_count().saturating_sub(wanted.len());
    let mut starts: Vec<usize> = Vec::new();
    for key in keys {
        starts.extend(like(sheet, wanted[key]).into_iter().map(|line| line.saturating_sub(key).min(last)));
    }
    starts.sort_unstable();
    starts.dedup();
    let mut scored: Vec<(f32, usize)> = starts
        .into_iter()
        .map(|start| (score(sheet, start, wanted), start))
        .filter(|(score, _)| *score >= NEAR)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let Some(best) = scored.first().copied() else { return Vec::new() };
    let mut found: Vec<Near> = Vec::new();
    for (score, start) in scored {
        let lines = start..(start + wanted.len()).min(sheet.line_count());
        let apart = found.iter().all(|near| near.lines.end <= lines.start || lines.end <= near.lines.start);
        if apart && score > best.0 - 0.15 {
            let same = lines
                .clone()
                .zip(wanted)
                .all(|(line, wanted)| spaceless(sheet.content(line)).eq(spaceless(wanted)));
            found.push(Near { spaces_only: same && lines.len() == wanted.len(), lines });
        }
        if found.len() == 2 {
            break;
        }
    }
    found
}

fn spaceless(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|char| !char.is_whitespace())
}

/// The first bytes of a line that count.
fn head(line: &str) -> &[u8] {
    let line = line.trim().as_bytes();
    &line[..line.len().min(MAX_BYTES)]
}

/// The lines that share the most bytes with this one, in whatever order the bytes are.
fn like(sheet: &Sheet, wanted: &str) -> Vec<usize> {
    let wanted = head(wanted);
    let mut counts = [0u8; 256];
    wanted.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let mut best: Vec<(usize, usize)> = Vec::new();
    for line in 0..sheet.line_count().min(MAX_LINES) {
        let content = head(sheet.content(line));
        let mut left = counts;
        let mut common = 0usize;
        for byte in content {
            let left = &mut left[usize::from(*byte)];
            if *left > 0 {
                *left -= 1;
                common += 1;
            }
        }
        // In thousandths. A piece of a line is judged by how much of it is there.
        let share = (2000 * common).checked_div(content.len() + wanted.len()).unwrap_or(0);
        let part = (800 * common).checked_div(wanted.len()).unwrap_or(0);
        let score = share.max(part);
        if score < 400 || best.len() == MAX_PLACES && best.last().is_some_and(|last| last.0 >= score) {
            continue;
        }
        let at = best.partition_point(|(other, _)| *other >= score);
        best.insert(at, (score, line));
        best.truncate(MAX_PLACES);
    }
    best.into_iter().map(|(_, line)| line).collect()
}

/// How near the lines from `start` on come, of 1: the mean over the lines, long ones counting more.
fn score(sheet: &Sheet, start: usize, wanted: &[&str]) -> f32 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (at, wanted) in wanted.iter().enumerate().take(MAX_HEIGHT) {
        let weight = head(wanted).len().max(1) as f32;
        sum += weight * alike(head(sheet.content(start + at)), head(wanted));
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// How alike two lines are, of 1.
fn alike(line: &[u8], wanted: &[u8]) -> f32 {
    if line == wanted {
        return 1.0;
    }
    let ops = capture_diff_slices(Algorithm::Myers, line, wanted);
    let equal = |least: usize| -> usize {
        let lens = ops.iter().filter_map(|op| match op {
            DiffOp::Equal { len, .. } if *len >= least => Some(*len),
            _ => None,
        });
        lens.sum()
    };
    let both = (line.len() + wanted.len()).max(1) as f32;
    let ratio = 2.0 * equal(1) as f32 / both;
    // A piece of a long line: what is there of it in one piece, or nearly.
    let part = 0.9 * equal(3) as f32 / wanted.len().max(8) as f32;
    ratio.max(part)
}
