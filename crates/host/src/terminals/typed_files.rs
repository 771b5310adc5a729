//! Lines that prepare a session elsewhere (`su -`, `ssh`): they keep it out of the account's history, and lay the script's files.
//!
//! Files cannot be written from outside there, so they are typed. A line editor would complete tabs and expand `!`, and a terminal
//! acts on control characters. So each file is typed as `printf` with octal escapes, in printable ASCII and in lines that every
//! terminal holds. Then the session computes the POSIX checksum of the file, which must be that of the script's text.

use crate::terminals::announcement::announcing_line;
use crate::terminals::place::ASK_PLACE;
use loadgo_core::ready::Nonce;
use loadgo_core::script::Script;
use loadgo_core::system::UserId;
use std::path::Path;

/// Commands after which a shell writes no history file. Where the variable is read-only, the shell remembers nothing.
pub(crate) const HISTORY_OFF: &str = r#"unset HISTFILE 2>/dev/null; [ -z "${HISTFILE+x}" ] || set +o history"#;
/// Text that a line prints after success. The line spells it in two parts, so that its echo is no success.
const LAID: &[u8] = b"loadgo-laid:";
const PRINT_LAID: &str = r"printf 'loadgo-%s:\n' laid";
/// Most bytes of a file's text in one line, with escapes. A terminal holds 4,095 bytes of a line, with the file's name.
const PIECE_BYTES: usize = 2000;
/// Most characters of a run's id in the name of a session's directory, whose name has at most 255 bytes.
const MOST_NAME_CHARS: usize = 100;

/// The lines that prepare each session of a run.
#[derive(Debug)]
pub(crate) struct Preparations {
    run_id: String,
    steps: Vec<Step>,
}

/// One line of preparation. A blank before each line keeps it out of the history of many shells.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Turns the history off.
    History,
    /// Makes the session's own directory, which a trap of the shell removes, and enters it.
    Directory,
    /// Types a part of a file, or makes its directory.
    Typed(String),
    /// Compares the checksum of the file of this name.
    Check { name: String, line: String },
    /// Announces the session in this directory of the other host, and waits until it is followed there.
    Announce(String),
    /// Asks the session's shell where it is.
    Place,
}

impl Preparations {
    /// No lines, for sessions that are prepared from outside.
    pub(crate) fn none() -> Preparations {
        Preparations { run_id: String::new(), steps: Vec::new() }
    }

    /// The lines for sessions of `script` elsewhere. Where a pattern or silence ends the log-in and there are no files, the
    /// session may be no shell, and nothing is typed. `asks_place`: whether the session's shell may be on another host.
    pub(crate) fn elsewhere(script: &Script, run_id: &str, has_marks: bool, asks_place: bool) -> Preparations {
        let mut steps = Vec::new();
        if has_marks || !script.files.is_empty() {
            steps.push(Step::History);
        }
        if !script.files.is_empty() {
            steps.push(Step::Directory);
        }
        for (name, content) in &script.files {
            steps.extend(file_steps(name, content.as_bytes()));
        }
        // Last, because the session's end of the log-in needs the answer.
        if has_marks && asks_place {
            steps.push(Step::Place);
        }
        Preparations { run_id: typed_name(run_id), steps }
    }

    /// These lines, with a directory of the session's own also where there are no files.
    pub(crate) fn with_directory(mut self) -> Preparations {
        if !self.has_directory() {
            let after_history = usize::from(self.steps.first() == Some(&Step::History));
            self.steps.insert(after_history, Step::Directory);
        }
        self
    }

    /// These lines, with the session's announcement in `directory` as the last. So no other line is part of what is measured.
    ///
    /// It replaces the question for the place: the agent follows the session, also where its host is this one.
    pub(crate) fn with_announcement(mut self, directory: &str) -> Preparations {
        if let Some(place) = self.steps.iter_mut().find(|step| **step == Step::Place) {
            *place = Step::Announce(directory.into());
        }
        self
    }

