//! Where the output goes: a terminal, which has a width and colours and obeys escape sequences, or a pipe, which has none of that.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write as _};
use std::process::{Command, Stdio};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use hashline_history::{inert_json, shows};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::Failure;

/// The lines that a question, its answer and what is said of it take.
const QUESTION: usize = 4;

/// How a shell ends that does not find the command.
const NO_COMMAND: i32 = 127;

/// How wide a terminal is that does not say.
const USUAL_WIDTH: usize = 80;

/// Where the output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Its columns, if it is a terminal.
    pub width: Option<usize>,
    /// Its lines, if it is a terminal that says so.
    pub height: Option<usize>,
    /// Whether it has colours.
    pub colour: bool,
}

/// What a text is, as far as its colour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// What stands above others.
    Heading,
    /// What is read last.
    Faint,
    /// A line that came in.
    Added,
    /// A line that went out.
    Removed,
    /// Where something is.
    Place,
    /// What nobody has decided yet.
    Pending,
    /// What the person took.
    Accepted,
    /// What the person did not take.
    Rejected,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Ink::Heading => Style::new().bold(),
            Ink::Faint => Style::new().dimmed(),
            Ink::Added | Ink::Accepted => AnsiColor::Green.on_default(),
            Ink::Removed | Ink::Rejected => AnsiColor::Red.on_default(),
            Ink::Place => AnsiColor::Cyan.on_default(),
            Ink::Pending => AnsiColor::Yellow.on_default(),
        }
    }
}

impl Screen {
    /// The screen behind standard output.
    pub fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        let (width, height) = match stdout.is_terminal() {
            true => (Some(width_of(&stdout)), height_of(&stdout)),
            false => (None, None),
        };
        Self { width, height, colour: AutoStream::choice(&stdout) != ColorChoice::Never }
    }

    /// A text in its colour.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = ink.style();
        format!("{style}{text}{style:#}")
    }

    /// Whether what is printed may be obeyed, and not only read.
    pub fn obeys(&self) -> bool {
        self.colour || self.width.is_some()
    }

    /// Prints. Whoever reads may have seen enough: that is no failure.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::broken(format!("the output could not be written: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Sentences, broken between words where the screen ends.
    pub fn sentences(&self, text: &str) -> String {
        self.width.map_or_else(|| text.to_owned(), |width| wrapped(text, width))
    }

    /// As much of a text as leaves room for a question below it, and how many lines are left.
    pub fn beginning<'a>(&self, text: &'a str) -> (&'a str, usize) {
        let Some(room) = self.height.map(|height| height.saturating_sub(QUESTION)) else { return (text, 0) };
        let end = text.match_indices('\n').nth(room.saturating_sub(1)).map_or(text.len(), |(at, _)| at + 1);
        (&text[..end], text[end..].lines().count())
    }

    /// Shows a text in the person's pager. False if there is none, or nobody to see it.
    pub fn page(&self, text: &str) -> bool {
        if self.height.is_none() {
            return false;
        }
        let named = std::env::var_os("PAGER").filter(|pager| !pager.is_empty());
        let mut pager = Command::new("sh");
        // As git does: a pager may have options.
        pager.arg("-c").arg(named.unwrap_or_else(|| "less".into())).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            pager.env("LESS", "RX");
        }
        let Ok(mut child) = pager.spawn() else { return false };
        if let Some(mut stdin) = child.stdin.take() {
            // Whoever has seen enough closes it.
            let _ = stdin.write_all(text.as_bytes());
        }
        child.wait().is_ok_and(|status| status.code() != Some(NO_COMMAND))
    }

    /// Prints a value as JSON.
    pub fn print_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(value).map_err(Failure::broken)?;
        self.print(&(inert_json(&json) + "\n"))
    }
}

/// Says something to the person, beside the output.
pub fn tell(words: &str) {
    let stderr = std::io::stderr();
    // Errors name files, and who knows what those are called.
    let words = written_out(words, |letter| letter != '\n' && is_command(letter));
    let width = stderr.is_terminal().then(|| width_of(&stderr));
    let words = width.map_or_else(|| words.clone(), |width| wrapped(&words, width));
    // Nobody may be listening.
    let _ = writeln!(stderr.lock(), "{words}");
}

#[cfg(unix)]
fn width_of(stream: impl std::os::fd::AsFd) -> usize {
    terminal_size::terminal_size_of(stream).map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
}

#[cfg(unix)]
fn height_of(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let (_, height) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(height.0)).filter(|height| *height > 2 * QUESTION)
}

