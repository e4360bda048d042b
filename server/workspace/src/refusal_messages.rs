//! Why a call is refused, in the words that agents read: what happened, that nothing was changed, and what to do next. A document says why it
//! takes no edit ([`Refused`]) and knows nothing of the disk; the words for that are here as well.

use std::fmt::Write as _;

use hashline_anchor::{
    CONTEXT, MAX_SHOWN_CHARS, OperationError, explain, explain_form, explain_numbered, explain_rewrite,
    write_regions,
};
use hashline_history::{ConversationId, StoreError};
use hashline_text::{FileHash, HashError, TextError};
use hashline_weave::{Touched, WeaveError};

use crate::auto_run_files::Obeyed;
use crate::disk::{DiskError, PathRefusal};
use crate::document::{Refused, Served, Unit};
use crate::grants::Access;

/// Why a call is refused. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The path leads nowhere that is served.
    #[error("{0}")]
    Path(#[from] PathRefusal),
    /// The caller was not given that.
    #[error(
        "Nothing was done: the token of this agent does not let it {access} {path}. Go on without it, or ask the person for a token with \
         a scope that holds it (hashline token --scope {access}:PATH)."
    )]
    NotGiven {
        /// What it would take.
        access: Access,
        /// The path, as the agent gave it or was told it.
        path: String,
    },
    /// The disk refuses.
    #[error("{0}")]
    Disk(#[from] DiskError),
    /// The document takes no such edit.
    #[error("{}", not_taken(.0))]
    Edit(Refused),
    /// The file cannot be read as text.
    #[error(
        "{path} cannot be read as text: {error}. These tools work on UTF-8; use a command-line tool for other files."
    )]
    NotText {
        /// The path.
        path: String,
        /// What is wrong.
        error: TextError,
    },
    /// The hash does not parse.
    #[error("file_hash: {0}. Give the file_hash of your last read or edit of this file.")]
    BadHash(#[from] HashError),
    /// Operations do not parse.
    #[error("{}", explain_form(.0))]
    BadOperations(Vec<OperationError>),
    /// There are no operations.
    #[error(
        "The edit was refused and nothing was changed: operations is empty. Give at least one operation."
    )]
    NoOperations,
    /// A file to be removed is not the one that the hash names.
    #[error(
        "{path} was left as it is: it is not what the given hash names, so it has changed since. Read it again, and decide anew \
         whether to remove it. Its hash is {} now.",
        now.to_hex()
    )]
    OtherVersion {
        /// The file.
        path: String,
        /// The hash of what it holds.
        now: FileHash,
    },
    /// A file of bytes and another one cannot have one name while what became of both can be changed.
    #[error(
        "{path} was not made: another file of that name was made or removed before, the person can have it back, and one of the two is \
         no text. Choose another name."
    )]
    NameInUse {
        /// The file.
        path: String,
    },
    /// The file of a document that no editor has open lies in no folder that is served.
    #[error(
        "{uri} is not open and lies outside the folders that are served: nothing was changed. Open it, then decide."
    )]
    NoFolder {
        /// The document.
        uri: String,
    },
    /// Another editor has the file open by now, or has claimed its edits.
    #[error(
        "Another editor has just opened {path}, so nothing was changed here. Try again: the call goes to that editor then."
    )]
    TakenOver {
        /// The file.
        path: String,
    },
    /// An editor that does not answer may have the file open.
    #[error(
        "{path} may be open in {editor}, which does not answer, so nothing was changed. Try again; if it stays so, that editor has to \
         be restarted."
    )]
    NoAnswer {
        /// The file.
        path: String,
        /// The editor.
        editor: String,
    },
    /// A document that has no file.
    #[error(
        "{uri} has no file yet, so there is none to make, remove or rename. The person has to save it first."
    )]
    NoFileYet {
        /// The document.
        uri: String,
    },
    /// A file that is only proposed.
    #[error(
        "{path} is not on the disk yet: its creation waits for the person. Try again when they have decided."
    )]
    NotMadeYet {
        /// The file.
        path: String,
    },
    /// A file whose removal or move waits already.
    #[error(
        "The removal or the move of {path} waits for the person already. Try again when they have decided."
    )]
    FileChangeHeld {
        /// The file.
        path: String,
    },
    /// A file that the person has unsaved work in.
    #[error(
        "{path} is open in the editor with unsaved changes, so it is neither removed nor renamed. Ask the person to save it, then try again."
    )]
    Unsaved {
        /// The file.
        path: String,
    },
    /// A file is to be moved to where it is.
    #[error("{path} is where the file is already, so there is nothing to move. Give another destination.")]
    SamePath {
        /// The path.
        path: String,
    },
    /// The history refuses.
    #[error("{0}")]
    History(StoreError),
    /// A file could not be changed, so that what was decided about several was not done.
    #[error("{why} Nothing was decided, and all files are as they were.")]
    NotSwitched {
        /// What stands against it.
        why: String,
    },
    /// What was decided about several files could not be finished, and not be undone either.
    #[error(
        "The decision is recorded, but not all files could be written: {why} The next command finishes it."
    )]
    Unfinished {
        /// What stands against it.
        why: String,
    },
    /// An edit is not there, or not the caller's.
    #[error(
        "No edit of this connection is called {0}. list_edits lists the edits that you can see, with their ids and whose they are."
    )]
    NoSuchEdit(String),
    /// The beginning of an id fits several edits.
    #[error(
        "More than one edit of yours begins with {0}. Give more of the id; list_edits shows the first eight digits of each."
    )]
    AmbiguousEdit(String),
    /// An edit is decided already.
    #[error(
        "Edit {edit} cannot be withdrawn: it is {status} already. To change the text, make another edit."
    )]
    Decided {
        /// The edit.
        edit: String,
        /// Its status.
        status: &'static str,
    },
    /// An edit that is in a file that something obeys.
    #[error(
        "Edit {edit} was not withdrawn and nothing was changed: it is in the file already, and {by}, so the person decides about it. To \
         change the text, make another edit: it is held for them."
    )]
    Obeyed {
        /// The edit.
        edit: String,
        /// Who obeys the file.
        by: Obeyed,
    },
    /// Something that should not happen did.
    #[error(
        "The call broke off inside hashline and changed nothing: {0}. Try again; if it happens again, tell the person."
    )]
    Broken(String),
    /// A range that is not in the file.
    #[error("{0}")]
    BadRange(String),
    /// What is to be searched for is no regular expression.
    #[error(
        "The pattern cannot be used: {0}\nIt is a regular expression that is looked for line by line. Put \\ before ( ) [ ] {{ }} . * + ? ^ $ | \
         and \\ to look for these characters themselves, and search again."
    )]
    BadPattern(String),
    /// The files to search are not named by a glob.
    #[error(
        "The glob {glob:?} cannot be used: {why}. Give one such as *.rs or src/**/*.{{ts,tsx}}, and search again."
    )]
    BadFileGlob {
        /// As it was given.
        glob: String,
        /// What is wrong.
        why: String,
    },
    /// A conversation id that could not name a file.
    #[error(
        "mcp_conversation_id {0:?} is not one of ours: 1 to 100 letters, digits, _, - and dots. Leave it out to open a \
         new conversation."
    )]
    BadConversation(String),
    /// A conversation that another connection has opened.
    #[error(
        "Nothing was changed: the mcp_conversation_id {0} belongs to another agent, or to a connection of yours that has ended. Leave it \
         out to open a new conversation."
    )]
    OthersConversation(ConversationId),
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::Edit(refused)
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Owned { document, .. } => Self::TakenOver { path: document.to_string() },
            StoreError::OthersConversation { id } => Self::OthersConversation(id),
            error => Self::History(error),
        }
    }
}

