//! What the protocol's conformance checks ask of a server that is made for them: tools and resources of fixed names, beside hashline's own.
//! Only built with the feature `conformance`, which no release has. Everything else is the server's, and all of it goes through the same
//! guard and transport.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerConfig, SubscribeRequestParams, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::server::Server;

/// A picture of one pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound without a sample.
const WAV: [u8; 44] =
    *b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

/// The tools.
const TOOLS: [&str; 7] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
];

/// A server with them.
#[derive(Clone)]
pub(super) struct Fixtures(pub Server);

impl Fixtures {
    async fn run(name: &str, context: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let text = |text: &str| ContentBlock::text(text);
        let image = || ContentBlock::image(PNG, "image/png");
        let embedded = |text: &str, uri: &str, mime: &str| {
            ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime))
        };
        Ok(CallToolResult::success(match name {
            "test_image_content" => vec![image()],
            "test_audio_content" => vec![ContentBlock::audio(BASE64_STANDARD.encode(WAV), "audio/wav")],
            "test_embedded_resource" => {
                vec![embedded("What is embedded.", "test://embedded-resource", "text/plain")]
            }
            "test_multiple_content_types" => vec![
                text("A text, a picture and a resource:"),
                image(),
                embedded("{\"test\":true}", "test://mixed-content-resource", "application/json"),
            ],
            "test_error_handling" => {
                return Ok(CallToolResult::error(vec![text("This tool always fails.")]));
            }
            "test_tool_with_progress" => {
                if let Some(token) = context.meta.get_progress_token() {
                    for progress in [0.0, 50.0, 100.0] {
                        let progress =
                            ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
                        context
                            .peer
                            .notify_progress(progress)
                            .await
                            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                    }
                }
                vec![text("It is done.")]
            }
            _ => vec![text("A simple text.")],
        }))
    }

    fn resource(uri: &str) -> Option<ResourceContents> {
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        Some(match (uri, id) {
            ("test://static-text", _) => {
                ResourceContents::text("A text that stays.", uri).with_mime_type("text/plain")
            }
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let text = serde_json::json!({ "id": id, "templateTest": true }).to_string();
                ResourceContents::text(text, uri).with_mime_type("application/json")
            }
            _ => return None,
        })
    }
}

#[expect(deprecated, reason = "clients with a handshake subscribe so")]
impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.get_tool(name)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.0.list_tools(request, context).await?;
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        let tool = |name: &'static str| Tool::new(name, "For the conformance checks.", schema.clone());
        listed.tools.extend(TOOLS.map(tool));
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if TOOLS.contains(&request.name.as_ref()) {
            return Ok(Self::run(&request.name, &context).await?.into());
        }
        self.0.call_tool(request, context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.0.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.0.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match Self::resource(&request.uri) {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.0.complete(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.unsubscribe(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.on_initialized(context).await;
    }
}
