//! The sending side of a connection.
//!
//! A line is written by whoever sends it, at once and without waiting, which spares a change of task; what
//! the socket does not take is kept and written by a task of the connection. So a sender that is dropped never leaves
//! half a line behind, and no lock is held over an await.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::discovery::lock;
use crate::stream::WriteHalf;

/// How much may wait to be sent before nothing more is read from the other side.
const HIGH_WATER: usize = 4 << 20;

/// The lines that a connection still has to send.
#[derive(Debug)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// There is something for the task to write, or nothing will ever be.
    work: Notify,
    /// Less is waiting than before.
    drained: Notify,
}

#[derive(Debug)]
struct State {
    /// The way out; `None` when closed.
    stream: Option<Arc<WriteHalf>>,
    waiting: VecDeque<Vec<u8>>,
    /// The bytes that wait or are being written by the task. While there are any, nobody else may write.
    size: usize,
}

impl Outbox {
    pub(crate) fn new(stream: WriteHalf) -> Arc<Self> {
        let state = State { stream: Some(Arc::new(stream)), waiting: VecDeque::new(), size: 0 };
        Arc::new(Self { state: Mutex::new(state), work: Notify::new(), drained: Notify::new() })
    }

    /// Sends a line, now or as soon as the socket takes it. A closed connection swallows it: whoever waits for an
    /// answer learns of the close from the reading side.
    pub(crate) fn send(&self, mut line: Vec<u8>) {
        let mut state = lock(&self.state);
        let Some(stream) = &state.stream else { return };
        if state.size == 0 {
            let mut written = 0;
            while let Some(rest) = line.get(written..).filter(|rest| !rest.is_empty()) {
                match stream.try_write(rest) {
                    Ok(size) if size > 0 => written += size,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Ok(_) | Err(_) => {
                        state.stream = None;
                        return;
                    }
                }
            }
            if written == line.len() {
                return;
            }
            line.drain(..written);
        }
        state.size += line.len();
        state.waiting.push_back(line);
        drop(state);
        self.work.notify_one();
    }

    /// Writes what waits until the outbox is closed. One task of the connection runs this.
    pub(crate) async fn run(&self) {
        loop {
            self.work.notified().await;
            loop {
                let (stream, line) = {
                    let mut state = lock(&self.state);
                    let Some(stream) = state.stream.clone() else { return };
                    match state.waiting.pop_front() {
                        Some(line) => (stream, line),
                        None => break,
                    }
                };
                let done = stream.write_all(&line).await;
                let mut state = lock(&self.state);
                state.size -= line.len();
                if done.is_err() {
                    state.stream = None;
                    state.waiting.clear();
                    state.size = 0;
                }
                drop(state);
                self.drained.notify_waiters();
            }
        }
    }

    /// Waits until little enough waits to be sent, or the connection is closed.
    pub(crate) async fn below_high_water(&self) {
        self.below(HIGH_WATER).await;
    }

    /// Waits until all is sent, or the connection is closed.
    pub(crate) async fn empty(&self) {
        self.below(0).await;
    }

    async fn below(&self, limit: usize) {
        loop {
            let drained = self.drained.notified();
            tokio::pin!(drained);
            drained.as_mut().enable();
            {
                let state = lock(&self.state);
                if state.size <= limit || state.stream.is_none() {
                    return;
                }
            }
            drained.await;
        }
    }

    /// Gives up the socket, with whatever was not sent. The task may still be writing a line: whoever runs it
    /// drops it as well.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.state);
        state.stream = None;
        state.waiting.clear();
        drop(state);
        self.work.notify_one();
        self.drained.notify_waiters();
    }
}
