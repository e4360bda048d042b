//! A play: what happens by chance, step by step, and what is looked at after each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashline_history::{EditId, HunkRef};
use hashline_workspace::document::{Along, Choice, Mode, Request, Target};

use crate::breaks::Plan;
use crate::chance::Rng;
use crate::desk::{PATIENCE, assert_whole, request};
use crate::editor::{Act, Answered, Diary, Editor};
use crate::failing::Failure;
use crate::model::Model;
use crate::seat::{FILE, Luck, NAME, Process, Seat, answer};
use crate::street::Street;
use crate::tally::{Met, Tally};

/// How long a closed file waits for its editor, and a little.
const CLOSED_FOR_GOOD: Duration = Duration::from_millis(2300);

/// How long it takes until one process has seen what another one has recorded, and a little.
const LOOKED_AT: Duration = Duration::from_millis(600);

/// Something that happens.
#[derive(Clone, Copy, Debug)]
enum Step {
    Edit,
    Apply,
    Rewrite,
    Withdraw,
    Person(Act),
    Again,
    Settle(Choice),
    Open,
    OpenOther,
    Reload,
    ReloadOther,
    Checkout,
    Break,
    Restart,
    /// A second process begins to serve the folder.
    Join,
    Rest,
}

/// How often each comes.
const STEPS: [(usize, Step); 28] = [
    (12, Step::Edit),
    (2, Step::Apply),
    (2, Step::Rewrite),
    (2, Step::Withdraw),
    (6, Step::Person(Act::Type)),
    (3, Step::Person(Act::WriteOver)),
    (3, Step::Person(Act::Delete)),
    (4, Step::Person(Act::Undo)),
    (2, Step::Person(Act::Redo)),
    (6, Step::Person(Act::Save)),
    (2, Step::Person(Act::Close)),
    (11, Step::Person(Act::Accept)),
    (7, Step::Person(Act::Reject)),
    (10, Step::Person(Act::Fetch)),
    (10, Step::Person(Act::CarryOut)),
    (3, Step::Person(Act::Decline)),
    (3, Step::Again),
    (1, Step::Settle(Choice::KeepMine)),
    (1, Step::Settle(Choice::KeepBoth)),
    (8, Step::Open),
    (2, Step::OpenOther),
    (3, Step::Reload),
    (2, Step::ReloadOther),
    (1, Step::Checkout),
    (8, Step::Break),
    (4, Step::Restart),
    (4, Step::Join),
    (4, Step::Rest),
];

struct Play {
    luck: Luck,
    /// Those that are taken, the one that lasts first.
    seats: Vec<Seat>,
    /// Where the processes find each other, if there may be several.
    street: Option<Street>,
    /// How many processes have begun.
    begun: usize,
    /// A refused edit may be in the record all the same: another process has taken its line for recorded.
    unsure: bool,
    /// A process has ended since the others have last looked what was recorded.
    left: bool,
}

/// Plays one seed. What it met; or what was wrong.
pub async fn play(seed: u64, diary: Arc<Diary>) -> Result<Tally, String> {
    let mut rng = Rng::new(seed);
    let street = rng.chance(50).then(Street::default);
    let process = Process::begin("process 0".to_owned(), None, street.clone(), &diary);
    diary.note_stored(FILE);
    diary.find(FILE);
    let steps = 15 + rng.below(35);
    let luck = Luck { rng, tally: Tally::default() };
    let seats = vec![Seat::new(process, diary, Model::default())];
    let mut play = Play { luck, seats, street, begun: 1, unsure: false, left: false };
    let played = play.all(steps).await;
    if played.is_err() {
        let record = std::fs::read_to_string(play.seats[0].process.desk.history().join("decisions.log"));
        play.seats[0].diary.say(record.unwrap_or_else(|error| format!("no record: {error}")));
    }
    played.map(|()| play.luck.tally)
}

impl Play {
    async fn all(&mut self, steps: usize) -> Result<(), String> {
        for step in 0..steps {
            self.step(step).await?;
        }
        self.end().await
    }

