//! The text that a document starts with.

use crate::atom::{Atoms, Maker};
use crate::dice::Dice;
use crate::kind::Kind;

/// The byte-order mark.
pub const MARK: char = '\u{feff}';

/// Lines of its own characters, some that stand more than once, all kinds of ends; a few documents are long.
pub fn text(kind: Kind, atoms: &mut Atoms, dice: &mut Dice) -> String {
    if dice.chance(4) {
        return if dice.chance(50) { String::new() } else { "\n".to_owned() };
    }
    let returns = kind.ends_lines_with_return() && dice.chance(12);
    let (ending, other) = match returns {
        true => (dice.weighted(&[(50, "\r"), (50, "\n")]), "\r"),
        false => (dice.weighted(&[(80, "\n"), (20, "\r\n")]), "\r\n"),
    };
    let is_mixed = returns || dice.chance(8);
    let lines = match dice.below(2000) {
        0 => dice.within(1000, 5000),
        1..30 => dice.within(60, 300),
        _ => dice.within(3, 24),
    };
    let mut text = String::new();
    if kind.shows_marks() && dice.chance(6) {
        text.push(MARK);
    }
    for line in 0..lines {
        match dice.below(10) {
            0 if line + 1 < lines => {}
            1 => text.push('}'),
            2 => text.push_str("  return;"),
            _ => {
                text.push_str(&" ".repeat(dice.below(3) * 2));
                text.push_str(&format!("stored({})", atoms.next(Maker::File)));
                if dice.chance(40) {
                    text.push_str(&format!(" and {};", atoms.next(Maker::File)));
                }
            }
        }
        if line + 1 < lines || dice.chance(75) {
            text.push_str(if is_mixed && dice.chance(30) { other } else { ending });
        }
    }
    text
}
