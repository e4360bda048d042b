//! Answers to what is not done: one document for hashes that are wrong, as the specification has it, and one form for all else.

use axum::Json;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::hashes::HashFailures;
use crate::issue::Issue;
use crate::store::StoreError;

/// Why a request is refused.
#[derive(Debug)]
pub enum Refused {
    /// Its hashes are not those of its files.
    Hashes(HashFailures),
    /// Anything else.
    Problem(Problem),
}

/// A refusal in the form of RFC 9457, which has what older clients look for, too.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    words: String,
    issues: Vec<Issue>,
}

impl Refused {
    fn problem(status: StatusCode, words: impl Into<String>) -> Self {
        Self::Problem(Problem { status, words: words.into(), issues: Vec::new() })
    }

    pub fn unauthorized(words: &str) -> Self {
        Self::problem(StatusCode::UNAUTHORIZED, words)
    }

    pub fn not_found(words: impl Into<String>) -> Self {
        Self::problem(StatusCode::NOT_FOUND, words)
    }

    pub fn invalid(words: impl Into<String>) -> Self {
        Self::problem(StatusCode::UNPROCESSABLE_ENTITY, words)
    }

    /// What is asked for cannot be.
    pub fn query(words: impl Into<String>) -> Self {
        Self::problem(StatusCode::BAD_REQUEST, words)
    }

    /// What is asked for is no text.
    pub fn no_text(uri: &Uri) -> Self {
        Self::query(format!("{uri} is not UTF-8 behind its percent signs; write it in UTF-8"))
    }

    /// It is there, and cannot be asked for in this way.
    pub fn method() -> Self {
        let words = "this page is not asked for in this way; the header Allow says how";
        Self::problem(StatusCode::METHOD_NOT_ALLOWED, words)
    }

    /// It is there already.
    pub fn exists(name: &str, version: &str) -> Self {
        let words = format!(
            "{name} {version} is published and stays as it is, its hashes too; publish what has changed as a new version"
        );
        Self::problem(StatusCode::CONFLICT, words)
    }

    /// Too many at once.
    pub fn busy() -> Self {
        Self::problem(
            StatusCode::TOO_MANY_REQUESTS,
            "too many versions are being checked; try again in a moment",
        )
    }

    /// What it brings is not there in time.
    pub fn slow_request() -> Self {
        Self::problem(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive; send it again")
    }

    /// Its document is not as it has to be.
    pub fn issues(issues: Vec<Issue>) -> Self {
        let words: Vec<String> = issues.iter().map(ToString::to_string).collect();
        let words = format!("the server.json cannot be published: {}", words.join("; "));
        Self::Problem(Problem { status: StatusCode::UNPROCESSABLE_ENTITY, words, issues })
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        // What it says is the operator's to know.
        tracing::error!(%error, "the store failed");
        Self::problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "the registry cannot reach its database; try again later",
        )
    }
}

impl From<BytesRejection> for Refused {
    fn from(rejection: BytesRejection) -> Self {
        Self::problem(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Refused {
    fn from(rejection: QueryRejection) -> Self {
        Self::query(rejection.body_text())
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Problem { status, words, issues } = match self {
            Self::Hashes(failures) => {
                return (StatusCode::UNPROCESSABLE_ENTITY, Json(failures)).into_response();
            }
            Self::Problem(problem) => problem,
        };
        let errors: Vec<_> = issues
            .iter()
            .map(|issue| json!({"location": format!("body.{}", issue.path), "message": issue.message}))
            .collect();
        let document = json!({
            "title": status.canonical_reason().unwrap_or("Refused"),
            "status": status.as_u16(),
            "detail": words,
            "errors": errors,
            "error": words,
        });
        let mut response = (status, Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}
