//! What a registry makes of documents in which one thing is other than it should be: of each member, of each digit, of the bytes.

use proptest::prelude::*;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::hashes::hash;
use crate::registry::Running;

/// The places of all values in a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in inside {
        places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
    }
}

/// What may stand where something else is expected.
fn strangers() -> Vec<Value> {
    let nested = (0..100).fold(json!(1), |inner, _| json!([inner]));
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("\u{0}"),
        json!("\u{202e}\u{1b}[2J"),
        json!("../../etc/passwd"),
        json!("https://169.254.169.254/"),
        json!("x".repeat(70_000)),
        json!([]),
        json!({}),
        nested,
    ]
}

/// Whatever stands where, it is refused as wrong or kept as it is; and nothing is called verified whose hash is another.
#[tokio::test]
async fn whatever_stands_in_a_document_the_registry_goes_on() {
    let registry = Running::open().await;
    let mut good = registry.server("a/b", "1.0.0");
    let file = registry.files.url("/file").to_string();
    good["packages"] =
        json!([{"registryType": "mcpb", "identifier": &file, "fileSha256": &hash(b"bytes")[7..]}]);
    good.as_object_mut().unwrap().remove("package_location");
    assert_eq!(registry.publish(&good).await.0, StatusCode::OK);
    let mut found = Vec::new();
    places(&good, "", &mut found);
    let mut kept = 0;
    for (at, place) in found.iter().enumerate() {
        for (which, stranger) in strangers().into_iter().enumerate() {
            let mut mutated = good.clone();
            mutated["version"] = json!(format!("2.{at}.{which}"));
            *mutated.pointer_mut(place).unwrap() = stranger.clone();
            let (status, answer) = registry.publish(&mutated).await;
            if status == StatusCode::OK {
                kept += 1;
                assert_eq!(answer["server"], mutated, "{place}");
                let verified = answer["_meta"]["hashline/hashes"]["verified"] == true;
                let by_either = mutated["file_hashes"][&file] == hash(b"bytes")
                    || mutated["packages"][0]["fileSha256"] == hash(b"bytes")[7..];
                assert!(!verified || by_either, "{place}: {answer}");
            } else {
                assert!(
                    status.is_client_error() && answer["error"].is_string(),
                    "{place}: {status} {answer}"
                );
            }
        }
    }
    assert!(kept > 0 && found.len() > 7, "{kept} of {found:?}");
    let (status, list) = registry.get("/v0/servers?limit=100").await;
    assert_eq!((status, &list["metadata"]["count"]), (StatusCode::OK, &json!((kept + 1).min(100))));
}

/// "Registry validation prevents tampered submissions": a hash with one digit changed is that of another file.
#[tokio::test]
async fn each_digit_of_a_hash_counts() {
    let registry = Running::open().await;
    let good = registry.server("a/b", "1.0.0");
    let file = registry.files.url("/file").to_string();
    for at in 0..64 {
        let mut digits = hash(b"bytes").into_bytes();
        let digit = &mut digits["sha256:".len() + at];
        *digit = if *digit == b'0' { b'1' } else { b'0' };
        let mut mutated = good.clone();
        mutated["file_hashes"][&file] = json!(String::from_utf8(digits).unwrap());
        let (status, answer) = registry.publish(&mutated).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(answer["details"][&file]["status"], "mismatch", "{at}: {answer}");
    }
    assert_eq!(registry.publish(&good).await.0, StatusCode::OK);
}

/// A document that is cut off anywhere, or holds any other byte, is an answer's worth and no more.
#[tokio::test]
async fn bytes_that_are_no_document_are_answered() {
    let registry = Running::open().await;
    let text = registry.server("a/b", "1.0.0").to_string();
    for at in 0..text.len() {
        let (status, answer) = registry.ask(reqwest::Method::POST, "/v0/publish", &text[..at]).await;
        assert!(status.is_client_error() && answer["error"].is_string(), "{at}: {status} {answer}");
    }
    let deep = format!("{{\"name\": {}", "[".repeat(500_000));
    assert_eq!(
        registry.ask(reqwest::Method::POST, "/v0/publish", &deep).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    for path in [
        "/v0/servers?search=%00",
        "/v0/servers?cursor=%00",
        "/v0/servers/%00/versions",
        "/v0/servers/a%2Fb/versions/%00",
    ] {
        let (status, answer) = registry.get(path).await;
        assert!(!status.is_server_error(), "{path}: {status} {answer}");
    }
}

proptest! {
    /// Nothing that is written in a document or as an identifier brings a publisher down, and an identifier is read as it is written.
    #[test]
    fn any_words_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), words in ".{0,60}", kind in "npm|pypi|github|url|cargo|nuget|go|oci|mcpb|.{0,5}") {
        let public = hashline_package::Sources::public().unwrap();
        let _ = hashline_package::validate(&bytes, &public);
        for value in [
            json!({"version": words, "package_location": {"type": kind, "package_name": words}}),
            json!({"version": words, "package_location": {"type": kind, "url": words}}),
            json!({"packages": [{"registryType": kind, "identifier": words, "version": words, "fileSha256": words}], "file_hashes": {&words: words}}),
        ] {
            let _ = hashline_package::validate(value.to_string().as_bytes(), &public);
        }
        for text in [words.clone(), format!("{kind}:{words}")] {
            if let Ok(identifier) = text.parse::<hashline_package::Identifier>() {
                prop_assert_eq!(identifier.to_string().parse::<hashline_package::Identifier>().unwrap(), identifier);
            }
        }
    }
}
