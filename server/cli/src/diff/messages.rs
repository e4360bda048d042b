//! What is said to the person, in one place: what happened, and the next step.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use hashline_history::path::{quoted, to_text};
use hashline_history::{ConversationId, Damage, Decision, EditId, FileChange, Found, HunkRef, Why};
use hashline_terminal::{inert, inert_line};

use super::decider::{Answer, Refusal, Verb, Wish};
use super::edit_details::relative;
use super::patch_sides::Which;
use super::resolve_id::{Kind, Named, short_conversation};

/// So many candidates are named; of more the number is told.
const NAMED: usize = 10;

pub fn no_folder(folder: &Path, why: &str) -> String {
    format!("-w {}: {why}. Give a folder that is there.", inert(&folder.display().to_string()))
}

pub fn no_current_folder(why: &str) -> String {
    format!("the current folder is not to be had: {why}. Give one with -w.")
}

pub fn no_history(start: &Path) -> String {
    format!(
        "No edits are recorded in {} or in your folders above it: there is no .mcp/edit_history. Go to the project's folder, or \
         name it with -w.",
        inert(&start.display().to_string())
    )
}

pub fn own_history(folder: &Path) -> String {
    format!("The edit history of {} is yours already; there is nothing to adopt.", to_text(folder))
}

/// What is said above what a foreign history holds.
pub fn foreign(folder: &Path, edits: usize) -> String {
    format!(
        "The edit history of {} is not yours: it came with the folder, or another user or machine made it. It claims to have \
         {}; only you can know whether that is true.",
        to_text(folder),
        count(edits, "edit")
    )
}

pub const ADOPT_QUESTION: &str = "Make it yours? [y/N]";

pub fn adopt_asks() -> String {
    "adopt asks, and here is nobody to answer. Say --yes if you trust all of this, or --set-aside.".to_owned()
}

pub fn not_adopted() -> String {
    "Nothing was taken over. mcpdiff adopt --set-aside puts it away.".to_owned()
}

pub fn adopted(folder: &Path) -> String {
    format!("The edit history of {} is yours now.", to_text(folder))
}

pub fn set_aside(aside: &Path) -> String {
    format!(
        "It lies in {} now, where nobody reads it; remove it when you like. A new history begins with the next edit.",
        to_text(aside)
    )
}

pub fn edits_and_undecided(edits: usize, undecided: usize) -> String {
    format!("{}, {undecided} undecided", count(edits, "edit"))
}

pub fn names_nothing(kind: Kind, name: &str, edits: usize) -> String {
    if edits == 0 {
        return "No edits are recorded in this history, so there is none to name.".to_owned();
    }
    let what = match kind {
        Kind::Any => "No edit and no conversation is",
        Kind::Edit => "No edit is",
        Kind::Conversation => "No conversation is",
    };
    format!("{what} called {:?}. `mcpdiff status` lists what there is.", inert(name))
}

pub fn bad_hunk(name: &str) -> String {
    format!("{:?} names no hunk: behind the colon stands its number, from 1, as in 3f2a:2.", inert(name))
}

pub fn ambiguous_edit(name: &str, edits: &[Found], folder: &Path) -> String {
    let mut words = format!("{:?} fits {} edits. Give more of the id:", inert(name), edits.len());
    for edit in edits.iter().rev().take(NAMED) {
        let _ = write!(
            words,
            "\n  {}  {:8}  {}",
            edit.edit,
            edit.status,
            relative(edit.document.as_path(), folder)
        );
    }
    and_more(&mut words, edits.len());
    words
}

pub fn ambiguous_conversation(name: &str, all: &[(ConversationId, usize)]) -> String {
    let mut words = format!("{:?} fits {} conversations. Give more of the id:", inert(name), all.len());
    for (id, edits) in all.iter().rev().take(NAMED) {
        let _ = write!(words, "\n  {id}  {}", count(*edits, "edit"));
    }
    and_more(&mut words, all.len());
    words
}

