//! Machine files with one mistake each: from templates, with each key misspelt and each value of a wrong kind, and some by hand.

mod written;

use written::WRITTEN;

/// A text in which `▶` marks the place of the mistake, and a part of the message that names the remedy.
pub type Case = (String, String);

/// The beginning of every machine file here.
pub const REST: &str = "title = 't'\nsource = 's'\n";
const COMMAND: &str = "[commands.x]\ncpu = '1ms'\n";
const DRUM: &str = "[storage.drum]\nkind = 'drum'\nrevolution = '30ms'\n";

/// The kind of value of a key.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Time,
    TimeLaw,
    NumberLaw,
    Whole,
    Number,
    Share,
    Flag,
    Choice,
    Store,
}

use Kind::{Choice, Flag, Number, NumberLaw, Share, Store, Time, TimeLaw, Whole};

/// A table without a mistake: the text before it, its heading, its rows, and the text after it.
struct GoodTable(&'static str, &'static str, &'static [(&'static str, &'static str, Kind)], &'static str);

const TABLES: [GoodTable; 14] = [
    GoodTable(
        "",
        "[processors]",
        &[
            ("count", "2", Whole),
            ("speed", "1.5", Number),
            ("instructions_per_second", "1e6", Number),
            ("cpu_when_busy", "0.8", Number),
        ],
        COMMAND,
    ),
    GoodTable("", "[processors]\ndiscipline = 'round-robin'", &[("quantum", "'1ms'", Time), ("switch", "'1ms'", Time)], COMMAND),
    GoodTable(
        "",
        "[processors]",
        &[
            ("discipline", "'ctss'", Choice),
            ("quantum", "'1ms'", Time),
            ("words_per_quantum", "8", Whole),
            ("levels", "9", Whole),
            ("rise", "'60s'", Time),
        ],
        COMMAND,
    ),
    GoodTable(
        "",
        "[processors]\ndiscipline = 'multics'",
        &[("first", "'1s'", Time), ("last", "'1s'", Time), ("most", "'8s'", Time)],
        COMMAND,
    ),
    GoodTable(
        "",
        "[processors]\ndiscipline = 'linux'",
        &[("slice", "'3ms'", Time), ("tick", "'4ms'", Time), ("packs", "true", Flag), ("switch", "'1us'", Time)],
        COMMAND,
    ),
    GoodTable("", "[processors]\ndiscipline = 'priority'", &[("preemptive", "true", Flag)], COMMAND),
    GoodTable(
        DRUM,
        "[memory]",
        &[
            ("residence", "'paging'", Choice),
            ("frames", "256", Whole),
            ("frame_words", "1024", Whole),
            ("wired", "60", Whole),
            ("replacement", "'clock'", Choice),
            ("headway_per_page", "'0.15ms'", Time),
            ("dirty", "0.3", Share),
            ("device", "'drum'", Store),
            ("behind", "'drum'", Store),
            ("device_pages", "2000", Whole),
        ],
        COMMAND,
    ),
    GoodTable(
        DRUM,
        "[memory]\nresidence = 'swapping'",
        &[
            ("device", "'drum'", Store),
            ("first", "'drum'", Store),
            ("words", "32768", Whole),
            ("conditions_words", "1000", Whole),
            ("onion_skin", "true", Flag),
        ],
        COMMAND,
    ),
    GoodTable(
        DRUM,
        "[multiprogramming]",
        &[
            ("control", "'device busy'", Choice),
            ("device", "'drum'", Store),
            ("target", "0.5", Share),
            ("every", "'10s'", Time),
            ("most", "20", Whole),
        ],
        COMMAND,
    ),
    GoodTable(
        "",
        "[storage.disk]",
        &[
            ("kind", "'disk'", Choice),
            ("seek", "'uniform(15ms, 45ms)'", TimeLaw),
            ("revolution", "'25ms'", Time),
            ("words_per_second", "41000", Number),
            ("units", "14", Whole),
            ("channels", "2", Whole),
            ("interrupts", "false", Flag),
        ],
        COMMAND,
    ),
    GoodTable(
        "",
        "[storage.io]\nkind = 'server'",
        &[("service", "'exponential(0.2s)'", TimeLaw), ("servers", "2", Whole)],
        COMMAND,
    ),
    GoodTable(
        "",
        "[supervisor]",
        &[
            ("page_fault", "'3ms'", Time),
            ("segment_fault", "'3ms'", Time),
            ("bound_fault", "'3ms'", Time),
            ("device_interrupt", "'3ms'", Time),
            ("getwork", "'3ms'", Time),
            ("wall_crossing", "'3ms'", Time),
            ("line_in", "'3ms'", Time),
            ("line_out", "'3ms'", Time),
            ("process_creation", "'3ms'", Time),
            ("network_byte", "'3ms'", Time),
            ("network_message", "'3ms'", Time),
            ("message_bytes", "100", Whole),
            ("charge_interrupt", "'interrupted'", Choice),
            ("charge_getwork", "'nobody'", Choice),
        ],
        COMMAND,
    ),
    GoodTable("", "[tariff]", &[("cpu_hour", "235.0", Number), ("paging_wait_hour", "235.0", Number)], COMMAND),
    GoodTable(
        "",
        "[commands.x]",
        &[
            ("cpu", "'1ms'", TimeLaw),
            ("pages", "20", NumberLaw),
            ("common", "0.3", Share),
            ("image_words", "'uniform(100, 200)'", NumberLaw),
            ("segment_faults", "1", NumberLaw),
            ("bound_faults", "1", NumberLaw),
            ("wall_crossings", "1", NumberLaw),
            ("processes", "1", NumberLaw),
            ("lines_out", "1", NumberLaw),
            ("line_bytes", "1", NumberLaw),
            ("line_cpu", "'1ms'", TimeLaw),
            ("line_faults", "1", NumberLaw),
            ("line_walls", "1", NumberLaw),
            ("network_bytes", "1", NumberLaw),
            ("network_byte_cpu", "'1ms'", TimeLaw),
            ("priority", "1", Whole),
            ("status", "1", Whole),
        ],
        "",
    ),
];

