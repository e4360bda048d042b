//! Reading a diff as agents write it.

use hashline_text::Ending;

use super::name::{is_backup, is_nothing, name_in, names};
use super::{BodyLine, Hunk, Kind, Patch, PatchError};
use crate::replacement::MAX_PARTS;

impl Patch {
    /// Reads a diff of one file. `file` is the path that the call names, to be compared with the names in the diff.
    ///
    /// # Errors
    ///
    /// [`PatchError`], with the first thing that is wrong.
    pub fn parse(diff: &str, file: &str) -> Result<Self, PatchError> {
        let lines = lines_of(diff);
        if lines.iter().all(|line| line.trim().is_empty()) {
            return Err(PatchError::Empty);
        }
        let mut reader = Reader {
            lines: &lines,
            file,
            at: 0,
            hunk: None,
            hunks: Vec::new(),
            others: Vec::new(),
            ours: false,
        };
        while reader.at < lines.len() {
            reader.step()?;
        }
        reader.close()?;
        if let Some(Other { name, first }) = reader.others.into_iter().next() {
            let file = file.to_owned();
            return Err(match first {
                true => PatchError::OtherFile { name, file },
                false => PatchError::SeveralFiles { name, file },
            });
        }
        match reader.hunks.len() {
            0 => Err(PatchError::NoHunks),
            found if found > MAX_PARTS => Err(PatchError::TooManyHunks { found, most: MAX_PARTS }),
            _ => Ok(Self { hunks: reader.hunks }),
        }
    }
}

/// A file that the diff names and that was not asked for.
struct Other {
    name: String,
    /// Nothing about the file that was asked for came before it.
    first: bool,
}

/// The lines of a diff without their endings and without the fence of a code block around them.
fn lines_of(diff: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = diff.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    // A final newline opens no line.
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let is_fence = |line: &&str| line.trim_end().starts_with("```");
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    if let (Some(first), Some(last)) = (first, last)
        && first < last
        && is_fence(&lines[first])
        && is_fence(&lines[last])
    {
        return lines[first + 1..last].to_vec();
    }
    lines
}

struct Reader<'a> {
    lines: &'a [&'a str],
    file: &'a str,
    at: usize,
    hunk: Option<Hunk>,
    hunks: Vec<Hunk>,
    others: Vec<Other>,
    /// The file that was asked for was named.
    ours: bool,
}