fn and_more(words: &mut String, all: usize) {
    if all > NAMED {
        let _ = write!(words, "\n  and {} more", all - NAMED);
    }
}

pub fn name_something(verb: &str, pending: &[&Found], folder: &Path) -> String {
    let mut words = format!(
        "Say what to {verb}: an edit (mcpdiff {verb} ID), one of its hunks (ID:2), or a conversation (-c ID)."
    );
    match pending.last() {
        None => words.push_str(" Nothing is undecided; `mcpdiff status` lists all edits."),
        Some(_) => words.push_str(" Undecided, newest first:"),
    }
    for edit in pending.iter().rev().take(NAMED) {
        let conversation = short_conversation(edit.conversation.as_str());
        let _ = write!(
            words,
            "\n  {:8}  {conversation}  {}",
            edit.edit.short(),
            relative(edit.document.as_path(), folder)
        );
    }
    and_more(&mut words, pending.len());
    words
}

pub fn none_recorded(folder: &Path) -> String {
    format!("No edits are recorded in {}.", inert(&folder.display().to_string()))
}

pub fn none_match(total: usize) -> String {
    let of = if total == 1 {
        "the 1 edit that is recorded"
    } else {
        &format!("the {total} edits that are recorded")
    };
    format!("None of {of} is like that. `mcpdiff status` without options lists them.")
}

pub fn showing(shown: usize, matching: usize) -> String {
    format!("The newest {shown} of {matching} edits. -n 0 shows all.")
}

pub fn damaged(lines: &[(String, usize)]) -> String {
    let (file, line) = lines.first().map_or(("", 0), |(file, line)| (file.as_str(), *line));
    format!(
        "{} in the logs cannot be read and {} left out; the first is line {line} of {}. The next command that changes something \
         writes these logs anew.",
        count(lines.len(), "line"),
        if lines.len() == 1 { "was" } else { "were" },
        inert(file),
    )
}

/// The same for the record itself; none if it is whole.
pub fn record_damaged(damage: &[Damage]) -> Option<String> {
    let first = damage.first()?;
    let why = inert(&first.why);
    Some(match damage.len() {
        1 => format!("Line {} of decisions.log is damaged and was left out: {why}.", first.line),
        count => format!(
            "{count} lines of decisions.log are damaged and were left out; the first is line {}: {why}.",
            first.line
        ),
    })
}

pub fn no_such_hunk(found: &Found, number: u32, hunks: usize) -> String {
    let short = found.edit.short();
    match hunks {
        0 => format!("{short} has no hunks. Name the edit: {short}."),
        1 => format!("{short} has no hunk {number}: it has one. Name the edit: {short}."),
        _ => format!("{short} has no hunk {number}: its hunks are {short}:1 to {short}:{hunks}."),
    }
}

/// Nothing was decided about what is named, as this was decided before.
pub fn nothing_to_do(decision: Decision, named: &Named) -> String {
    let name = match named {
        Named::Conversation(..) => format!("Conversation {}", named.short()),
        Named::Edit(_) | Named::Hunk(..) => named.short(),
    };
    match decision {
        Decision::Withdrawn => format!(
            "{name} was withdrawn by its agent, so there is nothing to decide about it. Nothing was changed."
        ),
        _ => format!("{name} is {} already. Nothing was changed.", decision.as_str()),
    }
}

pub fn nothing_undecided() -> &'static str {
    "Nothing is undecided. `mcpdiff status` lists all edits."
}

pub fn review_needs_a_terminal() -> &'static str {
    "review asks about each edit, so it needs a terminal. Without one, `mcpdiff status --status pending` lists what is undecided, and \
     accept and reject decide."
}

/// What stands above what was decided of a conversation.
pub fn conversation(id: &ConversationId) -> String {
    format!("Conversation {}:\n", short_conversation(id.as_str()))
}