/// Wrong values for a kind, each with a part that the message must have.
fn wrong(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Time => &[
            ("▶5", "in a string"),
            ("'5▶'", "5ms"),
            ("'▶-5ms'", "0s or more"),
            ("'5▶mx'", "ns, us, ms, s, min or h"),
            ("'▶fast'", "5s"),
            ("▶true", "in a string"),
            ("'▶20000h'", "10000h"),
            ("'▶'", "3.3ms"),
        ],
        TimeLaw => &[
            ("▶5", "a law in a string"),
            ("'5▶'", "5ms"),
            ("'▶exponental(5ms)'", "did you mean `exponential`?"),
            ("'exponential(5▶)'", "5ms"),
            ("'exponential(▶0s)'", "over 0"),
            ("'uniform(▶5ms, 2ms)'", "lower end comes first"),
            ("'▶geometric(5)'", "no law"),
            ("'exponential(5ms▶'", "closing parenthesis"),
            ("'exponential(5ms)▶x'", "nothing may follow"),
            ("'▶-5ms'", "0s or more"),
        ],
        NumberLaw => &[
            ("▶-1", "0 or more"),
            ("▶true", "a law in a string"),
            ("'▶5ms'", "without a unit"),
            ("'exponential(▶5ms)'", "without a unit"),
            ("'geometric(▶0.5)'", "1 or more"),
            ("'▶unifrom(1, 2)'", "did you mean `uniform`?"),
            ("'pareto(▶5, 1)'", "over 1"),
            ("'hyperexponential(▶5, 1)'", "over 1"),
            ("'erlang(▶1.5, 5)'", "whole number of stages"),
            ("'exponential(5, max 6, ▶max 7)'", "twice"),
            ("'exponential(▶5, min 7, max 6)'", "`min` is over `max`"),
            ("▶inf", "not finite"),
        ],
        Whole => &[
            ("▶-1", "whole number"),
            ("▶1.5", "whole number"),
            ("▶'8'", "whole number"),
            ("▶99999999999999999999", "whole number"),
        ],
        Number => &[("▶-1", "negative"), ("▶'8'", "a number"), ("▶nan", "not finite"), ("▶-0.5", "negative")],
        Share => &[("▶1.5", "from 0 to 1"), ("▶-0.1", "negative"), ("▶'half'", "a number")],
        Flag => &[("▶1", "true or false"), ("▶'yes'", "true or false")],
        Choice => &[("▶1", "takes"), ("▶'nothing of the kind'", "there are")],
        Store => &[("▶1", "the name of a store"), ("▶'drun'", "did you mean `drum`?"), ("▶'tape robot'", "there are drum")],
    }
}

/// The word with one slip: a letter dropped, doubled, or exchanged with the next.
fn misspelt(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    let mut exchanged = letters.clone();
    exchanged.swap(middle - 1, middle);
    let spelt = |letters: &[char]| letters.iter().collect::<String>();
    let dropped = spelt(&[&letters[..middle], &letters[middle + 1..]].concat());
    let doubled = spelt(&[&letters[..middle], &letters[middle - 1..]].concat());
    [dropped, doubled, spelt(&exchanged)].into_iter().filter(|slip| slip != word).collect()
}

fn table(GoodTable(before, heading, rows, after): &GoodTable, except: usize, row: &str) -> String {
    let rows = rows.iter().enumerate().map(|(at, (key, value, _))| match at == except {
        true => format!("{row}\n"),
        false => format!("{key} = {value}\n"),
    });
    format!("{REST}{before}{heading}\n{}{after}", rows.collect::<String>())
}

/// Texts without a mistake, one for each table.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub fn good() -> Vec<String> {
    TABLES.iter().map(|good| table(good, usize::MAX, "")).collect()
}

/// All texts with one mistake.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = WRITTEN.iter().map(|(text, remedy)| (text.to_string(), remedy.to_string())).collect();
    for good in &TABLES {
        for (at, (key, value, kind)) in good.2.iter().enumerate() {
            let values = wrong(*kind).iter();
            cases.extend(values.map(|(wrong, remedy)| (table(good, at, &format!("{key} = {wrong}")), remedy.to_string())));
            let decides = ["kind", "residence", "discipline", "control"].contains(key);
            let slips = misspelt(key).into_iter().filter(|_| !decides && *key != "cpu");
            cases.extend(slips.map(|slip| (table(good, at, &format!("▶{slip} = {value}")), format!("did you mean `{key}`?"))));
        }
    }
    cases
}

/// The keys of all tables.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub fn keys() -> impl Iterator<Item = &'static str> {
    TABLES.iter().flat_map(|good| good.2.iter().map(|(key, _, _)| *key))
}
