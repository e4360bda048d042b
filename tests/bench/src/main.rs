//! The benchmark: hashline beside floors (the least that servers built of the same parts can do) and beside other tools,
//! in one run, in turns, so that what disturbs the machine disturbs all of them. It prints and judges; it is no test.

mod agent;
mod bench;
mod document;
mod editor;
mod program;
mod report;
mod rows;
mod sample;
mod tool;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::bench::Bench;
use crate::report::Report;
use crate::rows::{Part, hostile};

/// Measures hashline beside floors and other tools, and prints how it stands to its goals.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// What to measure; all of it if nothing is named.
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// A short run, to see that everything works: its figures are not to be quoted.
    #[arg(long)]
    quick: bool,
    /// Tables in Markdown, for a README.
    #[arg(long)]
    markdown: bool,
    /// Fail if a goal is missed.
    #[arg(long)]
    strict: bool,
    /// The binary to measure.
    #[arg(long, value_name = "FILE")]
    hashline: PathBuf,
    /// Where the other tools were installed.
    #[arg(long, value_name = "FOLDER")]
    peers: PathBuf,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(hostile::ATTACK) {
        return match hostile::attack(arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("tests/bench: {error:#}");
                ExitCode::from(2)
            }
        };
    }
    let options = Options::parse();
    let mut report = Report::new(options.markdown);
    let bench = match Bench::new(&options.hashline, &options.peers, options.quick) {
        Ok(bench) => bench,
        Err(error) => {
            eprintln!("tests/bench: {error:#}");
            return ExitCode::from(2);
        }
    };
    report.head(&bench.version(), options.quick);
    let parts = if options.parts.is_empty() { Part::all() } else { options.parts };
    let mut broken = 0;
    for part in parts {
        eprintln!("{part:?}");
        if let Err(error) = part.run(&bench, &mut report) {
            broken += 1;
            report.note(format!("NOT MEASURED, {part:?}: {error:#}"));
        }
    }
    let missed = report.end();
    if broken > 0 || (options.strict && missed > 0) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
