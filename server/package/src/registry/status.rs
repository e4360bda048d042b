//! `PATCH …/status`: what a publisher says of versions. Their documents stay as they were published.

use axum::Json;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::answer;
use super::auth::LetThrough;
use super::body::Body;
use super::error_responses::Refused;
use super::{Registry, Shared};
use crate::store::{StatusChange, Store, VersionStatus, Which};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wish {
    status: VersionStatus,
    status_message: Option<String>,
}

/// Of one version.
pub async fn one<S: Store>(
    State(registry): Shared<S>,
    Path((name, version)): Path<(String, String)>,
    _: LetThrough,
    Body(wish): Body,
) -> Result<Json<Value>, Refused> {
    change(&registry, &name, Some(&version), &wish).await?;
    let changed = registry.store.version(&name, Which::One(version.clone())).await?;
    Ok(Json(answer(&changed.ok_or_else(|| missing(&name, Some(&version)))?)))
}

/// Of all versions of a server.
pub async fn all<S: Store>(
    State(registry): Shared<S>,
    Path(name): Path<String>,
    _: LetThrough,
    Body(wish): Body,
) -> Result<Json<Value>, Refused> {
    let changed = change(&registry, &name, None, &wish).await?;
    Ok(Json(json!({"updatedCount": changed})))
}

async fn change<S: Store>(
    registry: &Registry<S>,
    name: &str,
    version: Option<&str>,
    wish: &[u8],
) -> Result<u64, Refused> {
    let Wish { status, status_message } = serde_json::from_slice(wish).map_err(|error| {
        Refused::invalid(format!("{error}; write {{\"status\": \"active\"}}, \"deprecated\" or \"deleted\""))
    })?;
    let change = StatusChange {
        name: name.to_owned(),
        version: version.map(str::to_owned),
        status,
        message: status_message,
    };
    match registry.store.set_status(&change).await? {
        0 => Err(missing(name, version)),
        changed => Ok(changed),
    }
}

fn missing(name: &str, version: Option<&str>) -> Refused {
    match version {
        Some(version) => {
            Refused::not_found(format!("there is no {name} {version}; see /v0.1/servers for what there is"))
        }
        None => Refused::not_found(format!("there is no server {name}; see /v0.1/servers for what there is")),
    }
}
