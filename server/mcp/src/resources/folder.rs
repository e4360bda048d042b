//! `list://`: the names in a folder.

use std::borrow::Cow;

use hashline_workspace::disk::{Entry, PathStyle};
use hashline_workspace::{Caller, Workspace};
use serde::Serialize;

use crate::reply::Reply;
use crate::resources::{json_of, refused};

/// A name in a folder, as agents get it.
#[derive(Serialize)]
struct Listed<'a> {
    /// One that is not Unicode has a sign for each part that is not.
    name: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
}

pub(crate) async fn read(workspace: &Workspace, caller: &Caller, path: &str) -> Reply {
    match workspace.list(caller, path, PathStyle::WithinRoot).await {
        Ok(entries) => {
            let listed = entries
                .iter()
                .map(|Entry { name, kind }| Listed { name: name.to_string_lossy(), kind: kind.as_str() });
            json_of(&listed.collect::<Vec<_>>())
        }
        Err(refusal) => refused(refusal),
    }
}
