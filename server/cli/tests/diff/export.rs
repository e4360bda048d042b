//! Patches of what agents did, taken by git.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::agent::{Agent, twenty};
use crate::files::files_in;
use crate::project::{D, Project, sample};

/// Lets git apply a patch in a folder that is no repository. What it says if it does not.
pub fn git_apply(folder: &Path, patch: &str, options: &[&str]) -> Result<(), String> {
    let written = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(written.path(), patch).unwrap();
    let mut git = Command::new("git");
    git.arg("apply").args(options).arg(written.path());
    git.current_dir(folder).env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap());
    let output = git.output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// A copy of the project's files as they are.
fn copy(project: &Project) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for (name, (bytes, mode)) in files_in(&project.folder) {
        let path = copy.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    copy
}

/// What rests on lines that are not in the file, as another one was made anew, is in no patch of it.
#[test]
fn lines_of_a_making_that_is_out_come_into_no_patch() {
    let project = Project::new();
    let mut agent = Agent::start(&project, &[]);
    let path = project.folder.join("n");
    let (first, _) = agent.make(&path, "first\n", None);
    let (_, turn) = agent.put(&path, "first\n", "1\n", None);
    project.must(0, &["reject", &first, "--with-others"]);
    agent.make(&path, "second\n", None);
    let ran = project.run(&["export", "--proposed", "-c", &turn]);
    assert_eq!(ran.out, "", "{}", ran.err);
}

/// Where the lines of a file that was made anew are rejected it has those that they took the place of.
#[test]
fn lines_that_are_back_in_a_file_that_was_made_anew_are_in_the_patch() {
    let project = Project::new();
    let path = project.write("a", "1\n2\n3\n");
    let mut agent = Agent::start(&project, &[]);
    let (first, turn) = agent.put(&path, "1\n", "one\n", None);
    agent.put(&path, "3\n", "three\n", Some(&turn));
    project.must(0, &["reject", &first]);
    let (_, other) = agent.remove(&path, None);
    agent.make(&path, "made\n", Some(&other));
    project.must(0, &["reject", "-c", &turn, "--with-others"]);
    assert_eq!(project.text("a"), "1\n2\n3\n");
    let patch = project.must(0, &["export", "--proposed", "-c", &turn]).out;
    assert_eq!(git_apply(&project.folder, &patch, &[]), Ok(()));
    assert_eq!(project.text("a"), "one\n2\nthree\n", "{patch}");
}

/// No decision leads to a text with the lines of both.
#[test]
fn lines_of_a_later_making_are_left_out_where_those_of_an_earlier_one_are_in_the_file() {
    let project = Project::new();
    let path = project.folder.join("f");
    let mut agent = Agent::start(&project, &[]);
    let (first, _) = agent.make(&path, "made 1\n", None);
    agent.remove(&path, None);
    project.must(0, &["reject", &format!("{first}:1"), "--with-others"]);
    let (second, turn) = agent.make(&path, "made 7\n", None);
    project.must(0, &["reject", &format!("{second}:2")]);
    project.must(0, &["accept", &format!("{first}:2"), "--with-others"]);
    assert_eq!(project.text("f"), "made 1\n");
    let ran = project.must(4, &["export", "--rejected", "-c", &turn]);
    assert!(ran.out.is_empty() && ran.err.contains(&second[..8]), "{}{}", ran.out, ran.err);
}

#[test]
fn git_makes_the_same_of_a_turn_and_takes_it_back() {
    let project = Project::new();
    project.write("a.txt", &twenty());
    project.write("dos.txt", "\u{feff}one\r\ntwo\r\nthree");
    project.write("with space.txt", "x\ny");
    project.write("old.txt", &twenty());
    project.write("gone.txt", "a\rb\n");
    project.write("none.txt", "");
    let run = project.write("run \"it\".sh", "#!/bin/sh\necho 1\n");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
    let before = copy(&project);
    let mut agent = Agent::start(&project, &[]);
    let path = |name: &str| project.folder.join(name);
    let (_, turn) = agent.put(&path("a.txt"), "line 3\n", "three\n", None);
    let id = turn.as_str();
    let turn = Some(id);
    agent.put(&path("a.txt"), "line 20\n", "twenty", turn);
    agent.put(&path("dos.txt"), "two", "TWO", turn);
    agent.put(&path("with space.txt"), "y", "z", turn);
    agent.rename(&path("with space.txt"), &path("with more space.txt"), turn);
    agent.rename(&path("a.txt"), &path("spare"), turn);
    agent.rename(&path("old.txt"), &path("a.txt"), turn);
    agent.rename(&path("spare"), &path("old.txt"), turn);
    agent.remove(&path("gone.txt"), turn);
    agent.remove(&path("none.txt"), turn);
    agent.make(&path("src/new.rs"), "fn main() {}\n", turn);
    agent.make(&path("empty"), "", turn);
    agent.put(&run, "echo 1", "echo 2", turn);
    agent.rename(&run, &path("é\tbin"), turn);

    let patch = project.must(0, &["export", "-c", id]);
    assert_eq!(patch.err, "");
    for line in
        ["deleted file mode 100644", "new file mode 100644", "rename from old.txt", "rename to \"é\\tbin\""]
    {
        assert!(patch.out.lines().any(|one| one == line), "{line}\n{}", patch.out);
    }
    assert_eq!(git_apply(&project.folder, &patch.out, &["-R", "--check"]), Ok(()));
    git_apply(before.path(), &patch.out, &[]).unwrap_or_else(|said| panic!("{said}\n{}", patch.out));
    assert_eq!(files_in(before.path()), files_in(&project.folder));

    let stat = project.must(0, &["show", id, "--stat"]).out;
    for line in [
        "a.txt -> old.txt                       4 edits  +2  -2  pending",
        "gone.txt (removed)                     1 edit   +0  -1  pending",
        "src/new.rs (new)                       1 edit   +1  -0  pending",
        "9 files, 14 edits, +6 -6",
    ] {
        assert!(stat.lines().any(|one| one == line), "{line}\n{stat}");
    }
}

