//! An append fails in each way in which one can, at each place, and in that very moment the editor saves, the person decides and the
//! document is closed: nothing is lost, nothing is locked, and what happened is recorded in its order.

mod appends;
mod check;
mod seat;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hashline_history::{Decision, HunkRef};
use hashline_text::{HashPrefix, Text};
use hashline_workspace::agent::EditRequest;
use hashline_workspace::document::{Change, Choice, Mode, Target};
use hashline_workspace::{Histories, Settings};

use crate::chance::{Rng, seeds};
use crate::desk::{Desk, Op, PATIENCE, agent, assert_whole};
use crate::failing::Failure;
use crate::order::Event;
use appends::{Appends, Plan};
use check::Checks;
use seat::{Meanwhile, NAME, ORDERS, Seat};

const FILE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// How many cases are played at a time: most of them wait for a disk, or for the pause before something is tried again.
const AT_A_TIME: usize = 48;

/// What an agent or a person does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// An agent replaces the line at this place, of as many as there are.
    Propose(usize),
    /// The same where edits go into the text at once.
    Apply(usize),
    /// An agent says what the whole file is to hold.
    Rewrite(usize),
    /// An agent takes its latest undecided edit back.
    Withdraw,
    Accept,
    Reject,
    /// The person wants to decide the latest decided edit again.
    Again,
    Type,
    /// The person writes over a line, perhaps an agent's.
    WriteOver,
    Undo,
    Save,
    Close,
    Open,
}

/// What an agent and a person do who use all that there is.
const SCENE: [Act; 23] = [
    Act::Propose(1),
    Act::Open,
    Act::Propose(3),
    Act::Accept,
    Act::Type,
    Act::Propose(5),
    Act::Apply(7),
    Act::Reject,
    Act::Undo,
    Act::Save,
    Act::Rewrite(8),
    Act::Accept,
    Act::Withdraw,
    Act::WriteOver,
    Act::Again,
    Act::Propose(2),
    Act::Save,
    Act::Close,
    Act::Accept,
    Act::Open,
    Act::Accept,
    Act::Undo,
    Act::Save,
];

/// A scene that is being played.
struct Play {
    seat: Arc<Seat>,
    appends: Arc<Appends>,
    checks: Checks,
    /// What an agent was refused last.
    refused: String,
    about: String,
}

impl Play {
    fn begin(plan: Option<Plan>, about: String) -> Self {
        let appends = Arc::new(Appends::default());
        let histories = Histories::of("a test").with_probe(appends.clone());
        let seat = Seat::at(Desk::with(&[(NAME, FILE)], histories));
        seat.workspace.set_reports(hashline_workspace::document::Reports::Causes);
        appends.play(Arc::downgrade(&seat), plan);
        Self { seat, appends, checks: Checks::default(), refused: String::new(), about }
    }

    /// Something that an agent does; what became of it, if it was not refused.
    async fn edit(&mut self, change: impl FnOnce(&Text, usize) -> Change) {
        let read = self.seat.read().await;
        let Ok((text, hash)) = read else { return };
        let edit = EditRequest {
            path: self.seat.path(),
            file_hash: Some(HashPrefix::from(hash)),
            change: change(&text, self.seat.turn()),
            strict: false,
            dry_run: false,
            conversation: None,
            tool: "a_tool".into(),
            reason: None,
        };
        let edited = tokio::time::timeout(PATIENCE, self.seat.workspace.edit(&agent("tester"), edit)).await;
        let edited = edited.unwrap_or_else(|_| panic!("{}: an agent waits for ever", self.about));
        match edited {
            Ok(reply) => self.checks.happened(Event::Edited(reply.edit)),
            Err(refusal) => self.refused = refusal.to_string(),
        }
    }

    fn set_mode(&self, open: Mode) {
        self.seat.workspace.set_settings(Settings { open, ..Settings::default() });
    }

