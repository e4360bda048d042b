//! Calls without a path: every sidecar within the roots is asked, and the disk's own workspace, and the answers become one.

use futures::future::{join_all, select_all};
use futures::{FutureExt, future::BoxFuture};
use hashline_link::Sidecar;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::reply::{COUNT, EDITS, GIVEN_UP, NEWS, NOT_HERE, Reply, TIMED_OUT, UNDECIDED, texts_of};
use crate::router::{ATTEMPTS, Asking, PAUSE, Router};
use crate::tools::await_review::{self, Asked};
use crate::toolset::ToolName;

/// One that can be asked.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Own,
    Sidecar(Box<Sidecar>),
}

/// These sidecars, and this process.
fn with_own(sidecars: Vec<Sidecar>) -> Vec<Target> {
    let sidecars = sidecars.into_iter().map(|sidecar| Target::Sidecar(Box::new(sidecar)));
    sidecars.chain([Target::Own]).collect()
}

impl Router {
    pub(super) async fn everywhere(&self, asking: &Asking<'_>) -> Reply {
        match asking.tool {
            ToolName::ListEdits | ToolName::ListDocuments => {
                let asked = self.ask_all(asking).await;
                merged(asked.into_iter().map(|(_, reply)| reply).collect())
            }
            ToolName::SearchText => self.search(asking).await,
            ToolName::AwaitReview => self.await_everywhere(asking).await,
            // Who does not have it refuses and changes nothing.
            ToolName::WithdrawEdit => match self.first_that_knows(asking).await {
                Some(reply) => reply,
                // Refused here, in the same words as everywhere.
                None => self.own_call(asking).await,
            },
            // Without a path these are refused, in the same words as everywhere.
            ToolName::ReadTextFile
            | ToolName::EditTextFile
            | ToolName::MoveFile
            | ToolName::DeleteFile
            | ToolName::WriteFile
            | ToolName::EditFileDiff
            | ToolName::FileCreate
            | ToolName::FileRemove
            | ToolName::TextRead
            | ToolName::TextReplace
            | ToolName::TextInsert
            | ToolName::TextAppend => self.own_call(asking).await,
        }
    }

    /// Every place within the roots.
    pub(super) fn targets(&self) -> Vec<Target> {
        with_own(self.within_roots())
    }

    /// Every place that a tool is asked of.
    fn targets_of_tool(&self, tool: ToolName) -> Vec<Target> {
        match tool {
            // A file may be open in an editor that has another folder.
            ToolName::SearchText => with_own(self.sidecars.known().list.to_vec()),
            _ => self.targets(),
        }
    }

    async fn ask(&self, target: &Target, asking: &Asking<'_>) -> Reply {
        match target {
            Target::Own => self.own_call(asking).await,
            Target::Sidecar(sidecar) => {
                let failure = match self.pass_on(sidecar, asking).await {
                    // The last word of a sidecar that is ending.
                    Ok(reply) => return if reply.has(GIVEN_UP) { gone() } else { reply },
                    Err(failure) => failure,
                };
                let ended = failure.is_gone() || failure.is_going_away() && self.has_ended(sidecar).await;
                if ended { gone() } else { failure.reply(sidecar, asking) }
            }
        }
    }

