//! A caller as it travels between processes, and as the workspace knows it.

use hashline_link::{CallerInfo, GrantInfo};
use hashline_workspace::disk::HardLinks;
use hashline_workspace::{Access, Caller, Depth, Grant, Grants};

/// The caller behind a call that came through the socket.
#[must_use]
pub fn caller_of(info: CallerInfo) -> Caller {
    let CallerInfo { agent, connection, roots, grants, reviews, no_hard_links } = info;
    let grants = grants.map(|grants| grants.into_iter().map(grant_of).collect());
    let hard_links = HardLinks::refused_if(no_hard_links);
    Caller { agent, connection, roots, grants, reviews, hard_links }
}

fn grant_of(info: GrantInfo) -> Grant {
    let GrantInfo { write, folder, children_only } = info;
    let access = if write { Access::Write } else { Access::Read };
    let depth = if children_only { Depth::Children } else { Depth::Below };
    Grant { access, folder, depth }
}

/// Grants as they travel.
pub(crate) fn grant_infos(grants: &Grants) -> Vec<GrantInfo> {
    let info = |grant: &Grant| GrantInfo {
        write: grant.access == Access::Write,
        folder: grant.folder.clone(),
        children_only: grant.depth == Depth::Children,
    };
    grants.iter().map(info).collect()
}
