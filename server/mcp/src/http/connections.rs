//! Which connections there are, and which of them goes where there are too many: the one that has been quiet longest. Anybody on this
//! machine can open connections, without a token and without a word, so none that asks for nothing keeps another out. A stream of notices
//! is open for hours and is never quiet; it took a token, and streams have a number of their own.
//!
//! Of what is under way each holder of a token has a [share]: a quarter of all while most are free, and little of the rest, so that a few
//! who ask for as much as they can leave room for others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashline_history::Holder;
use hashline_link::CancellationToken;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many connections there may be at a time, beside those with streams.
pub(super) const MOST: usize = 512;

/// How many of them may have streams. All together are fewer than the 1,024 files that many systems let a process have open.
pub(super) const STREAMS: usize = 256;

/// The connections.
#[derive(Clone)]
pub(super) struct Connections {
    most: usize,
    streams: usize,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    open: Mutex<Open>,
    /// There may be room for another.
    room: Notify,
}

#[derive(Default)]
struct Open {
    known: BTreeMap<u64, Known>,
    next: u64,
}

struct Known {
    doing: Doing,
    /// Fires when it has to go.
    close: CancellationToken,
}

/// What a connection does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Doing {
    /// It has asked for nothing yet.
    New(Instant),
    /// Everything is answered since then.
    Quiet(Instant),
    /// Something is asked, by this holder as soon as the token is known.
    Answers(Option<Holder>),
    Streams(Option<Holder>),
}

/// A connection, counted until this is dropped.
pub(super) struct Connection {
    shared: Arc<Shared>,
    id: u64,
    close: CancellationToken,
}

/// A request that is not answered to the last byte. Handlers find it among the extensions of the request.
pub(super) struct Unanswered {
    connections: Connections,
    id: u64,
}

impl Connections {
    pub(super) fn new(most: usize, streams: usize) -> Self {
        Self { most, streams, shared: Arc::default() }
    }

    /// Counts one more, for which another goes if need be; waits while none is quiet.
    pub(super) async fn enter(&self) -> Connection {
        loop {
            if let Some(connection) = self.try_enter() {
                return connection;
            }
            self.shared.room.notified().await;
        }
    }

    fn try_enter(&self) -> Option<Connection> {
        let mut open = self.shared.open();
        if open.count() >= self.most && !open.close_quietest() {
            return None;
        }
        let (id, close) = (open.next, CancellationToken::new());
        open.next += 1;
        open.known.insert(id, Known { doing: Doing::New(Instant::now()), close: close.clone() });
        Some(Connection { shared: Arc::clone(&self.shared), id, close })
    }

    /// Something is asked on a connection.
    pub(super) fn ask(&self, connection: &Connection) -> Unanswered {
        self.shared.open().set(connection.id, Doing::Answers(None));
        Unanswered { connections: self.clone(), id: connection.id }
    }
}

/// How many of a number of places one holder may have, of which so many are taken.
fn share(taken: usize, of: usize) -> usize {
    let share = if taken < of / 2 { of / 4 } else { of / 32 };
    share.max(1)
}

