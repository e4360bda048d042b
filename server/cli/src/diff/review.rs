//! `mcpdiff review`: one undecided edit after the other, with a question about each.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use hashline_history::{EditId, Found, Reason, Status, Store, Why};
use hashline_terminal::{Failure, Ink, Screen, inert, tell};
use hashline_workspace::document::Along;

use super::accept_reject::{How, carry_out};
use super::arguments::Review;
use super::decider::{Answer, Decider, Mine, Refusal, Target, Verb, Wish};
use super::edit_details::{Edit, Edits};
use super::local_time::Clock;
use super::messages;
use super::resolve_id::{Book, Kind, Named, hunk};
use super::show::{Lines, Page};
use super::sidecars::Everywhere;

/// Reviews what is undecided.
pub fn run<'a>(
    store: &Store,
    options: &Review,
    decider: impl FnOnce() -> Result<Everywhere<'a>, Failure>,
    screen: Screen,
) -> Result<ExitCode, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage(messages::review_needs_a_terminal()));
    }
    let mut decider = decider()?;
    for note in decider.mended() {
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
        return Err(Failure::broken(messages::nothing_undecided()));
    }
    let page = Page { store, clock: Clock::of_this_machine(), screen, lines: Lines::WrittenOut };
    let (mut input, mut output) = (stdin.lock(), std::io::stdout());
    let talk = Talk { input: &mut input, output: &mut output, screen };
    let mut round = Round { store, page, talk, decider: &mut decider, tally: Tally::default() };
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

    /// One of these words, which begin differently; its letter or any beginning of it will do, and nothing else.
    fn choose(&mut self, question: &str, words: &[&'static str], help: &str) -> Option<&'static str> {
        loop {
            let answer = self.ask(question)?.to_lowercase();
            let meant = words.iter().find(|word| !answer.is_empty() && word.starts_with(&answer));
            match meant {
                Some(word) => return Some(word),
                None => self.say(help),
            }
        }
    }
}

/// What was decided and skipped so far, in hunks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    accepted: usize,
    rejected: usize,
    skipped: usize,
}

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// It is decided, or left for another time.
    Done,
    /// Something stands against it: it can be asked again.
    Refused,
    Quit,
}

/// What is asked about an edit.
struct Question<'a> {
    at: usize,
    of: usize,
    /// What there is to see of it, where the screen had no room.
    whole: Option<&'a str>,
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
v  view all of it, where it is longer than the screen
s  skip it: it stays undecided
q  quit: what was decided stays decided
";

