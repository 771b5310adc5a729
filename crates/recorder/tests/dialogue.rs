//! A session followed event by event: the prompt of each line, its text, and whether its keys may be kept.

use loadgo_core::osc133::prompt_mark;
use loadgo_core::time::Instant;
use loadgo_recorder::recording::{Dialogue, EnteredText, Entry, KeyRetention, KeysPart, MarkCutter, OutputPiece, SessionEvent};

/// Feeds a session to a dialogue. Each event is a millisecond after the one before, and each key is echoed at once.
struct Typist {
    dialogue: Dialogue,
    cutter: MarkCutter,
    now: u64,
}

impl Typist {
    fn new() -> Typist {
        Typist { dialogue: Dialogue::new(80), cutter: MarkCutter::of_session("7"), now: 0 }
    }

    fn at(&mut self) -> Instant {
        self.now += 1_000_000;
        Instant(self.now)
    }

    fn keys(&mut self, keys: &str) -> &mut Typist {
        let at = self.at();
        self.dialogue.feed(&SessionEvent::Keys { at, bytes: keys.into() });
        self
    }

    fn shows(&mut self, output: &str) -> &mut Typist {
        let at = self.at();
        for piece in self.cutter.feed(output.as_bytes()) {
            self.dialogue.feed(&match piece {
                OutputPiece::Text(bytes) => SessionEvent::Output { at, bytes },
                OutputPiece::Mark(mark) => SessionEvent::Mark { at, mark },
            });
        }
        self
    }

    fn echo_off(&mut self) -> &mut Typist {
        let at = self.at();
        self.dialogue.feed(&SessionEvent::EchoOff { at });
        self
    }

    fn types(&mut self, text: &str) -> &mut Typist {
        for char in text.chars() {
            self.keys(&char.to_string()).shows(&char.to_string());
        }
        self.keys("\r").shows("\r\n")
    }

    fn prompt(&mut self, status: &str) -> &mut Typist {
        self.shows(&format!("$ {}", prompt_mark("7", status)))
    }

    fn entered(&self) -> Vec<String> {
        let words = |entry: &Entry| match &entry.entered {
            EnteredText::Text(text) => format!("{:?} {text}", entry.prompt_kind),
            other => format!("{:?} {other:?}", entry.prompt_kind),
        };
        self.dialogue.entries.iter().map(words).collect()
    }

    fn statuses(&self) -> Vec<Option<u8>> {
        self.dialogue.entries.iter().map(|entry| entry.ready.and_then(|ready| ready.status)).collect()
    }
}

#[test]
fn a_line_is_read_from_its_echo_and_its_status_from_the_next_mark() {
    let mut typist = Typist::new();
    typist.prompt("0").types("false").prompt("1").types("true").prompt("0");
    assert_eq!(typist.entered(), ["Shell false", "Shell true"]);
    assert_eq!(typist.statuses(), [Some(1), Some(0)]);
}

#[test]
fn a_line_typed_ahead_belongs_to_the_prompt_at_which_the_shell_reads_it() {
    let mut editing = Typist::new();
    editing.prompt("0").types("sleep 1").types("false").prompt("0").shows("false\r\n").prompt("1").types("ls").prompt("0");
    assert_eq!(editing.entered(), ["Shell sleep 1", "Shell false", "Shell ls"]);
    assert_eq!(editing.statuses(), [Some(0), Some(1), Some(0)]);
    let mut plain = Typist::new();
    plain.prompt("0").types("sleep 1").types("false").prompt("0").prompt("1").types("ls").prompt("0");
    assert_eq!(plain.entered(), editing.entered());
    assert_eq!(plain.statuses(), editing.statuses());
}

#[test]
fn lines_that_a_program_reads_belong_to_the_program() {
    let mut typist = Typist::new();
    typist.prompt("0").types("bc").types("1+1").shows("2\r\n").types("quit").prompt("0").types("ls").prompt("2");
    assert_eq!(typist.entered(), ["Shell bc", "Program 1+1", "Program quit", "Shell ls"]);
    assert_eq!(typist.statuses(), [None, None, Some(0), Some(2)]);
}

#[test]
fn keys_without_echo_are_a_secret_and_may_not_be_kept() {
    let mut typist = Typist::new();
    typist.prompt("0").types("ssh there").shows("Password: ");
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Keys);
    typist.keys("h").keys("2").keys("\r");
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Undecided);
    typist.shows("\r\nWelcome\r\n").prompt("0");
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::NoKeys);
    assert_eq!(typist.entered(), ["Shell ssh there", "Program Secret"]);
}