    async fn act(&mut self, act: Act) {
        let needs_window = !matches!(act, Act::Propose(_) | Act::Close | Act::Withdraw | Act::Accept);
        if needs_window && !self.seat.is_open() {
            self.seat.open();
            self.seat.settle();
        }
        match act {
            Act::Propose(at) => self.edit(|text, turn| replacement(text, at, turn)).await,
            Act::Apply(at) => {
                self.set_mode(Mode::Apply);
                self.edit(|text, turn| replacement(text, at, turn)).await;
                self.set_mode(Mode::Propose);
            }
            Act::Rewrite(at) => {
                self.edit(|text, turn| {
                    let text = text.to_string();
                    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
                    if !lines.is_empty() {
                        lines.remove(at % lines.len());
                    }
                    Change::whole(&format!("top {turn}\n{}", lines.concat()))
                })
                .await;
            }
            Act::Withdraw => {
                if let Some(hunk) = self.seat.undecided().last() {
                    let id = hunk.edit.to_string();
                    let caller = agent("tester");
                    let taken = self.seat.workspace.withdraw(&caller, &id);
                    assert!(tokio::time::timeout(PATIENCE, taken).await.is_ok(), "{}: locked", self.about);
                }
            }
            Act::Accept => self.seat.begin_to_decide(Some(Choice::Accept)),
            Act::Reject => self.seat.begin_to_decide(Some(Choice::Reject)),
            Act::Again => {
                if let Some(hunk) = self.checks.latest(Decision::Accepted) {
                    self.seat.begin_with(Choice::Reopen, Target::Hunk(hunk));
                }
            }
            Act::Type => self.seat.types(),
            Act::WriteOver => self.seat.rewrites(),
            Act::Undo => self.seat.undoes(),
            Act::Save => self.seat.save(),
            Act::Close => self.seat.close(),
            Act::Open => {}
        }
        self.calm().await;
    }

    /// Waits until all that was begun has come to something, and notes what that is.
    async fn calm(&mut self) {
        for _ in 0..2 {
            self.seat.end_deciding(&self.about).await;
            self.seat.deliver();
            self.seat.settle();
        }
        if let Some(now) = self.seat.standing().await {
            self.checks.stands(&now);
        }
    }

    /// Plays to the end. The number of appends until then.
    async fn play(mut self, scene: &[Act]) -> usize {
        for act in scene {
            self.checks.next_step();
            self.act(*act).await;
        }
        let count = self.appends.count();
        self.recover().await;
        let folder = self.seat.desk().folder.clone();
        drop(self);
        assert_whole(folder.path());
        count
    }

    /// The disk is well again: all that happened gets into the record, and everybody goes on.
    async fn recover(&mut self) {
        let about = self.about.clone();
        self.appends.mend();
        self.checks.next_step();
        self.seat.open();
        self.drain().await;
        assert_eq!(self.seat.trouble(), Vec::<String>::new(), "{about}");
        let past = self.seat.desk().try_past(NAME);
        if let Some(past) = past {
            self.checks.assert_recorded(&past, &self.seat.standing().await.unwrap(), &about);
        }

        // What is saved now is all that there is.
        self.seat.save();
        self.drain().await;
        check::assert_saved(&self.seat, &about);
        check::assert_same_for_another_process(&self.seat, &about).await;

        // Nothing is locked: an agent edits, and the person decides.
        let before = self.checks.edits();
        self.edit(|text, turn| replacement(text, 4, turn)).await;
        assert_eq!(self.checks.edits(), before + 1, "{about}: agents are kept out: {}", self.refused);
        self.drain().await;
        let undecided = self.seat.undecided();
        let last = undecided.last().unwrap_or_else(|| panic!("{about}: the edit is not offered")).clone();
        self.seat.begin_with(Choice::Accept, Target::Edit(last.edit.to_string()));
        self.drain().await;
        assert!(!self.seat.undecided().contains(&last), "{about}: the person cannot decide");
        self.seat.save();
        self.drain().await;
        check::assert_saved(&self.seat, &about);
        let past = self.seat.desk().past(NAME);
        self.checks.assert_recorded(&past, &self.seat.standing().await.unwrap(), &about);
        self.checks.assert_in_order(&self.seat.desk().history(), &about);
        check::assert_same_for_another_process(&self.seat, &about).await;

        let count = self.appends.count();
        self.seat.settle();
        assert_eq!(self.appends.count(), count, "{about}: it is recorded again and again");
    }

    /// Waits until all that has happened is recorded.
    async fn drain(&mut self) {
        let hunks: Vec<HunkRef> = self.checks.hunks();
        let started = std::time::Instant::now();
        loop {
            self.calm().await;
            if self.seat.workspace.recorded_by_now(&hunks).await {
                break;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "{}: it is never recorded; told: {:?}",
                self.about,
                self.seat.desk().told()
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        self.calm().await;
    }
}

/// An agent's replacement of a line.
fn replacement(text: &Text, at: usize, turn: usize) -> Change {
    let lines = text.line_count();
    let new = format!("an agent's {turn}");
    let op = match at % lines.max(1) {
        _ if lines == 0 => Op::Top(&new),
        line => Op::Replace(line, line + 1, &new),
    };
    Change::Operations(vec![op.of(0, text)])
}

/// Plays a scene in a runtime of its own.
fn play(scene: &[Act], plan: Option<Plan>, about: &str) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { Play::begin(plan, about.to_owned()).play(scene).await })
}

