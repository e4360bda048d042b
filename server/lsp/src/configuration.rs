//! Settings as editors say them: which keys there are, and what is wrong with a value.

use std::path::PathBuf;

use hashline_history::path::to_text;
use hashline_workspace::disk::HardLinks;
use hashline_workspace::document::Mode;
use hashline_workspace::{Hold, Rule, Settings, SettingsByFolder};
use serde_json::{Map, Value};

/// What was said of each setting; none where nothing was.
#[derive(Clone, Debug, Default)]
struct Said {
    open: Option<Mode>,
    disk: Option<Mode>,
    rules: Option<Vec<Rule>>,
    hold: Option<Vec<Hold>>,
    diagnostics: Option<bool>,
    no_hard_links: Option<bool>,
    /// Empty for nowhere.
    listen: Option<String>,
    ide_link: Option<bool>,
}

/// The settings from all places that say some. What is said while the editor runs goes before what was said at its
/// start, and what it says of a folder before what it says of none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configured {
    at_start: Said,
    since: Said,
    of_folders: Vec<(PathBuf, Said)>,
    /// Folders that have just come, of which the editor has not said anything yet.
    awaited: Vec<PathBuf>,
    questions: Questions,
    /// A plugin draws the hunks itself: diagnostics of them are for those who ask.
    pub plugin: bool,
    /// What the program was started with: no setting takes back that they are refused.
    hard_links: HardLinks,
}

/// How often the editor was asked, and to which question its latest answer was: answers may come out of order.
#[derive(Clone, Copy, Debug, Default)]
struct Questions {
    asked: u64,
    answered: u64,
}

impl Configured {
    /// Nothing is said yet.
    pub fn started_with(hard_links: HardLinks) -> Self {
        Self { hard_links, ..Self::default() }
    }

    /// The number of the question that is asked now.
    pub fn ask(&mut self) -> u64 {
        self.questions.asked += 1;
        self.questions.asked
    }

    /// Takes over what the editor answers to a question, in place of what it said before: first for no folder, then for each of these.
    /// Returns what is wrong with it, a sentence each.
    pub fn answered(&mut self, question: u64, folders: &[PathBuf], answers: &[Value]) -> Vec<String> {
        if question < self.questions.answered {
            return Vec::new();
        }
        self.questions.answered = question;
        self.not_answered(folders);
        let mut wrong = self.change(answers.first().unwrap_or(&Value::Null));
        self.of_folders.clear();
        for (folder, answer) in folders.iter().zip(answers.iter().skip(1)) {
            let (said, wrong_here) = read(section(answer));
            self.of_folders.push((folder.clone(), said));
            // What is said for all folders comes with each of them.
            let only_here: Vec<String> =
                wrong_here.into_iter().filter(|sentence| !wrong.contains(sentence)).collect();
            wrong.extend(only_here.iter().map(|sentence| format!("In {}: {sentence}", to_text(folder))));
        }
        wrong
    }

    /// Folders have come, and the editor will say what holds in them. Until it does their edits are held. Others have gone.
    pub fn wait_for(&mut self, added: &[PathBuf], removed: &[PathBuf]) {
        self.awaited.retain(|folder| !removed.contains(folder));
        self.awaited.extend_from_slice(added);
    }

    /// The editor does not say what holds in these.
    pub fn not_answered(&mut self, folders: &[PathBuf]) {
        self.awaited.retain(|folder| !folders.contains(folder));
    }

    /// Takes over what stands in `initializationOptions`. Returns what is wrong with it, a sentence each.
    pub fn start(&mut self, options: &Value) -> Vec<String> {
        let (said, wrong) = read(section(options));
        self.at_start = said;
        wrong
    }

    /// Takes over what the editor says now, in place of what it said before.
    pub fn change(&mut self, settings: &Value) -> Vec<String> {
        let (said, wrong) = read(section(settings));
        self.since = said;
        wrong
    }