    /// Whether the session makes a directory of its own.
    pub(crate) fn has_directory(&self) -> bool {
        self.steps.contains(&Step::Directory)
    }

    /// Number of lines.
    pub(crate) fn count(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Number of lines that follow the line that sets a session's prompt, which has turned the history off already.
    pub(crate) fn count_after_prompt_line(&self) -> u32 {
        self.steps.iter().filter(|&step| *step != Step::History).count() as u32
    }

    /// The line of which `left` lines, itself included, remain.
    pub(crate) fn line(&self, left: u32, user: UserId, nonce: &Nonce) -> String {
        match &self.steps[self.steps.len() - left as usize] {
            Step::History => format!(" {HISTORY_OFF}\n"),
            Step::Directory => self.directory_line(user, nonce),
            Step::Typed(line) | Step::Check { line, .. } => line.clone(),
            Step::Announce(directory) => announcing_line(directory, user),
            Step::Place => ASK_PLACE.into(),
        }
    }

    /// Half of the nonce makes the directory's name unique: runs in several folders may have one name.
    fn directory_line(&self, user: UserId, nonce: &Nonce) -> String {
        let half = String::from_utf8_lossy(&nonce[..nonce.len() / 2]);
        let place = format!("\"${{TMPDIR:-/tmp}}/loadgo-{}-{user}-{half}\"", self.run_id);
        // The session removes its directory itself, also when it is hung up: nobody else may reach it. `rm` runs in the background,
        // since dash starts no foreground command on a terminal that is gone. bash would let a trap of the hang-up wait for the
        // command that it runs; without that trap it ends at once, by way of the first.
        let farewell = format!("trap 'cd /; rm -rf {place} & wait $!' EXIT; [ -n \"$BASH_VERSION\" ] || trap 'exit 129' HUP");
        format!(" mkdir -m 700 {place} && cd {place} && {{ {farewell}; }} && {PRINT_LAID}\n")
    }

    /// Returns what has gone wrong with the line after which `left` lines remain, if its output `screen` does not show success.
    pub(crate) fn failure(&self, left: u32, screen: &[u8]) -> Option<String> {
        let before = self.steps.len().checked_sub(left as usize + 1)?;
        let failure = match &self.steps[before] {
            Step::History | Step::Typed(_) | Step::Announce(_) | Step::Place => return None,
            Step::Directory => "the session could not make a directory of its own".to_string(),
            Step::Check { name, .. } => format!("the file {name:?} in the session is not that of the script"),
        };
        let is_laid = screen.windows(LAID.len()).any(|bytes| bytes == LAID);
        (!is_laid).then_some(failure)
    }
}

/// A run's id as a part of a file's name that means the same in every shell, with and without quotes.
fn typed_name(run_id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    run_id.chars().take(MOST_NAME_CHARS).map(|c| if is_plain(c) { c } else { '-' }).collect()
}

/// The lines that lay one file and check it.
fn file_steps(name: &str, content: &[u8]) -> Vec<Step> {
    let file = format!("./{name}");
    let path = shell_word(&file);
    let mut steps = Vec::new();
    if let Some(parent) = Path::new(name).parent().filter(|parent| !parent.as_os_str().is_empty()) {
        steps.push(Step::Typed(format!(" mkdir -p {}\n", shell_word(&format!("./{}", parent.display())))));
    }
    steps.push(Step::Typed(format!(" : >{path}\n")));
    steps.extend(pieces(content).iter().map(|piece| Step::Typed(format!(" printf '{piece}' >>{path}\n"))));
    let sum = checksum(content);
    let line = format!(" [ \"$(cksum <{path})\" = '{sum} {}' ] && {PRINT_LAID} || cksum <{path}\n", content.len());
    steps.push(Step::Check { name: name.into(), line });
    steps
}

/// `text` as one word of a shell of the Bourne family, in printable ASCII.
fn shell_word(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'\'' && byte != b'!') {
        return format!("'{text}'");
    }
    let escaped: String = text.bytes().map(escaped).collect();
    format!("\"$(printf '{escaped}')\"")
}

