//! `GET /servers/NAME/versions/VERSION`, where VERSION may be `latest`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use serde_json::Value;

use super::Shared;
use super::answer::answer;
use super::error_responses::Refused;
use super::list::{Deleted, which};
use crate::store::Store;

/// One version.
pub async fn version<S: Store>(
    State(registry): Shared<S>,
    Path((name, version)): Path<(String, String)>,
    deleted: Result<Query<Deleted>, QueryRejection>,
) -> Result<Json<Value>, Refused> {
    let Query(deleted) = deleted?;
    let found = registry.store.version(&name, which(Some(&version))).await?;
    let found = found.filter(|found| deleted.shows(found.status));
    let found = found.ok_or_else(|| {
        Refused::not_found(format!("there is no {name} {version}; see /v0.1/servers for what there is"))
    })?;
    Ok(Json(answer(&found)))
}
