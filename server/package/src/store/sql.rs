//! What is asked of either database, in words that both know. SQLite counts parameters with a question mark, PostgreSQL with a dollar.

use super::Wanted;

/// Keeps a version, unless it is there: the database decides which one of many is first.
pub const KEEP: &str = "\
INSERT INTO servers (name, version, sort_key, search_text, document, verified, status, status_changed_at, published_at, updated_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'active', ?7, ?7, ?7)
ON CONFLICT (name, version) DO NOTHING";

/// Versions by all that a [`Wanted`] can say, in words in which `BEHIND` compares with the last one before, and `WAY` is that
/// of the order.
const LIST: &str = "\
SELECT * FROM (
    SELECT id, document, verified, status, status_message, status_changed_at, published_at, updated_at,
        CASE WHEN status <> 'deleted' AND NOT EXISTS (
            SELECT 1 FROM servers newer
            WHERE newer.name = servers.name AND newer.status <> 'deleted'
                AND (newer.sort_key, newer.id) > (servers.sort_key, servers.id)
        ) THEN 1 ELSE 0 END AS is_latest
    FROM servers
    WHERE id BEHIND ?1
        AND (?2 = '' OR search_text LIKE ?2 ESCAPE '\\')
        AND updated_at >= ?3
        AND (?4 = '' OR version = ?4)
        AND (?5 = '' OR name = ?5)
        AND (?6 = 1 OR status <> 'deleted')
) AS versions
WHERE ?7 = 0 OR is_latest = 1
ORDER BY id WAY
LIMIT ?8";

/// The question for what is wanted, and the id behind which it begins.
pub fn list(wanted: &Wanted) -> (String, i64) {
    let (behind, way, first) = match wanted.newest_first {
        false => (">", "ASC", 0),
        true => ("<", "DESC", i64::MAX),
    };
    (LIST.replace("BEHIND", behind).replace("WAY", way), wanted.after.unwrap_or(first))
}

/// Says something else of versions.
pub const SET_STATUS: &str = "\
UPDATE servers SET status = ?3, status_message = ?4, status_changed_at = ?5, updated_at = ?5
WHERE name = ?1 AND (?2 = '' OR version = ?2)";

/// The layout of the database that is in use.
pub const LAYOUT: &str = "SELECT COALESCE(MAX(number), 0) FROM layouts";
/// Notes the layout.
pub const NOTE_LAYOUT: &str = "INSERT INTO layouts (number) VALUES (?1)";
/// Where it is noted.
pub const LAYOUTS: &str = "CREATE TABLE IF NOT EXISTS layouts (number INTEGER PRIMARY KEY)";

/// The steps from an empty database to today's, in words in which `ID` stands for a number that counts up by itself and `BYTES` for an
/// order byte by byte. A step that has been released is never changed; what comes later is a step of its own.
const STEPS: [&str; 1] = ["\
CREATE TABLE servers (
    id ID,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    sort_key TEXT BYTES NOT NULL,
    search_text TEXT NOT NULL,
    document TEXT NOT NULL,
    verified INTEGER NOT NULL,
    status TEXT NOT NULL,
    status_message TEXT,
    status_changed_at TEXT BYTES NOT NULL,
    published_at TEXT BYTES NOT NULL,
    updated_at TEXT BYTES NOT NULL,
    UNIQUE (name, version)
);
CREATE INDEX servers_by_age ON servers (name, sort_key);
CREATE INDEX servers_by_change ON servers (updated_at);"];

/// The steps with the words of one database.
pub fn steps(id: &str, bytes: &str) -> Vec<String> {
    STEPS.iter().map(|step| step.replace("id ID", &format!("id {id}")).replace("BYTES", bytes)).collect()
}

/// A pattern for what holds this text.
pub fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for letter in text.to_lowercase().replace('\0', " ").chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
