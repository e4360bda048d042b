//! The names of sidecars.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a sidecar, never used twice. It is also the name of its discovery file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SidecarId(String);

impl SidecarId {
    /// A new name.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Enough of the name for a socket's path, which has little room.
    #[cfg(unix)]
    pub(crate) fn short(&self) -> &str {
        self.0.get(..16).unwrap_or(&self.0)
    }
}

impl TryFrom<String> for SidecarId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let fits = (8..=64).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            Ok(Self(text))
        } else {
            Err("a sidecar's id is 8 to 64 letters, digits and hyphens")
        }
    }
}

impl From<SidecarId> for String {
    fn from(id: SidecarId) -> Self {
        id.0
    }
}

impl fmt::Display for SidecarId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
