//! What can be asked of `mcpdiff`, and its help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hashline_history::{Operation, Status as EditStatus};

use crate::duration::duration;

const AFTER_HELP: &str = "\
An edit is what one tool call of an agent did to one file. It has an id, which
you can shorten as long as it stays unique, and hunks, numbered from 1: EDIT:2
is the second. A conversation is what an agent did in one turn. Name it by its
id, by the start of its id, or by its last eight digits, which status shows.

Examples:
  mcpdiff                       the newest edits
  mcpdiff st -f src/ --time 1h  what was edited in src/ in the last hour
  mcpdiff show 3f2a             the diff of an edit, with its hunks numbered
  mcpdiff accept 3f2a           keep it
  mcpdiff reject 3f2a:2         take its second hunk out again, now or later
  mcpdiff reject -c 9c1b0d7e    take out all that an agent did in one turn
  mcpdiff export -c 9c1b0d7e    the same as a patch for git apply
  mcpdiff review                go through everything that is undecided
  mcpdiff cleanup --dry-run     see what could be forgotten
  mcpdiff adopt                 see a history that came with a folder

A file that an editor has open is changed in that editor, with its unsaved work.
The history is the nearest .mcp/edit_history at or above the current folder.

Exit codes: 0 done, 1 not found or nothing to do, 2 wrong usage, 3 the file was
changed by something else, 4 something stands against the decision.";

/// List, show and decide about what agents edited.
#[derive(Debug, Parser)]
#[command(name = "mcpdiff", version, max_term_width = 100)]
pub struct Mcpdiff {
    #[command(flatten)]
    pub diff: Diff,
}

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct Diff {
    #[command(flatten)]
    pub place: Where,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Where to look.
#[derive(Debug, Default, Args)]
pub struct Where {
    /// The folder whose history is meant [default: the current one]; the nearest history above it counts
    #[arg(short, long, value_name = "DIR", global = true, display_order = 100)]
    pub workspace: Option<PathBuf>,
    /// Where editors and agents find each other [default: ~/.hashline]; the same on both sides
    #[arg(long, value_name = "DIR", global = true, display_order = 100)]
    pub state_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List edits, newest first
    #[command(visible_alias = "st")]
    Status(Status),
    /// Show edits with their diffs
    #[command(visible_aliases = ["sh", "s"])]
    Show(Show),
    /// Print edits as a patch that git apply takes
    Export(Export),
    /// Accept edits, or hunks of them
    #[command(visible_alias = "a")]
    Accept(Decide),
    /// Reject edits, or hunks of them; what is in the text is taken out
    #[command(visible_alias = "r")]
    Reject(Decide),
    /// Go through undecided edits, and ask about each
    #[command(visible_alias = "v")]
    Review(Review),
    /// Forget edits that were decided long ago
    #[command(visible_alias = "clean")]
    Cleanup(Cleanup),
    /// Take over a history that is not yours, or set it aside
    Adopt(Adopt),
}

const STATUS_HELP: &str = "\
Examples:
  mcpdiff status                            the newest 50 edits
  mcpdiff status --status pending           those that are undecided
  mcpdiff status -f src/main.rs --time 2d   what was done to a file of late
  mcpdiff status --op move,delete -n 0      every move and delete
  mcpdiff status --json | jq '.edits[].edit_id'

Exit codes: 0 there are such edits, 1 there are none, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = STATUS_HELP)]
pub struct Status {
    /// Those of one conversation
    #[arg(short, long = "conv", value_name = "ID")]
    pub conversation: Option<String>,
    /// Those of files with this in their path
    #[arg(short, long, value_name = "TEXT")]
    pub file: Option<OsString>,
    /// Those that are pending, accepted or rejected; several with a comma
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub status: Vec<StatusName>,
    /// Those that do this to their file: create, replace, edit, delete, move; several with a comma
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub op: Vec<OperationName>,
    /// So many at most; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Those of the last 30s, 5m, 1h or 2d
    #[arg(long, value_name = "AGE", value_parser = duration)]
    pub time: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            conversation: None,
            file: None,
            status: Vec::new(),
            op: Vec::new(),
            limit: 50,
            time: None,
            json: false,
        }
    }
}

