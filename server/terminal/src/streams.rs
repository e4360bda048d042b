//! Standard input and output of a program that another one talks with.
//!
//! Tokio's own hand each read and each write to a thread and back, as they may be files. Here they mostly are pipes or sockets, which say
//! when they are ready: whoever waits for a message is woken by it, and by nothing in between. That holds for sockets on Unix and pipes on Linux;
//! anything else gets Tokio's.
//!
//! # Limitations
//!
//! - A socket cannot be opened again, as a pipe can: whoever shares this end of it finds that it does not block any more, also when the program
//!   has ended. Where errors go to the same socket, it is left as it is.

use tokio::io::{AsyncRead, AsyncWrite};

/// Standard input. To be called once, within a runtime of Tokio.
#[must_use]
pub fn stdin() -> Box<dyn AsyncRead + Send + Unpin> {
    #[cfg(unix)]
    if let Some(input) = ready::input(&std::io::stdin(), &std::io::stderr()) {
        return input;
    }
    Box::new(tokio::io::stdin())
}

/// Standard output. To be called once, within a runtime of Tokio, by a program that writes there in no other way.
#[must_use]
pub fn stdout() -> Box<dyn AsyncWrite + Send + Unpin> {
    #[cfg(unix)]
    if let Some(output) = ready::output(&std::io::stdout(), &std::io::stderr()) {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod ready {
    //! What says when it is ready.

    use std::fs::{File, Metadata};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::os::unix::net::UnixStream as StdStream;

    use tokio::io::{AsyncRead, AsyncWrite};
    use tokio::net::UnixStream;

    /// The input, if it is of that kind. What goes to `errors` is to go on waiting for its reader.
    pub fn input(of: &impl AsFd, errors: &impl AsFd) -> Option<Box<dyn AsyncRead + Send + Unpin>> {
        #[cfg(target_os = "linux")]
        if let Some(pipe) = pipe::input(of) {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(of, errors)?))
    }

    /// The output, likewise.
    pub fn output(of: &impl AsFd, errors: &impl AsFd) -> Option<Box<dyn AsyncWrite + Send + Unpin>> {
        #[cfg(target_os = "linux")]
        if let Some(pipe) = pipe::output(of) {
            return Some(Box::new(pipe));
        }
        Some(Box::new(socket(of, errors)?))
    }

    fn socket(of: &impl AsFd, errors: &impl AsFd) -> Option<UnixStream> {
        let which = |there: &Metadata| (there.dev(), there.ino());
        let there = metadata(of)?;
        if !there.file_type().is_socket() || metadata(errors).as_ref().map(which) == Some(which(&there)) {
            return None;
        }
        let socket = StdStream::from(of.as_fd().try_clone_to_owned().ok()?);
        // This fails for one of another family.
        socket.local_addr().ok()?;
        socket.set_nonblocking(true).ok()?;
        UnixStream::from_std(socket).ok()
    }

    fn metadata(of: &impl AsFd) -> Option<Metadata> {
        File::from(of.as_fd().try_clone_to_owned().ok()?).metadata().ok()
    }

    #[cfg(target_os = "linux")]
    mod pipe {
        //! Opened again, so that it goes on blocking for whoever shares it.

        use std::os::fd::{AsFd, AsRawFd};

        use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

        pub fn input(of: &impl AsFd) -> Option<Receiver> {
            OpenOptions::new().open_receiver(path(of)).ok()
        }

        pub fn output(of: &impl AsFd) -> Option<Sender> {
            OpenOptions::new().open_sender(path(of)).ok()
        }

        fn path(of: &impl AsFd) -> String {
            format!("/proc/self/fd/{}", of.as_fd().as_raw_fd())
        }
    }

    #[cfg(test)]
    mod tests {
        use std::io::{self, Read, Write};
        use std::thread;

        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        use super::*;

        /// More than a pipe or a socket takes at once.
        const LARGE: usize = 4 << 20;

        /// Sends much from one end to the other, until the first is closed.
        async fn goes_through(from: &(impl AsFd + Sync), to: &(impl AsFd + Sync)) {
            let (mut output, mut input) =
                (output(from, &io::stderr()).unwrap(), input(to, &io::stderr()).unwrap());
            let sent = vec![b'a'; LARGE];
            let written = async {
                output.write_all(&sent).await.unwrap();
                output.shutdown().await.unwrap();
            };
            let mut read = vec![0; LARGE];
            let (_, length) = tokio::join!(written, input.read_exact(&mut read));
            assert!(length.unwrap() == LARGE && read == sent);
        }

        #[cfg(target_os = "linux")]
        #[tokio::test]
        async fn a_pipe_is_read_and_written_and_goes_on_blocking_for_whoever_shares_it() {
            let (mut reader, mut writer) = io::pipe().unwrap();
            goes_through(&writer, &reader).await;
            let _held = (input(&reader, &io::stderr()), output(&writer, &io::stderr()));
            let reading = thread::spawn(move || {
                let mut byte = [0];
                reader.read_exact(&mut byte).map(|()| byte)
            });
            thread::sleep(std::time::Duration::from_millis(50));
            writer.write_all(b"b").unwrap();
            assert_eq!(reading.join().unwrap().unwrap(), *b"b");
        }

        #[tokio::test]
        async fn a_socket_is_read_and_written_until_it_is_closed() {
            let (here, there) = StdStream::pair().unwrap();
            goes_through(&here, &there).await;
            let mut input = input(&there, &io::stderr()).unwrap();
            drop(here);
            assert_eq!(input.read(&mut [0]).await.unwrap(), 0);
        }

        #[tokio::test]
        async fn what_is_a_file_or_takes_errors_too_is_left_as_it_is() {
            let file = tempfile::tempfile().unwrap();
            assert!(input(&file, &io::stderr()).is_none() && output(&file, &io::stderr()).is_none());
            let (here, _there) = StdStream::pair().unwrap();
            assert!(output(&here, &here.try_clone().unwrap()).is_none());
        }
    }
}
