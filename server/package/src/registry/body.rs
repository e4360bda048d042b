//! What a request brings, if it comes in time.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};

use super::Registry;
use super::error_responses::Refused;
use crate::store::Store;

/// The whole of it.
pub struct Body(pub Bytes);

impl<S: Store> FromRequest<Arc<Registry<S>>> for Body {
    type Rejection = Refused;

    async fn from_request(request: Request, registry: &Arc<Registry<S>>) -> Result<Self, Refused> {
        let bytes = tokio::time::timeout(registry.limits.request, Bytes::from_request(request, registry));
        Ok(Self(bytes.await.map_err(|_| Refused::slow_request())??))
    }
}