/// Plays all cases, several at a time. A failing one is told with its number, by which it is played again.
fn play_all(cases: &[u64], play: impl Fn(u64) + Sync) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play(*case)));
                    if let Err(why) = played {
                        let words = why.downcast_ref::<String>().cloned();
                        let words =
                            words.or_else(|| why.downcast_ref::<&str>().map(|words| (*words).to_owned()));
                        let words = words.unwrap_or_default();
                        failed.lock().unwrap().push(format!("HASHLINE_SEED={case} {words}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {} fail; the first: {}", failed.len(), cases.len(), failed[0]);
}

/// What comes meanwhile: each alone, and all together in one of the orders.
fn meanwhiles(order: usize) -> [Meanwhile; 4] {
    [Meanwhile::Save, Meanwhile::Decision, Meanwhile::Close, Meanwhile::All(order % ORDERS)]
}

#[test]
fn a_save_a_decision_and_a_close_while_any_append_fails() {
    let count = play(&SCENE, None, "nothing fails");
    assert!(count > SCENE.len() / 2, "{count} appends");
    let failures = Failure::ALL.into_iter().enumerate();
    let plans = (0..count).flat_map(|append| {
        failures.clone().flat_map(move |(at, failure)| {
            meanwhiles(append + at).map(|meanwhile| Plan { append, failure, meanwhile })
        })
    });
    let plans: Vec<Plan> = plans.collect();
    let cases: Vec<u64> = seeds(plans.len() as u64).filter(|case| (*case as usize) < plans.len()).collect();
    eprintln!("{count} appends, {} of {} cases", cases.len(), plans.len());
    play_all(&cases, |case| {
        let plan = plans[case as usize];
        play(&SCENE, Some(plan), &format!("{plan:?}"));
    });
}

/// A scene by chance, and what goes wrong in it.
fn by_chance(seed: u64) -> (Vec<Act>, Plan) {
    let mut rng = Rng::new(seed);
    let scene = (0..8 + rng.below(20)).map(|_| act(&mut rng)).collect();
    let failure = *rng.pick(&Failure::ALL);
    let meanwhile = match rng.below(6) {
        0 => Meanwhile::Save,
        1 => Meanwhile::Decision,
        2 => Meanwhile::Close,
        _ => Meanwhile::All(rng.below(ORDERS)),
    };
    (scene, Plan { append: rng.below(30), failure, meanwhile })
}

fn act(rng: &mut Rng) -> Act {
    let at = rng.below(12);
    match rng.below(24) {
        0..4 => Act::Propose(at),
        4 => Act::Apply(at),
        5 => Act::Rewrite(at),
        6 => Act::Withdraw,
        7..11 => Act::Accept,
        11..13 => Act::Reject,
        13 => Act::Again,
        14..16 => Act::Type,
        16 => Act::WriteOver,
        17..19 => Act::Undo,
        19..21 => Act::Save,
        21 => Act::Close,
        _ => Act::Open,
    }
}

/// An agent's edit of a closed file is withdrawn, the file is written, and that this is done cannot be recorded: what follows is recorded all
/// the same.
#[test]
fn what_is_saved_after_a_write_that_could_not_be_said_to_be_done_is_recorded() {
    let plan = Plan { append: 4, failure: Failure::Full, meanwhile: Meanwhile::Decision };
    play(&[Act::Propose(6), Act::Withdraw, Act::WriteOver], Some(plan), "not said to be done");
}

#[test]
fn the_same_in_scenes_by_chance() {
    // Others each time.
    let base = match std::env::var_os("HASHLINE_SEED") {
        Some(_) => 0,
        None => uuid::Uuid::new_v4().as_u128() as u64 >> 16,
    };
    let cases: Vec<u64> = seeds(100).map(|seed| base + seed).collect();
    play_all(&cases, |seed| {
        let (scene, plan) = by_chance(seed);
        play(&scene, Some(plan), &format!("{plan:?} {scene:?}"));
    });
}
