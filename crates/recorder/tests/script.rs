//! From a recorded session to a script, and from asciicast files to sessions.

use loadgo_core::script::{ReadyRule, ScriptLine, ScriptStep, TimeLaw, parse};
use loadgo_core::time::Span;
use loadgo_recorder::asciicast::{self, dialogue_of};
use loadgo_recorder::recording::{RecordedScript, SessionFacts, script_of, text_of};

fn about(login: &str, marks: bool) -> SessionFacts {
    SessionFacts { name: "recorded".into(), login: login.into(), marks }
}

fn recorded(cast: &str) -> RecordedScript {
    let cast = asciicast::read(cast).expect("the cast is well formed");
    script_of(&dialogue_of(&cast), &about("sh", true)).expect("lines were typed")
}

fn lines(recorded: &RecordedScript) -> Vec<(String, Option<Vec<u8>>)> {
    let line = |step: &ScriptStep| match step {
        ScriptStep::Line(ScriptLine { text, status, .. }) => (text.to_string(), status.clone()),
        other => panic!("a recording makes lines only, not {other:?}"),
    };
    recorded.script.steps.iter().map(line).collect()
}

/// `ls` typed in 1 s after 2 s of thinking, a response of 3 s with status 2, then `exit`.
const MARKED: &str = r#"{"version": 3, "term": {"cols": 80, "rows": 24}, "command": "/bin/sh"}
# a comment
[0.0, "o", "$ \u001b]133;D;0;aid=ab\u0007"]
[2.0, "i", "l"]
[0.0, "o", "l"]
[0.5, "i", "s"]
[0.0, "o", "s"]
[0.5, "i", "\r"]
[0.0, "o", "\r\n"]
[3.0, "o", "no\r\n$ \u001b]133;D;2;aid=ab\u0007"]
[1.0, "i", "exit\r"]
[0.0, "o", "exit\r\n"]
[0.0, "x", "2"]
"#;

/// The same with absolute times and without marks.
const UNMARKED: &str = r#"{"version": 2, "width": 80, "height": 24, "env": {"SHELL": "/bin/sh", "TERM": null}}
[0.0, "o", "$ "]
[2.0, "i", "l"]
[2.0, "o", "l"]
[2.5, "i", "s"]
[2.5, "o", "s"]
[3.0, "i", "\r"]
[3.0, "o", "\r\n"]
[6.0, "o", "no\r\n$ "]
[7.0, "i", "exit\r"]
[7.0, "o", "exit\r\n"]
"#;

#[test]
fn think_and_typing_are_the_persons_and_the_response_is_dropped() {
    let recorded = recorded(MARKED);
    assert_eq!(lines(&recorded), [("ls".to_string(), Some(vec![2]))]);
    assert_eq!(recorded.script.think, TimeLaw::Empirical(vec![Span::from_secs(2)]));
    assert_eq!(recorded.script.typing_chars_per_second, Some(2.0));
    assert_eq!(recorded.script.logout, "exit");
    assert!(recorded.notes.is_empty(), "nothing is estimated: {:?}", recorded.notes);
}

#[test]
fn without_marks_prompts_are_estimated_and_a_note_says_so() {
    let recorded = recorded(UNMARKED);
    assert_eq!(lines(&recorded), [("ls".to_string(), None)]);
    assert_eq!(recorded.script.think, TimeLaw::Empirical(vec![Span::from_secs(2)]));
    assert_eq!(recorded.script.until, ReadyRule::Mark);
    assert!(recorded.notes.iter().any(|note| note.contains("prompts are estimated")), "{:?}", recorded.notes);
}

#[test]
fn a_program_that_cannot_be_marked_is_known_by_its_prompt() {
    let cast = UNMARKED.replace("$ ", ">>> ").replace("ls", "12");
    let cast = asciicast::read(&cast).expect("the cast is well formed");
    let recorded = script_of(&dialogue_of(&cast), &about("python3", false)).expect("lines were typed");
    assert_eq!(recorded.script.until, ReadyRule::Pattern(">>> ".into()));
    assert_eq!(parse(&text_of(&recorded)).expect("it can be read back"), recorded.script);
}

#[test]
fn a_recorded_script_reads_back_as_it_was() {
    let recorded = recorded(MARKED);
    assert_eq!(parse(&text_of(&recorded)).expect("it can be read back"), recorded.script);
}

#[test]
fn a_script_with_a_secret_is_refused_with_the_name_of_the_missing_list() {
    let cast = MARKED.replace("[0.0, \"o\", \"l\"]\n", "").replace("[0.0, \"o\", \"s\"]\n", "");
    let recorded = recorded(&cast);
    assert_eq!(recorded.secrets, [1]);
    let text = text_of(&recorded);
    assert!(!text.contains("ls"), "{text}");
    let mistake = parse(&text).expect_err("the secret is missing");
    assert!(mistake.message.contains("secret_1"), "{mistake}");
    let filled = text.replace("# [words]", "[words]").replace("# secret_1", "secret_1");
    assert!(parse(&filled).is_ok(), "{filled}");
}