/// Why a document takes no edit, in words.
fn not_taken(refused: &Refused) -> String {
    match refused {
        Refused::Anchors { failures, now } => explain(failures, now.text()) + &hash_now(now),
        Refused::Rewrite { failures, now } => explain_rewrite(failures, now.text()) + &hash_now(now),
        Refused::Numbered { failure, now } => explain_numbered(failure, now.text()),
        Refused::NotInOldText { now } => format!(
            "The edit was refused and nothing was changed: the text to change is not in the version of that \
             file_hash, but it is in the current text. If you mean the current text, send the edit again with the current hash. {}",
            hash_now(now)
        ),
        Refused::AddsMark => {
            "The edit was refused and nothing was changed: content begins with a byte-order mark (U+FEFF) and the file \
             does not. A mark is no change of lines that a person could review, so these tools add none. Send the content \
             without it."
                .to_owned()
        }
        Refused::UnknownHash { given, live, now } => unknown_hash(given, *live, now),
        Refused::ChangedOnDisk { now } => format!(
            "The edit was refused and nothing was changed: the file has changed since you read it, and no editor has it \
             open that could tell what changed. {}",
            hash_now(now)
        ),
        Refused::AmbiguousHash { given } => format!(
            "The edit was refused and nothing was changed: file_hash {given} fits more than one version of this file. \
             Give more of its digits."
        ),
        Refused::Stale { now, unit, touched } => stale(*unit, touched, now),
        Refused::OutOfStep { uri, reason } => format!(
            "{uri} is not served at the moment: its editor and hashline have lost step ({reason}). Ask the person to close \
             and open it again."
        ),
        Refused::Unanswered { uri } => format!(
            "The editor has not said yet whether its last change of {uri} is an edit that was sent to it. Nothing was changed. Try again \
             in a moment."
        ),
        Refused::CannotWeave(error) => {
            format!("The edit was refused and nothing was changed: {}", cannot_weave(error))
        }
        Refused::NothingToDo { now, .. } => nothing_to_do(now),
    }
}

