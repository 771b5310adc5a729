//! Makes a script of a recorded session: think times and typing rate are kept, response times are dropped.
//!
//! Think time runs from the prompt to the first key, typing from the first key to the end of the line. The time between
//! the end of the line and the next prompt is the system's response time, and no part of the script.

use super::dialogue::Dialogue;
use super::drafts::{Draft, DraftKind, drafts_of, is_at_unmarked_shell, quit_word};
use super::entry::{EnteredText, Entry, PromptKind};
use super::event::SessionEnding;
use super::prompt::pattern_of;
use super::screen_keys::KeysPart;
use loadgo_core::script::{
    DEFAULT_SETTLE, DEFAULT_TIMEOUT, ReadyRule, ScreenRule, Script, ScriptLine, ScriptStep, TOO_LONG_LINE_BYTES, Template,
    TemplatePart, TimeLaw, TypedForm, parse, print, print_span,
};
use loadgo_core::time::Span;
use std::collections::BTreeMap;
use std::fmt;

/// The longest think time; a longer pause is an absence, and left out.
pub const LONGEST_THINK_TIME: Span = Span::from_secs(300);

/// Time without output after which a program without a prompt counts as ready.
const READY_SILENCE: Span = Span::from_millis(500);
/// The rule of a program that fills the screen.
const SETTLED_SCREEN: ScreenRule = ScreenRule { settle: DEFAULT_SETTLE, shows: None, cursor: None };
/// Largest number of think times that a script lists. Of more, evenly spaced quantiles are kept.
const MOST_THINK_TIMES: usize = 200;

/// Facts about a session that are not in its events.
#[derive(Clone, Debug)]
pub struct SessionFacts {
    /// The script's name.
    pub name: String,
    /// The command that logs in.
    pub login: String,
    /// Whether the log-in command is a shell whose prompts can be marked in a run.
    pub marks: bool,
}

/// A script made from a session, with the measured values and notes.
#[derive(Clone, Debug)]
pub struct RecordedScript {
    /// The script.
    pub script: Script,
    /// The measured think times, in order, absences left out.
    pub think_times: Vec<Span>,
    /// Keys a second, from the first key to the end of the line; `None` when no line was typed key by key.
    pub typing_chars_per_second: Option<f64>,
    /// Numbers of the script's lines that stand for secrets.
    pub secrets: Vec<u32>,
    /// Number of the script's lines whose exit status is known from a mark.
    pub statuses: u32,
    /// Notes about values that were estimated or left out.
    pub notes: Vec<String>,
    /// How the session ended.
    pub ending: SessionEnding,
}

/// No line was entered in a session, and a script needs at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLines;

impl fmt::Display for NoLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no line was entered, so there is no script to write: a script types something")
    }
}

impl std::error::Error for NoLines {}

/// Makes a script of a session that has ended.
///
/// # Errors
/// [`NoLines`].
pub fn script_of(dialogue: &Dialogue, about: &SessionFacts) -> Result<RecordedScript, NoLines> {
    let entries = &dialogue.entries;
    let unmarked = dialogue.marks == 0 && about.marks;
    let shell = |entry: &Entry| entry.prompt_kind == PromptKind::Shell || unmarked && is_at_unmarked_shell(entries, entry);
    let mut session = ScriptComposer { entries, about, shell: &shell, drafts: drafts_of(entries, &shell), notes: Vec::new() };
    let logout = session.take_logout(dialogue.ending);
    session.note_session(dialogue, unmarked);
    let lines: Vec<ScriptLine> = (0..session.drafts.len()).map(|index| session.line(index)).collect();
    if lines.is_empty() {
        return Err(NoLines);
    }
    let think_times = session.think_times();
    let typing_chars_per_second = typing_rate(entries);
    let script = Script {
        name: about.name.clone(),
        login: about.login.clone(),
        logout,
        passes: 1,
        think: law_of(&think_times),
        typing_chars_per_second,
        needs: Vec::new(),
        files: BTreeMap::new(),
        env: BTreeMap::new(),
        beside: BTreeMap::new(),
        arrivals: Vec::new(),
        words: BTreeMap::new(),
        timeout: DEFAULT_TIMEOUT,
        until: session.first_until(),
        steps: lines.iter().cloned().map(ScriptStep::Line).collect(),
    };
    let secrets = lines.iter().filter(|line| placeholder(&line.text).is_some()).map(|line| line.number).collect();
    let statuses = lines.iter().filter(|line| line.status.is_some()).count() as u32;
    let ending = dialogue.ending.unwrap_or(SessionEnding::Unknown);
    Ok(RecordedScript { script, think_times, typing_chars_per_second, secrets, statuses, notes: session.notes, ending })
}

