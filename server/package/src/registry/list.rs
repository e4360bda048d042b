//! `GET /servers` and `GET /servers/NAME/versions`: pages of what there is.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::answer;
use super::refused::Refused;
use crate::store::{Store, StoredVersion, VersionStatus, Wanted, Which};

/// Versions on a page, unless told, and at most.
const PAGE: i64 = 30;
const LONGEST_PAGE: i64 = 100;

#[derive(Deserialize)]
pub struct Page {
    cursor: Option<String>,
    limit: Option<i64>,
    search: Option<String>,
    updated_since: Option<String>,
    version: Option<String>,
    #[serde(default)]
    include_deleted: bool,
}

#[derive(Deserialize)]
pub struct Deleted {
    #[serde(default)]
    include_deleted: bool,
}

impl Deleted {
    /// Whether a version of this status is shown.
    pub fn shows(&self, status: VersionStatus) -> bool {
        self.include_deleted || status != VersionStatus::Deleted
    }
}

/// Versions of all servers, page by page.
pub async fn servers<S: Store>(
    State(registry): Shared<S>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Value>, Refused> {
    let Query(page) = page?;
    let limit = page.limit.unwrap_or(PAGE);
    if !(1..=LONGEST_PAGE).contains(&limit) {
        return Err(Refused::query(format!("limit is {limit}; it can be 1 to {LONGEST_PAGE}")));
    }
    let after = match page.cursor.as_deref().filter(|cursor| !cursor.is_empty()) {
        None => 0,
        Some(cursor) => cursor.parse().ok().filter(|id| *id >= 0).ok_or_else(|| {
            Refused::query(format!("{cursor:?} is no cursor; take nextCursor of the page before"))
        })?,
    };
    let updated_since = match &page.updated_since {
        None => None,
        Some(text) => Some(humantime::parse_rfc3339(text).map_err(|_| {
            Refused::query(format!("updated_since is {text:?}; write a moment as in 2026-01-31T12:00:00Z"))
        })?),
    };
    let wanted = Wanted {
        after,
        // One more tells whether there is another page.
        limit: limit + 1,
        search: page.search.filter(|search| !search.is_empty()),
        updated_since,
        which: which(page.version.as_deref()),
        name: None,
        include_deleted: page.include_deleted,
    };
    let mut versions = registry.store.list(&wanted).await?;
    let more = versions.len() as i64 > limit;
    versions.truncate(usize::try_from(limit).unwrap_or_default());
    let next = versions.last().filter(|_| more).map(|version| version.id.to_string());
    Ok(Json(page_of(&versions, next)))
}

/// All versions of one server, the newest first.
pub async fn versions<S: Store>(
    State(registry): Shared<S>,
    Path(name): Path<String>,
    deleted: Result<Query<Deleted>, QueryRejection>,
) -> Result<Json<Value>, Refused> {
    let Query(Deleted { include_deleted }) = deleted?;
    let wanted = Wanted { limit: i64::MAX, name: Some(name.clone()), include_deleted, ..Wanted::default() };
    let mut versions = registry.store.list(&wanted).await?;
    versions.reverse();
    if versions.is_empty() {
        return Err(Refused::not_found(format!("there is no server {name}; see /v0.1/servers")));
    }
    Ok(Json(page_of(&versions, None)))
}

pub fn which(version: Option<&str>) -> Which {
    match version {
        None | Some("") => Which::All,
        Some("latest") => Which::Latest,
        Some(version) => Which::One(version.to_owned()),
    }
}

fn page_of(versions: &[StoredVersion], next: Option<String>) -> Value {
    let servers: Vec<Value> = versions.iter().map(answer).collect();
    let mut metadata = json!({"count": servers.len()});
    if let Some(next) = next {
        metadata["nextCursor"] = json!(next);
    }
    json!({"servers": servers, "metadata": metadata})
}