impl<'a> Reader<'a> {
    fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).copied().unwrap_or_default()
    }

    fn step(&mut self) -> Result<(), PatchError> {
        let line = self.line(self.at);
        if line.starts_with("@@@") {
            return Err(PatchError::Merge);
        }
        if line.starts_with("@@") {
            self.close()?;
            let (old, new) = sides(line);
            self.open(
                old.and_then(|old| old.0.checked_sub(1)),
                old.zip(new).map(|(old, new)| (old.1, new.1)),
            );
        } else if self.is_header() {
            self.close()?;
            self.header()?;
        } else if let Some((kind, content)) = body_line(line) {
            self.body(kind, content)?;
        } else if line.is_empty() {
            if let Some(hunk) = &mut self.hunk {
                hunk.blanks += 1;
            }
        } else if line.starts_with('\\') {
            self.open_end()?;
        } else {
            self.word(line)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Whether the name of a file begins here, in one line or in two.
    fn is_header(&mut self) -> bool {
        let (line, next, third) = (self.line(self.at), self.line(self.at + 1), self.line(self.at + 2));
        let is_old = |line: &str| line.starts_with("--- ") || line == "---";
        let is_new = |line: &str| line.starts_with("+++ ") || line == "+++";
        let Some(hunk) = &self.hunk else {
            return is_old(line) && (is_new(next) || next.starts_with("@@"))
                || is_new(line) && next.starts_with("@@");
        };
        if !is_old(line) || !is_new(next) || !third.starts_with("@@") {
            return false;
        }
        // In a hunk these may be lines of the file as well: a removed `-- a`, an added `++ b`. The counts know, if they are right.
        let seen = hunk.lens();
        if let Some(counts) = hunk.counts {
            if counts == seen || counts == (seen.0 + hunk.blanks, seen.1 + hunk.blanks) {
                return true;
            }
            if counts == (seen.0 + hunk.blanks + 1, seen.1 + hunk.blanks + 1) {
                return false;
            }
        }
        // A diff that names the file again before each hunk.
        let ours = |line: &str| {
            name_in(line.get(3..).unwrap_or_default()).is_some_and(|name| names(&name, self.file))
        };
        if ours(line) && ours(next) {
            return true;
        }
        // As content it has to stand in the file; where it does not, the refusal says what else it may be.
        let at = self.at + 1;
        if let Some(hunk) = &mut self.hunk {
            hunk.header.get_or_insert(at);
        }
        false
    }

    fn header(&mut self) -> Result<(), PatchError> {
        let line = self.line(self.at);
        let next = self.line(self.at + 1);
        let behind = |line: &'a str| name_in(line.get(3..).unwrap_or_default());
        let (old, new) = match (line.starts_with("---"), next.starts_with("+++")) {
            (true, true) => (behind(line), behind(next)),
            (true, false) => (behind(line), None),
            (false, _) => (None, behind(line)),
        };
        self.at += usize::from(line.starts_with("---") && next.starts_with("+++"));
        if let Some(new) = new.as_ref().filter(|new| is_nothing(new)) {
            let name = old.as_ref().unwrap_or(new).to_string();
            return Err(PatchError::Deletes { name });
        }
        let old = old.filter(|old| !is_nothing(old));
        let ours = |name: &str| names(name, self.file);
        match (old, new) {
            (Some(old), Some(new)) if ours(&new) && !ours(&old) && !is_backup(&old, self.file) => {
                Err(PatchError::Renames { what: format!("{old} to {new}") })
            }
            (_, Some(name)) | (Some(name), None) => {
                self.named(&name);
                Ok(())
            }
            (None, None) => Ok(()),
        }
    }

    fn named(&mut self, name: &str) {
        if !names(name, self.file) && !is_backup(name, self.file) {
            self.others.push(Other { name: name.to_owned(), first: self.hunks.is_empty() && !self.ours });
        } else {
            self.ours = true;
        }
    }

    fn open(&mut self, start: Option<usize>, counts: Option<(usize, usize)>) {
        self.hunk = Some(Hunk { line: self.at + 1, start, counts, ..Hunk::default() });
    }

    fn body(&mut self, kind: Kind, content: &str) -> Result<(), PatchError> {
        if self.hunk.is_none() {
            self.open(None, None);
        }
        let line = self.at + 1;
        let Some(hunk) = &mut self.hunk else { return Ok(()) };
        hunk.take_blanks(usize::MAX);
        if hunk.closed(kind) {
            return Err(PatchError::BehindEnd { line });
        }
        // A lone `\r` ends a line of the file, though not one of the diff.
        let mut rest = content;
        while let Some((len, ending)) = Ending::find(rest.as_bytes()) {
            hunk.body.push(BodyLine { kind, content: rest[..len].to_owned() });
            rest = &rest[len + ending.len()..];
        }
        hunk.body.push(BodyLine { kind, content: rest.to_owned() });
        Ok(())
    }

    /// `\ No newline at end of file`, about the line before.
    fn open_end(&mut self) -> Result<(), PatchError> {
        let Some(hunk) = &mut self.hunk else { return Err(self.bad_line()) };
        match hunk.body.last().map(|last| last.kind) {
            Some(kind) if !hunk.open.contains(&kind) => hunk.open.push(kind),
            Some(_) => {}
            None => return Err(self.bad_line()),
        }
        Ok(())
    }

    /// A line that is none of a hunk's: what `git`, `svn` and agents write between them. In a hunk it may also be a line that lost
    /// its first character, so only what can hardly be one ends the hunk; before the first hunk all else is prose.
    fn word(&mut self, line: &str) -> Result<(), PatchError> {
        const RENAMES: [&str; 5] = ["rename from ", "rename to ", "copy from ", "copy to ", "*** Move to: "];
        const FILES: [&str; 3] = ["*** Update File: ", "*** Add File: ", "Index: "];
        const DIFFS: [&str; 4] = ["diff --git ", "diff -u", "diff -r", "diff -N"];
        let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
        if starts(&RENAMES) {
            return Err(PatchError::Renames { what: line.to_owned() });
        }
        if starts(&["Binary files ", "GIT binary patch"]) {
            return Err(PatchError::Binary);
        }
        if starts(&["old mode ", "new mode "]) {
            return Err(PatchError::Mode);
        }
        if starts(&["deleted file mode ", "*** Delete File: "]) {
            return Err(PatchError::Deletes { name: self.file.to_owned() });
        }
        if let Some(name) = FILES.iter().find_map(|word| line.strip_prefix(word)) {
            self.close()?;
            name_in(name).into_iter().for_each(|name| self.named(&name));
        } else if starts(&DIFFS) {
            self.close()?;
            // The second name is the file; where it begins is certain only behind a prefix.
            let name = line.rsplit_once(" b/").map(|(_, name)| name);
            name.and_then(name_in).into_iter().for_each(|name| self.named(&name));
        } else if line.starts_with("*** End") {
            self.close()?;
        } else if self.hunk.is_some() {
            return Err(self.bad_line());
        }
        Ok(())
    }

    fn bad_line(&self) -> PatchError {
        let found = self.line(self.at).chars().take(60).collect();
        PatchError::BadLine { line: self.at + 1, found }
    }

    /// Ends the hunk that is open.
    fn close(&mut self) -> Result<(), PatchError> {
        let Some(mut hunk) = self.hunk.take() else { return Ok(()) };
        // Blank lines at the end may be context that lost its space, or nothing; only the counts can tell. Context that is
        // left out makes no difference to what is changed.
        let seen = hunk.lens();
        let missing = hunk.counts.and_then(|counts| counts.0.checked_sub(seen.0));
        if let Some(missing) =
            missing.filter(|missing| hunk.counts == Some((seen.0 + missing, seen.1 + missing)))
            && missing <= hunk.blanks
        {
            hunk.take_blanks(missing);
        }
        if hunk.body.is_empty() {
            return Err(PatchError::EmptyHunk { line: hunk.line });
        }
        self.hunks.push(hunk);
        Ok(())
    }
}

fn body_line(line: &str) -> Option<(Kind, &str)> {
    let kinds = [(' ', Kind::Context), ('-', Kind::Removed), ('+', Kind::Added)];
    kinds.into_iter().find_map(|(sign, kind)| line.strip_prefix(sign).map(|content| (kind, content)))
}

/// What a hunk's header, `@@ -12,5 +12,6 @@`, says of one side: where its lines begin, counted from 1, and how many they are.
type Side = Option<(usize, usize)>;

/// The old and the new side.
fn sides(header: &str) -> (Side, Side) {
    let mut words = header.trim_start_matches('@').split_whitespace();
    let mut side = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?.trim_end_matches('@');
        match word.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((word.parse().ok()?, 1)),
        }
    };
    let old = side('-');
    (old, side('+'))
}