/// Prints the script's file, with the notes as comments at its head.
pub fn text_of(recorded: &RecordedScript) -> String {
    let mut out = String::from("# Recorded by loadgo from a person's session: think times and typing rate as measured.\n");
    for note in &recorded.notes {
        out.push_str(&format!("# {note}\n"));
    }
    let script = print(&recorded.script);
    out.push_str(&script);
    let lists = secret_lists(&recorded.script);
    if !lists.is_empty() {
        out.push_str("\n# Write here the words to type in place of the secrets, and remove the signs #:\n# [words]\n");
        out.extend(lists.iter().map(|list| format!("# {list} = [\"…\"]\n")));
    }
    debug_assert!(!lists.is_empty() || parse(&out).is_ok(), "a recorded script can be read back");
    out
}

fn secret_lists(script: &Script) -> Vec<&str> {
    let lists = script.steps.iter().filter_map(|step| match step {
        ScriptStep::Line(line) => placeholder(&line.text),
        _ => None,
    });
    lists.collect()
}

/// The list of words of a text's placeholder.
fn placeholder(text: &Template) -> Option<&str> {
    text.0.iter().find_map(|part| if let TemplatePart::Random(list) = part { Some(list.as_str()) } else { None })
}

struct ScriptComposer<'a> {
    entries: &'a [Entry],
    about: &'a SessionFacts,
    shell: &'a dyn Fn(&Entry) -> bool,
    drafts: Vec<Draft>,
    notes: Vec<String>,
}

