//! Sixteen agents, each with a process of its own as far as the file is concerned, edit it along the hash chain.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::protocol::{Connection, call};
use crate::text::{Case, hash};

const AGENTS: usize = 16;
/// How many edits of each are to get through.
const EDITS: usize = 3;

/// The edits that were made: from which hash to which, and by what line.
type Links = Mutex<Vec<(String, String, String)>>;

async fn edits(agent: Connection, name: usize, links: &Links) {
    let mut hash: Value = call(&agent, "text_read", json!({ "path": "a.txt" })).await.json["hash"].clone();
    for number in 0..EDITS {
        let line = format!("{name} {number}");
        loop {
            let given = json!({ "path": "a.txt", "hash": hash, "content": line });
            let answer = call(&agent, "text_append", given).await;
            if answer.failed {
                assert!(answer.text.contains("Read it again"), "{}", answer.text);
                hash = call(&agent, "text_read", json!({ "path": "a.txt" })).await.json["hash"].clone();
                continue;
            }
            let next = answer.json["hash"].clone();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            links.lock().unwrap().push((text(&hash), text(&next), line));
            hash = next;
            break;
        }
    }
}

async fn race(case: Case) {
    let links = Links::default();
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        agents.push(case.place.agent().await);
    }
    let all = agents.into_iter().enumerate().map(|(name, agent)| edits(agent, name, &links));
    futures::future::join_all(all).await;

    let links = links.into_inner().unwrap();
    assert_eq!(links.len(), AGENTS * EDITS);
    let mut from = HashMap::new();
    for (before, after, line) in links {
        assert!(from.insert(before, (after, line)).is_none(), "two edits were made of one text");
    }
    // All of them are one chain, and the file has every line in its order.
    let mut at = hash("begin\n").as_str().unwrap().to_owned();
    let mut expected = String::from("begin\n");
    while let Some((after, line)) = from.remove(&at) {
        expected.push_str(&line);
        expected.push('\n');
        at = after;
    }
    assert!(from.is_empty(), "edits beside the chain: {from:?}");
    let read = case.read().await;
    assert_eq!(read.json["content"], expected);
    assert_eq!(read.json["hash"], at);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_agents_exactly_one_wins_per_hash_on_the_disk() {
    race(Case::on_disk("begin\n").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_agents_exactly_one_wins_per_hash_in_an_open_document() {
    race(Case::live("begin\n").await).await;
}
