//! A program under measurement: started here, ended here, and never waited for without a limit.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How long any one answer may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A lock that outlives a panic elsewhere: what it guards here is never half-changed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program. It ends when this is dropped, or when an answer takes longer than the limit.
pub struct Program {
    shared: Arc<Shared>,
    log: PathBuf,
}

struct Shared {
    child: Mutex<Child>,
    began: Instant,
    /// When the answer that is waited for must be there, in milliseconds since `began`; `u64::MAX`: none is.
    deadline: AtomicU64,
}

impl Program {
    /// Starts a program, whose stderr goes to the file `log`.
    pub fn start(
        command: &mut Command,
        folder: &Path,
        log: &Path,
    ) -> Result<(Self, ChildStdin, ChildStdout)> {
        let name = PathBuf::from(command.get_program());
        let stderr = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("cannot start {}", name.display()))?;
        let stdin = child.stdin.take().context("no pipe to the program")?;
        let stdout = child.stdout.take().context("no pipe from the program")?;
        let shared = Arc::new(Shared {
            child: Mutex::new(child),
            began: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
        });
        let watched = Arc::downgrade(&shared);
        std::thread::spawn(move || watch(&watched));
        Ok((Self { shared, log: log.to_owned() }, stdin, stdout))
    }

    /// An answer is waited for from now on; without it in time the program is ended, which ends the waiting.
    pub fn expect(&self) {
        let deadline = self.shared.began.elapsed() + LIMIT;
        self.shared.deadline.store(deadline.as_millis() as u64, Ordering::Relaxed);
    }

    /// Nothing is waited for.
    pub fn satisfied(&self) {
        self.shared.deadline.store(u64::MAX, Ordering::Relaxed);
    }

    /// Why it may have ended: the end of what it wrote to stderr.
    pub fn complaint(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let end: Vec<&str> = log.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        if end.is_empty() {
            return "it wrote nothing to stderr".to_owned();
        }
        end.into_iter().rev().collect::<Vec<_>>().join(" / ")
    }

    /// How much of its memory is resident, in bytes, and the most that was.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let id = lock(&self.shared.child).id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))
            .context("this machine lacks /proc, from which memory is read")?;
        let field = |name: &str| -> Result<u64> {
            let line =
                status.lines().find(|line| line.starts_with(name)).context("no such field of /proc")?;
            let kilobytes: u64 =
                line.split_whitespace().nth(1).context("a field without a value")?.parse()?;
            Ok(kilobytes * 1024)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        end(&self.shared);
    }
}

/// Ends the program if it has not ended by itself. Both may fail for one that has: that is as good.
fn end(shared: &Shared) {
    let mut child = lock(&shared.child);
    let _ = child.kill();
    let _ = child.wait();
}

fn watch(shared: &Weak<Shared>) {
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let Some(shared) = shared.upgrade() else { return };
        if shared.began.elapsed().as_millis() as u64 > shared.deadline.load(Ordering::Relaxed) {
            end(&shared);
            return;
        }
    }
}

/// A program that was built beside this one.
pub fn beside(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot tell where this program lies")?;
    let path = own.with_file_name(name).with_extension(own.extension().unwrap_or(OsStr::new("")));
    anyhow::ensure!(path.is_file(), "{} is not built: start this through tests/bench/run", path.display());
    Ok(path)
}
