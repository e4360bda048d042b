//! The rules of a server.json that hold without a look at its files.

use crate::identifier::Identifier;
use crate::issue::{Issue, Severity};
use crate::resolve::Sources;
use crate::server_json::ServerJson;

/// Files that one version may name, and may have hashes of.
pub const MAX_FILES: usize = 64;

/// What stands for the name of a publisher in a server.json that nobody has changed yet.
pub const YOUR_NAME: &str = "YOUR-NAME";

/// What is wrong with a text as a server.json. Empty if nothing is.
#[must_use]
pub fn validate(bytes: &[u8], sources: &Sources) -> Vec<Issue> {
    match ServerJson::parse(bytes) {
        Ok(server) => issues(&server, sources),
        Err(error) => vec![Issue::json(error.to_string())],
    }
}

/// Whether it can be published.
#[must_use]
pub fn is_publishable(issues: &[Issue]) -> bool {
    issues.iter().all(|issue| issue.severity == Severity::Warning)
}

/// What is wrong with a server.json. What is wrong with its hashes is told with the files that they are of.
#[must_use]
pub fn issues(server: &ServerJson, sources: &Sources) -> Vec<Issue> {
    let mut issues = Vec::new();
    match server.text("name") {
        None => issues.push(Issue::schema("name", "it is missing; write a namespace and a name, as in io.github.user/server")),
        Some(name) if !is_name(name) => issues.push(Issue::schema(
            "name",
            "it is no namespace and name with one slash between them, of 3 to 200 letters, digits, dots, hyphens and underscores",
        )),
        Some(name) if name.contains(YOUR_NAME) => issues.push(Issue::schema(
            "name",
            format!("it is the one to begin with; write your own in the place of {YOUR_NAME}"),
        )),
        Some(_) => {}
    }
    match server.text("version") {
        None => issues.push(Issue::schema("version", "it is missing; write the version, as in 1.0.0")),
        Some(version) if !is_version(version) => issues.push(Issue::schema(
            "version",
            "it is no single version of up to 255 characters; write one as in 1.0.0, no range and not latest",
        )),
        Some(version) if semver::Version::parse(version).is_err() => {
            issues
                .push(Issue::advice("version", "it is no semantic version: any that is one counts as newer"));
        }
        Some(_) => {}
    }
    match server.get("description") {
        None => issues.push(Issue::advice(
            "description",
            "it is missing; say in up to 100 characters what the server does",
        )),
        Some(text) => {
            if !text.as_str().is_some_and(|text| (1..=100).contains(&text.chars().count())) {
                issues.push(Issue::schema("description", "it is no text of 1 to 100 characters"));
            }
        }
    }
    let (packages, wrong) = server.packages(sources);
    let has_packages = !packages.is_empty() || !wrong.is_empty();
    issues.extend(wrong);
    let remotes = server.get("remotes").and_then(|remotes| remotes.as_array());
    if !has_packages && remotes.is_none_or(Vec::is_empty) {
        issues.push(Issue::advice(
            "",
            "it has neither package_location nor packages nor remotes: nobody can start this server",
        ));
    }
    match server.file_hashes() {
        Err(issue) => issues.push(issue),
        Ok(Some(hashes)) if hashes.len() > MAX_FILES => {
            issues.push(Issue::schema(
                "file_hashes",
                format!("it has {} files, and at most {MAX_FILES} can be", hashes.len()),
            ));
        }
        Ok(Some(_)) => {}
        Ok(None) => {
            for package in packages.iter().filter(|package| package.file_sha256.is_none()) {
                if !package.identifiers.is_empty() {
                    issues.push(Issue::advice(
                        package.path.clone(),
                        "it has no hashes; `mcp-publisher publish` adds them unless told --no-hash",
                    ));
                }
            }
        }
    }
    let files = packages.iter().map(|package| package.identifiers.len()).sum::<usize>();
    if files > MAX_FILES {
        // Whatever else is wrong with so many need not be told.
        issues.push(Issue::schema(
            "packages",
            format!("they name {files} files, and at most {MAX_FILES} can be"),
        ));
        return issues;
    }
    let repeated = packages.iter().enumerate().filter(|(at, package)| {
        let before = packages[..*at].iter().flat_map(|package| &package.identifiers);
        let mine: &[Identifier] = &package.identifiers;
        before.clone().any(|identifier| mine.contains(identifier))
    });
    for (_, package) in repeated {
        issues.push(Issue::semantic(
            package.path.clone(),
            "it names the same file as a package before it; leave one out",
        ));
    }
    issues
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str, also: &str| {
        let inner = |letter: char| letter.is_ascii_alphanumeric() || also.contains(letter);
        part.chars().all(inner)
            && part.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && part.ends_with(|letter: char| letter.is_ascii_alphanumeric())
    };
    (3..=200).contains(&name.len())
        && name
            .split_once('/')
            .is_some_and(|(namespace, name)| is_part(namespace, ".-") && is_part(name, "._-"))
}