/// What was decided, by edit: what was wished for, and what goes with it.
pub fn decided(verb: Verb, wish: &Wish, answer: &Answer) -> String {
    let mut edits: Vec<(&EditId, bool, Vec<u32>)> = Vec::new();
    for hunk in &answer.decided {
        let along = !wish.names(hunk);
        match edits.iter_mut().find(|(edit, other, _)| **edit == hunk.edit && *other == along) {
            Some((.., numbers)) => numbers.push(hunk.number),
            None => edits.push((&hunk.edit, along, vec![hunk.number])),
        }
    }
    edits.sort_by_key(|(_, along, _)| *along);
    let mut words = String::new();
    for (edit, along, mut numbers) in edits {
        numbers.sort_unstable();
        let one = numbers.len() == 1;
        let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let hunks = if one { "hunk" } else { "hunks" };
        let _ = write!(words, "{} {}, {hunks} {numbers}", capital(verb.done()), inert(edit.short()));
        words.push_str(match (along, one) {
            (false, _) => ".",
            (true, true) => ", which goes with it.",
            (true, false) => ", which go with it.",
        });
        if let Some(editor) = &answer.waiting {
            let _ = write!(words, " {} has the file open and is putting it into its text.", inert(editor));
        }
        words.push('\n');
    }
    words
}

/// Where the texts are that lines were given up in.
pub fn kept(copies: &[PathBuf]) -> String {
    let mut words = String::new();
    for copy in copies {
        let _ = writeln!(words, "The file as it was before is kept in {}.", inert(&quoted(copy.as_os_str())));
    }
    words
}

/// Why something was not decided, in a history in this folder.
pub fn reason(verb: Verb, refusal: &Refusal, folder: &Path) -> String {
    let reason: Vec<String> = without_buttons(&refusal.message).lines().map(inert_line).collect();
    let place = refusal
        .document
        .as_ref()
        .map_or_else(String::new, |document| format!(" in {}", relative(document.as_path(), folder)));
    format!("{}{place} was not {}. {}", short_hunk(&refusal.hunk), verb.done(), reason.join("\n"))
}

/// Why something was not decided, and the way out that the command line has. `asked`: the hunks that the same command decides about.
pub fn refused(verb: Verb, refusal: &Refusal, folder: &Path, asked: impl Fn(&HunkRef) -> bool) -> String {
    let others = refusal.others.iter().map(HunkRef::short).collect::<Vec<_>>();
    let way = match (refusal.why, others.as_slice()) {
        (Why::Changed, _) => "\nGive --keep to keep that change, or --force to give it up; a copy is saved first, and you are told \
                              where. Or open the file in an editor and decide there."
            .to_owned(),
        (Why::Removed, _) => "\nPut it back, or give --force to have it written again as it was recorded, and decided about then."
            .to_owned(),
        (Why::Edited, _) => {
            " Give --keep to keep your lines, or --force to give them up; they are saved first.".to_owned()
        }
        (Why::Conflicted, _) if verb == Verb::Accept => format!(
            " Give --force to take the agent's lines instead of yours, or --keep to have both; or keep yours alone: mcpdiff reject \
             {}.",
            short_hunk(&refusal.hunk)
        ),
        (Why::NeedsOthers, [_]) => " To decide about it as well, add --with-others.".to_owned(),
        (Why::NeedsOthers, _) => " To decide about them as well, add --with-others.".to_owned(),
        (Why::Lost, _) if verb == Verb::Reject => format!(
            " Take its lines out by hand; `mcpdiff reject {} --keep` counts it as rejected and leaves the file as it is.",
            short_hunk(&refusal.hunk)
        ),
        (Why::Lost, _) => format!(" `mcpdiff reject {}` does that.", short_hunk(&refusal.hunk)),
        // What the same command decides about is not in the way yet.
        (Why::Collides, [other, ..]) if !refusal.others.first().is_some_and(&asked) => {
            format!(" To reject that one: `mcpdiff reject {other}`.")
        }
        _ => String::new(),
    };
    reason(verb, refusal, folder) + &way
}

