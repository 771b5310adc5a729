//! Reads a [`Script`] from TOML, and reports mistakes with their place and what would be right.

use super::day::day_rates;
use super::shapes::SCRIPT_TABLE_SHAPE;
use super::steps::{self, LineSettings};
use super::values::report_name;
use super::{Script, TimeLaw, template};
use crate::notation::mistakes::{ScriptMistake, SyntaxMistake};
use crate::notation::shape::key_names;
use crate::notation::table::{KeyDescription, KeyedTable, PlacedText, document, string};
use crate::time::Span;
use std::collections::BTreeMap;

/// Time limit of a line in a script without `timeout`.
pub const DEFAULT_TIMEOUT: Span = Span::from_secs(300);

const NAME: KeyDescription = KeyDescription { key: "name", value: "a string", example: "name = \"typical user\"" };
const LOGIN: KeyDescription = KeyDescription { key: "login", value: "a command", example: "login = \"sh\"" };
const LOGOUT: KeyDescription = KeyDescription { key: "logout", value: "a line", example: "logout = \"exit\"" };
const PASSES: KeyDescription = KeyDescription { key: "passes", value: "a whole number", example: "passes = 2" };
const TYPING: KeyDescription = KeyDescription { key: "typing", value: "a rate", example: "typing = \"12 chars/s\"" };
const NEEDS: KeyDescription = KeyDescription { key: "needs", value: "a list of programs", example: "needs = [\"cc\"]" };
const FILES: KeyDescription =
    KeyDescription { key: "files", value: "a table of files", example: "[files] \"prime.c\" = \"…\"" };
const FILE: KeyDescription =
    KeyDescription { key: "files", value: "each file's text as a string", example: "\"prime.c\" = \"…\"" };
const ENV: KeyDescription = KeyDescription { key: "env", value: "a table of variables", example: "[env] LANG = \"C\"" };
const VARIABLE: KeyDescription =
    KeyDescription { key: "env", value: "each variable's value as a string", example: "LANG = \"C\"" };
const BESIDE: KeyDescription =
    KeyDescription { key: "beside", value: "a table of commands", example: "[beside] HOST = \"server --port 0\"" };
const PROGRAM: KeyDescription =
    KeyDescription { key: "beside", value: "each command as a string", example: "HOST = \"server --port 0\"" };
const WORDS: KeyDescription =
    KeyDescription { key: "words", value: "a table of lists", example: "[words] city = [\"Paris\", \"Rome\"]" };
const WORD: KeyDescription = KeyDescription { key: "words", value: "lists of strings", example: "city = [\"Paris\", \"Rome\"]" };

/// Reads a script from TOML text.
///
/// # Errors
/// The first mistake, with its line and column in `text`.
pub fn parse(text: &str) -> Result<Script, ScriptMistake> {
    read(text).map_err(|mistake| mistake.in_text(text))
}

fn read(text: &str) -> Result<Script, SyntaxMistake> {
    let document = document(text)?;
    let script = KeyedTable::new(text, &document, 0);
    let keys = key_names(SCRIPT_TABLE_SHAPE.keys);
    script.only(&keys, &keys, "a script")?;
    let words = words(&script)?;
    let settings = LineSettings::read(&script)?;
    Ok(Script {
        name: script.string(NAME)?.map_or(Ok("script".into()), |name| report_name(&name))?,
        login: script.string(LOGIN)?.map_or(Ok("sh".into()), |login| command(&login, "login"))?,
        logout: script.string(LOGOUT)?.map_or(Ok("exit".into()), |logout| command(&logout, "logout"))?,
        passes: script.whole(PASSES, 1..1 << 32)?.unwrap_or(1) as u32,
        think: settings.think.clone().unwrap_or(TimeLaw::None),
        typing_chars_per_second: script.string(TYPING)?.map(|rate| typing(&rate)).transpose()?,
        needs: needs(&script)?,
        files: files(&script)?,
        env: env(&script)?,
        beside: beside(&script)?,
        arrivals: day_rates(&script)?,
        timeout: settings.timeout.unwrap_or(DEFAULT_TIMEOUT),
        until: settings.sign.of_script(&script)?,
        steps: steps::read(&script, &settings, &words)?,
        words,
    })
}

/// Reads a command or a line without placeholders.
fn command(line: &PlacedText<'_>, key: &str) -> Result<String, SyntaxMistake> {
    match command_mistake(line.value, key) {
        None => Ok(line.value.into()),
        Some((None, message)) => Err(line.wrong_whole(message)),
        Some((Some(at), message)) => Err(line.wrong(at, message)),
    }
}

/// Checks a command that logs users in, as `login` of a script has it.
///
/// # Errors
/// The mistake, and what would be right.
pub fn check_login(command: &str) -> Result<(), SyntaxMistake> {
    command_mistake(command, "login").map_or(Ok(()), |(at, message)| Err(SyntaxMistake::new(at.unwrap_or(0), message)))
}

