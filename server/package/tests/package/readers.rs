//! The registry as those see it who look for servers: pages of them, and what is asked in a way that is none.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::registry::Running;

#[tokio::test]
async fn pages_lead_through_everything_once() {
    let registry = Running::open().await;
    for at in 0..7 {
        assert_eq!(registry.publish(&registry.server(&format!("a/s{at}"), "1.0.0")).await.0, StatusCode::OK);
    }
    assert_eq!(registry.publish(&registry.server("a/s0", "0.9.0")).await.0, StatusCode::OK);
    let names = |page: &Value| -> Vec<String> {
        page["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["server"]["name"].as_str().unwrap().into())
            .collect()
    };
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = registry.get(&format!("/v0/servers?limit=3&cursor={cursor}")).await;
        assert_eq!((status, &page["metadata"]["count"]), (StatusCode::OK, &json!(names(&page).len())));
        seen.extend(names(&page));
        match page["metadata"]["nextCursor"].as_str() {
            Some(next) => cursor = next.into(),
            None => break,
        }
    }
    assert_eq!(seen, ["a/s0", "a/s1", "a/s2", "a/s3", "a/s4", "a/s5", "a/s6", "a/s0"]);
    assert_eq!(names(&registry.get("/v0/servers?search=S3").await.1), ["a/s3"]);
    // What means anything in a database's patterns means itself here.
    for nowhere in ["%25", "_", "a%25s3", "a_s3", "%5C", "%27", "%2A", "%F0%9F%A6%80", "%E2%80%AE"] {
        let (status, page) = registry.get(&format!("/v0/servers?search={nowhere}")).await;
        assert_eq!((status, names(&page)), (StatusCode::OK, Vec::new()), "{nowhere}");
    }
    assert_eq!(names(&registry.get("/v0/servers?version=latest").await.1).len(), 7);
    assert_eq!(names(&registry.get("/v0/servers?version=0.9.0").await.1), ["a/s0"]);
    assert_eq!(names(&registry.get("/v0/servers?updated_since=2999-01-01T00:00:00Z").await.1), [""; 0]);
    let versions = registry.get("/v0/servers/a%2Fs0/versions").await.1;
    assert_eq!(versions["servers"].as_array().unwrap().len(), 2);
    for wrong in [
        "limit=0",
        "limit=-1",
        "limit=101",
        "limit=x",
        "limit=99999999999999999999",
        "cursor=x",
        "cursor=-1",
        "cursor=1&cursor=2",
        "updated_since=today",
        "include_deleted=perhaps",
    ] {
        let (status, document) = registry.get(&format!("/v0/servers?{wrong}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(document["error"].is_string() && document["status"] == 400, "{document}");
    }
    for missing in ["/v0/servers/a%2Fx/versions", "/v0/servers/a%2Fs0/versions/9", "/v0/nothing", "/"] {
        let (status, document) = registry.get(missing).await;
        assert!(
            status == StatusCode::NOT_FOUND && document["error"].as_str().unwrap().contains("/v0.1/servers"),
            "{missing}"
        );
    }
}

/// The newest come first, and the pages behind stay as they are whatever is published meanwhile.
#[tokio::test]
async fn versions_come_in_pages_like_everything_else() {
    let registry = Running::open().await;
    for at in 0..5 {
        registry.publish(&registry.server("a/b", &format!("1.{at}.0"))).await;
        registry.publish(&registry.server("a/other", &format!("1.{at}.0"))).await;
    }
    let mut pages = Vec::new();
    let mut cursor = String::new();
    for at in 5.. {
        let path = format!("/v0/servers/a%2Fb/versions?limit=2&cursor={cursor}");
        let (status, page) = registry.get(&path).await;
        let versions: Vec<String> = page["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["server"]["version"].as_str().unwrap().into())
            .collect();
        assert_eq!((status, &page["metadata"]["count"]), (StatusCode::OK, &json!(versions.len())));
        pages.push(versions);
        assert_eq!(registry.publish(&registry.server("a/b", &format!("1.{at}.0"))).await.0, StatusCode::OK);
        match page["metadata"]["nextCursor"].as_str() {
            Some(next) => cursor = next.into(),
            None => break,
        }
    }
    assert_eq!(pages, [vec!["1.4.0", "1.3.0"], vec!["1.2.0", "1.1.0"], vec!["1.0.0"]]);
    for at in 8..40 {
        registry.publish(&registry.server("a/b", &format!("1.{at}.0"))).await;
    }
    let (_, page) = registry.get("/v0/servers/a%2Fb/versions").await;
    assert_eq!(page["metadata"]["count"], 30);
    assert_eq!(page["servers"][0]["server"]["version"], "1.39.0");
    for wrong in ["limit=0", "limit=101", "cursor=x", "cursor=-1", "include_deleted=perhaps"] {
        let (status, _) = registry.get(&format!("/v0/servers/a%2Fb/versions?{wrong}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    // Behind the last one there is nothing, and the server is there nevertheless.
    let (status, page) = registry.get("/v0/servers/a%2Fb/versions?cursor=1").await;
    assert_eq!((status, &page["servers"]), (StatusCode::OK, &json!([])));
}

/// Whatever is asked in a way that is none, the answer is the one document of errors.
#[tokio::test]
async fn what_cannot_be_asked_is_answered_with_the_document_of_errors() {
    let registry = Running::open().await;
    assert_eq!(registry.publish(&registry.server("a/b", "1.0.0")).await.0, StatusCode::OK);
    for path in [
        "/v0/servers/%FF/versions",
        "/v0/servers/a%2Fb/versions/%FF",
        "/v0/servers/a%2Fb/versions/%C3%28",
        "/v0/servers?search=%FF",
        "/v0.1/servers/a%2Fb/versions?cursor=%FF",
        "/v0/servers?%FF=x",
        "/v0/%FF",
        "/%FF",
    ] {
        let (status, document) = registry.get(path).await;
        assert_eq!((status, &document["status"]), (StatusCode::BAD_REQUEST, &json!(400)), "{path}");
        assert!(document["error"].as_str().unwrap().contains("UTF-8"), "{document}");
    }
    for (method, path, allowed) in [
        (Method::POST, "/v0/servers", "GET,HEAD"),
        (Method::DELETE, "/v0.1/servers/a%2Fb/versions", "GET,HEAD"),
        (Method::PUT, "/v0.1/servers/a%2Fb/versions/1.0.0", "GET,HEAD"),
        (Method::GET, "/v0/servers/a%2Fb/versions/1.0.0/status", "PATCH"),
        (Method::POST, "/v0/servers/a%2Fb/status", "PATCH"),
        (Method::GET, "/v0/publish", "POST"),
        (Method::OPTIONS, "/v0.1/validate", "POST"),
        (Method::POST, "/health", "GET,HEAD"),
        (Method::DELETE, "/metrics", "GET,HEAD"),
    ] {
        let request = registry.client.request(method.clone(), format!("{}{path}", registry.address));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        assert_eq!(response.headers()["allow"], allowed, "{method} {path}");
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        let document: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert!(document["error"].as_str().unwrap().contains("Allow"), "{document}");
    }
}