    fn throw(&mut self) -> Step {
        let all = STEPS.iter().map(|(weight, _)| weight).sum();
        let mut at = self.luck.rng.below(all);
        for (weight, step) in STEPS {
            if at < weight {
                return step;
            }
            at -= weight;
        }
        Step::Rest
    }

    fn throw_act(&mut self) -> Act {
        loop {
            if let Step::Person(act) = self.throw() {
                return act;
            }
        }
    }

    async fn step(&mut self, number: usize) -> Result<(), String> {
        self.luck.tally.met(Met::Steps);
        let at = if self.seats.len() > 1 && self.luck.rng.chance(35) { 1 } else { 0 };
        let step = self.throw();
        self.seats[at].diary.say(format!("{number}: {at} {step:?}"));
        for seat in &mut self.seats {
            seat.model.next_step();
        }
        self.meet();
        self.take(at, step).await?;
        if self.luck.rng.chance(70) {
            for seat in &self.seats {
                seat.calm().await;
            }
        }
        self.follow(at.min(self.seats.len() - 1)).await
    }

    async fn take(&mut self, at: usize, step: Step) -> Result<(), String> {
        match step {
            Step::Restart => return self.restart(at).await,
            Step::Rest => return self.rest().await,
            Step::Join => {
                self.join();
                return Ok(());
            }
            Step::Person(Act::Save) => {
                self.save(at);
                return Ok(());
            }
            _ => {}
        }
        let agents = self.agents_go_to(at);
        let (seat, luck) = (&mut self.seats[at], &mut self.luck);
        let editor = seat.editor().clone();
        match step {
            Step::Person(act) => seat.person(act, luck),
            Step::Again => {
                if let Some(hunk) = seat.model.latest_decided() {
                    let choice = *luck.rng.pick(&[Choice::Reopen, Choice::Accept, Choice::Reject]);
                    editor.begin(choice, Target::Hunk(hunk));
                }
            }
            Step::Settle(choice) => {
                let offered = editor.offered();
                let conflicted = offered.into_iter().find(|(_, hunk)| hunk.conflict.is_some());
                if let Some((hunk, _)) = conflicted {
                    editor.begin(choice, Target::Hunk(hunk));
                }
            }
            Step::Open => editor.open(&editor.stored()),
            Step::OpenOther => {
                if !editor.is_open() {
                    luck.tally.met(Met::OpenedDirty);
                    let text = seat.swap.take().unwrap_or_else(|| seat.diary.stored_once());
                    editor.open(&text);
                }
            }
            Step::Reload => self.reload(at),
            Step::ReloadOther => {
                self.check_out();
                self.reload(at);
            }
            Step::Checkout => self.check_out(),
            Step::Break => {
                let failure = *luck.rng.pick(&Failure::ALL);
                let (after, count) = (luck.rng.below(4), luck.rng.below(4));
                let meanwhile = (0..count).map(|_| self.throw_act()).collect();
                let plan = Plan { after, failure, meanwhile };
                self.seats[at].diary.say(format!("    {plan:?}"));
                self.seats[at].process.breaks.arm(plan);
            }
            _ => {
                if let Some(seat) = agents.and_then(|at| self.seats.get_mut(at)) {
                    match step {
                        Step::Withdraw => seat.withdraw(luck).await?,
                        Step::Rewrite => seat.rewrite(luck).await?,
                        Step::Apply => {
                            seat.set_mode(Mode::Apply);
                            seat.edit(luck).await?;
                            seat.set_mode(Mode::Propose);
                        }
                        _ => seat.edit(luck).await?,
                    }
                }
            }
        }
        Ok(())
    }

    /// The seat whose process serves agents that come to this one: that with unsaved work, if there is only one.
    fn agents_go_to(&self, at: usize) -> Option<usize> {
        let unsaved = |at: &usize| self.seats[*at].is_unsaved();
        let unsaved: Vec<usize> = (0..self.seats.len()).filter(unsaved).collect();
        match unsaved.as_slice() {
            [] => Some(at),
            [only] => Some(*only),
            _ => None,
        }
    }

