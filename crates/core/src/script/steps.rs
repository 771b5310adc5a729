//! Reads the lines of a script: strings, tables, repeated groups, and weighted alternatives.

use super::chain::{PlacedRow, PlacedWeight, ReadAlternative, THEN, alternatives, weight_mistake};
use super::shapes::{LARGEST_WEIGHT, WEIGHTED_CHOICE, WEIGHTED_GROUP, WEIGHTED_KEYS, WEIGHTED_LINE};
use super::signs::{ReadySign, SignTable};
use super::values::{law, positive_span, report_name};
use super::{ScriptLine, ScriptStep, Template, TemplatePart, TimeLaw, TypedForm, keys, template};
use crate::notation::mistakes::SyntaxMistake;
use crate::notation::shape::key_names;
use crate::notation::table::{KeyDescription, KeyedTable, PlacedText, PlacedValue, string, whole};
use crate::time::Span;
use std::collections::BTreeMap;
use toml::de::{DeArray, DeValue};

/// Shortest line that is refused: in line mode, a terminal drops bytes from here on.
pub const TOO_LONG_LINE_BYTES: usize = 4095;
/// Largest number of lines of a pass. Chosen by hand, so that a mistyped `repeat` is refused.
pub const MOST_PASS_LINES: u64 = 1_000_000;

/// The keys of lines, groups and choices, any of which may have been meant.
const ALL_KEYS: [&str; 16] = [
    "type", "keys", "as", "lines", "choose", "think", "until", "silence", "settle", "shows", "cursor", "timeout", "status",
    "repeat", "then", "weight",
];

const LINES: KeyDescription = KeyDescription { key: "lines", value: "a list of lines", example: "lines = [\"ls -l\", \"date\"]" };
const LINE: KeyDescription =
    KeyDescription { key: "lines", value: "strings and tables", example: "{ type = \"ls -l\", as = \"list\" }" };
const TYPE: KeyDescription = KeyDescription { key: "type", value: "a string", example: "type = \"ls -l\"" };
const KEYS: KeyDescription = KeyDescription { key: "keys", value: "a string", example: "keys = \"ihello<Esc>:wq<Enter>\"" };
const AS: KeyDescription = KeyDescription { key: "as", value: "a string", example: "as = \"list\"" };
const THINK: KeyDescription =
    KeyDescription { key: "think", value: "a law in a string", example: "think = \"uniform(2s, 15s)\"" };
const THINK_AFTER: KeyDescription =
    KeyDescription { key: "think_after", value: "a law in a string", example: "think_after = \"exponential(20s)\"" };
const TIMEOUT: KeyDescription = KeyDescription { key: "timeout", value: "a time in a string", example: "timeout = \"30s\"" };
const STATUS: KeyDescription =
    KeyDescription { key: "status", value: "an exit status, or a list of them,", example: "status = [0, 1]" };
const REPEAT: KeyDescription = KeyDescription { key: "repeat", value: "a whole number", example: "repeat = 3" };
const CHOOSE: KeyDescription = KeyDescription {
    key: "choose",
    value: "a list of alternatives",
    example: "choose = [{ weight = 3, type = \"ls\" }, { weight = 1, type = \"df\" }]",
};
const WEIGHT: KeyDescription = KeyDescription { key: "weight", value: "a number over 0", example: "weight = 3" };

/// Settings of one line, of a group, or of the whole script.
#[derive(Clone, Default)]
pub(super) struct LineSettings {
    pub think: Option<TimeLaw>,
    think_after: Option<TimeLaw>,
    pub sign: ReadySign,
    pub timeout: Option<Span>,
    status: Option<Vec<u8>>,
}

impl LineSettings {
    /// Reads the settings in `table`.
    pub fn read(table: &KeyedTable<'_>) -> Result<LineSettings, SyntaxMistake> {
        Ok(LineSettings {
            think: table.string(THINK)?.map(|text| law(&text)).transpose()?,
            think_after: table.string(THINK_AFTER)?.map(|text| law(&text)).transpose()?,
            sign: ReadySign::read(table)?,
            timeout: table.string(TIMEOUT)?.map(|text| positive_span(&text, "timeout")).transpose()?,
            status: table.get("status").map(status).transpose()?,
        })
    }

