//! Which history is meant: the nearest at or above a folder.

use std::path::{Path, PathBuf};

use hashline_history::{Store, has_history, history_folder};
use hashline_link::{StateDir, discover};
use hashline_mcp::signer_of;
use hashline_terminal::Failure;
use hashline_workspace::name_of_process;

use super::arguments::Where;
use super::messages;

/// What this program is called in the record.
pub const PROCESS: &str = "mcpdiff";

/// The history that is meant, which is there.
pub fn store(place: &Where) -> Result<Store, Failure> {
    let start = match &place.workspace {
        Some(folder) => folder
            .canonicalize()
            .map_err(|error| Failure::usage(messages::no_folder(folder, &error.to_string())))?,
        None => std::env::current_dir()
            .and_then(|folder| folder.canonicalize())
            .map_err(|error| Failure::usage(messages::no_current_folder(&error.to_string())))?,
    };
    if !start.is_dir() {
        return Err(Failure::usage(messages::no_folder(&start, "it is not a folder")));
    }
    let mut found = nearest(&start, &[], &[top_of(&start)]);
    if found.is_none() {
        // An editor may have a folder open that is somebody else's.
        let roots = live_roots(&state(place)?);
        found = nearest(&start, &roots, &[]);
    }
    let folder = found.ok_or_else(|| Failure::broken(messages::no_history(&start)))?;
    Ok(Store::new(folder, name_of_process(PROCESS)).signed_by(signer_of(&state(place)?)))
}

/// Where editors announce themselves.
pub fn state(place: &Where) -> Result<StateDir, Failure> {
    StateDir::new(place.state_dir.as_deref()).map_err(Failure::broken)
}

fn nearest(start: &Path, roots: &[PathBuf], through: &[PathBuf]) -> Option<PathBuf> {
    // What stands in the place of a history and is none is told of when it is used.
    let has = |folder: &Path| has_history(folder).unwrap_or(true);
    // The rule is one for files: any file in the folder will do.
    history_folder(&start.join("any"), roots, through, has).filter(|folder| has(folder))
}

fn live_roots(state: &StateDir) -> Vec<PathBuf> {
    let roots = discover(state).into_iter().flat_map(|sidecar| sidecar.roots);
    roots.filter_map(|root| root.canonicalize().ok()).collect()
}

/// How far up a person is at home: to the outermost folder that is theirs, with all between being theirs too. A history further up was
/// made by somebody else, and could say anything.
#[cfg(unix)]
fn top_of(start: &Path) -> PathBuf {
    use std::os::unix::fs::MetadataExt;
    let me = nix::unistd::geteuid().as_raw();
    let mine = |folder: &&Path| folder.metadata().is_ok_and(|metadata| metadata.uid() == me);
    start.ancestors().take_while(mine).last().unwrap_or(start).to_path_buf()
}

#[cfg(not(unix))]
fn top_of(start: &Path) -> PathBuf {
    start.ancestors().last().unwrap_or(start).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_history_above_is_found() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let (project, inner) = (top.join("project"), top.join("project/src/deep"));
        std::fs::create_dir_all(&inner).unwrap();
        let place =
            |folder: &Path| Where { workspace: Some(folder.to_owned()), state_dir: Some(top.join("state")) };
        let found = |folder: &Path| store(&place(folder)).map(|store| store.folder().to_owned());
        let error = found(&inner).unwrap_err().to_string();
        assert!(error.contains("-w"), "{error}");
        std::fs::create_dir_all(project.join(".mcp/edit_history")).unwrap();
        for folder in [&project, &inner, &project.join(".mcp")] {
            assert_eq!(found(folder).unwrap(), project);
        }
        std::fs::create_dir_all(project.join("src/.mcp/edit_history")).unwrap();
        assert_eq!(found(&inner).unwrap(), project.join("src"));
        assert!(found(&top.join("missing")).unwrap_err().to_string().contains("missing"));
    }
}
