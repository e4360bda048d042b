//! Subscriptions in both eras: what is told, of whom, and that nothing goes on when nobody listens.
#![allow(deprecated, reason = "clients with a handshake subscribe so")]

use std::time::Duration;

use rmcp::model::{
    ClientConfig, Implementation, ResourceUpdatedNotificationParam, ServerNotification,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService, Subscription,
};
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::json;
use tokio::sync::mpsc;

use crate::desk::Answer;
use crate::place::Place;
use crate::protocol::{modern, server};

const LIST: &str = "the list";

/// A client that writes down what it is told.
#[derive(Clone)]
struct Ears(mpsc::UnboundedSender<String>);

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(rmcp::model::ClientCapabilities::default(), Implementation::new("tester", "1"))
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(params.uri);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(LIST.to_owned());
    }
}

/// A client that is subscribed to some resources, and what it hears.
struct Subscriber {
    connection: RunningService<RoleClient, Ears>,
    heard: mpsc::UnboundedReceiver<String>,
    listening: Option<Subscription>,
}

impl Subscriber {
    async fn new(place: &Place, modern_era: bool, uris: &[&str]) -> Self {
        let server = server(&[&place.root], true, &place.state);
        let (near, far) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(running) = server.serve(far).await {
                let _ = running.waiting().await;
            }
        });
        let (ears, heard) = mpsc::unbounded_channel();
        let lifecycle = if modern_era { modern() } else { ClientLifecycleMode::Initialize };
        let connection = Ears(ears).serve_with_lifecycle(near, lifecycle).await.unwrap();
        let mut subscriber = Self { connection, heard, listening: None };
        if modern_era {
            let filter = SubscriptionFilter::builder()
                .resources_list_changed()
                .resource_subscriptions(uris.iter().copied())
                .build();
            subscriber.listening = Some(subscriber.connection.listen(filter).await.unwrap());
            // It begins with a notice of each.
            let mut first: Vec<String> = Vec::new();
            while first.len() < uris.len() {
                first.push(subscriber.next().await);
            }
            first.sort();
            let mut expected = uris.to_vec();
            expected.sort_unstable();
            assert_eq!(first, expected);
        } else {
            subscriber.connection.list_all_resources().await.unwrap();
            for uri in uris {
                subscriber.connection.subscribe(SubscribeRequestParams::new(*uri)).await.unwrap();
            }
        }
        subscriber
    }

    /// What is told next.
    async fn next(&mut self) -> String {
        let next = async {
            match &mut self.listening {
                None => self.heard.recv().await.unwrap(),
                Some(listening) => match listening.next().await.unwrap().unwrap() {
                    ServerNotification::ResourceUpdatedNotification(updated) => updated.params.uri,
                    ServerNotification::ResourceListChangedNotification(_) => LIST.to_owned(),
                    other => panic!("{other:?}"),
                },
            }
        };
        tokio::time::timeout(Duration::from_secs(30), next).await.expect("something is told")
    }

    /// Returns when this is told, whatever is told before.
    async fn hears(&mut self, what: &str) {
        while self.next().await != what {}
    }
}

async fn call(subscriber: &Subscriber, tool: &'static str, arguments: serde_json::Value) -> Answer {
    let serde_json::Value::Object(arguments) = arguments else { panic!("not an object") };
    let params = rmcp::model::CallToolRequestParams::new(tool).with_arguments(arguments);
    Answer::of(&subscriber.connection.call_tool(params).await.unwrap())
}

#[tokio::test]
async fn typing_is_told_of_as_the_client_spells_the_document() {
    for modern_era in [false, true] {
        let place = Place::new();
        let path = place.write("a b.txt", "one\n");
        let editor = place.editor("nvim", &[&place.root]);
        editor.open(&path, "one\n");
        let spelled = format!("file://{}", path.display());
        let mut subscriber = Subscriber::new(&place, modern_era, &[&spelled, "file://a%20b.txt"]).await;
        editor.types(&path, 2, "one and two\n");
        let mut told = [subscriber.next().await, subscriber.next().await];
        told.sort();
        assert_eq!(told, [spelled.clone(), "file://a%20b.txt".to_owned()]);
        // A burst is one piece of news, or two where it is met in the middle; the last of it is never missed.
        for version in 3..1000 {
            editor.types(&path, version, &format!("{version}\n"));
        }
        subscriber.hears(&spelled).await;
        editor.sidecar.quit().await;
    }
}

#[tokio::test]
async fn a_file_is_told_of_that_hashline_or_another_program_changes() {
    for modern_era in [false, true] {
        let place = Place::new();
        let path = place.write("a.txt", "one\n");
        let mut subscriber = Subscriber::new(&place, modern_era, &["file://a.txt", "file://new.txt"]).await;
        let edits = json!([{ "old": "one", "new": "two" }]);
        let done = call(&subscriber, "edit_file_diff", json!({ "path": "a.txt", "edits": edits })).await;
        assert!(!done.failed, "{}", done.text);
        assert_eq!(subscriber.next().await, "file://a.txt");
        std::fs::write(&path, "by another\n").unwrap();
        assert_eq!(subscriber.next().await, "file://a.txt");
        place.write("new.txt", "made\n");
        assert_eq!(subscriber.next().await, "file://new.txt");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(subscriber.next().await, "file://a.txt");
    }
}

