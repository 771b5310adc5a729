//! Scripts with one mistake each: it is found where it is, and told with what would be right.
//!
//! In each case ▶ marks the place that the mistake must name; what follows the text must be in the message.

use loadgo_core::script::parse;

/// A text with its marked place, and a part of the message that names the remedy.
type Case = (String, String);

fn case(text: &str, remedy: &str) -> Case {
    (text.into(), remedy.into())
}

/// Ways to misspell a word by one slip: a letter dropped, doubled, exchanged with the next, replaced, added.
fn misspelt(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    let mut exchanged = letters.clone();
    exchanged.swap(middle - 1, middle);
    let spelt = |letters: &[char]| letters.iter().collect::<String>();
    let slips = vec![
        spelt(&[&letters[..middle], &letters[middle + 1..]].concat()),
        spelt(&[&letters[..middle], &letters[middle - 1..]].concat()),
        spelt(&exchanged),
        format!("{word}x"),
        format!("{}x", spelt(&letters[..letters.len() - 1])),
    ];
    slips.into_iter().filter(|slip| slip != word && !slip.is_empty()).collect()
}

/// A good value for each key of a script.
const SCRIPT: [(&str, &str); 15] = [
    ("name", "'x'"),
    ("login", "'sh'"),
    ("logout", "'exit'"),
    ("passes", "2"),
    ("think", "'none'"),
    ("typing", "'12 chars/s'"),
    ("needs", "['cc']"),
    ("timeout", "'30s'"),
    ("until", "'ready'"),
    ("silence", "'1s'"),
    ("status", "0"),
    ("files", "{ 'a' = 'b' }"),
    ("env", "{ A = 'b' }"),
    ("words", "{ w = ['b'] }"),
    ("lines", "['ls']"),
];

/// A good value for each key of an entry among the lines.
const ENTRY: [(&str, &str); 8] = [
    ("as", "'x'"),
    ("think", "'none'"),
    ("until", "'ready'"),
    ("silence", "'1s'"),
    ("timeout", "'30s'"),
    ("status", "0"),
    ("repeat", "2"),
    ("type", "'ls'"),
];

fn misspelt_keys() -> Vec<Case> {
    let mut cases = Vec::new();
    for (key, value) in SCRIPT {
        let lines = if key == "lines" { "" } else { "lines = ['ls']\n" };
        cases.extend(misspelt(key).iter().map(|slip| case(&format!("{lines}▶{slip} = {value}"), &format!("`{key}`"))));
    }
    for (key, value) in ENTRY {
        let typed = if key == "type" { "" } else { "type = 'ls', " };
        let slips = misspelt(key);
        cases.extend(slips.iter().map(|slip| case(&format!("lines = [{{ {typed}▶{slip} = {value} }}]"), &format!("`{key}`"))));
    }
    for key in ["think", "until", "silence", "timeout", "status", "repeat"] {
        let value = ENTRY.iter().find(|(name, _)| *name == key).expect("a known key").1;
        for slip in misspelt(key) {
            cases.push(case(&format!("[[lines]]\nlines = ['ls']\n▶{slip} = {value}"), &format!("`{key}`")));
            cases.push(case(&format!("[[lines]]\nchoose = ['ls']\n▶{slip} = {value}"), &format!("`{key}`")));
        }
    }
    for slip in misspelt("weight") {
        cases.push(case(&format!("lines = [{{ choose = [{{ ▶{slip} = 3, type = 'ls' }}] }}]"), "`weight`"));
    }
    for slip in misspelt("choose") {
        cases.push(case(&format!("lines = [{{ ▶{slip} = ['ls'] }}]"), "`choose`"));
    }
    for slip in misspelt("lines") {
        cases.push(case(&format!("lines = [{{ ▶{slip} = ['ls'] }}]"), "`lines`"));
    }
    cases
}

