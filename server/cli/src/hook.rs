//! `hashline hook`: answers a hook of an agent's program, which starts this for each.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use hashline_link::StateDir;
use hashline_mcp::{HookedProgram, Router, answer_command, pass_over};
use hashline_terminal::{Failure, Screen, log};
use hashline_workspace::Settings;
use hashline_workspace::disk::Roots;
use serde_json::Value;

use crate::arguments::Hook;

/// The most bytes that are read: as many as of a message.
const MOST: u64 = 16 << 20;
/// How long the answer may take. The program waits a little longer, and goes on then as if there were no hook.
const LIMIT: Duration = Duration::from_secs(9);

/// Which program's hook it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Gemini CLI
    Gemini,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
}

/// Reads what happened and prints the answer, if there is one. Whatever fails fails open: it is logged and told by `hashline status`, and the program goes
/// on.
pub fn run(options: &Hook) -> Result<ExitCode, Failure> {
    log::start(options.common.log_file.as_deref())?;
    let state = match StateDir::new(options.common.state_dir.as_deref()) {
        Ok(state) => state,
        Err(error) => {
            tracing::warn!("the hook is passed over: {error}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let program = match options.program {
        Program::Gemini => HookedProgram::Gemini,
        Program::OpenCode => HookedProgram::OpenCode,
    };
    match answered(program, &state) {
        Ok(answer) => Screen::of_stdout().print(&answer)?,
        Err(why) => pass_over(&state, program, &why),
    }
    Ok(ExitCode::SUCCESS)
}

fn answered(program: HookedProgram, state: &StateDir) -> Result<String, String> {
    let mut told = Vec::new();
    let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut told);
    if read.map_err(|error| error.to_string())? as u64 > MOST {
        return Err(format!("it tells more than {MOST} bytes"));
    }
    let told: Value = serde_json::from_slice(&told).map_err(|error| error.to_string())?;
    let Value::Object(told) = told else { return Err("it tells no JSON object".to_owned()) };
    let folder = told.get("cwd").and_then(Value::as_str).map(PathBuf::from);
    let folder = folder.map_or_else(std::env::current_dir, Ok).map_err(|error| error.to_string())?;
    let roots = Roots::open([folder]).map_err(|error| error.to_string())?;
    let router =
        Router::new(&roots, true, Settings::default(), state.clone()).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let router = Arc::new(router);
    let answer = runtime
        .block_on(async { tokio::time::timeout(LIMIT, answer_command(&router, program, told)).await })
        .map_err(|_| "there was no answer in time".to_owned());
    runtime.shutdown_background();
    answer
}
