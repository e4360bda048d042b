//! From what a person types to the edit, hunk or conversation that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hashline_history::{ConversationId, EditId, FileId, Found, HunkRef, Status, Store};
use hashline_terminal::{Failure, inert};

use super::arguments::Names;
use super::messages;

/// All edits of a history, in the order of record.
#[derive(Debug)]
pub struct Book {
    edits: Vec<Found>,
    folder: PathBuf,
}

/// What a person has named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Edit(Found),
    /// A hunk, by its number; whether the edit has it is not known yet.
    Hunk(Found, u32),
    Conversation(ConversationId, Vec<Found>),
}

/// Why a name names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    Nothing,
    Edits(Vec<Found>),
    Conversations(Vec<(ConversationId, usize)>),
    /// What stands behind the colon is no number of a hunk.
    BadHunk,
}

/// What a name may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Any,
    Edit,
    Conversation,
}

impl Book {
    /// Reads what there is.
    pub fn open(store: &Store) -> Result<Self, Failure> {
        let edits = store.find("").map_err(Failure::broken)?;
        Ok(Self { edits, folder: store.folder().to_path_buf() })
    }

    #[cfg(test)]
    pub fn of(edits: Vec<Found>) -> Self {
        Self { edits, folder: PathBuf::from("/p") }
    }

    /// Those that are undecided, in the order of record.
    pub fn pending(&self) -> Vec<&Found> {
        self.edits.iter().filter(|edit| edit.status == Status::Pending).collect()
    }

    /// The file that an edit is about.
    pub fn file_of(&self, edit: &EditId) -> Option<FileId> {
        self.edits.iter().find(|found| found.edit == *edit).map(|found| found.file)
    }

    /// The same edits as they are here, in the order of record.
    pub fn again(&self, edits: &[Found]) -> Vec<Found> {
        let ids: BTreeSet<&EditId> = edits.iter().map(|edit| &edit.edit).collect();
        self.edits.iter().filter(|edit| ids.contains(&edit.edit)).cloned().collect()
    }

    /// What to say to somebody who names nothing.
    pub fn name_something(&self, verb: &str) -> Failure {
        Failure::usage(messages::name_something(verb, &self.pending(), &self.folder))
    }

    /// All that a person has named, in order and each once.
    pub fn all(&self, names: &Names) -> Result<Vec<Named>, Failure> {
        let any = names.ids.iter().map(|name| (Kind::Any, name));
        let edits = names.edit.iter().map(|name| (Kind::Edit, name));
        let conversations = names.conversation.iter().map(|name| (Kind::Conversation, name));
        let mut all = Vec::new();
        for (kind, name) in any.chain(edits).chain(conversations) {
            let named = self.named(kind, name)?;
            if !all.contains(&named) {
                all.push(named);
            }
        }
        Ok(all)
    }

    /// What a name names; a failure has words for the person.
    pub fn named(&self, kind: Kind, name: &str) -> Result<Named, Failure> {
        self.resolve(kind, name).map_err(|why| why.in_words(kind, name, self.edits.len(), &self.folder))
    }

    fn resolve(&self, kind: Kind, name: &str) -> Result<Named, Unresolved> {
        // As tables show what has no room.
        let name = name.trim().trim_matches('…');
        if name.is_empty() {
            return Err(Unresolved::Nothing);
        }
        if kind == Kind::Conversation {
            return self.conversation(name);
        }
        if let Some((edit, number)) = name.rsplit_once(':') {
            let number = number.parse().ok().filter(|number| *number > 0).ok_or(Unresolved::BadHunk)?;
            return self.edit(edit).map(|found| Named::Hunk(found, number));
        }
        match self.edit(name) {
            Err(Unresolved::Nothing) if kind == Kind::Any && self.may_be_conversation(name) => {
                self.conversation(name)
            }
            edit => edit.map(Named::Edit),
        }
    }

    fn edit(&self, name: &str) -> Result<Found, Unresolved> {
        let begins = |edit: &&Found| !name.is_empty() && edit.edit.as_str().starts_with(name);
        let edits: Vec<&Found> = self.edits.iter().filter(begins).collect();
        let exact = edits.iter().find(|edit| edit.edit.as_str() == name);
        match (exact, edits.as_slice()) {
            (Some(edit), _) | (None, [edit]) => Ok((*edit).clone()),
            (None, []) => Err(Unresolved::Nothing),
            (None, several) => Err(Unresolved::Edits(several.iter().copied().cloned().collect())),
        }
    }