/// Each value of the wrong kind under each key; the message names the key and how it is written.
fn wrong_kinds() -> Vec<Case> {
    let kinds = [("string", "'good'"), ("number", "7"), ("fraction", "7.5"), ("truth", "true"), ("list", "[]"), ("table", "{}")];
    let fits = |key: &str, kind: &str| match key {
        "passes" | "repeat" => kind == "number",
        "status" => ["number", "list"].contains(&kind),
        "needs" | "lines" => kind == "list",
        "files" | "env" | "words" => kind == "table",
        "weight" => ["number", "fraction"].contains(&kind),
        _ => kind == "string",
    };
    let mut cases = Vec::new();
    for (kind, value) in kinds {
        for (key, _) in SCRIPT.iter().filter(|(key, _)| !fits(key, kind)) {
            let lines = if *key == "lines" { "" } else { "lines = ['ls']\n" };
            cases.push(case(&format!("{lines}{key} = ▶{value}"), &format!("write it as in {}", written(key))));
        }
        for (key, _) in ENTRY.iter().filter(|(key, _)| !fits(key, kind)) {
            let typed = if *key == "type" { "" } else { "type = 'é', " };
            cases.push(case(&format!("lines = [{{ {typed}{key} = ▶{value} }}]"), &format!("`{key}` takes")));
        }
        if !fits("weight", kind) {
            cases.push(case(&format!("lines = [{{ choose = [{{ weight = ▶{value}, type = 'a' }}] }}]"), "weight = 3"));
        }
        if kind != "list" {
            cases.push(case(&format!("lines = [{{ choose = ▶{value} }}]"), "`choose` takes"));
        }
        if kind != "string" {
            cases.push(case(&format!("lines = ['ls']\nneeds = ['cc', ▶{value}]"), "needs = [\"cc\"]"));
            cases.push(case(&format!("lines = ['ls']\n[env]\nA = ▶{value}"), "LANG = \"C\""));
            cases.push(case(&format!("lines = ['ls']\n[words]\nw = ['a', ▶{value}]"), "city = ["));
        }
        if !["string", "table"].contains(&kind) {
            cases.push(case(&format!("lines = ['ls']\n[files]\n'é.c' = ▶{value}"), "\"prime.c\" = "));
            cases.push(case(&format!("lines = ['ls', ▶{value}]"), "{ type = "));
        }
        if kind != "list" {
            cases.push(case(&format!("lines = ['ls']\n[words]\nw = ▶{value}"), "city = ["));
        }
    }
    cases
}

/// How the message shows that `key` is written: the key, or its table's heading.
fn written(key: &str) -> String {
    if ["files", "env", "words"].contains(&key) { format!("[{key}]") } else { format!("{key} = ") }
}

/// Laws of think time with one mistake, and what the message must name.
const LAWS: [(&str, &str); 45] = [
    ("▶5s", "fixed(5s)"),
    ("▶1.5min", "fixed(90s)"),
    ("▶", "uniform(2s, 15s)"),
    ("▶sometimes", "exponential(8s)"),
    ("▶(5s)", "fixed(5s)"),
    ("fixed▶", "fixed(5s)"),
    ("fixed ▶5s", "fixed(5s)"),
    ("fixed(5s▶", "fixed(5s)"),
    ("fixed(5s)▶ x", "fixed(5s)"),
    ("fixed(▶)", "5s"),
    ("fixed(5▶)", "5s"),
    ("fixed(▶s)", "5s"),
    ("fixed(▶-5s)", "0s or more"),
    ("fixed(5▶sec)", "ns, us, ms, s, min or h"),
    ("fixed(5▶S)", "ns, us, ms, s, min or h"),
    ("fixed(▶5.s)", "1.5"),
    ("fixed(▶1.2.3s)", "1.5"),
    ("fixed(▶20000h)", "10000h"),
    ("fixed(▶99999999999999999999999999999999999999999s)", "10000h"),
    ("fixed(▶infs)", "5s"),
    ("fixed(▶1s, 2s)", "one time"),
    ("fixed(5s▶ 6s)", "a comma is missing"),
    ("fixed(5s, ▶)", "5s"),
    ("uniform(▶2s)", "uniform(2s, 15s)"),
    ("uniform(▶1s, 2s, 3s)", "uniform(2s, 15s)"),
    ("uniform(▶15s, 2s)", "uniform(2s, 15s)"),
    ("uniform(2▶, 15s)", "2s"),
    ("uniform(2s, 15▶)", "15s"),
    ("uniform(2s▶ 15s)", "a comma is missing"),
    ("uniform(▶[2s, 15s])", "two times"),
    ("exponential(▶0s)", "over 0s"),
    ("exponential(▶8s, 60s)", "exponential(8s)"),
    ("exponential(8s, max▶ )", "5s"),
    ("exponential(8s, max 60▶)", "60s"),
    ("exponential(8s, max 60s, ▶max 70s)", "once"),
    ("exponential(8s, min 1s, ▶min 2s)", "once"),
    ("exponential(▶8s, min 9s, max 2s)", "min 9s is over max 2s"),
    ("exponential(max 60s, ▶8s)", "stand last"),
    ("lognormal(▶8s)", "lognormal(8s, 4s)"),
    ("lognormal(▶0s, 4s)", "over 0s"),
    ("empirical(▶1s, 2s)", "empirical([1s, 2s])"),
    ("empirical([▶])", "5s"),
    ("empirical(▶[1s, 2s)", "closing bracket"),
    ("empirical([1s, 2▶])", "2s"),
    ("none▶(5s)", "stands alone"),
];