    /// A text that the file had, or nearly one, is put there.
    fn check_out(&mut self) {
        self.luck.tally.met(Met::Checkouts);
        let text = self.other_text();
        self.seats[0].editor().write(&text);
        for seat in self.seats.iter().filter(|seat| !seat.editor().is_open()) {
            seat.diary.find(&text);
        }
    }

    fn other_text(&mut self) -> String {
        let (diary, rng) = (&self.seats[0].diary, &mut self.luck.rng);
        let text = if rng.chance(50) { diary.stored_once() } else { self.seats[0].editor().stored() };
        if rng.chance(40) {
            return text;
        }
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(lines.len() + 1);
            let foreign = format!("foreign {}\n", diary.turn());
            match rng.below(3) {
                0 => lines.insert(at, foreign),
                1 if lines.len() > 3 => drop(lines.remove(at.min(lines.len() - 1))),
                _ if at < lines.len() => lines[at] = foreign,
                _ => {}
            }
        }
        lines.concat()
    }

    /// The editor reads the file again.
    fn reload(&mut self, at: usize) {
        let editor = self.seats[at].editor();
        if editor.is_open() {
            self.luck.tally.met(Met::Reloads);
            if editor.is_delivering() {
                self.luck.tally.met(Met::ReloadsInDelivery);
            }
            editor.reload();
        }
    }

    /// An editor saves; others that have nothing unsaved mostly notice.
    fn save(&mut self, at: usize) {
        let clean: Vec<bool> = self.seats.iter().map(|seat| !seat.is_unsaved()).collect();
        self.seats[at].person(Act::Save, &mut self.luck);
        for (other, seat) in self.seats.iter().enumerate().filter(|(other, _)| *other != at) {
            if !seat.editor().is_open() {
                seat.diary.find(&seat.editor().stored());
            } else if clean[other] && self.luck.rng.chance(80) {
                self.luck.tally.met(Met::ReadAgain);
                seat.editor().reload();
            }
        }
    }

    /// Takes note of what happened, which a step at this seat has brought about.
    async fn follow(&mut self, at: usize) -> Result<(), String> {
        let (known, stored) = self.seats[at].editor().looks_at_file();
        if stored != known {
            let quiet = self.seats.iter().all(|seat| !seat.editor().is_waiting());
            if quiet && self.seats.iter().any(|seat| seat.editor().is_open()) {
                return Err(format!("the file is written under an editor:\n{known}\nbecame\n{stored}"));
            }
            for (other, seat) in self.seats.iter().enumerate() {
                seat.is_written(&known, &stored, other == at);
            }
        }
        self.meet();
        for at in 0..self.seats.len() {
            let answered = self.seats[at].follow(&mut self.luck.tally).await?;
            for Answered { request, decided, .. } in &answered {
                // Somebody else may have wanted something else.
                let others = self.seats.iter_mut().enumerate().filter(|(other, _)| *other != at);
                others.for_each(|(_, seat)| seat.model.decided(request.choice, decided, false));
            }
        }
        self.unsure |= self.seats.len() > 1 && self.seats.iter().any(|seat| seat.torn);
        Ok(())
    }

    /// Takes note of what is offered to anybody.
    fn meet(&mut self) {
        self.seats.iter_mut().for_each(Seat::meets);
        if let [first, second] = self.seats.as_mut_slice() {
            first.model.hears_of(&second.model);
            second.model.hears_of(&first.model);
        }
    }

    fn process(&mut self, diary: &Arc<Diary>) -> Process {
        let name = format!("process {}", self.begun);
        self.begun += 1;
        Process::begin(name, Some(self.seats[0].process.desk.folder.clone()), self.street.clone(), diary)
    }

    /// A second process begins to serve the folder.
    fn join(&mut self) {
        if self.street.is_none() || self.seats.len() > 1 {
            return;
        }
        self.luck.tally.met(Met::SecondProcesses);
        let diary = Arc::new(self.seats[0].diary.beside());
        diary.find(&self.seats[0].editor().stored());
        let process = self.process(&diary);
        self.seats.push(Seat::new(process, diary, Model::default()));
    }

    /// The process ends without a word, and mostly another one begins. The editor may live on, or come back with some text, or not at all.
    async fn restart(&mut self, at: usize) -> Result<(), String> {
        self.luck.tally.met(Met::Restarts);
        if self.luck.rng.chance(50) {
            self.seats[at].process.desk.settle();
        } else {
            self.luck.tally.met(Met::RestartsInTheMiddle);
        }
        self.follow(at).await?;
        if self.seats[at].editor().is_waiting() {
            // What was wanted and not answered may be made all the same.
            self.seats.iter_mut().for_each(|seat| seat.model.told());
        }
        self.seats[at].process.end();
        // What is still answered, and what that has written.
        self.follow(at).await?;
        self.follow(at).await?;
        self.unsure |= self.seats[at].torn;
        self.left = true;
        if at > 0 && self.luck.rng.chance(60) {
            self.luck.tally.met(Met::SecondProcessesEnded);
            self.seats.truncate(at);
            // What the other one has decided and recorded its text does not show, but as one that is found.
            self.seats[0].model.laid_over();
            return Ok(());
        }
        let next = self.process(&self.seats[at].diary.clone());
        let before = self.seats[at].is_served_by(next);
        self.comes_back(at, &before).await
    }

    async fn comes_back(&mut self, at: usize, before: &Editor) -> Result<(), String> {
        let alone = self.seats.len() == 1;
        let (seat, luck) = (&mut self.seats[at], &mut self.luck);
        let editor = seat.editor().clone();
        match (luck.rng.below(10), before.text()) {
            (0..3, Some(_)) => {
                luck.tally.met(Met::EditorsThatLivedOn);
                editor.tells_again(before);
            }
            (3..5, Some(text)) => {
                luck.tally.met(Met::EditorsWithUnsavedWork);
                editor.open(&text);
            }
            (5, _) => {
                luck.tally.met(Met::EditorsWithOldTexts);
                editor.open(&seat.diary.stored_once());
            }
            (6, _) => seat.diary.find(&editor.stored()),
            _ => {
                let stored = editor.stored();
                editor.open(&stored);
                seat.follow(&mut luck.tally).await?;
                if alone {
                    let now = seat.look().await?;
                    if seat.model.still_stands(&stored, &now)? {
                        luck.tally.met(Met::StillStood);
                    }
                }
            }
        }
        Ok(())
    }

    /// The disk is well, and everything comes to its end.
    async fn rest(&mut self) -> Result<(), String> {
        self.seats.iter().for_each(|seat| seat.process.breaks.mend());
        self.come_to_rest().await?;
        let mut waits = false;
        for seat in &self.seats {
            let editor = seat.editor();
            if editor.is_open() {
                continue;
            }
            if self.luck.rng.chance(70) {
                editor.open(&editor.stored());
            } else {
                self.luck.tally.met(Met::RestsOfClosed);
                waits = true;
            }
        }
        if waits {
            tokio::time::sleep(CLOSED_FOR_GOOD).await;
        } else if self.seats.len() > 1 || self.left {
            tokio::time::sleep(LOOKED_AT).await;
        }
        self.left = false;
        self.come_to_rest().await?;
        self.luck.tally.met(Met::Rests);
        for at in 0..self.seats.len() {
            self.looks_right(at).await?;
        }
        Ok(())
    }

    async fn come_to_rest(&mut self) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let mut restless = Vec::new();
            for at in 0..self.seats.len() {
                let seat = &self.seats[at];
                let editor = seat.editor().clone();
                editor.deliver();
                seat.process.desk.settle();
                let hunks = seat.model.hunks();
                let recorded = seat.process.desk.workspace.recorded_by_now(&hunks);
                let recorded = answer("whether all is recorded", recorded).await?;
                self.follow(at).await?;
                let deciding = self.seats[at].is_deciding().await?;
                let rests = [recorded, !editor.is_waiting(), !deciding, !editor.is_delivering()];
                restless.extend(rests.contains(&false).then(|| format!("{at}: {rests:?}")));
            }
            // Of a process that has ended another one takes over what it had claimed.
            if self.seats.iter().all(|seat| seat.process.is_second()) {
                restless.push("nobody decides".to_owned());
            }
            let shown: BTreeSet<_> = self.seats.iter().map(shown).collect();
            if restless.is_empty() && shown.len() == 1 {
                return Ok(());
            }
            if started.elapsed() > PATIENCE {
                let told: Vec<_> = self.seats.iter_mut().map(|seat| seat.process.desk.told()).collect();
                return Err(format!("it never comes to rest: {restless:?}, shown {shown:?}; told: {told:?}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What has to be so when all has come to an end.
    async fn looks_right(&mut self, at: usize) -> Result<(), String> {
        let several = self.seats.len() > 1;
        if self.seats[at].hears() {
            // What one process decides about a file it tells where its own editor is, and not to those at the others.
            self.seats.iter_mut().for_each(|seat| seat.model.told());
        }
        let seat = &mut self.seats[at];
        if several {
            seat.model.laid_over();
        }
        let guesses = seat.process.desk.workspace.guesses(seat.editor().uri());
        if let Some(guesses) = guesses.filter(|count| *count > 0) {
            return Err(format!("{guesses} guesses at what an editor has said"));
        }
        if seat.process.is_second() {
            self.luck.tally.met(Met::Shown);
            return Ok(());
        }
        if at > 0 && !shown(seat).is_empty() {
            self.luck.tally.met(Met::OwnersOfOthers);
        }
        let now = seat.look().await?;
        for (hunk, view) in &now {
            let (state, decision) = (view.state, view.decision);
            let what = format!("{:?} for {:?}", view.proposed, view.removed);
            seat.diary.say(format!("    {}: {state:?}, {decision:?}, {what}", hunk.short()));
        }
        let text = seat.text();
        seat.diary.say(format!("    {at} {text:?}"));
        seat.model.at_rest(&text, &now)?;
        if let Some(past) = seat.process.desk.try_past(NAME) {
            seat.model.recorded(&past, &now, &seat.diary.taken(), !self.unsure)?;
        }
        if !seat.is_unsaved() {
            seat.model.keeps(&text);
        }
        Ok(())
    }

    /// All is saved, and everybody goes on.
    async fn end(&mut self) -> Result<(), String> {
        self.seats[0].diary.say("the end");
        self.rest().await?;
        if let Some(second) = self.seats.get(1) {
            second.process.end();
            self.left = true;
            self.seats.truncate(1);
        }
        let editor = self.seats[0].editor().clone();
        editor.open(&editor.stored());
        for _ in 0..2 {
            self.rest().await?;
            editor.save();
        }
        self.rest().await?;
        self.seats[0].saved()?;
        // Nothing is locked: an agent edits, and the person decides.
        let before = self.seats[0].diary.taken();
        self.seats[0].read = None;
        self.seats[0].rewrite(&mut self.luck).await?;
        if self.seats[0].diary.taken() == before {
            return Err("agents are kept out".to_owned());
        }
        self.rest().await?;
        let offered = editor.offered();
        let Some((last, _)) = offered.last() else { return Err("the edit is not offered".to_owned()) };
        let id: EditId = last.edit.clone();
        // With all that it builds on: what stands there may be another writer's, which goes along only where that is asked for.
        editor.ask(Request { along: Along::All, ..request(Choice::Accept, Target::Edit(id.to_string())) });
        self.rest().await?;
        if editor.offered().iter().any(|(hunk, _)| hunk.edit == id) {
            return Err("the person cannot decide".to_owned());
        }
        editor.save();
        self.rest().await?;
        let seat = &self.seats[0];
        seat.saved()?;
        if self.street.is_none() {
            // What another process did is seen some time later.
            seat.model.in_order(&seat.process.desk.history())?;
        }
        seat.same_for_the_next().await?;
        assert_whole(seat.process.desk.folder.path());
        self.luck.tally.met(Met::Ends);
        Ok(())
    }
}

/// What is shown of edits that are not decided yet.
fn shown(seat: &Seat) -> BTreeSet<(HunkRef, String)> {
    let offered = seat.editor().offered().into_iter();
    offered.map(|(hunk, view)| (hunk, format!("{:?}", view.decision))).collect()
}
