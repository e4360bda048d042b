//! The edits that a program has shown, by the names that it gave them, until they are decided or it takes them back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hashline_link::CancellationToken;

/// How many a program shows at once: it shows one.
const MOST: usize = 16;

/// The edits of one connection.
#[derive(Default)]
pub(crate) struct Tabs(Mutex<Vec<Tab>>);

/// An edit that is shown.
#[derive(Clone)]
pub(crate) struct Tab {
    name: String,
    /// Fires when it is taken back.
    pub closed: CancellationToken,
    /// Fires when nothing of it is undecided any more.
    pub done: CancellationToken,
}

impl Tabs {
    /// Shows an edit. None where there are too many.
    pub fn open(&self, name: &str) -> Option<Tab> {
        let mut tabs = self.lock();
        tabs.retain(|tab| !tab.done.is_cancelled());
        if tabs.len() >= MOST {
            return None;
        }
        let tab =
            Tab { name: name.to_owned(), closed: CancellationToken::new(), done: CancellationToken::new() };
        tabs.push(tab.clone());
        Some(tab)
    }

    /// Takes those of this name back, or all, and waits until that is done. Returns how many there were.
    pub async fn close(&self, name: Option<&str>) -> usize {
        let closed: Vec<Tab> = {
            let mut tabs = self.lock();
            tabs.extract_if(.., |tab| name.is_none_or(|name| tab.name == name)).collect()
        };
        let open: Vec<Tab> = closed.into_iter().filter(|tab| !tab.done.is_cancelled()).collect();
        open.iter().for_each(|tab| tab.closed.cancel());
        for tab in &open {
            tab.done.cancelled().await;
        }
        open.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Tab>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[tokio::test]
    async fn what_is_closed_is_waited_for() {
        let tabs = Tabs::default();
        let (a, b) = (tabs.open("a").unwrap(), tabs.open("b").unwrap());
        let task = tokio::spawn(async move {
            a.closed.cancelled().await;
            a.done.cancel();
        });
        assert_eq!(tabs.close(Some("a")).await, 1);
        task.await.unwrap();
        assert_eq!(tabs.close(Some("a")).await, 0, "it is gone");
        assert!(!b.closed.is_cancelled());
        b.done.cancel();
        assert_eq!(tabs.close(None).await, 0, "it was decided");
    }

    #[test]
    fn so_many_are_shown_at_once_and_no_more() {
        let tabs = Tabs::default();
        let open: Vec<Tab> = (0..MOST).map(|_| tabs.open("a").unwrap()).collect();
        assert!(tabs.open("a").is_none());
        open[3].done.cancel();
        assert!(tabs.open("b").is_some());
    }
}