fn wrong_laws() -> Vec<Case> {
    let misspelt = |law: &str| misspelt(law).into_iter().map(|slip| format!("▶{slip}")).collect::<Vec<_>>();
    let mut laws: Vec<Case> = LAWS.iter().map(|(law, remedy)| case(law, remedy)).collect();
    for (law, rest) in [
        ("fixed", "(5s)"),
        ("uniform", "(1s, 2s)"),
        ("exponential", "(8s)"),
        ("lognormal", "(8s, 4s)"),
        ("empirical", "([1s])"),
        ("none", ""),
    ] {
        laws.extend(misspelt(law).iter().map(|slip| case(&format!("{slip}{rest}"), &format!("`{law}`"))));
    }
    let places = |(law, remedy): &Case| {
        [
            case(&format!("think = \"{law}\"\nlines = ['ls']"), remedy),
            case(&format!("lines = [{{ as = 'é漢', type = 'ls', think = '{law}' }}]"), remedy),
        ]
    };
    laws.iter().flat_map(places).collect()
}

/// Typed texts with one mistake; `W` is a list of words.
const TYPED: [(&str, &str); 33] = [
    ("echo ▶{users}", "{user}"),
    ("echo ▶{usr}", "{user}"),
    ("echo ▶{User}", "{user}"),
    ("echo ▶{uesr}", "{user}"),
    ("echo ▶{used}", "{user}"),
    ("echo ▶{use_r}", "{user}"),
    ("echo ▶{user:1}", "{user}"),
    ("echo ▶{pas}", "{pass}"),
    ("echo ▶{passs}", "{pass}"),
    ("echo ▶{Pass}", "{pass}"),
    ("echo ▶{psas}", "{pass}"),
    ("echo ▶{path}", "{{path}}"),
    ("echo ▶{pass:2}", "{pass}"),
    ("echo ▶{random}", "{random:LIST}"),
    ("echo ▶{random:}", "{random:LIST}"),
    ("echo ▶{randm:W}", "{random:LIST}"),
    ("echo ▶{rnadom:W}", "{random:LIST}"),
    ("echo ▶{Random:W}", "{random:LIST}"),
    ("echo ▶{randon:W}", "{random:LIST}"),
    ("echo ▶{random:two words}", "{random:LIST}"),
    ("echo ▶{random:none}", "[words]"),
    ("echo ▶{random:citi}", "{random:city}"),
    ("echo ▶{random:ctiy}", "{random:city}"),
    ("echo ▶{random:City}", "{random:city}"),
    ("é漢 {user} ▶{usr}", "{user}"),
    ("{{user}} ▶{usr}", "{user}"),
    ("${user} ▶{usr}", "{user}"),
    ("{1..3} ▶{usr}", "{user}"),
    ("{{▶{usr}}}", "{user}"),
    ("awk {print} ▶{passe}", "{pass}"),
    ("{random:city} ▶{random:town}", "[words]"),
    ("a ▶{user1} b", "{user}"),
    ("a ▶{random:2}", "{random:LIST}"),
];

fn wrong_texts() -> Vec<Case> {
    let words = "[words]\ncity = ['Paris']\nW = ['a']\n";
    let places = |(typed, remedy): &(&str, &str)| {
        [
            case(&format!("lines = ['{typed}']\n{words}"), remedy),
            case(&format!("[[lines]]\ntype = \"{typed}\"\n{words}"), remedy),
            case(&format!("lines = [{{ choose = [{{ weight = 2, type = '''\n{typed}''' }}] }}]\n{words}"), remedy),
        ]
    };
    TYPED.iter().flat_map(places).collect()
}

