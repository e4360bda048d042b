//! `mcpdiff cleanup`: forgets what was decided long ago, or as much as it takes for the history to be small.

use std::path::Path;
use std::process::ExitCode;

use hashline_history::{Cleaned, Forget};
use hashline_terminal::{Failure, Ink, Screen, inert, tell};
use serde_json::json;

use super::arguments::Cleanup;
use super::edit_details::relative;
use super::messages;
use super::sidecars::Everywhere;

/// Cleans up.
pub fn run(everywhere: &Everywhere<'_>, options: &Cleanup, screen: Screen) -> Result<ExitCode, Failure> {
    let forget = Forget { older_than: options.older_than, down_to: options.keep_size };
    let mut session = everywhere.session().map_err(Failure::broken)?;
    let folder = session.store().folder().to_owned();
    let mut told = session.repairs().to_vec();
    if !options.dry_run {
        // Nothing else reads every log; what is missing or contradicts the record is written anew.
        told.extend(session.check().map_err(Failure::broken)?);
    }
    let before = session.size().map_err(Failure::broken)?;
    let cleaned = session
        .cleanup(&forget, options.dry_run, &|owner| everywhere.runs(owner))
        .map_err(Failure::broken)?;
    let left = match options.dry_run {
        true => before.saturating_sub(cleaned.iter().map(|one| one.freed).sum()),
        false => session.size().map_err(Failure::broken)?,
    };
    told.extend(session.finish());
    let freed = before.saturating_sub(left);
    for sentence in told {
        tell(&format!("mcpdiff: {}", inert(&sentence)));
    }
    let gone: usize = cleaned.iter().map(|one| one.gone.len()).sum();
    if options.json {
        screen.print_json(&json!({
            "dry_run": options.dry_run,
            "forgotten": gone,
            "kept": cleaned.iter().map(|one| one.kept).sum::<usize>(),
            "freed_bytes": freed,
            "size_bytes": left,
            "files": cleaned.iter().map(|one| json!({
                "file_path": one.document.to_text(),
                "forgotten": one.gone,
                "kept": one.kept,
                "kept_because": one.pin.as_ref().map(ToString::to_string),
            })).collect::<Vec<_>>(),
        }))?;
    } else {
        let words = |gone| {
            let words = messages::cleaned(gone, freed, !options.dry_run, options.keep_size.is_some());
            match options.keep_size {
                Some(most) => format!("{words} {}", messages::size_left(left, most, !options.dry_run)),
                None => words,
            }
        };
        screen.print(&report(&folder, &cleaned, words, screen))?;
    }
    Ok(if gone > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn report(folder: &Path, cleaned: &[Cleaned], words: impl Fn(usize) -> String, screen: Screen) -> String {
    let mut out = String::new();
    let mut gone = 0;
    for one in cleaned.iter().filter(|one| !one.gone.is_empty()) {
        gone += one.gone.len();
        let ids: Vec<&str> =
            one.gone.iter().take(messages::MOST_IDS).map(hashline_history::EditId::short).collect();
        let more = one.gone.len() - ids.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let path = relative(one.document.as_path(), folder);
        out.push_str(&format!(
            "{}  {}  {}\n",
            path,
            messages::count(one.gone.len(), "edit"),
            screen.paint(Ink::Faint, &(inert(&ids.join(" ")) + &more)),
        ));
    }
    let kept: Vec<&Cleaned> = cleaned.iter().filter(|one| one.kept > 0).collect();
    if !kept.is_empty() {
        if gone > 0 {
            out.push('\n');
        }
        out.push_str(&screen.paint(Ink::Heading, "Kept:"));
        out.push('\n');
    }
    for one in kept {
        let why =
            one.pin.as_ref().map_or_else(String::new, |pin| format!(", as {}", inert(&pin.to_string())));
        let path = relative(one.document.as_path(), folder);
        out.push_str(&format!("{path}  {}{why}\n", messages::count(one.kept, "edit")));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&screen.sentences(&words(gone)));
    out.push('\n');
    out
}