const HUNK_WORDS: &[&str] = &["accept", "reject", "skip", "quit"];

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
            let whole = self.page.edit(&edit, None, &mut edits);
            let (shown, left) = self.talk.screen.beginning(&whole);
            let shown =
                if left == 0 { format!("{shown}\n") } else { shown.to_owned() + &messages::more_lines(left) };
            self.talk.say(&shown);
            let question =
                Question { at: at + 1, of: found.len(), whole: (left > 0).then_some(whole.as_str()) };
            if self.edit(&edit, &question, &edits) == Next::Quit {
                break;
            }
            self.talk.say("\n");
        }
        let left = self.left(found)?;
        let words = messages::reviewed(self.tally.accepted, self.tally.rejected, self.tally.skipped, left);
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

    fn edit(&mut self, edit: &Edit, asked: &Question<'_>, edits: &Edits<'_>) -> Next {
        let undecided = edit.undecided();
        let mut words = HUNK_WORDS.to_vec();
        let (mut hunks, mut view) = ("", "");
        if undecided.len() > 1 {
            hunks = "[h]unk by hunk, ";
            words.push("hunk");
        }
        if asked.whole.is_some() {
            view = "[v]iew all, ";
            words.push("view");
        }
        let (at, of) = (asked.at, asked.of);
        let question = format!("Edit {at} of {of}: [a]ccept, [r]eject, {hunks}{view}[s]kip, [q]uit?");
        let target = Target::Edit(edit.found.edit.clone());
        loop {
            match self.talk.choose(&question, &words, EDIT_HELP) {
                Some("view") => self.view(asked.whole.unwrap_or_default()),
                Some("hunk") => return self.hunks(edit, &undecided, edits),
                word => match self.act(word, &target, edit) {
                    Next::Refused => {}
                    next => return next,
                },
            }
        }
    }

    fn view(&mut self, whole: &str) {
        if !self.talk.screen.page(whole) {
            self.talk.say(whole);
        }
    }

    fn hunks(&mut self, edit: &Edit, undecided: &[u32], edits: &Edits<'_>) -> Next {
        for number in undecided {
            let shown = format!("\n{}\n", self.page.hunk(edit, *number, false, edits));
            self.talk.say(&shown);
            let question =
                format!("Hunk {number} of {}: [a]ccept, [r]eject, [s]kip, [q]uit?", edit.hunks().len());
            let target = Target::Hunk(hunk(&edit.found, *number));
            loop {
                let word = self.talk.choose(&question, HUNK_WORDS, HUNK_HELP);
                match self.act(word, &target, edit) {
                    Next::Refused => {}
                    Next::Quit => return Next::Quit,
                    Next::Done => break,
                }
            }
        }
        Next::Done
    }

    /// Does what a word says.
    fn act(&mut self, word: Option<&str>, target: &Target, edit: &Edit) -> Next {
        let (verb, reason) = match word {
            Some("accept") => (Verb::Accept, None),
            Some("reject") => match self.talk.ask("Why? The agent is told; Enter for no reason:") {
                Some(reason) => (Verb::Reject, Reason::of(&reason)),
                None => return Next::Quit,
            },
            Some("skip") => return self.skip(target, edit),
            _ => return Next::Quit,
        };
        let how = How { verb, reason, mine: None, along: Along::OfTurn };
        let mut wish = how.wish(target.clone(), vec![edit.found.clone()]);
        loop {
            let answer = carry_out(self.decider, &mut wish, &[]);
            self.tell(verb, &wish, &answer);
            let Some(refusal) = answer.refused.first() else { return Next::Done };
            match self.way_out(verb, refusal, &wish) {
                Way::Again(other) => wish = *other,
                Way::Skip => return self.skip(target, edit),
                Way::None => return Next::Refused,
                Way::Quit => return Next::Quit,
            }
        }
    }

    fn skip(&mut self, target: &Target, edit: &Edit) -> Next {
        self.tally.skipped += match target {
            Target::Hunk(_) => 1,
            // Of one whose record cannot be read they are not known.
            _ => edit.undecided().len().max(1),
        };
        Next::Done
    }

    fn tell(&mut self, verb: Verb, wish: &Wish, answer: &Answer) {
        match verb {
            Verb::Accept => self.tally.accepted += answer.decided.len(),
            Verb::Reject => self.tally.rejected += answer.decided.len(),
        }
        let mut words = messages::decided(verb, wish, answer);
        words.push_str(&messages::kept(&answer.kept));
        for note in &answer.notes {
            words.push_str(&inert(note));
            words.push('\n');
        }
        for refusal in &answer.refused {
            words.push_str(&messages::reason(verb, refusal, self.store.folder()));
            words.push('\n');
        }
        self.talk.say(&self.page.screen.sentences(&words));
    }

    /// Asks for the word that was missing.
    fn way_out(&mut self, verb: Verb, refusal: &Refusal, wish: &Wish) -> Way {
        let mine = &["keep", "force", "skip"][..];
        let (question, words) = match refusal.why {
            // Asked already, and to no avail.
            _ if wish.mine.is_some() && refusal.why != Why::NeedsOthers => return Way::None,
            Why::Edited | Why::Changed => {
                ("[k]eep my lines, [f]orce (they are saved first), or [s]kip?", mine)
            }
            Why::Conflicted if verb == Verb::Accept => {
                ("[k]eep both, [f]orce the agent's lines, or [s]kip?", mine)
            }
            Why::Removed => {
                ("[f]orce (the file is written again as recorded), or [s]kip?", &["force", "skip"][..])
            }
            Why::Lost if verb == Verb::Reject => {
                ("[k]eep the text as it is and take its lines out by hand, or [s]kip?", &["keep", "skip"][..])
            }
            Why::NeedsOthers if wish.along != Along::All => {
                ("Decide about those as well: [y]es, or [s]kip?", &["yes", "skip"][..])
            }
            _ => return Way::None,
        };
        let wish = wish.clone();
        match self.talk.choose(question, words, "Answer with one of the letters.\n") {
            Some("keep") => Way::Again(Box::new(Wish { mine: Some(Mine::Keep), ..wish })),
            Some("force") => Way::Again(Box::new(Wish { mine: Some(Mine::GiveUp), ..wish })),
            Some("yes") => Way::Again(Box::new(Wish { along: Along::All, ..wish })),
            Some(_) => Way::Skip,
            None => Way::Quit,
        }
    }
}

