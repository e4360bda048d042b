//! Files that have another name outside of the root, for every tool that there is: refused where the person says so, whoever is asked
//! for them and whoever has them open, and served otherwise.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use hashline_mcp::{NameStyle, Router, Server, Toolset};
use hashline_workspace::Settings;
use hashline_workspace::disk::{HardLinks, Roots};
use rmcp::model::ReadResourceRequestParams;
use rmcp::service::ClientLifecycleMode;
use serde_json::json;

use crate::attacks::{SECRET, path_fields, shows_secret, told, worst};
use crate::place::Place;
use crate::protocol::{Agent, Connection, call, connect};

/// A name for a file outside, in a folder that is served.
struct Linked {
    place: Place,
    outside: PathBuf,
}

impl Linked {
    fn new() -> Self {
        let place = Place::new();
        let outside = place.temp.path().canonicalize().unwrap().join("secret.txt");
        std::fs::write(&outside, SECRET).unwrap();
        std::fs::hard_link(&outside, place.root.join("linked.txt")).unwrap();
        symlink("linked.txt", place.root.join("by_link.txt")).unwrap();
        place.write("a.txt", "one\nSECRET-but-own\n");
        Self { place, outside }
    }

    async fn agent(&self, hard_links: HardLinks) -> Connection {
        let settings = Settings { hard_links, ..Settings::default() };
        let roots = Roots::open([&self.place.root]).unwrap();
        let router = Router::new(&roots, true, settings, self.place.state()).unwrap();
        let server = Server::new(Arc::new(router), &Toolset::ALL, NameStyle::Plain);
        connect(server, Agent { name: "tester", roots: None }, ClientLifecycleMode::Initialize).await
    }

    /// Every tool is refused the file under each of its names here, resources are, and a search leaves it out and says so.
    async fn is_refused_to(&self, agent: &Connection) {
        self.is_refused_by_tools(agent, |_| true).await;
        let found = call(agent, "search_text", json!({ "pattern": "SECRET" })).await;
        let text = &found.text;
        assert!(text.contains("SECRET-but-own") && !text.contains(SECRET.trim_end()), "{text}");
        assert!(text.contains("Left out as hard links, which are not served here: 1 file."), "{text}");
    }

    async fn is_refused_by_tools(&self, agent: &Connection, asks: impl Fn(&str) -> bool) {
        let mut tried = 0;
        for tool in agent.list_all_tools().await.unwrap().into_iter().filter(|tool| asks(&tool.name)) {
            for field in path_fields(&tool) {
                for name in ["linked.txt", "by_link.txt"] {
                    let given = worst(&tool, &field, name);
                    let (words, failed) = told(agent, &tool, given.clone()).await;
                    let what = format!("{} with {field} {name}: {words}", tool.name);
                    assert!(failed, "{what}");
                    // What is to have a name that is taken is neither read nor written.
                    let is_taken = field == "destination" && words.contains("already");
                    let says_why = words.contains("is a hard link") && words.contains("--no-hard-links");
                    assert!(is_taken || says_why, "{what}");
                    assert!(!shows_secret(&words, &given), "{what}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 25, "only {tried} were tried");
        assert_eq!(std::fs::read_to_string(&self.outside).unwrap(), SECRET);
        assert_eq!(std::fs::read_to_string(self.place.root.join("linked.txt")).unwrap(), SECRET);
        for name in ["linked.txt", "by_link.txt"] {
            let uri = format!("file://{}", self.place.root.join(name).display());
            let refused =
                agent.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap_err().to_string();
            assert!(refused.contains("is a hard link"), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_hard_link_is_served_unless_they_are_refused() {
    let linked = Linked::new();
    let agent = linked.agent(HardLinks::Served).await;
    let read = call(&agent, "read_text_file", json!({ "path": "linked.txt" })).await;
    assert!(read.text.contains(SECRET.trim_end()), "{}", read.text);
    let found = call(&agent, "search_text", json!({ "pattern": "SECRET" })).await;
    assert!(
        found.text.starts_with("2 matches in 2 files.") && !found.text.contains("Left out"),
        "{}",
        found.text
    );
}

#[tokio::test]
async fn a_hard_link_is_refused_on_the_disk() {
    let linked = Linked::new();
    let agent = linked.agent(HardLinks::Refused).await;
    linked.is_refused_to(&agent).await;
    // What was one file with two names when it was served has one now.
    std::fs::remove_file(&linked.outside).unwrap();
    let read = call(&agent, "read_text_file", json!({ "path": "linked.txt" })).await;
    assert!(!read.failed, "{}", read.text);
    std::fs::hard_link(linked.place.root.join("linked.txt"), &linked.outside).unwrap();
    linked.is_refused_to(&agent).await;
}

/// The sidecar serves hard links to others: that this agent is refused them comes with its calls.
#[tokio::test]
async fn a_hard_link_is_refused_through_an_editor_that_serves_them() {
    let linked = Linked::new();
    let editor = linked.place.editor("nvim", &[&linked.place.root]);
    let agent = linked.agent(HardLinks::Refused).await;
    linked.is_refused_to(&agent).await;
    let other = linked.agent(HardLinks::Served).await;
    let read = call(&other, "read_text_file", json!({ "path": "linked.txt" })).await;
    assert!(read.text.contains(SECRET.trim_end()), "{}", read.text);
    linked.is_refused_to(&agent).await;
    editor.open(&linked.place.root.join("linked.txt"), SECRET);
    linked.is_refused_to(&agent).await;
    assert!(!call(&other, "read_text_file", json!({ "path": "linked.txt" })).await.failed);
}

/// An agent whose own process serves them looks into the file by itself, as that has the disk; nothing of an editor's gives it more.
#[tokio::test]
async fn a_hard_link_is_refused_by_an_editor_that_refuses_them() {
    let linked = Linked::new();
    let editor = linked.place.editor("nvim", &[&linked.place.root]);
    editor.workspace.set_settings(Settings { hard_links: HardLinks::Refused, ..Settings::default() });
    let agent = linked.agent(HardLinks::Served).await;
    linked.is_refused_by_tools(&agent, |tool| tool != "search_text").await;
    editor.open(&linked.place.root.join("linked.txt"), SECRET);
    linked.is_refused_by_tools(&agent, |tool| tool != "search_text").await;
}

#[tokio::test]
async fn what_agents_make_has_one_name_and_is_served() {
    let linked = Linked::new();
    let agent = linked.agent(HardLinks::Refused).await;
    for name in ["new.txt", "a.txt"] {
        let given = json!({ "path": name, "content": "made\n" });
        let made = call(&agent, "write_file", given).await;
        assert!(!made.failed, "{}", made.text);
        let read = call(&agent, "read_text_file", json!({ "path": name })).await;
        let operations = json!([{ "op": "replace", "anchor": read.anchor("made"), "content": "changed" }]);
        let given = json!({ "path": name, "file_hash": read.hash(), "operations": operations });
        assert!(!call(&agent, "edit_text_file", given).await.failed, "{name}");
        assert_eq!(std::fs::read(linked.place.root.join(name)).unwrap(), b"changed\n");
    }
}
