//! Room for the bodies of requests: so much of them is in memory at a time, however many clients send.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use crate::http::refused::Refused;

/// How large a body may be: as large as a line on standard input.
pub(super) const LIMIT: usize = 16 << 20;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(30);

/// A body up to here is taken at any time: as many as there can be connections need little memory.
const SMALL: usize = 64 << 10;

/// How much all larger ones may hold together, in units of [`SMALL`].
const ROOM: usize = 4 * LIMIT / SMALL;

/// How long a larger one waits for room: those before it have arrived by then, or were given up.
const WAIT: Duration = Duration::from_secs(60);

/// What is left of the room.
pub(super) struct Room(Arc<Semaphore>);

/// The room that a body takes until this is dropped; none where it is small.
#[derive(Debug, Default)]
pub(super) struct Taken(Option<OwnedSemaphorePermit>);

impl Room {
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM)))
    }

    /// Reads a body to its end. One that does not say how large it is may be small: it needs no room before it is not.
    pub async fn read(&self, mut body: Body) -> Result<(Vec<u8>, Taken), Refused> {
        let size = HttpBody::size_hint(&body);
        // Said beforehand: nothing of it is waited for.
        if size.lower() > LIMIT as u64 {
            return Err(Refused::TooLarge);
        }
        let said = usize::try_from(size.lower()).unwrap_or(LIMIT);
        let mut taken = self.take(said).await?;
        let mut ends = Instant::now() + ARRIVAL;
        let mut arrived = Vec::with_capacity(said);
        while let Some(frame) = timeout_at(ends, body.frame()).await.map_err(|_| Refused::TooSlow)? {
            let Ok(data) = frame.map_err(Refused::Broken)?.into_data() else { continue };
            let size = arrived.len() + data.len();
            if size > LIMIT {
                return Err(Refused::TooLarge);
            }
            if size > SMALL && taken.0.is_none() {
                taken = self.take(LIMIT).await?;
                ends = Instant::now() + ARRIVAL;
            }
            arrived.extend_from_slice(&data);
        }
        Ok((arrived, taken))
    }

    async fn take(&self, size: usize) -> Result<Taken, Refused> {
        let units = units(size);
        if units == 0 {
            return Ok(Taken(None));
        }
        match timeout(WAIT, Arc::clone(&self.0).acquire_many_owned(units)).await {
            Ok(Ok(permit)) => Ok(Taken(Some(permit))),
            Ok(Err(_)) | Err(_) => Err(Refused::Full),
        }
    }
}

impl Taken {
    /// As much of it as a body of this size needs; the rest is given back.
    pub fn for_size(self, size: usize) -> Self {
        let kept =
            |mut permit: OwnedSemaphorePermit| permit.split(permit.num_permits().min(units(size) as usize));
        Self(self.0.and_then(kept).filter(|permit| permit.num_permits() > 0))
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

    #[tokio::test(start_paused = true)]
    async fn a_body_keeps_as_much_room_as_it_needs() {
        let room = Room::new();
        let mut kept = Vec::new();
        for (size, units) in [(100, 0), (SMALL, 0), (SMALL + 1, 2), (LIMIT, ROOM / 4)] {
            let (body, taken) = room.read(chunked(size)).await.unwrap();
            let before = room.0.available_permits();
            let taken = taken.for_size(body.len());
            assert!(room.0.available_permits() >= before);
            assert_eq!(taken.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits), units, "{size}");
            kept.push(taken);
        }
        drop(kept);
        assert_eq!(room.0.available_permits(), ROOM);
    }

    #[tokio::test(start_paused = true)]
    async fn small_bodies_that_do_not_say_so_wait_for_none() {
        let room = Arc::new(Room::new());
        let large: Vec<_> = (0..4)
            .map(|_| {
                let room = Arc::clone(&room);
                tokio::spawn(async move { room.read(stuck(2 * SMALL)).await.map(drop) })
            })
            .collect();
        while room.0.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let began = Instant::now();
        assert!(room.read(chunked(SMALL)).await.is_ok());
        assert_eq!(began.elapsed(), Duration::ZERO);
        // Those before it are given up.
        assert!(room.read(chunked(LIMIT)).await.is_ok());
        assert_eq!(began.elapsed(), ARRIVAL);
        for large in large {
            assert!(matches!(large.await.unwrap(), Err(Refused::TooSlow)));
        }
        assert!(matches!(room.read(chunked(LIMIT + 1)).await, Err(Refused::TooLarge)));
        assert_eq!(room.0.available_permits(), ROOM);
    }
}
