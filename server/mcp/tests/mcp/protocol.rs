//! The server as MCP clients meet it, in the protocol with a handshake and in the one without.
#![allow(deprecated, reason = "roots are what clients of today have")]

use std::path::Path;
use std::sync::Arc;

use hashline_link::StateDir;
use hashline_mcp::{NameStyle, Router, Server, ToolName, Toolset};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, ListRootsResult,
    ProtocolVersion, Root,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::desk::{Answer, uri};

/// A client that may have roots.
#[derive(Clone)]
pub struct Agent {
    pub name: &'static str,
    pub roots: Option<Vec<std::path::PathBuf>>,
}

impl ClientHandler for Agent {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match &self.roots {
            Some(_) => ClientCapabilities::builder().enable_roots().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new(self.name, "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let roots = self.roots.iter().flatten().map(|root| Root::new(uri(root))).collect();
        Ok(ListRootsResult::new(roots))
    }
}

pub type Connection = RunningService<RoleClient, Agent>;

pub fn server(roots: &[&Path], fixed: bool, state: &Path) -> Server {
    let state = StateDir::new(Some(state)).unwrap();
    let router = Router::new(&Roots::open(roots).unwrap(), fixed, Settings::default(), state).unwrap();
    Server::new(Arc::new(router), &Toolset::ALL, NameStyle::Plain)
}

pub async fn connect(server: Server, agent: Agent, lifecycle: ClientLifecycleMode) -> Connection {
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move {
        if let Ok(running) = server.serve(far).await {
            let _ = running.waiting().await;
        }
    });
    agent.serve_with_lifecycle(near, lifecycle).await.unwrap()
}

pub async fn call(connection: &Connection, tool: &str, arguments: Value) -> Answer {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    Answer::of(&connection.call_tool(params).await.unwrap())
}

pub fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

#[tokio::test]
async fn both_eras_list_read_and_edit() {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("a.txt"), "a\nb\n").unwrap();
        let agent = Agent { name: "tester", roots: None };
        let server = server(&[temp.path()], true, &temp.path().join("state"));
        let connection = connect(server, agent, lifecycle).await;
        let tools = connection.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), ToolName::ALL.len());
        let read = call(&connection, "read.text_file", json!({ "path": "a.txt" })).await;
        assert!(!read.failed, "{}", read.text);
        let operations = json!([{ "op": "replace", "anchor": read.anchor("b"), "content": "B" }]);
        let given = json!({ "path": "a.txt", "file_hash": read.hash(), "operations": operations });
        let done = call(&connection, "edit_text_file", given).await;
        assert!(!done.failed, "{}", done.text);
        assert_eq!(std::fs::read(temp.path().join("a.txt")).unwrap(), b"a\nB\n");
        assert!(call(&connection, "list_edits", json!({})).await.text.contains("edit "));

        let unknown = connection.call_tool(CallToolRequestParams::new("write_everything")).await.unwrap_err();
        assert!(unknown.to_string().contains("write_everything"), "{unknown}");
        let rmcp::ServiceError::McpError(error) = unknown else { panic!("{unknown}") };
        assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS);
    }
}

#[tokio::test]
async fn the_server_says_who_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let agent = Agent { name: "tester", roots: None };
    let server = server(&[temp.path()], true, &temp.path().join("state"));
    let connection = connect(server, agent, ClientLifecycleMode::Initialize).await;
    let info = connection.peer_info().unwrap();
    let hashline = info.server_info.as_ref().unwrap();
    assert_eq!((hashline.name.as_str(), hashline.version.as_str()), ("hashline", env!("CARGO_PKG_VERSION")));
    let sets = Toolset::ALL.into();
    assert_eq!(info.instructions.clone(), Some(hashline_mcp::instructions(&sets, NameStyle::Plain)));
    assert!(info.capabilities.tools.is_some());
}

