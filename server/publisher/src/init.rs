//! `init`: a server.json to begin with, from what the folder tells.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use hashline_package::YOUR_NAME;
use hashline_terminal::{Failure, tell};
use serde_json::{Value, json};

use crate::arguments::Init;
use crate::messages;

/// What is known of a server before anybody has described it.
struct Known {
    kind: &'static str,
    package: String,
    version: String,
    description: String,
}

/// Writes it, unless there is one.
pub fn run(options: &Init) -> Result<ExitCode, Failure> {
    let file = &options.file;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let document = document(&of_npm(folder).or_else(|| of_python(folder)).unwrap_or_else(nothing));
    let mut text = serde_json::to_string_pretty(&document).map_err(Failure::broken)?;
    text.push('\n');
    let made = std::fs::File::create_new(file);
    let mut made = made.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::broken(messages::is_there(file)),
        _ => Failure::broken(messages::unwritable(file, &error)),
    })?;
    made.write_all(text.as_bytes()).map_err(|error| Failure::broken(messages::unwritable(file, &error)))?;
    tell(&messages::begun(file));
    Ok(ExitCode::SUCCESS)
}

fn document(known: &Known) -> Value {
    let name = known.package.rsplit('/').next().unwrap_or_default();
    json!({
        "name": format!("io.github.{YOUR_NAME}/{name}"),
        "description": known.description.chars().take(100).collect::<String>(),
        "version": known.version,
        "package_location": {"type": known.kind, "package_name": format!("{}{}{}", known.package, between(known.kind), known.version)},
    })
}

/// What stands between the name and the version of a package.
fn between(kind: &str) -> &'static str {
    if kind == "pypi" { "==" } else { "@" }
}

fn of_npm(folder: &Path) -> Option<Known> {
    let package: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json")).ok()?).ok()?;
    let text = |key: &str| package[key].as_str().map(str::to_owned);
    Some(Known {
        kind: "npm",
        package: text("name")?,
        version: text("version").unwrap_or_else(|| nothing().version),
        description: text("description").unwrap_or_else(|| nothing().description),
    })
}

fn of_python(folder: &Path) -> Option<Known> {
    let project: toml_edit::DocumentMut =
        std::fs::read_to_string(folder.join("pyproject.toml")).ok()?.parse().ok()?;
    let project = project.get("project")?;
    let text = |key: &str| Some(project.get(key)?.as_str()?.to_owned());
    Some(Known {
        kind: "pypi",
        package: text("name")?,
        version: text("version").unwrap_or_else(|| nothing().version),
        description: text("description").unwrap_or_else(|| nothing().description),
    })
}

fn nothing() -> Known {
    Known {
        kind: "npm",
        package: "@your-name/your-server".into(),
        version: "0.1.0".into(),
        description: "What the server does, in up to 100 characters".into(),
    }
}