#[cfg(windows)]
fn height_of(stream: impl std::os::windows::io::AsHandle) -> Option<usize> {
    let (_, height) = terminal_size::terminal_size_of(stream)?;
    Some(usize::from(height.0)).filter(|height| *height > 2 * QUESTION)
}

#[cfg(windows)]
fn width_of(stream: impl std::os::windows::io::AsHandle) -> usize {
    terminal_size::terminal_size_of(stream).map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
}

/// A text whose lines break between words. Lines that begin with a blank belong to a table and stay as they are.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        if line.starts_with(' ') {
            out.push_str(line);
            continue;
        }
        let mut taken = 0;
        for word in line.split(' ') {
            let room = columns(word) + usize::from(taken > 0);
            if taken > 0 && taken + room > width {
                out.push('\n');
                taken = 0;
            } else if taken > 0 {
                out.push(' ');
                taken += 1;
            }
            out.push_str(word);
            taken += columns(word);
        }
    }
    out
}

/// Whether a terminal may obey a character instead of showing it, or show what stands around it in another order.
fn is_command(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text in one line, all of which shows: names, whatever agents wrote.
pub fn inert(text: &str) -> String {
    written_out(text, |letter| !shows(letter))
}

/// A line of a file, which may have tabs, and letters that are not seen.
pub fn inert_line(text: &str) -> String {
    written_out(text, |letter| letter != '\t' && is_command(letter))
}

fn written_out(text: &str, out: impl Fn(char) -> bool) -> String {
    if !text.contains(&out) {
        return text.to_owned();
    }
    let mut inert = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\n' if out(letter) => inert.push_str("\\n"),
            '\r' if out(letter) => inert.push_str("\\r"),
            '\t' if out(letter) => inert.push_str("\\t"),
            letter if out(letter) && letter.is_ascii() => {
                let _ = write!(inert, "\\x{:02x}", u32::from(letter));
            }
            letter if out(letter) => {
                let _ = write!(inert, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => inert.push(letter),
        }
    }
    inert
}

/// How many columns a text takes.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// A text in a column: with blanks behind it.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The end of a path, which tells it from others, if all of it has no room.
pub fn end_of(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut left = room.saturating_sub(1);
    let mut start = text.len();
    for (at, letter) in text.char_indices().rev() {
        let width = letter.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        start = at;
    }
    let end = &text[start..];
    // Whole names are easier to read than the end of one.
    let names = end.find('/').map_or(end, |at| &end[at..]);
    format!("…{names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        for (text, expected) in [
            ("src/a b.rs", "src/a b.rs"),
            ("naïve 😀 日本", "naïve 😀 日本"),
            ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
            ("\u{7f}\0", "\\x7f\\x00"),
            ("a\u{200b}\u{e0041}", "a\\u{200b}\\u{e0041}"),
        ] {
            assert_eq!(inert(text), expected, "{text:?}");
        }
        assert_eq!(inert_line("\tif x {\u{8}\u{ad}"), "\tif x {\\x08\u{ad}");
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!(padded("日本", 6), "日本  ");
        for (text, room, expected) in [
            ("src/a.rs", 8, "src/a.rs"),
            ("src/a.rs", 7, "…/a.rs"),
            ("src/abc.rs", 6, "…bc.rs"),
            ("日本語", 5, "…本語"),
            ("日本語", 4, "…語"),
            ("abc", 1, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(end_of(text, room), expected, "{text} {room}");
        }
    }

    #[test]
    fn sentences_break_between_words() {
        for (text, expected) in [
            ("a word and another", "a word\nand\nanother"),
            ("anotherword", "anotherword"),
            ("to:\n  a table of words", "to:\n  a table of words"),
            ("one two", "one two"),
        ] {
            assert_eq!(wrapped(text, 7), expected);
        }
    }

    #[test]
    fn a_long_text_leaves_room_for_the_question() {
        let screen = Screen { height: Some(10), ..Screen::default() };
        let text: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let (shown, left) = screen.beginning(&text);
        assert_eq!((shown.lines().count(), left), (6, 14));
        assert_eq!(screen.beginning("one\ntwo\n"), ("one\ntwo\n", 0));
        assert_eq!(Screen::default().beginning(&text), (text.as_str(), 0));
        assert!(!Screen::default().page("nobody sees it"));
    }

    #[test]
    fn colours_go_to_whoever_wants_them() {
        let plain = Screen::default();
        assert_eq!(plain.paint(Ink::Added, "+a"), "+a");
        assert!(!plain.obeys());
        let colourful = Screen { width: Some(80), height: None, colour: true };
        assert_eq!(colourful.paint(Ink::Added, "+a"), "\x1b[32m+a\x1b[0m");
        assert_eq!(colourful.paint(Ink::Added, ""), "");
    }
}