/// Whole scripts with one mistake.
const WHOLE: [(&str, &str); 87] = [
    ("▶", "lines = ["),
    ("▶name = 'x'", "lines = ["),
    ("▶lines = []", "lines = ["),
    ("lines = [{ ▶lines = [] }]", "lines = ["),
    ("lines = [{ repeat = 2, ▶lines = [] }]", "lines = ["),
    ("lines = [{ ▶choose = [] }]", "choose = ["),
    ("lines = ['a', ▶{}]", "type = "),
    ("lines = ['a', ▶{ as = 'x' }]", "type = "),
    ("lines = [{ ▶weight = 2, type = 'a' }]", "only inside `choose`"),
    ("lines = [{ lines = ['a'], ▶type = 'b' }]", "it may have lines"),
    ("lines = [{ choose = ['a'], ▶lines = ['b'] }]", "it may have choose"),
    ("lines = [{ choose = ['a'], ▶type = 'b' }]", "it may have choose"),
    ("lines = [{ type = 'a', ▶password = 'b' }]", "it may have type"),
    ("▶colour = 'red'\nlines = ['a']", "it may have name"),
    ("passes = ▶0\nlines = ['a']", "passes = 2"),
    ("passes = ▶-1\nlines = ['a']", "passes = 2"),
    ("passes = ▶4294967296\nlines = ['a']", "4294967295"),
    ("passes = ▶99999999999999999999999999999999\nlines = ['a']", "4294967295"),
    ("lines = [{ type = 'a', repeat = ▶0 }]", "repeat = 3"),
    ("lines = [{ type = 'a', repeat = ▶-3 }]", "repeat = 3"),
    ("lines = [{ type = 'a', repeat = ▶1000001 }]", "`passes`"),
    ("lines = [{ repeat = ▶1000, lines = [{ type = 'a', repeat = 1001 }] }]", "`passes`"),
    ("lines = [{ repeat = ▶500001, lines = ['a', 'b'] }]", "`passes`"),
    ("lines = [{ repeat = ▶4294967295, lines = [{ type = 'a', repeat = 1000000 }] }]", "`passes`"),
    ("▶lines = [{ type = 'a', repeat = 600000 }, { type = 'b', repeat = 600000 }]", "`passes`"),
    ("lines = [{ type = 'a', status = ▶256 }]", "0 to 255"),
    ("lines = [{ type = 'a', status = ▶-1 }]", "0 to 255"),
    ("lines = [{ type = 'a', status = [0, ▶300] }]", "0 to 255"),
    ("lines = [{ type = 'a', status = [0, ▶'one'] }]", "status = [0, 1]"),
    ("lines = [{ type = 'a', status = ▶[] }]", "leave `status` out"),
    ("lines = [{ choose = [{ weight = ▶0, type = 'a' }] }]", "over 0"),
    ("lines = [{ choose = [{ weight = ▶-1, type = 'a' }] }]", "over 0"),
    ("lines = [{ choose = [{ weight = ▶-0.5, type = 'a' }] }]", "over 0"),
    ("lines = [{ choose = [{ weight = ▶inf, type = 'a' }] }]", "over 0"),
    ("lines = [{ choose = [{ weight = ▶nan, type = 'a' }] }]", "over 0"),
    ("lines = [{ choose = [{ weight = ▶2e9, type = 'a' }] }]", "at most 1000000000"),
    ("until = ▶'('\nlines = ['a']", r"'\('"),
    ("until = ▶'['\nlines = ['a']", r"'\['"),
    ("until = ▶'a**('\nlines = ['a']", "to match the text itself"),
    ("until = ▶'*'\nlines = ['a']", r"'\*'"),
    ("until = ▶'x{2'\nlines = ['a']", "to match the text itself"),
    ("until = ▶'(?<n'\nlines = ['a']", "to match the text itself"),
    ("until = ▶''\nlines = ['a']", "name the prompt"),
    ("until = ▶'x*'\nlines = ['a']", "name the prompt"),
    ("until = ▶'$'\nlines = ['a']", "name the prompt"),
    ("lines = [{ type = 'a', until = ▶'+' }]", r"'\+'"),
    ("lines = [{ type = 'a', until = 'x', ▶silence = '1s' }]", "keep one"),
    ("until = 'x'\n▶silence = '1s'\nlines = ['a']", "keep one"),
    ("silence = ▶'0s'\nlines = ['a']", "over 0s"),
    ("silence = '5▶'\nlines = ['a']", "5s"),
    ("timeout = ▶'0s'\nlines = ['a']", "over 0s"),
    ("timeout = ▶'0ms'\nlines = ['a']", "over 0s"),
    ("timeout = '30▶'\nlines = ['a']", "30s"),
    ("timeout = '30 ▶seconds'\nlines = ['a']", "30s"),
    ("timeout = '▶soon'\nlines = ['a']", "500ms"),
    ("timeout = '▶-1s'\nlines = ['a']", "0s or more"),
    ("timeout = '▶'\nlines = ['a']", "500ms"),
    ("lines = [{ type = 'a', timeout = '1▶x' }]", "ns, us, ms, s, min or h"),
    ("typing = ▶'12'\nlines = ['a']", "12 chars/s"),
    ("typing = ▶'fast'\nlines = ['a']", "12 chars/s"),
    ("typing = ▶'0 chars/s'\nlines = ['a']", "0.01"),
    ("typing = ▶'-3 chars/s'\nlines = ['a']", "12 chars/s"),
    ("typing = ▶'inf chars/s'\nlines = ['a']", "12 chars/s"),
    ("typing = ▶'12 words/s'\nlines = ['a']", "12 chars/s"),
    ("typing = ▶'2000000 chars/s'\nlines = ['a']", "1000000"),
    ("name = ▶''\nlines = ['a']", "what the report should call"),
    ("name = \"a▶\\nb\"\nlines = ['a']", "one line"),
    ("lines = [{ type = 'a', as = ▶' ' }]", "what the report should call"),
    ("login = ▶''\nlines = ['a']", "leave it out"),
    ("login = 'su user▶{user}'\nlines = ['a']", "without"),
    ("logout = 'bye ▶{usr}'\nlines = ['a']", "without"),
    ("login = '''a▶\nb'''\nlines = ['a']", "one line"),
    ("needs = [▶'']\nlines = ['a']", "one name"),
    ("needs = [▶'cc -O2']\nlines = ['a']", "one name"),
    ("lines = [\"▶\\u0007\"]", "control"),
    ("lines = ['a', \"b▶\\u001b\"]", "control"),
    ("lines = ['a', \"b▶\\rc\"]", "control"),
    ("lines = [▶\"a\\n\\n\"]", "last line"),
    ("lines = ['a']\n[files]\n▶'/etc/passwd' = 'x'", "relative"),
    ("lines = ['a']\n[files]\n▶'../up' = 'x'", "leaves the user's home"),
    ("lines = ['a']\n[files]\n▶'a/../../b' = 'x'", "leaves the user's home"),
    ("lines = ['a']\n[files]\n▶'~/b' = 'x'", "relative"),
    ("lines = ['a']\n[files]\n▶'' = 'x'", "relative"),
    ("lines = ['a']\n[files]\n▶'a//b' = 'x'", "relative"),
    ("lines = ['a']\n[files]\n▶'a/' = 'x'", "relative"),
    ("lines = ['a']\n[files]\n'a' = 'x'\n▶'a/b' = 'y'", "rename one"),
    ("lines = ['a']\n[files]\n▶prime.c = 'x'", "in quotes"),
];

