//! How much of a result agent programs show to their models (they cut the rest, some of them in the middle), by the name that
//! they give themselves.

/// A page where nothing else is known, in characters.
pub(crate) const PAGE: usize = 40_000;

/// What Claude Code is asked to show whole.
pub(crate) const CLAUDE_CODE_MAX: usize = 500_000;

/// The characters of a line that are shown in a page.
pub(crate) const LINE_IN_PAGE: usize = 2_000;

/// The characters of a line that are shown where lines were asked for by number.
pub(crate) const LINE_IN_RANGE: usize = 20_000;

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