/// How it goes on after something stood against a decision.
enum Way {
    /// With this wish.
    Again(Box<Wish>),
    Skip,
    /// There is no other way to decide so.
    None,
    Quit,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::common::{Live, NoFiles, line, name_in};
    use crate::diff::decider::{Choice, Refusal};
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
        fn look_at(&mut self, _: &Wish) -> Answer {
            Answer::default()
        }

        fn decide(&mut self, wish: &Wish) -> Answer {
            self.wishes.push(wish.clone());
            let decision =
                if wish.choice == Choice::Reject { Decision::Rejected } else { Decision::Accepted };
            let wanted = |hunk: &&HunkRef| match &wish.target {
                Target::Hunk(name) => name == *hunk,
                Target::Edit(id) => hunk.edit == *id,
                _ => false,
            };
            let hunks: Vec<HunkRef> = self.live.hunks.iter().filter(wanted).cloned().collect();
            let refused =
                |hunk: &HunkRef| self.refuses.iter().position(|(name, _)| hunk.to_string() == *name);
            if let Some(at) = hunks.iter().find_map(refused) {
                let (hunk, why) = self.refuses.remove(at);
                let message = "You changed it. Choose “Keep mine”.".to_owned();
                let refused =
                    vec![Refusal { hunk: hunk.to_owned(), why, message, others: Vec::new(), document: None }];
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
        reviewed_on(Screen::default(), answers, refuses)
    }

    fn reviewed_on(screen: Screen, answers: &str, refuses: &[(&'static str, Why)]) -> (String, Vec<Wish>) {
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
        let mut input = answers.as_bytes();
        let mut round = Round {
            store: &store,
            page: Page { store: &store, clock: Clock::of_this_machine(), screen, lines: Lines::WrittenOut },
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
    fn only_a_word_or_its_beginning_is_an_answer() {
        for word in ["abort", "acceptable", "a b", "and", "no", "rejected", "hunt", "quiet", "ay"] {
            let (out, wishes) = reviewed(&format!("{word}\n"), &[]);
            assert!(wishes.is_empty() && out.contains(EDIT_HELP), "{word}: {out}");
        }
        for (word, accepted) in [("acc", true), ("Accept", true), ("rej\n", false), ("r\n", false)] {
            let (_, wishes) = reviewed(&format!("{word}\n"), &[]);
            assert_eq!(wishes.len(), 1, "{word}");
            assert_eq!(wishes[0].choice == Choice::Accept, accepted, "{word}");
        }
        // Of a question that offers nothing else, too.
        let (_, wishes) = reviewed("a\nforget it\nyesterday\nf\n", &[("one-1:1", Why::Edited)]);
        assert_eq!(wishes.len(), 2);
        assert_eq!(wishes[1].mine, Some(Mine::GiveUp));
    }

    #[test]
    fn what_is_longer_than_the_screen_can_be_viewed() {
        let low = Screen { height: Some(16), ..Screen::default() };
        let (out, _) = reviewed_on(low, "q\n", &[]);
        assert!(
            out.contains("[h]unk by hunk, [v]iew all, [s]kip") && out.contains(" lines more.\n"),
            "{out}"
        );
        assert!(!out.contains("+second"), "{out}");
        let (out, _) = reviewed("v\nq\n", &[]);
        assert!(out.contains("+second") && !out.contains("[v]iew") && out.contains(EDIT_HELP), "{out}");
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
        assert_eq!(wishes.iter().map(|wish| wish.along).collect::<Vec<_>>(), [Along::OfTurn, Along::All]);
        let (out, wishes) = reviewed("a\ns\nq\n", &[("one-1:1", Why::Conflicted)]);
        assert_eq!(
            (wishes.len(), last(&out)),
            (1, "0 hunks accepted, 0 rejected, 2 skipped. 2 edits are left undecided.")
        );
        // Where there is no way out the question is asked again.
        let (out, wishes) = reviewed("a\nr\n\nq\n", &[("one-1:1", Why::Elsewhere)]);
        assert_eq!((wishes.len(), out.matches("Edit 1 of 2").count()), (2, 2), "{out}");
    }
}
