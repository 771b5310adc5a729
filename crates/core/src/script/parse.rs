//! Makes a [`Script`] from TOML; a mistake comes back with its place and what would be right.

use super::steps::{self, LineSettings};
use super::values::titled;
use super::{ReadyRule, Script, TimeLaw, template};
use crate::notation::mistakes::{ScriptMistake, SyntaxMistake};
use crate::notation::table::{KeyDescription, KeyedTable, PlacedText, document, string};
use crate::time::Span;
use std::collections::BTreeMap;

/// The keys of a script.
const KEYS: [&str; 16] = [
    "name", "login", "logout", "passes", "think", "typing", "needs", "timeout", "until", "silence", "status", "files", "env",
    "beside", "words", "lines",
];

/// How long the system may take over a line when nothing else is said.
pub const DEFAULT_TIMEOUT: Span = Span::from_secs(300);

const NAME: KeyDescription = KeyDescription { key: "name", what: "a string", example: "name = \"typical user\"" };
const LOGIN: KeyDescription = KeyDescription { key: "login", what: "a command", example: "login = \"sh\"" };
const LOGOUT: KeyDescription = KeyDescription { key: "logout", what: "a line", example: "logout = \"exit\"" };
const PASSES: KeyDescription = KeyDescription { key: "passes", what: "a whole number", example: "passes = 2" };
const TYPING: KeyDescription = KeyDescription { key: "typing", what: "a rate", example: "typing = \"12 chars/s\"" };
const NEEDS: KeyDescription = KeyDescription { key: "needs", what: "a list of programs", example: "needs = [\"cc\"]" };
const FILES: KeyDescription = KeyDescription { key: "files", what: "a table of files", example: "[files] \"prime.c\" = \"…\"" };
const FILE: KeyDescription =
    KeyDescription { key: "files", what: "each file's text as a string", example: "\"prime.c\" = \"…\"" };
const ENV: KeyDescription = KeyDescription { key: "env", what: "a table of variables", example: "[env] LANG = \"C\"" };
const VARIABLE: KeyDescription =
    KeyDescription { key: "env", what: "each variable's value as a string", example: "LANG = \"C\"" };
const BESIDE: KeyDescription =
    KeyDescription { key: "beside", what: "a table of commands", example: "[beside] HOST = \"server --port 0\"" };
const PROGRAM: KeyDescription =
    KeyDescription { key: "beside", what: "each command as a string", example: "HOST = \"server --port 0\"" };
const WORDS: KeyDescription =
    KeyDescription { key: "words", what: "a table of lists", example: "[words] city = [\"Paris\", \"Rome\"]" };
const WORD: KeyDescription = KeyDescription { key: "words", what: "lists of strings", example: "city = [\"Paris\", \"Rome\"]" };

/// Reads a script from TOML text.
///
/// # Errors
/// The first mistake, with its place in `text`.
pub fn parse(text: &str) -> Result<Script, ScriptMistake> {
    read(text).map_err(|misread| misread.in_text(text))
}

fn read(text: &str) -> Result<Script, SyntaxMistake> {
    let document = document(text)?;
    let script = KeyedTable::new(text, &document, 0);
    script.only(&KEYS, &KEYS, "a script")?;
    let words = words(&script)?;
    let settings = LineSettings::read(&script)?;
    Ok(Script {
        name: script.string(NAME)?.map_or(Ok("script".into()), |name| titled(&name))?,
        login: script.string(LOGIN)?.map_or(Ok("sh".into()), |login| command(&login, "login"))?,
        logout: script.string(LOGOUT)?.map_or(Ok("exit".into()), |logout| command(&logout, "logout"))?,
        passes: script.whole(PASSES, 1..1 << 32)?.unwrap_or(1) as u32,
        think: settings.think.clone().unwrap_or(TimeLaw::None),
        typing_chars_per_second: script.string(TYPING)?.map(|rate| typing(&rate)).transpose()?,
        needs: needs(&script)?,
        files: files(&script)?,
        env: env(&script)?,
        beside: beside(&script)?,
        timeout: settings.timeout.unwrap_or(DEFAULT_TIMEOUT),
        until: settings.until.clone().unwrap_or(ReadyRule::Mark),
        steps: steps::read(&script, &settings, &words)?,
        words,
    })
}

