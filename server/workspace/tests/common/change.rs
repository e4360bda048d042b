//! What an editor tells of a change.

use hashline_text::{Position, Span};
use hashline_workspace::document::ContentChange;

/// The change of lines that makes one text of another.
pub fn change(old: &str, new: &str) -> ContentChange {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(same).count();
    let at = |line: usize| Position::new(u32::try_from(line).unwrap(), 0);
    let span = Span::new(at(head), at(before.len() - tail));
    ContentChange { span: Some(span), text: after[head..after.len() - tail].concat() }
}