/// Mistakes of TOML itself, and of tables that swallow what was meant for the script.
const TABLES: [(&str, &str); 26] = [
    ("lines = ['a']\n[files]\n▶passes = 2", "above the first [table]"),
    ("lines = ['a']\n[files]\n▶think = 'none'", "above the first [table]"),
    ("lines = ['a']\n[env]\n▶login = 'sh'", "above the first [table]"),
    ("lines = ['a']\n[words]\n▶needs = ['cc']", "above the first [table]"),
    ("[files]\na = 'b'\n▶lines = ['a']", "above the first [table]"),
    ("lines = ['a']\n[env]\n▶'A B' = 'x'", "LANG = "),
    ("lines = ['a']\n[env]\n▶1A = 'x'", "LANG = "),
    ("lines = ['a']\n[env]\n▶A-B = 'x'", "LANG = "),
    ("lines = ['a']\n[env]\nA = \"b▶\\u0000\"", "NUL"),
    ("lines = ['a']\n[words]\nw = ▶[]", "at least one word"),
    ("lines = ['a']\n[words]\n▶'a b' = ['x']", "city = "),
    ("lines = ['a']\n[words]\nw = ['a', \"b▶\\n\"]", "no newline"),
    ("lines = ['a'", "TOML"),
    ("lines = ['a", "TOML"),
    ("lines ['a']", "TOML"),
    ("lines = ", "TOML"),
    ("= 'a'", "TOML"),
    ("lines = ['a' 'b']", "TOML"),
    ("lines = [a]", "TOML"),
    ("[files\nlines = ['a']", "TOML"),
    ("lines = ['a']\nlines = ['b']", "TOML"),
    ("lines = [\"\\q\"]", "TOML"),
    ("name = 'x' lines = ['a']", "TOML"),
    ("passes = 1 2\nlines = ['a']", "TOML"),
    ("passes = ▶0x\nlines = ['a']", "passes = 2"),
    ("lines = [{ type = 'a' ]", "TOML"),
];