/// `content` as format strings of `printf`, each of at most [`PIECE_BYTES`].
fn pieces(content: &[u8]) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for &byte in content {
        // A minus sign at the beginning would make the format an option.
        let escape = if piece.is_empty() && byte == b'-' { octal(byte) } else { escaped(byte) };
        if piece.len() + escape.len() > PIECE_BYTES {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push_str(&escape);
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    pieces
}

/// A byte as it stands in a format string of `printf` between single quotes.
fn escaped(byte: u8) -> String {
    match byte {
        b'\n' => r"\n".into(),
        b'\t' => r"\t".into(),
        b'\\' => r"\\".into(),
        b'%' => "%%".into(),
        b'\'' | b'!' => octal(byte),
        b' '..=b'~' => char::from(byte).into(),
        _ => octal(byte),
    }
}

fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

/// The checksum that the POSIX command `cksum` prints: the CRC of ISO/IEC 8802-3 over the bytes and their number.
fn checksum(content: &[u8]) -> u32 {
    let mut length = content.len();
    let length_bytes = std::iter::from_fn(|| {
        let byte = length as u8;
        (length > 0).then(|| {
            length >>= 8;
            byte
        })
    });
    let shifted = |crc: u32, _| if crc >> 31 == 1 { (crc << 1) ^ 0x04c1_1db7 } else { crc << 1 };
    let with_byte = |crc: u32, byte: u8| (0..8).fold(crc ^ (u32::from(byte) << 24), shifted);
    !content.iter().copied().chain(length_bytes).fold(0, with_byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadgo_core::script::parse;
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// Names and texts that a terminal, a line editor or a shell could change.
    fn hostile_files() -> Vec<(&'static str, Vec<u8>)> {
        vec![
            ("Makefile", b"all:\n\techo hi\n".to_vec()),
            ("every byte", (0..=255).collect()),
            ("src/it's 100% !old \"$HOME\" `id`.c", b"'\\n' %s %% $HOME `id` !! \\\\ ~ \x03\x04\x16\x1b[200~".to_vec()),
            ("-n", b"-e minus\n".to_vec()),
            ("empty", Vec::new()),
            ("\u{e4}\u{f6}/\u{65e5}\u{672c}", "no newline at the end, \u{65e5}\u{672c}".as_bytes().to_vec()),
            ("long", b"\t-%".repeat(5000)),
        ]
    }

    fn run_in(shell: &str, folder: &Path, lines: &[String]) -> String {
        let mut child = Command::new(shell)
            .current_dir(folder)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the shell is there");
        child.stdin.take().expect("a pipe").write_all(lines.concat().as_bytes()).expect("read");
        String::from_utf8_lossy(&child.wait_with_output().expect("ended").stdout).into_owned()
    }

    fn shell_exists(name: &str) -> bool {
        name != "zsh" || Path::new("/bin/zsh").exists()
    }

    #[test]
    fn every_shell_makes_of_the_typed_lines_the_same_bytes_and_the_same_checksum() {
        for shell in ["sh", "bash", "zsh"].into_iter().filter(|shell| shell_exists(shell)) {
            let folder = tempfile::tempdir().expect("a folder");
            for (name, content) in hostile_files() {
                let steps = file_steps(name, &content);
                let line_of = |step: &Step| match step {
                    Step::Typed(line) | Step::Check { line, .. } => line.clone(),
                    other => panic!("{other:?}"),
                };
                let lines: Vec<String> = steps.iter().map(line_of).collect();
                assert!(lines.iter().all(|line| line.len() < 4095), "{name}");
                let printable = |line: &String| line.trim_end_matches('\n').bytes().all(|byte| (b' '..=b'~').contains(&byte));
                assert!(lines.iter().all(printable), "{name}");
                let printed = run_in(shell, folder.path(), &lines);
                assert_eq!(fs::read(folder.path().join(name)).expect("laid"), content, "{shell}: {name}");
                assert_eq!(printed.as_bytes(), [LAID, b"\n"].concat(), "{shell}: {name}");
            }
        }
    }

    #[test]
    fn the_checksum_is_that_of_cksum() {
        let folder = tempfile::tempdir().expect("a folder");
        for content in [Vec::new(), b"a".to_vec(), b"\0".repeat(70_000), (0..=255).collect()] {
            let file = folder.path().join("file");
            fs::write(&file, &content).expect("written");
            let printed = Command::new("cksum").stdin(fs::File::open(&file).expect("there")).output().expect("cksum").stdout;
            assert_eq!(String::from_utf8_lossy(&printed).trim_end(), format!("{} {}", checksum(&content), content.len()));
        }
    }

    #[test]
    fn every_run_s_name_makes_a_directory_and_runs_nothing() {
        let script = parse("lines = [\"a\"]\n").expect("a script");
        let names =
            ["plain-1.2", "ann's", "$(touch ran)", "`touch ran`", "a \"b\"; touch ran", "!!", "\u{e4}\n", &"n".repeat(255)];
        for shell in ["sh", "bash", "zsh"].into_iter().filter(|shell| shell_exists(shell)) {
            for name in names {
                let folder = tempfile::tempdir().expect("a folder");
                let lines = Preparations::elsewhere(&script, name, true, false).with_directory();
                let line = lines.line(1, 7, b"0123456789abcdef");
                let into = format!("TMPDIR='{}'\n", folder.path().display());
                let printed = run_in(shell, folder.path(), &[into, line, " pwd; ls \"$TMPDIR\"\n".into()]);
                assert!(printed.starts_with("loadgo-laid:\n"), "{shell}: {name}: {printed}");
                assert_eq!(printed.lines().count(), 3, "one directory and nothing else: {shell}: {name}: {printed}");
                assert_eq!(printed.contains("/loadgo-plain-1.2-7-"), name == "plain-1.2", "{shell}: {printed}");
            }
        }
    }

    #[test]
    fn a_file_that_did_not_arrive_is_named() {
        let script = parse("lines = [\"a\"]\n[files]\nMakefile = \"all:\\n\"\n").expect("a script");
        let lines = Preparations::elsewhere(&script, "r", true, false);
        let failures: Vec<_> = (0..lines.count()).rev().map(|left| lines.failure(left, b"sh: cannot write\r\n$ ")).collect();
        let directory = "the session could not make a directory of its own";
        let file = "the file \"Makefile\" in the session is not that of the script";
        assert_eq!(failures.iter().map(Option::as_deref).collect::<Vec<_>>(), [None, Some(directory), None, None, Some(file)]);
        assert_eq!(lines.failure(0, b"loadgo-laid:\r\n$ "), None);
        assert_eq!(lines.failure(lines.count(), b""), None, "nothing was typed yet");
    }

    #[test]
    fn nothing_is_typed_into_what_may_be_no_shell() {
        let script = parse("lines = [\"a\"]\nuntil = '> $'\n").expect("a script");
        assert_eq!(Preparations::elsewhere(&script, "r", false, true).count(), 0);
        assert_eq!(Preparations::elsewhere(&script, "r", true, false).steps, [Step::History]);
        assert_eq!(Preparations::elsewhere(&script, "r", true, true).steps, [Step::History, Step::Place]);
        let announced = Preparations::elsewhere(&script, "r", true, true).with_announcement("/d");
        assert_eq!(announced.steps, [Step::History, Step::Announce("/d".into())]);
        assert_eq!(Preparations::elsewhere(&script, "r", false, true).with_announcement("/d").count(), 0);
        let in_own_directory = Preparations::elsewhere(&script, "r", true, true).with_directory();
        assert_eq!(in_own_directory.steps, [Step::History, Step::Directory, Step::Place]);
    }
}
