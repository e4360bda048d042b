//! Who may publish.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use sha2::{Digest, Sha256};

use super::Registry;
use super::error_responses::Refused;
use crate::store::Store;

/// Who may publish.
pub enum Auth {
    /// Everybody who reaches it.
    None,
    /// Whoever has the token. Only its hash is kept.
    Token([u8; 32]),
}

impl Auth {
    /// With a token.
    #[must_use]
    pub fn token(token: &str) -> Self {
        Self::Token(Sha256::digest(token).into())
    }

    /// Lets a request through or not.
    fn check(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let Self::Token(expected) = self else { return Ok(()) };
        let header = headers.get(AUTHORIZATION).and_then(|header| header.to_str().ok());
        let token = header.and_then(|header| {
            let (scheme, token) = header.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        // Hashes are compared and not tokens: how long that takes tells nothing of them.
        match token {
            Some(token) if Sha256::digest(token).as_slice() == expected => Ok(()),
            Some(_) => Err(Refused::unauthorized(
                "the token is not the one of this registry; ask its operator, and log in again",
            )),
            None => {
                Err(Refused::unauthorized("publishing needs a token; `mcp-publisher login token` keeps one"))
            }
        }
    }
}

/// A request that was let through. It stands before what the request brings, which is not even read from anybody else.
pub struct LetThrough;

impl<S: Store> FromRequestParts<Arc<Registry<S>>> for LetThrough {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, registry: &Arc<Registry<S>>) -> Result<Self, Refused> {
        registry.auth.check(&parts.headers).map(|()| Self)
    }
}
