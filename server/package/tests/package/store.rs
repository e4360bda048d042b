//! What any store does, tried with each of them.

use std::time::Duration;

use hashline_package::{
    Kept, NewVersion, PostgresStore, ServerJson, SqliteStore, StatusChange, Store, StoreError, StoredVersion,
    VersionStatus, Wanted, Which,
};
use jiff::Timestamp;
use serde_json::json;

fn new(name: &str, version: &str) -> NewVersion {
    let server = json!({"name": name, "version": version, "description": "100% Déjà_vu", "kept": [1, null, {"a": "ü"}]});
    NewVersion::new(&ServerJson::parse(server.to_string().as_bytes()).unwrap(), true).unwrap()
}

async fn kept<S: Store>(store: &S, name: &str, version: &str) -> StoredVersion {
    match store.keep(new(name, version)).await.unwrap() {
        Kept::Now(kept) => kept,
        Kept::Before(_) => panic!("{name} {version} was there"),
    }
}

fn all() -> Wanted {
    Wanted { limit: 100, ..Wanted::default() }
}

async fn listed<S: Store>(store: &S, wanted: Wanted) -> Vec<String> {
    let versions = store.list(&wanted).await.unwrap();
    let text = |version: &StoredVersion, key: &str| version.document[key].as_str().unwrap().to_owned();
    versions.iter().map(|version| format!("{} {}", text(version, "name"), text(version, "version"))).collect()
}

/// Everything that is asked of a store, which is empty at first.
async fn suite<S: Store>(store: S) {
    assert_eq!(store.version("a/b", Which::Latest).await.unwrap(), None);
    let begun = Timestamp::now() - Duration::from_secs(1);
    let first = kept(&store, "a/b", "1.10.0").await;
    assert!(
        first.is_latest
            && first.verified
            && first.status == VersionStatus::Active
            && first.status_message.is_none()
    );
    assert_eq!(first.document["kept"], json!([1, null, {"a": "ü"}]));
    assert!(
        first.published_at.parse::<Timestamp>().unwrap() > begun && first.updated_at == first.published_at
    );

    // What is there stays.
    let again = new("a/b", "1.10.0");
    assert_eq!(store.keep(again).await.unwrap(), Kept::Before(first.clone()));

    // The newest is that of the highest version, whenever it was published.
    kept(&store, "a/b", "1.9.0").await;
    kept(&store, "a/b", "2.0.0-rc.1").await;
    kept(&store, "a/B", "0.1.0").await;
    kept(&store, "c/d", "x").await;
    let latest = async |name: &str| {
        store.version(name, Which::Latest).await.unwrap().map(|version| version.document["version"].clone())
    };
    assert_eq!(latest("a/b").await, Some(json!("2.0.0-rc.1")));
    assert_eq!(latest("c/d").await, Some(json!("x")));
    assert!(!store.version("a/b", Which::One("1.9.0".into())).await.unwrap().unwrap().is_latest);
    assert_eq!(store.version("a/b", Which::One("3.0.0".into())).await.unwrap(), None);

    let everything = ["a/b 1.10.0", "a/b 1.9.0", "a/b 2.0.0-rc.1", "a/B 0.1.0", "c/d x"];
    assert_eq!(listed(&store, all()).await, everything);
    assert_eq!(listed(&store, Wanted { limit: 2, ..all() }).await, everything[..2]);
    assert_eq!(listed(&store, Wanted { after: Some(first.id), ..all() }).await, everything[1..]);
    let newest_first = Wanted { newest_first: true, ..all() };
    let page = store.list(&Wanted { limit: 2, ..newest_first.clone() }).await.unwrap();
    assert_eq!((page.len(), &page[0].document["name"]), (2, &json!("c/d")));
    let behind = Wanted { after: Some(page[1].id), ..newest_first };
    assert_eq!(listed(&store, behind).await, [everything[2], everything[1], everything[0]]);
    assert_eq!(listed(&store, Wanted { name: Some("a/b".into()), ..all() }).await, everything[..3]);
    assert_eq!(listed(&store, Wanted { which: Which::Latest, ..all() }).await, everything[2..]);
    assert_eq!(listed(&store, Wanted { which: Which::One("x".into()), ..all() }).await, everything[4..]);
    for (search, count) in
        [("A/B", 4), ("déjà_VU", 5), ("100%", 5), ("1__%", 0), ("%", 5), ("\\", 0), ("'", 0), ("c/", 1)]
    {
        assert_eq!(
            listed(&store, Wanted { search: Some(search.into()), ..all() }).await.len(),
            count,
            "{search}"
        );
    }

    // What is said of a version changes, and its document does not.
    let change = |version: Option<&str>, status, message: Option<&str>| StatusChange {
        name: "a/b".into(),
        version: version.map(Into::into),
        status,
        message: message.map(Into::into),
    };
    let changed =
        store.set_status(&change(Some("2.0.0-rc.1"), VersionStatus::Deleted, Some("broken"))).await.unwrap();
    assert_eq!(changed, 1);
    assert_eq!(latest("a/b").await, Some(json!("1.10.0")));
    assert_eq!(listed(&store, all()).await.len(), 4);
    assert_eq!(listed(&store, Wanted { include_deleted: true, ..all() }).await, everything);
    let deleted = store.version("a/b", Which::One("2.0.0-rc.1".into())).await.unwrap().unwrap();
    assert_eq!((deleted.status, deleted.status_message.as_deref()), (VersionStatus::Deleted, Some("broken")));
    assert!(deleted.updated_at >= deleted.published_at && !deleted.is_latest);
    let since: Timestamp = deleted.updated_at.parse().unwrap();
    let recent = Wanted { updated_since: Some(since), include_deleted: true, ..all() };
    assert!(listed(&store, recent.clone()).await.contains(&"a/b 2.0.0-rc.1".to_owned()));
    let later = Wanted { updated_since: Some(since + Duration::from_secs(60)), ..recent };
    assert_eq!(listed(&store, later).await, [""; 0]);
    assert_eq!(store.set_status(&change(None, VersionStatus::Active, None)).await.unwrap(), 3);
    assert_eq!(store.set_status(&change(Some("9.9.9"), VersionStatus::Active, None)).await.unwrap(), 0);
    assert_eq!(latest("a/b").await, Some(json!("2.0.0-rc.1")));

    // A zero character, which PostgreSQL has in no text and behind which SQLite looks for nothing: what holds one is kept and found.
    let zero = json!({"name": "z/z", "version": "1.0.0", "description": "before\u{0}behind"});
    let zero = NewVersion::new(&ServerJson::parse(zero.to_string().as_bytes()).unwrap(), false).unwrap();
    let Kept::Now(zero) = store.keep(zero).await.unwrap() else { panic!() };
    assert_eq!(zero.document["description"], "before\u{0}behind");
    assert_eq!(listed(&store, Wanted { search: Some("behind".into()), ..all() }).await, ["z/z 1.0.0"]);
    assert_eq!(listed(&store, Wanted { search: Some("no\u{0}".into()), ..all() }).await, [""; 0]);
    assert_eq!(listed(&store, Wanted { name: Some("z/z\u{0}".into()), ..all() }).await, [""; 0]);
    assert_eq!(store.version("z/z", Which::One("1.0.0\u{0}".into())).await.unwrap(), None);
    let zero = StatusChange {
        name: "z/z\u{0}".into(),
        version: None,
        status: VersionStatus::Deleted,
        message: Some("\u{0}".into()),
    };
    assert_eq!(store.set_status(&zero).await.unwrap(), 0);
    assert_eq!(store.set_status(&StatusChange { name: "z/z".into(), ..zero }).await.unwrap(), 1);

    // Of versions that are published in the same moment, and have no order of their own, the newest is one, too.
    let at_once: Vec<NewVersion> = (0..16).map(|at| new("t/t", &format!("x{at}"))).collect();
    for new in at_once {
        store.keep(new).await.unwrap();
    }
    let of_name = Wanted { name: Some("t/t".into()), which: Which::Latest, ..all() };
    assert_eq!(listed(&store, of_name).await, ["t/t x15"]);

    // Of sixteen at once one is first, and the others are told which.
    let store = std::sync::Arc::new(store);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let store = store.clone();
        tasks.spawn(async move { store.keep(new("race/one", "1.0.0")).await.unwrap() });
    }
    let all = tasks.join_all().await;
    let ids: std::collections::BTreeSet<i64> =
        all.iter().map(|(Kept::Now(kept) | Kept::Before(kept))| kept.id).collect();
    assert_eq!(all.iter().filter(|kept| matches!(kept, Kept::Now(_))).count(), 1);
    assert_eq!(ids.len(), 1);
}

