//! What an edit should do, told from the lines that its agent was given.

use std::ops::Range;

use hashline_workspace::document::HunkLines;

use crate::agent::{Slip, Verb, Wish};
use crate::atom::readable;
use crate::model::Fault;

/// Where the lines of an operation stand in a text: none if they stand there more than once.
fn find(named: &[String], text: &[String]) -> Result<Option<usize>, Fault> {
    let mut found = (0..=text.len().saturating_sub(named.len()))
        .filter(|at| text.get(*at..at + named.len()).is_some_and(|lines| lines == named));
    match (found.next(), found.next()) {
        (None, _) => Err(format!(
            "lines are replaced that are not as the agent saw them: {}",
            readable(&named.join("|"))
        )),
        (Some(at), None) => Ok(Some(at)),
        _ => Ok(None),
    }
}

/// The agent view after an edit, if the lines that it names can be told apart by their contents.
pub fn expected(wish: &Wish, before: &[String]) -> Result<Option<Vec<String>>, Fault> {
    if matches!(before, [only] if only.is_empty())
        || matches!(&wish.memory.lines[..], [only] if only.is_empty())
    {
        return Ok(None);
    }
    let mut first = Vec::new();
    let mut above: Vec<Vec<String>> = vec![Vec::new(); before.len()];
    let mut below: Vec<Vec<String>> = vec![Vec::new(); before.len()];
    let mut instead: Vec<Option<Vec<String>>> = vec![None; before.len()];
    for op in &wish.ops {
        if op.verb == Verb::Start {
            first.extend(op.content.clone());
            continue;
        }
        if wish.slip == Slip::Hash {
            // A wrong hash may be that of another line: which one is for the server to say.
            return Ok(None);
        }
        let Some(at) = find(&wish.memory.lines[op.lines.clone()], before)? else { return Ok(None) };
        match op.verb {
            Verb::After => below[at].extend(op.content.clone()),
            Verb::Before => above[at].extend(op.content.clone()),
            _ => {
                instead[at..at + op.lines.len()].fill(Some(Vec::new()));
                instead[at] = Some(op.content.clone());
            }
        }
    }
    let mut after = first;
    for (at, line) in before.iter().enumerate() {
        after.append(&mut above[at]);
        match instead[at].take() {
            Some(lines) => after.extend(lines),
            None => after.push(line.clone()),
        }
        after.append(&mut below[at]);
    }
    Ok(Some(after))
}

/// The recorded hunks take out the lines that the agent named, as it saw them, and put in what it gave.
pub fn right_lines(wish: &Wish, hunks: &[HunkLines], shown: &[Range<usize>]) -> Result<(), Fault> {
    let removed: Vec<&str> =
        hunks.iter().flat_map(|hunk| &hunk.removed).map(|line| line.content.as_str()).collect();
    let memory = &wish.memory;
    let seen = |line: &&str| {
        let (lines, seen) = (&memory.lines, shown.iter().chain(&memory.seen));
        seen.clone()
            .any(|range| lines.get(range.clone()).is_some_and(|lines| lines.iter().any(|l| l == line)))
    };
    if let Some(unseen) = removed.iter().find(|line| !seen(line))
        && !(unseen.is_empty() && memory.lines.len() <= 1)
    {
        return Err(format!("a line is replaced that the agent never saw: {:?}", readable(unseen)));
    }
    let mut named: Vec<(usize, &str)> = wish
        .ops
        .iter()
        .filter(|op| matches!(op.verb, Verb::Replace | Verb::Delete))
        .flat_map(|op| op.lines.clone())
        .map(|at| (at, memory.lines[at].as_str()))
        .collect();
    named.sort_unstable();
    let named: Vec<&str> = named.into_iter().map(|(_, line)| line).collect();
    let blank = removed == [""] && named.is_empty();
    // Lines may have changed their order since.
    let (mut a, mut b) = (removed.clone(), named.clone());
    a.sort_unstable();
    b.sort_unstable();
    if wish.slip != Slip::Hash && a != b && !blank {
        return Err(format!(
            "the edit takes out {:?} where the agent named {:?}",
            readable(&removed.join("|")),
            readable(&named.join("|"))
        ));
    }
    let mut put: Vec<&str> =
        hunks.iter().flat_map(|hunk| &hunk.proposed).map(|line| line.content.as_str()).collect();
    let mut given: Vec<&str> = wish.ops.iter().flat_map(|op| &op.content).map(String::as_str).collect();
    put.sort_unstable();
    given.sort_unstable();
    if put != given {
        return Err("the edit puts in other lines than the agent gave".to_owned());
    }
    Ok(())
}