/// What is said to people in an editor, without the ways out that they have there.
pub fn without_buttons(message: &str) -> &str {
    let ways = [
        " Choose “",
        " Take its lines out by hand",
        " Decide that one with it,",
        " Decide those ",
        " Decide about that one with it,",
        " Decide about those with it,",
        "\nKeep that change, or",
        "\nPut it back, or",
    ];
    ways.into_iter()
        .fold(message, |message, way| message.split_once(way).map_or(message, |(reason, _)| reason))
}

fn short_hunk(name: &str) -> String {
    let edit = || match name.starts_with("conv_") {
        true => short_conversation(name),
        false => inert(EditId::from(name).short()),
    };
    name.parse::<HunkRef>().map_or_else(|_| edit(), |hunk| hunk.short())
}

pub fn no_answer(editor: &str, why: &str) -> String {
    format!(
        "{editor} has the file open and does not answer: {why}. Nothing was changed. Try again; if it stays so, restart that editor."
    )
}

/// What a review came to; decisions are counted in hunks.
pub fn reviewed(accepted: usize, rejected: usize, skipped: usize, left: usize) -> String {
    let left = match left {
        0 => "Nothing is left undecided.".to_owned(),
        1 => "1 edit is left undecided.".to_owned(),
        _ => format!("{left} edits are left undecided."),
    };
    format!("{} accepted, {rejected} rejected, {skipped} skipped. {left}", count(accepted, "hunk"))
}

/// What stands below a text that the screen had no room for.
pub fn more_lines(left: usize) -> String {
    format!("… {} more.\n\n", count(left, "line"))
}

/// How hunks stand.
pub const HELD: &str = "held: its lines are not in the file until it is accepted";
pub const HELD_FILE: &str = "held: nothing is done to the file until it is accepted";
pub const DONE_FILE: &str = "done";
pub const LOST: &str = "in the file, its place there no longer certain";

pub fn in_text(unsaved: bool, edited: bool) -> String {
    let place = if unsaved { "in the editor's text, not saved yet" } else { "in the file" };
    if edited { format!("{place}, changed there by you") } else { place.to_owned() }
}

pub fn conflicted(why: Option<&str>) -> String {
    why.map_or_else(|| "conflicted".to_owned(), |why| format!("conflicted. {}", inert(why)))
}

/// Which others are decided with a hunk.
pub fn one_with(hunks: &[HunkRef]) -> String {
    format!("decided as one with {} in editors and reviews", names(hunks))
}

pub fn builds_on(hunks: &[HunkRef]) -> String {
    format!("builds on {}, to be accepted with it", names(hunks))
}

pub fn under(hunks: &[HunkRef]) -> String {
    format!("built on by {}, to be rejected with it", names(hunks))
}

/// What became of the rest that was named with a conversation which cannot be decided.
pub const NOTHING_ELSE: &str = "Nothing was decided: a conversation and what is named with it go as one. Name the others alone to decide about them.";

/// Why something was not tried.
pub const COMES_AFTER: &str =
    "It comes after what was not decided. Give the same command again when that can be.";

/// What else would be decided with all that is named.
pub fn takes_along(others: &[HunkRef]) -> String {
    format!("This would also decide about {}.", names(others))
}

pub fn nothing_to_export(which: Which) -> String {
    match which {
        Which::Enabled => {
            "Nothing of it is in the files now. --proposed writes what was proposed, --rejected what was rejected."
        }
        Which::Proposed => "It changes no file that is there.",
        Which::Rejected => "Nothing of it was rejected that could be in the files now. Without --rejected the patch is of what is in them.",
    }
    .to_owned()
}

pub fn patch_needs(hunks: &[HunkRef]) -> String {
    format!("The patch builds on {}: it applies to files that have that.", names(hunks))
}