    /// These settings, with those of `outer` where these are `None`.
    fn or(self, outer: &LineSettings) -> LineSettings {
        LineSettings {
            think: self.think.or_else(|| outer.think.clone()),
            think_after: self.think_after.or_else(|| outer.think_after.clone()),
            sign: self.sign.or(&outer.sign),
            timeout: self.timeout.or(outer.timeout),
            status: self.status.or_else(|| outer.status.clone()),
        }
    }
}

fn status(value: &PlacedValue<'_>) -> Result<Vec<u8>, SyntaxMistake> {
    let single = |value: &PlacedValue<'_>| whole(value, STATUS, 0..256).map(|status| status as u8);
    match value.get_ref() {
        DeValue::Array(list) if list.is_empty() => {
            Err(SyntaxMistake::new(value.span().start, "no exit status is accepted here: leave `status` out to accept any"))
        }
        DeValue::Array(list) => list.iter().map(single).collect(),
        _ => single(value).map(|status| vec![status]),
    }
}

/// Reads the lines of `script`. Each line takes the exit statuses of `settings`; the other settings stay with the script.
pub(super) fn read(
    script: &KeyedTable<'_>,
    settings: &LineSettings,
    words: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<ScriptStep>, SyntaxMistake> {
    let right = "a script types something: add lines = [\"ls -l\"]";
    let Some(list) = script.list(LINES)? else {
        return Err(SyntaxMistake::new(0, format!("there are no lines; {right}")));
    };
    if list.is_empty() {
        return Err(SyntaxMistake::new(script.key_at("lines"), format!("`lines` is empty; {right}")));
    }
    let mut reader = StepReader { text: script.text, words, lines: 0, program: None };
    let outer = LineSettings { status: settings.status.clone(), sign: settings.sign.only_settle(), ..LineSettings::default() };
    reader.list(list, &outer)?.check_length(script.key_at("lines")).map(|block| block.steps)
}

/// Reads the entries of a script's `lines`, and numbers the lines that they type.
struct StepReader<'a> {
    text: &'a str,
    words: &'a BTreeMap<String, Vec<String>>,
    lines: u32,
    /// The name of the last line that started a program which fills the screen.
    program: Option<String>,
}

/// Steps with the largest number of lines that they type.
struct ParsedSteps {
    steps: Vec<ScriptStep>,
    most_lines: u64,
}

impl ParsedSteps {
    /// Refuses more lines than a pass may have; `at` is the offset of the key that multiplies them.
    fn check_length(self, at: usize) -> Result<ParsedSteps, SyntaxMistake> {
        if self.most_lines <= MOST_PASS_LINES {
            return Ok(self);
        }
        let message = format!(
            "a pass would hold {} lines, more than {MOST_PASS_LINES}: repeat fewer times, and let `passes` do the rest",
            self.most_lines
        );
        Err(SyntaxMistake::new(at, message))
    }
}

impl<'a> StepReader<'a> {
    fn list(&mut self, list: &'a DeArray<'a>, outer: &LineSettings) -> Result<ParsedSteps, SyntaxMistake> {
        let mut block = ParsedSteps { steps: Vec::new(), most_lines: 0 };
        for value in list {
            let (alternative, most_lines) = self.entry(value, outer)?;
            if let Some(weight) = alternative.weight {
                return Err(SyntaxMistake::new(weight.key_at, "`weight` has a meaning only inside `choose`: leave it out here"));
            }
            if let Some(then) = alternative.then {
                return Err(SyntaxMistake::new(
                    then.key_at,
                    "`then` has a meaning only inside `choose`, on an alternative as a whole: put it there, or leave it out",
                ));
            }
            block.steps.extend(alternative.steps);
            block.most_lines = block.most_lines.saturating_add(most_lines);
        }
        Ok(block)
    }

