//! A body on its way to the client.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep};

/// A body that holds something until it is sent, or nobody takes it any more.
pub(super) struct Outgoing<T> {
    body: Body,
    /// When it ends, whatever is still to come.
    ends: Option<Pin<Box<Sleep>>>,
    _holds: T,
}

impl<T> Outgoing<T> {
    pub(super) fn new(body: Body, holds: T) -> Self {
        Self { body, ends: None, _holds: holds }
    }

    /// The same, which ends after this time.
    pub(super) fn for_as_long_as(self, time: Duration) -> Self {
        Self { ends: Some(Box::pin(sleep(time))), ..self }
    }
}

impl<T: Unpin> HttpBody for Outgoing<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.ends.as_mut().map(|ends| ends.as_mut().poll(context)) {
            Some(Poll::Ready(())) => Poll::Ready(None),
            Some(Poll::Pending) | None => Pin::new(&mut self.body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_its_token() {
        let lasts = Duration::from_secs(60);
        let began = tokio::time::Instant::now();
        let notices = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
        let outgoing = |body| Outgoing::new(body, ()).for_as_long_as(lasts);
        let mut stream = outgoing(notices);
        assert!(stream.frame().await.is_none());
        assert_eq!(began.elapsed(), lasts);
        let mut whole = outgoing(Body::from("answer"));
        assert_eq!(whole.frame().await.unwrap().unwrap().into_data().unwrap(), "answer");
    }
}