impl ScriptComposer<'_> {
    /// Removes the draft that ended the session, and returns the script's log-out line.
    fn take_logout(&mut self, ending: Option<SessionEnding>) -> String {
        let quit_command = quit_word(&self.about.login).unwrap_or("exit");
        let Some(draft) = self.drafts.last() else { return quit_command.into() };
        let last = &self.entries[draft.last];
        if last.ready.is_some()
            || matches!(ending, Some(SessionEnding::Killed(_) | SessionEnding::Stopped(_) | SessionEnding::HungUp))
        {
            return quit_command.into();
        }
        let typed = match &draft.kind {
            DraftKind::Text(text) => text.clone(),
            DraftKind::Secret => return quit_command.into(),
            DraftKind::EndOfFile => quit_command.into(),
            DraftKind::Keys(_) => {
                self.notes.push("the session ended in a program that fills the screen: add the keys that leave it".into());
                return quit_command.into();
            }
        };
        let ends = matches!(typed.split_whitespace().next(), Some("exit" | "logout" | "quit" | "bye" | "exit()"));
        let is_end =
            matches!(draft.kind, DraftKind::EndOfFile) || ends || (self.shell)(last) && ending != Some(SessionEnding::Unknown);
        if !is_end {
            return quit_command.into();
        }
        self.drafts.pop();
        if typed.contains(|char: char| char.is_control() || char == '{') { quit_command.into() } else { typed.trim().into() }
    }

    fn note_session(&mut self, dialogue: &Dialogue, unmarked: bool) {
        if dialogue.marks == 0 {
            let note = "no prompt had a mark: prompts are estimated from the text left of the cursor at the first key and from the last output before it";
            self.notes.push(note.into());
        }
        if unmarked {
            self.notes.push("prompts that end like the first one are taken for the shell's; exit statuses are not known".into());
        }
        if dialogue.left_out_keys > 0 {
            let count = dialogue.left_out_keys;
            self.notes.push(format!(
                "{count} keys typed to full-screen programs are left out, since a script cannot type them (mouse)"
            ));
        }
        if dialogue.left_out_places > 0 {
            let places = dialogue.left_out_places;
            self.notes.push(format!(
                "the cast has no keys in {places} place{}, since they may be a secret: lines there are missing, or lack their beginning",
                if places == 1 { "" } else { "s" }
            ));
        }
        let doubtful = self.entries.iter().filter(|entry| entry.doubtful).count();
        if doubtful > 0 {
            self.notes.push(format!("{doubtful} lines were read from a disturbed screen: check them"));
        }
        let ahead = self.entries.iter().filter(|entry| entry.prompt_shown.is_none()).count();
        if ahead > 0 {
            self.notes.push(format!("{ahead} lines were typed ahead of their prompt: no think time is counted for them"));
        }
    }

    fn line(&mut self, index: usize) -> ScriptLine {
        let draft = self.drafts[index].clone();
        let last = &self.entries[draft.last];
        let number = index as u32 + 1;
        let form = if matches!(draft.kind, DraftKind::Keys(_)) { TypedForm::Keys } else { TypedForm::Line };
        let (text, name) = self.text(&draft, index);
        let until = self.until(&draft);
        let status = last.ready.and_then(|ready| ready.status).filter(|_| last.interrupted.is_none());
        let timeout = self.timeout(&draft, number);
        // The script's own rule does not count for keys.
        let until = until.filter(|until| form == TypedForm::Keys || *until != self.first_until());
        ScriptLine {
            number,
            form,
            text,
            name,
            think: None,
            think_after: None,
            until,
            timeout,
            status: status.map(|status| vec![status]),
        }
    }

    fn text(&mut self, draft: &Draft, index: usize) -> (Template, String) {
        let number = index as u32 + 1;
        let (list, what) = match &draft.kind {
            DraftKind::Keys(parts) => return (self.keys(parts, number), self.keys_name(index)),
            DraftKind::Text(text) => {
                let text = self.typable(text, number);
                let name = text.to_string().split_whitespace().next().unwrap_or("(return)").into();
                return (text, name);
            }
            DraftKind::Secret => ("secret", "a secret was typed here without echo; it was not stored"),
            DraftKind::EndOfFile => {
                ("end_of_file", "the end-of-file key was pressed here; a script types lines, name one that ends the program")
            }
        };
        let list = format!("{list}_{number}");
        self.notes.push(format!("line {number}: {what}. A run refuses this script until [words] says what {list} is"));
        (Template(vec![TemplatePart::Random(list.clone())]), list)
    }

    /// A template of keys, with a placeholder where a secret was typed.
    fn keys(&mut self, parts: &[KeysPart], number: u32) -> Template {
        let list = format!("secret_{number}");
        if parts.contains(&KeysPart::Secret) {
            self.notes.push(format!(
                "line {number}: keys that the screen did not show were not stored. A run refuses this script until [words] says what {list} is"
            ));
        }
        let part = |part: &KeysPart| match part {
            KeysPart::Keys(text) => TemplatePart::Text(text.clone()),
            KeysPart::Secret => TemplatePart::Random(list.clone()),
        };
        Template(parts.iter().map(part).collect())
    }

    /// The name of keys in the report, by the command that started their program.
    fn keys_name(&self, index: usize) -> String {
        let commands = self.drafts[..index].iter().rev().find_map(|draft| match &draft.kind {
            DraftKind::Text(text) => text.split_whitespace().next(),
            _ => None,
        });
        commands.map_or_else(|| "keys".into(), |program| format!("{program} keys"))
    }

    /// A template that types `text`, without characters that a script cannot type.
    fn typable(&mut self, text: &str, number: u32) -> Template {
        let kept: String = text.chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t')).collect();
        if kept.len() != text.len() {
            self.notes.push(format!("line {number}: control characters are left out"));
        }
        if kept.len() >= TOO_LONG_LINE_BYTES {
            self.notes.push(format!("line {number}: is longer than a terminal takes; a run refuses it"));
        }
        let kept = kept.trim_end_matches('\n');
        Template(if kept.is_empty() { vec![] } else { vec![TemplatePart::Text(kept.into())] })
    }

    /// The rule by which the system is ready after a draft; `None` stands for the script's rule.
    fn until(&self, draft: &Draft) -> Option<ReadyRule> {
        let last = &self.entries[draft.last];
        let next = self.entries.get(draft.last + 1);
        match (last.ready, next) {
            (Some(ready), _) if ready.marked => Some(ReadyRule::Mark),
            (_, Some(Entry { entered: EnteredText::Keys(_), .. })) => Some(ReadyRule::Screen(SETTLED_SCREEN)),
            (_, None) if matches!(draft.kind, DraftKind::Keys(_)) => Some(ReadyRule::Screen(SETTLED_SCREEN)),
            (None, None) => None,
            (_, Some(next)) if (self.shell)(next) => Some(ReadyRule::Mark),
            (_, Some(next)) => Some(until_prompt_of(next)),
            (Some(_), None) => None,
        }
    }

    /// The script's rule: how the system is ready after the log-in.
    fn first_until(&self) -> ReadyRule {
        match self.entries.first() {
            Some(first) if !self.about.marks => until_prompt_of(first),
            _ => ReadyRule::Mark,
        }
    }

    /// Timeout of a draft: the time after which the person interrupted it, else four times the response if that exceeds the
    /// default.
    fn timeout(&mut self, draft: &Draft, number: u32) -> Option<Span> {
        let last = &self.entries[draft.last];
        if let Some(interrupted) = last.interrupted {
            let patience = Span(interrupted.since(last.sent).0.max(1_000_000) / 1_000_000 * 1_000_000);
            self.notes.push(format!("line {number}: was interrupted after {}, which is now its timeout", print_span(patience)));
            return Some(patience);
        }
        let response = last.ready.map_or(Span::ZERO, |ready| ready.at.since(last.sent));
        let wanted = Span::from_secs((4.0 * response.as_secs_f64()).ceil() as u64);
        (wanted > DEFAULT_TIMEOUT).then_some(wanted)
    }

    fn think_times(&mut self) -> Vec<Span> {
        let known =
            |entry: &&Entry| matches!(entry.prompt_kind, PromptKind::Shell | PromptKind::Screen) || !entry.prompt.is_empty();
        let firsts = self.drafts.iter().map(|draft| &self.entries[draft.first]).filter(known);
        let all: Vec<Span> =
            firsts.filter_map(|entry| entry.prompt_shown.map(|prompt_shown| entry.first_key.since(prompt_shown))).collect();
        let (kept, absences): (Vec<Span>, Vec<Span>) = all.into_iter().partition(|span| *span <= LONGEST_THINK_TIME);
        if !absences.is_empty() {
            let count = absences.len();
            self.notes.push(format!("{count} think times over {} are left out as absences", print_span(LONGEST_THINK_TIME)));
        }
        kept
    }
}