/// How to go on with the text as it is now.
fn hash_now(now: &Served) -> String {
    now.hash.map_or_else(String::new, |hash| format!("The file_hash is {} now.\n", hash.short()))
}

/// That there is nothing to mend, and nothing to try again.
fn nothing_to_do(now: &Served) -> String {
    let waiting = match now.held {
        0 => "",
        _ => ", with the edits in it that are held for the person",
    };
    format!(
        "The text reads so already{waiting}, so nothing was changed and no edit was made. There is nothing to repeat: go on from here."
    )
}

/// Why the text cannot take a change, and the way out.
fn cannot_weave(error: &WeaveError) -> String {
    match error {
        WeaveError::EndingsWouldJoin => {
            "a line that ends in a lone carriage return would come to stand before an empty line, and the two would be \
             read as one. Replace both lines together, or leave the empty one out."
                .to_owned()
        }
        WeaveError::ContentHoldsEnding { .. } => {
            "a line of the content holds a line break. Give each line by itself.".to_owned()
        }
        WeaveError::BadChange { .. } => {
            "two of its operations meet. Make one operation of the two.".to_owned()
        }
        WeaveError::NoBase
        | WeaveError::Needs { .. }
        | WeaveError::Collides { .. }
        | WeaveError::Lost { .. }
        | WeaveError::BadDelta(_) => {
            "another edit changes the same place. Read the file again and edit what is there.".to_owned()
        }
    }
}

fn unknown_hash(given: &str, live: bool, now: &Served) -> String {
    format!(
        "The edit was refused and nothing was changed: file_hash {given} does not match any version of this {} that was read here. \
         Send the edit again for the text as it is now, with its hash; the file has {}. {}",
        if live { "open document" } else { "file" },
        match now.text().line_count() {
            1 => "1 line".to_owned(),
            count => format!("{count} lines"),
        },
        hash_now(now),
    )
}

fn stale(unit: Unit, touched: &[(usize, Touched)], now: &Served) -> String {
    let mut out = String::from("The edit was refused and nothing was changed.\n");
    if touched.is_empty() {
        out.push_str(match unit {
            Unit::Whole => {
                "The text has changed since the version that you wrote this for, and writing all of it would undo those changes. Merge \
                 them into your content, then send it with the hash of the current text. "
            }
            _ => "The file has changed since you read it, and strict was asked for. ",
        });
        out.push_str(&hash_now(now));
        return out;
    }
    let name = match unit {
        Unit::Operation | Unit::Whole => "operation",
        Unit::Edit => "edit",
        Unit::Hunk => "hunk",
    };
    for (part, line) in touched {
        let part = part + 1;
        // Writing to a string cannot fail.
        let _ = match line.now {
            Some(at) => writeln!(
                out,
                "- {name} {part}: line {} of what you read has been changed since; it is line {} now.",
                line.line + 1,
                at + 1
            ),
            None => {
                writeln!(out, "- {name} {part}: line {} of what you read is no longer there.", line.line + 1)
            }
        };
    }
    out.push_str(&hash_now(now));
    out.push_str(match unit {
        Unit::Operation | Unit::Whole => {
            "Send the edit again with that hash and the anchors of the lines as they are now:\n"
        }
        Unit::Edit | Unit::Hunk => "Send it again with that hash and by the lines as they are now:\n",
    });
    let text = now.text();
    let last = text.line_count().saturating_sub(1);
    let places: Vec<_> = touched
        .iter()
        .map(|(_, line)| line.now.unwrap_or(line.line.min(last)))
        .map(|line| line..line + 1)
        .collect();
    write_regions(&mut out, text, &places, CONTEXT, MAX_SHOWN_CHARS);
    out
}