    /// Where agents are served over HTTP; none for nowhere.
    pub fn listen(&self) -> Option<String> {
        let said = self.since.listen.as_ref().or(self.at_start.listen.as_ref());
        said.filter(|address| !address.is_empty()).cloned()
    }

    /// Whether Claude Code finds the editor by its IDE link.
    pub fn ide_link(&self) -> bool {
        self.since.ide_link.or(self.at_start.ide_link).unwrap_or(true)
    }

    /// The settings in force.
    pub fn settings(&self) -> SettingsByFolder {
        let held = Said {
            open: Some(Mode::Propose),
            disk: Some(Mode::Propose),
            rules: Some(Vec::new()),
            ..Said::default()
        };
        let awaited = self.awaited.iter().map(|folder| (folder, &held));
        let of_folders = self.of_folders.iter().map(|(folder, said)| (folder, said)).chain(awaited);
        SettingsByFolder {
            everywhere: self.first_said(&[&self.since, &self.at_start]),
            of_folders: of_folders
                .map(|(folder, said)| (folder.clone(), self.first_said(&[said, &self.since, &self.at_start])))
                .collect(),
        }
    }

    /// Of each setting what is said first.
    fn first_said(&self, places: &[&Said]) -> Settings {
        let default = Settings::default();
        let diagnostics = default.diagnostics && !self.plugin;
        Settings {
            open: places.iter().find_map(|said| said.open).unwrap_or(default.open),
            disk: places.iter().find_map(|said| said.disk).unwrap_or(default.disk),
            rules: places.iter().find_map(|said| said.rules.clone()).unwrap_or(default.rules),
            hold: places.iter().find_map(|said| said.hold.clone()).unwrap_or(default.hold),
            hard_links: self.hard_links.and(HardLinks::refused_if(
                places.iter().find_map(|said| said.no_hard_links).unwrap_or_default(),
            )),
            diagnostics: places.iter().find_map(|said| said.diagnostics).unwrap_or(diagnostics),
        }
    }
}

/// Settings stand below `hashline`, or are themselves what is given.
fn section(value: &Value) -> &Value {
    match value.get("hashline") {
        Some(section) => section,
        None => value,
    }
}

fn read(value: &Value) -> (Said, Vec<String>) {
    let mut said = Said::default();
    let mut wrong = Vec::new();
    match value {
        Value::Null => {}
        Value::Object(settings) => {
            for (key, value) in settings {
                said.take(key, value, &mut wrong);
            }
        }
        other => wrong.push(sentence("", other, "an object with mode and diagnostics")),
    }
    (said, wrong)
}

const MODES: &str = "\"propose\" or \"apply\"";
const RULES: &str = "a list of {agent, glob, mode}";
const GLOBS: &str = "a list of globs";

impl Said {
    fn take(&mut self, key: &str, value: &Value, wrong: &mut Vec<String>) {
        match key {
            _ if value.is_null() => {}
            "mode" => match value {
                Value::Object(modes) => {
                    for (key, value) in modes {
                        self.take(&format!("mode.{key}"), value, wrong);
                    }
                }
                other => wrong.push(sentence("mode", other, "an object with open, disk, rules and hold")),
            },
            "mode.open" => self.open = mode(key, value, wrong).or(self.open),
            "mode.disk" => self.disk = mode(key, value, wrong).or(self.disk),
            "mode.rules" => self.rules = rules(value, wrong),
            "mode.hold" => self.hold = holds(value, wrong),
            "http" => match value {
                Value::Object(parts) => {
                    for (key, value) in parts {
                        self.take(&format!("http.{key}"), value, wrong);
                    }
                }
                other => wrong.push(sentence("http", other, "an object with listen")),
            },
            "http.listen" => match value {
                Value::String(address) => self.listen = Some(address.trim().to_owned()),
                other => wrong.push(sentence(key, other, "an address such as \"127.0.0.1:8437\"")),
            },
            "diagnostics" => match value {
                Value::Bool(wanted) => self.diagnostics = Some(*wanted),
                other => wrong.push(sentence(key, other, "true or false")),
            },
            "noHardLinks" => match value {
                Value::Bool(wanted) => self.no_hard_links = Some(*wanted),
                other => wrong.push(sentence(key, other, "true or false")),
            },
            "ideLink" => match value {
                Value::Bool(wanted) => self.ide_link = Some(*wanted),
                other => wrong.push(sentence(key, other, "true or false")),
            },
            // Done by the plugins, who say all their settings.
            "saveAfterAccept" => {
                if !matches!(value.as_str(), Some("never" | "ifClean" | "always")) {
                    wrong.push(sentence(key, value, "\"never\", \"ifClean\" or \"always\""));
                }
            }
            _ => wrong.push(format!(
                "There is no setting hashline.{key}. There are mode.open, mode.disk, mode.rules, mode.hold, \
                 saveAfterAccept, diagnostics, noHardLinks, ideLink and http.listen."
            )),
        }
    }
}