fn is_version(version: &str) -> bool {
    // Of the letters of all languages many look like others, or like nothing.
    let is_plain = version.bytes().all(|byte| byte.is_ascii_graphic() && !b"*|,/".contains(&byte));
    let is_range = version.starts_with(['^', '~', '>', '<', '='])
        || version.split(['.', '-']).any(|part| matches!(part, "x" | "X"));
    (1..=255).contains(&version.len())
        && version != "latest"
        && is_plain
        && (!is_range || semver::Version::parse(version).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(bytes: &[u8]) -> Vec<Issue> {
        validate(bytes, &Sources::public().unwrap())
    }

    fn told(value: &serde_json::Value) -> Vec<String> {
        found(value.to_string().as_bytes()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_server_has_no_issues() {
        let good = json!({
            "name": "io.github.a/b", "description": "Does it", "version": "1.0.0",
            "package_location": {"type": "npm", "package_name": "@a/b"}, "file_hashes": {"npm:@a/b@1.0.0": "sha256:"}
        });
        assert_eq!(told(&good), [""; 0]);
    }

    /// "Validate JSON structure".
    #[test]
    fn each_rule_says_what_to_do() {
        let good = json!({"name": "a.b/c", "description": "d", "version": "1.0.0", "remotes": [{"url": "https://a.b"}]});
        assert_eq!(told(&good), [""; 0]);
        for (key, value, words, publishable) in [
            ("name", json!(null), "name: it is missing", false),
            ("name", json!("a"), "one slash", false),
            ("name", json!("a/b/c"), "one slash", false),
            ("name", json!("io.github.YOUR-NAME/b"), "in the place of YOUR-NAME", false),
            ("name", json!("-a/b"), "one slash", false),
            ("name", json!("a/../b"), "one slash", false),
            ("name", json!(format!("a/{}", "b".repeat(199))), "3 to 200", false),
            ("version", json!(null), "version: it is missing", false),
            ("version", json!("latest"), "not latest", false),
            ("version", json!("^1.0.0"), "no range", false),
            ("version", json!("1.x"), "no range", false),
            ("version", json!("1.0 - 2.0"), "no range", false),
            ("version", json!("1/2"), "no single version", false),
            // Two versions that look the same are none.
            ("version", json!("1.0.0\u{200b}"), "no single version", false),
            ("version", json!("1.0.0\u{202e}"), "no single version", false),
            ("version", json!("１.0.0"), "no single version", false),
            ("version", json!("1.0.0-x"), "", true),
            ("name", json!("a/\u{430}"), "one slash", false),
            ("version", json!("1".repeat(256)), "255", false),
            ("version", json!("2025.1"), "any that is one counts as newer", true),
            ("description", json!(""), "1 to 100", false),
            ("description", json!("d".repeat(101)), "1 to 100", false),
            ("description", json!(1), "1 to 100", false),
            ("file_hashes", json!([]), "hash-gen", false),
            ("file_hashes", json!({"a": 1}), "hash-gen", false),
            ("packages", json!([{"registryType": "npm", "identifier": "a"}]), "no hashes", true),
            (
                "packages",
                json!([{"registryType": "npm", "identifier": "a", "fileSha256": "x"}, {"registryType": "npm", "identifier": "a@1.0.0"}]),
                "same file",
                false,
            ),
        ] {
            let mut wrong = good.clone();
            if value.is_null() {
                wrong.as_object_mut().unwrap().remove(key);
            } else {
                wrong[key] = value.clone();
            }
            let told = told(&wrong).join("\n");
            assert!(told.contains(words), "{key} {value}: {told:?}");
            assert_eq!(is_publishable(&found(wrong.to_string().as_bytes())), publishable, "{key} {value}");
        }
        let many: serde_json::Map<_, _> =
            (0..65).map(|at| (format!("npm:a{at}@1.0.0"), json!("sha256:"))).collect();
        let mut wrong = good.clone();
        wrong["file_hashes"] = many.into();
        assert!(told(&wrong)[0].contains("65 files, and at most 64"));
        // Each of them would be fetched, whichever way its hash is written.
        let many: Vec<_> = (0..65)
            .map(|at| json!({"registryType": "npm", "identifier": format!("a{at}@1.0.0"), "fileSha256": "x"}))
            .collect();
        let urls: Vec<_> = (0..65).map(|at| format!("https://a.b/{at}")).collect();
        for (key, value) in
            [("packages", json!(many)), ("package_location", json!({"type": "url", "urls": urls}))]
        {
            let mut wrong = good.clone();
            wrong[key] = value;
            assert!(!is_publishable(&found(wrong.to_string().as_bytes())));
            let told = self::told(&wrong).join("\n");
            assert!(told.contains("65 files, and at most 64"), "{told}");
        }
        assert!(found(b"{")[0].to_string().starts_with("it is no JSON"));
    }

    /// "Are hashes required?", and of "Phase 4: Adoption Push": "Never make fully mandatory". Their absence is no error, in neither form.
    #[test]
    fn spec_are_hashes_required() {
        for packages in [json!([]), json!([{"registryType": "mcpb", "identifier": "https://a.b/c.mcpb"}])] {
            let bare = json!({"name": "a.b/c", "version": "1.0.0", "packages": packages, "package_location": {"type": "npm", "package_name": "a"}});
            assert!(is_publishable(&found(bare.to_string().as_bytes())));
        }
    }
}