    /// Part of an id that is as short was meant for an edit: a whole conversation is not decided about by a slip.
    fn may_be_conversation(&self, name: &str) -> bool {
        is_long(name) || self.edits.iter().any(|edit| edit.conversation.as_str() == name)
    }

    fn conversation(&self, name: &str) -> Result<Named, Unresolved> {
        let mut all: BTreeMap<ConversationId, usize> = BTreeMap::new();
        for edit in self.edits.iter().filter(|edit| may_name(name, edit.conversation.as_str())) {
            *all.entry(edit.conversation.clone()).or_default() += 1;
        }
        let id = conversation_of(name, &all)?;
        let edits = self.edits.iter().filter(|edit| edit.conversation == id).cloned().collect();
        Ok(Named::Conversation(id, edits))
    }
}

/// A part of a conversation's id names it from so many digits on where an edit may be meant, and its end always: less is soon a slip.
const LEAST: usize = 4;

fn is_long(name: &str) -> bool {
    name.chars().count() >= LEAST
}

/// Whether a name could mean the conversation with this id.
pub fn may_name(name: &str, id: &str) -> bool {
    !name.is_empty() && (id.starts_with(name) || is_end(name, id))
}

fn is_end(name: &str, id: &str) -> bool {
    is_long(name) && id.ends_with(name)
}

/// The conversation that a name means, of those with so many edits: by the whole id, else its beginning, else its end, as the ids that are
/// given out begin alike.
pub fn conversation_of(
    name: &str,
    all: &BTreeMap<ConversationId, usize>,
) -> Result<ConversationId, Unresolved> {
    let tests: [&dyn Fn(&str) -> bool; 3] =
        [&|id| id == name, &|id| id.starts_with(name), &|id| is_end(name, id)];
    for test in tests {
        let mut fits: Vec<_> = all.iter().filter(|(id, _)| test(id.as_str())).collect();
        match (fits.len(), fits.pop()) {
            (1, Some((id, _))) => return Ok(id.clone()),
            (0, _) | (_, None) => {}
            (_, Some(last)) => {
                fits.push(last);
                let several = fits.into_iter().map(|(id, edits)| (id.clone(), *edits));
                return Err(Unresolved::Conversations(several.collect()));
            }
        }
    }
    Err(Unresolved::Nothing)
}

impl Unresolved {
    /// The same for the person, in a history of so many edits.
    pub fn in_words(self, kind: Kind, name: &str, edits: usize, folder: &Path) -> Failure {
        match self {
            Unresolved::Nothing => Failure::broken(messages::names_nothing(kind, name, edits)),
            Unresolved::BadHunk => Failure::usage(messages::bad_hunk(name)),
            Unresolved::Edits(edits) => Failure::usage(messages::ambiguous_edit(name, &edits, folder)),
            Unresolved::Conversations(all) => Failure::usage(messages::ambiguous_conversation(name, &all)),
        }
    }
}

impl Named {
    /// What it is called in sentences.
    pub fn short(&self) -> String {
        match self {
            Named::Edit(found) => found.edit.short().to_owned(),
            Named::Hunk(found, number) => hunk(found, *number).short(),
            Named::Conversation(id, _) => short_conversation(id.as_str()),
        }
    }
}

/// The name of a hunk.
pub fn hunk(found: &Found, number: u32) -> HunkRef {
    HunkRef { edit: found.edit.clone(), number }
}

/// How many columns the short form of a conversation's id takes at most.
const CONVERSATION: usize = 12;

