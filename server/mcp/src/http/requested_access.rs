//! What a request would touch, as its body says, before anything is done.

use hashline_workspace::disk::{PathRefusal, PathStyle, Roots};
use hashline_workspace::{Access, Grants};
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::http::scope::Scope;
use crate::resources::Resource;
use crate::resources::subscriptions::MOST;
use crate::toolset::ToolName;

/// Something that a request takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// A document.
    Document {
        access: Access,
        /// As the client spells it.
        path: String,
        style: PathStyle,
    },
    /// Whatever the token gives, and no more: the answer holds only that.
    Anything(Access),
}

/// What a message takes. One that no handler knows takes nothing, as nothing is done for it.
pub(super) fn demands(message: &JsonObject) -> Vec<Demand> {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let none = JsonObject::new();
    let params = message.get("params").and_then(Value::as_object).unwrap_or(&none);
    let uri = || params.get("uri").and_then(Value::as_str).map(of_resource);
    match method {
        "tools/call" => of_call(params),
        "resources/read"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "notifications/resources/updated" => uri().into_iter().collect(),
        "resources/list" | "completion/complete" => vec![Demand::Anything(Access::Read)],
        "subscriptions/listen" => {
            let wanted = params.get("notifications").and_then(|wanted| wanted.get("resourceSubscriptions"));
            let uris = wanted.and_then(Value::as_array).into_iter().flatten();
            // More are not told of.
            uris.take(MOST).filter_map(Value::as_str).map(of_resource).collect()
        }
        _ => Vec::new(),
    }
}

fn of_call(params: &JsonObject) -> Vec<Demand> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    // The same names as calls take, however they are spelled.
    let Some(tool) = ToolName::parse(name) else { return Vec::new() };
    let access = if tool.is_read_only() { Access::Read } else { Access::Write };
    let arguments = params.get("arguments").and_then(Value::as_object);
    let named = |argument: &str| match arguments.and_then(|arguments| arguments.get(argument)) {
        Some(Value::String(path)) if !path.trim().is_empty() => {
            Some(Demand::Document { access, path: path.clone(), style: tool.path_style() })
        }
        _ => None,
    };
    let paths: Vec<Demand> = tool.path_arguments().iter().filter_map(|argument| named(argument)).collect();
    if paths.is_empty() { vec![Demand::Anything(access)] } else { paths }
}

fn of_resource(uri: &str) -> Demand {
    let document = |path: String, style| Demand::Document { access: Access::Read, path, style };
    match Resource::parse(uri) {
        // The root itself.
        Ok(Resource::Folder(path)) if path.is_empty() => document("/".to_owned(), PathStyle::WithinRoot),
        Ok(Resource::Folder(path)) => document(path, PathStyle::WithinRoot),
        Ok(Resource::Document(path) | Resource::Review(Some(path))) => document(path, PathStyle::Any),
        // What is no path in any spelling names nothing that could be given.
        Ok(Resource::Review(None)) | Err(_) => Demand::Anything(Access::Read),
    }
}

impl Demand {
    /// The scope that it takes and that these grants lack.
    ///
    /// A document has to be given by its path as it is spelled and by each one that the links on it lead to, so that no link widens a
    /// scope, nor tells of what is behind it. What leads nowhere is left to the handler, whose words tell why.
    pub(super) fn lacks(&self, grants: &Grants, roots: &Roots) -> Option<Scope> {
        match self {
            Self::Anything(access) => (!grants.allow_somewhere(*access)).then(|| Scope::everywhere(*access)),
            Self::Document { access, path, style } => {
                let access = *access;
                if let Ok(Some(spelled)) = roots.spelled(path, *style)
                    && !grants.allow(access, &spelled)
                {
                    return Some(Scope::needed(access, &spelled, roots));
                }
                let lacking = match roots.resolve_given(path, *style, &|path| grants.allow(access, path)) {
                    Ok(place) if grants.allow(access, place.absolute()) => return None,
                    Ok(place) => Scope::needed(access, place.absolute(), roots),
                    Err(PathRefusal::LinkNotGiven { path, .. }) => Scope::needed(access, &path, roots),
                    Err(PathRefusal::NotAFile(_)) if grants.allow_everywhere(access) => return None,
                    Err(PathRefusal::NotAFile(_)) => Scope::everywhere(access),
                    Err(_) if grants.allow_somewhere(access) => return None,
                    Err(_) => Scope::everywhere(access),
                };
                Some(lacking)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(message: &Value) -> Vec<(Access, Option<String>)> {
        let plain = |demand: Demand| match demand {
            Demand::Document { access, path, .. } => (access, Some(path)),
            Demand::Anything(access) => (access, None),
        };
        demands(message.as_object().unwrap()).into_iter().map(plain).collect()
    }

    #[test]
    fn every_tool_takes_what_it_names_under_every_spelling() {
        let call = |name: &str, arguments: Value| {
            of(&json!({ "method": "tools/call", "params": { "name": name, "arguments": arguments } }))
        };
        let path = |access, path: &str| vec![(access, Some(path.to_owned()))];
        for tool in ToolName::ALL {
            let access = if tool.is_read_only() { Access::Read } else { Access::Write };
            assert_eq!(call(tool.as_str(), json!({})), [(access, None)], "{tool}");
            for name in [
                tool.as_str().to_owned(),
                tool.as_str().replace('_', "."),
                tool.as_str().replacen('_', ".", 1),
            ] {
                for argument in tool.path_arguments() {
                    assert_eq!(call(&name, json!({ *argument: "/a" })), path(access, "/a"), "{name}");
                }
            }
        }
        let both = call("move_file", json!({ "source": "/a", "destination": "/b" }));
        assert_eq!(both, [(Access::Write, Some("/a".into())), (Access::Write, Some("/b".into()))]);
        assert!(call("write_everything", json!({ "path": "/a" })).is_empty());
    }

    #[test]
    fn resources_take_reading() {
        for (uri, path) in [
            ("list://docs/a%20b", Some("docs/a b")),
            ("LIST://", Some("/")),
            ("file:///p/a%20#b", Some("file:///p/a%20%23b")),
            ("file://docs/a%20b", Some("docs/a b")),
            ("review:///p/a", Some("file:///p/a")),
            ("review://", None),
            ("untitled:1", Some("untitled:1")),
            ("list://a%FF", None),
        ] {
            let taken = [(Access::Read, path.map(str::to_owned))];
            for method in ["resources/read", "resources/subscribe", "notifications/resources/updated"] {
                assert_eq!(
                    of(&json!({ "method": method, "params": { "uri": uri } })),
                    taken,
                    "{method} {uri}"
                );
            }
            let listens = json!({ "method": "subscriptions/listen",
                "params": { "notifications": { "resourceSubscriptions": [uri] } } });
            assert_eq!(of(&listens), taken, "{uri}");
        }
        assert!(of(&json!({ "method": "tools/list" })).is_empty());
    }
}
