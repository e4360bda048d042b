//! Work of a size that others choose, on threads that they share with others.

use std::future::{Future, poll_fn};
use std::pin::pin;

use tokio::runtime::{Handle, RuntimeFlavor};

/// What is done with so many bytes, be it reading them as JSON, writing them or comparing them, takes a few milliseconds at most: less than
/// anybody notices, and no thread is looked for.
const AT_ONCE: usize = 64 << 10;

/// The same future, with each of its steps where it holds up nobody if it works on more bytes than few: the other tasks of the thread go on
/// on another one meanwhile. It waits as any other does, and has no thread then.
///
/// A runtime of one thread has nobody to hand its tasks to: it is for a program that serves one client alone.
pub async fn apart<F: Future>(bytes: usize, work: F) -> F::Output {
    if bytes <= AT_ONCE {
        return work.await;
    }
    let mut work = pin!(work);
    poll_fn(|context| off_worker(|| work.as_mut().poll(context))).await
}

/// Does something at once, and where it holds up nobody if it works on more bytes than few.
pub fn done_apart<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes <= AT_ONCE { work() } else { off_worker(work) }
}

fn off_worker<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Blocks its thread until another task of that thread has run.
    async fn meets_another(bytes: usize) -> bool {
        let (ran, another) = mpsc::channel();
        let (held, mut holding) = tokio::sync::mpsc::unbounded_channel();
        let work = tokio::spawn(apart(bytes, async move {
            held.send(()).unwrap();
            another.recv_timeout(Duration::from_secs(if bytes > AT_ONCE { 30 } else { 1 })).is_ok()
        }));
        holding.recv().await.unwrap();
        tokio::spawn(async move { ran.send(()) });
        work.await.unwrap()
    }

    #[test]
    fn what_is_large_holds_up_nobody_on_the_only_thread_for_tasks() {
        let threads =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        assert!(threads.block_on(meets_another(AT_ONCE + 1)));
        assert!(!threads.block_on(meets_another(AT_ONCE)), "the test tells the two apart");
    }

    #[tokio::test]
    async fn it_is_done_on_a_runtime_of_one_thread_as_well() {
        assert_eq!(apart(AT_ONCE + 1, async { done_apart(AT_ONCE + 1, || 7) }).await, 7);
    }
}
