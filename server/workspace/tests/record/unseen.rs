//! Edits that were decided long ago, decided anew after the file was changed while nobody watched (rule W17).

use std::ops::Range;

use hashline_history::Decision;
use hashline_workspace::agent::EditReply;
use hashline_workspace::document::{Choice, Request, Target, Unseen, Why};

use crate::chance::{Rng, seeds};
use crate::desk::{Desk, Op, first, request};

const SEEDS: u64 = 150;

/// Lines as they repeat in every file.
const COMMON: [&str; 8] = [
    "",
    "    }",
    "    return None;",
    "    for item in items {",
    "        continue;",
    "    Ok(out)",
    "    // TODO",
    "    self.check()?;",
];

/// Which line it is, however often it was copied: of the first text, or of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Id {
    First(usize),
    Made(usize, usize),
    /// Nobody knows.
    New,
}

type Lines = Vec<(Id, String)>;

struct Edit {
    lines: Range<usize>,
    new: Vec<String>,
}

/// The text with some of the edits in it: they are apart from each other, so each is in it or not.
fn text_of(file: &[String], edits: &[Edit], on: &[bool]) -> Lines {
    let mut lines = Vec::new();
    let mut at = 0;
    for (number, edit) in edits.iter().enumerate() {
        lines.extend((at..edit.lines.start).map(|line| (Id::First(line), file[line].clone())));
        match on[number] {
            true => {
                lines
                    .extend(edit.new.iter().enumerate().map(|(n, line)| (Id::Made(number, n), line.clone())));
            }
            false => lines.extend(edit.lines.clone().map(|line| (Id::First(line), file[line].clone()))),
        }
        at = edit.lines.end;
    }
    lines.extend((at..file.len()).map(|line| (Id::First(line), file[line].clone())));
    lines
}

fn joined(lines: &Lines) -> String {
    lines.iter().map(|(_, line)| format!("{line}\n")).collect()
}

fn body(rng: &mut Rng) -> String {
    match rng.chance(55) {
        true => (*rng.pick(&COMMON)).to_owned(),
        false => format!("    let {} = load({});", rng.pick(&["count", "size", "path"]), rng.below(60)),
    }
}

/// What somebody does to the file. Returns what it was.
fn change(rng: &mut Rng, lines: &mut Lines) -> &'static str {
    let count = lines.len();
    let block = |rng: &mut Rng, most: usize| {
        let start = rng.below(count - 1);
        start..(start + 1 + rng.below(most)).min(count)
    };
    match rng.below(7) {
        0 => {
            let at = rng.below(count + 1);
            let new: Lines = (0..1 + rng.below(4)).map(|_| (Id::New, body(rng))).collect();
            lines.splice(at..at, new);
            "inserted"
        }
        1 => {
            lines.drain(block(rng, 6));
            "removed"
        }
        2 => {
            let at = rng.below(count);
            lines[at] = (Id::New, body(rng));
            "changed"
        }
        3 => {
            let moved: Lines = lines.drain(block(rng, 14)).collect();
            let at = rng.below(lines.len() + 1);
            lines.splice(at..at, moved);
            "moved"
        }
        4 => {
            let copy: Lines = lines[block(rng, 14)].iter().map(|(_, line)| (Id::New, line.clone())).collect();
            let at = rng.below(count + 1);
            lines.splice(at..at, copy);
            "copied"
        }
        5 => {
            let at = rng.below(count);
            lines[at].1.push(' ');
            lines[at].0 = Id::New;
            "a blank"
        }
        _ => {
            lines.truncate(count - rng.below(count / 2));
            "cut"
        }
    }
}

/// The lines of the file that an edit takes away when it goes in or out, and those that come instead.
fn sides(file: &[String], edits: &[Edit], which: usize, on: bool) -> [Lines; 2] {
    let edit = &edits[which];
    let first = edit.lines.clone().map(|line| (Id::First(line), file[line].clone())).collect();
    let made = edit.new.iter().enumerate().map(|(n, line)| (Id::Made(which, n), line.clone())).collect();
    if on { [first, made] } else { [made, first] }
}

/// Where the lines of an edit are that go when it goes in or out of the file; none where there is no right answer.
fn place(now: &Lines, file: &[String], edits: &[Edit], which: usize, on: bool) -> Option<Range<usize>> {
    let edit = &edits[which];
    let [old, _] = sides(file, edits, which, on);
    let place = |id: &Id| now.iter().position(|(other, _)| other == id);
    let at = match old.first() {
        Some((first, _)) => place(first)?,
        // Between its neighbours, as far as there are any.
        None => {
            let before = edit.lines.start.checked_sub(1).map(Id::First);
            let after = (edit.lines.end < file.len()).then_some(Id::First(edit.lines.end));
            match (before, after) {
                (Some(before), Some(after)) => {
                    let at = place(&before)? + 1;
                    (place(&after)? == at).then_some(at)?
                }
                (Some(before), None) => (place(&before)? + 1 == now.len()).then_some(now.len())?,
                (None, Some(after)) => (place(&after)? == 0).then_some(0)?,
                (None, None) => return None,
            }
        }
    };
    let lines = at..at + old.len();
    let ids = |lines: &[(Id, String)]| lines.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    (ids(now.get(lines.clone())?) == ids(&old)).then_some(lines)
}