/// The short form of a conversation's id: of those that are given out the eight digits at the end, in which they differ.
pub fn short_conversation(id: &str) -> String {
    let end = id.strip_prefix("conv_").and_then(|rest| Some(rest.split_once('_')?.1));
    match end {
        Some(end) if end.len() == 8 => inert(end),
        _ if id.chars().count() <= CONVERSATION => inert(id),
        _ => inert(&id.chars().take(CONVERSATION - 1).collect::<String>()) + "…",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_history::{DocumentName, FileId, Sequence};

    fn book() -> Book {
        let edits = [
            ("3f2a0000-1", "conv_1700000000000_9c1b0d7e"),
            ("3f2b0000-1", "conv_1700000000000_9c1b0d7e"),
            ("3f2b0000-12", "conv_1700000000001_aaaaaaaa"),
            ("77000000-1", "mine"),
            ("88000000-1", "mine-too"),
            ("mine0000-1", "3f2c"),
        ];
        let found = |(at, (edit, conversation)): (usize, &(&str, &str))| Found {
            edit: (*edit).into(),
            conversation: (*conversation).into(),
            file: FileId(Sequence(1)),
            document: DocumentName::Path("/p/a.txt".into()),
            sequence: Sequence(at as u64 + 1),
            status: Status::Pending,
        };
        Book::of(edits.iter().enumerate().map(found).collect())
    }

    fn says(kind: Kind, name: &str) -> String {
        match book().resolve(kind, name) {
            Ok(Named::Edit(found)) => format!("edit {}", found.edit),
            Ok(Named::Hunk(found, number)) => format!("hunk {number} of {}", found.edit),
            Ok(Named::Conversation(id, edits)) => format!("{} of {id}", edits.len()),
            Err(Unresolved::Nothing) => "nothing".to_owned(),
            Err(Unresolved::BadHunk) => "no hunk".to_owned(),
            Err(Unresolved::Edits(edits)) => format!("{} edits", edits.len()),
            Err(Unresolved::Conversations(all)) => format!("{} conversations", all.len()),
        }
    }

    #[test]
    fn edits_come_before_conversations_and_whole_ids_before_beginnings() {
        for (name, expected) in [
            ("3f2a", "edit 3f2a0000-1"),
            ("3f2a0000-1", "edit 3f2a0000-1"),
            ("3f2b", "2 edits"),
            ("3f2b0000-1", "edit 3f2b0000-1"),
            ("3f2", "3 edits"),
            ("3f2c", "1 of 3f2c"),
            ("mine", "edit mine0000-1"),
            ("mine-", "1 of mine-too"),
            ("con", "nothing"),
            ("conv_1700000000000", "2 of conv_1700000000000_9c1b0d7e"),
            ("conv_", "2 conversations"),
            ("9c1b0d7e", "2 of conv_1700000000000_9c1b0d7e"),
            ("…9c1b0d7e", "2 of conv_1700000000000_9c1b0d7e"),
            ("0d7e", "2 of conv_1700000000000_9c1b0d7e"),
            ("…0d7e", "2 of conv_1700000000000_9c1b0d7e"),
            ("d7e", "nothing"),
            ("e", "nothing"),
            ("6", "nothing"),
            ("3f2a:2", "hunk 2 of 3f2a0000-1"),
            ("3f2b:2", "2 edits"),
            ("3f2a:0", "no hunk"),
            ("3f2a:x", "no hunk"),
            (":1", "nothing"),
            ("zz:1", "nothing"),
            ("zz", "nothing"),
            ("", "nothing"),
            (" ", "nothing"),
        ] {
            assert_eq!(says(Kind::Any, name), expected, "{name:?}");
        }
    }

    #[test]
    fn what_is_asked_for_by_its_kind_is_nothing_else() {
        for (kind, name, expected) in [
            (Kind::Edit, "9c1b0d7e", "nothing"),
            (Kind::Edit, "3f2a:2", "hunk 2 of 3f2a0000-1"),
            (Kind::Conversation, "3f2", "1 of 3f2c"),
            (Kind::Conversation, "mine", "1 of mine"),
            (Kind::Conversation, "min", "2 conversations"),
            (Kind::Conversation, "3f2a:2", "nothing"),
            (Kind::Conversation, "e", "nothing"),
            (Kind::Conversation, "0d7e", "2 of conv_1700000000000_9c1b0d7e"),
        ] {
            assert_eq!(says(kind, name), expected, "{name:?}");
        }
    }

    #[test]
    fn what_is_named_twice_counts_once() {
        let names = Names {
            ids: vec!["3f2a".into(), "9c1b0d7e".into()],
            edit: vec!["3f2a0".into()],
            conversation: vec!["9c1b0d7e".into()],
        };
        assert_eq!(book().all(&names).unwrap().len(), 2);
    }

    #[test]
    fn conversations_are_shown_by_what_tells_them_apart() {
        for (id, short) in [
            ("conv_1700000000000_9c1b0d7e", "9c1b0d7e"),
            ("mine", "mine"),
            ("a-long-name-of-a-turn", "a-long-name…"),
            ("conv_1_2", "conv_1_2"),
        ] {
            assert_eq!(short_conversation(id), short);
        }
    }
}
