//! Fuzz test: any bytes of a terminal and a keyboard make a recording without a panic, and without keys that were not shown.

use loadgo_core::osc133::prompt_mark;
use loadgo_core::script::parse;
use loadgo_core::time::Instant;
use loadgo_recorder::asciicast::{self, CastWriter, dialogue_of};
use loadgo_recorder::recording::{
    Dialogue, KeyRetention, MarkCutter, OutputPiece, SessionEnding, SessionEvent, SessionFacts, continuation_mark, script_of,
    text_of,
};
use proptest::prelude::*;

/// A random event: `i` with keys, `o` with output, `r` for a resize, or `h` for hidden keys.
fn happening() -> impl Strategy<Value = (char, Vec<u8>)> {
    let keys = prop_oneof![
        "[a-z ]{1,6}".prop_map(String::into_bytes),
        Just(b"\r".to_vec()),
        prop::sample::select(vec![
            "\x03",
            "\x04",
            "\x1a",
            "\x7f",
            "\t",
            "\x15",
            "\x17",
            "\x1b[A",
            "\x12",
            "\x1b[200~a\rb\x1b[201~"
        ])
        .prop_map(|key| key.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 1..8),
    ];
    let output = prop_oneof![
        "[a-z >$]{1,9}".prop_map(String::into_bytes),
        Just(b"\r\n".to_vec()),
        prop::sample::select(vec![
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[H\x1b[2J",
            "\x1b[K",
            "\r",
            "\x08",
            ">>> ",
            "\x1b[999;999H"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        (0..256u32).prop_map(|status| format!("$ {}", prompt_mark("7", &status.to_string())).into_bytes()),
        Just(format!("> {}", continuation_mark("7")).into_bytes()),
        prop::collection::vec(any::<u8>(), 1..12),
    ];
    prop_oneof![
        keys.prop_map(|keys| ('i', keys)),
        output.prop_map(|output| ('o', output)),
        Just(('r', vec![])),
        any::<bool>().prop_map(|entered| ('h', vec![u8::from(entered)])),
    ]
}

/// Feeds the events to a dialogue and to a cast, and returns both.
fn recorded(happenings: &[(char, Vec<u8>)]) -> (Dialogue, String) {
    let (mut dialogue, mut cutter) = (Dialogue::new(40), MarkCutter::of_session("7"));
    let (mut writer, mut cast) = CastWriter::begin(40, 24, 0, "sh");
    let last = ('e', Vec::new());
    for (index, (what, data)) in happenings.iter().chain([&last]).enumerate() {
        let at = Instant(index as u64 * 1_000_000);
        let event = match what {
            'o' => {
                writer.output(at, data);
                for piece in cutter.feed(data) {
                    dialogue.feed(&match piece {
                        OutputPiece::Text(bytes) => SessionEvent::Output { at, bytes },
                        OutputPiece::Mark(mark) => SessionEvent::Mark { at, mark },
                    });
                }
                cast.push_str(&writer.lines(dialogue.key_retention()));
                continue;
            }
            'i' => SessionEvent::Keys { at, bytes: data.clone() },
            'r' => SessionEvent::Resize { at, columns: 20 + index as u16 % 100, rows: 30 },
            'h' => SessionEvent::Hidden { at, entered: data[0] == 1 },
            _ => SessionEvent::End { at, ending: SessionEnding::Exited(0) },
        };
        writer.event(&event);
        dialogue.feed(&event);
        cast.push_str(&writer.lines(dialogue.key_retention()));
    }
    let retention = dialogue.key_retention();
    cast.push_str(&writer.finish(retention));
    assert_ne!(retention, KeyRetention::Undecided, "a session that has ended is decided");
    (dialogue, cast)
}

proptest! {
    #[test]
    fn any_session_makes_a_script_that_reads_back_or_names_its_secrets(happenings in prop::collection::vec(happening(), 0..60)) {
        let (dialogue, cast) = recorded(&happenings);
        let about = SessionFacts { name: "any".into(), login: "sh".into(), marks: true };
        if let Ok(recorded) = script_of(&dialogue, &about) {
            let text = text_of(&recorded);
            match parse(&text) {
                Ok(script) => prop_assert_eq!(script, recorded.script),
                Err(mistake) => prop_assert!(text.contains("# [words]"), "{}\n{}", mistake, text),
            }
        }
        if let Ok(cast) = asciicast::read(&cast) {
            dialogue_of(&cast);
        }
    }

    #[test]
    fn keys_that_were_never_shown_reach_neither_script_nor_cast(
        before in prop::collection::vec(happening(), 0..20),
        after in prop::collection::vec(happening(), 0..20),
    ) {
        let secret = "HUNTER2";
        let mut happenings = before;
        happenings.extend([('o', b"\r\nPassword: ".to_vec())]);
        happenings.extend(secret.bytes().map(|key| ('i', vec![key])));
        happenings.extend([('i', b"\r".to_vec()), ('o', b"\r\n".to_vec())]);
        happenings.extend(after);
        let (dialogue, cast) = recorded(&happenings);
        let kept: Vec<char> = cast.lines().filter_map(|line| line.split_once("\"i\", \"")?.1.chars().next()).collect();
        prop_assert!(!kept.windows(secret.len()).any(|keys| keys.iter().copied().eq(secret.chars())), "{}", cast);
        let about = SessionFacts { name: "any".into(), login: "sh".into(), marks: true };
        if let Ok(recorded) = script_of(&dialogue, &about) {
            prop_assert!(!text_of(&recorded).contains(secret), "{}", text_of(&recorded));
        }
    }

    #[test]
    fn any_text_is_a_cast_or_a_mistake_with_a_line_of_it(text in "(\\{\"version\": [23], \"term\": \\{\"cols\": 80\\}\\}\n)?([\\[\\]0-9a-z\", \n.-]{0,80})") {
        if let Err(mistake) = asciicast::read(&text) {
            prop_assert!(mistake.line >= 1 && mistake.line <= text.lines().count().max(1));
        }
    }
}
