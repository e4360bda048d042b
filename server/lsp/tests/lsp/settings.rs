//! Settings and folders, from everywhere that an editor says some.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hashline_link::{CancellationToken, RemoteError, StateDir};
use hashline_lsp::{Agents, Listening, ServeHttp};
use hashline_workspace::Workspace;
use hashline_workspace::document::Mode;
use serde_json::{Value, json};

use crate::editor::{Editor, Manners, SILENCE, uri_of};

#[tokio::test]
async fn a_wrong_setting_is_named_and_the_others_hold() {
    let options = json!({"hashline": {"mode": {"open": "aply", "disk": "propose"}, "colour": 1}});
    let mut editor = Editor::start(Manners::plain().with("/initializationOptions", options)).await;
    let said = [editor.hear("window/showMessage").await, editor.hear("window/showMessage").await];
    let said: Vec<_> = said.iter().map(|said| said["params"]["message"].as_str().unwrap()).collect();
    assert!(
        said.iter().any(|said| said.contains("mode.open is \"aply\"; expected \"propose\" or \"apply\""))
    );
    assert!(said.iter().any(|said| said.contains("no setting hashline.colour")), "{said:?}");
    assert_eq!(editor.workspace.settings().everywhere.disk, Mode::Propose);
    assert_eq!(editor.workspace.settings().everywhere.open, Mode::Propose);
    editor.quit().await;
}

