//! The two halves of one end of a connection: one task reads, and whoever has something to say writes.
//!
//! On Unix the system's event queue is asked for what comes in and for nothing else. Of a socket that is registered for
//! writing too it says each time the other side has read that there is room again: one needless change of process for each
//! message in either direction, which costs about as much as the message itself. So the queue is asked for room only
//! while there is none. What tokio has for the ends of pipes does this for any descriptor that does not block.

use std::io;

use interprocess::local_socket::tokio as sockets;

pub(crate) use platform::{ReadHalf, WriteHalf};

/// Takes a stream apart. It is closed when both halves are dropped. Must be called within a tokio runtime.
pub(crate) fn split(stream: sockets::Stream) -> io::Result<(ReadHalf, WriteHalf)> {
    platform::split(stream)
}

#[cfg(unix)]
mod platform {
    use std::io::Write;
    use std::net::Shutdown;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use tokio::io::AsyncWriteExt;
    use tokio::net::unix::pipe::{Receiver, Sender};

    use super::*;

    pub(crate) type ReadHalf = Receiver;

    /// A socket that does not block.
    #[derive(Debug)]
    pub(crate) struct WriteHalf(UnixStream);

    pub(super) fn split(stream: sockets::Stream) -> io::Result<(ReadHalf, WriteHalf)> {
        let sockets::Stream::UdSocket(stream) = stream;
        let socket = UnixStream::from(OwnedFd::try_from(stream)?);
        let reading = Receiver::from_owned_fd_unchecked(socket.try_clone()?.into())?;
        Ok((reading, WriteHalf(socket)))
    }

    impl WriteHalf {
        /// Writes what the socket takes now; [`io::ErrorKind::WouldBlock`] if that is nothing.
        pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
            loop {
                match (&self.0).write(bytes) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    written => return written,
                }
            }
        }

        /// Writes all, when there is room. Where that fails, the connection is closed for both halves and for the other side: half of
        /// something may have been written, and no more can come behind it.
        pub(crate) async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
            let written =
                async { Sender::from_owned_fd_unchecked(self.0.try_clone()?.into())?.write_all(bytes).await };
            written.await.inspect_err(|_| {
                // It may be closed already.
                let _ = self.0.shutdown(Shutdown::Both);
            })
        }
    }

    #[cfg(test)]
    mod tests {
        use std::time::Duration;

        use tokio::io::AsyncReadExt;

        use super::*;

        #[tokio::test]
        async fn what_cannot_be_written_ends_the_connection_for_whoever_reads() {
            let (near, far) = tokio::net::UnixStream::pair().unwrap();
            let (mut reading, writing) = split(sockets::Stream::UdSocket(near.into())).unwrap();
            writing.0.shutdown(Shutdown::Write).unwrap();
            writing.write_all(b"half a line").await.unwrap_err();
            let mut rest = Vec::new();
            let end = tokio::time::timeout(Duration::from_secs(20), reading.read_to_end(&mut rest));
            assert_eq!(end.await.expect("an end").unwrap(), 0);
            drop(far);
        }
    }
}

#[cfg(windows)]
mod platform {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll, Waker};

    use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

    use super::*;

    #[derive(Debug)]
    pub(crate) struct ReadHalf(Arc<sockets::Stream>);

    #[derive(Debug)]
    pub(crate) struct WriteHalf(Arc<sockets::Stream>);

    #[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
    pub(super) fn split(pipe: sockets::Stream) -> io::Result<(ReadHalf, WriteHalf)> {
        let pipe = Arc::new(pipe);
        Ok((ReadHalf(Arc::clone(&pipe)), WriteHalf(pipe)))
    }

    impl AsyncRead for ReadHalf {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut &*self.0).poll_read(context, buffer)
        }
    }

    impl WriteHalf {
        /// Writes what the pipe takes now; [`io::ErrorKind::WouldBlock`] if that is nothing.
        pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
            let mut context = Context::from_waker(Waker::noop());
            match Pin::new(&mut &*self.0).poll_write(&mut context, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            }
        }

        /// Writes all, when there is room.
        pub(crate) async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
            (&*self.0).write_all(bytes).await
        }
    }
}
