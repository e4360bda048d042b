//! `hashline demo --editor nvim`: the same scene in a real Neovim, where the person decides.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::json;
use tokio::process::Command;

use super::agent::Agent;
use super::{Scene, UNSAVED, plugin_folder, wait_for_editor};

/// Opens Neovim with the plugin on a file with unsaved work, and lets an agent edit it. Returns when Neovim ends.
///
/// # Errors
///
/// Neovim or its plugin is not to be found, or a process does not start.
pub async fn in_neovim(nvim: Option<PathBuf>) -> std::io::Result<ExitStatus> {
    let plugin = plugin_folder().ok_or_else(|| {
        std::io::Error::other(
            "the plugin's folder nvim/ was not found: run this in the repository of hashline",
        )
    })?;
    let scene = Scene::new()?;
    let program = choose(nvim, std::env::var_os("PATH").as_deref(), plugin.parent());
    let draft = scene.folder.path().join("draft.js");
    std::fs::write(&draft, UNSAVED)?;
    // The plugin starts what it is told to; the demo's sidecar has to keep to the demo's folder.
    let sidecar = scene.folder.path().join("hashline");
    let lines = format!(
        "#!/bin/sh\nexec '{}' \"$@\" --state-dir '{}'\n",
        std::env::current_exe()?.display(),
        scene.state().display()
    );
    std::fs::write(&sidecar, lines)?;
    make_executable(&sidecar)?;
    let script = scene.folder.path().join("demo.lua");
    let lua = |path: &std::path::Path| format!("{:?}", path.display().to_string());
    // One message, and a short one: else Neovim begins with "Press ENTER" instead of the file.
    std::fs::write(
        &script,
        format!(
            "vim.opt.runtimepath:prepend({})\n\
             vim.g.hashline = {{ binary = {} }}\n\
             vim.cmd.runtime('plugin/hashline.lua')\n\
             vim.opt.shortmess:append('F')\n\
             vim.api.nvim_create_autocmd('VimEnter', {{ once = true, callback = function()\n\
               local draft = vim.fn.readfile({})\n\
               vim.api.nvim_buf_set_lines(0, 0, -1, false, draft)\n\
               vim.bo.endofline = false\n\
               vim.notify('An agent edits this file. :Hashline next, accept, reject, list')\n\
             end }})\n",
            lua(&plugin),
            lua(&sidecar),
            lua(&draft),
        ),
    )?;
    let mut editor = Command::new(&program);
    editor
        .args(["-n", "-i", "NONE", "--clean", "-u"])
        .arg(&script)
        .arg(scene.file())
        .current_dir(scene.root())
        .env("HASHLINE_STATE_DIR", scene.state());
    let mut child = editor.spawn().map_err(|error| {
        std::io::Error::other(format!(
            "{} could not be started: {error}. Install Neovim 0.11 or later, let tests/run nvim install one, or name \
             it: --nvim PATH",
            program.display()
        ))
    })?;
    let mut router = scene.hashline("mcp")?;
    router.arg("--root").arg(scene.root()).stderr(std::process::Stdio::null());
    let agent = Agent::start(router, &scene.root()).await?;
    let path = json!(scene.file());
    let edits = async {
        let read = wait_for_editor(&agent, &path).await?;
        // A moment in which the person sees the file as it is.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let operations = json!([
            {"op": "replace", "anchor": read.anchor("Hello"), "content": "  return `Hello, ${name}!`;"},
            {"op": "replace", "anchor": read.anchor("Bye"), "content": "  return `Goodbye, ${name}.`;"},
            {"op": "insert_after", "anchor": read.anchor("greet(\"world\")"), "content": "farewell(\"world\");"},
        ]);
        let arguments = json!({"path": path, "file_hash": read.file_hash(), "operations": operations});
        agent.call("edit_text_file", arguments).await
    };
    tokio::select! {
        // Neovim has the terminal: what goes wrong with the agent shows in the missing offer.
        _ = edits => {}
        status = child.wait() => { agent.stop().await; return status; }
    }
    let status = child.wait().await;
    agent.stop().await;
    status
}

/// The Neovim to start: the one that is named, else the one on the path, else the one that the tests of this repository install.
fn choose(named: Option<PathBuf>, path: Option<&OsStr>, repository: Option<&Path>) -> PathBuf {
    let on_path =
        || std::env::split_paths(path?).map(|folder| folder.join("nvim")).find(|nvim| nvim.is_file());
    let installed = || {
        let nvim = repository?.join("tests/.install/neovim/newest/nvim");
        nvim.is_file().then_some(nvim)
    };
    named.or_else(on_path).or_else(installed).unwrap_or_else(|| PathBuf::from("nvim"))
}

#[cfg(unix)]
fn make_executable(file: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_executable(_file: &std::path::Path) -> std::io::Result<()> {
    Err(std::io::Error::other(
        "this part of the demo starts Neovim by a shell script, which this system does not run",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neovim_is_named_or_on_the_path_or_installed_by_the_tests() {
        let temp = tempfile::tempdir().unwrap();
        let (bin, repository) = (temp.path().join("bin"), temp.path().join("repository"));
        let newest = repository.join("tests/.install/neovim/newest");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&newest).unwrap();
        let (path, root) = (Some(bin.as_os_str()), Some(repository.as_path()));
        assert_eq!(choose(None, path, root), PathBuf::from("nvim"), "which then says that there is none");
        std::fs::write(newest.join("nvim"), "").unwrap();
        assert_eq!(choose(None, path, root), newest.join("nvim"));
        assert_eq!(choose(None, path, None), PathBuf::from("nvim"));
        std::fs::write(bin.join("nvim"), "").unwrap();
        assert_eq!(choose(None, path, root), bin.join("nvim"));
        assert_eq!(choose(Some("mine".into()), path, root), PathBuf::from("mine"));
    }
}
