//! What must be so, told from nothing but the texts: which hunks there are, which of their characters stand in the text, and what the
//! person has asked for. Knows no lines' identities, no runs and no views.

use std::collections::{HashMap, HashSet};

use hashline_history::{ConversationId, Decision, HunkRef};
use hashline_workspace::document::{Document, HunkState, HunkView, Review};

use crate::atom::{self, Maker, atoms, readable};
use crate::page;
use crate::sight::Sight;
use crate::tally::Tally;

/// What is wrong.
pub type Fault = String;

/// A hunk as it was proposed.
#[derive(Clone, Debug)]
pub struct Hunk {
    pub name: HunkRef,
    pub conversation: ConversationId,
    pub removed: Vec<String>,
    pub proposed: Vec<String>,
    pub decision: Decision,
    /// What the person or the agent has ever asked for.
    pub granted: HashSet<Decision>,
    /// Hunks that this one may rest on, as far as the text tells.
    pub rests_on: Vec<usize>,
    /// It may come into the text.
    pub may_come: bool,
    /// It may leave the text.
    pub may_go: bool,
    /// The person agreed that typed lines go with the change that is wanted.
    pub over_mine: bool,
    /// It came in over lines that the person had changed: they come back as they were when it goes.
    pub forced: bool,
    /// What has ever stood in its lines, once the person had changed them: it comes back with them.
    pub worn: HashSet<char>,
    /// What of it was left in the text, in lines that the person had changed, when it was taken out: it is the person's, even where the
    /// person makes the line again what the agent had proposed.
    pub kept: HashSet<char>,
    pub in_text: bool,
    /// The file has it, too.
    pub stored: bool,
    /// It was accepted and in the file, and a text that is found came without it: a checkout keeps what was decided.
    pub parted: bool,
    /// Its place was lost in a text that nobody watched.
    pub lost: bool,
    /// That, and the person left it there and rejected it.
    pub left: bool,
    /// What was asked for last and taken on.
    pub asked: Option<Decision>,
}

impl Hunk {
    /// Whether the text has a part of a line that the person had changed, and not that line as it was proposed.
    fn is_kept(&self, token: char, sight: &Sight<'_>) -> bool {
        let own = self.proposed.iter().find(|line| line.contains(token));
        self.worn.contains(&token)
            && sight.count(token) > 0
            && !own.is_some_and(|line| sight.lines.contains_key(line.as_str()))
    }
}

/// All that is known of a document from outside.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub hunks: Vec<Hunk>,
    /// Characters that the person has copied or moved to another line: they are the person's business now.
    pub loose: HashSet<char>,
    /// The text was changed while nobody watched, since the last look.
    unwatched: bool,
}

/// Whether a hunk is in the text, by its state.
pub fn is_in_text(state: &HunkState) -> bool {
    matches!(state, HunkState::InText | HunkState::Edited(_))
}

fn flat(review: &Review) -> Vec<&HunkView> {
    review.edits.iter().flat_map(|edit| &edit.hunks).collect()
}

impl Model {
    pub fn find(&self, name: &HunkRef) -> Option<usize> {
        self.hunks.iter().position(|hunk| hunk.name == *name)
    }

    /// Whether other hunks take out all that a hunk puts in: where both are in the text nothing of it is to be seen.
    pub fn is_covered(&self, at: usize) -> bool {
        let taken = |atom: char| {
            let others = self.hunks.iter().enumerate().filter(|(other, _)| *other != at);
            others.flat_map(|(_, other)| &other.removed).any(|line| line.contains(atom))
        };
        self.hunks[at].proposed.iter().flat_map(|line| atoms(line)).all(taken)
    }

    /// Lets characters go where the person likes.
    pub fn loosen(&mut self, text: &str) {
        self.loose.extend(atoms(text));
    }

    /// The person changes lines with an agent's characters in them, before the server knows that the agent's hunk is there.
    pub fn wear(&mut self, lines: &str) {
        for hunk in &mut self.hunks {
            let own: Vec<char> = hunk.proposed.iter().flat_map(|line| atoms(line)).collect();
            if own.iter().any(|atom| lines.contains(*atom)) {
                hunk.worn.extend(own.into_iter().chain(atoms(lines)));
            }
        }
    }

    /// Hunks come into the text in the person's words: what becomes of their lines from now on is the person's business.
    pub fn rewritten(&mut self, hunks: &[usize], shown: &[String], own: &[String]) {
        let group = self.group(hunks);
        for at in group {
            let hunk = &mut self.hunks[at];
            let lines = hunk.proposed.clone();
            hunk.worn.extend(lines.iter().chain(shown).flat_map(|line| atoms(line)));
            lines.iter().for_each(|line| self.loosen(line));
        }
        shown.iter().chain(own).for_each(|line| self.loosen(line));
    }

