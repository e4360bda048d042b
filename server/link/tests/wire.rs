//! Talking over a real socket: answers, order, cancelling, limits, and sides that misbehave.

#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(unix)] // the misbehaving sides are written with plain Unix sockets

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hashline_history::{Reason, Why};
use hashline_link::{
    Along, Call, CallerInfo, CancellationToken, Client, Decide, DecideOutcome, DecideResult, Decision, Error,
    FRAME_LIMIT, Handler, Held, IN_FLIGHT, Listener, Mine, PROTOCOL, Raw, RemoteError, RemoteKind, SidecarId,
    SidecarStatus, serve,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Long enough for anything that happens at all.
const SOON: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Tools {
    cancelled: AtomicUsize,
    finished: AtomicUsize,
    gate: Notify,
}

impl Handler for Tools {
    async fn call(&self, call: Call, cancel: CancellationToken) -> Result<Raw, RemoteError> {
        match call.tool.as_str() {
            "echo" => Raw::of(&call.arguments).map_err(|error| RemoteError::failed(error.to_string())),
            "who" => Raw::of(&call.caller).map_err(|error| RemoteError::failed(error.to_string())),
            "sleep" => {
                let time = call.arguments.get("ms").and_then(Value::as_u64).unwrap_or_default();
                tokio::time::sleep(Duration::from_millis(time)).await;
                self.finished.fetch_add(1, Ordering::SeqCst);
                Ok(Raw::of(&time).unwrap())
            }
            "wait" => {
                cancel.cancelled().await;
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                Err(RemoteError::cancelled())
            }
            "gate" => {
                self.gate.notified().await;
                self.finished.fetch_add(1, Ordering::SeqCst);
                Ok(Raw::of("open").unwrap())
            }
            "large" => {
                let size = call.arguments.get("size").and_then(Value::as_u64).unwrap_or_default();
                Ok(Raw::of(&"x".repeat(usize::try_from(size).unwrap())).unwrap())
            }
            "panic" => panic!("a fault in a tool"),
            other => Err(RemoteError::new(RemoteKind::NotFound, format!("no tool {other}"))),
        }
    }

    async fn holds(&self, paths: Vec<PathBuf>) -> Result<Vec<Held>, RemoteError> {
        let held = |path: PathBuf| Held { open: path.starts_with("/open"), path, ..Held::default() };
        Ok(paths.into_iter().map(held).collect())
    }

    async fn status(&self) -> Result<SidecarStatus, RemoteError> {
        Ok(SidecarStatus { editor: "test".to_owned(), ..SidecarStatus::default() })
    }

    async fn decide(&self, decide: Decide) -> Result<DecideOutcome, RemoteError> {
        Ok(DecideOutcome {
            result: DecideResult::Done,
            message: format!("{decide:?}"),
            ..DecideOutcome::default()
        })
    }
}

struct Server {
    _temp: tempfile::TempDir,
    address: PathBuf,
    tools: Arc<Tools>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Server {
    fn start() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let listener = Listener::bind_in(&temp.path().join("run"), &SidecarId::random()).unwrap();
        let address = listener.address().to_owned();
        let tools = Arc::new(Tools::default());
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, Arc::clone(&tools), stop.clone()));
        Self { _temp: temp, address, tools, stop, serving }
    }

    async fn client(&self) -> Client {
        Client::connect_to(&self.address).await.unwrap()
    }

    /// A connection to write by hand, greeted already.
    async fn by_hand(&self) -> BufReader<UnixStream> {
        let mut stream = BufReader::new(UnixStream::connect(&self.address).await.unwrap());
        assert!(line(&mut stream).await.starts_with("{\"hello\":"));
        say(&mut stream, &format!("{{\"hello\":{{\"protocol\":{PROTOCOL},\"version\":\"x\"}}}}")).await;
        stream
    }
}

async fn say(stream: &mut BufReader<UnixStream>, text: &str) {
    stream.write_all(format!("{text}\n").as_bytes()).await.unwrap();
}

/// The next line; empty when the other side has closed.
async fn line(stream: &mut BufReader<UnixStream>) -> String {
    let mut line = String::new();
    // A connection closed with something unread ends in an error rather than in an end.
    let _ = timeout(SOON, stream.read_line(&mut line)).await.unwrap();
    line
}

