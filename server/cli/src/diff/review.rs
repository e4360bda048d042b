//! `mcpdiff review`: one undecided edit after the other, with a question about each.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use hashline_history::{EditId, Found, Status, Store};

use super::arguments::Review;
use super::decide::{Answer, Decider, Mine, Refusal, Target, Verb, Why, Wish};
use super::decision::{How, carry_out};
use super::edit::{Edit, Edits};
use super::find::{Book, Kind, Named, hunk};
use super::moment::Clock;
use super::place;
use super::screen::{Ink, Screen, inert, tell};
use super::show::Page;
use super::words;
use crate::Failure;

/// Reviews what is undecided.
pub fn run<'a>(
    store: &'a Store,
    options: &Review,
    decider: impl FnOnce() -> Result<Box<dyn Decider + 'a>, Failure>,
    screen: Screen,
) -> Result<ExitCode, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage(words::review_needs_a_terminal()));
    }
    for note in place::mended(store) {
        tell(&format!("mcpdiff: {note}"));
    }
    let book = Book::open(store)?;
    let edits: Vec<Found> = match &options.conversation {
        None => book.pending().into_iter().cloned().collect(),
        Some(name) => match book.named(Kind::Conversation, name)? {
            Named::Conversation(_, edits) => {
                edits.into_iter().filter(|edit| edit.status == Status::Pending).collect()
            }
            Named::Edit(_) | Named::Hunk(..) => Vec::new(),
        },
    };
    if edits.is_empty() {
        return Err(Failure::broken(words::nothing_undecided()));
    }
    let page = Page { store, clock: Clock::of_this_machine(), screen };
    let mut decider = decider()?;
    let (mut input, mut output) = (stdin.lock(), std::io::stdout());
    let talk = Talk { input: &mut input, output: &mut output, screen };
    let mut round = Round { store, page, talk, decider: decider.as_mut(), tally: Tally::default() };
    round.all(&edits)?;
    Ok(ExitCode::SUCCESS)
}

/// A conversation with the person, line by line.
struct Talk<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
    screen: Screen,
}

impl Talk<'_> {
    fn say(&mut self, text: &str) {
        // Whoever does not read any more does not answer either, and that is noticed.
        let _ = self.output.write_all(text.as_bytes());
        let _ = self.output.flush();
    }

    /// The answer to a question; none if there will be no more answers.
    fn ask(&mut self, question: &str) -> Option<String> {
        let question = format!("{} ", self.screen.paint(Ink::Heading, question));
        self.say(&question);
        let mut line = Vec::new();
        match self.input.read_until(b'\n', &mut line) {
            Ok(read) if read > 0 => Some(String::from_utf8_lossy(&line).trim().to_owned()),
            _ => {
                self.say("\n");
                None
            }
        }
    }

    /// One of these letters.
    fn choose(&mut self, question: &str, letters: &str, help: &str) -> Option<char> {
        loop {
            let answer = self.ask(question)?.to_lowercase();
            let mut answer = answer.chars();
            match (answer.next(), answer.as_str()) {
                // The word for it will do.
                (Some(letter), _) if letters.contains(letter) => return Some(letter),
                _ => self.say(help),
            }
        }
    }
}

/// What was decided so far, in hunks; what was skipped, in questions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    accepted: usize,
    rejected: usize,
    skipped: usize,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Decided,
    Skipped,
    /// Something stands against it: it can be asked again.
    Refused,
    Quit,
}

struct Round<'a> {
    store: &'a Store,
    page: Page<'a>,
    talk: Talk<'a>,
    decider: &'a mut dyn Decider,
    tally: Tally,
}

const EDIT_HELP: &str = "\
a  accept the edit: its changes are kept
r  reject it: its changes are taken out, or never come in
h  decide about each of its hunks
s  skip it: it stays undecided
q  quit: what was decided stays decided
";

const HUNK_HELP: &str = "\
a  accept this hunk
r  reject it
s  skip it: it stays undecided
q  quit: what was decided stays decided
";

