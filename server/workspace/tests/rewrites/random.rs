//! Texts, typing and changes by seeds.

use hashline_text::FileHash;
use hashline_workspace::document::{Change, Choice, Mode, Note, Refused, Request, Target};
use hashline_workspace::{Refusal, Settings};

use crate::desk::{Desk, diff, hunk, pieces};

/// The seeds that are played: this many, or what the environment says.
fn seeds(count: u64) -> std::ops::RangeInclusive<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    match number("HASHLINE_SEED") {
        Some(one) => one..=one,
        None => 1..=count * number("HASHLINE_SEEDS").unwrap_or(100) / 100,
    }
}

/// The numbers below `below` that follow from a seed.
fn dice(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000_003).unwrap() % below
    }
}

/// Whatever the person does between an agent's read and its edit: the lines that the edit names are changed and no others, or it is
/// refused because one of them was touched.
#[tokio::test]
async fn what_is_carried_changes_what_it_names_and_nothing_else() {
    let (mut carried, mut refused) = (0, 0);
    let seeds = seeds(100);
    for seed in seeds.clone() {
        let mut dice = dice(seed);
        let ending = ["\n", "\r\n"][dice(2)];
        let lines: Vec<String> = (0..12).map(|n| format!("line {n}.")).collect();
        let joined = |lines: &[String], last: bool| lines.join(ending) + if last { ending } else { "" };
        let newline = dice(2) == 0;
        let mut desk = Desk::live(&joined(&lines, newline));
        let (_, hash) = desk.read().await;

        // The person changes, removes and adds some lines, and perhaps the newline at the end.
        let mut typed = lines.clone();
        for _ in 0..=dice(3) {
            let at = dice(typed.len());
            match dice(3) {
                0 => typed[at].push('!'),
                1 => drop(typed.remove(at)),
                _ => typed.insert(at, format!("typed {}", dice(1_000))),
            }
        }
        let typed_newline = if dice(4) == 0 { !newline } else { newline };
        if (&typed, typed_newline) == (&lines, newline) {
            continue;
        }
        desk.types(&joined(&typed, typed_newline));

        // The agent replaces one line by two, or two by one.
        let first = dice(lines.len() - 1);
        let last = first + dice(2);
        let new: Vec<String> = (0..=usize::from(first == last)).map(|n| format!("new {n}")).collect();
        let change = match dice(2) {
            0 => pieces(&[(lines[first..=last].join("\n").as_str(), new.join("\n").as_str())]),
            _ => {
                let signed = |sign: char, lines: &[String]| {
                    lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>()
                };
                diff(&format!("@@\n{}{}", signed('-', &lines[first..=last]), signed('+', &new)))
            }
        };
        let place = typed.windows(last - first + 1).position(|window| *window == lines[first..=last]);
        match (desk.edit(Some(hash), change).await, place) {
            (Ok(reply), Some(place)) => {
                let mut expected = typed.clone();
                expected.splice(place..place + (last - first + 1), new);
                assert_eq!(reply.text, joined(&expected, typed_newline).as_str(), "seed {seed}");
                desk.decide(Choice::Accept, Target::All).await;
                assert_eq!(desk.text, joined(&expected, typed_newline).as_str(), "seed {seed}");
                carried += 1;
            }
            (Err(Refusal::Edit(Refused::Stale { .. })), None) => refused += 1,
            (outcome, place) => panic!("seed {seed}: {place:?}, {outcome:?}"),
        }
    }
    let played = seeds.count();
    assert!(played < 100 || carried > 40 && refused > 10, "{carried} carried, {refused} refused");
}

/// A text of some lines with any endings.
fn any_text(dice: &mut impl FnMut(usize) -> usize) -> String {
    let mut out = String::new();
    for _ in 0..dice(9) {
        out.push_str(["", "a", "b", "c", "d", "é"][dice(6)]);
        out.push_str(["\n", "\n", "\r\n", "\r"][dice(4)]);
    }
    out + ["", "end", "a"][dice(3)]
}

#[tokio::test]
async fn any_text_becomes_any_other() {
    for seed in seeds(40) {
        let mut dice = dice(seed);
        let (old, new) = (any_text(&mut dice), any_text(&mut dice));
        if old == new {
            continue;
        }
        for mode in [Mode::Apply, Mode::Propose] {
            let mut desk = Desk::with(Settings { disk: mode, ..Settings::default() }, &old);
            let reply = desk.edit(None, Change::whole(&new)).await;
            let reply = reply.unwrap_or_else(|refusal| panic!("seed {seed}: {old:?} to {new:?}: {refusal}"));
            if mode == Mode::Propose {
                assert_eq!(desk.bytes(), old, "seed {seed}: {new:?} is held");
                desk.decide(Choice::Accept, Target::All).await;
            }
            assert_eq!(desk.bytes(), new, "seed {seed}: from {old:?}");
            assert_eq!(reply.hash, FileHash::of(new.as_bytes()), "seed {seed}");
            if mode == Mode::Apply {
                desk.decide(Choice::Reject, Target::All).await;
                assert_eq!(desk.bytes(), old, "seed {seed}: {new:?} was rejected");
            }
        }
    }
}

/// Accepted one after the other in any order, the pieces of a whole text come to that text.
#[tokio::test]
async fn pieces_in_any_order_come_to_the_whole() {
    let mut several = 0;
    for seed in seeds(60) {
        let mut dice = dice(seed);
        let (old, new) = (any_text(&mut dice), any_text(&mut dice));
        let mut desk = Desk::live(&old);
        let reply = match desk.edit(None, Change::whole(&new)).await {
            Ok(reply) => reply,
            Err(Refusal::Edit(Refused::NothingToDo { .. })) => continue,
            Err(refusal) => panic!("seed {seed}: {old:?} to {new:?}: {refusal}"),
        };
        let mut left: Vec<u32> = (1..).take(reply.states.len()).collect();
        several += usize::from(left.len() > 1);
        let mut stuck = 0;
        while !left.is_empty() {
            let number = left.remove(dice(left.len()));
            let request = Request::of(Choice::Accept, hunk(&reply, number));
            let decided = desk.workspace.decide(Some(&desk.uri()), &request).await;
            // One whose endings would run together with a neighbour's has to wait for that.
            if !decided.refused.is_empty() {
                left.push(number);
                stuck += 1;
                assert!(stuck < 1_000, "seed {seed}: {old:?} to {new:?}: {:?}", decided.refused);
            }
            desk.deliver();
        }
        match reply.notes.iter().any(|note| matches!(note, Note::EndingsKept(_))) {
            false => assert_eq!(desk.text, new.as_str(), "seed {seed}: from {old:?}"),
            true => assert_eq!(reply.hash, FileHash::of(desk.text.to_string().as_bytes()), "seed {seed}"),
        }
    }
    assert!(seeds(60).count() < 60 || several > 20, "{several}");
}
