//! One file for each tool: what it says of itself, its arguments, and its answer in words.

pub(crate) mod await_review;
pub(crate) mod delete_file;
pub(crate) mod edit_file_diff;
pub(crate) mod edit_reply;
pub(crate) mod edit_text_file;
pub(crate) mod file_create;
pub(crate) mod file_remove;
pub(crate) mod hash_chain;
pub(crate) mod list_documents;
pub(crate) mod list_edits;
pub(crate) mod move_file;
pub(crate) mod read_text_file;
pub(crate) mod search_text;
pub(crate) mod text_append;
pub(crate) mod text_insert;
pub(crate) mod text_read;
pub(crate) mod text_replace;
pub(crate) mod withdraw_edit;
pub(crate) mod write_file;

pub(crate) mod edit_summary;