fn all() -> Vec<Case> {
    let told = |cases: &[(&str, &str)]| cases.iter().map(|(text, remedy)| case(text, remedy)).collect::<Vec<_>>();
    [misspelt_keys(), wrong_kinds(), wrong_laws(), wrong_texts(), told(&WHOLE), told(&TABLES)].concat()
}

/// Line and column of ▶, and the text without it.
fn place(marked: &str) -> (Option<(usize, usize)>, String) {
    let text = marked.replace('▶', "");
    let Some(at) = marked.find('▶') else { return (None, text) };
    let line = marked[..at].matches('\n').count() + 1;
    let column = marked[..at].rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (Some((line, column)), text)
}

#[test]
fn each_single_mistake_is_found_where_it_is_and_told_with_its_remedy() {
    let mut wrong = Vec::new();
    for (marked, remedy) in all() {
        let (place, text) = place(&marked);
        let Err(mistake) = parse(&text) else {
            wrong.push(format!("taken for good: {text}"));
            continue;
        };
        if place.is_some_and(|place| place != (mistake.line, mistake.column)) {
            wrong.push(format!("at the wrong place: {marked}\n    {mistake}"));
        } else if !mistake.message.contains(&remedy) {
            wrong.push(format!("without {remedy:?}: {marked}\n    {mistake}"));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_mistake_is_found_at_the_same_column_under_other_text() {
    for (marked, _) in all() {
        let (_, text) = place(&marked);
        let alone = parse(&text).expect_err("it has a mistake");
        let under = parse(&format!("# café 漢字\r\n\n{text}")).expect_err("it still has");
        if alone.message.starts_with("there are no lines") {
            continue;
        }
        assert_eq!((under.line, under.column, under.message), (alone.line + 2, alone.column, alone.message), "{text}");
    }
}

#[test]
fn there_are_at_least_500_single_mistakes() {
    let texts: std::collections::BTreeSet<_> = all().into_iter().map(|(text, _)| text).collect();
    assert!(texts.len() >= 500, "{}", texts.len());
}

#[test]
fn a_line_near_the_limit_of_a_terminal_is_refused_with_the_reason() {
    let script =
        |length: usize, rest: &str| parse(&format!("lines = ['{}{rest}']\n[words]\nw = ['a', 'bcd']", "x".repeat(length)));
    assert!(script(4094, "").is_ok());
    for (length, rest) in [(4095, ""), (4085, "{user}"), (4092, "{random:w}"), (100_000, "")] {
        let mistake = script(length, rest).expect_err("too long");
        assert!(mistake.message.contains("terminal") && mistake.message.contains("[files]"), "{mistake}");
        assert_eq!((mistake.line, mistake.column), (1, 10));
    }
    assert!(script(4084, "{user}").is_ok() && script(4091, "{random:w}").is_ok());
}

#[test]
fn shell_braces_are_typed_as_they_stand() {
    let typed = "awk '{print $1}' {1..3} ${user} {} {a,b} { ls; } {x} f{name}s ${pass:-1} }} {{ {{x}} {\"used\": 3} {user";
    let script = parse(&format!("lines = [\"\"\"{typed}\"\"\"]")).expect("a good script");
    assert_eq!(script.lines().next().and_then(|line| line.text.plain()), Some(typed));
}
