//! hashline's MCP server among those of a session.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// What the server is called.
const NAME: &str = "hashline";

/// The version of the protocol from which on an entry says how its server is spoken to. Before it, one that does not is of a program.
const TYPED: u64 = 2;

/// How agents start the server.
#[derive(Clone, Debug)]
pub struct AcpServer {
    /// The program, by where it is.
    pub command: String,
    /// What it is started with, besides the folders of the session.
    pub arguments: Vec<String>,
}

impl AcpServer {
    /// Its entry, for a session in these folders, in a version of the protocol.
    pub(super) fn entry(&self, folders: &[PathBuf], version: u64) -> String {
        let roots = folders.iter().flat_map(|folder| ["--root".into(), folder.to_string_lossy()]);
        let args: Vec<_> = self.arguments.iter().map(|word| word.as_str().into()).chain(roots).collect();
        let mut entry = json!({ "name": NAME, "command": self.command, "args": args, "env": [] });
        if version >= TYPED {
            entry["type"] = "stdio".into();
        }
        entry.to_string()
    }
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Where a line takes the entry: right before the end of its list of servers. None if the list has the server, or is none.
pub(super) fn place(line: &str, servers: &RawValue) -> Option<Place> {
    let listed: Vec<&RawValue> = serde_json::from_str(servers.get()).ok()?;
    let has_it = |server: &&RawValue| {
        serde_json::from_str::<Named>(server.get()).is_ok_and(|server| server.name == NAME)
    };
    if listed.iter().any(has_it) {
        return None;
    }
    // It was borrowed from the line.
    let from = servers.get().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
    let at = from + servers.get().len() - 1;
    (line.as_bytes().get(at) == Some(&b']')).then_some(Place { at, is_first: listed.is_empty() })
}

/// A place in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    at: usize,
    is_first: bool,
}

impl Place {
    /// The line with the entry in it.
    pub(super) fn filled(self, mut line: Vec<u8>, entry: &str) -> Vec<u8> {
        let comma = if self.is_first { "" } else { "," };
        line.splice(self.at..self.at, format!("{comma}{entry}").into_bytes());
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[derive(Deserialize)]
    struct Has<'a> {
        #[serde(borrow)]
        servers: &'a RawValue,
    }

    fn filled(line: &str) -> Option<String> {
        let Has { servers } = serde_json::from_str(line).unwrap();
        let place = place(line, servers)?;
        Some(String::from_utf8(place.filled(line.into(), "{ENTRY}")).unwrap())
    }

    #[test]
    fn the_entry_is_the_last_and_nothing_else_changes() {
        for (line, wanted) in [
            (r#"{"servers":[]}"#, r#"{"servers":[{ENTRY}]}"#),
            ("{ \"servers\" : [ \t ] , \"b\":\"]\"}\r\n", "{ \"servers\" : [ \t {ENTRY}] , \"b\":\"]\"}\r\n"),
            (
                r#"{"ü":"[","servers":[ {"name":"a","args":["]"]} ]}"#,
                r#"{"ü":"[","servers":[ {"name":"a","args":["]"]} ,{ENTRY}]}"#,
            ),
            (r#"{"servers":[7,{"name":"Hashline"}]}"#, r#"{"servers":[7,{"name":"Hashline"},{ENTRY}]}"#),
        ] {
            assert_eq!(filled(line).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn a_list_that_has_it_and_what_is_no_list_stay() {
        for line in [
            r#"{"servers":[{"name":"a"},{"command":"x","name":"hashline"}]}"#,
            r#"{"servers":[{"name":"hash\u006cine"}]}"#,
            r#"{"servers":null}"#,
            r#"{"servers":{"a":[]}}"#,
            r#"{"servers":"[]"}"#,
        ] {
            assert_eq!(filled(line), None, "{line}");
        }
    }

    #[test]
    fn an_entry_names_the_folders_and_in_later_versions_its_kind() {
        let server = AcpServer { command: "/bin/hashline".into(), arguments: vec!["mcp".into()] };
        let folders = [PathBuf::from("/a b"), PathBuf::from("/c")];
        let entry = |version| serde_json::from_str::<Value>(&server.entry(&folders, version)).unwrap();
        let args = ["mcp", "--root", "/a b", "--root", "/c"];
        let mut wanted = json!({ "name": "hashline", "command": "/bin/hashline", "args": args, "env": [] });
        assert_eq!(entry(1), wanted);
        wanted["type"] = "stdio".into();
        assert_eq!(entry(2), wanted);
    }
}