#[tokio::test]
async fn settings_are_asked_for_at_the_start_and_when_they_change() {
    let manners = Manners::plain()
        .with("/capabilities/workspace/configuration", json!(true))
        .with("/capabilities/workspace/didChangeConfiguration", json!({"dynamicRegistration": true}));
    let mut editor = Editor::start(manners).await;
    let registration = editor.hear("client/registerCapability").await;
    assert_eq!(registration["params"]["registrations"][0]["registerOptions"], json!({"section": "hashline"}));
    editor.reply(&registration, Value::Null).await;
    let question = editor.hear("workspace/configuration").await;
    let folder = editor.folder_uri();
    let items = json!([{"section": "hashline"}, {"section": "hashline", "scopeUri": folder}]);
    assert_eq!(question["params"]["items"], items);
    editor.reply(&question, json!([{"mode": {"open": "apply"}}])).await;
    editor.until("the settings", |workspace| workspace.settings().everywhere.open == Mode::Apply).await;
    assert!(!editor.workspace.settings().everywhere.diagnostics, "what was said at the start holds");
    editor.notify("workspace/didChangeConfiguration", json!({"settings": null})).await;
    let question = editor.hear("workspace/configuration").await;
    editor.reply(&question, json!([null])).await;
    editor.until("the settings", |workspace| workspace.settings().everywhere.open == Mode::Propose).await;
    editor.notify("workspace/didChangeConfiguration", json!({"settings": {}})).await;
    let question = editor.hear("workspace/configuration").await;
    editor.send(json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": 1, "message": "no"}})).await;
    editor.quit().await;
}

#[tokio::test]
async fn each_folder_has_its_own_settings() {
    let second = tempfile::tempdir().unwrap();
    let manners = Manners::plain().with("/capabilities/workspace/configuration", json!(true));
    let mut editor = Editor::start(manners).await;
    let question = editor.hear("workspace/configuration").await;
    editor.reply(&question, json!([{"mode": {"open": "apply"}}, {"mode": {"open": "apply"}}])).await;
    // A folder that comes is asked about, too.
    let added = json!([{"uri": uri_of(second.path()), "name": "second"}]);
    let event = json!({"event": {"added": added, "removed": []}});
    editor.notify("workspace/didChangeWorkspaceFolders", event).await;
    let question = editor.hear("workspace/configuration").await;
    let scopes: Vec<_> =
        question["params"]["items"].as_array().unwrap().iter().map(|i| &i["scopeUri"]).collect();
    assert_eq!(scopes, [&Value::Null, &editor.folder_uri().into(), &uri_of(second.path()).into()]);
    let answer = json!([
        {"mode": {"open": "apply"}},
        {"mode": {"open": "propose", "rules": [{"glob": "docs/**", "mode": "apply"}]}},
        {"mode": {"open": "apply"}}
    ]);
    editor.reply(&question, answer).await;
    editor.until("the settings", |workspace| workspace.settings().of_folders.len() == 2).await;

    let cases = [
        (editor.path("a.txt"), Mode::Propose),
        (editor.path("docs/b.txt"), Mode::Apply),
        (second.path().join("c.txt"), Mode::Apply),
    ];
    for (path, mode) in &cases {
        let name = path.to_str().unwrap();
        editor.open(name, "one\ntwo\n").await;
        assert_eq!(editor.agent(name, &[(1, "1")]).await.mode, *mode, "{name}");
    }
    for _ in cases.iter().filter(|(_, mode)| *mode == Mode::Apply) {
        editor.deliver().await;
    }
    // They change while it runs, of one folder alone.
    editor.notify("workspace/didChangeConfiguration", json!({"settings": null})).await;
    let question = editor.hear("workspace/configuration").await;
    let answer = json!([{"mode": {"open": "apply"}}, {}, {"mode": {"open": "propose"}}]);
    editor.reply(&question, answer).await;
    let proposes = |workspace: &Workspace| workspace.settings().of(&cases[2].0).open == Mode::Propose;
    editor.until("the settings", proposes).await;
    for (case, mode) in [(0, Mode::Apply), (2, Mode::Propose)] {
        let name = cases[case].0.to_str().unwrap();
        assert_eq!(editor.agent(name, &[(2, "2")]).await.mode, mode, "{name}");
    }
    editor.deliver().await;
    editor.quit().await;
}

#[tokio::test]
async fn settings_that_are_sent_are_taken_where_there_is_nothing_to_ask() {
    let mut editor = Editor::start(Manners::plain()).await;
    let settings = json!({"settings": {"hashline": {"mode": {"open": "apply"}}, "other": {}}});
    editor.notify("workspace/didChangeConfiguration", settings).await;
    editor.until("the settings", |workspace| workspace.settings().everywhere.open == Mode::Apply).await;
    editor.notify("workspace/didChangeConfiguration", json!({"settings": null})).await;
    let settings = json!({"settings": {"hashline": {"mode": {"rules": 1}}}});
    editor.notify("workspace/didChangeConfiguration", settings).await;
    let said = editor.hear("window/showMessage").await;
    assert!(said["params"]["message"].as_str().unwrap().contains("mode.rules is 1; expected a list"));
    assert!(editor.heard("window/showMessage", SILENCE).await.is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn turning_diagnostics_off_takes_them_away() {
    let mut editor = Editor::start(Manners::plain().with("/initializationOptions", json!(null))).await;
    editor.open("a.txt", "one\n").await;
    editor.agent("a.txt", &[(1, "1")]).await;
    let told = editor.hear("textDocument/publishDiagnostics").await;
    assert_eq!(told["params"]["diagnostics"].as_array().unwrap().len(), 1);
    let settings = json!({"settings": {"hashline": {"diagnostics": false}}});
    editor.notify("workspace/didChangeConfiguration", settings).await;
    let told = editor.hear("textDocument/publishDiagnostics").await;
    assert!(told["params"]["diagnostics"].as_array().unwrap().is_empty());
    editor.quit().await;
}

#[tokio::test]
async fn folders_come_and_go_with_the_editor() {
    let second = tempfile::tempdir().unwrap();
    let mut editor = Editor::start(Manners::plain()).await;
    let first = editor.folder.path().canonicalize().unwrap();
    assert_eq!(editor.workspace.roots(), std::slice::from_ref(&first));
    let folder = |uri: String| json!([{"uri": uri, "name": "x"}]);
    let event = json!({"event": {"added": folder(uri_of(second.path())), "removed": []}});
    editor.notify("workspace/didChangeWorkspaceFolders", event).await;
    editor.until("both", |workspace| workspace.roots().len() == 2).await;
    let event = json!({"event": {"added": [], "removed": folder(editor.folder_uri())}});
    editor.notify("workspace/didChangeWorkspaceFolders", event).await;
    let left = second.path().canonicalize().unwrap();
    editor.until("one", |workspace| workspace.roots() == [left.clone()]).await;
    let event = json!({"event": {"added": folder("file:///nowhere/at/all".to_owned()), "removed": []}});
    editor.notify("workspace/didChangeWorkspaceFolders", event).await;
    let said = editor.hear("window/showMessage").await;
    assert!(said["params"]["message"].as_str().unwrap().contains("/nowhere/at/all"), "{said}");
    assert_eq!(editor.workspace.roots(), [left]);
    editor.quit().await;
}

#[tokio::test]
async fn a_root_stands_in_for_folders() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().canonicalize().unwrap();
    for params in [
        json!({"rootUri": uri_of(&path), "capabilities": {}, "workspaceFolders": null}),
        json!({"rootUri": null, "rootPath": path, "capabilities": {}, "workspaceFolders": []}),
    ] {
        let mut manners = Manners::plain();
        manners.initialize = params;
        let editor = Editor::start(manners).await;
        assert_eq!(editor.workspace.roots(), std::slice::from_ref(&path));
        editor.quit().await;
    }
    let mut manners = Manners::plain();
    manners.initialize = json!({"rootUri": null, "capabilities": {}, "workspaceFolders": null});
    let editor = Editor::start(manners).await;
    assert_eq!(editor.workspace.roots(), [std::env::current_dir().unwrap().canonicalize().unwrap()]);
    editor.quit().await;
}

/// Serves nothing, where it is told to: one address at a time, each known by one name only. It leaves it when it may.
struct Door {
    /// How often it has listened.
    listened: tokio::sync::watch::Sender<usize>,
    /// Whether somebody listens.
    taken: Arc<std::sync::Mutex<bool>>,
    told_to_leave: Arc<tokio::sync::Notify>,
    may_leave: Arc<tokio::sync::Notify>,
}

impl ServeHttp for Door {
    fn listen(
        &self,
        _: String,
        _: Vec<PathBuf>,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Result<Listening, String>> + Send + '_>> {
        Box::pin(async move {
            if std::mem::replace(&mut *self.taken.lock().unwrap(), true) {
                return Err("somebody listens there".to_owned());
            }
            self.listened.send_modify(|count| *count += 1);
            let (told, may, taken) = (self.told_to_leave.clone(), self.may_leave.clone(), self.taken.clone());
            let closed = CancellationToken::new();
            let left = closed.clone();
            let serving = Box::pin(async move {
                stop.cancelled().await;
                told.notify_one();
                may.notified().await;
                *taken.lock().unwrap() = false;
                left.cancel();
            });
            Ok(Listening { address: SocketAddr::from(([127, 0, 0, 1], 1)), closed, serving })
        })
    }

    fn serve_folders(&self, _: &[PathBuf]) {}
}

#[tokio::test]
async fn an_address_in_another_spelling_is_listened_at_when_it_is_free() {
    let state = tempfile::tempdir().unwrap();
    let door = Arc::new(Door {
        listened: tokio::sync::watch::Sender::new(0),
        taken: Arc::default(),
        told_to_leave: Arc::default(),
        may_leave: Arc::default(),
    });
    let agents = Agents {
        state: StateDir::new(Some(state.path())).unwrap(),
        run_tool: Arc::new(|_, _, _| Box::pin(async { Err(RemoteError::cancelled()) })),
        http: Some(door.clone()),
        claude: None,
        threads: tokio::runtime::Handle::current(),
    };
    let listen = |address: &str| json!({"settings": {"hashline": {"http": {"listen": address}}}});
    let listened = async |times: usize| {
        let mut count = door.listened.subscribe();
        let enough = tokio::time::timeout(Duration::from_secs(10), count.wait_for(|count| *count >= times));
        assert!(enough.await.is_ok(), "it has listened {} times", *door.listened.borrow());
    };
    let mut editor = Editor::start(Manners { agents: Some(agents), ..Manners::plain() }).await;
    editor.notify("workspace/didChangeConfiguration", listen("localhost:1")).await;
    listened(1).await;
    editor.notify("workspace/didChangeConfiguration", listen("127.0.0.1:1")).await;
    door.told_to_leave.notified().await;
    door.may_leave.notify_one();
    listened(2).await;

    // Where somebody else listens, that is said, and it is tried again with the next change.
    editor.notify("workspace/didChangeConfiguration", listen("")).await;
    door.told_to_leave.notified().await;
    editor.notify("workspace/didChangeConfiguration", listen("127.0.0.1:2")).await;
    let said = editor.hear("window/showMessage").await;
    assert_eq!(said["params"]["message"], "somebody listens there");
    editor.notify("workspace/didChangeConfiguration", listen("127.0.0.1:2")).await;
    assert!(editor.heard("window/showMessage", SILENCE).await.is_empty(), "it is said once");
    door.may_leave.notify_one();
    let free = async {
        while *door.taken.lock().unwrap() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), free).await.unwrap();
    editor.notify("workspace/didChangeConfiguration", listen("127.0.0.1:2")).await;
    listened(3).await;
    door.may_leave.notify_one();
    editor.quit().await;
}
