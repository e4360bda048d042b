//! Where a registry keeps what was published. What is acknowledged is there after any crash, and of one version there is one.

mod order;
mod postgres;
mod sql;
mod sqlite;

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::server_json::ServerJson;

pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;

/// What its publisher says of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionStatus {
    /// It can be used.
    Active,
    /// Another one should be used.
    Deprecated,
    /// It is not shown unless asked for.
    Deleted,
}

impl VersionStatus {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Deleted => "deleted",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Active, Self::Deprecated, Self::Deleted].into_iter().find(|status| status.name() == name)
    }
}

/// A version that is to be kept.
#[derive(Clone, Debug)]
pub struct NewVersion {
    name: String,
    version: String,
    document: Value,
    /// Whether every file of every package has a hash that was compared with it.
    verified: bool,
    published_at: String,
}

impl NewVersion {
    /// A server that is published now. None if it has no name or no version.
    #[must_use]
    pub fn new(server: &ServerJson, verified: bool) -> Option<Self> {
        Some(Self {
            name: server.text("name")?.to_owned(),
            version: server.text("version")?.to_owned(),
            document: server.value(),
            verified,
            published_at: now(),
        })
    }

    /// What it is found by.
    fn search_text(&self) -> String {
        let text = |key: &str| self.document.get(key).and_then(Value::as_str).unwrap_or_default();
        let words = format!("{}\n{}\n{}", self.name, text("title"), text("description"));
        // PostgreSQL has no zero character in its texts, and SQLite finds nothing behind one.
        words.to_lowercase().replace('\0', " ")
    }

    fn sort_key(&self) -> String {
        order::sort_key(&self.version, &self.published_at)
    }
}

/// A version that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVersion {
    /// Counts up with each version that is published.
    pub id: i64,
    /// The server.json as it was published.
    pub document: Value,
    /// Whether every file of every package has a hash that was compared with it.
    pub verified: bool,
    /// What its publisher says of it.
    pub status: VersionStatus,
    /// And why.
    pub status_message: Option<String>,
    /// Since when.
    pub status_changed_at: String,
    /// When it was published.
    pub published_at: String,
    /// When anything of it last changed.
    pub updated_at: String,
    /// Whether it is the newest one of its server that is not deleted.
    pub is_latest: bool,
}

/// Which version of each server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    #[default]
    All,
    /// The newest.
    Latest,
    /// This one.
    One(String),
}

/// Which versions are wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Those behind this id, in the order in which they come.
    pub after: Option<i64>,
    /// In the order that is the other way round.
    pub newest_first: bool,
    /// At most so many.
    pub limit: i64,
    /// With these words in their name, title or description.
    pub search: Option<String>,
    /// That changed at this moment or later.
    pub updated_since: Option<Timestamp>,
    /// Which of each server.
    pub which: Which,
    /// Of this server only.
    pub name: Option<String>,
    /// Deleted ones, too.
    pub include_deleted: bool,
}

/// A change of what a publisher says of a version.
#[derive(Clone, Debug)]
pub struct StatusChange {
    /// The server.
    pub name: String,
    /// The version; all of them if none is named.
    pub version: Option<String>,
    /// What it is now.
    pub status: VersionStatus,
    /// And why.
    pub message: Option<String>,
}

/// Whether a version was kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// It was.
    Now(StoredVersion),
    /// There is one already, and it stays as it is.
    Before(StoredVersion),
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// SQLite says no.
    #[error(
        "the database in {folder} cannot be used: {source}; check that the folder can be written and has room"
    )]
    Sqlite {
        /// The data folder.
        folder: String,
        /// What it says.
        source: rusqlite::Error,
    },
    /// PostgreSQL says no.
    #[error("PostgreSQL cannot be used: {}; check --database-url and the server", postgres_words(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// A later release has been here.
    #[error(
        "the database is of a later release (its layout is {found}, and {known} is known here); use that release"
    )]
    Newer {
        /// The layout that was found.
        found: i32,
        /// The last one that is known.
        known: i32,
    },
    /// What was read is not what was written.
    #[error("the database holds what no release wrote: {0}; restore it from a backup")]
    Damaged(String),
    /// The work was given up.
    #[error("the database did not answer: the registry is ending")]
    Ending,
}

/// The driver tells no more than that the database complained.
fn postgres_words(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => said.to_string(),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}

/// A place to keep versions.
pub trait Store: Send + Sync + 'static {
    /// Keeps a version, unless there is one of that name and number. When this returns it is there to stay.
    fn keep(&self, new: NewVersion) -> impl Future<Output = Result<Kept, StoreError>> + Send;

    /// Versions in the order in which they were published, or the other way round.
    fn list(&self, wanted: &Wanted) -> impl Future<Output = Result<Vec<StoredVersion>, StoreError>> + Send;

    /// Changes what is said of versions, and tells of how many.
    fn set_status(&self, change: &StatusChange) -> impl Future<Output = Result<u64, StoreError>> + Send;

    /// One version, deleted or not.
    fn version(
        &self,
        name: &str,
        which: Which,
    ) -> impl Future<Output = Result<Option<StoredVersion>, StoreError>> + Send {
        let wanted = Wanted {
            limit: 1,
            name: Some(name.to_owned()),
            which,
            include_deleted: true,
            ..Wanted::default()
        };
        async move { Ok(self.list(&wanted).await?.pop()) }
    }
}

/// This moment, in a form whose order is that of time.
fn now() -> String {
    moment(Timestamp::now())
}

fn moment(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&time)
}