    /// Where some lines have become another number of lines and a character is in both, it is a guess which line is which (rule W6): its
    /// characters are not looked for any more.
    pub fn muddle(&mut self, before: &str, after: &str) {
        for (gone, come) in page::changed_runs(before, after) {
            let (old, new) = (page::contents(&gone).len(), page::contents(&come).len());
            if old != new && atoms(&gone).any(|atom| come.contains(atom)) {
                self.loosen(&gone);
                self.loosen(&come);
            }
        }
    }

    /// The characters of all lines that differ between two texts may end up anywhere.
    pub fn muddle_all(&mut self, before: &str, after: &str) {
        for (gone, come) in page::changed_runs(before, after) {
            self.loosen(&gone);
            self.loosen(&come);
        }
    }

    /// A text was saved: lines of hunks that are in it otherwise than as they were proposed may come back from the file like that.
    pub fn saved(&mut self, text: &str) {
        let lines: HashSet<&str> = page::contents(text).into_iter().collect();
        let there = atom::count(text);
        for hunk in &mut self.hunks {
            let changed = hunk.proposed.iter().filter(|line| !lines.contains(line.as_str()));
            let changed: Vec<char> = changed.flat_map(|line| atoms(line)).collect();
            hunk.worn.extend(changed.into_iter().filter(|atom| there.contains_key(atom)));
        }
    }

    /// Where the person deletes lines of a hunk of which others are changed or shared with other lines, it is a guess what is left.
    pub fn tear(&mut self, text: &str, gone: &str) {
        let lines = page::contents(text);
        let torn = |hunk: &&Hunk| {
            let whole = |line: &String| atoms(line).next().is_some() && lines.contains(&line.as_str());
            let mut own = hunk.proposed.iter().flat_map(|line| atoms(line));
            own.any(|atom| gone.contains(atom)) && !hunk.proposed.iter().all(whole)
        };
        let torn: Vec<String> =
            self.hunks.iter().filter(torn).flat_map(|hunk| hunk.proposed.clone()).collect();
        // A changed line that a hunk on its way was to take out: who took it out?
        let contested = |line: &&&str| {
            let of = |hunk: &Hunk| {
                let own = hunk.removed.iter().any(|own| atoms(own).any(|atom| line.contains(atom)));
                own && !hunk.removed.iter().any(|own| own == *line)
            };
            self.hunks.iter().any(of)
        };
        let contested: Vec<String> =
            page::contents(gone).iter().filter(contested).map(|line| (*line).to_owned()).collect();
        torn.iter().chain(&contested).for_each(|line| self.loosen(line));
    }

    /// Looks at all decisions and states after something has happened, and at the text.
    pub fn observe(
        &mut self,
        document: &mut Document,
        settled: bool,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let review = document.review_where(|_| true);
        let views = flat(&review);
        if views.len() != self.hunks.len() {
            return Err(format!("{} hunks are listed, {} were proposed", views.len(), self.hunks.len()));
        }
        let text = document.text().to_string();
        let sight = Sight::new(&text, &views, &self.hunks);
        let ids = review.edits.iter().flat_map(|edit| edit.edit.hunks.iter().map(|hunk| hunk.id));
        let lost: Vec<bool> = ids.map(|id| document.is_lost(id)).collect();
        let unwatched = std::mem::take(&mut self.unwatched);
        for (at, view) in views.iter().enumerate() {
            self.part(at, view, unwatched);
            self.place(at, view, lost[at], unwatched)?;
            // Of one whose place was lost the text says nothing (rule W17).
            self.decided(at, view, &sight, settled && !lost[at], tally)?;
            tally.lost += u64::from(lost[at]);
            if settled && !lost[at] {
                self.state(at, view, &sight, tally)?;
            }
        }
        for ((hunk, view), lost) in self.hunks.iter_mut().zip(&views).zip(lost) {
            hunk.lost = lost;
            if matches!(view.state, HunkState::Edited(_)) {
                hunk.worn.extend(hunk.proposed.iter().flat_map(|line| atoms(line)));
                let place = view.lines.clone().unwrap_or_default();
                hunk.worn.extend(sight.text[place].iter().flat_map(|line| atoms(line)));
            }
            hunk.in_text = is_in_text(&view.state);
            if hunk.in_text {
                hunk.kept.clear();
            } else {
                let own = hunk.proposed.iter().flat_map(|line| atoms(line));
                let kept: Vec<char> = own.filter(|token| hunk.is_kept(*token, &sight)).collect();
                hunk.kept.extend(kept);
            }
            hunk.left &= hunk.in_text && view.decision == Decision::Rejected;
            if hunk.decision != view.decision {
                // Done, or the person has undone it since.
                hunk.asked = None;
                hunk.over_mine = false;
            }
            hunk.decision = view.decision;
        }
        Ok(())
    }