#[tokio::test]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    suite(SqliteStore::open(&folder.path().join("made/by/itself")).unwrap()).await;
}

#[tokio::test]
async fn sqlite_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = kept(&SqliteStore::open(folder.path()).unwrap(), "a/b", "1.0.0").await;
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.version("a/b", Which::Latest).await.unwrap(), Some(first));
}

#[tokio::test]
async fn a_database_of_a_later_release_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    kept(&SqliteStore::open(folder.path()).unwrap(), "a/b", "1.0.0").await;
    let database = rusqlite::Connection::open(folder.path().join("registry.db")).unwrap();
    database.execute("INSERT INTO layouts (number) VALUES (99)", []).unwrap();
    let error = SqliteStore::open(folder.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. })
            && error.to_string().contains("use that release"),
        "{error}"
    );
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("registry.db")).unwrap();
    let error = SqliteStore::open(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains(folder.path().to_str().unwrap()) && error.contains("check that the folder"),
        "{error}"
    );
}

/// The address of a PostgreSQL that tests may fill: `tests/package/run` starts one.
fn database_url() -> String {
    std::env::var("HASHLINE_TEST_DATABASE_URL")
        .expect("tests/package/run starts a PostgreSQL and says where it is")
}

#[tokio::test]
#[ignore = "this machine lacks a PostgreSQL that is running; tests/package/run starts one"]
async fn postgresql() {
    suite(PostgresStore::open(&database_url()).await.unwrap()).await;
    // Its tables are there by now.
    let store = PostgresStore::open(&database_url()).await.unwrap();
    assert!(store.version("a/b", Which::Latest).await.unwrap().is_some());
}

#[tokio::test]
#[ignore = "this machine lacks a PostgreSQL that is running; tests/package/run starts one"]
async fn postgresql_is_reached_again_after_its_connection_has_ended() {
    let url = format!("{}&application_name=ended", database_url());
    let store = PostgresStore::open(&url).await.unwrap();
    let other = PostgresStore::open(&database_url()).await.unwrap();
    assert_eq!(other.version("nobody/has", Which::Latest).await.unwrap(), None);
    let (client, connection) = tokio_postgres::connect(&database_url(), tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'",
            &[],
        )
        .await
        .unwrap();
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ended'";
    let begun = std::time::Instant::now();
    while client.query_one(open, &[]).await.unwrap().get::<_, i64>(0) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
    // Its end is noticed here when the news of it arrives; whatever is answered then comes through another one.
    while store.version("nobody/has", Which::Latest).await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_postgresql_that_is_not_there_says_what_to_check() {
    for url in ["postgresql://127.0.0.1:1/x", "nonsense"] {
        let error = PostgresStore::open(url).await.unwrap_err().to_string();
        assert!(error.contains("check --database-url"), "{error}");
    }
}