#[test]
fn a_malformed_cast_is_refused_with_its_line() {
    let line = |text: &str| asciicast::read(text).expect_err("it is malformed").line;
    assert_eq!(line(""), 1);
    assert_eq!(line("{\"version\": 1}"), 1);
    assert_eq!(line("{\"version\": 3, \"term\": 5}"), 1);
    assert_eq!(line(&format!("{MARKED}[1.0, \"i\"]\n")), 14);
    assert_eq!(line(&MARKED.replace("[3.0,", "[-3.0,")), 10);
    assert_eq!(line(&MARKED.replace("\"x\", \"2\"", "\"x\", \"two\"")), 13);
    assert_eq!(line(&format!("{UNMARKED}[8.0, \"r\", \"80\"]\n")), 12);
}

#[test]
fn a_cast_whose_times_add_up_to_centuries_is_refused_at_the_line_that_makes_them() {
    let event = "[600000000, \"i\", \"x\"]\n";
    let text = format!("{{\"version\": 3, \"term\": {{\"cols\": 80}}}}\n{}", event.repeat(40));
    let mistake = asciicast::read(&text).expect_err("it is too long");
    assert!(mistake.line == 3 && mistake.message.contains("1000000000 seconds"), "{mistake}");
}

#[test]
fn a_cast_without_input_is_refused_with_the_remedy() {
    let text: String = MARKED.lines().filter(|line| !line.contains("\"i\"")).map(|line| format!("{line}\n")).collect();
    let mistake = asciicast::read(&text).expect_err("it does not tell what was typed");
    assert!(mistake.message.contains("--capture-input"), "{mistake}");
}

/// A log-in, vim with a line of text, and `ls`. Nothing shows the secret of the form in between.
const SCREEN: &str = r#"{"version": 3, "term": {"cols": 80, "rows": 24}, "command": "/bin/sh"}
[0.0, "o", "$ \u001b]133;D;0;aid=ab\u0007"]
[1.0, "i", "vim notes\r"]
[0.0, "o", "vim notes\r\n"]
[0.1, "o", "\u001b[?1049h\u001b[H~"]
[0.0, "i", "\u001b[>41;330;0c"]
[0.0, "o", "\u001b[H"]
[2.0, "i", "i"]
[0.1, "o", "\u001b[24H-- INSERT --\u001b[H"]
[0.1, "i", "{"]
[0.1, "o", "{"]
[0.1, "i", "\u001b"]
[0.1, "o", "\u001b[H"]
[3.0, "i", ":"]
[0.1, "o", "\u001b[24H\u001b[2K:"]
[0.1, "i", "x"]
[0.1, "o", "x"]
[0.1, "i", "\r"]
[0.2, "o", "\u001b[?1049l$ \u001b]133;D;0;aid=ab\u0007"]
[1.0, "i", "form\r"]
[0.0, "o", "form\r\n\u001b[?1049h\u001b[HPassword: "]
[1.0, "i", "hunter2"]
[0.1, "i", "\r"]
[0.2, "o", "\u001b[?1049l$ \u001b]133;D;0;aid=ab\u0007"]
[1.0, "i", "exit\r"]
[0.0, "o", "exit\r\n"]
[0.0, "x", "0"]
"#;

#[test]
fn keys_to_a_full_screen_program_are_typed_as_keys() {
    let recorded = recorded(SCREEN);
    let text = text_of(&recorded);
    let wanted = [
        r#"{ type = "vim notes", until = "screen" }"#,
        r#"{ keys = "i{<Esc>", as = "vim keys" }"#,
        r#"{ keys = ":x<Enter>", as = "vim keys", until = "mark""#,
        r#"{ type = "form", until = "screen" }"#,
        r#"{ keys = "{random:secret_5}<Enter>", as = "form keys", until = "mark""#,
    ];
    for line in wanted {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("hunter"), "{text}");
    assert_eq!(recorded.secrets, [5]);
    let think_ms: Vec<u64> = recorded.think_times.iter().map(|span| span.0 / 1_000_000).collect();
    assert_eq!(think_ms, [1000, 2000, 3000, 1000, 1000]);
    let filled = text.replace("# [words]", "[words]").replace("# secret_5", "secret_5");
    let script = parse(&filled).expect("it can be read back");
    assert_eq!(script.steps, recorded.script.steps);
}

#[test]
fn a_cast_says_where_keys_are_left_out_and_its_script_says_so() {
    use loadgo_core::time::Instant;
    use loadgo_recorder::recording::{KeyRetention, SessionEvent};
    let (mut writer, header) = asciicast::CastWriter::begin(80, 24, 0, "/bin/sh");
    let key = |at: u64, text: &str| SessionEvent::Keys { at: Instant(at), bytes: text.into() };
    writer.event(&key(1, "ls\r"));
    let mut cast = header + &writer.lines(KeyRetention::Keys);
    writer.event(&key(2, "hun"));
    writer.event(&key(3, "ter2\r"));
    cast += &writer.finish(KeyRetention::NoKeys);
    assert!(!cast.contains("hun") && !cast.contains("ter2"), "{cast}");
    let cast = asciicast::read(&cast).expect("it is well formed");
    let dialogue = dialogue_of(&cast);
    assert_eq!(dialogue.left_out_places, 1);
    let recorded = script_of(&dialogue, &about("sh", true)).expect("a line was typed");
    assert!(recorded.notes.iter().any(|note| note.contains("no keys in 1 place,")), "{:?}", recorded.notes);
}