fn mode(key: &str, value: &Value, wrong: &mut Vec<String>) -> Option<Mode> {
    match value.as_str() {
        Some("propose") => Some(Mode::Propose),
        Some("apply") => Some(Mode::Apply),
        _ => {
            wrong.push(sentence(key, value, MODES));
            None
        }
    }
}

/// The rules that can be read. One that cannot is left out; the others keep their order.
fn rules(value: &Value, wrong: &mut Vec<String>) -> Option<Vec<Rule>> {
    match value {
        Value::Array(rules) => {
            let each = rules.iter().enumerate();
            Some(each.filter_map(|(index, value)| rule(index, value, wrong)).collect())
        }
        // Some editors' languages do not tell an empty list from an empty object.
        Value::Object(none) if none.is_empty() => Some(Vec::new()),
        other => {
            wrong.push(sentence("mode.rules", other, RULES));
            None
        }
    }
}

/// The globs that can be read.
fn holds(value: &Value, wrong: &mut Vec<String>) -> Option<Vec<Hold>> {
    match value {
        Value::Array(globs) => {
            let each = globs.iter().enumerate();
            Some(each.filter_map(|(index, value)| hold(index, value, wrong)).collect())
        }
        // Some editors' languages do not tell an empty list from an empty object.
        Value::Object(none) if none.is_empty() => Some(Vec::new()),
        other => {
            wrong.push(sentence("mode.hold", other, GLOBS));
            None
        }
    }
}

fn hold(index: usize, value: &Value, wrong: &mut Vec<String>) -> Option<Hold> {
    let key = format!("mode.hold[{index}]");
    let Value::String(glob) = value else {
        wrong.push(sentence(&key, value, "a string"));
        return None;
    };
    Hold::new(glob).map_err(|error| wrong.push(format!("hashline.{key}: {error}."))).ok()
}

fn rule(index: usize, value: &Value, wrong: &mut Vec<String>) -> Option<Rule> {
    let key = format!("mode.rules[{index}]");
    let Value::Object(parts) = value else {
        wrong.push(sentence(&key, value, "{agent, glob, mode}"));
        return None;
    };
    let before = wrong.len();
    if let Some(unknown) = parts.keys().find(|part| !["agent", "glob", "mode"].contains(&part.as_str())) {
        wrong.push(format!("There is no hashline.{key}.{unknown}. A rule has agent, glob and mode."));
    }
    let agent = text(parts, &key, "agent", wrong);
    let glob = text(parts, &key, "glob", wrong);
    let mode = match parts.get("mode") {
        Some(value) => mode(&format!("{key}.mode"), value, wrong),
        None => {
            wrong.push(format!("hashline.{key} has no mode; expected {MODES}."));
            None
        }
    };
    if wrong.len() > before {
        return None;
    }
    match Rule::new(agent, glob.as_deref(), mode?) {
        Ok(rule) => Some(rule),
        Err(error) => {
            wrong.push(format!("hashline.{key}: {error}."));
            None
        }
    }
}

