//! Makes drafts of a script's lines from the entries of a session, so that they can be typed again.
//!
//! A command that was continued over several lines becomes one draft. A program that read its input up to end-of-file gets the
//! input from a here-document, because a script types lines and no keys. A program with a prompt gets its own quit command.

use super::entry::{EnteredText, Entry, PromptKind};
use super::prompt::is_shell_like;
use super::screen_keys::KeysPart;

/// A draft of one line of the script.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub kind: DraftKind,
    /// Index of the first entry that the draft was made from.
    pub first: usize,
    /// Index of the last entry that the draft was made from.
    pub last: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DraftKind {
    Text(String),
    Secret,
    /// The end-of-file key, for a program whose quit command is not known.
    EndOfFile,
    /// Keys to the program that fills the screen.
    Keys(Vec<KeysPart>),
}

/// Quit commands of programs with a prompt.
const QUITS: [(&str, &str); 14] = [
    ("python", "exit()"),
    ("ipython", "exit()"),
    ("sqlite3", ".quit"),
    ("bc", "quit"),
    ("gdb", "quit"),
    ("psql", "\\q"),
    ("node", ".exit"),
    ("ftp", "bye"),
    ("sftp", "bye"),
    ("sh", "exit"),
    ("bash", "exit"),
    ("ssh", "exit"),
    ("su", "exit"),
    ("mysql", "exit"),
];

/// The line that ends the program that `command` starts; `None` if it is not known.
pub(super) fn quit_word(command: &str) -> Option<&'static str> {
    let program = command.split_whitespace().next()?.rsplit('/').next()?;
    let is_it = |name: &str| {
        program.strip_prefix(name).is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    };
    QUITS.iter().find(|(name, _)| is_it(name)).map(|(_, quit)| *quit)
}

/// Makes the drafts of all entries. `shell` returns whether the log-in shell asked for an entry.
pub(super) fn drafts_of(entries: &[Entry], shell: &dyn Fn(&Entry) -> bool) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let kind = match &entry.entered {
            EnteredText::Text(text) if text.is_empty() && shell(entry) => continue,
            EnteredText::Text(text) if entry.prompt_kind == PromptKind::Continuation => match drafts.last_mut() {
                Some(Draft { kind: DraftKind::Text(whole), last, .. }) => {
                    whole.push('\n');
                    whole.push_str(text);
                    *last = index;
                    continue;
                }
                _ => DraftKind::Text(text.clone()),
            },
            EnteredText::Text(text) => DraftKind::Text(text.clone()),
            EnteredText::Secret => DraftKind::Secret,
            EnteredText::Keys(parts) => DraftKind::Keys(parts.clone()),
            EnteredText::EndOfFile => match end_of_file(&mut drafts, entries, index, shell) {
                Some(kind) => kind,
                None => continue,
            },
        };
        drafts.push(Draft { kind, first: index, last: index });
    }
    drafts
}

/// Makes a draft of an end-of-file key. `None` if the command and its input before became a here-document.
fn end_of_file(drafts: &mut Vec<Draft>, entries: &[Entry], index: usize, shell: &dyn Fn(&Entry) -> bool) -> Option<DraftKind> {
    let begun = drafts.iter().rposition(|draft| shell(&entries[draft.first]));
    let command = begun.and_then(|begun| match &drafts[begun].kind {
        DraftKind::Text(text) => Some(text.clone()),
        _ => None,
    });
    let (Some(begun), Some(command)) = (begun, command) else { return Some(DraftKind::EndOfFile) };
    let silent =
        entries[index].prompt.is_empty() && drafts[begun + 1..].iter().all(|draft| entries[draft.first].prompt.is_empty());
    let simple = !command.contains(['|', ';', '&', '<', '\n']);
    let input: Option<Vec<&str>> = drafts[begun + 1..]
        .iter()
        .map(|draft| if let DraftKind::Text(text) = &draft.kind { Some(text.as_str()) } else { None })
        .collect();
    if let (true, true, Some(input)) = (silent, simple, input) {
        let body: String = input.iter().map(|line| format!("{line}\n")).collect();
        let whole = format!("{command} <<'END_OF_INPUT'\n{body}END_OF_INPUT");
        drafts.truncate(begun + 1);
        drafts[begun].kind = DraftKind::Text(whole);
        drafts[begun].last = index;
        return None;
    }
    Some(quit_word(&command).map_or(DraftKind::EndOfFile, |quit| DraftKind::Text(quit.into())))
}

/// Whether an entry of a session without marks was typed at the shell: its prompt ends with the same character as the first
/// prompt.
pub(super) fn is_at_unmarked_shell(entries: &[Entry], entry: &Entry) -> bool {
    let end = |prompt: &str| prompt.trim_end().chars().next_back();
    let first = entries.iter().find(|entry| !entry.prompt.trim().is_empty());
    let first = first.map_or("", |entry| entry.prompt.as_str());
    (is_shell_like(first) || end(first) == Some('>')) && end(&entry.prompt) == end(first) && !entry.prompt.starts_with(">>>")
}
