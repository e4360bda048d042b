//! A plugin that a program of an agent loads: a file of hashline's own.

use serde_json::Value;

/// What the file begins with, by which it is known as hashline's.
const BEGINS: &str = "// hashline's plugin. Written by `hashline setup`; with --remove it is taken out.\n";

/// The plugin of OpenCode. It starts this command for each hook.
pub fn opencode(command: &str) -> String {
    let text = include_str!("opencode.js");
    format!("{BEGINS}{}", text.replace("\"hashline\"", &Value::from(command).to_string()))
}

/// The file with this in it.
pub fn with(text: Option<&str>, own: &str) -> Result<Option<String>, String> {
    match text {
        Some(text) if !text.starts_with(BEGINS) => Err("it is not hashline's".to_owned()),
        _ => Ok(Some(own.to_owned())),
    }
}

/// No file, if it is hashline's.
pub fn without(text: Option<&str>) -> Result<Option<String>, String> {
    Ok(text.filter(|text| !text.starts_with(BEGINS)).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop where it is")]

    use super::*;

    #[test]
    fn a_file_of_others_is_left_alone() {
        let own = opencode("/a b/hashline");
        assert!(own.contains("\"/a b/hashline\""), "{own}");
        assert_eq!(with(None, &own).unwrap().as_deref(), Some(own.as_str()));
        assert_eq!(with(Some(&opencode("/gone")), &own).unwrap().as_deref(), Some(own.as_str()));
        assert!(with(Some("export const Mine = 1\n"), &own).is_err());
        assert_eq!(without(Some(&own)), Ok(None));
        assert_eq!(without(Some("mine")).unwrap().as_deref(), Some("mine"));
        assert_eq!(without(None), Ok(None));
    }
}
