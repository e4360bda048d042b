//! The floor of document sync: a tower-lsp server that does nothing with a change but apply it to a rope. `hover`
//! answers nothing, `bench/text` the text.

use std::sync::Mutex;

use ropey::Rope;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    DidChangeTextDocumentParams, DidOpenTextDocumentParams, Hover, HoverParams, HoverProviderCapability,
    InitializeParams, InitializeResult, Position, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind,
};
use tower_lsp::{LanguageServer, LspService, Server};

#[derive(Default)]
struct Floor {
    rope: Mutex<Rope>,
}

/// Where a position is, counting in UTF-16 as LSP does unless told otherwise; past the end is the end.
fn char_of(rope: &Rope, position: Position) -> usize {
    let line = (position.line as usize).min(rope.len_lines());
    let start = rope.char_to_utf16_cu(rope.line_to_char(line));
    rope.utf16_cu_to_char((start + position.character as usize).min(rope.len_utf16_cu()))
}

impl Floor {
    async fn text(&self) -> Result<String> {
        Ok(self.rope.lock().map(|rope| rope.to_string()).unwrap_or_default())
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Floor {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        let capabilities = ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            ..ServerCapabilities::default()
        };
        Ok(InitializeResult { capabilities, server_info: None })
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        if let Ok(mut rope) = self.rope.lock() {
            *rope = Rope::from_str(&params.text_document.text);
        }
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let Ok(mut rope) = self.rope.lock() else { return };
        for change in params.content_changes {
            match change.range {
                Some(range) => {
                    let start = char_of(&rope, range.start);
                    let end = char_of(&rope, range.end).max(start);
                    rope.remove(start..end);
                    rope.insert(start, &change.text);
                }
                None => *rope = Rope::from_str(&change.text),
            }
        }
    }

    async fn hover(&self, _: HoverParams) -> Result<Option<Hover>> {
        Ok(None)
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    let (service, socket) =
        LspService::build(|_| Floor::default()).custom_method("bench/text", Floor::text).finish();
    Server::new(tokio::io::stdin(), tokio::io::stdout(), socket).serve(service).await;
}