fn call(tool: &str, arguments: &Value) -> Call {
    let caller = CallerInfo {
        agent: "agent \"quoted\"".into(),
        connection: "1".into(),
        roots: Some(vec!["/a".into()]),
        grants: None,
        reviews: true,
        no_hard_links: true,
    };
    let arguments = arguments.as_object().cloned().unwrap_or_else(Map::new);
    Call { caller, tool: tool.to_owned(), arguments }
}

async fn until(condition: impl Fn() -> bool) {
    let check = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(SOON, check).await.unwrap();
}

#[tokio::test]
async fn every_request_has_its_answer() {
    let server = Server::start();
    let client = server.client().await;
    assert_eq!(client.peer().protocol, PROTOCOL);

    let arguments = json!({"text": "line\nbreak é \u{2028} \"", "n": 1});
    let answer = client.call(&call("echo", &arguments)).await.unwrap();
    assert_eq!(answer.parse::<Value>().unwrap(), arguments);
    assert_eq!(answer.into_raw_value().unwrap().get(), serde_json::to_string(&arguments).unwrap());

    let who: CallerInfo = client.call(&call("who", &json!({}))).await.unwrap().parse().unwrap();
    assert_eq!(who, call("", &json!({})).caller);

    let held = client.holds(&["/open/a".into(), "/b".into()]).await.unwrap();
    assert_eq!(held.iter().map(|held| held.open).collect::<Vec<_>>(), [true, false]);
    assert_eq!(client.status().await.unwrap().editor, "test");

    let decide = Decide {
        edit: "e1".to_owned(),
        hunk: Some(2),
        decision: Decision::Reject,
        reason: Reason::of("no"),
        ..Decide::default()
    };
    let outcome = client.decide(&decide).await.unwrap();
    assert_eq!((outcome.result, outcome.message), (DecideResult::Done, format!("{decide:?}")));
}

