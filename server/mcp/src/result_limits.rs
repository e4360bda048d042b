//! How much of a result agent programs show to their models (they cut the rest, some of them in the middle), by the name that
//! they give themselves.

use std::time::Duration;

/// A page where nothing else is known, in characters.
pub(crate) const PAGE: usize = 40_000;

/// What Claude Code is asked to show whole.
pub(crate) const CLAUDE_CODE_MAX: usize = 500_000;

/// The characters of a line that are shown in a page.
pub(crate) const LINE_IN_PAGE: usize = 2_000;

/// The characters of a line that are shown where lines were asked for by number.
pub(crate) const LINE_IN_RANGE: usize = 20_000;

/// The most files and lines of which a search tells, and the characters of a line around what was found.
pub(crate) const FILES_FOUND: usize = 50;
pub(crate) const LINES_FOUND: usize = 200;
pub(crate) const LINE_FOUND: usize = 400;

/// How long a search looks: an agent that waits does nothing else.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(4);

/// How many characters of a read fit into one result.
pub(crate) fn page(agent: &str) -> usize {
    // Codex keeps 12,000, 40,000 or 48,000 by model and cuts the middle out; Gemini JSON-escapes the text before it
    // counts to 40,000; Claude Code and OpenCode count to about 50,000.
    if agent.starts_with("codex") {
        11_500
    } else if agent.starts_with("gemini") {
        32_000
    } else {
        PAGE
    }
}