/// Which edits, hunks and conversations.
#[derive(Debug, Default, Args)]
pub struct Names {
    /// An edit, EDIT:2 for one of its hunks, or a conversation; a beginning of the id will do
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// An edit, or a hunk of one; may be given several times
    #[arg(short, long = "edit-id", value_name = "ID")]
    pub edit: Vec<String>,
    /// A conversation; may be given several times
    #[arg(short, long = "conv", value_name = "ID")]
    pub conversation: Vec<String>,
}

impl Names {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.edit.is_empty() && self.conversation.is_empty()
    }
}

const SHOW_HELP: &str = "\
Examples:
  mcpdiff show 3f2a                an edit; each @@ says which hunk it is
  mcpdiff show 3f2a:2              one hunk
  mcpdiff show 9c1b0d7e            all edits of a conversation, in order
  mcpdiff show -c 9c1b0d7e --stat  which files it changes, and how much
  mcpdiff show --raw 3f2a > it     the lines byte for byte

Characters that would move a cursor, change colours or turn text around are
escaped, even in a pipe, since its output may reach a terminal. To get a patch
for git apply, use `mcpdiff export`.

Exit codes: 0 done, 1 not found, 2 wrong usage, or the id fits more than one.";

#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub struct Show {
    #[command(flatten)]
    pub names: Names,
    /// Only say which files are changed, and how much
    #[arg(long)]
    pub stat: bool,
    /// Print the lines as they are, whatever a terminal makes of them
    #[arg(long, conflicts_with = "stat")]
    pub raw: bool,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["stat", "raw"])]
    pub json: bool,
}

const EXPORT_HELP: &str = "\
Examples:
  mcpdiff export -c 9c1b0d7e > turn.patch   what an agent did in one turn
  git apply turn.patch                      the same, somewhere else
  git apply -R turn.patch                   take it back
  mcpdiff export --proposed -c 9c1b0d7e     also what is held or rejected
  mcpdiff export --rejected 3f2a            an edit that was rejected

Paths in the patch are relative to the folder of the history: apply it there. It
changes only what you name. Edits built on that are in neither side, edits that
it builds on are in both sides; both are listed on standard error. Lines that
you typed after the last recorded edit of a file are not in it.

Exit codes: 0 done, 1 not found or nothing to write, 2 wrong usage, 4 a part
could not be put into the patch; the rest is printed, and the part is named.";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub struct Export {
    #[command(flatten)]
    pub names: Names,
    /// All of it, whatever was decided, and not only what is in the files now
    #[arg(long, conflicts_with = "rejected")]
    pub proposed: bool,
    /// What was rejected, as a change of the files as they are now
    #[arg(long)]
    pub rejected: bool,
}

const DECIDE_HELP: &str = "\
Examples:
  mcpdiff accept 3f2a                         an edit: all of its hunks
  mcpdiff accept 3f2a:1 3f2a:3                two of them
  mcpdiff reject 3f2a --reason \"wrong file\"   the agent is told why
  mcpdiff reject -c 9c1b0d7e                  all that an agent did in one turn
  mcpdiff reject 3f2a --keep                  but leave my own lines in it

A decision can be changed at any time: accept what was rejected, or the other
way round, a whole conversation too. Edits of the same turn that build on each
other are decided together; every hunk that was decided is named.

Two kinds of changes block a decision until you choose --keep or --force:
- You changed lines of the edit itself, in the editor (exit code 4).
  --keep    keeps your lines; the rest of the edit goes in or out
  --force   discards your lines; the file is saved in the history first
- Something else changed the file, anywhere in it, since its last edit was
  recorded (exit code 3); the difference is shown.
  --keep    keeps that change, if the place of the edit is still certain
  --force   discards all of that change, even where it has nothing to do with
            the edit: the file becomes as recorded, plus your decision. A copy
            of the whole file is saved first. If the file already shows the
            decision, nothing is discarded. A removed file is written again.
If the place of a rejected edit is no longer certain, --keep leaves the file as
it is and records the rejection: take the edit's lines out by hand.
Saved copies stay in .mcp/edit_history/discarded until you remove them.

Exit codes: 0 done, 1 not found or nothing to do, 2 wrong usage, 3 the file was
changed by something else, 4 something stands against the decision. If there are
several reasons, the last of these that applies.";

