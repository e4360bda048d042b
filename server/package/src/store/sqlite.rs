//! SQLite: a registry that is one file.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Row, params};

use super::{
    Kept, NewVersion, StatusChange, Store, StoreError, StoredVersion, VersionStatus, Wanted, Which, moment,
    now, sql,
};

/// Everything in one file of a folder.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
    folder: Arc<str>,
}

impl SqliteStore {
    /// Opens the database in a folder, and makes both if they are not there.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let name: Arc<str> = folder.to_string_lossy().into();
        let wrong = |source| StoreError::Sqlite { folder: name.to_string(), source };
        std::fs::create_dir_all(folder)
            .map_err(|error| wrong(rusqlite::Error::ToSqlConversionFailure(error.into())))?;
        let mut connection = Connection::open(folder.join("registry.db")).map_err(wrong)?;
        prepare(&mut connection).map_err(wrong)??;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), folder: name })
    }

    /// Works with the connection where waiting for a disk holds nobody up.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            // Each piece of work is one statement: there is nothing half done behind a panic.
            let connection = store.connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&connection)
                .map_err(|source| StoreError::Sqlite { folder: store.folder.to_string(), source })
        });
        done.await.map_err(|_| StoreError::Ending)??
    }
}

/// Whether it can be used, and as a registry of this release.
fn prepare(connection: &mut Connection) -> rusqlite::Result<Result<(), StoreError>> {
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // What is acknowledged has reached the disk.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql::LAYOUTS)?;
    let found: i32 = transaction.query_row(sql::LAYOUT, [], |row| row.get(0))?;
    let mut known = 0;
    for step in sql::steps("INTEGER PRIMARY KEY AUTOINCREMENT", "COLLATE BINARY") {
        known += 1;
        if known > found {
            transaction.execute_batch(&step)?;
            transaction.execute(sql::NOTE_LAYOUT, [known])?;
        }
    }
    if found > known {
        return Ok(Err(StoreError::Newer { found, known }));
    }
    transaction.commit()?;
    Ok(Ok(()))
}

fn list(
    connection: &Connection,
    wanted: &Wanted,
) -> rusqlite::Result<Result<Vec<StoredVersion>, StoreError>> {
    let (latest, version) = match &wanted.which {
        Which::All => (0, ""),
        Which::Latest => (1, ""),
        Which::One(version) => (0, version.as_str()),
    };
    let (question, after) = sql::list(wanted);
    let mut statement = connection.prepare_cached(&question)?;
    let mut rows = statement.query(params![
        after,
        wanted.search.as_deref().map(sql::pattern).unwrap_or_default(),
        wanted.updated_since.map(moment).unwrap_or_default(),
        version,
        wanted.name.as_deref().unwrap_or_default(),
        i32::from(wanted.include_deleted),
        latest,
        wanted.limit,
    ])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        match stored(row)? {
            Ok(version) => versions.push(version),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(versions))
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Result<StoredVersion, StoreError>> {
    let id: i64 = row.get(0)?;
    let (document, status): (String, String) = (row.get(1)?, row.get(3)?);
    let Ok(document) = serde_json::from_str(&document) else {
        return Ok(Err(StoreError::Damaged(format!("version {id} is no JSON"))));
    };
    let Some(status) = VersionStatus::of(&status) else {
        return Ok(Err(StoreError::Damaged(format!("version {id} is {status:?}"))));
    };
    Ok(Ok(StoredVersion {
        id,
        document,
        verified: row.get(2)?,
        status,
        status_message: row.get(4)?,
        status_changed_at: row.get(5)?,
        published_at: row.get(6)?,
        updated_at: row.get(7)?,
        is_latest: row.get(8)?,
    }))
}

impl Store for SqliteStore {
    async fn keep(&self, new: NewVersion) -> Result<Kept, StoreError> {
        let (name, version) = (new.name.clone(), new.version.clone());
        let kept = self.with(move |connection| {
            let document = new.document.to_string();
            let (key, search) = (new.sort_key(), new.search_text());
            let mut statement = connection.prepare_cached(sql::KEEP)?;
            let kept = statement.execute(params![
                new.name,
                new.version,
                key,
                search,
                document,
                new.verified,
                new.published_at
            ])?;
            Ok(Ok(kept == 1))
        });
        let kept = kept.await?;
        let version = self.version(&name, Which::One(version)).await?;
        let version =
            version.ok_or_else(|| StoreError::Damaged(format!("{name} is gone as soon as it is kept")))?;
        Ok(if kept { Kept::Now(version) } else { Kept::Before(version) })
    }

    async fn list(&self, wanted: &Wanted) -> Result<Vec<StoredVersion>, StoreError> {
        let wanted = wanted.clone();
        self.with(move |connection| list(connection, &wanted)).await
    }

    async fn set_status(&self, change: &StatusChange) -> Result<u64, StoreError> {
        let change = change.clone();
        self.with(move |connection| {
            let mut statement = connection.prepare_cached(sql::SET_STATUS)?;
            let version = change.version.unwrap_or_default();
            let changed = statement.execute(params![
                change.name,
                version,
                change.status.name(),
                change.message,
                now()
            ])?;
            Ok(Ok(changed as u64))
        })
        .await
    }
}
