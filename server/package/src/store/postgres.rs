//! PostgreSQL: for registries of several processes.

use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::{Client, Config, NoTls, Row};

use super::{
    Kept, NewVersion, StatusChange, Store, StoreError, StoredVersion, VersionStatus, Wanted, Which, moment,
    now, sql,
};

/// Everything in a database.
#[derive(Debug)]
pub struct PostgresStore {
    config: Config,
    /// One connection carries the questions of all at once; a new one takes its place when it has ended.
    client: Mutex<Arc<Client>>,
}

/// Whoever changes the layout holds this lock, so that two registries which start at once do not both.
const LAYOUT_LOCK: &str = "SELECT pg_advisory_xact_lock(7161920)";

impl PostgresStore {
    /// Opens the database at an address, and makes its tables if they are not there.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse()?;
        let client = connect(&config).await?;
        client.batch_execute("BEGIN").await?;
        client.batch_execute(LAYOUT_LOCK).await?;
        client.batch_execute(sql::LAYOUTS).await?;
        let found: i32 = client.query_one(sql::LAYOUT, &[]).await?.try_get(0)?;
        let mut known = 0;
        for step in sql::steps("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "COLLATE \"C\"") {
            known += 1;
            if known > found {
                client.batch_execute(&step).await?;
                client.execute(&dollars(sql::NOTE_LAYOUT), &[&known]).await?;
            }
        }
        if found > known {
            return Err(StoreError::Newer { found, known });
        }
        client.batch_execute("COMMIT").await?;
        Ok(Self { config, client: Mutex::new(Arc::new(client)) })
    }

    async fn client(&self) -> Result<Arc<Client>, StoreError> {
        let mut client = self.client.lock().await;
        if client.is_closed() {
            *client = Arc::new(connect(&self.config).await?);
        }
        Ok(client.clone())
    }
}

async fn connect(config: &Config) -> Result<Client, StoreError> {
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::warn!(%error, "the connection to PostgreSQL has ended; the next question opens another one");
        }
    });
    Ok(client)
}

/// Whether it has a character that PostgreSQL has in no text. Nothing that is kept has such a name or version.
fn is_nowhere(name_or_version: &str) -> bool {
    name_or_version.contains('\0')
}

fn dollars(sql: &str) -> String {
    sql.replace('?', "$")
}

fn stored(row: &Row) -> Result<StoredVersion, StoreError> {
    let id: i64 = row.try_get(0)?;
    let (document, status): (&str, &str) = (row.try_get(1)?, row.try_get(3)?);
    let is_true = |at| Ok::<_, StoreError>(row.try_get::<_, i32>(at)? == 1);
    Ok(StoredVersion {
        id,
        document: serde_json::from_str(document)
            .map_err(|_| StoreError::Damaged(format!("version {id} is no JSON")))?,
        verified: is_true(2)?,
        status: VersionStatus::of(status)
            .ok_or_else(|| StoreError::Damaged(format!("version {id} is {status:?}")))?,
        status_message: row.try_get(4)?,
        status_changed_at: row.try_get(5)?,
        published_at: row.try_get(6)?,
        updated_at: row.try_get(7)?,
        is_latest: is_true(8)?,
    })
}

impl Store for PostgresStore {
    async fn keep(&self, new: NewVersion) -> Result<Kept, StoreError> {
        let client = self.client().await?;
        let (key, search, document) = (new.sort_key(), new.search_text(), new.document.to_string());
        let verified = i32::from(new.verified);
        let kept = client
            .execute(
                &dollars(sql::KEEP),
                &[&new.name, &new.version, &key, &search, &document, &verified, &new.published_at],
            )
            .await?;
        let version = self.version(&new.name, Which::One(new.version.clone())).await?;
        let version = version
            .ok_or_else(|| StoreError::Damaged(format!("{} is gone as soon as it is kept", new.name)))?;
        Ok(if kept == 1 { Kept::Now(version) } else { Kept::Before(version) })
    }

    async fn list(&self, wanted: &Wanted) -> Result<Vec<StoredVersion>, StoreError> {
        let (latest, version) = match &wanted.which {
            Which::All => (0i32, ""),
            Which::Latest => (1, ""),
            Which::One(version) => (0, version.as_str()),
        };
        let search = wanted.search.as_deref().map(sql::pattern).unwrap_or_default();
        let since = wanted.updated_since.map(moment).unwrap_or_default();
        let name = wanted.name.as_deref().unwrap_or_default();
        if is_nowhere(name) || is_nowhere(version) {
            return Ok(Vec::new());
        }
        let deleted = i32::from(wanted.include_deleted);
        let (question, after) = sql::list(wanted);
        let rows = self
            .client()
            .await?
            .query(
                &dollars(&question),
                &[&after, &search, &since, &version, &name, &deleted, &latest, &wanted.limit],
            )
            .await?;
        rows.iter().map(stored).collect()
    }

    async fn set_status(&self, change: &StatusChange) -> Result<u64, StoreError> {
        let version = change.version.as_deref().unwrap_or_default();
        if is_nowhere(&change.name) || is_nowhere(version) {
            return Ok(0);
        }
        let message = change.message.as_deref().map(|message| message.replace('\0', "\u{fffd}"));
        let changed = self
            .client()
            .await?
            .execute(
                &dollars(sql::SET_STATUS),
                &[&change.name, &version, &change.status.name(), &message, &now()],
            )
            .await?;
        Ok(changed)
    }
}