#[derive(Debug, Args)]
#[command(after_help = DECIDE_HELP)]
pub struct Decide {
    #[command(flatten)]
    pub names: Names,
    /// Why, for the agent
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// Keep other changes in the edit or in its file
    #[arg(long, conflicts_with = "force")]
    pub keep: bool,
    /// Discard other changes in the edit or anywhere in its file; a copy is saved first
    #[arg(long)]
    pub force: bool,
    /// Decide in the same way about other edits that this one cannot do without
    #[arg(long)]
    pub with_others: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const REVIEW_HELP: &str = "\
Shows each undecided edit, the oldest first, and asks what becomes of it:
accept, reject (and why, if you like), go through its hunks, view it in a pager
(PAGER, else less), skip, or quit. What was decided stays decided when you quit.
What goes along with a decision is named, and not asked about again.

Examples:
  mcpdiff review                   everything that is undecided
  mcpdiff review -c 9c1b0d7e       what an agent did in one turn

It asks, so it needs a terminal; scripts use accept and reject.
Exit codes: 0 done, 1 nothing is undecided, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = REVIEW_HELP)]
pub struct Review {
    /// Only this conversation
    #[arg(short, long = "conv", value_name = "ID")]
    pub conversation: Option<String>,
}

const CLEANUP_HELP: &str = "\
It removes edits for good: their diffs are lost, and you cannot change their
decisions any more. Files stay as they are. Edits of a file are removed oldest
first, up to the first one that is undecided or too recent.

With --keep-size the oldest conversations are removed first, until the history
is small enough. Recent ones are removed too, unless you give --older-than.

Examples:
  mcpdiff cleanup --dry-run         what would go, and what keeps the rest
  mcpdiff cleanup                   forget what was decided 30 days ago or more
  mcpdiff cleanup --older-than 0s   forget all that is decided
  mcpdiff cleanup --keep-size 50M   forget no more than makes it 50 MiB small

Exit codes: 0 something was or would be forgotten, 1 nothing, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = CLEANUP_HELP)]
pub struct Cleanup {
    /// Leave alone what was decided later than this
    #[arg(long, value_name = "AGE", value_parser = duration, default_value = "30d",
          default_value_if("keep_size", clap::builder::ArgPredicate::IsPresent, "0s"))]
    pub older_than: Duration,
    /// Only forget the oldest, until the history has this size at most: bytes, or 500K, 50M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub keep_size: Option<u64>,
    /// Only say what would go
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const ADOPT_HELP: &str = "\
A history is yours if your own hashline wrote it on this machine: each line is
signed with a key in the state folder. A history that came with a folder, or
from another user or machine, is foreign. Agents read the files without it,
nothing is recorded or decided in it, and only this command shows it.

Your own folder stays yours wherever you move or copy it on this machine. Take
secrets/history in the state folder along to a new machine, or adopt there what
you know to be yours.

Examples:
  mcpdiff adopt                see what is in it, and say whether you trust it
  mcpdiff adopt --yes          the same without a question, for scripts
  mcpdiff adopt --set-aside    keep it beside, in .mcp, and begin a new one

An adopted history counts as your own: agents read its undecided edits as part
of the files, until you decide about them.

Exit codes: 0 done, 1 nothing to adopt, or you said no, 2 wrong usage.";

#[derive(Debug, Args)]
#[command(after_help = ADOPT_HELP)]
pub struct Adopt {
    /// Do not ask
    #[arg(long, conflicts_with = "set_aside")]
    pub yes: bool,
    /// Do not take it over: give it another name in .mcp, so that a new one can begin
    #[arg(long)]
    pub set_aside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatusName {
    Pending,
    Accepted,
    Rejected,
}

impl From<StatusName> for EditStatus {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::Pending => Self::Pending,
            StatusName::Accepted => Self::Accepted,
            StatusName::Rejected => Self::Rejected,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OperationName {
    Create,
    Replace,
    Edit,
    Delete,
    Move,
}

impl From<OperationName> for Operation {
    fn from(name: OperationName) -> Self {
        match name {
            OperationName::Create => Self::Create,
            OperationName::Replace => Self::Replace,
            OperationName::Edit => Self::Edit,
            OperationName::Delete => Self::Delete,
            OperationName::Move => Self::Move,
        }
    }
}

/// A number of bytes as people write it.
fn size(text: &str) -> Result<u64, String> {
    let unit = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let power = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => Some(0),
        "k" | "kb" | "kib" => Some(1),
        "m" | "mb" | "mib" => Some(2),
        "g" | "gb" | "gib" => Some(3),
        _ => None,
    };
    let bytes = number
        .parse::<u64>()
        .ok()
        .zip(power)
        .and_then(|(number, power)| number.checked_mul(1024_u64.pow(power)));
    bytes.ok_or_else(|| "give a number of bytes, or one with a unit, such as 500K, 50M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Diff, clap::Error> {
        Mcpdiff::try_parse_from(std::iter::once("mcpdiff").chain(line.split_whitespace())).map(|all| all.diff)
    }