    /// Reads one entry of a list, and the largest number of its lines.
    fn entry(&mut self, value: &'a PlacedValue<'a>, outer: &LineSettings) -> Result<(ReadAlternative<'a>, u64), SyntaxMistake> {
        let at = value.span().start;
        if let Some(typed) = string(self.text, value) {
            let text = self.template(&typed)?;
            let block = self.line(TypedForm::Line, text, None, outer.clone())?;
            return Ok((ReadAlternative { at, weight: None, then: None, steps: block.steps }, block.most_lines));
        }
        let DeValue::Table(entries) = value.get_ref() else { return Err(LINE.wrong(value)) };
        let table = KeyedTable::new(self.text, entries, at);
        let weight = weight(&table)?;
        let then = table.table(THEN)?.map(|row| PlacedRow { table: row, key_at: table.key_at("then") });
        let block = if table.get("choose").is_some() {
            table.only(&key_names(WEIGHTED_CHOICE.keys), &ALL_KEYS, "a choice")?;
            self.choice(&table, outer)?
        } else if table.get("lines").is_some() {
            table.only(&key_names(WEIGHTED_GROUP.keys), &ALL_KEYS, "a group of lines")?;
            self.group(&table, outer)?
        } else if table.get("keys").is_some() && table.get("type").is_some() {
            let message = "`type` and `keys` exclude each other: a line types a line of text, or single keys; keep one";
            return Err(SyntaxMistake::new(table.key_at("keys"), message));
        } else if table.get("keys").is_some() {
            table.only(&key_names(WEIGHTED_KEYS.keys), &ALL_KEYS, "a line of keys")?;
            self.keys(&table, outer)?
        } else {
            table.only(&key_names(WEIGHTED_LINE.keys), &ALL_KEYS, "a line")?;
            self.typed(&table, outer)?
        };
        let block = repeat(&table, block)?;
        Ok((ReadAlternative { at, weight, then, steps: block.steps }, block.most_lines))
    }

    fn typed(&mut self, table: &KeyedTable<'a>, outer: &LineSettings) -> Result<ParsedSteps, SyntaxMistake> {
        let Some(typed) = table.string(TYPE)? else {
            return Err(SyntaxMistake::new(table.at, "nothing is typed here: add `type`, as in { type = \"ls -l\" }"));
        };
        let text = self.template(&typed)?;
        self.named_line(TypedForm::Line, text, table, outer)
    }

    fn keys(&mut self, table: &KeyedTable<'a>, outer: &LineSettings) -> Result<ParsedSteps, SyntaxMistake> {
        let typed = table.string(KEYS)?.expect("the caller has seen the key");
        let text = self.key_template(&typed)?;
        self.named_line(TypedForm::Keys, text, table, outer)
    }

    /// A line whose name and settings are in `table`.
    fn named_line(
        &mut self,
        form: TypedForm,
        text: Template,
        table: &KeyedTable<'a>,
        outer: &LineSettings,
    ) -> Result<ParsedSteps, SyntaxMistake> {
        let name = table.string(AS)?.map(|name| report_name(&name)).transpose()?;
        let settings = LineSettings::read(table)?.or(outer);
        settings.sign.check(form, &SignTable(table))?;
        self.line(form, text, name, settings)
    }

    fn group(&mut self, table: &KeyedTable<'a>, outer: &LineSettings) -> Result<ParsedSteps, SyntaxMistake> {
        let list = table.list(LINES)?.expect("the caller has seen the key");
        if list.is_empty() {
            return Err(SyntaxMistake::new(
                table.key_at("lines"),
                "this group is empty: give it lines, as in lines = [\"ls -l\"]",
            ));
        }
        self.list(list, &LineSettings::read(table)?.or(outer))
    }

    fn choice(&mut self, table: &KeyedTable<'a>, outer: &LineSettings) -> Result<ParsedSteps, SyntaxMistake> {
        let settings = LineSettings::read(table)?.or(outer);
        let list = table.list(CHOOSE)?.expect("the caller has seen the key");
        if list.is_empty() {
            let message = format!("there is nothing to choose from: write {}", CHOOSE.example);
            return Err(SyntaxMistake::new(table.key_at("choose"), message));
        }
        let (mut read, mut most_lines) = (Vec::new(), 0);
        for value in list {
            let (alternative, lines) = self.entry(value, &settings)?;
            if let (Some(then), None) = (&alternative.then, table.get("repeat")) {
                let message =
                    "`then` says what comes next when the choice is repeated: give the choice a `repeat`, as in repeat = 20";
                return Err(SyntaxMistake::new(then.key_at, message));
            }
            read.push(alternative);
            most_lines = lines.max(most_lines);
        }
        Ok(ParsedSteps { steps: vec![ScriptStep::Choose(alternatives(read)?)], most_lines })
    }