fn text(parts: &Map<String, Value>, key: &str, part: &str, wrong: &mut Vec<String>) -> Option<String> {
    match parts.get(part) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            wrong.push(sentence(&format!("{key}.{part}"), other, "a string"));
            None
        }
    }
}

/// Names the key, what it is and what it should be.
fn sentence(key: &str, value: &Value, expected: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = value.to_string();
    if shown.chars().count() > SHOWN {
        shown = shown.chars().take(SHOWN).chain(['…']).collect();
    }
    let dot = if key.is_empty() { "" } else { "." };
    format!("The setting hashline{dot}{key} is {shown}; expected {expected}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_are_read_in_every_spelling() {
        for options in [
            json!({"hashline": {"mode": {"open": "apply", "disk": "propose"}, "diagnostics": false}}),
            json!({"mode": {"open": "apply", "disk": "propose"}, "diagnostics": false}),
            json!({"mode.open": "apply", "mode.disk": "propose", "diagnostics": false, "mode": null}),
        ] {
            let mut configured = Configured::default();
            assert_eq!(configured.start(&options), [""; 0], "{options}");
            let settings = configured.settings().everywhere;
            assert_eq!(
                (settings.open, settings.disk, settings.diagnostics),
                (Mode::Apply, Mode::Propose, false),
                "{options}"
            );
        }
    }

    #[test]
    fn what_is_said_later_goes_first_and_the_rest_stays() {
        let mut configured = Configured::default();
        configured.start(&json!({"mode": {"open": "apply"}, "diagnostics": false}));
        configured
            .change(&json!({"mode": {"open": "propose", "rules": [{"glob": "docs/**", "mode": "apply"}]}}));
        let settings = configured.settings().everywhere;
        assert_eq!((settings.open, settings.diagnostics), (Mode::Propose, false));
        assert_eq!(settings.mode("any", std::path::Path::new("docs/a.md"), true), Mode::Apply);
        configured.change(&Value::Null);
        assert_eq!(configured.settings().everywhere.open, Mode::Apply);
    }

    #[test]
    fn what_is_said_of_a_folder_goes_first_and_the_rest_is_that_of_all() {
        let mut configured = Configured::default();
        configured.start(&json!({"mode": {"disk": "propose"}}));
        let folders = ["/a", "/b", "/c"].map(PathBuf::from);
        let general = json!({"mode": {"open": "apply"}});
        let answers = [
            general.clone(),
            json!({"mode": {"open": "propose"}, "diagnostics": false}),
            Value::Null,
            json!({"mode": {"disk": "x"}}),
        ];
        let (first, second) = (configured.ask(), configured.ask());
        assert_eq!(configured.answered(second, &folders, &answers).len(), 1);
        assert_eq!(configured.answered(first, &[], &[Value::Null]), [""; 0], "an answer that comes late");
        let settings = configured.settings();
        let of = |file: &str| {
            let settings = settings.of(std::path::Path::new(file));
            (settings.open, settings.disk, settings.diagnostics)
        };
        assert_eq!(of("/a/1.txt"), (Mode::Propose, Mode::Propose, false));
        assert_eq!(of("/b/1.txt"), (Mode::Apply, Mode::Propose, true));
        assert_eq!(of("/c/1.txt"), (Mode::Apply, Mode::Propose, true));
        assert_eq!(of("/d/1.txt"), (Mode::Apply, Mode::Propose, true));
        // What is wrong everywhere is said once, and an editor that answers less says nothing of the rest.
        let wrong = json!({"mode": {"open": "x"}});
        let question = configured.ask();
        let answers = [wrong.clone(), wrong.clone(), wrong.clone()];
        assert_eq!(configured.answered(question, &folders, &answers).len(), 1);
        assert_eq!(configured.settings().of_folders.len(), 2);
        // What is wrong in a folder names it.
        let question = configured.ask();
        let said = configured.answered(question, &folders, &[Value::Null, wrong.clone(), wrong]);
        let begins: Vec<_> =
            said.iter().filter_map(|words| words.split_once(": ")).map(|(at, _)| at).collect();
        assert_eq!(begins, ["In /a", "In /b"]);
    }

    #[test]
    fn edits_in_a_folder_that_has_just_come_are_held_until_its_settings_are_told() {
        let mut configured = Configured::default();
        configured.start(&json!({"mode": {"open": "apply", "rules": [{"mode": "apply"}]}}));
        let modes = |configured: &Configured| {
            let settings = configured.settings();
            let file = std::path::Path::new("/a/1.txt");
            [true, false].map(|open| settings.mode("any", file, file, open))
        };
        let before = configured.ask();
        assert_eq!(modes(&configured), [Mode::Apply, Mode::Apply]);
        let folder = [PathBuf::from("/a")];
        configured.wait_for(&folder, &[]);
        assert_eq!(modes(&configured), [Mode::Propose, Mode::Propose]);
        let after = configured.ask();
        configured.answered(before, &[], &[Value::Null]);
        assert_eq!(modes(&configured), [Mode::Propose, Mode::Propose], "it was not asked about it yet");
        configured.not_answered(&[]);
        assert_eq!(
            modes(&configured),
            [Mode::Propose, Mode::Propose],
            "nor is it where an earlier question fails"
        );
        configured.answered(after, &folder, &[Value::Null, Value::Null]);
        assert_eq!(modes(&configured), [Mode::Apply, Mode::Apply]);
        configured.wait_for(&folder, &[]);
        configured.wait_for(&[], &folder);
        assert_eq!(modes(&configured), [Mode::Apply, Mode::Apply], "it has gone before it was asked about");
    }

    #[test]
    fn files_to_hold_are_those_that_are_named_whatever_else_is_wrong() {
        let mut configured = Configured::default();
        let said =
            configured.start(&json!({"mode": {"hold": ["Makefile", 7, "a[", "deploy/**"], "open": "apply"}}));
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!(said[0], "The setting hashline.mode.hold[1] is 7; expected a string.");
        assert!(said[1].starts_with("hashline.mode.hold[2]: the glob \"a[\" cannot be read"), "{said:?}");
        let holds = |configured: &Configured, file: &str| {
            configured.settings().holds(std::path::Path::new(file), std::path::Path::new("/p"))
        };
        for (file, held) in [
            ("/p/Makefile", true),
            ("/p/MAKEFILE", true),
            ("/p/deploy/a/b.sh", true),
            ("/p/src/Makefile", false),
            ("/p/src/main.rs", false),
        ] {
            assert_eq!(holds(&configured, file), held, "{file}");
        }
        // A folder's own list stands in the place of the one for all.
        let question = configured.ask();
        configured.answered(question, &["/p/sub".into()], &[Value::Null, json!({"mode.hold": ["x"]})]);
        assert!(holds(&configured, "/p/sub/x") && !holds(&configured, "/p/sub/Makefile"));
        assert_eq!(configured.change(&json!({"mode.hold": {}})), [""; 0]);
        assert!(!holds(&configured, "/p/Makefile"), "none any more");
        assert_eq!(configured.change(&json!({"mode.hold": "Makefile"})).len(), 1);
        assert!(holds(&configured, "/p/Makefile"), "what was said before");
    }

    #[test]
    fn hard_links_are_refused_where_anybody_says_so() {
        let refused = |configured: &Configured| configured.settings().hard_links().are_refused();
        let mut configured = Configured::default();
        assert!(!refused(&configured));
        configured.start(&json!({"noHardLinks": true}));
        assert!(refused(&configured));
        configured.change(&json!({"noHardLinks": false}));
        assert!(!refused(&configured), "what is said later goes first");
        let question = configured.ask();
        configured.answered(question, &["/p".into()], &[Value::Null, json!({"noHardLinks": true})]);
        assert!(refused(&configured), "a folder of several");
        assert_eq!(configured.change(&json!({"noHardLinks": 1})).len(), 1);
        let mut started = Configured::started_with(HardLinks::Refused);
        started.change(&json!({"noHardLinks": false}));
        assert!(refused(&started), "no setting takes it back");
    }

    #[test]
    fn http_is_off_until_it_is_said_where() {
        let mut configured = Configured::default();
        assert_eq!(configured.listen(), None);
        configured.start(&json!({"http": {"listen": "127.0.0.1:1"}}));
        assert_eq!(configured.listen().as_deref(), Some("127.0.0.1:1"));
        configured.change(&json!({"http.listen": "127.0.0.1:2"}));
        assert_eq!(configured.listen().as_deref(), Some("127.0.0.1:2"));
        configured.change(&json!({"http": {"listen": ""}}));
        assert_eq!(configured.listen(), None);
        assert_eq!(configured.start(&json!({"http": {"listen": 8437}})).len(), 1);
        assert_eq!(configured.start(&json!({"http": "127.0.0.1:1"})).len(), 1);
    }

    #[test]
    fn the_ide_link_is_on_until_it_is_turned_off() {
        let mut configured = Configured::default();
        assert!(configured.ide_link());
        configured.start(&json!({"ideLink": false}));
        assert!(!configured.ide_link());
        configured.change(&json!({"ideLink": true}));
        assert!(configured.ide_link(), "what is said later goes first");
        assert_eq!(configured.change(&json!({"ideLink": "off"})).len(), 1);
        assert!(!configured.ide_link());
    }

    #[test]
    fn diagnostics_are_on_but_for_plugins() {
        let settings = |plugin, options| {
            let mut configured = Configured { plugin, ..Configured::default() };
            configured.start(&options);
            configured.settings().everywhere.diagnostics
        };
        assert!(settings(false, Value::Null) && !settings(true, Value::Null));
        assert!(settings(true, json!({"diagnostics": true})));
    }

    #[test]
    fn what_is_wrong_is_named_with_what_was_expected() {
        let wrong = |settings: Value| Configured::default().start(&settings);
        assert_eq!(
            wrong(json!({"mode": {"open": "aply"}})),
            ["The setting hashline.mode.open is \"aply\"; expected \"propose\" or \"apply\"."]
        );
        assert_eq!(
            wrong(json!({"diagnostics": "off"})),
            ["The setting hashline.diagnostics is \"off\"; expected true or false."]
        );
        assert_eq!(
            wrong(json!({"mode": {"opne": "apply"}})),
            [
                "There is no setting hashline.mode.opne. There are mode.open, mode.disk, mode.rules, mode.hold, \
              saveAfterAccept, diagnostics, noHardLinks, ideLink and http.listen."
            ]
        );
        assert_eq!(
            wrong(json!({"mode": {"rules": [{"agent": 7, "mode": "apply"}, {"glob": "a"}]}})),
            [
                "The setting hashline.mode.rules[0].agent is 7; expected a string.",
                "hashline.mode.rules[1] has no mode; expected \"propose\" or \"apply\"."
            ]
        );
        assert_eq!(wrong(json!({"mode": {"rules": [{"glob": "a[", "mode": "apply"}]}})).len(), 1);
        assert_eq!(wrong(json!({"mode": {"rules": {}}, "saveAfterAccept": "ifClean"})), [""; 0]);
        assert_eq!(
            wrong(json!("apply")),
            ["The setting hashline is \"apply\"; expected an object with mode and diagnostics."]
        );
        assert_eq!(wrong(json!({"saveAfterAccept": 1})).len(), 1);
        assert_eq!(wrong(json!({"mode": 3})).len(), 1);
    }

    #[test]
    fn one_wrong_value_leaves_the_others() {
        let mut configured = Configured::default();
        let settings =
            json!({"mode": {"open": "x", "disk": "propose", "rules": [{"mode": "x"}, {"mode": "apply"}]}});
        assert_eq!(configured.start(&settings).len(), 2);
        assert_eq!(configured.settings().everywhere.disk, Mode::Propose);
        assert_eq!(configured.settings().everywhere.rules.len(), 1);
    }
}