impl Round<'_> {
    fn all(&mut self, found: &[Found]) -> Result<(), Failure> {
        let mut edits = Edits::new(self.store);
        for (at, one) in found.iter().enumerate() {
            // It may have been decided with another one, or elsewhere.
            edits.forget();
            let Some(now) = self.now(&one.edit)? else { continue };
            let edit = edits.read(&now)?;
            let shown = format!("{}\n", self.page.edit(&edit, None));
            self.talk.say(&shown);
            if self.edit(&edit, at + 1, found.len()) == Next::Quit {
                break;
            }
            self.talk.say("\n");
        }
        let left = self.left(found)?;
        let words = words::reviewed(self.tally.accepted, self.tally.rejected, self.tally.skipped, left);
        self.talk.say(&(words + "\n"));
        Ok(())
    }

    /// An edit as it is now, if it is still undecided.
    fn now(&self, id: &EditId) -> Result<Option<Found>, Failure> {
        let found = self.store.find(id.as_str()).map_err(Failure::broken)?;
        Ok(found.into_iter().find(|found| found.edit == *id && found.status == Status::Pending))
    }

    /// How many of these are undecided.
    fn left(&self, found: &[Found]) -> Result<usize, Failure> {
        let book = Book::open(self.store)?;
        let pending = book.pending();
        Ok(pending.iter().filter(|edit| found.iter().any(|one| one.edit == edit.edit)).count())
    }

    fn edit(&mut self, edit: &Edit, at: usize, of: usize) -> Next {
        let undecided = edit.undecided();
        let (hunks, letters) = if undecided.len() > 1 { ("[h]unk by hunk, ", "arhsq") } else { ("", "arsq") };
        let question = format!("Edit {at} of {of}: [a]ccept, [r]eject, {hunks}[s]kip, [q]uit?");
        let target = Target::Edit(edit.found.edit.to_string());
        loop {
            match self.talk.choose(&question, letters, EDIT_HELP) {
                Some('h') => return self.hunks(edit, &undecided),
                letter => match self.act(letter, &target, edit) {
                    Next::Refused => {}
                    next => return next,
                },
            }
        }
    }

    fn hunks(&mut self, edit: &Edit, undecided: &[u32]) -> Next {
        for number in undecided {
            let shown = format!("\n{}\n", self.page.hunk(edit, *number, false));
            self.talk.say(&shown);
            let question =
                format!("Hunk {number} of {}: [a]ccept, [r]eject, [s]kip, [q]uit?", edit.hunks().len());
            let target = Target::Hunk(hunk(&edit.found, *number));
            loop {
                let letter = self.talk.choose(&question, "arsq", HUNK_HELP);
                match self.act(letter, &target, edit) {
                    Next::Refused => {}
                    Next::Quit => return Next::Quit,
                    Next::Decided | Next::Skipped => break,
                }
            }
        }
        Next::Decided
    }

    /// Does what a letter stands for.
    fn act(&mut self, letter: Option<char>, target: &Target, edit: &Edit) -> Next {
        let (verb, reason) = match letter {
            Some('a') => (Verb::Accept, None),
            Some('r') => match self.talk.ask("Why? The agent is told; Enter for no reason:") {
                Some(reason) => (Verb::Reject, Some(reason).filter(|reason| !reason.is_empty())),
                None => return Next::Quit,
            },
            Some('s') => {
                self.tally.skipped += 1;
                return Next::Skipped;
            }
            _ => return Next::Quit,
        };
        let how = How { verb, reason, mine: None, with_others: false };
        let mut wish = how.wish(target.clone(), vec![edit.found.clone()]);
        loop {
            let answer = carry_out(self.decider, &wish, &[]);
            self.tell(verb, &answer);
            let Some(refusal) = answer.refused.first() else { return Next::Decided };
            match self.way_out(verb, refusal, &wish) {
                Ok(other) => wish = other,
                Err(next) => return next,
            }
        }
    }

    fn tell(&mut self, verb: Verb, answer: &Answer) {
        match verb {
            Verb::Accept => self.tally.accepted += answer.decided.len(),
            Verb::Reject => self.tally.rejected += answer.decided.len(),
        }
        let mut words = words::decided(verb, &answer.decided, answer.waiting.as_deref());
        words.push_str(&words::kept(&answer.kept));
        for note in &answer.notes {
            words.push_str(&inert(note));
            words.push('\n');
        }
        for refusal in &answer.refused {
            words.push_str(&words::reason(verb, refusal));
            words.push('\n');
        }
        self.talk.say(&self.page.screen.sentences(&words));
    }

    /// Asks for the word that was missing; the error is how it goes on without.
    fn way_out(&mut self, verb: Verb, refusal: &Refusal, wish: &Wish) -> Result<Wish, Next> {
        let (question, letters) = match refusal.why {
            Why::Edited | Why::Changed => {
                ("[k]eep my lines, [f]orce (they are saved first), or [s]kip?", "kfs")
            }
            Why::Conflicted if verb == Verb::Accept => {
                ("[k]eep both, [f]orce the agent's lines, or [s]kip?", "kfs")
            }
            Why::NeedsOthers if !wish.with_others => ("Decide about those as well: [y]es, or [s]kip?", "ys"),
            _ => return Err(Next::Refused),
        };
        // Asked already, and to no avail.
        if wish.mine.is_some() && letters == "kfs" {
            return Err(Next::Refused);
        }
        let wish = wish.clone();
        match self.talk.choose(question, letters, "Answer with one of the letters.\n") {
            Some('k') => Ok(Wish { mine: Some(Mine::Keep), ..wish }),
            Some('f') => Ok(Wish { mine: Some(Mine::GiveUp), ..wish }),
            Some('y') => Ok(Wish { with_others: true, ..wish }),
            Some(_) => {
                self.tally.skipped += 1;
                Err(Next::Skipped)
            }
            None => Err(Next::Quit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::common::{Live, NoFiles, line, name_in};
    use crate::diff::decide::{Choice, Refusal};
    use hashline_history::{Decided, Decision, Draft, HunkRef};
    use hashline_weave::Change;

    /// Decides in the record, or refuses the first time that it is asked about a hunk.
    struct Recording<'a> {
        store: &'a Store,
        live: &'a Live,
        refuses: Vec<(&'static str, Why)>,
        wishes: Vec<Wish>,
    }

    impl Decider for Recording<'_> {
        fn decide(&mut self, wish: &Wish) -> Answer {
            self.wishes.push(wish.clone());
            let decision =
                if wish.choice == Choice::Reject { Decision::Rejected } else { Decision::Accepted };
            let wanted = |hunk: &&HunkRef| match &wish.target {
                Target::Hunk(name) => name == *hunk,
                Target::Edit(id) => hunk.edit.as_str() == id,
                _ => false,
            };
            let hunks: Vec<HunkRef> = self.live.hunks.iter().filter(wanted).cloned().collect();
            let refused =
                |hunk: &HunkRef| self.refuses.iter().position(|(name, _)| hunk.to_string() == *name);
            if let Some(at) = hunks.iter().find_map(refused) {
                let (hunk, why) = self.refuses.remove(at);
                let message = "You changed it. Choose “Keep mine”.".to_owned();
                let refused = vec![Refusal { hunk: hunk.to_owned(), why, message, others: Vec::new() }];
                return Answer { refused, ..Answer::default() };
            }
            let decide =
                |hunk: &HunkRef| Decided { hunk: hunk.clone(), decision, reason: wish.reason.clone() };
            let decisions = hunks.iter().map(decide).collect();
            let mut session = self.store.session(&NoFiles).unwrap();
            session.append(&Draft { decisions, ..Draft::about(self.live.name.clone()) }).unwrap();
            Answer { decided: hunks, ..Answer::default() }
        }
    }

    /// What a review prints in which a person answers so, and what was wished for.
    fn reviewed(answers: &str, refuses: &[(&'static str, Why)]) -> (String, Vec<Wish>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path(), "test");
        let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
        let mut live = Live::new(name_in(folder.path(), "a.txt"), &text);
        let change = |at: usize, new: &str| Change { lines: at..at + 1, new: vec![line(new)] };
        for (id, changes) in
            [("one-1", vec![change(1, "first"), change(12, "second")]), ("two-2", vec![change(6, "third")])]
        {
            let edit = live.edit(id, "conv", &changes, false);
            store.session(&NoFiles).unwrap().append(&live.draft(edit)).unwrap();
        }
        let edits: Vec<Found> = Book::open(&store).unwrap().pending().into_iter().cloned().collect();
        let mut decider =
            Recording { store: &store, live: &live, refuses: refuses.to_vec(), wishes: Vec::new() };
        let mut output = Vec::new();
        let screen = Screen::default();
        let mut input = answers.as_bytes();
        let mut round = Round {
            store: &store,
            page: Page { store: &store, clock: Clock::of_this_machine(), screen },
            talk: Talk { input: &mut input, output: &mut output, screen },
            decider: &mut decider,
            tally: Tally::default(),
        };
        round.all(&edits).unwrap();
        (String::from_utf8(output).unwrap(), decider.wishes)
    }

    /// The last line, without the question that a terminal would have shown the answer to.
    fn last(out: &str) -> &str {
        out.lines().last().and_then(|line| line.rsplit("? ").next()).unwrap_or_default()
    }

    #[test]
    fn edits_are_decided_one_by_one() {
        let (out, wishes) = reviewed("a\nr\ntoo long\n", &[]);
        assert_eq!(last(&out), "2 hunks accepted, 1 rejected, 0 skipped. Nothing is left undecided.");
        assert!(
            out.contains("Accepted one-1, hunks 1, 2.") && out.contains("Rejected two-2, hunk 1."),
            "{out}"
        );
        assert_eq!((wishes.len(), wishes[1].reason.as_deref()), (2, Some("too long")));
        let (out, wishes) = reviewed("REJECT\n\ns\n", &[]);
        assert_eq!(last(&out), "0 hunks accepted, 2 rejected, 1 skipped. 1 edit is left undecided.");
        assert_eq!(wishes[0].reason, None);
    }

    #[test]
    fn hunks_are_decided_one_by_one() {
        let (out, wishes) = reviewed("h\na\ns\nq\n", &[]);
        assert_eq!(last(&out), "1 hunk accepted, 0 rejected, 1 skipped. 2 edits are left undecided.");
        assert_eq!(wishes[0].target, Target::Hunk("one-1:1".parse().unwrap()));
        assert!(out.contains("Hunk 2 of 2") && out.contains("Edit 2 of 2"), "{out}");
    }

    #[test]
    fn quitting_or_hanging_up_ends_it_at_any_question() {
        for answers in ["", "q\n", "r\n", "h\n", "h\nq\n", "h\nr\n", "what?\n"] {
            let (out, wishes) = reviewed(answers, &[]);
            assert_eq!(
                last(&out),
                "0 hunks accepted, 0 rejected, 0 skipped. 2 edits are left undecided.",
                "{answers}"
            );
            assert!(wishes.is_empty() && !out.contains("Edit 2"), "{out}");
        }
    }

    #[test]
    fn what_stands_against_it_is_asked_about() {
        let (out, wishes) = reviewed("a\nk\nq\n", &[("one-1:1", Why::Edited)]);
        assert_eq!(last(&out), "2 hunks accepted, 0 rejected, 0 skipped. 1 edit is left undecided.");
        assert!(out.contains("one-1:1 was not accepted. You changed it.\n"), "{out}");
        assert_eq!(wishes.iter().map(|wish| wish.mine).collect::<Vec<_>>(), [None, Some(Mine::Keep)]);
        let (_, wishes) = reviewed("a\ny\nq\n", &[("one-1:1", Why::NeedsOthers)]);
        assert_eq!(wishes.iter().map(|wish| wish.with_others).collect::<Vec<_>>(), [false, true]);
        let (out, wishes) = reviewed("a\ns\nq\n", &[("one-1:1", Why::Conflicted)]);
        assert_eq!(
            (wishes.len(), last(&out)),
            (1, "0 hunks accepted, 0 rejected, 1 skipped. 2 edits are left undecided.")
        );
        // Where there is no way out the question is asked again.
        let (out, wishes) = reviewed("a\nr\n\nq\n", &[("one-1:1", Why::Unreachable)]);
        assert_eq!((wishes.len(), out.matches("Edit 1 of 2").count()), (2, 2), "{out}");
    }
}
