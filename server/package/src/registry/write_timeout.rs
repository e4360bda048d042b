//! Answers that have to be taken: whoever does not read them, or very slowly, is hung up on.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A connection by which each answer has to be taken as a whole in a certain time.
pub struct Taken {
    stream: TcpStream,
    limit: Duration,
    /// Runs out while there is an answer that is not taken.
    running_out: Option<Pin<Box<Sleep>>>,
}

impl Taken {
    /// With this time for each answer.
    pub fn new(stream: TcpStream, limit: Duration) -> Self {
        Self { stream, limit, running_out: None }
    }

    /// Whether there is time left. That of an answer begins with its first bytes.
    fn poll_time(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let running_out = self.running_out.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        if running_out.as_mut().poll(context).is_pending() {
            return Ok(());
        }
        // Else the system would keep for a long time what is not taken.
        self.stream.set_zero_linger()?;
        Err(io::Error::new(io::ErrorKind::TimedOut, "the answer was not taken in time"))
    }
}

impl AsyncRead for Taken {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Taken {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_time(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_time(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Is asked for when all of an answer is written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.running_out = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
