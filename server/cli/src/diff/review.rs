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
use super::screen::{Ink, Screen};
use super::show::Page;
use super::words;
use crate::Failure;

/// Reviews what is undecided.
pub fn run(
    store: &Store,
    options: &Review,
    decider: impl FnOnce() -> Result<Box<dyn Decider>, Failure>,
    screen: Screen,
) -> Result<ExitCode, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage(words::review_needs_a_terminal()));
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
        for refusal in &answer.refused {
            words.push_str(&words::reason(verb, refusal));
            words.push('\n');
        }
        self.talk.say(&words);
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