/// A command or line in which nothing is filled in.
fn command(line: &PlacedText<'_>, key: &str) -> Result<String, SyntaxMistake> {
    if line.value.trim().is_empty() {
        return Err(line.wrong_whole(format!("`{key}` is empty: leave it out, or write a command")));
    }
    if let Some(at) = line.value.find(char::is_control) {
        return Err(line.wrong(at, format!("`{key}` is one line without control characters")));
    }
    if let Some((at, placeholder)) = template::placeholder(line.value) {
        let message = format!("{placeholder} is filled in only in the lines that users type, not in `{key}`: write it without");
        return Err(line.wrong(at, message));
    }
    Ok(line.value.into())
}

/// `12 chars/s` as characters a second.
fn typing(rate: &PlacedText<'_>) -> Result<f64, SyntaxMistake> {
    let number = rate.value.trim().strip_suffix("chars/s").map(str::trim_end).unwrap_or("");
    let read = number.parse::<f64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    let Some(read) = read else {
        return Err(rate.wrong_whole(format!("{:?} is no rate: write it as in typing = \"12 chars/s\"", rate.value)));
    };
    if (0.01..=1e6).contains(&read) {
        Ok(read)
    } else {
        Err(rate.wrong_whole("a typing rate lies between 0.01 and 1000000 chars/s; leave `typing` out to send lines at once"))
    }
}

fn needs(script: &KeyedTable<'_>) -> Result<Vec<String>, SyntaxMistake> {
    let mut needs = Vec::new();
    for value in script.list(NEEDS)?.into_iter().flatten() {
        let program = string(script.text, value).ok_or_else(|| NEEDS.wrong(value))?;
        if program.value.is_empty() || program.value.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(program.wrong_whole("a needed program is one name without blanks, as in needs = [\"cc\", \"python3\"]"));
        }
        needs.push(program.value.into());
    }
    Ok(needs)
}

fn files(script: &KeyedTable<'_>) -> Result<BTreeMap<String, String>, SyntaxMistake> {
    let Some(table) = script.table(FILES)? else { return Ok(BTreeMap::new()) };
    let mut files = BTreeMap::<String, String>::new();
    for (key, value) in table.in_order() {
        let (path, at) = (key.get_ref().as_ref(), key.span().start);
        strayed(&table, path, at, "files")?;
        if value.get_ref().is_table() {
            let message = format!("`{path}` is cut at a dot: put the whole path in quotes, as in \"{path}.c\" = \"…\"");
            return Err(SyntaxMistake::new(at, message));
        }
        let content = string(table.text, value).ok_or_else(|| FILE.wrong(value))?;
        path_inside(path).map_err(|message| SyntaxMistake::new(at, message))?;
        let clash = |other: &String| within(path, other) || within(other, path);
        if let Some(other) = files.keys().find(|other| clash(other)) {
            let message =
                format!("{path:?} and {other:?} cannot both be: one is a file where the other needs a directory; rename one");
            return Err(SyntaxMistake::new(at, message));
        }
        files.insert(path.into(), content.value.into());
    }
    Ok(files)
}

fn within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Refuses a path that is not a plain one inside a home.
fn path_inside(path: &str) -> Result<(), String> {
    let right = "write it relative to the user's home, as in \"src/prime.c\"";
    if path.starts_with('/') || path.starts_with('~') {
        return Err(format!("{path:?} is not inside the user's home: {right}"));
    }
    if path.contains(char::is_control) || path.len() > 1024 {
        return Err(format!("{path:?} is no path: {right}"));
    }
    match path.split('/').find(|part| ["", ".", ".."].contains(part) || part.len() > 255) {
        Some("..") => Err(format!("{path:?} leaves the user's home: {right}")),
        Some(_) => Err(format!("{path:?} has an empty, `.` or overlong part: {right}")),
        None => Ok(()),
    }
}

