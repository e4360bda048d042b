//! `GET /servers` and `GET /servers/NAME/versions`: pages of what there is.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::answer::answer;
use super::error_responses::Refused;
use crate::store::{Store, VersionStatus, Wanted, Which};

/// Versions on a page, unless told, and at most.
const PAGE: i64 = 30;
const LONGEST_PAGE: i64 = 100;

#[derive(Deserialize)]
pub struct Search {
    cursor: Option<String>,
    limit: Option<i64>,
    search: Option<String>,
    updated_since: Option<String>,
    version: Option<String>,
    #[serde(default)]
    include_deleted: bool,
}

#[derive(Deserialize)]
pub struct Page {
    cursor: Option<String>,
    limit: Option<i64>,
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
    search: Result<Query<Search>, QueryRejection>,
) -> Result<Json<Value>, Refused> {
    let Query(search) = search?;
    let updated_since = match &search.updated_since {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            Refused::query(format!("updated_since is {text:?}; write a moment as in 2026-01-31T12:00:00Z"))
        })?),
    };
    let wanted = Wanted {
        after: after(search.cursor.as_deref())?,
        limit: limit(search.limit)?,
        search: search.search.filter(|search| !search.is_empty()),
        updated_since,
        which: which(search.version.as_deref()),
        include_deleted: search.include_deleted,
        ..Wanted::default()
    };
    page_of(&registry.store, wanted).await
}

/// The versions of one server, page by page, the newest first: those that come to it meanwhile change nothing of the pages behind.
pub async fn versions<S: Store>(
    State(registry): Shared<S>,
    Path(name): Path<String>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<Value>, Refused> {
    let Query(page) = page?;
    let wanted = Wanted {
        after: after(page.cursor.as_deref())?,
        newest_first: true,
        limit: limit(page.limit)?,
        name: Some(name.clone()),
        include_deleted: page.include_deleted,
        ..Wanted::default()
    };
    let any = Wanted { after: None, limit: 1, ..wanted.clone() };
    if registry.store.list(&any).await?.is_empty() {
        return Err(Refused::not_found(format!("there is no server {name}; see /v0.1/servers")));
    }
    page_of(&registry.store, wanted).await
}

/// Where a page begins.
fn after(cursor: Option<&str>) -> Result<Option<i64>, Refused> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else { return Ok(None) };
    match cursor.parse() {
        Ok(id) if id >= 0 => Ok(Some(id)),
        _ => Err(Refused::query(format!("{cursor:?} is no cursor; take nextCursor of the page before"))),
    }
}

/// How long it is.
fn limit(limit: Option<i64>) -> Result<i64, Refused> {
    match limit.unwrap_or(PAGE) {
        limit @ 1..=LONGEST_PAGE => Ok(limit),
        limit => Err(Refused::query(format!("limit is {limit}; it can be 1 to {LONGEST_PAGE}"))),
    }
}

pub fn which(version: Option<&str>) -> Which {
    match version {
        None | Some("") => Which::All,
        Some("latest") => Which::Latest,
        Some(version) => Which::One(version.to_owned()),
    }
}

/// What is wanted, and where the next page begins if there is one.
async fn page_of(store: &impl Store, wanted: Wanted) -> Result<Json<Value>, Refused> {
    let limit = wanted.limit;
    // One more tells whether there is another page.
    let mut versions = store.list(&Wanted { limit: limit + 1, ..wanted }).await?;
    let more = versions.len() as i64 > limit;
    versions.truncate(usize::try_from(limit).unwrap_or_default());
    let servers: Vec<Value> = versions.iter().map(answer).collect();
    let mut metadata = json!({"count": servers.len()});
    if let Some(last) = versions.last().filter(|_| more) {
        metadata["nextCursor"] = json!(last.id.to_string());
    }
    Ok(Json(json!({"servers": servers, "metadata": metadata})))
}
