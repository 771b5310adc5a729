//! Scripts with one mistake each, made from templates: every key misspelt, every value of every wrong kind.

mod written;

use written::{LAWS, TABLES, TYPED, WHOLE};

/// A text with its marked place, and a part of the message that names the remedy.
pub type Case = (String, String);

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
const SCRIPT: [(&str, &str); 16] = [
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
    ("beside", "{ A = 'b' }"),
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
        "files" | "env" | "beside" | "words" => kind == "table",
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
            cases.push(case(&format!("lines = ['ls']\n[beside]\nA = ▶{value}"), "HOST = \"server"));
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
    if ["files", "env", "beside", "words"].contains(&key) { format!("[{key}]") } else { format!("{key} = ") }
}

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

pub fn all() -> Vec<Case> {
    let told = |cases: &[(&str, &str)]| cases.iter().map(|(text, remedy)| case(text, remedy)).collect::<Vec<_>>();
    [misspelt_keys(), wrong_kinds(), wrong_laws(), wrong_texts(), told(&WHOLE), told(&TABLES)].concat()
}