/// The mistake in `text` as the command or line of `key`, with its offset in the text unless it is the whole.
fn command_mistake(text: &str, key: &str) -> Option<(Option<usize>, String)> {
    if text.trim().is_empty() {
        return Some((None, format!("`{key}` is empty: leave it out, or write a command")));
    }
    if let Some(at) = text.find(char::is_control) {
        return Some((Some(at), format!("`{key}` is one line without control characters")));
    }
    let (at, placeholder) = template::first_placeholder(text)?;
    Some((Some(at), format!("{placeholder} is filled in only in the lines that users type, not in `{key}`: write it without")))
}

/// Reads a typing rate, such as `12 chars/s`, as characters a second.
fn typing(rate: &PlacedText<'_>) -> Result<f64, SyntaxMistake> {
    let number = rate.value.trim().strip_suffix("chars/s").map(str::trim_end).unwrap_or("");
    let read = number.parse::<f64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
    let Some(read) = read else {
        return Err(rate.wrong_whole(format!("{:?} is not a typing rate: write it as in typing = \"12 chars/s\"", rate.value)));
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
        refuse_stray_key(&table, path, at, "files")?;
        if value.get_ref().is_table() {
            let message = format!("`{path}` is cut at a dot: put the whole path in quotes, as in \"{path}.c\" = \"…\"");
            return Err(SyntaxMistake::new(at, message));
        }
        let content = string(table.text, value).ok_or_else(|| FILE.wrong(value))?;
        check_path(path, at)?;
        let clash = |other: &String| is_within(path, other) || is_within(other, path);
        if let Some(other) = files.keys().find(|other| clash(other)) {
            let message =
                format!("{path:?} and {other:?} cannot both be: one is a file where the other needs a directory; rename one");
            return Err(SyntaxMistake::new(at, message));
        }
        files.insert(path.into(), content.value.into());
    }
    Ok(files)
}

fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|inner| inner.starts_with('/'))
}

/// Refuses a path that is not a plain relative path inside a home.
fn check_path(path: &str, at: usize) -> Result<(), SyntaxMistake> {
    let right = "write it relative to the user's home, as in \"src/prime.c\"";
    if path.starts_with('/') || path.starts_with('~') {
        return Err(SyntaxMistake::new(at, format!("{path:?} is not inside the user's home: {right}")));
    }
    if path.contains(char::is_control) || path.len() > 1024 {
        return Err(SyntaxMistake::new(at, format!("{path:?} is not a path: {right}")));
    }
    match path.split('/').find(|part| ["", ".", ".."].contains(part) || part.len() > 255) {
        Some("..") => Err(SyntaxMistake::new(at, format!("{path:?} leaves the user's home: {right}"))),
        Some(_) => Err(SyntaxMistake::new(at, format!("{path:?} has an empty, `.` or overlong part: {right}"))),
        None => Ok(()),
    }
}

/// Refuses a key of the script under the heading of another table, where it would mean something else.
fn refuse_stray_key(table: &KeyedTable<'_>, key: &str, at: usize, heading: &str) -> Result<(), SyntaxMistake> {
    if SCRIPT_TABLE_SHAPE.keys.iter().any(|shape| shape.key == key) && table.text[at..].starts_with(key) {
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
        refuse_stray_key(&table, name, at, "env")?;
        check_variable_name(name, at)?;
        let content = string(table.text, value).ok_or_else(|| VARIABLE.wrong(value))?;
        if let Some(at) = content.value.find('\0') {
            return Err(content.wrong(at, "a variable's value cannot hold a NUL character: leave it out"));
        }
        env.insert(name.into(), content.value.into());
    }
    Ok(env)
}

/// Refuses a name that no variable can have.
fn check_variable_name(name: &str, at: usize) -> Result<(), SyntaxMistake> {
    if !template::is_name(name) || name.contains('-') {
        let message = format!("{name:?} cannot name a variable: use letters, digits and _, as in LANG = \"C\"");
        return Err(SyntaxMistake::new(at, message));
    }
    Ok(())
}

/// Reads the commands that run beside the users, by the variables that hold their first line of output.
fn beside(script: &KeyedTable<'_>) -> Result<BTreeMap<String, String>, SyntaxMistake> {
    let Some(table) = script.table(BESIDE)? else { return Ok(BTreeMap::new()) };
    let mut beside = BTreeMap::new();
    for (key, value) in table.in_order() {
        let (name, at) = (key.get_ref().as_ref(), key.span().start);
        refuse_stray_key(&table, name, at, "beside")?;
        check_variable_name(name, at)?;
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
        refuse_stray_key(&table, name, at, "words")?;
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
