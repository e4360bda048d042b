//! Tokens: JWTs that this user's own secret signs.

use std::time::{Duration, SystemTime};

use hashline_history::Holder;
use hashline_history::path::to_text;
use hashline_link::{Secret, StateDir};
use hashline_workspace::disk::Roots;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

use crate::http::hs256;
use crate::http::scope::Scope;

/// The secret's name in the state folder.
const SECRET: &str = "http";

/// By how much two clocks may differ.
const LEEWAY: Duration = Duration::from_secs(10);

/// Signs tokens, and tells those that it has signed.
pub struct TokenKey {
    encoding: EncodingKey,
    decoding: DecodingKey,
}

/// What a token says, as RFC 7519 and RFC 8693 have it.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    /// Who has it; without it the token is a holder of its own, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    /// Separated by spaces.
    scope: String,
    /// In seconds since 1970.
    exp: u64,
    /// The folders that a server has to serve, these and no others in this order: scopes mean the same then as when they were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roots: Option<Vec<String>>,
}

/// Who has a token, and what it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bearer {
    pub holder: Holder,
    pub scopes: Vec<Scope>,
    /// How long it is good from now on.
    pub lasts: Duration,
    /// The folders that it is for; none for any.
    roots: Option<Vec<String>>,
}

impl Bearer {
    /// Whether the token is for a server of these folders.
    pub(crate) fn is_for(&self, served: &Roots) -> bool {
        self.roots.as_ref().is_none_or(|roots| *roots == folders(served))
    }
}

fn folders(roots: &Roots) -> Vec<String> {
    roots.iter().map(|root| to_text(root.path()).into_owned()).collect()
}

/// Why a token is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadToken {
    #[error("the token has expired")]
    Expired,
    #[error("the token is for other folders than are served here")]
    OtherFolders,
    /// Not which: whoever forges tokens learns nothing.
    #[error("the token is not one of this hashline's")]
    Invalid,
}

impl TokenKey {
    /// The key of this user, made if there is none.
    ///
    /// # Errors
    ///
    /// The secret cannot be read or made, or others can read it.
    pub fn load(state: &StateDir) -> Result<Self, hashline_link::Error> {
        hs256::install();
        let secret = Secret::load(state, SECRET)?;
        let (encoding, decoding) =
            (EncodingKey::from_secret(secret.as_bytes()), DecodingKey::from_secret(secret.as_bytes()));
        Ok(Self { encoding, decoding })
    }