#[tokio::test]
async fn edits_decisions_withdrawals_and_conflicts_are_told_of() {
    for modern_era in [false, true] {
        let place = Place::new();
        let path = place.write("a.txt", "one\ntwo\n");
        let editor = place.editor("nvim", &[&place.root]);
        editor.open(&path, "one\ntwo\n");
        let all = "review://";
        let mut subscriber = Subscriber::new(&place, modern_era, &["review://a.txt", all]).await;
        let edit = async |subscriber: &Subscriber, old: &str| {
            let edits = json!([{ "old": old, "new": "edited" }]);
            call(subscriber, "edit_file_diff", json!({ "path": "a.txt", "edits": edits })).await.edit_id()
        };
        let both = async |subscriber: &mut Subscriber| {
            let mut told = [subscriber.next().await, subscriber.next().await];
            told.sort();
            assert_eq!(told, [all, "review://a.txt"]);
        };
        let first = edit(&subscriber, "one").await;
        both(&mut subscriber).await;
        editor.reject(&first, "No.").await;
        both(&mut subscriber).await;
        let second = edit(&subscriber, "two").await;
        both(&mut subscriber).await;
        editor.types(&path, 2, "one\ntwo!\n");
        both(&mut subscriber).await;
        call(&subscriber, "withdraw_edit", json!({ "edit_id": second })).await;
        both(&mut subscriber).await;
        editor.sidecar.quit().await;
    }
}

#[tokio::test]
async fn a_subscription_follows_the_document_to_whoever_has_it() {
    for modern_era in [false, true] {
        let place = Place::new();
        let path = place.write("a.txt", "one\n");
        let mut subscriber = Subscriber::new(&place, modern_era, &["file://a.txt"]).await;
        let editor = place.editor("nvim", &[&place.root]);
        subscriber.hears("file://a.txt").await;
        editor.open(&path, "one\n");
        subscriber.hears(LIST).await;
        editor.types(&path, 2, "typed\n");
        subscriber.hears("file://a.txt").await;
        editor.sidecar.crash();
        subscriber.hears("file://a.txt").await;
        std::fs::write(&path, "on the disk\n").unwrap();
        subscriber.hears("file://a.txt").await;
        let next = place.editor("code", &[&place.root]);
        next.open(&path, "in the next\n");
        subscriber.hears("file://a.txt").await;
        next.sidecar.quit().await;
        subscriber.hears("file://a.txt").await;
    }
}

#[tokio::test]
async fn what_is_given_up_is_told_of_no_more_and_nothing_waits_for_it() {
    let place = Place::new();
    let (a, b) = (place.write("a.txt", ""), place.write("b.txt", ""));
    let editor = place.editor("nvim", &[&place.root]);
    editor.open(&a, "");
    editor.open(&b, "");
    let mut subscriber = Subscriber::new(&place, false, &["file://a.txt", "file://b.txt"]).await;
    subscriber.connection.unsubscribe(UnsubscribeRequestParams::new("file://a.txt")).await.unwrap();
    editor.types(&a, 2, "typed\n");
    editor.types(&b, 2, "typed\n");
    assert_eq!(subscriber.next().await, "file://b.txt");
    editor.watched(1).await;
    drop(subscriber);
    editor.watched(0).await;

    let mut listener = Subscriber::new(&place, true, &["file://a.txt"]).await;
    editor.watched(1).await;
    listener.listening.take().unwrap().cancel().await.unwrap();
    editor.watched(0).await;
    let listener = Subscriber::new(&place, true, &["file://a.txt"]).await;
    editor.watched(1).await;
    drop(listener);
    editor.watched(0).await;
    editor.sidecar.quit().await;
}

#[tokio::test]
async fn what_can_never_be_told_of_is_refused() {
    let place = Place::new();
    let subscriber = Subscriber::new(&place, false, &["test://what-a-client-tries", "untitled:1"]).await;
    for (uri, word) in [
        ("list://", "Read it again"),
        ("file://../a.txt", "above the root"),
        ("file://.mcp/edit_history/x", "lies in .mcp"),
        ("review:///etc/passwd", "outside the roots"),
    ] {
        let refused = subscriber.connection.subscribe(SubscribeRequestParams::new(uri)).await.unwrap_err();
        assert!(refused.to_string().contains(word), "{uri}: {refused}");
    }
    for number in 0..50 {
        let params = SubscribeRequestParams::new(format!("file://{number}.txt"));
        let refused = subscriber.connection.subscribe(params).await.err();
        let told = refused.map(|refused| refused.to_string()).unwrap_or_default();
        // Two are subscribed to already, and the list is told of.
        assert_eq!(told.contains("Unsubscribe"), number >= 47, "{number}: {told}");
    }

    // All at once.
    let other = Subscriber::new(&place, false, &[]).await;
    let subscribing = (0..60).map(|number| {
        other.connection.subscribe(SubscribeRequestParams::new(format!("file://{number}.txt")))
    });
    let taken = futures::future::join_all(subscribing).await.iter().filter(|taken| taken.is_ok()).count();
    assert_eq!(taken, 49, "and the list");

    let asked = ["list://", "file://../a.txt", "file://a.txt"];
    let filter = SubscriptionFilter::builder().resource_subscriptions(asked).build();
    let listener = Subscriber::new(&place, true, &[]).await;
    let listening = listener.connection.listen(filter).await.unwrap();
    let accepted = listening.acknowledged().resource_subscriptions.clone().unwrap();
    assert_eq!(accepted, ["file://a.txt"]);
}
