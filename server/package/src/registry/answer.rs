//! A version as clients are told of it.

use serde_json::{Value, json};

use crate::store::StoredVersion;

/// The server.json as it was published, and beside it what the registry knows of it.
pub fn answer(version: &StoredVersion) -> Value {
    let mut official = json!({
        "status": version.status,
        "statusChangedAt": version.status_changed_at,
        "publishedAt": version.published_at,
        "updatedAt": version.updated_at,
        "isLatest": version.is_latest,
    });
    if let Some(message) = &version.status_message {
        official["statusMessage"] = json!(message);
    }
    json!({
        "server": version.document,
        "_meta": {
            "io.modelcontextprotocol.registry/official": official,
            "hashline/hashes": {"verified": version.verified},
        }
    })
}
