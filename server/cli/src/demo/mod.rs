//! `hashline demo`: the whole loop on real parts, in a temporary workspace.
//!
//! A sidecar (`hashline lsp`) with a minimal editor on one side, a router (`hashline mcp`) with a scripted agent on the other, and a
//! person who keeps typing without saving. Everything goes through the protocols, nothing is staged: if a step does not come out
//! as it should, the demo says so and ends with 1.

mod agent;
mod editor;
mod nvim;
mod output;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;
use tokio::runtime::Builder;

use crate::arguments::{Demo, DemoEditor};
use crate::threads;

use agent::{Agent, Answer};
use editor::{Editor, Offer};
use hashline_terminal::Failure;
use output::Stage;

/// The file as it is on the disk.
const SAVED: &str = "\
function greet(name) {
  return \"Hello, \" + name;
}

function farewell(name) {
  return \"Bye, \" + name;
}

greet(\"world\");
";

/// What the person has changed and not saved: the file ends without a newline, too.
const UNSAVED: &str = "\
// draft: greetings, not saved yet
function greet(name) {
  return \"Hello, \" + name;
}

function farewell(name) {
  return \"Bye, \" + name;
}

greet(\"world\");
// notes:";

/// Plays the demo.
pub fn run(options: &Demo) -> Result<ExitCode, Failure> {
    let runtime = threads::start(&mut Builder::new_multi_thread())?;
    let played = runtime.block_on(async {
        match options.editor {
            None => play().await,
            Some(DemoEditor::Nvim) => {
                nvim::in_neovim(options.nvim.clone()).await.map(|status| status.success())
            }
        }
    });
    match played {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::FAILURE),
        Err(error) => Err(Failure::broken(error)),
    }
}

/// Where the demo plays: a folder of its own, which goes when this is dropped.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("hashline-demo-").tempdir()?;
        std::fs::create_dir(folder.path().join("project"))?;
        std::fs::write(folder.path().join("project/greet.js"), SAVED)?;
        Ok(Self { folder })
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn file(&self) -> PathBuf {
        self.root().join("greet.js")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// This program again, with a subcommand.
    fn hashline(&self, subcommand: &str) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(subcommand).arg("--state-dir").arg(self.state());
        Ok(command)
    }
}

/// Plays the loop and prints it. Returns whether everything came out as it should.
///
/// # Errors
///
/// A process does not start or no longer answers.
async fn play() -> std::io::Result<bool> {
    let scene = Scene::new()?;
    let mut stage = Stage::new();
    let mut sidecar = scene.hashline("lsp")?;
    sidecar.args(["--editor", "demo editor"]);
    let editor = Editor::open(sidecar, &scene.root(), &scene.file(), UNSAVED).await?;
    let mut router = scene.hashline("mcp")?;
    router.arg("--root").arg(scene.root());
    let agent = Agent::start(router, &scene.root()).await?;
    let result = acts(&mut stage, &scene, &editor, &agent).await;
    agent.stop().await;
    editor.close().await;
    result?;
    Ok(stage.finish())
}