    /// Notes that a hunk has left the text, or come into it.
    fn part(&mut self, at: usize, view: &HunkView, unwatched: bool) {
        let hunk = &mut self.hunks[at];
        let (is_in, both) = (is_in_text(&view.state), [hunk.decision, view.decision]);
        let parts = unwatched && hunk.in_text && hunk.stored && both == [Decision::Accepted; 2];
        hunk.parted = !is_in && view.decision == Decision::Accepted && (hunk.parted || parts);
        // What is undone is in the file all the same, until that is saved or another one is found.
        hunk.stored &= is_in || !unwatched;
    }

    /// What is in the text is in the file, too, and nothing else.
    pub fn stored(&mut self) {
        self.hunks.iter_mut().for_each(|hunk| hunk.stored = hunk.in_text);
    }

    /// A place is lost in a text that nobody watched and nowhere else, and what is lost neither comes into the text nor leaves it by itself.
    fn place(&self, at: usize, view: &HunkView, lost: bool, unwatched: bool) -> Result<(), Fault> {
        let hunk = &self.hunks[at];
        let wrong = |why: &str| Err(format!("{} is {:?}, {:?}; {why}", hunk.name, view.state, view.decision));
        if unwatched || !lost {
            return Ok(());
        }
        if !hunk.lost {
            return wrong("its place is lost, and nobody looked away");
        }
        if is_in_text(&view.state) != hunk.in_text {
            return wrong("its place is lost, and it was not so before");
        }
        Ok(())
    }

    /// A decision that has changed was asked for, or the text shows it.
    fn decided(
        &self,
        at: usize,
        view: &HunkView,
        sight: &Sight<'_>,
        settled: bool,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let hunk = &self.hunks[at];
        if hunk.decision == view.decision {
            return Ok(());
        }
        let in_text = is_in_text(&view.state);
        let wrong = |why: &str| {
            Err(format!("{} went from {:?} to {:?}, {why}", hunk.name, hunk.decision, view.decision))
        };
        match view.decision {
            Decision::Accepted => {
                if !in_text {
                    return wrong("but it is not in the text");
                }
                let complete = self.tokens(at).all(|token| sight.count(token) > 0 || sight.covers(token, at));
                if !hunk.granted.contains(&Decision::Accepted) {
                    tally.seen += 1;
                    if !complete {
                        return wrong("unasked, and the text does not show it");
                    }
                }
                // What the person had changed, another hunk may have taken out as it was by then.
                let is_gone = |token: &char| sight.count(*token) == 0 && !sight.covers(*token, at);
                let is_missed = self.tokens(at).filter(is_gone).any(|token| !hunk.worn.contains(&token));
                if settled && is_missed && view.state == HunkState::InText {
                    return wrong("but the text does not show it");
                }
            }
            Decision::Rejected | Decision::Withdrawn => {
                // What the same turn has built on a rejected hunk goes with it.
                let falls = |below: &HunkRef| {
                    let below = self.find(below).map(|at| &self.hunks[at]);
                    below.is_some_and(|below| {
                        below.granted.contains(&view.decision) && below.conversation == hunk.conversation
                    })
                };
                let falls = view.decision == Decision::Rejected && view.depends_on.iter().any(falls);
                if !hunk.granted.contains(&view.decision) && !falls {
                    return wrong("which nobody asked for");
                }
                if in_text && !hunk.left {
                    return wrong("but it is in the text");
                }
            }
            Decision::Undecided => {}
        }
        Ok(())
    }