/// Another release may say less or more: what it leaves out has its old meaning, a word that is not known is no other word, and an
/// option that is not known is not passed over.
#[test]
fn decisions_are_told_between_releases() {
    let decide: Decide = serde_json::from_str(r#"{"edit": "e1", "decision": "reject"}"#).unwrap();
    assert_eq!(decide, Decide { edit: "e1".into(), decision: Decision::Reject, ..Decide::default() });
    assert_eq!(
        serde_json::to_value(&decide).unwrap(),
        json!({"edit": "e1", "decision": "reject", "along": "named"})
    );
    let all = Decide {
        edit: String::new(),
        hunk: None,
        conversation: Some("c".into()),
        decided_too: true,
        path: Some("/a".into()),
        decision: Decision::TakeTheirs,
        reason: None,
        mine: Some(Mine::GiveUp),
        along: Along::All,
    };
    let said = serde_json::to_string(&all).unwrap();
    assert_eq!(serde_json::from_str::<Decide>(&said).unwrap(), all, "{said}");
    let decide: Decide =
        serde_json::from_str(r#"{"decision": "postpone", "mine": "sell", "along": "some"}"#).unwrap();
    let unknown = (Decision::Unknown, Some(Mine::Unknown), Along::Unknown);
    assert_eq!((decide.decision, decide.mine, decide.along), unknown);
    assert!(serde_json::from_str::<Decide>(r#"{"edit": "e", "decision": "accept", "but": 1}"#).is_err());

    let outcome: DecideOutcome = serde_json::from_str(r#"{"result": "done", "message": "yes"}"#).unwrap();
    assert!(outcome.decided.is_empty() && outcome.refused.is_empty() && outcome.kept.is_empty());
    let outcome: DecideOutcome = serde_json::from_str(
        r#"{"result": "tomorrow", "message": "", "weather": 1, "refused": [{"hunk": "e:1", "why": "rain", "message": "it rains"}]}"#,
    )
    .unwrap();
    assert_eq!((outcome.result, outcome.refused[0].why), (DecideResult::Conflict, Why::Elsewhere));
}

#[tokio::test]
async fn refusals_arrive_as_they_were_said() {
    let server = Server::start();
    let client = server.client().await;
    match client.call(&call("nonsense", &json!({}))).await {
        Err(Error::Remote(error)) => {
            assert_eq!(error, RemoteError::new(RemoteKind::NotFound, "no tool nonsense"));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn answers_come_when_they_are_ready() {
    let server = Server::start();
    let client = server.client().await;
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.call(&call("gate", &json!({}))).await.unwrap() }
    });
    for n in 0..100 {
        let arguments = json!({ "n": n });
        assert_eq!(
            client.call(&call("echo", &arguments)).await.unwrap().parse::<Value>().unwrap(),
            arguments
        );
    }
    assert!(!slow.is_finished());
    server.tools.gate.notify_one();
    assert_eq!(slow.await.unwrap().as_str(), "\"open\"");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_clients_at_once_get_their_own_answers() {
    let server = Arc::new(Server::start());
    let clients: Vec<_> = (0..16)
        .map(|who| {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                let client = server.client().await;
                let calls: Vec<_> = (0..200)
                    .map(|n| {
                        let client = client.clone();
                        tokio::spawn(async move {
                            let arguments = json!({"who": who, "n": n, "text": "x".repeat(n * n)});
                            let answer = client.call(&call("echo", &arguments)).await.unwrap();
                            assert_eq!(answer.parse::<Value>().unwrap(), arguments);
                        })
                    })
                    .collect();
                for call in calls {
                    call.await.unwrap();
                }
            })
        })
        .collect();
    for client in clients {
        timeout(SOON, client).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn more_requests_than_there_is_room_for_wait_their_turn() {
    let server = Server::start();
    let client = server.client().await;
    let calls: Vec<_> = (0..IN_FLIGHT * 3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call(&call("sleep", &json!({"ms": 5}))).await.unwrap() })
        })
        .collect();
    for call in calls {
        timeout(SOON, call).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_client_that_ignores_the_limit_is_told_so_and_can_still_cancel() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    let wait = serde_json::to_string(&json!({"call": call("wait", &json!({}))})).unwrap();
    for id in 0..=IN_FLIGHT {
        say(&mut hand, &format!("{{\"id\":{id},\"request\":{wait}}}")).await;
    }
    assert!(line(&mut hand).await.contains("\"busy\""));
    say(&mut hand, "{\"cancel\":7}").await;
    assert!(line(&mut hand).await.starts_with("{\"id\":7,\"error\":{\"kind\":\"cancelled\""));
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_if_it_waits_and_finished_if_it_works() {
    let server = Server::start();
    let client = server.client().await;
    let short = Duration::from_millis(30);
    assert!(timeout(short, client.call(&call("wait", &json!({})))).await.is_err());
    until(|| server.tools.cancelled.load(Ordering::SeqCst) == 1).await;
    assert!(timeout(short, client.call(&call("gate", &json!({})))).await.is_err());
    server.tools.gate.notify_one();
    until(|| server.tools.finished.load(Ordering::SeqCst) == 1).await;
    // The connection is as good as before.
    client.status().await.unwrap();
}

#[tokio::test]
async fn cancelling_what_is_answered_changes_nothing() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    say(&mut hand, "{\"id\":1,\"request\":{\"status\":{}}}").await;
    assert!(line(&mut hand).await.starts_with("{\"id\":1,\"result\":"));
    say(&mut hand, "{\"cancel\":1}\n{\"cancel\":99}").await;
    say(&mut hand, "{\"request\":{\"status\":{}}, \"id\":1}").await;
    assert!(line(&mut hand).await.starts_with("{\"id\":1,\"result\":"));
}

#[tokio::test]
async fn a_client_that_leaves_takes_its_waiting_calls_with_it() {
    let server = Server::start();
    let client = server.client().await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call(&call("wait", &json!({}))).await }
    });
    client.status().await.unwrap();
    waiting.abort();
    let _ = waiting.await;
    drop(client);
    until(|| server.tools.cancelled.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_fault_in_a_tool_is_an_answer() {
    let server = Server::start();
    let client = server.client().await;
    let error = client.call(&call("panic", &json!({}))).await.unwrap_err();
    assert!(matches!(error, Error::Remote(RemoteError { kind: RemoteKind::Failed, .. })), "{error}");
    client.status().await.unwrap();
}

#[tokio::test]
async fn an_unknown_request_is_refused_and_the_connection_goes_on() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    let requests = [
        "{\"dance\":{}}",
        "{\"status\":{\"colour\":1}}",
        "{\"holds\":{\"paths\":[],\"x\":1}}",
        "{\"call\":{\"tool\":\"echo\"}}",
        "not json",
        "null",
    ];
    for request in requests {
        say(&mut hand, &format!("{{\"id\":1,\"request\":{request}}}")).await;
        let answer = line(&mut hand).await;
        assert!(answer.contains("bad_request"), "{request}: {answer}");
    }
    say(&mut hand, "{\"id\":1,\"request\":{\"status\":{}}}").await;
    assert!(line(&mut hand).await.contains("result"));
}

#[tokio::test]
async fn what_is_no_frame_ends_the_connection_with_a_reason_and_the_server_lives() {
    let server = Server::start();
    for nonsense in
        ["nonsense", "{}", "{\"id\":1,\"result\":1}", "{\"hello\":{\"protocol\":2,\"version\":\"\"}}"]
    {
        let mut hand = server.by_hand().await;
        say(&mut hand, nonsense).await;
        assert!(line(&mut hand).await.starts_with("{\"fault\":"), "{nonsense}");
        assert_eq!(line(&mut hand).await, "");
    }
    let mut hand = server.by_hand().await;
    let wait = serde_json::to_string(&json!({"call": call("wait", &json!({}))})).unwrap();
    say(&mut hand, &format!("{{\"id\":1,\"request\":{wait}}}\n{{\"id\":1,\"request\":{wait}}}")).await;
    assert!(line(&mut hand).await.contains("made twice"));
    server.client().await.status().await.unwrap();
}

#[tokio::test]
async fn half_a_line_and_a_cut_are_survived() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    hand.write_all(b"{\"id\":1,\"requ").await.unwrap();
    drop(hand);
    drop(UnixStream::connect(&server.address).await.unwrap());
    let mut hand = BufReader::new(UnixStream::connect(&server.address).await.unwrap());
    hand.write_all(b"{\"hel").await.unwrap();
    drop(hand);

    // A line in pieces is a line.
    let mut hand = server.by_hand().await;
    for byte in b"{\"id\":1,\"request\":{\"status\":{}}}\n" {
        hand.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert!(line(&mut hand).await.contains("result"));
}

#[tokio::test]
async fn a_client_of_another_protocol_is_told_both_versions() {
    let server = Server::start();
    let mut hand = BufReader::new(UnixStream::connect(&server.address).await.unwrap());
    line(&mut hand).await;
    say(&mut hand, "{\"hello\":{\"protocol\":99,\"version\":\"9.9\"}}").await;
    let fault = line(&mut hand).await;
    assert!(fault.contains("9.9") && fault.contains("99"), "{fault}");
    assert_eq!(line(&mut hand).await, "");
}

/// A server that says what it likes.
async fn fake(says: &'static [u8]) -> (tempfile::TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let address = temp.path().join("s");
    let listener = UnixListener::bind(&address).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.write_all(says).await;
                let mut rest = [0; 1024];
                let mut lines = 0;
                while let Ok(size) = stream.read(&mut rest).await {
                    lines += rest[..size].iter().filter(|&&byte| byte == b'\n').count();
                    if size == 0 || lines >= 2 {
                        break;
                    }
                }
            });
        }
    });
    (temp, address)
}