/// What the file is to be when an edit goes in or out of it; none where there is no right answer.
fn toggled(now: &Lines, file: &[String], edits: &[Edit], which: usize, on: bool) -> Option<Lines> {
    let place = place(now, file, edits, which, on)?;
    let [_, new] = sides(file, edits, which, on);
    let mut lines = now.clone();
    lines.splice(place, new);
    Some(lines)
}

/// The same where a copy was made that reads as the edit and the three lines on each side of it did, which the lines that were copied do
/// no longer: by the text alone that is the edit.
fn toggled_in_copy(
    (then, now): (&Lines, &Lines),
    file: &[String],
    edits: &[Edit],
    which: usize,
    on: bool,
) -> Option<Lines> {
    const AROUND: usize = 3;
    let there = place(then, file, edits, which, on)?;
    let (from, to) = (there.start.saturating_sub(AROUND), (there.end + AROUND).min(then.len()));
    let reads = |lines: &[(Id, String)]| lines.iter().map(|(_, line)| line.clone()).collect::<Vec<_>>();
    let window = reads(&then[from..to]);
    let mut copies = (0..now.len())
        .filter(|at| now.get(*at..at + window.len()).is_some_and(|lines| reads(lines) == window));
    let (Some(copy), None) = (copies.next(), copies.next()) else { return None };
    let start = copy + (there.start - from);
    let [_, new] = sides(file, edits, which, on);
    let mut lines = now.clone();
    lines.splice(start..start + there.len(), new);
    Some(lines)
}

#[derive(Debug, Default)]
struct Tally {
    files: usize,
    toggles: usize,
    unchanged: usize,
    right: usize,
    refused: usize,
    refused_and_clear: usize,
    unclear: usize,
    given_up: usize,
}

struct Play {
    desk: Desk,
    file: Vec<String>,
    edits: Vec<Edit>,
    replies: Vec<EditReply>,
    on: Vec<bool>,
}

impl Play {
    async fn begin(rng: &mut Rng) -> Self {
        let file: Vec<String> = (0..25 + rng.below(60)).map(|_| body(rng)).collect();
        let text: String = file.iter().map(|line| format!("{line}\n")).collect();
        let mut desk = Desk::new(&[("a.txt", &text)]);
        let mut edits = Vec::new();
        let mut at = rng.below(5);
        while at + 3 < file.len() {
            let lines = at..at + rng.below(3);
            let new: Vec<String> = (0..1 + rng.below(3)).map(|_| body(rng)).collect();
            at = lines.end + 2 + rng.below(12);
            if new != file[lines.clone()] {
                edits.push(Edit { lines, new });
            }
        }
        let mut replies = Vec::new();
        // From the end, so that the numbers of the lines stay.
        for edit in edits.iter().rev() {
            let new = edit.new.join("\n") + "\n";
            let op = match edit.lines.is_empty() {
                false => Op::Replace(edit.lines.start, edit.lines.end, &new),
                true if edit.lines.start == 0 => Op::Top(&new),
                true => Op::After(edit.lines.start - 1, &new),
            };
            replies.insert(0, desk.edit("a.txt", &[op]).await);
        }
        let mut on = vec![true; edits.len()];
        for at in 0..edits.len() {
            match rng.below(3) {
                0 => assert_eq!(desk.accept(&replies[at]).await, []),
                1 => {
                    assert_eq!(desk.reject(&replies[at]).await, []);
                    on[at] = false;
                }
                _ => {}
            }
        }
        assert_eq!(desk.stored("a.txt"), joined(&text_of(&file, &edits, &on)));
        Self { desk, file, edits, replies, on }
    }

    /// The lines that an edit takes away when it is decided the other way, and those that it puts there.
    fn sides(&self, which: usize) -> (&[String], &[String]) {
        let Edit { lines, new } = &self.edits[which];
        let old = &self.file[lines.clone()];
        if self.on[which] { (new, old) } else { (old, new) }
    }

    /// The text was one that the record knows: what came of it is the same, but for this edit.
    fn assert_switched(&self, now: &Lines, which: usize, about: &str) {
        let stored = self.desk.stored("a.txt");
        let came_of_it = (0..1usize << self.edits.len()).any(|set| {
            let mut on: Vec<bool> = (0..self.edits.len()).map(|at| set & (1 << at) != 0).collect();
            let fits = joined(&text_of(&self.file, &self.edits, &on)) == joined(now);
            on[which] = !self.on[which];
            fits && joined(&text_of(&self.file, &self.edits, &on)) == stored
        });
        assert!(came_of_it, "{about}\nbecame\n{stored}");
    }

