//! `POST /publish` and `POST /validate`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::answer;
use super::auth::LetThrough;
use super::body::Body;
use super::error_responses::Refused;
use super::{Registry, Shared};
use crate::hashes::Agreement;
use crate::server_json::{Package, ServerJson};
use crate::store::{Kept, NewVersion, Store, Which};
use crate::{is_publishable, issues};

#[derive(Deserialize)]
pub struct Options {
    /// What is published already in the very same form is no failure.
    #[serde(default)]
    idempotent: bool,
}

/// Checks whether it may be published, by whom, and whether its hashes are those of its files; then keeps it.
pub async fn publish<S: Store>(
    State(registry): Shared<S>,
    _: LetThrough,
    options: Result<Query<Options>, QueryRejection>,
    Body(body): Body,
) -> Result<Json<Value>, Refused> {
    let Query(Options { idempotent }) = options?;
    let server = ServerJson::parse(&body).map_err(|error| Refused::invalid(error.to_string()))?;
    let found = issues(&server, registry.hasher.sources());
    if !is_publishable(&found) {
        return Err(Refused::issues(found));
    }
    let (Some(name), Some(version)) = (server.text("name"), server.text("version")) else {
        return Err(Refused::issues(found));
    };
    // Nothing is fetched for what is there already. Which of two that come at once is first, the store decides.
    if let Some(before) = registry.store.version(name, Which::One(version.to_owned())).await? {
        return if idempotent && before.document == server.value() {
            Ok(Json(answer(&before)))
        } else {
            Err(Refused::exists(name, version))
        };
    }
    let (packages, _) = server.packages(registry.hasher.sources());
    let Agreement { hashes, of_all_files } = verified(&registry, &server, &packages).await?;
    let new = NewVersion::new(&server, of_all_files && !hashes.is_empty());
    let new = new.ok_or_else(|| Refused::issues(found))?;
    match registry.store.keep(new).await? {
        Kept::Now(kept) => {
            registry.counters.published();
            tracing::info!(name, version, "published");
            Ok(Json(answer(&kept)))
        }
        Kept::Before(before) if idempotent && before.document == server.value() => Ok(Json(answer(&before))),
        Kept::Before(_) => Err(Refused::exists(name, version)),
    }
}

/// The hashes, each of which is that of its file. A server without hashes has none, and that is all right.
async fn verified<S: Store>(
    registry: &Registry<S>,
    server: &ServerJson,
    packages: &[Package],
) -> Result<Agreement, Refused> {
    let _waiting = registry.waiting.try_acquire().map_err(|_| Refused::busy())?;
    let _checked = registry.checked.acquire().await.map_err(|_| Refused::busy())?;
    registry.hasher.verify(server, packages, &()).await.map_err(|failures| {
        registry.counters.rejected(&failures);
        for (file, failure) in &failures.0 {
            tracing::warn!(file, status = ?failure.status, "a hash was refused: {}", failure.words);
        }
        Refused::Hashes(failures)
    })
}

/// Whether it could be published, as far as that can be told without its files.
pub async fn validate<S: Store>(State(registry): Shared<S>, Body(body): Body) -> Json<Value> {
    let issues = crate::validate(&body, registry.hasher.sources());
    Json(json!({"valid": is_publishable(&issues), "issues": issues}))
}
