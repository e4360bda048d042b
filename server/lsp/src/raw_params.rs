//! Parameters of a notification that are JSON already.
//!
//! Of all that it sends `tower_lsp` makes a tree of values, which takes ten times the memory of its text. A list of all hunks of a
//! document is sent after each edit, and with hundreds of them such trees are most of what a sidecar takes. So it is handed over as a
//! text, and the [transport](crate::transport) puts that into the message as it is.

use serde::{Deserialize, Serialize};

/// The text of the parameters, which looks like a string until it is sent: parameters of their own are never one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Written(String);

impl Written {
    /// Writes parameters.
    pub fn of(params: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(params).map(Self)
    }
}

/// The message that such a notification is.
pub(crate) fn message(method: &str, params: &str) -> Vec<u8> {
    [r#"{"jsonrpc":"2.0","method":""#, method, r#"","params":"#, params, "}"].concat().into_bytes()
}