pub fn patch_is_without(hunks: &[HunkRef]) -> String {
    format!(
        "The patch does not include {}, which builds on it or conflicts with it. Apply it to files that do not have that.",
        names(hunks)
    )
}

pub fn left_out_of_patch(hunks: &[HunkRef]) -> String {
    format!(
        "{} could not be put into the patch: other lines stand in its place, or a patch cannot say it. `mcpdiff show` shows it.",
        names(hunks)
    )
}

/// What stands above the text that hunks come to which are decided as one.
pub fn together(hunks: &[HunkRef]) -> String {
    format!("Together with {} it comes to:", names(hunks))
}

fn names(hunks: &[HunkRef]) -> String {
    hunks.iter().map(|hunk| inert(&hunk.short())).collect::<Vec<_>>().join(", ")
}

/// What the hunk of a file does.
pub fn file_hunk(change: &FileChange) -> &'static str {
    match change {
        FileChange { exists: Some((_, true)), .. } => "makes the file",
        FileChange { exists: Some((_, false)), .. } => "removes the file",
        FileChange { name: Some(_), .. } => "renames the file",
        FileChange { .. } => "changes the file's mode",
    }
}

/// So many ids stand in a line.
pub const MOST_IDS: usize = 4;

pub fn cleaned(gone: usize, freed: u64, done: bool, by_size: bool) -> String {
    match gone {
        0 if by_size => "Nothing is forgotten.".to_owned(),
        0 => "Nothing can be forgotten. Decided edits go once they are old enough: see --older-than."
            .to_owned(),
        _ if done => format!("Forgot {}; {} are free again.", count(gone, "edit"), bytes(freed)),
        _ => format!(
            "Would forget {} and free {}. Without --dry-run it is done.",
            count(gone, "edit"),
            bytes(freed)
        ),
    }
}

/// How large the history is after a cleanup that was to make it small.
pub fn size_left(size: u64, most: u64, done: bool) -> String {
    let has = if done { "has" } else { "would have" };
    let (left, asked) = (bytes(size), bytes(most));
    match size <= most {
        true => format!("The history {has} {left}, which is within {asked}."),
        false => format!(
            "The history {has} {left}, still more than {asked}: nothing else can go, for the reasons above."
        ),
    }
}