async fn acts(stage: &mut Stage, scene: &Scene, editor: &Editor, agent: &Agent) -> std::io::Result<()> {
    let path = json!(scene.file());

    stage.act(
        "A person has greet.js open, with work that is not saved. The agent reads what is in the editor.",
    );
    let read = wait_for_editor(agent, &path).await?;
    stage.show("agent: read_text_file", &read.text);
    stage.check("the agent sees the unsaved lines", read.text.contains("// draft: greetings"));

    stage.act("The agent changes three places in one call, while the person types on in the last line.");
    let typist = tokio::spawn(type_on(editor.clone()));
    let edit = agent
        .call(
            "edit_text_file",
            json!({"path": path, "file_hash": read.file_hash(), "operations": [
                {"op": "replace", "anchor": read.anchor("Hello"), "content": "  return `Hello, ${name}!`;"},
                {"op": "replace", "anchor": read.anchor("Bye"), "content": "  return `Goodbye, ${name}.`;"},
                {"op": "insert_after", "anchor": read.anchor("greet(\"world\")"), "content": "farewell(\"world\");"},
            ]}),
        )
        .await?;
    stage.show("agent: edit_text_file", &edit.text);
    stage.check("the edit is held", !edit.refused && !editor.text().await.contains("Goodbye"));

    stage.act("The editor offers the hunks where they are, as code actions. The person accepts one …");
    let offers = editor.offers("\"Hello, \"").await?;
    stage.list(
        "editor: code actions on the line with \"Hello\"",
        offers.iter().map(|offer| offer.title.as_str()),
    );
    choose(stage, editor, &offers, "Accept").await?;
    let accepted = until(|| async { editor.text().await.contains("`Hello, ${name}!`") }).await;
    stage.check("the accepted hunk is in the text", accepted);

    stage.act("… and rejects another.");
    let offers = editor.offers("\"Bye, \"").await?;
    choose(stage, editor, &offers, "Reject").await?;
    let outcome = agent.call("await_review", json!({"timeout_s": 1})).await?;
    stage.show("agent: await_review", &outcome.text);
    stage.check("the rejected hunk is not in the text", !editor.text().await.contains("Goodbye"));

    stage.act("The agent still has its first read. An edit of a line that nobody touched since is carried to where it is now.");
    let carried = agent
        .call(
            "edit_text_file",
            json!({"path": path, "file_hash": read.file_hash(), "operations": [
                {"op": "insert_before", "anchor": read.anchor("function farewell"), "content": "// says good-bye"},
            ]}),
        )
        .await?;
    stage.show("agent: edit_text_file, with the old file_hash", &carried.text);
    stage.check("the stale edit is carried", !carried.refused);

    stage.act("An edit of a line that has changed since is refused, with the lines as they are now.");
    let refused = agent
        .call(
            "edit_text_file",
            json!({"path": path, "file_hash": read.file_hash(), "operations": [
                {"op": "replace", "anchor": read.anchor("\"Hello, \""), "content": "  return \"Hi \" + name;"},
            ]}),
        )
        .await?;
    stage.show("agent: edit_text_file, with the old file_hash", &refused.text);
    stage.check("the edit of the changed line is refused", refused.refused);

    let typed = typist.await.map_err(std::io::Error::other)??;
    let text = editor.text().await;
    stage.act("The text in the editor. The file on the disk is as it was, until the person saves.");
    stage.show("editor: greet.js", &text);
    stage.check("every key of the person is in the text", text.contains(&format!("// notes:{typed}")));
    let on_disk = std::fs::read_to_string(scene.file())?;
    stage.check("the disk is untouched", on_disk == SAVED);
    std::fs::write(scene.file(), &text)?;
    editor.saved().await?;
    for message in editor.messages().await {
        stage.show("editor: message", &message);
    }
    Ok(())
}

/// Reads until the answer comes from the editor: the router may still be looking for it.
async fn wait_for_editor(agent: &Agent, path: &serde_json::Value) -> std::io::Result<Answer> {
    for _ in 0..200 {
        let read = agent.call("read_text_file", json!({"path": path})).await?;
        if read.text.contains("// notes:") {
            return Ok(read);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    agent.call("read_text_file", json!({"path": path})).await
}

/// Ten keys a second, in the last line.
async fn type_on(editor: Editor) -> std::io::Result<String> {
    let words = " say it in the language of the person";
    for key in words.chars() {
        editor.type_behind("// notes:", &key.to_string()).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(words.to_owned())
}

async fn choose(stage: &mut Stage, editor: &Editor, offers: &[Offer], word: &str) -> std::io::Result<()> {
    match offers.iter().find(|offer| offer.title.starts_with(word)) {
        Some(offer) => {
            stage.say(&format!("person: chooses “{}”", offer.title));
            editor.choose(offer).await
        }
        None => {
            stage.check(&format!("an action to {} is offered", word.to_lowercase()), false);
            Ok(())
        }
    }
}

/// Whether something comes true within some seconds.
async fn until<F: Future<Output = bool>>(check: impl Fn() -> F) -> bool {
    for _ in 0..200 {
        if check().await {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}

/// The folder of the Neovim plugin: beside the program that was built from this repository, or in the present folder.
fn plugin_folder() -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?;
    let mut folders: Vec<&Path> = beside.ancestors().collect();
    let here = std::env::current_dir().ok()?;
    folders.push(&here);
    folders
        .into_iter()
        .map(|folder| folder.join("nvim"))
        .find(|nvim| nvim.join("plugin/hashline.lua").is_file())
}