/// Refuses a key of the script that stands under another table's heading, where it would mean something else.
fn strayed(table: &KeyedTable<'_>, key: &str, at: usize, heading: &str) -> Result<(), SyntaxMistake> {
    if KEYS.contains(&key) && table.text[at..].starts_with(key) {
        let message = format!(
            "`{key}` stands under [{heading}] here: move it above the first [table], or put it in quotes if it belongs to [{heading}]"
        );
        return Err(SyntaxMistake::new(at, message));
    }
    Ok(())
}

fn env(script: &KeyedTable<'_>) -> Result<BTreeMap<String, String>, SyntaxMistake> {
    let Some(table) = script.table(ENV)? else { return Ok(BTreeMap::new()) };
    let mut env = BTreeMap::new();
    for (key, value) in table.in_order() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        strayed(&table, name, at, "env")?;
        variable(name, at)?;
        let content = string(table.text, value).ok_or_else(|| VARIABLE.wrong(value))?;
        if let Some(at) = content.value.find('\0') {
            return Err(content.wrong(at, "a variable's value cannot hold a NUL character: leave it out"));
        }
        env.insert(name.into(), content.value.into());
    }
    Ok(env)
}

/// Refuses what cannot name a variable.
fn variable(name: &str, at: usize) -> Result<(), SyntaxMistake> {
    if !template::is_name(name) || name.contains('-') {
        let message = format!("{name:?} cannot name a variable: use letters, digits and _, as in LANG = \"C\"");
        return Err(SyntaxMistake::new(at, message));
    }
    Ok(())
}

/// The programs that run beside the users, by the variables that say what each printed first.
fn beside(script: &KeyedTable<'_>) -> Result<BTreeMap<String, String>, SyntaxMistake> {
    let Some(table) = script.table(BESIDE)? else { return Ok(BTreeMap::new()) };
    let mut beside = BTreeMap::new();
    for (key, value) in table.in_order() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        strayed(&table, name, at, "beside")?;
        variable(name, at)?;
        let content = string(table.text, value).ok_or_else(|| PROGRAM.wrong(value))?;
        beside.insert(name.into(), command(&content, name)?);
    }
    Ok(beside)
}

fn words(script: &KeyedTable<'_>) -> Result<BTreeMap<String, Vec<String>>, SyntaxMistake> {
    let Some(table) = script.table(WORDS)? else { return Ok(BTreeMap::new()) };
    let mut lists = BTreeMap::new();
    for (key, value) in table.in_order() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        strayed(&table, name, at, "words")?;
        if !template::is_name(name) {
            let message =
                format!("{name:?} cannot name a list: use letters, digits, _ and -, as in city = [\"Paris\", \"Rome\"]");
            return Err(SyntaxMistake::new(at, message));
        }
        let list = value.get_ref().as_array().ok_or_else(|| WORD.wrong(value))?;
        if list.is_empty() {
            let message = format!("the list `{name}` is empty: give it at least one word, as in {name} = [\"one\", \"two\"]");
            return Err(SyntaxMistake::new(value.span().start, message));
        }
        let words = list.iter().map(|value| string(table.text, value).ok_or_else(|| WORD.wrong(value)).and_then(word));
        lists.insert(name.into(), words.collect::<Result<_, _>>()?);
    }
    Ok(lists)
}

fn word(word: PlacedText<'_>) -> Result<String, SyntaxMistake> {
    match word.value.find(|c: char| c.is_control() && c != '\t') {
        Some(at) => Err(word.wrong(at, "a word is typed as it stands: it can hold no newline or control character")),
        None => Ok(word.value.into()),
    }
}