    fn line(
        &mut self,
        form: TypedForm,
        text: Template,
        name: Option<String>,
        settings: LineSettings,
    ) -> Result<ParsedSteps, SyntaxMistake> {
        self.lines += 1;
        let LineSettings { think, think_after, sign, timeout, status } = settings;
        let name = name.unwrap_or_else(|| match form {
            TypedForm::Line => first_word(&text),
            TypedForm::Keys => keys_name(self.program.as_deref()),
        });
        if form == TypedForm::Line {
            self.program = sign.is_screen().then(|| name.clone());
        }
        let line =
            ScriptLine { number: self.lines, form, text, name, think, think_after, until: sign.rule(form), timeout, status };
        Ok(ParsedSteps { steps: vec![ScriptStep::Line(line)], most_lines: 1 })
    }

    /// Reads `typed` as keys with placeholders.
    fn key_template(&self, typed: &PlacedText<'_>) -> Result<Template, SyntaxMistake> {
        if typed.value.is_empty() {
            return Err(typed.wrong_whole("no key is typed here: write keys, as in { keys = \"ihello<Esc>\" }"));
        }
        let count = keys::check(typed.value).map_err(|mistake| typed.place(mistake))?;
        let text = template::read(typed.value, self.words).map_err(|mistake| typed.place(mistake))?;
        // A placeholder inside the name of a key leaves parts that are no keys.
        for part in &text.0 {
            if let TemplatePart::Text(part) = part {
                keys::check(part).map_err(|mistake| typed.wrong_whole(mistake.message))?;
            }
        }
        let most = keys::MOST_KEYS;
        if count <= most {
            return Ok(text);
        }
        Err(typed.wrong_whole(format!("these are {count} keys, more than {most}: cut them into several lines, or use `repeat`")))
    }

    fn template(&self, typed: &PlacedText<'_>) -> Result<Template, SyntaxMistake> {
        let lines = typed.value.strip_suffix('\n').unwrap_or(typed.value);
        let is_refused = |c: char| c.is_control() && c != '\n' && c != '\t';
        if let Some(at) = lines.find(is_refused) {
            let message = "a typed line may have no control characters but tab and newline: leave this one out";
            return Err(typed.wrong(at, message));
        }
        if lines.ends_with('\n') {
            return Err(typed.wrong_whole("this text ends with empty lines: end it after its last line"));
        }
        let text = template::read(lines, self.words).map_err(|mistake| typed.place(mistake))?;
        let longest = longest_bytes(&text, self.words);
        if longest < TOO_LONG_LINE_BYTES {
            return Ok(text);
        }
        let message = format!(
            "this line can be {longest} bytes long, and a terminal drops what comes after byte {TOO_LONG_LINE_BYTES} of a line: \
             shorten it, or lay a file into the home with [files] and name it here"
        );
        Err(typed.wrong_whole(message))
    }
}

/// The length of a template's longest text, in bytes.
fn longest_bytes(text: &Template, words: &BTreeMap<String, Vec<String>>) -> usize {
    let part = |part: &TemplatePart| match part {
        TemplatePart::Text(text) => text.len(),
        TemplatePart::User | TemplatePart::Pass => u32::MAX.ilog10() as usize + 1,
        TemplatePart::Random(list) => words[list].iter().map(String::len).max().unwrap_or(0),
    };
    text.0.iter().map(part).sum()
}

/// The name in the report of a line without a name of its own.
pub(super) fn first_word(text: &Template) -> String {
    text.to_string().split_whitespace().next().unwrap_or("(return)").into()
}

/// The name in the report of keys without a name of their own, by the program that the line before has started.
fn keys_name(program: Option<&str>) -> String {
    program.map_or_else(|| "keys".into(), |program| format!("{program} keys"))
}

fn weight(table: &KeyedTable<'_>) -> Result<Option<PlacedWeight>, SyntaxMistake> {
    let Some(weight) = table.number(WEIGHT)? else { return Ok(None) };
    let value_at = table.get("weight").map_or(table.at, |value| value.span().start);
    if (0.0..=LARGEST_WEIGHT).contains(&weight) {
        return Ok(Some(PlacedWeight { weight, key_at: table.key_at("weight"), value_at }));
    }
    Err(weight_mistake(value_at))
}

/// The steps, repeated if `table` says so.
fn repeat(table: &KeyedTable<'_>, block: ParsedSteps) -> Result<ParsedSteps, SyntaxMistake> {
    let Some(times) = table.whole(REPEAT, 1..1 << 32)? else { return Ok(block) };
    let at = table.get("repeat").map_or(table.at, |value| value.span().start);
    let most_lines = block.most_lines.saturating_mul(times);
    ParsedSteps { steps: vec![ScriptStep::Repeat(times as u32, block.steps)], most_lines }.check_length(at)
}