#[tokio::test]
async fn a_server_of_another_protocol_is_refused() {
    let (_temp, address) = fake(b"{\"hello\":{\"protocol\":3,\"version\":\"0.2.0\"}}\n").await;
    let error = Client::connect_to(&address).await.unwrap_err();
    assert!(
        matches!(&error, Error::Version { ours: PROTOCOL, theirs: 3, version } if version == "0.2.0"),
        "{error}"
    );
    assert!(!error.is_refused());
}

#[tokio::test]
async fn a_server_that_does_not_greet_is_no_server() {
    for says in [&b"HTTP/1.1 200\r\n\n"[..], b"{\"cancel\":1}\n", b"{\"fault\":\"go away\"}\n"] {
        let (_temp, address) = fake(says).await;
        let error = Client::connect_to(&address).await.unwrap_err();
        assert!(matches!(error, Error::Protocol(_)), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_fails_what_waits_and_what_comes() {
    let (_temp, address) =
        fake(b"{\"hello\":{\"protocol\":2,\"version\":\"x\"}}\n{\"id\":77,\"result\":1}\n").await;
    let client = Client::connect_to(&address).await.unwrap();
    // The fake closes at the first request.
    let error = timeout(SOON, client.status()).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Closed), "{error}");
    timeout(SOON, client.closed()).await.unwrap();
    assert!(client.is_closed());
    assert!(matches!(client.status().await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_server_that_talks_nonsense_later_fails_what_waits() {
    let (_temp, address) = fake(b"{\"hello\":{\"protocol\":2,\"version\":\"x\"}}\nnonsense\n").await;
    let client = Client::connect_to(&address).await.unwrap();
    let error = timeout(SOON, client.status()).await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Protocol(_)), "{error}");
}

#[tokio::test]
async fn nobody_at_the_socket_is_a_refusal() {
    let temp = tempfile::tempdir().unwrap();
    let missing = Client::connect_to(&temp.path().join("none")).await.unwrap_err();
    assert!(missing.is_refused(), "{missing}");
    let path = temp.path().join("s");
    drop(UnixListener::bind(&path).unwrap());
    let dead = Client::connect_to(&path).await.unwrap_err();
    assert!(dead.is_refused(), "{dead}");
}

#[tokio::test]
async fn large_messages_pass_and_larger_ones_are_refused_by_their_sender() {
    let server = Server::start();
    let client = server.client().await;
    let size = 10 << 20;
    let text = "é".repeat(size);
    let answer: Value = client.call(&call("echo", &json!({"text": text}))).await.unwrap().parse().unwrap();
    assert_eq!(answer["text"].as_str().map(str::len), Some(size * 2));

    let request = client.call(&call("echo", &json!({"text": "x".repeat(FRAME_LIMIT)}))).await;
    assert!(matches!(request, Err(Error::TooLarge { .. })));
    let answer = client.call(&call("large", &json!({"size": FRAME_LIMIT}))).await;
    assert!(matches!(answer, Err(Error::Remote(_))));
    client.status().await.unwrap();
}

#[tokio::test]
async fn an_endless_line_is_refused_by_its_reader() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    let chunk = vec![b'x'; 1 << 20];
    let mut sent = 0;
    // The server closes while there is more to come.
    while sent < 2 * FRAME_LIMIT && hand.write_all(&chunk).await.is_ok() {
        sent += chunk.len();
    }
    assert!(sent < 2 * FRAME_LIMIT);
    assert!(line(&mut hand).await.contains("limit"));
    server.client().await.status().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_does_not_read_holds_up_itself_only() {
    let server = Server::start();
    let mut hand = server.by_hand().await;
    let large = serde_json::to_string(&json!({"call": call("large", &json!({"size": 1 << 20}))})).unwrap();
    let asking = async {
        for id in 0.. {
            say(&mut hand, &format!("{{\"id\":{id},\"request\":{large}}}")).await;
        }
    };
    assert!(timeout(Duration::from_millis(500), asking).await.is_err(), "the server stops reading");
    server.client().await.status().await.unwrap();
    let mut start = [0; 20];
    timeout(SOON, hand.read_exact(&mut start)).await.unwrap().unwrap();
    assert!(start.starts_with(b"{\"id\":"));
}

#[tokio::test]
async fn stopping_ends_waits_lets_work_finish_and_removes_the_socket() {
    let mut server = Server::start();
    let client = server.client().await;
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call(&call("wait", &json!({}))).await }
    });
    let working = tokio::spawn({
        let client = client.clone();
        async move { client.call(&call("sleep", &json!({"ms": 100}))).await }
    });
    client.status().await.unwrap();
    server.stop.cancel();
    assert!(
        matches!(waiting.await.unwrap(), Err(Error::Remote(error)) if error.kind == RemoteKind::Cancelled)
    );
    assert_eq!(working.await.unwrap().unwrap().as_str(), "100");
    timeout(SOON, client.closed()).await.unwrap();
    timeout(SOON, &mut server.serving).await.unwrap().unwrap();
    assert!(Client::connect_to(&server.address).await.unwrap_err().is_refused());
}