    /// A token, good from now on for some time, at servers of these folders or, without any, at each of this user's. Whoever has one of a
    /// subject is the same as whoever has another of it; without a subject each token is for somebody else.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn issue(
        &self,
        subject: Option<&str>,
        scopes: &[Scope],
        roots: Option<&Roots>,
        lasts: Duration,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let claims = Claims {
            sub: subject.map(str::to_owned),
            jti: subject.is_none().then(|| uuid::Uuid::new_v4().to_string()),
            scope: scopes.join(" "),
            exp: now.saturating_add(lasts).as_secs(),
            roots: roots.map(folders),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.encoding)
    }

    /// Who has this token.
    pub(crate) fn verify(&self, token: &str) -> Result<Bearer, BadToken> {
        // This algorithm and no other: the header of a token is whatever its maker likes.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY.as_secs();
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp"]);
        let token = jsonwebtoken::decode::<Claims>(token, &self.decoding, &validation).map_err(|error| {
            tracing::debug!(%error, "a token was refused");
            match error.kind() {
                jsonwebtoken::errors::ErrorKind::ExpiredSignature => BadToken::Expired,
                _ => BadToken::Invalid,
            }
        })?;
        // A scope of a later release gives nothing here.
        let scopes =
            token.claims.scope.split_ascii_whitespace().filter_map(|scope| scope.parse().ok()).collect();
        let ends = Duration::from_secs(token.claims.exp).saturating_add(LEEWAY);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let lasts = ends.saturating_sub(now);
        let Claims { sub, jti, roots, .. } = token.claims;
        // What is empty is nobody: all tokens with it would be one holder's.
        let [subject, id] = [sub, jti].map(|name| name.filter(|name| !name.is_empty()));
        let holder = subject.map(Holder::Subject).or(id.map(Holder::Token)).ok_or(BadToken::Invalid)?;
        Ok(Bearer { holder, scopes, lasts, roots })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use hmac::{Hmac, KeyInit, Mac};
    use serde_json::{Value, json};

    use super::*;

    struct Desk {
        temp: tempfile::TempDir,
        secret: Secret,
        key: TokenKey,
    }

    fn desk() -> Desk {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::new(Some(temp.path())).unwrap();
        let key = TokenKey::load(&state).unwrap();
        Desk { secret: Secret::load(&state, SECRET).unwrap(), temp, key }
    }

    /// Seconds since 1970, some away from now.
    fn at(offset: i64) -> i64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        i64::try_from(now).unwrap() + offset
    }

    fn signed(secret: &Secret, claims: &Value) -> String {
        let key = EncodingKey::from_secret(secret.as_bytes());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &key).unwrap()
    }

    /// A token that this secret has signed, by an algorithm that is not known here.
    fn signed_by_hs384(secret: &Secret, claims: &Value) -> String {
        let header = json!({ "alg": "HS384", "typ": "JWT" });
        let encoded = |part: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(part);
        let message = [&header, claims].map(|part| encoded(part.to_string().as_bytes())).join(".");
        let mac = Hmac::<sha2::Sha384>::new_from_slice(secret.as_bytes()).unwrap().chain_update(&message);
        format!("{message}.{}", encoded(&mac.finalize().into_bytes()))
    }

    #[test]
    fn a_token_comes_back_as_it_was_issued() {
        let desk = desk();
        let scopes: Vec<Scope> = ["read:/src", "write:/My%20Docs/*"].map(|text| text.parse().unwrap()).into();
        let token = desk.key.issue(Some("me"), &scopes, None, Duration::from_secs(60)).unwrap();
        let bearer = desk.key.verify(&token).unwrap();
        assert_eq!((bearer.holder, bearer.scopes), (Holder::Subject("me".to_owned()), scopes));
        let lasts = bearer.lasts.as_secs();
        assert!((60..=70).contains(&lasts), "{lasts}");
    }

    #[test]
    fn a_token_without_a_subject_is_a_holder_of_its_own() {
        let desk = desk();
        let issue = |subject| desk.key.issue(subject, &[], None, Duration::from_secs(60)).unwrap();
        let holder = |token: &str| desk.key.verify(token).unwrap().holder;
        let (one, other, agent) = (issue(None), issue(None), issue(Some("agent")));
        assert_eq!(holder(&one), holder(&one));
        assert_ne!(holder(&one), holder(&other));
        assert_ne!(holder(&one), holder(&agent));
        assert_eq!(holder(&agent), holder(&issue(Some("agent"))));
    }

    #[test]
    fn a_token_may_be_for_some_folders_alone() {
        let desk = desk();
        let [one, two] = ["one", "two"].map(|name| desk.temp.path().join(name));
        for folder in [&one, &two] {
            std::fs::create_dir(folder).unwrap();
        }
        let roots = |folders: &[&std::path::PathBuf]| Roots::open(folders).unwrap();
        let served = [roots(&[&one]), roots(&[&one, &two]), roots(&[&two, &one]), Roots::default()];
        let fits = |roots: Option<&Roots>| -> Vec<usize> {
            let token = desk.key.issue(Some("me"), &[], roots, Duration::from_secs(60)).unwrap();
            let bearer = desk.key.verify(&token).unwrap();
            (0..served.len()).filter(|at| bearer.is_for(&served[*at])).collect()
        };
        assert_eq!(fits(None), [0, 1, 2, 3]);
        for (at, roots) in served.iter().enumerate() {
            assert_eq!(fits(Some(roots)), [at]);
        }
    }

    #[test]
    fn only_hs256_of_this_secret_that_has_not_expired_is_taken() {
        let desk = desk();
        let good = json!({ "sub": "me", "scope": "read:/", "exp": at(60) });
        let hs256 = |claims: &Value| signed(&desk.secret, claims);
        let token = hs256(&good);
        let parts: Vec<&str> = token.split('.').collect();
        let [_, payload, signature] = parts.as_slice() else { panic!("{token}") };
        // {"alg":"none"} and {"alg":"RS256"}, each without padding.
        let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
        let rs256 = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9";
        for (name, token, good) in [
            ("good", token.clone(), true),
            ("expired within the leeway", hs256(&json!({ "sub": "me", "scope": "", "exp": at(-3) })), true),
            ("expired", hs256(&json!({ "sub": "me", "scope": "read:/", "exp": at(-60) })), false),
            ("without exp", hs256(&json!({ "sub": "me", "scope": "read:/" })), false),
            ("exp in words", hs256(&json!({ "sub": "me", "scope": "read:/", "exp": "tomorrow" })), false),
            ("without sub", hs256(&json!({ "scope": "read:/", "exp": at(60) })), false),
            (
                "without sub, with an id",
                hs256(&json!({ "jti": "1", "scope": "read:/", "exp": at(60) })),
                true,
            ),
            (
                "without sub, with an empty id",
                hs256(&json!({ "jti": "", "scope": "read:/", "exp": at(60) })),
                false,
            ),
            (
                "with both empty",
                hs256(&json!({ "sub": "", "jti": "", "scope": "read:/", "exp": at(60) })),
                false,
            ),
            ("without scope", hs256(&json!({ "sub": "me", "exp": at(60) })), false),
            ("not yet", hs256(&json!({ "sub": "me", "scope": "", "exp": at(90), "nbf": at(60) })), false),
            ("another secret", signed(&self::desk().secret, &good), false),
            ("another algorithm of the secret", signed_by_hs384(&desk.secret, &good), false),
            ("none", format!("{none}.{payload}."), false),
            ("none, with the signature", format!("{none}.{payload}.{signature}"), false),
            ("RS256", format!("{rs256}.{payload}.{signature}"), false),
            ("no signature", format!("{}.{payload}.", parts[0]), false),
            ("nothing", String::new(), false),
            ("rubbish", "a.b.c".to_owned(), false),
        ] {
            assert_eq!(desk.key.verify(&token).is_ok(), good, "{name}: {token}");
        }
    }
}