    /// Where its lines are in a changed text is not beyond doubt: but they were taken out of one place, and others put there.
    fn assert_moved(&self, now: &Lines, which: usize, about: &str) {
        let stored = self.desk.stored("a.txt");
        let (from, to) = self.sides(which);
        let now: Vec<&String> = now.iter().map(|(_, line)| line).collect();
        let came_of_it = (0..=now.len()).any(|at| {
            let end = at + from.len();
            let is_there = now.get(at..end).is_some_and(|there| there.iter().copied().eq(from));
            let lines = || now[..at].iter().copied().chain(to).chain(now[end..].iter().copied());
            is_there && lines().map(|line| format!("{line}\n")).collect::<String>() == stored
        });
        assert!(came_of_it, "{about}\nbecame\n{stored}");
    }

    fn wish(&self, which: usize, unseen: Unseen) -> Request {
        let choice = if self.on[which] { Choice::Reject } else { Choice::Accept };
        Request { unseen, ..request(choice, Target::Edit(self.replies[which].edit.to_string())) }
    }
}

async fn play(seed: u64, tally: &mut Tally) {
    let mut rng = Rng::new(seed);
    let mut play = Play::begin(&mut rng).await;
    if play.edits.is_empty() {
        return;
    }
    tally.files += 1;
    let recorded = text_of(&play.file, &play.edits, &play.on);
    let mut now = recorded.clone();
    let what: Vec<&str> =
        (0..1 + rng.below(2)).map(|_| if now.len() > 4 { change(&mut rng, &mut now) } else { "" }).collect();
    play.desk.write("a.txt", joined(&now));
    if rng.chance(60) {
        play.desk = play.desk.restarted();
    }
    let which = rng.below(play.edits.len());
    let about =
        format!("HASHLINE_SEED={seed} {what:?} edit {which} on: {}\n{}", play.on[which], joined(&now));
    tally.toggles += 1;
    let before = play.desk.recorded("a.txt", &play.replies[which]);

    if joined(&now) == joined(&recorded) {
        tally.unchanged += 1;
        return;
    }
    // Whether the text is one of those that were recorded is the record's to know: then nothing has to be asked.
    for _ in 0..2 {
        let decided = play.desk.decide(&play.wish(which, Unseen::Refuse)).await;
        let Some(refused) = decided.refused.first() else {
            play.assert_switched(&now, which, &about);
            tally.unchanged += 1;
            return;
        };
        assert_eq!(refused.why, Why::Changed, "{about}");
        assert!(
            refused.message.contains("@@") && refused.message.contains("as recorded"),
            "{}",
            refused.message
        );
        assert_eq!(play.desk.stored("a.txt"), joined(&now), "{about}");
        assert_eq!(play.desk.recorded("a.txt", &play.replies[which]), before, "{about}");
    }
    if rng.chance(30) {
        let request = play.wish(which, Unseen::GiveUp);
        let decided = play.desk.decide(&request).await;
        assert_eq!((decided.refused, decided.kept.len()), (vec![], 1), "{about}");
        play.on[which] = !play.on[which];
        assert_eq!(play.desk.stored("a.txt"), joined(&text_of(&play.file, &play.edits, &play.on)), "{about}");
        let kept: Vec<_> = std::fs::read_dir(play.desk.history().join("discarded")).unwrap().collect();
        assert_eq!(kept.len(), 1);
        assert_eq!(std::fs::read_to_string(kept[0].as_ref().unwrap().path()).unwrap(), joined(&now));
        tally.given_up += 1;
        return;
    }
    let right = toggled(&now, &play.file, &play.edits, which, !play.on[which]);
    let request = play.wish(which, Unseen::Keep);
    let decided = play.desk.decide(&request).await;
    if decided.refused.is_empty() {
        let stored = play.desk.stored("a.txt");
        let is_stored = |lines: Option<Lines>| lines.is_some_and(|lines| joined(&lines) == stored);
        let on = !play.on[which];
        let of_copy = || toggled_in_copy((&recorded, &now), &play.file, &play.edits, which, on);
        match right {
            Some(_) if what.contains(&"copied") && is_stored(of_copy()) => tally.right += 1,
            Some(right) => {
                assert_eq!(stored, joined(&right), "{about}");
                tally.right += 1;
            }
            None => {
                play.assert_moved(&now, which, &about);
                tally.unclear += 1;
            }
        }
        let wanted = if play.on[which] { Decision::Rejected } else { Decision::Accepted };
        assert_eq!(
            play.desk.past("a.txt").hunk(&first(&play.replies[which])).unwrap().decision,
            wanted,
            "{about}"
        );
    } else {
        assert_eq!(play.desk.stored("a.txt"), joined(&now), "{about}");
        tally.refused += 1;
        tally.refused_and_clear += usize::from(right.is_some());
    }
}

#[tokio::test]
async fn edits_that_were_decided_long_ago_are_decided_right_or_not_at_all() {
    let mut tally = Tally::default();
    for seed in seeds(SEEDS) {
        play(seed, &mut tally).await;
    }
    eprintln!("{tally:?}");
    if std::env::var_os("HASHLINE_SEED").is_none() {
        assert!(
            tally.right > 0 && tally.refused > 0 && tally.given_up > 0 && tally.unchanged > 0,
            "{tally:?}"
        );
        assert!(tally.unclear * 20 < tally.toggles, "{tally:?}");
    }
}
