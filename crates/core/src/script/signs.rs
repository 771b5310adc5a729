//! The sign that the system is ready, as the tables of a script give it: a mark, a pattern, silence, or the screen.

use super::values::{positive_span, until};
use super::{ReadyRule, ScreenRule, TypedForm};
use crate::notation::mistakes::SyntaxMistake;
use crate::notation::table::{KeyDescription, KeyedTable, whole};
use crate::time::Span;
use toml::de::DeValue;

/// Time without a change after which a screen has settled, where a script names none. Keys at 12 chars/s come 83 ms apart.
pub const DEFAULT_SETTLE: Span = Span::from_millis(50);

/// The value of `until` that stands for the screen.
pub(super) const SCREEN_WORD: &str = "screen";
/// Rows of each session's terminal.
pub const SCREEN_ROWS: u16 = 24;
/// Columns of each session's terminal.
pub const SCREEN_COLUMNS: u16 = 80;

const UNTIL: KeyDescription = KeyDescription { key: "until", value: "a pattern in a string", example: "until = '\\? $'" };
const SILENCE: KeyDescription = KeyDescription { key: "silence", value: "a time in a string", example: "silence = \"500ms\"" };
const SETTLE: KeyDescription = KeyDescription { key: "settle", value: "a time in a string", example: "settle = \"100ms\"" };
const SHOWS: KeyDescription = KeyDescription { key: "shows", value: "a pattern in a string", example: "shows = 'written'" };
const CURSOR: KeyDescription = KeyDescription { key: "cursor", value: "a row and a column", example: "cursor = [24, 1]" };

/// The sign of one line, of a group, or of the whole script, as far as a table gives it.
#[derive(Clone, Default)]
pub(super) struct ReadySign {
    rule: Option<GivenRule>,
    settle: Option<Span>,
    shows: Option<String>,
    cursor: Option<(u16, u16)>,
}

#[derive(Clone)]
enum GivenRule {
    Plain(ReadyRule),
    Screen,
}

/// The table of a line whose sign is checked.
pub(super) struct SignTable<'t, 'a>(pub &'t KeyedTable<'a>);

impl ReadySign {
    /// Reads the keys of `table`.
    pub(super) fn read(table: &KeyedTable<'_>) -> Result<ReadySign, SyntaxMistake> {
        Ok(ReadySign {
            rule: rule(table)?,
            settle: table.string(SETTLE)?.map(|text| positive_span(&text, "settle")).transpose()?,
            shows: shows(table)?,
            cursor: cursor(table)?,
        })
    }

    /// This sign, with the values of `outer` where this has none. What a screen shows belongs to one line.
    pub(super) fn or(self, outer: &ReadySign) -> ReadySign {
        ReadySign { rule: self.rule.or_else(|| outer.rule.clone()), settle: self.settle.or(outer.settle), ..self }
    }

    /// The settle time alone.
    pub(super) fn only_settle(&self) -> ReadySign {
        ReadySign { settle: self.settle, ..ReadySign::default() }
    }

    /// The rule of a whole script, which takes no screen.
    pub(super) fn of_script(&self, script: &KeyedTable<'_>) -> Result<ReadyRule, SyntaxMistake> {
        match &self.rule {
            Some(GivenRule::Screen) => Err(SyntaxMistake::new(
                script.key_at("until"),
                "until = \"screen\" belongs to lines and groups: a log-in does not fill the screen",
            )),
            Some(GivenRule::Plain(rule)) => Ok(rule.clone()),
            None => Ok(ReadyRule::Mark),
        }
    }

    /// Whether the screen is the sign.
    pub(super) fn is_screen(&self) -> bool {
        matches!(self.rule, Some(GivenRule::Screen))
    }

    /// Refuses keys of a screen where another sign is given.
    pub(super) fn check(&self, form: TypedForm, SignTable(table): &SignTable<'_, '_>) -> Result<(), SyntaxMistake> {
        let is_screen = self.is_screen() || form == TypedForm::Keys && self.rule.is_none();
        let key = ["settle", "shows", "cursor"].into_iter().find(|key| table.get(key).is_some());
        let Some(key) = key.filter(|_| !is_screen) else { return Ok(()) };
        let message = format!("`{key}` is about the screen, and another sign ends this line: add until = \"screen\"");
        Err(SyntaxMistake::new(table.key_at(key), message))
    }

    /// The rule of a line of this form; `None`: the script's. Keys wait for the screen, whatever the script's rule is.
    pub(super) fn rule(self, form: TypedForm) -> Option<ReadyRule> {
        match self.rule {
            Some(GivenRule::Plain(rule)) => Some(rule),
            None if form == TypedForm::Line => None,
            Some(GivenRule::Screen) | None => Some(ReadyRule::Screen(ScreenRule {
                settle: self.settle.unwrap_or(DEFAULT_SETTLE),
                shows: self.shows,
                cursor: self.cursor,
            })),
        }
    }
}

fn rule(table: &KeyedTable<'_>) -> Result<Option<GivenRule>, SyntaxMistake> {
    let pattern = table.string(UNTIL)?;
    if let Some(silence) = table.string(SILENCE)? {
        if pattern.is_some() {
            return Err(SyntaxMistake::new(table.key_at("silence"), "`until` and `silence` exclude each other: keep one"));
        }
        return positive_span(&silence, "silence").map(|span| Some(GivenRule::Plain(ReadyRule::Silence(span))));
    }
    match pattern {
        Some(text) if text.value == SCREEN_WORD => Ok(Some(GivenRule::Screen)),
        Some(text) => until(&text).map(|rule| Some(GivenRule::Plain(rule))),
        None => Ok(None),
    }
}

fn shows(table: &KeyedTable<'_>) -> Result<Option<String>, SyntaxMistake> {
    let Some(pattern) = table.string(SHOWS)? else { return Ok(None) };
    let compiled = regex::Regex::new(pattern.value).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or("").trim().trim_start_matches("error: ").to_string();
        let literal = regex::escape(pattern.value);
        pattern.wrong_whole(format!("this pattern does not compile: {reason}; to match the text itself, write '{literal}'"))
    })?;
    if compiled.is_match("") {
        return Err(
            pattern.wrong_whole("this pattern matches an empty screen: name a text that appears, as in shows = 'written'")
        );
    }
    Ok(Some(pattern.value.into()))
}

fn cursor(table: &KeyedTable<'_>) -> Result<Option<(u16, u16)>, SyntaxMistake> {
    let Some(value) = table.get("cursor") else { return Ok(None) };
    let DeValue::Array(list) = value.get_ref() else { return Err(CURSOR.wrong(value)) };
    let [row, column] = &list[..] else {
        return Err(SyntaxMistake::new(value.span().start, "the cursor's place has a row and a column, as in cursor = [24, 1]"));
    };
    let place = |value, most| whole(value, CURSOR, 1..u64::from(most) + 1).map(|place| place as u16);
    Ok(Some((place(row, SCREEN_ROWS)?, place(column, SCREEN_COLUMNS)?)))
}
