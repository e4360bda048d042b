//! Paths that lead out of the roots, or where agents may not go, for every tool that there is: nothing outside is read or written.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hashline_mcp::{NameStyle, Toolset, list};
use hashline_text::FileHash;
use rmcp::model::{CallToolRequestParams, JsonObject, ReadResourceRequestParams, Tool};
use serde_json::{Value, json};

use crate::http::client::Http;
use crate::place::Place;
use crate::protocol::{Connection, call};

/// What stands in every file that no agent may see.
pub const SECRET: &str = "SECRET-7f3c\n";
/// What agents write.
const WRITTEN: &str = "WRITTEN-51aa\n";

/// A folder that is served, with all kinds of traps in it, and what lies around it.
struct Trap {
    place: Arc<Place>,
    outside: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let mut place = Place::new();
        place.state = place.root.join("keys");
        let parent = place.temp.path().canonicalize().unwrap();
        let outside = parent.join("outside");
        let put = |path: PathBuf, content: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        put(outside.join("secret.txt"), SECRET);
        put(outside.join("sub/secret.txt"), SECRET);
        put(parent.join("w-old/secret.txt"), SECRET);
        put(parent.join("secret.txt"), SECRET);
        put(place.root.join(".mcp/edit_history/secret.txt"), SECRET);
        put(place.state.join("secrets/secret.txt"), SECRET);
        // The key that signs what is recorded; hashline makes it by itself when it first records something.
        hashline_link::Secret::load(&place.state(), "history").unwrap();
        place.write("a.txt", "one\ntwo\n");
        place.write("src/main.rs", "fn main() {}\n");
        let root = &place.root;
        for (target, link) in [
            (Path::new("../outside"), "out"),
            (Path::new("../outside/secret.txt"), "out.txt"),
            (&outside, "out_abs"),
            (Path::new("out"), "chain"),
            (Path::new("../.."), "src/up"),
            (Path::new("loop"), "loop"),
            (Path::new("../outside/new.txt"), "dangling"),
            (&outside.join("new_abs.txt"), "dangling_abs"),
            (Path::new(".mcp/edit_history"), "store"),
            (Path::new("keys/secrets"), "own"),
            (&place.state, "all_own"),
            (Path::new("src/../../outside"), "winding"),
            (Path::new("/proc/self/cwd"), "cwd"),
            (Path::new("/dev/zero"), "zero"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        assert!(Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
        Self { place: Arc::new(place), outside }
    }

    /// Everything outside of the root, and the store and the keys inside it, with their content.
    fn untouchable(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let parent = self.outside.parent().unwrap();
        let mut found = BTreeMap::new();
        for folder in ["outside", "w-old", "w/.mcp/edit_history/secret.txt", "w/keys/secrets", "secret.txt"] {
            walk(&parent.join(folder), &mut found);
        }
        let above: Vec<_> = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.extend(above.into_iter().map(|path| (path, None)));
        found
    }

    /// Spellings of paths that have to be refused, whoever is given them.
    fn spellings(&self) -> Vec<String> {
        let (root, outside) = (self.place.root.to_str().unwrap(), self.outside.to_str().unwrap());
        let fixed = [
            // Up and out.
            "..",
            "../",
            "../secret.txt",
            "../outside/secret.txt",
            "./../outside/secret.txt",
            "src/../../outside/secret.txt",
            "src/./../.././outside/secret.txt",
            "not/there/../../../outside/secret.txt",
            "a.txt/../../outside/secret.txt",
            "/../outside/secret.txt",
            "//../outside/secret.txt",
            "/..//..//outside/secret.txt",
            "../w-old/secret.txt",
            "../w/../outside/secret.txt",
            ".././../secret.txt",
            "src/up/outside/secret.txt",
            // Other machines' and other systems' spellings.
            "C:\\Windows\\win.ini",
            "C:/Windows/win.ini",
            "c:secret.txt",
            "\\\\server\\share\\secret.txt",
            "\\\\?\\C:\\secret.txt",
            "..\\outside\\secret.txt",
            "src\\..\\..\\outside\\secret.txt",
            "~",
            "~/secret.txt",
            // URIs.
            "file:///etc/passwd",
            "FILE:///etc/passwd",
            "file:/etc/passwd",
            "file://localhost/etc/passwd",
            "file://elsewhere/etc/passwd",
            "file://%00/etc/passwd",
            "file:///etc%2Fpasswd",
            "file:///proc/self/environ",
            "http://localhost/secret.txt",
            "untitled:Untitled-1",
            "data:text/plain,secret",
            // Links out, and to nowhere.
            "out/secret.txt",
            "out/sub/secret.txt",
            "out.txt",
            "out_abs/secret.txt",
            "chain/secret.txt",
            "chain/sub/../secret.txt",
            "winding/secret.txt",
            "src/up/secret.txt",
            "out/new.txt",
            "out/new/deep.txt",
            "dangling",
            "dangling_abs",
            "loop",
            "loop/secret.txt",
            "cwd/Cargo.toml",
            // What is no file.
            "fifo",
            "zero",
            "a.txt/",
            "a.txt/.",
            "a.txt/secret.txt",
            "",
            " ",
            "\0",
            "a.txt\0",
            "a.txt\0/../../outside/secret.txt",
            // The store.
            ".mcp/edit_history/secret.txt",
            "./.mcp/edit_history/secret.txt",
            "src/../.mcp/edit_history/secret.txt",
            ".mcp/edit_history/../edit_history/secret.txt",
            ".mcp//edit_history//secret.txt",
            ".mcp/edit_history/decisions.log",
            ".mcp/edit_history/lock",
            ".mcp/edit_history",
            ".mcp/",
            ".mcp",
            ".mcp/new.txt",
            "src/.mcp/new.txt",
            "store/secret.txt",
            "store/new.txt",
            // Where hashline keeps its own.
            "keys/secrets/secret.txt",
            "keys/secrets/new.txt",
            "keys/sidecars/new.json",
            "src/../keys/secrets/secret.txt",
            "keys/",
            "keys",
            "own/secret.txt",
            "all_own/secrets/secret.txt",
            "all_own/new.txt",
        ];
        let made = [
            format!("{outside}/secret.txt"),
            format!("/{outside}/secret.txt"),
            format!("{root}/../outside/secret.txt"),
            format!("{root}/src/../../outside/secret.txt"),
            format!("{root}-old/secret.txt"),
            format!("{root}/.mcp/edit_history/secret.txt"),
            format!("/proc/self/root{outside}/secret.txt"),
            format!("file://{outside}/secret.txt"),
            format!("file://{root}/../outside/secret.txt"),
            format!("file://{root}/%2e%2e/outside/secret.txt"),
            format!("file://{root}/..%2Foutside%2Fsecret.txt"),
            format!("file://{root}/src/%2E%2E/%2E%2E/outside/secret.txt"),
            format!("file://{root}/%2emcp/edit_history/secret.txt"),
            format!("{root}/keys/secrets/secret.txt"),
            format!("file://{root}/%6beys/secrets/secret.txt"),
            format!("{}a.txt", "d/../".repeat(200_000)),
            "d/".repeat(400_000),
            format!("file://{root}/out/secret.txt"),
            format!("{root}/a.txt\0.rs"),
            format!("{}secret.txt", "../".repeat(200)),
            format!("{}../outside/secret.txt", "src/../".repeat(2_000)),
            "n".repeat(5_000),
            "d/".repeat(3_000),
            "/etc/passwd".to_owned(),
            "//etc/passwd".to_owned(),
            "/proc/self/environ".to_owned(),
            "/proc/self/cwd/secret.txt".to_owned(),
            "/dev/stdin".to_owned(),
        ];
        fixed.into_iter().map(str::to_owned).chain(made).collect()
    }
}

pub fn walk(path: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    if path.is_dir() {
        found.insert(path.to_owned(), None);
        for entry in std::fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else {
        found.insert(path.to_owned(), Some(std::fs::read(path).unwrap()));
    }
}

/// What a path may be given as.
pub fn path_fields(tool: &Tool) -> Vec<String> {
    let fields = tool.input_schema.get("properties").and_then(Value::as_object);
    let is_path = |name: &&String| ["path", "source", "destination"].contains(&name.as_str());
    fields.into_iter().flat_map(JsonObject::keys).filter(is_path).cloned().collect()
}

/// Arguments with which a tool that fell for a path would do its worst: the hashes and lines are those of the secret file.
pub fn worst(tool: &Tool, field: &str, path: &str) -> JsonObject {
    let required = tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut given: JsonObject = required
        .map(|name| {
            let name = name.as_str().unwrap();
            let secret = SECRET.trim_end();
            let value = match name {
                "path" | "source" => json!("a.txt"),
                "destination" => json!("moved.txt"),
                "content" | "new" => json!(WRITTEN),
                "file_hash" | "hash" => json!(FileHash::of(SECRET.as_bytes()).to_hex()),
                "operations" => {
                    json!([{ "op": "insert_after", "anchor": "0:", "content": WRITTEN.trim_end() }])
                }
                "old" | "anchor" => json!(secret),
                "pattern" => json!(&secret[..4]),
                "lines" => json!([1, 0]),
                "line" => json!(1),
                "edit_id" => json!("none"),
                other => panic!("{} wants {other}: say here what to give for it", tool.name),
            };
            (name.to_owned(), value)
        })
        .collect();
    if tool.name == "edit_file_diff" {
        given.insert("edits".to_owned(), json!([{ "old": SECRET.trim_end(), "new": WRITTEN.trim_end() }]));
    }
    given.insert(field.to_owned(), json!(path));
    given
}

/// What a tool says, and whether it refused.
pub async fn told(connection: &Connection, tool: &Tool, given: JsonObject) -> (String, bool) {
    let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(given);
    let called = tokio::time::timeout(Duration::from_secs(30), connection.call_tool(params));
    match called.await.unwrap_or_else(|_| panic!("{} never answered", tool.name)) {
        Ok(result) => (serde_json::to_string(&result).unwrap(), result.is_error == Some(true)),
        Err(error) => (error.to_string(), true),
    }
}

/// Whether words tell what the caller has not said itself.
pub fn shows_secret(words: &str, given: &JsonObject) -> bool {
    let secret = SECRET.trim_end();
    words.contains(secret) && !Value::Object(given.clone()).to_string().contains(secret)
}

async fn attack(trap: &Trap, connection: &Connection) {
    let before = trap.untouchable();
    let tools = connection.list_all_tools().await.unwrap();
    let spellings = trap.spellings();
    assert!(spellings.len() >= 60);
    for uri in uris(&spellings) {
        let read = connection.read_resource(ReadResourceRequestParams::new(uri.clone()));
        let read = tokio::time::timeout(Duration::from_secs(30), read).await.expect("an answer");
        match read {
            Ok(given) => {
                let given = serde_json::to_string(&given.contents).unwrap();
                let (_, content) = given.split_once("mimeType").unwrap_or(("", &given));
                assert!(!content.contains("secret") && !content.contains("SECRET"), "{uri:.80}: {given}");
            }
            Err(refused) => assert!(!refused.to_string().contains(SECRET.trim_end()), "{uri:.80}: {refused}"),
        }
        assert_eq!(trap.untouchable(), before, "{uri:.80}");
    }
    let mut tried = 0;
    for tool in &tools {
        for field in path_fields(tool) {
            for spelling in &spellings {
                let given = worst(tool, &field, spelling);
                let (words, failed) = told(connection, tool, given.clone()).await;
                let what = format!("{} with {field} {spelling:.80?}: {words:.300}", tool.name);
                assert!(!shows_secret(&words, &given), "{what}");
                assert!(!words.contains("root:x:"), "{what}");
                // An absolute path is one within the root for some tools, and there they may make a file. For others none means all.
                let harmless =
                    is_within_root(tool) || spelling.trim().is_empty() && tool.name != "read_text_file";
                assert!(failed || harmless, "{what}");
                assert_eq!(trap.untouchable(), before, "{what}");
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "only {tried} were tried");
    // It serves on.
    let read = tools.iter().find(|tool| tool.name == "read_text_file").unwrap();
    let Value::Object(given) = json!({ "path": "src/main.rs" }) else { unreachable!() };
    assert!(!told(connection, read, given).await.1);
}

/// Paths as the ends of resources, as they are and with all but letters and digits in hexadecimal.
fn uris(spellings: &[String]) -> Vec<String> {
    let hexadecimal = |spelling: &String| -> String {
        let byte = |byte: u8| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        spelling.bytes().map(byte).collect()
    };
    let schemes = ["list://", "file://", "review://"];
    let with_all = |path: String| schemes.map(|scheme| format!("{scheme}{path}"));
    spellings.iter().flat_map(|path| [path.clone(), hexadecimal(path)]).flat_map(with_all).collect()
}

/// Whether a tool takes a leading `/` for the root.
fn is_within_root(tool: &Tool) -> bool {
    tool.name.starts_with("text_") || tool.name.starts_with("file_")
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_out_on_the_disk() {
    let trap = Trap::new();
    attack(&trap, &trap.place.agent().await).await;
}

#[tokio::test]
async fn no_spelling_of_a_path_leads_out_through_an_editor() {
    let trap = Trap::new();
    let _editor = trap.place.editor("nvim", &[&trap.place.root]);
    attack(&trap, &trap.place.agent().await).await;
}

/// The person may look at hashline's own files; agents do not hear of it.
#[tokio::test]
async fn what_is_closed_is_not_listed_while_an_editor_has_it_open() {
    let trap = Trap::new();
    let place = &trap.place;
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&place.root.join("a.txt"), "one\nunsaved\n");
    for closed in [place.state.join("secrets/secret.txt"), place.root.join(".mcp/edit_history/secret.txt")] {
        editor.open(&closed, SECRET);
    }
    let agent = place.agent().await;
    let listed = call(&agent, "list_documents", json!({})).await;
    let resources = agent.list_all_resources().await.unwrap();
    let told = format!("{}{}{}{resources:?}", listed.text, listed.json, listed.meta);
    assert!(told.contains("a.txt") && !told.contains("secret"), "{told}");
}

/// Whoever may change one folder reads and changes nothing of others, inside of the root either.
#[tokio::test]
async fn no_spelling_of_a_path_leads_out_over_http() {
    let trap = Trap::new();
    let root = trap.place.root.clone();
    let private = trap.place.write("private/secret.txt", SECRET);
    symlink("../private", root.join("src/aside")).unwrap();
    let http = Http::over(trap.place.clone(), std::slice::from_ref(&root)).await;
    let client = http.legacy(&["write:/src"]).await;
    let before = trap.untouchable();
    let mut spellings = trap.spellings();
    let inside =
        ["private/secret.txt", "/private//secret.txt", "src/../private/secret.txt", "src/aside/secret.txt"];
    spellings.extend(inside.map(str::to_owned));
    spellings
        .extend([private.display().to_string(), format!("file://{}/privat%65/secret.txt", root.display())]);
    for uri in uris(&spellings) {
        let answer = client.ask("resources/read", json!({ "uri": uri })).await;
        assert!(!answer.body.contains(SECRET.trim_end()), "{uri:.80}: {}", answer.body);
    }
    for tool in list(&BTreeSet::from(Toolset::ALL), NameStyle::Plain) {
        for field in path_fields(&tool) {
            for spelling in &spellings {
                let given = worst(&tool, &field, spelling);
                let answer = client.call(&tool.name, Value::Object(given.clone())).await;
                let what = format!("{} with {field} {spelling:.80?}: {:.300}", tool.name, answer.body);
                assert!([200, 403].contains(&answer.status), "{what}");
                assert!(!shows_secret(&answer.body, &given) && !answer.body.contains("root:x:"), "{what}");
                assert_eq!(trap.untouchable(), before, "{what}");
                assert_eq!(std::fs::read_to_string(&private).unwrap(), SECRET, "{what}");
            }
        }
    }
    let read = client.tool("read_text_file", json!({ "path": "src/main.rs" })).await;
    assert!(!read.failed, "it serves on: {}", read.text);
}

/// Stops a thread when a test ends, however it ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Folders and links to the outside change places while every tool is called for files below them.
#[test]
fn names_that_change_places_while_calls_are_made_lead_nowhere_else() {
    const CALLS: usize = 600;
    let trap = Trap::new();
    let root = trap.place.root.clone();
    trap.place.write("dir/secret.txt", "harmless\n");
    trap.place.write("dir/sub/secret.txt", "harmless\n");
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (at, aside) = (root.join("dir"), root.join("aside"));
                // A call may just be making what stands there, or moving it.
                if std::fs::rename(&at, &aside).is_ok() {
                    let _ = symlink("../outside", &at);
                    std::thread::yield_now();
                    let _ = std::fs::remove_file(&at);
                    while std::fs::rename(&aside, &at).is_err() {
                        let _ = std::fs::remove_dir_all(&at);
                    }
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::yield_now();
            }
        });
        let _stop = Stop(&stop);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let connection = trap.place.agent().await;
            let before = trap.untouchable();
            let tools = connection.list_all_tools().await.unwrap();
            let began = Instant::now();
            let mut calls = 0;
            while calls < CALLS && began.elapsed() < Duration::from_secs(60) {
                for tool in &tools {
                    for field in path_fields(tool) {
                        for path in ["dir/secret.txt", "dir/sub/secret.txt", "dir/new.txt"] {
                            let given = worst(tool, &field, path);
                            let (words, _) = told(&connection, tool, given.clone()).await;
                            assert!(!shows_secret(&words, &given), "{} of {path}: {words}", tool.name);
                            calls += 1;
                        }
                    }
                }
                for uri in
                    ["list://dir", "list://dir/sub", "file://dir/secret.txt", "review://dir/secret.txt"]
                {
                    let read = connection.read_resource(ReadResourceRequestParams::new(uri));
                    let read =
                        read.await.map_or_else(|error| error.to_string(), |given| format!("{given:?}"));
                    assert!(!read.contains(SECRET.trim_end()), "{uri}: {read}");
                }
                assert_eq!(trap.untouchable(), before);
            }
            assert!(calls >= 100 && swaps.load(Ordering::Relaxed) > 10, "{calls} calls, {swaps:?} swaps");
        });
    });
}
