//! What a hook does, by where the document is and what is done with it.
//!
//! | document | read | write |
//! | --- | --- | --- |
//! | not open in any editor | nothing | recorded when it is made |
//! | open | the live text | held in the editor |
//! | open with different unsaved text in several editors | nothing | refused |

use crate::hooks::built_in::BuiltIn;
use crate::router::Openness;

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The program does what it would do.
    NoOpinion,
    /// The agent reads the text of this editor.
    LiveText(String),
    /// The write is held in this editor.
    Hold(String),
    /// The write is refused in these words.
    Refuse(String),
}

pub(super) fn verdict(openness: Openness, tool: &BuiltIn) -> Verdict {
    match (openness, tool) {
        (Openness::Closed, _) | (Openness::Unclear(_), BuiltIn::Read { .. }) => Verdict::NoOpinion,
        (Openness::Open { editor }, BuiltIn::Read { .. }) => Verdict::LiveText(editor),
        (Openness::Unclear(words), BuiltIn::Edit { .. } | BuiltIn::Write { .. } | BuiltIn::Patch { .. }) => {
            Verdict::Refuse(words)
        }
        (Openness::Open { editor }, BuiltIn::Edit { .. } | BuiltIn::Write { .. } | BuiltIn::Patch { .. }) => {
            Verdict::Hold(editor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_and_each_use_has_its_verdict() {
        let path = String::from("/p/a");
        let read = BuiltIn::Read { path: path.clone(), first: None, count: None };
        let edit = BuiltIn::Edit { path: path.clone(), old: "a".into(), new: "b".into(), all: false };
        let write = BuiltIn::Write { path: path.clone(), content: "b".into() };
        let patch = BuiltIn::Patch { path, hunks: Vec::new() };
        let open = Openness::Open { editor: "Neovim".into() };
        let unclear = Openness::Unclear("save it".into());
        let refused = Verdict::Refuse("save it".into());
        let none = Verdict::NoOpinion;
        for (tool, closed, when_open, when_unclear) in [
            (&read, none.clone(), Verdict::LiveText("Neovim".into()), none.clone()),
            (&edit, none.clone(), Verdict::Hold("Neovim".into()), refused.clone()),
            (&write, none.clone(), Verdict::Hold("Neovim".into()), refused.clone()),
            (&patch, none, Verdict::Hold("Neovim".into()), refused),
        ] {
            assert_eq!(verdict(Openness::Closed, tool), closed, "{tool:?}");
            assert_eq!(verdict(open.clone(), tool), when_open, "{tool:?}");
            assert_eq!(verdict(unclear.clone(), tool), when_unclear, "{tool:?}");
        }
    }
}
