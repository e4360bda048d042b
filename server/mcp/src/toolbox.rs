//! The tools over one workspace, as every face calls them.

use std::sync::Arc;

use hashline_link::CancellationToken;
use hashline_workspace::{Caller, Workspace};
use rmcp::model::{CallToolResult, JsonObject};

use crate::argument_limits;
use crate::own_edits::OwnEdits;
use crate::program_write;
use crate::reply::Reply;
use crate::resources::{self, Request};
use crate::tools;
use crate::tools::edit_reply::Desk;
use crate::toolset::ToolName;

/// The tools over one workspace. Clones share it.
#[derive(Clone)]
pub struct Toolbox {
    workspace: Workspace,
    /// The name of the editor whose documents these are, if they are an editor's.
    editor: Option<Arc<str>>,
    own_edits: Arc<OwnEdits>,
}

impl Toolbox {
    /// The tools over a workspace without an editor.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace, editor: None, own_edits: Arc::default() }
    }

    /// The same, telling agents of this editor.
    #[must_use]
    pub fn of_editor(self, editor: &str) -> Self {
        Self { editor: Some(editor.into()), ..self }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn desk<'a>(&'a self, caller: &'a Caller) -> Desk<'a> {
        Desk { workspace: &self.workspace, caller, editor: self.editor.as_deref(), own: &self.own_edits }
    }

    /// Runs a tool, or answers about resources. Whatever goes wrong is a result with `isError` and the next step in its words.
    ///
    /// `cancel` ends a wait and a search. A tool that changes something does not look at it: what was begun is finished.
    pub async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> CallToolResult {
        if let Some(tool) = ToolName::parse(tool) {
            return self.run(caller, tool, arguments, cancel).await.into_result();
        }
        if tool == program_write::CALL {
            return program_write::record(&self.workspace, caller, arguments).await.into_result();
        }
        let reply = match Request::of_call(tool, arguments) {
            Some(Ok(request)) => self.answer(caller, request, cancel).await,
            Some(Err(_)) | None => Reply::refused(format!(
                "This hashline has no tool {tool:?}. Use the same release in the editor and for the agent."
            )),
        };
        reply.into_result()
    }

    /// Answers about resources.
    pub(crate) async fn answer(
        &self,
        caller: &Caller,
        request: Request,
        cancel: &CancellationToken,
    ) -> Reply {
        resources::answer(&self.workspace, caller, request, cancel).await
    }

    pub(crate) async fn run(
        &self,
        caller: &Caller,
        tool: ToolName,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Reply {
        if let Err(problems) = argument_limits::check(tool, &arguments) {
            return Reply::refused(problems);
        }
        let (workspace, editor) = (&self.workspace, self.editor.as_deref());
        match tool {
            ToolName::ReadTextFile => tools::read_text_file::call(workspace, caller, editor, arguments).await,
            ToolName::EditTextFile => tools::edit_text_file::call(&self.desk(caller), arguments).await,
            ToolName::WriteFile => tools::write_file::call(&self.desk(caller), arguments).await,
            ToolName::EditFileDiff => tools::edit_file_diff::call(&self.desk(caller), arguments).await,
            ToolName::MoveFile => tools::move_file::call(&self.desk(caller), arguments).await,
            ToolName::DeleteFile => tools::delete_file::call(&self.desk(caller), arguments).await,
            ToolName::FileCreate => tools::file_create::call(&self.desk(caller), arguments).await,
            ToolName::FileRemove => tools::file_remove::call(&self.desk(caller), arguments).await,
            ToolName::TextRead => tools::text_read::call(workspace, caller, arguments).await,
            ToolName::TextReplace => tools::text_replace::call(&self.desk(caller), arguments).await,
            ToolName::TextInsert => tools::text_insert::call(&self.desk(caller), arguments).await,
            ToolName::TextAppend => tools::text_append::call(&self.desk(caller), arguments).await,
            ToolName::ListEdits => tools::list_edits::call(workspace, caller, arguments).await,
            ToolName::AwaitReview => {
                tools::await_review::call(workspace, caller, editor.is_some(), arguments, cancel).await
            }
            ToolName::WithdrawEdit => tools::withdraw_edit::call(workspace, caller, arguments).await,
            ToolName::SearchText => tokio::select! {
                reply = tools::search_text::call(workspace, caller, editor, arguments) => reply,
                // Nobody reads this; what is left of the search ends with it.
                () = cancel.cancelled() => Reply::refused("The search was taken back."),
            },
            ToolName::ListDocuments => {
                tools::list_documents::call(workspace, caller, editor, arguments).await
            }
        }
    }
}