fn until_prompt_of(entry: &Entry) -> ReadyRule {
    pattern_of(&entry.prompt, &entry.prompt_bytes).map_or(ReadyRule::Silence(READY_SILENCE), ReadyRule::Pattern)
}

/// The empirical law of the measured think times, in whole milliseconds. Many times are thinned to evenly spaced quantiles.
fn law_of(think_times: &[Span]) -> TimeLaw {
    let mut spans: Vec<Span> = think_times.iter().map(|span| Span(span.0 / 1_000_000 * 1_000_000)).collect();
    if spans.is_empty() {
        return TimeLaw::None;
    }
    if spans.len() > MOST_THINK_TIMES {
        spans.sort();
        let rank = |index: usize| (2 * index + 1) * spans.len() / (2 * MOST_THINK_TIMES);
        spans = (0..MOST_THINK_TIMES).map(|index| spans[rank(index)]).collect();
    }
    TimeLaw::Empirical(spans)
}

/// Keys a second over all lines that were typed key by key, to a tenth.
fn typing_rate(entries: &[Entry]) -> Option<f64> {
    let typed = entries.iter().filter(|entry| entry.entered != EnteredText::Secret);
    let typed =
        typed.filter_map(|entry| entry.keys.filter(|keys| *keys > 1).map(|keys| (keys, entry.sent.since(entry.first_key))));
    let (keys, time) = typed.fold((0, Span::ZERO), |(keys, time), (more, span)| (keys + more, time + span));
    (time > Span::ZERO).then(|| (f64::from(keys) / time.as_secs_f64() * 10.0).round().clamp(1.0, 1e6) / 10.0)
}
