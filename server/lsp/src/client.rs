//! What is known of the editor at the other end, found out once when it initializes.

use hashline_history::one_line;
use hashline_text::Encoding;
use hashline_workspace::document::{FileOperations, Reports};
use tower_lsp::lsp_types::{
    ClientCapabilities, ClientInfo, InitializeParams, MarkupKind, PositionEncodingKind,
    ResourceOperationKind, WorkspaceEditClientCapabilities,
};

use crate::protocol;

/// As much of the name of an editor is told, in characters.
const NAME: usize = 64;

/// What the client is and can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its name and version, as it gives them.
    pub editor: Option<String>,
    /// How positions are counted.
    pub encoding: Encoding,
    /// It sends changes out of order, and so has to send whole texts (rule W22).
    pub full_sync: bool,
    /// Edits carry the version that they are made for.
    pub versioned_edits: bool,
    /// What it does with files in an edit.
    pub file_operations: FileOperations,
    /// It takes version 0 for "any version" (rule W21).
    pub zero_is_any: bool,
    /// It knows the messages of [`protocol`], and says what brings its changes about.
    pub plugin: bool,
    /// It takes code actions, and not only commands, for an answer.
    pub action_literals: bool,
    /// It renders markdown in a hover.
    pub markdown: bool,
    /// It answers `workspace/configuration`.
    pub configuration: bool,
    /// It wants to be asked before it tells of changed settings.
    pub register_configuration: bool,
    /// It can be asked to fetch code lenses again.
    pub lens_refresh: bool,
}

impl Facts {
    /// What it says of its changes.
    pub fn reports(&self) -> Reports {
        match (self.plugin, self.versioned_edits) {
            (true, _) => Reports::Causes,
            (false, true) => Reports::Versions,
            (false, false) => Reports::Nothing,
        }
    }

    /// Reads what a client says of itself.
    pub fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let (name, version) = match &params.client_info {
            Some(info) => (info.name.as_str(), info.version.as_deref()),
            None => ("", None),
        };
        let neovim = name.eq_ignore_ascii_case("neovim");
        let workspace = capabilities.workspace.as_ref();
        let document = capabilities.text_document.as_ref();
        let settings = workspace.and_then(|workspace| workspace.did_change_configuration);
        // kakoune-lsp declares versions and looks at none: what it declares of edits is not taken.
        let edits = workspace
            .and_then(|workspace| workspace.workspace_edit.as_ref())
            .filter(|_| !name.eq_ignore_ascii_case("kakoune-lsp"));
        let hover = document.and_then(|document| document.hover.as_ref()?.content_format.as_ref());
        let actions = document.and_then(|document| document.code_action.as_ref());
        let lenses = workspace.and_then(|workspace| workspace.code_lens.as_ref());
        Self {
            editor: params.client_info.as_ref().and_then(named),
            encoding: encoding(capabilities),
            full_sync: name.eq_ignore_ascii_case("helix") && sends_out_of_order(version),
            versioned_edits: neovim || edits.and_then(|edits| edits.document_changes).unwrap_or_default(),
            file_operations: edits.map(file_operations).unwrap_or_default(),
            zero_is_any: neovim,
            plugin: announcement(capabilities).is_some(),
            action_literals: actions.is_some_and(|actions| actions.code_action_literal_support.is_some()),
            markdown: hover.is_some_and(|formats| formats.contains(&MarkupKind::Markdown)),
            configuration: workspace.and_then(|workspace| workspace.configuration).unwrap_or_default(),
            register_configuration: settings
                .and_then(|settings| settings.dynamic_registration)
                .unwrap_or_default(),
            lens_refresh: lenses.and_then(|lenses| lenses.refresh_support).unwrap_or_default(),
        }
    }
}

/// What agents, terminals and other editors are told of who it is, in a few characters on one line.
fn named(info: &ClientInfo) -> Option<String> {
    let name = match &info.version {
        Some(version) => one_line(&format!("{} {version}", info.name), NAME),
        None => one_line(&info.name, NAME),
    };
    Some(name).filter(|name| !name.is_empty())
}

/// The client lists what it can count in, best first; without a list it counts in UTF-16.
fn encoding(capabilities: &ClientCapabilities) -> Encoding {
    let listed = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    let known = |kind: &PositionEncodingKind| match kind.as_str() {
        "utf-8" => Some(Encoding::Utf8),
        "utf-16" => Some(Encoding::Utf16),
        "utf-32" => Some(Encoding::Utf32),
        _ => None,
    };
    listed.and_then(|kinds| kinds.iter().find_map(known)).unwrap_or_default()
}

