//! Work of a size that others choose, on threads that they share with others.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

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
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| {
            // What is large within something large goes on in the same turn.
            let _turn = (!HAS_TURN.get()).then(Turn::take);
            work()
        }),
        _ => work(),
    }
}

/// How many processors large work takes at a time: all but one, where there are several. Whoever has something small to do beside it, such as to
/// answer a key, finds one that is not taken.
fn processors_for_large() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| available_parallelism().map_or(1, |all| (all.get() - 1).max(1)));
    *PROCESSORS
}

/// A turn to work on something large, of this thread. Whoever waits for one takes no processor. Nobody waits for one with a lock in
/// hand that somebody with a turn blocks on: a queue that is held meanwhile is waited for by tasks, which have no turn then.
struct Turn(PhantomData<*const ()>);

static TAKEN: Mutex<usize> = Mutex::new(0);
static GIVEN_BACK: Condvar = Condvar::new();

thread_local! {
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
}

impl Turn {
    fn take() -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let free = GIVEN_BACK.wait_while(taken, |taken| *taken >= processors_for_large());
        *free.unwrap_or_else(PoisonError::into_inner) += 1;
        HAS_TURN.set(true);
        Self(PhantomData)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HAS_TURN.set(false);
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        GIVEN_BACK.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
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

    #[test]
    fn a_processor_is_left_for_what_is_small_however_much_is_large() {
        let (most, large) = (processors_for_large(), AT_ONCE + 1);
        let threads = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let now = &AtomicUsize::new(0);
        let met: Vec<usize> = threads.block_on(async {
            let one = || {
                done_apart(large, || {
                    let met = now.fetch_add(1, Ordering::SeqCst) + 1;
                    // What is large within it waits for nobody.
                    done_apart(large, || std::thread::sleep(Duration::from_millis(5)));
                    now.fetch_sub(1, Ordering::SeqCst);
                    met
                })
            };
            std::thread::scope(|scope| {
                let runtime = Handle::current();
                let working: Vec<_> = (0..4 * most + 4)
                    .map(|_| {
                        let runtime = runtime.clone();
                        scope.spawn(move || {
                            let _inside = runtime.enter();
                            one()
                        })
                    })
                    .collect();
                working.into_iter().map(|work| work.join().unwrap()).collect()
            })
        });
        assert!(met.iter().all(|met| *met <= most), "{met:?}, and {most} may");
    }

    #[tokio::test]
    async fn it_is_done_on_a_runtime_of_one_thread_as_well() {
        assert_eq!(apart(AT_ONCE + 1, async { done_apart(AT_ONCE + 1, || 7) }).await, 7);
    }
}
