//! Files that programs act on by themselves: what a real agent writes there waits for the command, whatever `--mode` says.
#![cfg(unix)]

use serde_json::json;

use crate::agent::Agent;
use crate::project::Project;

/// Has an agent write a file; what it is told, and the id of the edit.
fn write(agent: &mut Agent, path: &str, content: &str, conversation: Option<&str>) -> (String, String) {
    let given = json!({"path": path, "content": content, "mcp_conversation_id": conversation});
    let (told, result) = agent.call("write_file", given);
    assert_ne!(result["isError"], true, "{path}: {told}");
    (told, result["_meta"]["edits"][0].as_str().map(str::to_owned).unwrap())
}

#[test]
fn what_a_program_obeys_waits_for_the_command_in_every_mode() {
    let project = Project::new();
    let file = project.write(".vscode/tasks.json", "{}\n");
    let mut agent = Agent::start(&project, &["--mode", "apply", "--hold", "deploy/**"]);
    let (told, changed) = write(&mut agent, "src/../.vscode/tasks.json", "{\"run\": 1}\n", None);
    assert!(told.contains("held in every mode, as editors do what such a file says"), "{told}");
    assert!(told.contains("mcpdiff"), "{told}");
    let (_, refused) = write(&mut agent, ".envrc", "evil\n", None);
    let (told, made) = write(&mut agent, "deploy/run.sh", "run\n", None);
    assert!(told.contains("settings say so of this file"), "{told}");
    let (told, _) = write(&mut agent, "src/main.rs", "fn main() {}\n", None);
    assert!(!told.contains("held") && project.text("src/main.rs") == "fn main() {}\n", "{told}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}\n");
    assert!(!project.folder.join(".envrc").exists() && !project.folder.join("deploy").exists());

    project.must(0, &["accept", &changed]);
    project.must(0, &["reject", &refused]);
    project.must(0, &["accept", &made]);
    assert_eq!(project.text(".vscode/tasks.json"), "{\"run\": 1}\n");
    assert_eq!(project.text("deploy/run.sh"), "run\n");
    assert!(!project.folder.join(".envrc").exists());
    project.assert_whole();
}

/// Each piece by itself makes none, so each is held; all together are not accepted, nor is the last of them.
#[test]
fn no_repository_comes_of_what_is_accepted() {
    let project = Project::new();
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let mut conversation: Option<String> = None;
    let mut pieces = Vec::new();
    for (path, content) in [
        ("x/config", "[core]\n\tfsmonitor = evil\n"),
        ("x/objects/a", "a\n"),
        ("x/refs/a", "a\n"),
        ("x/HEAD", "ref: refs/heads/main\n"),
    ] {
        let (told, edit) = write(&mut agent, path, content, conversation.as_deref());
        let words = told.split_once("mcp_conversation_id: ").map(|(_, rest)| rest);
        let opened = words.and_then(|rest| rest.split_once('.')).map(|(id, _)| id.to_owned());
        conversation = conversation.or(opened);
        pieces.push(edit);
    }
    let refused = project.must(1, &["accept", "-c", &conversation.unwrap()]);
    assert!(refused.err.contains("is a git repository"), "{}", refused.err);
    for piece in ["config", "objects/a", "refs/a", "HEAD"] {
        assert!(!project.folder.join("x").join(piece).exists(), "{piece}");
    }
    let head = pieces.pop().unwrap();
    for piece in pieces {
        project.must(0, &["accept", &piece]);
    }
    let refused = project.must(1, &["accept", &head]);
    assert!(refused.err.contains("is a git repository"), "{}", refused.err);
    assert!(project.folder.join("x/config").exists() && !project.folder.join("x/HEAD").exists());
    project.assert_whole();
}
