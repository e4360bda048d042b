//! What is measured, a part a file.

mod calls;
mod edits;
mod frames;
mod growth;
mod held;
mod history;
mod hooks;
pub mod hostile;
mod keystroke;
mod memory;
mod peers;
mod review;
mod storm;
mod typing;

use anyhow::Result;
use clap::ValueEnum;

use crate::bench::Bench;
use crate::report::Report;

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// 100 lines of 100,000: on disk, at the socket, through the router.
    Calls,
    /// A change of one line among 10,000.
    Edits,
    /// How an edit grows with the document.
    Growth,
    /// Changes of the editor, as many as go through.
    Storm,
    /// A keystroke, alone and while 16 agents edit.
    Keystroke,
    /// What held edits cost: memory, accepting all at once, keys beside them.
    Held,
    /// Code actions, lenses and hover in a document with 50 held hunks.
    Review,
    /// The history from a terminal: the table of 100,000 edits, deciding about one of many.
    History,
    /// Memory with a large document open.
    Memory,
    /// Keys and scrolling in Neovim with 1,000 hunks in 50,000 lines.
    Nvim,
    /// What hooks add to an edit with a tool of an agent's own.
    Hooks,
    /// The other tools at the same work.
    Peers,
    /// Edits while a person types.
    Typing,
    /// Keys and calls beside clients over HTTP that do their worst.
    Hostile,
}

impl Part {
    /// All of them, in the order in which they run.
    pub fn all() -> Vec<Self> {
        Self::value_variants().to_vec()
    }

    /// Runs it.
    pub fn run(self, bench: &Bench, report: &mut Report) -> Result<()> {
        match self {
            Self::Calls => calls::run(bench, report),
            Self::Edits => edits::run(bench, report),
            Self::Growth => growth::run(bench, report),
            Self::Storm => storm::run(bench, report),
            Self::Keystroke => keystroke::run(bench, report),
            Self::Held => held::run(bench, report),
            Self::Review => review::run(bench, report),
            Self::History => history::run(bench, report),
            Self::Memory => memory::run(bench, report),
            Self::Nvim => frames::run(bench, report),
            Self::Hooks => hooks::run(bench, report),
            Self::Peers => peers::run(bench, report),
            Self::Typing => typing::run(bench, report),
            Self::Hostile => hostile::run(bench, report),
        }
    }
}