    #[test]
    fn every_command_has_its_short_names() {
        for (line, wanted) in [
            ("status", "Status"),
            ("st", "Status"),
            ("show a", "Show"),
            ("sh a", "Show"),
            ("s a", "Show"),
            ("export a", "Export"),
            ("accept a", "Accept"),
            ("a a", "Accept"),
            ("reject a", "Reject"),
            ("r a", "Reject"),
            ("review", "Review"),
            ("v", "Review"),
            ("cleanup", "Cleanup"),
            ("clean", "Cleanup"),
            ("adopt --yes", "Adopt"),
        ] {
            let command = format!("{:?}", parsed(line).unwrap().command.unwrap());
            assert!(command.starts_with(wanted), "{line}: {command}");
        }
        assert!(parsed("").unwrap().command.is_none());
    }

    #[test]
    fn the_help_fits_eighty_columns() {
        for text in [AFTER_HELP, STATUS_HELP, SHOW_HELP, EXPORT_HELP, DECIDE_HELP, REVIEW_HELP, CLEANUP_HELP]
        {
            assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        }
    }

    #[test]
    fn options_may_stand_anywhere() {
        let diff = parsed("-w /p reject 3f2a:2 -e 9c -c conv --reason no --keep").unwrap();
        assert_eq!(diff.place.workspace, Some(PathBuf::from("/p")));
        let Some(Command::Reject(reject)) = diff.command else { panic!("{:?}", diff.command) };
        assert_eq!(
            (reject.names.ids, reject.names.edit, reject.names.conversation),
            (vec!["3f2a:2".to_owned()], vec!["9c".to_owned()], vec!["conv".to_owned()])
        );
        assert!(reject.keep && !reject.force && reject.reason.as_deref() == Some("no"));
        let diff = parsed("status --json --op move,delete --status pending -n 3 --time 2d -w /q").unwrap();
        assert_eq!(diff.place.workspace, Some(PathBuf::from("/q")));
        let Some(Command::Status(status)) = diff.command else { panic!("{:?}", diff.command) };
        assert_eq!(status.op, [OperationName::Move, OperationName::Delete]);
        assert_eq!((status.limit, status.time), (3, Some(Duration::from_secs(2 * 24 * 3600))));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "accept a --keep --force",
            "status --time soon",
            "status --status undecided",
            "status --op rename",
            "cleanup --older-than 30",
            "cleanup --keep-size much",
            "cleanup --keep-size -1",
            "status -n -1",
            "stat",
        ] {
            assert_eq!(parsed(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("1023", 1023),
            ("500K", 500 << 10),
            ("50m", 50 << 20),
            ("50 MiB", 50 << 20),
            ("2GB", 2 << 30),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1.5G", "1T", "99999999999G", "5 apples"] {
            assert!(size(text).unwrap_err().contains("500K, 50M or 2G"), "{text}");
        }
    }

    #[test]
    fn a_size_forgets_what_is_young_too_unless_an_age_is_given() {
        for (line, older_than, keep_size) in [
            ("cleanup", 30 * 24 * 3600, None),
            ("cleanup --keep-size 1K", 0, Some(1024)),
            ("cleanup --keep-size 1K --older-than 1h", 3600, Some(1024)),
        ] {
            let Some(Command::Cleanup(cleanup)) = parsed(line).unwrap().command else { panic!("{line}") };
            assert_eq!(
                (cleanup.older_than, cleanup.keep_size),
                (Duration::from_secs(older_than), keep_size),
                "{line}"
            );
        }
    }
}