#[test]
fn keys_to_a_full_screen_program_are_lines_of_their_own() {
    let mut typist = Typist::new();
    typist.prompt("0").types("vi").shows("\x1b[?1049h\x1b[H").keys("i").keys("a").shows("a").keys("\x1b").shows("\x1b[H");
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Keys);
    typist.keys(":").shows("\x1b[24H:").keys("q").shows("q").keys("\r").shows("\x1b[?1049l").prompt("0").types("ls").prompt("0");
    let keys = |text: &str| format!("Screen {:?}", EnteredText::Keys(vec![KeysPart::Keys(text.into())]));
    assert_eq!(typist.entered(), ["Shell vi".into(), keys("ia<Esc>"), keys(":q<Enter>"), "Shell ls".to_string()]);
    assert_eq!(typist.statuses(), [None, None, Some(0), Some(0)]);
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Keys);
}

#[test]
fn keys_that_a_full_screen_program_does_not_show_are_a_secret() {
    let mut typist = Typist::new();
    typist.prompt("0").types("mutt").shows("\x1b[?1049h\x1b[HPassword: ");
    for key in ["h", "u", "n", "t"] {
        typist.keys(key).shows("\x1b[5;1H\x1b[1;11H");
    }
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Undecided);
    typist.keys("\r").shows("\x1b[2J").keys("q").shows("\x1b[?1049l").prompt("0");
    let parts = vec![KeysPart::Secret, KeysPart::Keys("<Enter>".into())];
    assert_eq!(typist.dialogue.entries[1].entered, EnteredText::Keys(parts));
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::NoKeys);
}

#[test]
fn a_key_to_a_program_without_a_screen_of_its_own_is_no_part_of_the_next_line() {
    let mut typist = Typist::new();
    typist.prompt("0").types("top").shows("\x1b[H\x1b[2Jload 0.5\r\n\x1b[6;1H").keys("q").shows("\x1b[24;1H\r\n");
    typist.prompt("0").types("echo one").prompt("0");
    let keys = format!("Screen {:?}", EnteredText::Keys(vec![KeysPart::Keys("q".into())]));
    assert_eq!(typist.entered(), ["Shell top".to_string(), keys, "Shell echo one".into()]);
    assert_eq!(typist.statuses(), [None, Some(0), Some(0)]);
}

#[test]
fn an_abandoned_line_is_no_line() {
    let mut typist = Typist::new();
    typist.prompt("0").keys("a").shows("a").keys("\x03").shows("^C\r\n").prompt("130").types("ls").prompt("0");
    assert_eq!(typist.entered(), ["Shell ls"]);
}

#[test]
fn a_line_found_by_searching_the_history_is_read_from_the_redrawn_line() {
    let mut typist = Typist::new();
    typist.prompt("0").keys("\x12").shows("\r(reverse-i-search)`': \x1b[K");
    typist.keys("a").shows("\x08\x08\x08a': ls -\x1b[7ma\x1b[27m b\x08\x08\x08").keys("\r");
    typist.shows(&format!("\r\x1b[K$ {}ls -a b\r\n", prompt_mark("7", "0"))).prompt("2");
    assert_eq!(typist.entered(), ["Shell ls -a b"]);
    assert_eq!(typist.statuses(), [Some(2)]);
}

#[test]
fn a_secret_typed_ahead_of_its_prompt_is_not_kept() {
    let mut typist = Typist::new();
    typist.prompt("0").types("sudo ls").types("hunter2");
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::Undecided, "the command may turn the echo off yet");
    typist.echo_off().shows("Password: \r\n").prompt("0").types("ls").prompt("0");
    assert_eq!(typist.entered(), ["Shell sudo ls", "Program Secret", "Shell ls"]);
    assert_eq!(typist.dialogue.key_retention(), KeyRetention::NoKeys);
}

#[test]
fn a_secret_that_was_begun_ahead_of_its_prompt_is_not_kept() {
    let mut typist = Typist::new();
    typist.prompt("0").types("sudo ls").keys("hun").shows("hun").echo_off().shows("Password: ");
    let at = typist.at();
    typist.dialogue.feed(&SessionEvent::Hidden { at, entered: true });
    typist.shows("\r\n").prompt("0");
    assert_eq!(typist.entered(), ["Shell sudo ls", "Program Secret"]);
    let kept: Vec<u8> = typist.dialogue.entries.iter().flat_map(|entry| entry.prompt_bytes.clone()).collect();
    assert!(!String::from_utf8_lossy(&kept).contains("hun"), "neither in the text nor in a prompt");
}