#[test]
fn bytes_that_are_no_text_are_renamed_and_removed() {
    let project = Project::new();
    for name in ["a.bin", "b.bin"] {
        std::fs::write(project.folder.join(name), b"\0\xff\xfe\0").unwrap();
    }
    let before = copy(&project);
    let mut agent = Agent::start(&project, &[]);
    let (_, turn) = agent.rename(&project.folder.join("a.bin"), &project.folder.join("c.bin"), None);
    agent.remove(&project.folder.join("b.bin"), Some(&turn));
    let patch = project.must(0, &["export", "-c", &turn]).out;
    git_apply(before.path(), &patch, &[]).unwrap_or_else(|said| panic!("{said}\n{patch}"));
    assert_eq!(files_in(before.path()), files_in(&project.folder));
}

#[test]
fn what_others_have_built_on_it_is_named_and_is_not_in_the_patch() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let before = copy(&project);
    let mut agent = Agent::start(&project, &[]);
    let (first, one) = agent.put(&path, "line 3\n", "three\nand a half\n", None);
    let (above, other) = agent.put(&path, "and a half\n", "and another half\n", None);
    let patch = project.must(0, &["export", "-c", &one]);
    assert!(
        patch.err.contains(&format!("does not include {}:1, which builds on it", &above[..8])),
        "{}",
        patch.err
    );
    git_apply(before.path(), &patch.out, &[]).unwrap();
    let text = std::fs::read_to_string(before.path().join("a.txt")).unwrap();
    assert_eq!(text, twenty().replace("line 3\n", "three\nand a half\n"));

    // The other one goes on where this one ends, and the two make what is there.
    let patch = project.must(0, &["export", &above]);
    assert_eq!(patch.err, "");
    git_apply(before.path(), &patch.out, &[]).unwrap();
    assert_eq!(files_in(before.path()), files_in(&project.folder));

    // What it rests on was taken out again, and has to be there.
    project.must(0, &["reject", &first, "--with-others"]);
    let patch = project.must(0, &["export", "--rejected", "-c", &other]);
    assert!(patch.err.contains(&format!("builds on {}:1", &first[..8])), "{}", patch.err);
}

#[test]
fn what_is_held_or_rejected_is_exported_when_it_is_asked_for() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &["--mode", "propose"]);
    let (held, turn) = agent.put(&path, "line 3\n", "three\n", None);
    let (refused, _) = agent.put(&path, "line 9\n", "nine\n", Some(&turn));
    project.must(0, &["reject", &refused]);
    let nothing = project.must(1, &["export", "-c", &turn]);
    assert!(nothing.out.is_empty() && nothing.err.contains("--proposed"), "{}", nothing.err);

    let now = copy(&project);
    let patch = project.must(0, &["export", "--rejected", "-c", &turn]).out;
    git_apply(now.path(), &patch, &[]).unwrap();
    let text = || std::fs::read_to_string(now.path().join("a.txt")).unwrap();
    assert_eq!(text(), twenty().replace("line 9\n", "nine\n"));
    git_apply(now.path(), &patch, &["-R"]).unwrap();
    let patch = project.must(0, &["export", "--proposed", "-c", &turn]).out;
    git_apply(now.path(), &patch, &[]).unwrap();
    assert_eq!(text(), twenty().replace("line 9\n", "nine\n").replace("line 3\n", "three\n"));
    let patch = project.must(0, &["export", "--proposed", &held]).out;
    assert!(patch.contains("+three\n") && !patch.contains("nine"), "{patch}");
}

#[test]
fn of_two_that_replace_one_line_the_later_is_written_and_the_other_named() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let (first, turn) = agent.put(&path, "line 3\n", "three\n", None);
    project.must(0, &["reject", &first]);
    agent.put(&path, "line 3\n", "drei\n", Some(&turn));
    let patch = project.must(4, &["export", "--proposed", "-c", &turn]);
    assert!(patch.out.contains("+drei\n") && !patch.out.contains("three"), "{}", patch.out);
    assert!(
        patch.err.contains(&format!("{}:1 could not be put into the patch", &first[..8])),
        "{}",
        patch.err
    );
}

