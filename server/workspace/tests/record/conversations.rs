//! Long conversations about several files, on the disk and in an editor, decided in any order and any number of times, through restarts.

use std::ops::Range;
use std::time::Instant;

use hashline_history::{Decision, HunkRef, Location};
use hashline_text::{Position, Span};
use hashline_weave::TextEdit;
use hashline_workspace::Refusal;
use hashline_workspace::agent::EditReply;
use hashline_workspace::document::{Along, Choice, Refused, Request, Target, Why};

use crate::chance::{Rng, seeds};
use crate::desk::{Desk, Op, assert_whole, request};
use crate::lines::{Lines, Set};

const SEEDS: u64 = 10;
const STEPS: usize = 60;

/// The first two are on the disk, the last is open.
const FILES: [&str; 3] = ["a.txt", "b.txt", "open.txt"];
const OPEN: usize = 2;

struct File {
    lines: Lines,
    hunks: Vec<HunkRef>,
    /// The hunks in the text, as recorded.
    on: Set,
}

struct Made {
    reply: EditReply,
    file: usize,
    hunks: Range<usize>,
}

#[derive(Debug, Default)]
struct Tally {
    edits: usize,
    decisions: usize,
    refused: usize,
    restarts: usize,
    typed: usize,
}

struct Talk {
    desk: Desk,
    rng: Rng,
    files: Vec<File>,
    edits: Vec<Made>,
    tally: Tally,
    about: String,
}

impl Talk {
    fn begin(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let texts: Vec<String> = (0..FILES.len())
            .map(|file| (0..4 + rng.below(30)).map(|at| format!("{file} {}\n", at % 9)).collect())
            .collect();
        let files: Vec<(&str, &str)> = FILES.iter().copied().zip(texts.iter().map(String::as_str)).collect();
        let mut desk = Desk::new(&files);
        desk.open(FILES[OPEN]);
        let file = |text: &String| File { lines: Lines::new(text), hunks: Vec::new(), on: Set::new() };
        let files = texts.iter().map(file).collect();
        Self {
            desk,
            rng,
            files,
            edits: Vec::new(),
            tally: Tally::default(),
            about: format!("HASHLINE_SEED={seed}"),
        }
    }

    fn text(&self, file: usize) -> String {
        if file == OPEN { self.desk.text(FILES[file]) } else { self.desk.stored(FILES[file]) }
    }

    /// The hunks that agents see in a file.
    fn seen(&self, file: usize) -> Set {
        let this = &self.files[file];
        if this.hunks.is_empty() {
            return Set::new();
        }
        let past = self.desk.past(FILES[file]);
        let mut weave = past.weave().unwrap().clone();
        let is_seen = |hunk: &HunkRef| past.hunk(hunk).unwrap().id.is_some_and(|id| weave.in_agent_view(id));
        this.hunks.iter().map(is_seen).enumerate().filter(|(_, seen)| *seen).map(|(at, _)| at).collect()
    }

    async fn edits(&mut self) {
        let file = self.rng.below(FILES.len());
        let name = FILES[file];
        let read = self.desk.read(name).await;
        let seen = self.seen(file);
        assert_eq!(
            read.0.to_string(),
            self.files[file].lines.text(&seen),
            "{}: what agents see of {name}",
            self.about
        );
        let count = read.0.line_count();
        let mut changes: Vec<(Range<usize>, Vec<String>)> = Vec::new();
        let mut at = self.rng.below(count + 1);
        for _ in 0..1 + self.rng.below(2) {
            if at > count {
                break;
            }
            let range = at..(at + self.rng.below(4)).min(count);
            let made = if range.is_empty() { 1 + self.rng.below(3) } else { self.rng.below(4) };
            let new = (0..made).map(|_| format!("new {}", self.rng.below(1000))).collect();
            at = range.end + 2 + self.rng.below(5);
            changes.push((range, new));
        }
        if changes.iter().all(|(range, new)| range.len() >= count && new.is_empty()) {
            return;
        }
        let joined: Vec<String> = changes.iter().map(|(_, new)| new.join("\n") + "\n").collect();
        let operations: Vec<Op<'_>> = changes
            .iter()
            .zip(&joined)
            .map(|((range, new), joined)| match (range.is_empty(), new.is_empty()) {
                (true, _) if range.start == 0 => Op::Top(joined),
                (true, _) => Op::After(range.start - 1, joined),
                (false, true) => Op::Delete(range.start, range.end),
                (false, false) => Op::Replace(range.start, range.end, joined),
            })
            .collect();
        let turn = format!("turn-{}", self.rng.below(4));
        let reply = match self.desk.edit_as("tester", Some(&turn), name, &read, &operations).await {
            Ok(reply) => reply,
            Err(Refusal::Edit(Refused::NothingToDo { .. })) => return,
            Err(error) => panic!("{}: {error}", self.about),
        };
        let this = &mut self.files[file];
        let hunks = this.lines.edit(&seen, &changes);
        this.hunks.extend((1..).take(hunks.len()).map(|number| HunkRef { edit: reply.edit.clone(), number }));
        assert_eq!(reply.states.len(), hunks.len(), "{}", self.about);
        self.edits.push(Made { reply, file, hunks });
        self.tally.edits += 1;
        self.look(file, None);
    }