/// `2 edits`.
pub fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A number of bytes for people.
pub fn bytes(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter();
    if bytes < 1024 {
        return count(usize::try_from(bytes).unwrap_or_default(), "byte");
    }
    let mut unit = "";
    while size >= 1024.0 {
        let Some(next) = units.next() else { break };
        (size, unit) = (size / 1024.0, next);
    }
    format!("{size:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use crate::diff::decider::Target;
    use hashline_workspace::document::Along;

    use super::*;
    use crate::diff::decider::Choice;
    use hashline_history::{DocumentName, FileId, Sequence, Status};

    #[test]
    fn sizes_are_for_people() {
        for (size, words) in
            [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (5 << 30, "5.0 GiB")]
        {
            assert_eq!(bytes(size), words);
        }
    }

    fn found(edit: &str) -> Found {
        Found {
            edit: edit.into(),
            conversation: "conv_1700000000000_9c1b0d7e".into(),
            file: FileId(Sequence(1)),
            document: DocumentName::Path("/p/a".into()),
            sequence: Sequence(1),
            status: Status::Pending,
        }
    }

    fn wish(target: Target) -> Wish {
        let edits = vec![found("aaaaaaaa-1"), found("bbbbbbbb-1")];
        let (choice, along) = (Choice::Accept, Along::Named);
        let then = Vec::new();
        Wish { choice, target, then, edits, conversation: None, reason: None, mine: None, along }
    }

    #[test]
    fn decisions_are_told_by_edit() {
        let hunks = ["aaaaaaaa-1:2", "cccccccc-1:3", "bbbbbbbb-1:1", "aaaaaaaa-1:1", "cccccccc-1:1"];
        let decided_hunks = hunks.map(|name| name.parse::<HunkRef>().unwrap()).to_vec();
        let answer = Answer { decided: decided_hunks, ..Answer::default() };
        assert_eq!(
            decided(Verb::Accept, &wish(Target::Whole("conv_1700000000000_9c1b0d7e".into())), &answer),
            "Accepted aaaaaaaa, hunks 1, 2.\nAccepted bbbbbbbb, hunk 1.\n\
             Accepted cccccccc, hunks 1, 3, which go with it.\n"
        );
        let one = Answer { waiting: Some("nvim".to_owned()), ..answer };
        let words = decided(Verb::Reject, &wish(Target::Hunk("aaaaaaaa-1:2".parse().unwrap())), &one);
        assert!(words.starts_with("Rejected aaaaaaaa, hunk 2. nvim has the file open"), "{words}");
        assert!(words.contains("\nRejected aaaaaaaa, hunk 1, which goes with it. nvim"), "{words}");
        assert_eq!(decided(Verb::Reject, &wish(Target::Whole("c".into())), &Answer::default()), "");
        assert_eq!(conversation(&"conv_1700000000000_9c1b0d7e".into()), "Conversation 9c1b0d7e:\n");
    }

    #[test]
    fn a_refusal_names_what_this_program_can_do() {
        let refused = |verb, refusal: &Refusal, folder| refused(verb, refusal, folder, |_| false);
        let folder = Path::new("/p");
        let refusal = |why, message: &str, others: &[&str]| Refusal {
            hunk: "aaaaaaaa-1:2".into(),
            why,
            message: message.into(),
            others: others.iter().map(|name| name.parse().unwrap()).collect(),
            document: Some(DocumentName::Path("/p/src/a.rs".into())),
        };
        let edited = refusal(
            Why::Edited,
            "You changed lines inside this edit. Choose “Undo it, my changes too” or …",
            &[],
        );
        let words = refused(Verb::Reject, &edited, folder);
        assert!(
            words.starts_with(
                "aaaaaaaa:2 in src/a.rs was not rejected. You changed lines inside this edit. Give --keep"
            ),
            "{words}"
        );
        let conflicted = refusal(Why::Conflicted, "You changed a line. Choose “Keep mine”.", &[]);
        assert!(refused(Verb::Accept, &conflicted, folder).contains("mcpdiff reject aaaaaaaa:2."));
        let needs = refusal(Why::NeedsOthers, "It builds on bbbbbbbb:1.", &["bbbbbbbb-1:1"]);
        assert!(
            refused(Verb::Accept, &needs, folder).ends_with("To decide about it as well, add --with-others.")
        );
        // Of lines whose place is lost there is nothing to force.
        let lost = refusal(Why::Lost, "Its place is lost. Take its lines out by hand, and …", &[]);
        let words = refused(Verb::Reject, &lost, folder);
        assert!(words.contains("mcpdiff reject aaaaaaaa:2 --keep") && !words.contains("--force"), "{words}");
        let removed = refusal(Why::Removed, "/p/src/a.rs was removed.\nPut it back, or else.", &[]);
        let words = refused(Verb::Reject, &removed, folder);
        assert!(words.contains("--force") && !words.contains("--keep"), "{words}");
        // What the same command decides about is no way out.
        let taken = refusal(Why::Collides, "src/a.rs is another file now.", &["bbbbbbbb-1:1"]);
        let offer = "To reject that one: `mcpdiff reject bbbbbbbb:1`.";
        assert!(refused(Verb::Accept, &taken, folder).ends_with(offer));
        assert!(!super::refused(Verb::Accept, &taken, folder, |_| true).contains(offer));
        let hostile = refusal(Why::Gone, "\x1b[31m", &[]);
        assert!(!refused(Verb::Accept, &hostile, folder).contains('\x1b'));
    }
}