/// A folder with two projects in it; whether an agent with these roots may read each.
async fn reached(base: &str, fixed: bool, roots: Option<&[&str]>) -> (bool, bool) {
    let temp = tempfile::tempdir().unwrap();
    for project in ["one", "two"] {
        std::fs::create_dir(temp.path().join(project)).unwrap();
        std::fs::write(temp.path().join(project).join("a.txt"), "a\n").unwrap();
    }
    let folder = |name: &&str| temp.path().join(name);
    let agent = Agent { name: "tester", roots: roots.map(|roots| roots.iter().map(folder).collect()) };
    let base = temp.path().join(base);
    let server = server(&[&base], fixed, &temp.path().join("state"));
    let connection = connect(server, agent, ClientLifecycleMode::Initialize).await;
    let mut reached = [false; 2];
    for (at, project) in ["one", "two"].iter().enumerate() {
        let path = temp.path().join(project).join("a.txt");
        reached[at] = !call(&connection, "read_text_file", json!({ "path": path })).await.failed;
    }
    (reached[0], reached[1])
}

#[tokio::test]
async fn roots_come_from_the_person_then_the_client_then_the_working_directory() {
    assert_eq!(reached("", true, None).await, (true, true));
    assert_eq!(reached("", true, Some(&["one"])).await, (true, false), "a client narrows what is given");
    assert_eq!(reached("one", true, Some(&["one", "two"])).await, (true, false), "and never widens it");
    assert_eq!(reached("one", true, Some(&["two"])).await, (false, false));
    assert_eq!(reached("one", true, Some(&[])).await, (true, false), "an empty list says nothing");
    assert_eq!(
        reached("one", false, Some(&["two"])).await,
        (false, true),
        "the client before the working directory"
    );
    assert_eq!(
        reached("one", false, Some(&["two", "gone"])).await,
        (false, true),
        "a missing folder costs no other"
    );
    assert_eq!(reached("one", false, Some(&["gone"])).await, (false, false), "and nothing takes its place");
    assert_eq!(reached("one", false, None).await, (true, false));
}

#[tokio::test]
async fn where_no_folder_is_served_every_call_says_why_and_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    let (project, gone) = (temp.path().join("project"), temp.path().join("gone"));
    std::fs::create_dir(&project).unwrap();
    let state = temp.path().join("state");
    for (base, fixed, roots, word) in [
        (None, false, None, "top of the disk"),
        (None, false, Some(vec![]), "top of the disk"),
        (Some(&project), false, Some(vec![gone.clone()]), "/gone"),
        (Some(&project), true, Some(vec![gone.clone()]), "in the folders of --root"),
    ] {
        let server = server(&base.iter().map(|base| base.as_path()).collect::<Vec<_>>(), fixed, &state);
        let agent = Agent { name: "tester", roots };
        let connection = connect(server, agent, ClientLifecycleMode::Initialize).await;
        for (tool, given) in [
            ("read_text_file", json!({ "path": "/etc/passwd" })),
            ("list_documents", json!({})),
            ("await_review", json!({})),
        ] {
            let told = call(&connection, tool, given).await;
            assert!(told.failed && told.text.contains(word), "{tool}: {}", told.text);
            assert!(told.text.contains("--root DIR"), "{tool}: {}", told.text);
        }
    }
}

#[tokio::test]
async fn roots_are_asked_for_again_when_they_change() {
    let temp = tempfile::tempdir().unwrap();
    let (one, two) = (temp.path().join("one"), temp.path().join("two"));
    for folder in [&one, &two] {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    }
    let server = server(&[temp.path()], false, &temp.path().join("state"));
    let (near, far) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move { server.serve(far).await.unwrap().waiting().await });
    let roots = Arc::new(std::sync::Mutex::new(one.clone()));
    let connection = Moving(roots.clone()).serve(near).await.unwrap();
    let readable = async |folder: &Path| {
        let Value::Object(given) = json!({ "path": folder.join("a.txt") }) else { unreachable!() };
        let params = CallToolRequestParams::new("read_text_file").with_arguments(given);
        !Answer::of(&connection.call_tool(params).await.unwrap()).failed
    };
    assert!(readable(&one).await && !readable(&two).await);
    *roots.lock().unwrap() = two.clone();
    connection.notify_roots_list_changed().await.unwrap();
    // The notice has no answer; what it leads to shows in a call.
    let noticed = async {
        while !readable(&two).await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), noticed)
        .await
        .expect("the new roots are served");
    assert!(!readable(&one).await);
}

struct Moving(Arc<std::sync::Mutex<std::path::PathBuf>>);

impl ClientHandler for Moving {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots().enable_roots_list_changed().build();
        ClientConfig::new(capabilities, Implementation::new("mover", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new(uri(&self.0.lock().unwrap()))]))
    }
}
