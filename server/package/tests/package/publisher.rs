//! What a publisher makes of registries that answer as no registry should.

use std::time::{Duration, Instant};

use hashline_package::{PublishError, Publisher, ServerJson};
use serde_json::json;

use crate::file_server::{Answer, FileServer};

async fn published(registry: &FileServer) -> Result<serde_json::Value, PublishError> {
    let server = ServerJson::parse(br#"{"name": "a/b", "version": "1.0.0"}"#).unwrap();
    Publisher::new(registry.url(""), None, true).unwrap().publish(&server, false).await
}

/// Nobody waits, or keeps bytes, for as long or as many as a registry likes.
#[tokio::test]
async fn an_answer_has_its_limits() {
    let registry = FileServer::start().await;
    let begun = Instant::now();
    registry.on("/v0.1/publish", [Answer::Large(1 << 40)]);
    let error = published(&registry).await.unwrap_err().to_string();
    assert!(error.contains("more than 8388608 bytes"), "{error}");
    registry.on("/v0.1/publish", [Answer::Status(429, "Retry-After: 100000\r\n")]);
    let error = published(&registry).await.unwrap_err();
    assert!(matches!(error, PublishError::Refused { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(registry.asked("/v0.1/publish"), 2);

    let busy = Answer::Status(503, "Retry-After: 0\r\n");
    registry.on("/v0.1/publish", [busy, Answer::File(b"{}".to_vec())]);
    assert_eq!(published(&registry).await.unwrap(), json!({}));
}
