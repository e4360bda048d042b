//! The event with which a stream begins so that its client can come back to it: it has an id and no message. The service sends it to
//! everyone, but clients of a protocol that is older than the event take its empty data for a message, and fail.

use axum::body::Bytes;
use axum::http::HeaderMap;
use rmcp::model::ProtocolVersion;

/// Whether a client may have the event. It asks for a version with `initialize`, and names what was agreed with every further request;
/// where it names none that is an older one.
pub(super) fn is_known_to(asked: Option<&str>, headers: &HeaderMap) -> bool {
    let named = || headers.get("mcp-protocol-version").and_then(|version| version.to_str().ok());
    asked.or_else(named).is_some_and(|version| version >= ProtocolVersion::V_2025_11_25.as_str())
}

/// Whether an event is this one. A comment, which keeps a stream open, is not.
pub(super) fn is_priming(event: &Bytes) -> bool {
    let mut data =
        event.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data:")).peekable();
    data.peek().is_some() && data.all(|data| data.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn versions_that_have_it() {
        for (asked, named, known) in [
            (Some("2024-11-05"), None, false),
            (Some("2025-06-18"), None, false),
            (Some("2025-11-25"), None, true),
            (Some("2026-07-28"), None, true),
            (None, None, false),
            (None, Some("2025-03-26"), false),
            (None, Some("2025-06-18"), false),
            (None, Some("2025-11-25"), true),
            (None, Some("2026-07-28"), true),
        ] {
            let named =
                named.map(|named| ("mcp-protocol-version".parse().unwrap(), HeaderValue::from_static(named)));
            assert_eq!(is_known_to(asked, &named.into_iter().collect()), known, "{asked:?}");
        }
    }

    #[test]
    fn events_that_are_it() {
        for (event, priming) in [
            ("id: 0/1\nretry: 3000\ndata: \n\n", true),
            ("data:\n\n", true),
            (":\n\n", false),
            (": data:\n\n", false),
            ("retry: 3000\n\n", false),
            ("data: {}\nid: 1/1\n\n", false),
            ("data: \ndata: {}\n\n", false),
        ] {
            assert_eq!(is_priming(&Bytes::from_static(event.as_bytes())), priming, "{event:?}");
        }
    }
}