#[test]
fn a_file_whose_content_is_not_recorded_is_renamed() {
    let project = sample();
    let patch = project.must(0, &["export", "--proposed", D.id]).out;
    assert_eq!(
        patch,
        "diff --git a/old/name.txt b/new/name.txt\nsimilarity index 100%\nrename from old/name.txt\nrename to new/name.txt\n"
    );
}

/// Lines of a file that was removed are not in the one that was made in its place, whoever made that.
#[test]
fn rejected_lines_of_a_file_that_was_made_anew_since_are_in_no_patch() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let mut agent = Agent::start(&project, &[]);
    let (lines, turn) = agent.put(&path, "line 3\n", "three\n", None);
    let (other, _) = agent.put(&path, "line 5\n", "five\n", None);
    project.must(0, &["reject", &lines]);
    agent.remove(&path, None);
    let (made, _) = agent.make(&path, "new\n", Some(&turn));
    for named in [&["-c", &turn][..], &[&lines], &[&lines, &made]] {
        let nothing = project.must(1, &[&["export", "--rejected"], named].concat());
        assert!(nothing.out.is_empty(), "{}", nothing.out);
        assert!(nothing.err.contains("could be in the files"), "{}", nothing.err);
    }
    // What was rejected with it goes on it.
    let (more, _) = agent.put(&path, "new\n", "newer\n", Some(&turn));
    project.must(0, &["reject", &more]);
    let now = copy(&project);
    let patch = project.must(0, &["export", "--rejected", "-c", &turn]);
    assert_eq!(patch.err, "");
    git_apply(now.path(), &patch.out, &[]).unwrap_or_else(|said| panic!("{said}\n{}", patch.out));
    assert_eq!(std::fs::read_to_string(now.path().join("a.txt")).unwrap(), "newer\n");
    assert_eq!(project.status_of(&other), "pending");
}

/// What rests on a line that a making has taken the place of comes into a patch where it can come into the file, and there alone.
#[test]
fn rejected_lines_are_in_a_patch_as_they_would_be_in_the_file() {
    type Beside = fn(&str) -> String;
    let above: Beside = |line| format!("above\n{line}");
    let behind: Beside = |line| format!("{line}behind\n");
    let places = [("line 1\n", above), ("line 3\n", above), ("line 3\n", behind), ("line 20\n", behind)];
    for (line, beside) in places {
        for (rejects_below, made) in
            [(false, "new\n"), (true, "new\n"), (false, twenty().as_str()), (true, twenty().as_str())]
        {
            let project = Project::new();
            let path = project.write("a.txt", &twenty());
            let mut agent = Agent::start(&project, &[]);
            let (below, _) = agent.put(&path, line, "other\n", None);
            let (lines, turn) = agent.put(&path, "other\n", &beside("other\n"), None);
            project.must(0, &["reject", &lines]);
            if rejects_below {
                project.must(0, &["reject", &below]);
            }
            agent.remove(&path, None);
            agent.make(&path, made, None);
            let now = copy(&project);
            let patch = project.run(&["export", "--rejected", "-c", &turn]);
            let accepted = project.run(&["accept", "-c", &turn]);
            let told =
                format!("{line:?} {rejects_below} {made:?}: {}{}{}", patch.out, patch.err, accepted.err);
            assert_eq!(patch.out.is_empty(), accepted.code != 0, "{told}");
            if accepted.code == 0 {
                git_apply(now.path(), &patch.out, &[]).unwrap_or_else(|said| panic!("{said}\n{told}"));
                assert_eq!(files_in(now.path()), files_in(&project.folder), "{told}");
            }
        }
    }
}

/// What an agent made anew, and what came into the old lines when that was rejected, are not in one file: what is in the text is written.
#[test]
fn of_a_file_made_anew_and_lines_that_came_instead_those_in_the_text_are_written() {
    let project = Project::new();
    let path = project.write("a.txt", &twenty());
    let before = copy(&project);
    let mut agent = Agent::start(&project, &[]);
    let (_, turn) = agent.remove(&path, None);
    let (made, _) = agent.make(&path, "new\n", Some(&turn));
    project.must(0, &["reject", "-c", &turn]);
    let (lines, _) = agent.put(&path, "line 3\n", "three\n", Some(&turn));
    let patch = project.must(4, &["export", "--proposed", "-c", &turn]);
    assert!(patch.err.contains(&format!("{}:2 could not be put", &made[..8])), "{}", patch.err);
    git_apply(before.path(), &patch.out, &[]).unwrap_or_else(|said| panic!("{said}\n{}", patch.out));
    assert_eq!(files_in(before.path()), files_in(&project.folder));
    // The two cannot be in the file either.
    project.must(0, &["accept", &lines]);
    let refused = project.must(4, &["accept", "-c", &turn]);
    assert!(refused.err.contains(&lines[..8]), "{}", refused.err);
    // What was rejected is a change of the files as they are, or it is left out.
    let refused = project.must(4, &["export", "--rejected", "-c", &turn]);
    assert!(refused.err.contains(&format!("{}:2 could not be put", &made[..8])), "{}", refused.err);
    assert_eq!(refused.out, "");
}
