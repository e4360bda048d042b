//! The agent's process: how it starts, what it is told, and how it ends.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};

use hashline_terminal::{Failure, inert};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// An agent that runs.
pub struct AgentProcess {
    program: OsString,
    child: Child,
}

impl AgentProcess {
    /// Starts a command. Its errors go where ours do.
    pub fn start(command: &[OsString]) -> Result<Self, Failure> {
        let [program, arguments @ ..] = command else {
            return Err(Failure::usage("give the agent's command behind --"));
        };
        let mut starting = Command::new(program);
        starting.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = starting.spawn().map_err(|error| {
            let name = inert(&program.to_string_lossy());
            Failure::broken(format!(
                "the agent {name} cannot be started: {error}. Install it, or name it by its absolute path behind --: an editor that was \
                 started from a menu may have another PATH than your terminal."
            ))
        })?;
        Ok(Self { program: program.clone(), child })
    }

    /// What its command is called.
    pub fn name(&self) -> String {
        Path::new(&self.program).file_stem().unwrap_or(&self.program).to_string_lossy().into_owned()
    }

    /// Its input and its output, once.
    pub fn streams(&mut self) -> Result<(ChildStdin, ChildStdout), Failure> {
        let both = self.child.stdin.take().zip(self.child.stdout.take());
        both.ok_or_else(|| Failure::broken("the agent has no input and output"))
    }

    /// Returns when it has ended, with the code to end with.
    pub async fn ended(&mut self) -> Result<ExitCode, Failure> {
        let status = self.child.wait().await;
        status.map(code).map_err(|error| Failure::broken(format!("the agent's end is not known: {error}")))
    }

    /// Tells it of a signal.
    #[cfg(unix)]
    pub fn pass_on(&self, signal: nix::sys::signal::Signal) {
        use nix::sys::signal::kill;
        use nix::unistd::Pid;

        // None once it has ended.
        let Some(process) = self.child.id().and_then(|id| i32::try_from(id).ok()) else { return };
        if let Err(error) = kill(Pid::from_raw(process), signal) {
            tracing::warn!("the agent is not told of {signal}: {error}");
        }
    }

    /// No platform but Unix has signals; whoever ends this program there ends what it has started.
    #[cfg(not(unix))]
    pub fn pass_on(&self, signal: std::convert::Infallible) {
        match signal {}
    }
}

/// The code of a program that has ended so. One that a signal has ended has a code as shells have it: a program cannot end by every signal.
fn code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or_else(|| signal.map(|signal: i32| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The signals that are the agent's business.
#[cfg(unix)]
pub struct Signals(Vec<(nix::sys::signal::Signal, tokio::signal::unix::Signal)>);

#[cfg(unix)]
impl Signals {
    /// Listens from now on.
    pub fn listen() -> Self {
        use nix::sys::signal::Signal;
        use tokio::signal::unix::{SignalKind, signal};

        let asked = [
            (Signal::SIGINT, SignalKind::interrupt()),
            (Signal::SIGTERM, SignalKind::terminate()),
            (Signal::SIGHUP, SignalKind::hangup()),
            (Signal::SIGQUIT, SignalKind::quit()),
        ];
        Self(asked.into_iter().filter_map(|(name, kind)| Some((name, signal(kind).ok()?))).collect())
    }

    /// The next.
    pub async fn next(&mut self) -> nix::sys::signal::Signal {
        use std::task::Poll;

        std::future::poll_fn(|context| {
            let mut asked = self.0.iter_mut();
            let heard =
                asked.find_map(|(name, signal)| signal.poll_recv(context).is_ready().then_some(*name));
            heard.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// There are none.
#[cfg(not(unix))]
pub struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Hears nothing.
    pub fn listen() -> Self {
        Self
    }

    /// Never comes.
    pub async fn next(&mut self) -> std::convert::Infallible {
        std::future::pending().await
    }
}
