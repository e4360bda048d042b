//! Room for the bodies of requests: so much of them is in memory at a time, however many clients send. A holder of a token has a part of it,
//! and whose bodies come slowly keeps only its own waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use hashline_history::Holder;
use http_body_util::BodyExt;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::argument_limits::MESSAGE;
use crate::http::error_responses::Refused;

/// How large a body may be: as large as a line on standard input.
pub(super) const LIMIT: usize = MESSAGE;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// A body up to here is taken at any time: as many as there can be connections need little memory.
const SMALL: usize = 64 << 10;

/// How much all larger ones may hold together, in units of [`SMALL`].
const ROOM: usize = 4 * LIMIT / SMALL;

/// How long a larger one waits for room: those before it have arrived by then, or were given up.
const WAIT: Duration = Duration::from_secs(60);

/// How much of it one holder may have: a body as large as bodies may be, or more that are smaller.
const SHARE: usize = LIMIT / SMALL;

/// What is left of the room.
pub(super) struct Room {
    all: Arc<Semaphore>,
    /// What is left of the shares, of those who have taken anything.
    shares: Mutex<HashMap<Holder, Arc<Semaphore>>>,
}

/// The room that a body takes until this is dropped; none where it is small.
#[derive(Debug, Default)]
pub(super) struct Taken(Option<Permits>);

#[derive(Debug)]
struct Permits {
    all: OwnedSemaphorePermit,
    share: OwnedSemaphorePermit,
}

impl Room {
    pub fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(ROOM)), shares: Mutex::default() }
    }

    /// What is left of a holder's share.
    fn share(&self, holder: &Holder) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        // Of those who have nothing any more nothing is remembered. Waiting for it, and having some of it, holds a share.
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        Arc::clone(shares.entry(holder.clone()).or_insert_with(|| Arc::new(Semaphore::new(SHARE))))
    }

    /// Reads a holder's body to its end. One that does not say how large it is may be small: it needs no room before it is not.
    pub async fn read(&self, mut body: Body, holder: &Holder) -> Result<(Vec<u8>, Taken), Refused> {
        let size = HttpBody::size_hint(&body);
        // Said beforehand: nothing of it is waited for.
        if size.lower() > LIMIT as u64 {
            return Err(Refused::TooLarge);
        }
        let said = usize::try_from(size.lower()).unwrap_or(LIMIT);
        let mut taken = self.take(said, holder).await?;
        let mut ends = Instant::now() + ARRIVAL;
        let mut arrived = Vec::with_capacity(said);
        while let Some(frame) = timeout_at(ends, body.frame()).await.map_err(|_| Refused::TooSlow)? {
            let Ok(data) = frame.map_err(Refused::Broken)?.into_data() else { continue };
            let size = arrived.len() + data.len();
            if size > LIMIT {
                return Err(Refused::TooLarge);
            }
            if size > SMALL && taken.0.is_none() {
                taken = self.take(LIMIT, holder).await?;
                ends = Instant::now() + ARRIVAL;
            }
            arrived.extend_from_slice(&data);
        }
        Ok((arrived, taken))
    }

    async fn take(&self, size: usize, holder: &Holder) -> Result<Taken, Refused> {
        let units = units(size);
        if units == 0 {
            return Ok(Taken(None));
        }
        let permits = async {
            // First its own: whoever waits for that keeps nobody else waiting.
            let share = self.share(holder).acquire_many_owned(units).await?;
            let all = Arc::clone(&self.all).acquire_many_owned(units).await?;
            Ok::<_, AcquireError>(Permits { all, share })
        };
        match timeout(WAIT, permits).await {
            Ok(Ok(permits)) => Ok(Taken(Some(permits))),
            Ok(Err(_)) | Err(_) => Err(Refused::Full),
        }
    }
}

impl Taken {
    /// As much of it as a body of this size needs; the rest is given back.
    pub fn for_size(self, size: usize) -> Self {
        let units = units(size) as usize;
        let kept = |mut permit: OwnedSemaphorePermit| permit.split(permit.num_permits().min(units));
        let both = |Permits { all, share }| Some(Permits { all: kept(all)?, share: kept(share)? });
        Self(self.0.filter(|_| units > 0).and_then(both))
    }
}

/// How much room a body of this size takes.
fn units(size: usize) -> u32 {
    let units = if size <= SMALL { 0 } else { size.div_ceil(SMALL) };
    u32::try_from(units).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures::{StreamExt, stream};

    use super::*;

    /// A body that does not say how large it is.
    fn chunked(size: usize) -> Body {
        Body::from_stream(stream::iter([Ok::<_, std::io::Error>(Bytes::from(vec![b' '; size]))]))
    }

    /// One of which nothing more comes.
    fn stuck(size: usize) -> Body {
        let begun = Ok::<_, std::io::Error>(Bytes::from(vec![b' '; size]));
        Body::from_stream(stream::iter([begun]).chain(stream::pending()))
    }

    fn holder(name: &str) -> Holder {
        Holder::Subject(name.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_keeps_as_much_room_as_it_needs() {
        let room = Room::new();
        let mut kept = Vec::new();
        for (size, units) in [(100, 0), (SMALL, 0), (SMALL + 1, 2), (LIMIT, ROOM / 4)] {
            let (body, taken) = room.read(chunked(size), &holder(&size.to_string())).await.unwrap();
            let before = room.all.available_permits();
            let taken = taken.for_size(body.len());
            assert!(room.all.available_permits() >= before);
            let has = taken.0.as_ref().map_or((0, 0), |has| (has.all.num_permits(), has.share.num_permits()));
            assert_eq!(has, (units, units), "{size}");
            kept.push(taken);
        }
        drop(kept);
        assert_eq!(room.all.available_permits(), ROOM);
        assert_eq!(room.share(&holder("1")).available_permits(), SHARE);
        assert_eq!(room.shares.lock().unwrap().len(), 1, "those who have nothing are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn small_bodies_that_do_not_say_so_wait_for_none() {
        let room = Arc::new(Room::new());
        let large: Vec<_> = (0..4)
            .map(|number| {
                let room = Arc::clone(&room);
                let of = holder(&number.to_string());
                tokio::spawn(async move { room.read(stuck(2 * SMALL), &of).await.map(drop) })
            })
            .collect();
        while room.all.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let (began, other) = (Instant::now(), holder("another"));
        assert!(room.read(chunked(SMALL), &other).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
        // Those before it are given up.
        assert!(room.read(chunked(LIMIT), &other).await.is_ok());
        assert_eq!(began.elapsed(), ARRIVAL);
        for large in large {
            assert!(matches!(large.await.unwrap(), Err(Refused::TooSlow)));
        }
        assert!(matches!(room.read(chunked(LIMIT + 1), &other).await, Err(Refused::TooLarge)));
        assert_eq!(room.all.available_permits(), ROOM);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_bodies_keep_only_those_of_their_own_holder_waiting() {
        let room = Arc::new(Room::new());
        let read = |of: &str, body: Body| {
            let (room, of) = (Arc::clone(&room), holder(of));
            tokio::spawn(async move { room.read(body, &of).await.map(drop) })
        };
        let slow: Vec<_> = (0..8).map(|_| read("slow", stuck(2 * SMALL))).collect();
        let began = Instant::now();
        assert!(read("another", chunked(LIMIT)).await.unwrap().is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(room.all.available_permits() >= ROOM - SHARE);
        for slow in slow {
            assert!(slow.await.unwrap().is_err());
        }
        assert_eq!(room.all.available_permits(), ROOM);
    }
}