/// Only of a client that declares both is it known that it heeds the version that stands before the operation.
fn file_operations(edits: &WorkspaceEditClientCapabilities) -> FileOperations {
    let declared = |kind| {
        let kinds = edits.resource_operations.as_ref();
        edits.document_changes == Some(true) && kinds.is_some_and(|kinds| kinds.contains(&kind))
    };
    FileOperations {
        removes: declared(ResourceOperationKind::Delete),
        renames: declared(ResourceOperationKind::Rename),
    }
}

/// Helix before 25.07 sends changes out of order when somebody types fast. Its versions are year, month and patch.
fn sends_out_of_order(version: Option<&str>) -> bool {
    let Some(version) = version else { return true };
    let mut numbers =
        version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok());
    let (year, month) = (numbers.next(), numbers.next());
    (year, month) < (Some(25), Some(7))
}

/// How a plugin says that it speaks the protocol.
fn announcement(capabilities: &ClientCapabilities) -> Option<protocol::Announcement> {
    let announced = capabilities.experimental.as_ref()?.get("hashline")?;
    serde_json::from_value(announced.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(params: serde_json::Value) -> Facts {
        Facts::of(&serde_json::from_value(params).unwrap())
    }

    #[test]
    fn the_client_chooses_the_encoding() {
        let of = |list: serde_json::Value| {
            facts(json!({"capabilities": {"general": {"positionEncodings": list}}})).encoding
        };
        assert_eq!(of(json!(["utf-8", "utf-16", "utf-32"])), Encoding::Utf8);
        assert_eq!(of(json!(["utf-32", "utf-8"])), Encoding::Utf32);
        assert_eq!(of(json!(["utf-7", "utf-16"])), Encoding::Utf16);
        assert_eq!(of(json!([])), Encoding::Utf16);
        assert_eq!(facts(json!({"capabilities": {}})).encoding, Encoding::Utf16);
    }

    #[test]
    fn only_an_old_helix_sends_whole_texts() {
        let of = |name: &str, version: serde_json::Value| {
            facts(json!({"capabilities": {}, "clientInfo": {"name": name, "version": version}})).full_sync
        };
        assert!(of("helix", json!("25.01.1 (e7ac2fcd)")));
        assert!(of("helix", json!("24.07")));
        assert!(of("helix", json!(null)));
        assert!(!of("helix", json!("25.07 (a05c151b)")));
        assert!(!of("helix", json!("25.07.1")));
        assert!(!of("helix", json!("26.01")));
        assert!(!of("Neovim", json!("0.11.4")));
    }

    #[test]
    fn neovim_takes_versions_though_it_does_not_say_so() {
        let params =
            json!({"capabilities": {}, "clientInfo": {"name": "Neovim", "version": "0.11.4+v0.11.4"}});
        let neovim = facts(params);
        assert!(neovim.versioned_edits && neovim.zero_is_any);
        assert_eq!(neovim.editor.as_deref(), Some("Neovim 0.11.4+v0.11.4"));
        let odd = facts(json!({"capabilities": {}, "clientInfo": {"name": "a\n\u{1b}[2J\u{202e}"}}));
        assert_eq!(odd.editor.as_deref(), Some("a [2J"));
        let plain = facts(json!({"capabilities": {}}));
        assert!(!plain.versioned_edits && !plain.zero_is_any && !plain.plugin);
    }

    #[test]
    fn what_kakoune_lsp_declares_of_edits_is_not_taken() {
        let of = |name: &str| {
            let edit = json!({"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]});
            let capabilities = json!({"workspace": {"workspaceEdit": edit}});
            facts(json!({"capabilities": capabilities, "clientInfo": {"name": name, "version": "22.0.0"}}))
        };
        assert!(of("another").versioned_edits && of("another").file_operations.removes);
        assert!(!of("kakoune-lsp").versioned_edits && !of("kakoune-lsp").file_operations.removes);
    }

    #[test]
    fn files_are_renamed_and_removed_by_those_that_declare_it() {
        let of = |edits| {
            let operations =
                facts(json!({"capabilities": {"workspace": {"workspaceEdit": edits}}})).file_operations;
            (operations.renames, operations.removes)
        };
        let all = json!(["create", "rename", "delete"]);
        assert_eq!(of(json!({"documentChanges": true, "resourceOperations": all})), (true, true));
        assert_eq!(of(json!({"documentChanges": true, "resourceOperations": ["rename"]})), (true, false));
        assert_eq!(of(json!({"documentChanges": true})), (false, false));
        assert_eq!(of(json!({"resourceOperations": all})), (false, false));
    }

    #[test]
    fn a_plugin_announces_itself() {
        let with = |experimental| facts(json!({"capabilities": {"experimental": experimental}})).plugin;
        assert!(with(json!({"hashline": {"protocol": 1, "version": "0.1.0"}})));
        assert!(!with(json!({"hashline": {}})));
        assert!(!with(json!({"serverStatusNotification": true})));
    }
}