    /// Compares a file with what is recorded of it. `target`: only these may have changed, and what has to do with them.
    fn look(&mut self, file: usize, target: Option<&Set>) {
        self.desk.settle();
        let (name, about) = (FILES[file], &self.about);
        let text = self.text(file);
        let this = &self.files[file];
        if this.hunks.is_empty() {
            return;
        }
        let past = self.desk.past(name);
        let mut on = Set::new();
        for (at, hunk) in this.hunks.iter().enumerate() {
            let state = past.hunk(hunk).unwrap();
            let is_on = state.location != Location::None;
            if is_on {
                on.insert(at);
            }
            match state.decision {
                Decision::Accepted => assert!(is_on, "{about}: {hunk} is accepted and not in {name}"),
                Decision::Rejected => assert!(!is_on, "{about}: {hunk} is rejected and in {name}"),
                _ => {}
            }
            if file != OPEN {
                assert_ne!(state.location, Location::Buffer, "{about}: {hunk}");
            }
        }
        assert_eq!(text, this.lines.text(&on), "{about}: {name} with {on:?}");
        if let Some(target) = target {
            let related = this.lines.related(target);
            let changed: Set = on.symmetric_difference(&this.on).copied().collect();
            assert!(changed.is_subset(&related), "{about}: {changed:?} has nothing to do with {target:?}");
        }
        self.files[file].on = on;
    }

    async fn decides(&mut self) {
        if self.edits.is_empty() {
            return;
        }
        let made = &self.edits[self.rng.below(self.edits.len())];
        let (file, hunks) = (made.file, made.hunks.clone());
        let choice = *self.rng.pick(&[
            Choice::Accept,
            Choice::Accept,
            Choice::Reject,
            Choice::Reject,
            Choice::Reject,
            Choice::Reopen,
        ]);
        let of_hunk = hunks.start + self.rng.below(hunks.len());
        let (target, targets) = match self.rng.below(5) {
            0 | 1 => (Target::Hunk(self.files[file].hunks[of_hunk].clone()), Set::from([of_hunk])),
            2 | 3 => (Target::Edit(made.reply.edit.to_string()), hunks.collect()),
            _ => (Target::Conversation(made.reply.conversation.0.clone()), Set::new()),
        };
        let conversation = made.reply.conversation.0.clone();
        let wish = Request {
            along: if self.rng.chance(80) { Along::All } else { Along::OfTurn },
            ..request(choice, target.clone())
        };
        let decided = self.desk.decide(&wish).await;
        self.tally.decisions += 1;
        self.tally.refused += usize::from(!decided.refused.is_empty());
        assert!(
            decided.refused.iter().all(|refused| !matches!(refused.why, Why::Failed | Why::Changed)),
            "{}: {:?}",
            self.about,
            decided.refused
        );
        for at in 0..FILES.len() {
            let own: Set = match &target {
                Target::Conversation(_) => {
                    let of = self
                        .edits
                        .iter()
                        .filter(|made| made.file == at && made.reply.conversation.0 == conversation);
                    of.flat_map(|made| made.hunks.clone()).collect()
                }
                _ if at == file => targets.clone(),
                _ => Set::new(),
            };
            self.look(at, Some(&own));
        }
        if let (Target::Hunk(hunk), true) = (&target, decided.refused.is_empty()) {
            let state = self.desk.past(FILES[file]).hunk(hunk).unwrap().decision;
            let wanted = match choice {
                Choice::Accept => Decision::Accepted,
                Choice::Reject => Decision::Rejected,
                _ => Decision::Undecided,
            };
            assert_eq!(state, wanted, "{}: {hunk}", self.about);
        }
    }

