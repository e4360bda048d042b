//! A registry that is killed in the middle of its work has everything that it acknowledged.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::file_server::FileServer;
use crate::program::{Person, Registry, client, get};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let files = FileServer::start().await;
    files.file("/a", "bytes");
    let person = Person::of(&files);
    let folder = person.folder.path().join("data");
    let url = files.url("/a").to_string();
    let client = client();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..3 {
        let mut registry = Registry::start(person.publisher(&[]), &folder);
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let mut publishers = tokio::task::JoinSet::new();
        for publisher in 0..8 {
            let (client, sender, url, registry) =
                (client.clone(), sender.clone(), url.clone(), registry.url.clone());
            publishers.spawn(async move {
                for at in 0.. {
                    let version = format!("{round}.{publisher}.{at}");
                    let server = json!({
                        "name": "a/b", "version": version, "description": "d", "package_location": {"type": "url", "url": url},
                        "file_hashes": {&url: crate::program::hash(b"bytes")},
                    });
                    let request = client.post(format!("{registry}/v0/publish")).body(server.to_string());
                    match request.send().await {
                        Ok(response) if response.status().is_success() => sender.send(version).unwrap(),
                        Ok(response) => panic!("{response:?}"),
                        // It is gone.
                        Err(_) => return,
                    }
                }
            });
        }
        let begun = Instant::now();
        let before = acknowledged.len();
        while acknowledged.len() < before + 100 {
            let version = tokio::time::timeout(Duration::from_secs(20), receiver.recv()).await;
            acknowledged.push(
                version
                    .unwrap_or_else(|_| panic!("{} in {:?}", acknowledged.len() - before, begun.elapsed()))
                    .unwrap(),
            );
        }
        // SIGKILL.
        registry.child.kill().unwrap();
        registry.child.wait().unwrap();
        publishers.join_all().await;
        drop(sender);
        while let Some(version) = receiver.recv().await {
            acknowledged.push(version);
        }
    }
    let registry = Registry::start(person.publisher(&[]), &folder);
    let mut kept = std::collections::BTreeSet::new();
    let mut cursor = Some(String::new());
    while let Some(from) = cursor {
        let page = get(&format!("{}/v0/servers/a%2Fb/versions?limit=100&cursor={from}", registry.url)).await;
        let versions = page["servers"].as_array().unwrap().iter();
        kept.extend(versions.map(|entry| entry["server"]["version"].as_str().unwrap().to_owned()));
        cursor = page["metadata"]["nextCursor"].as_str().map(str::to_owned);
    }
    let lost: Vec<_> = acknowledged.iter().filter(|version| !kept.contains(*version)).collect();
    assert!(
        lost.is_empty() && acknowledged.len() >= 300,
        "{} of {} are lost: {lost:?}",
        lost.len(),
        acknowledged.len()
    );
}