impl Doing {
    fn holder(&self) -> Option<&Holder> {
        match self {
            Self::Answers(holder) | Self::Streams(holder) => holder.as_ref(),
            Self::New(_) | Self::Quiet(_) => None,
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// How many there are without streams. One that is closing is gone.
    fn count(&self) -> usize {
        let counts =
            |known: &&Known| !matches!(known.doing, Doing::Streams(_)) && !known.close.is_cancelled();
        self.known.values().filter(counts).count()
    }

    /// How many answer or stream, as this says.
    fn number(&self, counts: impl Fn(&Doing) -> bool) -> usize {
        self.known.values().filter(|known| counts(&known.doing)).count()
    }

    fn set(&mut self, id: u64, doing: Doing) {
        if let Some(known) = self.known.get_mut(&id) {
            known.doing = doing;
        }
    }

    /// Closes the one that has been quiet longest; false where none is.
    fn close_quietest(&mut self) -> bool {
        let quiet = self.known.values().filter(|known| !known.close.is_cancelled()).filter_map(|known| {
            match known.doing {
                Doing::New(since) | Doing::Quiet(since) => Some((since, &known.close)),
                Doing::Answers(_) | Doing::Streams(_) => None,
            }
        });
        let quietest = quiet.min_by_key(|(since, _)| *since);
        if let Some((_, close)) = quietest {
            close.cancel();
        }
        quietest.is_some()
    }
}

impl Connection {
    /// Whether nothing has been asked on it.
    pub(super) fn is_new(&self) -> bool {
        let open = self.shared.open();
        open.known.get(&self.id).is_some_and(|known| matches!(known.doing, Doing::New(_)))
    }

    /// Comes when it has to go.
    pub(super) async fn closed(&self) {
        self.close.cancelled().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.open().known.remove(&self.id);
        self.shared.room.notify_one();
    }
}

impl Unanswered {
    /// A holder of a token asks; false where that one has as much under way as is its share.
    pub(super) fn is_of(&self, holder: &Holder) -> bool {
        let mut open = self.connections.shared.open();
        let busy = open.number(|doing| matches!(doing, Doing::Answers(Some(_))));
        let own = open.number(|doing| matches!(doing, Doing::Answers(Some(by)) if by == holder));
        let has_room = own < share(busy, self.connections.most);
        if has_room {
            open.set(self.id, Doing::Answers(Some(holder.clone())));
        }
        has_room
    }

    /// The answer is a stream of notices; false where there are too many of these, or too many of whoever asks.
    pub(super) fn stream(&self) -> bool {
        let Connections { streams, shared, .. } = &self.connections;
        let mut open = shared.open();
        let holder = open.known.get(&self.id).and_then(|known| known.doing.holder().cloned());
        let all = open.number(|doing| matches!(doing, Doing::Streams(_)));
        let own = open.number(|doing| matches!(doing, Doing::Streams(by) if *by == holder));
        let has_room = all < *streams && own < share(all, *streams);
        if has_room {
            open.set(self.id, Doing::Streams(holder));
            shared.room.notify_one();
        }
        has_room
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        let Connections { most, shared, .. } = &self.connections;
        let mut open = shared.open();
        open.set(self.id, Doing::Quiet(Instant::now()));
        // One that had a stream counts again.
        while open.count() > *most && open.close_quietest() {}
        shared.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_one_that_has_been_quiet_longest_goes() {
        let connections = Connections::new(3, 1);
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(connections.enter().await);
            advance(Duration::from_secs(1)).await;
        }
        let gone = |open: &[Connection]| -> Vec<usize> {
            (0..open.len()).filter(|at| open[*at].close.is_cancelled()).collect()
        };
        let busy = connections.ask(&open[0]);
        drop(connections.ask(&open[1]));
        advance(Duration::from_secs(1)).await;
        open.push(connections.enter().await);
        assert_eq!(gone(&open), [2], "the first is asked, the second was asked later");
        drop(busy);
        open.push(connections.enter().await);
        assert_eq!(gone(&open), [1, 2]);
        let unanswered: Vec<_> = [0, 3, 4].map(|at| connections.ask(&open[at])).into();
        let waiting = connections.enter();
        tokio::pin!(waiting);
        assert!(futures::poll!(&mut waiting).is_pending(), "all of them are asked");
        drop(unanswered);
        open.push(waiting.await);
        assert_eq!(gone(&open).len(), 3);
    }

    /// Asks on new connections in a holder's name, as often as that is let.
    async fn fill(connections: &Connections, holder: &str, open: &mut Vec<Connection>) -> Vec<Unanswered> {
        let holder = Holder::Subject(holder.to_owned());
        let mut asked = Vec::new();
        loop {
            let connection = connections.enter().await;
            let unanswered = connections.ask(&connection);
            if !unanswered.is_of(&holder) {
                return asked;
            }
            open.push(connection);
            asked.push(unanswered);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_for_all_that_there_is_leaves_room_for_others() {
        let connections = Connections::new(64, 64);
        let mut open = Vec::new();
        let mut asked = Vec::new();
        let mut shares = Vec::new();
        for holder in 0..16 {
            let of_one = fill(&connections, &holder.to_string(), &mut open).await;
            shares.push(of_one.len());
            asked.push(of_one);
        }
        assert_eq!(shares[..3], [16, 16, 2]);
        assert_eq!(shares[3..], [2; 13]);
        assert!(!fill(&connections, "another", &mut open).await.is_empty());
        // What is answered is free again.
        asked.swap_remove(0);
        open.drain(..16);
        assert!(!fill(&connections, "0", &mut open).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn streams_of_one_leave_room_for_those_of_others() {
        let connections = Connections::new(64, 8);
        let mut kept = Vec::new();
        let mut streams = async |holder: &str| {
            let mut count = 0;
            for _ in 0..8 {
                let connection = connections.enter().await;
                let unanswered = connections.ask(&connection);
                assert!(unanswered.is_of(&Holder::Token(holder.to_owned())));
                count += usize::from(unanswered.stream());
                kept.push((connection, unanswered));
            }
            count
        };
        assert_eq!([streams("a").await, streams("b").await, streams("c").await], [2, 2, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn streams_take_no_place_and_have_a_number_of_their_own() {
        let connections = Connections::new(1, 2);
        let mut open = Vec::new();
        let mut streams = Vec::new();
        for holder in ["a", "b"] {
            let connection = connections.enter().await;
            let stream = connections.ask(&connection);
            assert!(stream.is_of(&Holder::Subject(holder.to_owned())) && stream.stream());
            open.push(connection);
            streams.push(stream);
        }
        let third = connections.enter().await;
        assert!(!connections.ask(&third).stream());
        assert!(open.iter().chain([&third]).all(|connection| !connection.close.is_cancelled()));
        // What counts again takes a place.
        drop(streams.pop());
        let left = open.iter().chain([&third]).filter(|connection| !connection.close.is_cancelled());
        assert_eq!(left.count(), 2);
        assert!(connections.ask(&third).stream(), "there is room for another stream");
    }
}