    fn tokens(&self, at: usize) -> impl Iterator<Item = char> + '_ {
        self.hunks[at]
            .proposed
            .iter()
            .flat_map(|line| atoms(line))
            .filter(|token| !self.loose.contains(token))
    }

    /// The state of a hunk is what the text shows.
    fn state(&self, at: usize, view: &HunkView, sight: &Sight<'_>, tally: &mut Tally) -> Result<(), Fault> {
        let hunk = &self.hunks[at];
        let wrong =
            |why: String| Err(format!("{} is {:?}, {:?}; {why}", hunk.name, view.state, view.decision));
        match view.state {
            HunkState::InText => {
                for line in &hunk.proposed {
                    for token in atoms(line).filter(|token| !self.loose.contains(token)) {
                        let covered = sight.covers(token, at);
                        let lines = sight.lines.get(line.as_str()).copied().unwrap_or_default();
                        tally.checked += 1;
                        // Of a line that the person had changed, what they made of it may be there, too, or be gone.
                        if hunk.worn.contains(&token) && lines <= 1 {
                            continue;
                        }
                        if !covered && (lines != 1 || sight.count(token) != 1) {
                            return wrong(format!("{} stands {lines} times", readable(line)));
                        }
                        if covered && sight.count(token) != 0 {
                            return wrong(format!("{} was taken out and is there", readable(line)));
                        }
                    }
                }
                for line in &hunk.removed {
                    let own =
                        atoms(line).next().is_some() && !atoms(line).any(|atom| self.loose.contains(&atom));
                    if own && sight.lines.contains_key(line.as_str()) {
                        return wrong(format!("{} is still there", readable(line)));
                    }
                }
            }
            HunkState::Edited(edited) => {
                let whole = hunk.proposed.iter().all(|line| sight.lines.get(line.as_str()) == Some(&1));
                let untouched = edited.deleted || edited.changed;
                let own = |line: &String| {
                    let mut own = atoms(line).peekable();
                    own.peek().is_some() && own.all(|atom| !self.loose.contains(&atom))
                };
                if whole && untouched && hunk.proposed.iter().all(own) {
                    return wrong("the text has all its lines as they were proposed".to_owned());
                }
            }
            HunkState::Held | HunkState::Conflicted(_) | HunkState::Withdrawn => {
                tally.checked += 1;
                // What the person changed and kept is the person's.
                let kept = |token: char| hunk.kept.contains(&token) || hunk.is_kept(token, sight);
                if let Some(token) = self.tokens(at).find(|token| sight.count(*token) > 0 && !kept(*token)) {
                    return wrong(format!("{} is in the text", readable(&token.to_string())));
                }
            }
        }
        let out = matches!(view.decision, Decision::Rejected | Decision::Withdrawn);
        if is_in_text(&view.state) && out && !hunk.left {
            return wrong("it cannot be both".to_owned());
        }
        if !is_in_text(&view.state) && view.decision == Decision::Accepted && !hunk.parted {
            return wrong("it cannot be both".to_owned());
        }
        Ok(())
    }

    /// What a delivery would do to the text is what was asked for, and nothing besides.
    pub fn explains(&mut self, before: &str, after: &str) -> Result<(), Fault> {
        let (old, new) = (atom::count(before), atom::count(after));
        let number =
            |counts: &HashMap<char, usize>, atom: char| counts.get(&atom).copied().unwrap_or_default();
        let any_over_mine = self.hunks.iter().any(|hunk| hunk.over_mine);
        // What was rejected and comes back, by a late delivery or a redo, is taken out again.
        let unwanted = |hunk: &Hunk| {
            hunk.granted.contains(&Decision::Rejected) || hunk.granted.contains(&Decision::Withdrawn)
        };
        let wanted = |on: bool| {
            let may = move |hunk: &&Hunk| if on { hunk.may_come } else { hunk.may_go || unwanted(hunk) };
            self.hunks.iter().filter(may)
        };
        let made = |on: bool, atom: char| {
            wanted(on).any(|h| h.worn.contains(&atom) || h.proposed.iter().any(|line| line.contains(atom)))
        };
        let removed =
            |on: bool, atom: char| wanted(on).any(|h| h.removed.iter().any(|line| line.contains(atom)));
        for atom in old.keys().chain(new.keys()).copied() {
            let (was, is) = (number(&old, atom), number(&new, atom));
            if self.loose.contains(&atom) {
                continue;
            }
            if is < was && !(made(false, atom) || removed(true, atom) || any_over_mine) {
                return Err(format!(
                    "a delivery takes out {} of {:?} for {:?}",
                    readable(&atom.to_string()),
                    readable(before),
                    readable(after)
                ));
            }
            let back = wanted(false).any(|hunk| hunk.forced) && atom::maker(atom) != Some(Maker::Agent);
            if is > was && !(made(true, atom) || removed(false, atom) || made(false, atom) || back) {
                return Err(format!("a delivery puts in {}", readable(&atom.to_string())));
            }
        }
        if any_over_mine {
            // What goes with a hunk may come back with it.
            let gone = old.keys().copied().filter(|atom| number(&new, *atom) < number(&old, *atom));
            let gone: Vec<char> = gone.collect();
            for hunk in self.hunks.iter_mut().filter(|hunk| hunk.over_mine) {
                hunk.worn.extend(&gone);
            }
            return Ok(());
        }
        // What is in both stays in its order.
        let both = |text: &str, other: &HashMap<char, usize>, own: &HashMap<char, usize>| -> Vec<char> {
            let once = |atom: &char| number(other, *atom) == 1 && number(own, *atom) == 1;
            atoms(text).filter(|atom| once(atom) && !self.loose.contains(atom)).collect()
        };
        if both(before, &new, &old) != both(after, &old, &new) {
            return Err("a delivery moves characters about".to_owned());
        }
        Ok(())
    }

    /// At rest nothing is under way any more. A decision that could not be carried out was told to the person.
    pub fn at_rest(&mut self, notices: usize) -> Result<(), Fault> {
        for at in 0..self.hunks.len() {
            // One all of whose lines the person has joined with others, or copied, may be there or not.
            let own = |lines: &[String]| lines.iter().flat_map(|line| atoms(line)).collect::<Vec<char>>();
            let hunk = &self.hunks[at];
            let own = Some(own(&hunk.proposed)).filter(|own| !own.is_empty()).unwrap_or(own(&hunk.removed));
            let told_apart = own.is_empty() || own.iter().any(|atom| !self.loose.contains(atom));
            let hunk = &mut self.hunks[at];
            (hunk.may_come, hunk.may_go, hunk.over_mine) = (false, false, false);
            let asked = hunk.asked.take();
            if asked.is_some_and(|asked| asked != hunk.decision) && told_apart && notices == 0 {
                return Err(format!(
                    "{} is {:?} at rest, though {asked:?} was asked for last and taken on",
                    hunk.name, hunk.decision
                ));
            }
        }
        Ok(())
    }

    /// The text comes to be as it is while nobody watches.
    pub fn look_away(&mut self) {
        self.unwatched = true;
    }

    /// Forgets what is under way: what the text is from now on nobody has watched.
    pub fn stop(&mut self) {
        self.look_away();
        for hunk in &mut self.hunks {
            (hunk.may_come, hunk.may_go, hunk.over_mine) = (false, false, false);
            hunk.asked = None;
        }
    }

    /// A decision about a hunk was not made, as it could not be recorded.
    pub fn is_dropped(&mut self, name: &HunkRef) {
        if let Some(at) = self.find(name) {
            self.hunks[at].asked = None;
        }
    }

    /// The agent view is the editor's text with the held hunks in it that nothing stands against.
    pub fn agent_view(&self, document: &mut Document, agent: &str) -> Result<(), Fault> {
        let review = document.review_where(|_| true);
        let views = flat(&review);
        let names: Vec<&HunkRef> = self.hunks.iter().map(|hunk| &hunk.name).collect();
        let mut shown: Vec<bool> = views.iter().map(|view| is_in_text(&view.state)).collect();
        let mut lines: HashMap<String, isize> = HashMap::new();
        for line in page::contents(&document.text().to_string()) {
            *lines.entry(line.to_owned()).or_default() += 1;
        }
        for (at, view) in views.iter().enumerate() {
            let held = view.state == HunkState::Held && view.decision == Decision::Undecided;
            let stands = view
                .depends_on
                .iter()
                .all(|name| names.iter().position(|known| *known == name).is_some_and(|below| shown[below]));
            if held && stands {
                shown[at] = true;
                for line in &self.hunks[at].proposed {
                    *lines.entry(line.clone()).or_default() += 1;
                }
                for line in &self.hunks[at].removed {
                    *lines.entry(line.clone()).or_default() -= 1;
                }
            }
        }
        for line in page::contents(agent) {
            *lines.entry(line.to_owned()).or_default() -= 1;
        }
        // Lines that the person has changed or deleted inside a hunk stay so while it is held.
        let worn = |line: &str| {
            atoms(line).any(|atom| self.loose.contains(&atom))
                || self.hunks.iter().any(|hunk| {
                    let own = atoms(line).any(|atom| hunk.worn.contains(&atom));
                    // Without a character of its own a line may be a part of one that the person has cut.
                    own || (!hunk.worn.is_empty() && atoms(line).next().is_none())
                })
        };
        match lines.into_iter().find(|(line, left)| *left != 0 && !worn(line)) {
            None => Ok(()),
            Some((line, left)) => {
                Err(format!("the agent view has {:?} {} times too often", readable(&line), -left))
            }
        }
    }
}
