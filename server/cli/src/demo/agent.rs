//! The demo's agent: an MCP client with a script instead of a model.

use std::path::Path;

use serde_json::{Value, json};
use tokio::process::Command;

use super::wire::{Framing, Wire};

/// The agent.
pub struct Agent {
    wire: Wire,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The words.
    pub text: String,
    /// Whether the call was refused.
    pub refused: bool,
}

impl Agent {
    /// Starts the router, as an agent program would, and says hello.
    ///
    /// # Errors
    ///
    /// The router does not start or does not answer.
    pub async fn start(mut router: Command, root: &Path) -> std::io::Result<Self> {
        router.current_dir(root);
        let (wire, _incoming) = Wire::start(router, Framing::Lines)?;
        let agent = Self { wire };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "demo-agent", "version": env!("CARGO_PKG_VERSION")}
        });
        agent.wire.ask("initialize", params).await?;
        agent.wire.notify("notifications/initialized", json!({})).await?;
        Ok(agent)
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// The router does not answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> std::io::Result<Answer> {
        let result = self.wire.ask("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Ok(Answer { text, refused: result["isError"] == true })
    }

    /// Ends the router.
    pub async fn stop(&self) {
        self.wire.end().await;
    }
}

impl Answer {
    /// The file hash that the answer names.
    #[must_use]
    pub fn file_hash(&self) -> String {
        let behind = self.text.split("file_hash ").nth(1).unwrap_or_default();
        behind.chars().take_while(char::is_ascii_hexdigit).collect()
    }

    /// The anchor of the first line that holds a word, as in `2:98`.
    #[must_use]
    pub fn anchor(&self, word: &str) -> String {
        let line = self.text.lines().skip(1).find(|line| line.contains(word)).unwrap_or_default();
        line.split('|').next().unwrap_or_default().to_owned()
    }
}
