//! The templates of the resources.

use rmcp::model::ResourceTemplate;

/// `list://{+path}`.
pub(crate) const FOLDER: &str = "list://{+path}";
/// `file://{+path}`.
pub(crate) const DOCUMENT: &str = "file://{+path}";
/// `review://{+path}`.
pub(crate) const REVIEW: &str = "review://{+path}";

/// The three of them.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(FOLDER, "list")
            .with_title("Names in a folder")
            .with_description(
                "The names in a folder, not in those below it: a JSON array of {name, type}, directories first. The path is within the \
                 root; list:// is the root itself, or the names of the roots where there are several.",
            )
            .with_mime_type("application/json"),
        ResourceTemplate::new(DOCUMENT, "file")
            .with_title("Text of a document")
            .with_description(
                "All of a file as the person's editor has it now, unsaved work and held edits included (else from disk). The path is \
                 absolute, or relative to the root.",
            ),
        ResourceTemplate::new(REVIEW, "review")
            .with_title("Edits and how they stand")
            .with_description(
                "The edits of a file and what became of each hunk, as JSON; review:// has those of all files. The path is absolute, or \
                 relative to the root.",
            )
            .with_mime_type("application/json"),
    ]
}
