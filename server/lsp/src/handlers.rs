//! The handlers: what the editor asks.
//!
//! All of them answer from memory. None waits for the editor, so that none can wait for itself (rule W21); what is to be sent
//! goes to the [outgoing](crate::outgoing) task. What the editor says of its documents does not come here: see
//! [`Session::notified`].

use std::path::PathBuf;
use std::sync::Arc;

use hashline_history::path::to_text;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    CodeActionResponse, CodeLens, CodeLensOptions, CodeLensParams, DidChangeConfigurationParams,
    DidChangeWorkspaceFoldersParams, ExecuteCommandOptions, ExecuteCommandParams, Hover, HoverParams,
    HoverProviderCapability, InitializeParams, InitializeResult, InitializedParams, MessageType, OneOf,
    PositionEncodingKind, SaveOptions, ServerCapabilities, ServerInfo, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkspaceFolder,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use tower_lsp::{Client, ClientSocket, LanguageServer, LspService};

use crate::client::Facts;
use crate::commands::{self, COMMANDS};
use crate::hunk_choices::undecided;
use crate::lock::lock;
use crate::protocol::{self, Decide, Decided, History, ProposedText, ProposedTextResult, Status};
use crate::session::{Session, Signal};
use crate::{
    code_actions, code_lenses, decision_requests, from_proto, hover, link_service, settings, to_proto,
};

/// The sidecar as the editor sees it.
pub(crate) struct Face {
    session: Arc<Session>,
    client: Client,
}

impl Face {
    /// The service of a session, the editor's side of it, and what can be said to the editor.
    pub fn service(session: &Arc<Session>) -> (LspService<Self>, ClientSocket) {
        LspService::build(|client| Self { session: session.clone(), client })
            .custom_method(protocol::DECIDE, Self::decide)
            .custom_method(protocol::PROPOSED_TEXT, Self::proposed_text)
            .custom_method(protocol::HISTORY, Self::history)
            .custom_method(protocol::STATUS, Self::status)
            .finish()
    }