    pub(super) async fn ask_all(&self, asking: &Asking<'_>) -> Vec<(Target, Reply)> {
        let mut attempt = 1;
        loop {
            let asked = self.targets_of_tool(asking.tool).into_iter().map(|target| async move {
                let reply = self.ask(&target, asking).await;
                (target, reply)
            });
            let replies = join_all(asked).await;
            // What an editor had that has just ended is found here when it is known that it has.
            if attempt >= ATTEMPTS || !replies.iter().any(|(_, reply)| reply.has(GIVEN_UP)) {
                return replies;
            }
            attempt += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The first answer of a place that knows what is asked about; none if no place does.
    async fn first_that_knows(&self, asking: &Asking<'_>) -> Option<Reply> {
        for _ in 0..ATTEMPTS {
            let mut ended = false;
            for target in self.targets_of_tool(asking.tool) {
                let reply = match asking.tool {
                    ToolName::AwaitReview => self.wait(&target, asking).await,
                    _ => self.ask(&target, asking).await,
                };
                if !reply.has(NOT_HERE) {
                    return Some(reply);
                }
                ended |= reply.has(GIVEN_UP);
            }
            if !ended {
                return None;
            }
            tokio::time::sleep(PAUSE).await;
        }
        None
    }

    /// Waits for decisions. Where an editor ends meanwhile, its edits are found in the record.
    async fn await_everywhere(&self, asking: &Asking<'_>) -> Reply {
        match await_review::parse(asking.arguments.clone()) {
            Ok(asked) => self.await_running(asking, asked).await,
            Err(problems) => Reply::refused(problems),
        }
    }

    /// Waits in every place that has edits which are waited for, until there is news in one of them. What was told once is no news any
    /// more, so an answer that has news is never thrown away.
    async fn await_running(&self, asking: &Asking<'_>, asked: Asked) -> Reply {
        let seconds = asked.timeout.as_secs();
        let asking = &asking.with(with_timeout(asked.edits.clone(), seconds));
        let probed = if asked.edits.is_empty() {
            self.ask_all(&asking.with(with_timeout(Vec::new(), 0))).await
        } else {
            // Nearly always all of them are in one place.
            if let Some(reply) = self.first_that_knows(asking).await {
                return reply;
            }
            match self.probe_each(asking, &asked.edits).await {
                Ok(probed) => probed,
                Err(refused) => return refused,
            }
        };
        let probed: Vec<_> =
            probed.into_iter().filter(|(_, reply)| reply.failed || count(reply) > 0).collect();
        let open: Vec<_> = probed.iter().filter(|(_, reply)| number(reply, UNDECIDED) > 0).collect();
        if open.is_empty() || probed.iter().any(|(_, reply)| reply.failed || is(reply, NEWS)) {
            return match probed.is_empty() {
                true => self.own_call(asking).await,
                false => merged(probed.into_iter().map(|(_, reply)| reply).collect()),
            };
        }
        match open.as_slice() {
            [(target, reply)] => {
                let asking = &asking.with(with_timeout(ids(reply), seconds));
                let reply = self.wait(target, asking).await;
                if !reply.has(NOT_HERE) {
                    return reply;
                }
                // It has ended: its edits are in the record.
                match self.first_that_knows(asking).await {
                    Some(reply) => reply,
                    None => self.own_call(asking).await,
                }
            }
            several => {
                let waits: Vec<_> = several.iter().map(|(target, reply)| (target, ids(reply))).collect();
                self.first_news(asking, &waits, seconds).await
            }
        }
    }

    /// Where each of some edits is, and how it stands; an edit that is nowhere is refused.
    async fn probe_each(&self, asking: &Asking<'_>, edits: &[String]) -> Result<Vec<(Target, Reply)>, Reply> {
        let mut probed = Vec::new();
        for id in edits {
            let asking = &asking.with(with_timeout(vec![id.clone()], 0));
            let all = self.ask_all(asking).await;
            let mut here = all.into_iter().filter(|(_, reply)| !reply.has(NOT_HERE)).peekable();
            if here.peek().is_none() {
                // Refused here, in the same words as everywhere.
                return Err(self.own_call(asking).await);
            }
            probed.extend(here);
        }
        Ok(probed)
    }

    /// Waits in one place. When `cancel` fires, the sidecar is told by taking the request back.
    async fn wait(&self, target: &Target, asking: &Asking<'_>) -> Reply {
        tokio::select! {
            reply = self.ask(target, asking) => reply,
            // Nobody reads this: whoever asked has taken the question back.
            () = asking.cancel.cancelled() => Reply::refused("The wait was taken back; the edits are as they were."),
        }
    }

    async fn first_news(&self, asking: &Asking<'_>, waits: &[(&Target, Vec<String>)], seconds: u64) -> Reply {
        let begun = waits.iter().map(|(target, ids)| -> BoxFuture<'_, Reply> {
            let asking = asking.with(with_timeout(ids.clone(), seconds));
            async move { self.wait(target, &asking).await }.boxed()
        });
        let (first, at, rest) = select_all(begun).await;
        drop(rest);
        let now = waits.iter().enumerate().map(|(place, (target, ids))| {
            let first = (place == at).then(|| first.clone());
            let asking = asking.with(with_timeout(ids.clone(), 0));
            async move {
                match first {
                    Some(first) => first,
                    None => self.wait(target, &asking).await,
                }
            }
        });
        merged(join_all(now).await)
    }
}

/// What stands for the answer of one that has ended: its edits are in the record.
fn gone() -> Reply {
    Reply::new("").with(COUNT, 0).with(NOT_HERE, true).with(GIVEN_UP, true)
}

fn with_timeout(ids: Vec<String>, seconds: u64) -> JsonObject {
    let mut given = JsonObject::new();
    if !ids.is_empty() {
        given.insert("edit_ids".to_owned(), ids.into());
    }
    given.insert("timeout_s".to_owned(), seconds.into());
    given
}

fn ids(reply: &Reply) -> Vec<String> {
    texts_of(&reply.meta, EDITS)
}

fn number(reply: &Reply, key: &str) -> u64 {
    reply.meta.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn is(reply: &Reply, key: &str) -> bool {
    reply.meta.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// How many things an answer lists.
fn count(reply: &Reply) -> u64 {
    number(reply, COUNT)
}

/// One answer of several. Those that list nothing are left out, unless all of them do. What failed is told, and fails the whole
/// only where nothing else was answered.
fn merged(replies: Vec<Reply>) -> Reply {
    let (mut told, mut empty): (Vec<Reply>, Vec<Reply>) =
        replies.into_iter().partition(|reply| reply.failed || count(reply) > 0);
    if told.is_empty() {
        empty.retain(|reply| !reply.text.is_empty());
        return if empty.is_empty() { Reply::new("") } else { empty.swap_remove(0) };
    }
    if told.len() == 1 {
        return told.swap_remove(0);
    }
    let failed = told.iter().all(|reply| reply.failed);
    let texts: Vec<&str> = told.iter().map(|reply| reply.text.trim_end()).collect();
    let text = texts.join("\n\n") + "\n";
    let total: u64 = told.iter().map(count).sum();
    let all: Vec<String> = told.iter().flat_map(ids).collect();
    let reply = Reply { failed, ..Reply::new(text) }.with(COUNT, total);
    let reply = if all.is_empty() { reply } else { reply.with(EDITS, all) };
    if told.iter().any(|reply| reply.has(TIMED_OUT)) {
        let waited = |reply: &Reply| reply.meta.get(TIMED_OUT).and_then(Value::as_bool).unwrap_or(true);
        return reply.with(TIMED_OUT, told.iter().all(waited));
    }
    reply
}