    fn types(&mut self) {
        let this = &self.files[OPEN];
        let quiet = this.lines.quiet(&this.on);
        if quiet.is_empty() {
            return;
        }
        let at = *self.rng.pick(&quiet);
        let content = format!("typed {}", self.rng.below(1000));
        let here = Position::new(at as u32, 0);
        self.desk.make(FILES[OPEN], &[TextEdit { span: Span::new(here, here), new: format!("{content}\n") }]);
        let this = &mut self.files[OPEN];
        this.lines.typed(&this.on, at, &content);
        self.tally.typed += 1;
        self.look(OPEN, None);
    }

    fn saves(&mut self) {
        self.desk.save(FILES[OPEN]);
        self.files[OPEN].lines.saved();
        self.look(OPEN, None);
    }

    fn restarts(mut self) -> Self {
        if self.rng.chance(70) {
            self.saves();
        } else {
            self.files[OPEN].lines.lost();
        }
        let before = self.desk.stored(FILES[OPEN]);
        let mut desk = self.desk.restarted();
        desk.open(FILES[OPEN]);
        self.desk = desk;
        self.tally.restarts += 1;
        assert_eq!(self.desk.text(FILES[OPEN]), before, "{}", self.about);
        for file in 0..FILES.len() {
            self.look(file, None);
        }
        self
    }

    /// Takes everything out, whatever was decided about it.
    async fn rejects_all(&mut self) {
        for made in (0..self.edits.len()).rev() {
            let (file, hunks) = (self.edits[made].file, self.edits[made].hunks.clone());
            for hunk in hunks.rev() {
                let wish = request(Choice::Reject, Target::Hunk(self.files[file].hunks[hunk].clone()));
                let decided = self.desk.decide(&Request { along: Along::All, ..wish }).await;
                assert_eq!(decided.refused, [], "{}", self.about);
            }
        }
        for file in 0..FILES.len() {
            self.look(file, None);
            assert!(self.files[file].on.is_empty(), "{}", self.about);
        }
    }

    async fn goes_on(mut self, steps: usize) -> Self {
        let about = self.about.clone();
        for step in 0..steps {
            self.about = format!("{about} step {step}");
            match self.rng.below(100) {
                0..35 => self.edits().await,
                35..80 => self.decides().await,
                80..92 => self.types(),
                92..97 => self.saves(),
                _ => self = self.restarts(),
            }
        }
        self.about = format!("{about} at the end");
        self
    }

    /// Everything out, and in again, and out: every byte is back each time.
    async fn ends(mut self) -> Tally {
        self.rejects_all().await;
        let without: Vec<String> = (0..FILES.len()).map(|file| self.text(file)).collect();
        for (file, without) in without.iter().enumerate() {
            assert_eq!(*without, self.files[file].lines.text(&Set::new()), "{}", self.about);
        }
        self.saves();
        self = self.restarts();
        for made in 0..self.edits.len() {
            let target = Target::Edit(self.edits[made].reply.edit.to_string());
            // What collides with another one is refused.
            self.desk.decide(&Request { along: Along::All, ..request(Choice::Accept, target) }).await;
        }
        for file in 0..FILES.len() {
            self.look(file, None);
        }
        self.rejects_all().await;
        let again: Vec<String> = (0..FILES.len()).map(|file| self.text(file)).collect();
        assert_eq!(again, without, "{}", self.about);
        self.desk.settle();
        assert_whole(self.desk.folder.path());
        self.tally
    }
}

#[tokio::test]
async fn whatever_is_decided_the_files_are_what_was_decided() {
    let mut all = Tally::default();
    for seed in seeds(SEEDS) {
        let tally = Talk::begin(seed).goes_on(STEPS).await.ends().await;
        all.edits += tally.edits;
        all.decisions += tally.decisions;
        all.refused += tally.refused;
        all.restarts += tally.restarts;
        all.typed += tally.typed;
    }
    eprintln!("{all:?}");
}

#[tokio::test]
async fn a_conversation_of_many_edits_can_be_decided_to_the_last() {
    for seed in seeds(1) {
        let mut talk = Talk::begin(1000 + seed);
        let started = Instant::now();
        let edits = 300;
        while talk.edits.len() < edits {
            talk.edits().await;
        }
        let made = started.elapsed();
        let talk = talk.goes_on(30).await;
        eprintln!("{edits} edits in {made:?}, {:?} in all: {:?}", started.elapsed(), talk.ends().await);
    }
}