    /// What can be said to the editor, by the outgoing task.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    async fn decide(&self, said: Decide) -> Result<Decided> {
        decision_requests::decide(&self.session, &said)
            .await
            .map_err(|error| Error::invalid_params(error.to_string()))
    }

    async fn proposed_text(&self, asked: ProposedText) -> Result<ProposedTextResult> {
        let uri = self.session.spelled(&asked.uri);
        match self.session.workspace.proposed_text(&uri) {
            Some((version, proposed)) => Ok(to_proto::proposed_text(&proposed, version)),
            None => Err(unknown_document(&asked.uri)),
        }
    }

    async fn history(&self, asked: History) -> Result<Value> {
        let uri = self.session.spelled(&asked.uri);
        // Before it is read, so that no change comes between.
        self.session.signal(Signal::History(uri.clone()));
        let history = self.session.workspace.history(&uri).await;
        let history = history.ok_or_else(|| unknown_document(&asked.uri))?;
        serde_json::to_value(to_proto::history(&history)).map_err(|_| Error::internal_error())
    }

    async fn status(&self) -> Result<Status> {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let workspace = &self.session.workspace;
        let (pending, conflicted) = workspace
            .reviews()
            .iter()
            .map(undecided)
            .fold((0, 0), |(all, conflicted), (one, two)| (all + one, conflicted + two));
        Ok(Status {
            version: self.session.version.clone(),
            roots: workspace.roots().iter().map(|root| to_text(root).into_owned()).collect(),
            documents: count(workspace.open_count()),
            pending: count(pending),
            conflicted: count(conflicted),
            agents: workspace.agents().into_iter().map(String::from).collect(),
            socket: self.session.presence.socket.as_ref().map(|socket| socket.display().to_string()),
        })
    }

    /// Serves the folders that can be served, and tells of the others.
    fn serve_folders(&self) {
        let folders = lock(&self.session.folders).clone();
        let mut servable: Vec<PathBuf> = Vec::with_capacity(folders.len());
        for folder in folders {
            match self.session.workspace.open_roots([&folder]) {
                Ok(_) => servable.push(folder),
                Err(error) => self.session.say(MessageType::WARNING, format!("hashline: {error}")),
            }
        }
        match self.session.workspace.open_roots(&servable) {
            Ok(roots) => self.session.workspace.set_roots(roots),
            Err(error) => self.session.say(MessageType::WARNING, format!("hashline: {error}")),
        }
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Face {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let session = &self.session;
        let facts = session.facts.get_or_init(|| Facts::of(&params));
        session.workspace.set_file_operations(facts.file_operations);
        session.workspace.set_reports(facts.reports());
        *lock(&session.folders) = from_proto::folders(&params, std::env::current_dir().ok());
        self.serve_folders();
        settings::started(session, &params.initialization_options.unwrap_or_default());
        if !facts.configuration {
            session.opening.settings_told();
        }
        // Before the editor hears that it can open documents, agents' routers hear that it may.
        session.opening.begin();
        link_service::announce(session);
        let info = ServerInfo { name: "hashline".to_owned(), version: Some(session.version.clone()) };
        let capabilities = capabilities(facts, &session.version);
        Ok(InitializeResult { capabilities, server_info: Some(info) })
    }

    async fn initialized(&self, _: InitializedParams) {
        self.session.signal(Signal::Initialized);
    }

    async fn shutdown(&self) -> Result<()> {
        self.session.presence.withdraw();
        Ok(())
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        let facts = self.session.facts();
        if facts.configuration {
            // What comes with the notice may be anything; the answer to a question is what was asked for.
            self.session.signal(Signal::AskSettings);
        } else if !params.settings.is_null() {
            settings::changed(&self.session, &params.settings);
        }
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let of = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
            folders.iter().filter_map(|folder| from_proto::folder(&folder.uri)).collect()
        };
        let (removed, mut added) = (of(&params.event.removed), of(&params.event.added));
        {
            let mut folders = lock(&self.session.folders);
            folders.retain(|folder| !removed.contains(folder));
            added.retain(|folder| {
                let is_new = !folders.contains(folder);
                folders.extend(is_new.then(|| folder.clone()));
                is_new
            });
        }
        if self.session.facts().configuration {
            settings::wait_for(&self.session, &added, &removed);
        }
        self.serve_folders();
        self.session.signal(Signal::Roots);
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        Ok(Some(code_actions::of(&self.session, &params)))
    }

    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        // All that there is was in it from the beginning; some clients ask all the same.
        Ok(action)
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let uri = self.session.spelled(params.text_document.uri.as_str());
        let workspace = &self.session.workspace;
        let Some((_, text)) = workspace.text_of(&uri) else { return Ok(None) };
        let review = workspace.review(&uri);
        Ok(review.map(|review| code_lenses::of(&review, text.lsp_line_count())))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        let uri = self.session.spelled(at.text_document.uri.as_str());
        let workspace = &self.session.workspace;
        let Some((_, text)) = workspace.text_of(&uri) else { return Ok(None) };
        let line = at.position.line as usize;
        let Some(review) = workspace.review_near(&uri, &(line..line + 1)) else { return Ok(None) };
        let markdown = self.session.facts.get().is_some_and(|facts| facts.markdown);
        Ok(hover::at(&review, line, text.lsp_line_count(), markdown))
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        commands::execute(&self.session, params).await
    }
}

fn unknown_document(uri: &str) -> Error {
    Error::invalid_params(format!("{uri} is not open and has no edits"))
}

/// What is offered to a client.
fn capabilities(facts: &Facts, version: &str) -> ServerCapabilities {
    let announcement = protocol::Announcement { protocol: protocol::PROTOCOL, version: version.to_owned() };
    let encoding = match facts.encoding {
        hashline_text::Encoding::Utf8 => PositionEncodingKind::UTF8,
        hashline_text::Encoding::Utf16 => PositionEncodingKind::UTF16,
        hashline_text::Encoding::Utf32 => PositionEncodingKind::UTF32,
    };
    let change = if facts.full_sync { TextDocumentSyncKind::FULL } else { TextDocumentSyncKind::INCREMENTAL };
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(change),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let kinds =
        [code_actions::HUNK, code_actions::ACCEPT_ALL, code_actions::REJECT_ALL].map(CodeActionKind::from);
    let code_actions = CodeActionOptions {
        code_action_kinds: Some(kinds.to_vec()),
        // All that there is of an action is in it. That none are resolved is said by silence: where several servers resolve, lsp-mode
        // asks each about the actions of the others; and rassumfrassum, which makes one server of many, takes a plain no for all of them.
        resolve_provider: None,
        ..CodeActionOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(OneOf::Left(true)),
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_action_provider: Some(CodeActionProviderCapability::Options(code_actions)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(folders),
            file_operations: None,
        }),
        experimental: Some(serde_json::json!({"hashline": announcement})),
        ..ServerCapabilities::default()
    }
}
