//! Scripts, laws and templates that are drawn: what is printed reads back as the same value.

use loadgo_core::arrivals::DayRate;
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::{
    Alternative, ReadyRule, ScreenRule, Script, ScriptLine, ScriptStep, Template, TemplatePart, TimeLaw, TypedForm, parse,
    parse_span, print, print_span,
};
use loadgo_core::time::Span;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![0u64..2_000, 0u64..120_000_000_000, 0u64..=36_000_000_000_000_000, (0u64..7200).prop_map(|s| s * 1_000_000_000)]
        .prop_map(Span)
}

fn positive() -> impl Strategy<Value = Span> {
    span().prop_map(|span| Span(span.0.max(1)))
}

fn simple_law() -> impl Strategy<Value = TimeLaw> {
    prop_oneof![
        span().prop_map(TimeLaw::Fixed),
        (span(), span()).prop_map(|(a, b)| TimeLaw::Uniform(a.min(b), a.max(b))),
        positive().prop_map(TimeLaw::Exponential),
        (positive(), span()).prop_map(|(mean, deviation)| TimeLaw::LogNormal(mean, deviation)),
        vec(span(), 1..5).prop_map(TimeLaw::Empirical),
    ]
}

fn law() -> impl Strategy<Value = TimeLaw> {
    let bound = |(law, a, b): (TimeLaw, Option<Span>, Option<Span>)| {
        let (a, b) = (a.unwrap_or(Span::ZERO), b.unwrap_or(Span(u64::MAX)));
        let (least, most) = (a.min(b), a.max(b));
        if least == Span::ZERO && most == Span(u64::MAX) { law } else { TimeLaw::Bounded(Box::new(law), least, most) }
    };
    prop_oneof![Just(TimeLaw::None), simple_law(), (simple_law(), option::of(span()), option::of(span())).prop_map(bound)]
}

/// Pieces of text in which braces, near misses and characters that TOML escapes meet.
fn text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "{{",
        "}}",
        "$",
        "{user}",
        "{{user}}",
        "{users}",
        "{pass}",
        "{random:w}",
        "{random:none}",
        "{random}",
        "user",
        "awk '{print $1}'",
        "${x}",
        "{1..3}",
        " ",
        "\n",
        "\t",
        "\"",
        "'",
        "\\",
        "é",
        "漢",
        "x",
        "'''",
        "\"\"\"",
        ":",
    ];
    prop_oneof![vec(prop::sample::select(pieces), 0..9).prop_map(|pieces| pieces.concat()), "[ -~]{0,30}"]
}

fn template() -> impl Strategy<Value = Template> {
    let part = prop_oneof![
        3 => text().prop_map(TemplatePart::Text),
        1 => Just(TemplatePart::User),
        1 => Just(TemplatePart::Pass),
        1 => Just(TemplatePart::Random("w".into())),
    ];
    vec(part, 0..6).prop_map(whole).prop_filter(
        "a text ends before its newline",
        |template| !matches!(template.0.last(), Some(TemplatePart::Text(text)) if text.ends_with('\n')),
    )
}

/// Neighbouring texts joined, empty ones dropped; `$` before a placeholder belongs to the shell and is taken away.
fn whole(parts: Vec<TemplatePart>) -> Template {
    let mut joined: Vec<TemplatePart> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (_, TemplatePart::Text(text)) if text.is_empty() => {}
            (Some(TemplatePart::Text(text)), TemplatePart::Text(more)) => text.push_str(&more),
            (Some(TemplatePart::Text(text)), part) => {
                if text.trim_end_matches('{').ends_with('$') {
                    text.truncate(text.trim_end_matches(['$', '{']).len());
                }
                if text.is_empty() {
                    joined.pop();
                }
                joined.push(part);
            }
            (_, part) => joined.push(part),
        }
    }
    Template(joined)
}

fn until() -> impl Strategy<Value = ReadyRule> {
    let pattern = prop::sample::select(vec![r"\? $", "ready", r#"say "x"'\d+"#, "é+"]);
    prop_oneof![
        Just(ReadyRule::Mark),
        pattern.prop_map(|p| ReadyRule::Pattern(p.into())),
        positive().prop_map(ReadyRule::Silence)
    ]
}

fn screen() -> impl Strategy<Value = ReadyRule> {
    let shows = option::of(prop::sample::select(vec!["written$", "(?m)^-- INSERT --", r"é\d"]).prop_map(String::from));
    let cursor = option::of((1u16..=24, 1u16..=80));
    (positive(), shows, cursor).prop_map(|(settle, shows, cursor)| ReadyRule::Screen(ScreenRule { settle, shows, cursor }))
}

/// A line of typed keys. A sign is always in it: the parser takes the screen where a script names none.
fn keys() -> impl Strategy<Value = ScriptStep> {
    let typed = prop::sample::select(vec!["ihello<Esc>:wq<Enter>", "<C-x>", "j", "<lt>é<M-Up>", "$<Space>' \""]);
    let settings = (thinks(), prop_oneof![until(), screen()], option::of(positive()), option::of(vec(any::<u8>(), 1..4)));
    (typed, name(), settings).prop_map(|(typed, name, ((think, think_after), until, timeout, status))| {
        let (text, until) = (Template(vec![TemplatePart::Text(typed.into())]), Some(until));
        ScriptStep::Line(ScriptLine { number: 0, form: TypedForm::Keys, text, name, think, think_after, until, timeout, status })
    })
}

/// The think times before and after a line.
fn thinks() -> impl Strategy<Value = (Option<TimeLaw>, Option<TimeLaw>)> {
    (option::of(law().boxed()), option::of(law().boxed())).boxed()
}

fn name() -> impl Strategy<Value = String> {
    "[a-zé\"'\\\\]([ -~é]{0,12}[a-z])?"
}

fn line() -> impl Strategy<Value = ScriptStep> {
    let status = option::of(vec(any::<u8>(), 1..4));
    let settings = (thinks(), option::of(prop_oneof![until(), screen()]), option::of(positive()), status);
    (template(), option::of(name()), settings).prop_map(|(text, name, ((think, think_after), until, timeout, status))| {
        let word = text.to_string().split_whitespace().next().unwrap_or("(return)").to_string();
        ScriptStep::Line(ScriptLine {
            number: 0,
            form: TypedForm::Line,
            text,
            name: name.unwrap_or(word),
            think,
            think_after,
            until,
            timeout,
            status,
        })
    })
}

fn step() -> impl Strategy<Value = ScriptStep> {
    prop_oneof![3 => line(), 1 => keys()].prop_recursive(3, 12, 3, |inner| {
        let weight = prop_oneof![Just(1.0), 0.001..1000.0, (1u32..9).prop_map(f64::from)];
        prop_oneof![
            (1u32..9, vec(inner.clone(), 1..4)).prop_map(|(times, steps)| ScriptStep::Repeat(times, steps)),
            vec((weight.clone(), vec(inner.clone(), 1..3)), 1..4).prop_map(|read| ScriptStep::Choose(independent(read))),
            (1u32..9, vec((weight, vec(inner, 1..3)), 1..5), vec(row(), 4))
                .prop_map(|(times, read, rows)| ScriptStep::Repeat(times, vec![ScriptStep::Choose(chained(read, rows))])),
        ]
    })
}

type Weighted = Vec<(f64, Vec<ScriptStep>)>;
type Row = Option<Vec<(u32, f64)>>;

fn row() -> impl Strategy<Value = Row> {
    option::of(vec((0u32..4, prop_oneof![0.001..1000.0, (1u32..99).prop_map(f64::from)]), 1..4))
}

fn independent(read: Weighted) -> Vec<Alternative> {
    read.into_iter().map(|(weight, steps)| Alternative { weight, steps, then: None }).collect()
}

/// The name of an alternative's first line; none of a choice's.
fn first_name(steps: &[ScriptStep]) -> Option<&str> {
    match steps.first()? {
        ScriptStep::Line(line) => Some(&line.name),
        ScriptStep::Repeat(_, steps) => first_name(steps),
        ScriptStep::Choose(_) => None,
    }
}

/// A chain of the alternatives. Of the drawn rows, it keeps what names exactly one alternative, each once.
fn chained(read: Weighted, rows: Vec<Row>) -> Vec<Alternative> {
    let names: Vec<_> = read.iter().map(|(_, steps)| first_name(steps).map(String::from)).collect();
    let is_named = |index: u32| {
        let name = names.get(index as usize).cloned().flatten();
        name.is_some() && names.iter().filter(|other| **other == name).count() == 1
    };
    let row = |index: u32, row: Row| {
        let mut seen = std::collections::BTreeSet::new();
        let row: Vec<_> = row?.into_iter().filter(|(next, _)| is_named(*next) && seen.insert(*next)).collect();
        row.iter().any(|(next, _)| *next != index).then_some(row)
    };
    let mut alternatives = independent(read);
    for ((index, alternative), drawn) in (0..).zip(&mut alternatives).zip(rows) {
        alternative.then = row(index, drawn);
    }
    // The second may come after the first alone.
    if alternatives[0].then.iter().flatten().any(|(next, _)| *next == 1) {
        alternatives[1].weight = 0.0;
    }
    alternatives
}

fn numbered(steps: &mut [ScriptStep], next: &mut u32) {
    for step in steps {
        match step {
            ScriptStep::Line(line) => {
                *next += 1;
                line.number = *next;
            }
            ScriptStep::Repeat(_, steps) => numbered(steps, next),
            ScriptStep::Choose(alternatives) => alternatives.iter_mut().for_each(|each| numbered(&mut each.steps, next)),
        }
    }
}

/// Rates of a day, at least one of them over 0; or none.
fn arrivals() -> impl Strategy<Value = Vec<DayRate>> {
    btree_map(0u32..1440, prop_oneof![Just(0.0), 0.001..1e9, (1u32..99).prop_map(f64::from)], 0..5).prop_map(|rates| {
        let rates: Vec<_> = rates.into_iter().map(|(minute, per_hour)| DayRate { minute, per_hour }).collect();
        if rates.iter().any(|rate| rate.per_hour > 0.0) { rates } else { Vec::new() }
    })
}

prop_compose! {
    fn script()(
        name in name(), login in "[a-z]{1,8}( -[a-z]{1,4})?", logout in prop::sample::select(vec!["exit", "logout", "quit now"]),
        passes in 1u32.., think in law(), typing in option::of(0.01..1e6), needs in vec("[a-z]{1,6}", 0..3),
        files in btree_map("[a-zA-Z0-9_.]{1,4}x/[a-z]{1,5}", "[ -~\n\té\"'\\\\]{0,40}", 0..3),
        env in btree_map("[A-Z_][A-Z0-9_]{0,6}", "[ -~]{0,12}", 0..3),
        beside in btree_map("[A-Z_][A-Z0-9_]{0,6}", "[a-z]{1,9}( --[a-z]{1,9})?", 0..2),
        arrivals in arrivals(),
        other in vec(text().prop_map(|text| text.replace('\n', "")), 1..4),
        timeout in positive(), until in until(), mut steps in vec(step(), 1..5),
    ) -> Script {
        numbered(&mut steps, &mut 0);
        let words = BTreeMap::from([("w".to_string(), other)]);
        let (name, login, logout) = (name, login, logout.to_string());
        Script { name, login, logout, passes, think, typing_chars_per_second: typing, needs, files, env, beside, arrivals, words, timeout, until, steps }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_printed_span_reads_back(span in span()) {
        prop_assert_eq!(parse_span(&print_span(span)), Ok(span));
    }

    #[test]
    fn a_printed_law_reads_back(law in law()) {
        prop_assert_eq!(TimeLaw::parse(&law.to_string()), Ok(law));
    }

    #[test]
    fn a_printed_script_reads_back(script in script()) {
        let printed = print(&script);
        let read = parse(&printed);
        prop_assert!(read.as_ref() == Ok(&script), "{printed}\n{read:#?}\n{script:#?}");
    }

    #[test]
    fn any_text_can_be_typed(text in text()) {
        prop_assume!(!text.ends_with('\n'));
        let part = if text.is_empty() { vec![] } else { vec![TemplatePart::Text(text.clone())] };
        let line = ScriptLine { number: 1, form: TypedForm::Line, text: Template(part), name: "x".into(), think: None, think_after: None, until: None, timeout: None, status: None };
        let mut script = parse("lines = ['x']").expect("a good script");
        script.steps = vec![ScriptStep::Line(line)];
        let read = parse(&print(&script)).expect("what is printed is good");
        let mut typed = String::new();
        let mut choice = RandomStream::new(1, 1, StreamPurpose::Choice);
        read.lines().next().expect("one line").text.fill(7, 2, &read.words, &mut choice, &mut typed);
        prop_assert_eq!(typed, text);
    }

    #[test]
    fn a_bounded_law_keeps_its_bounds(law in simple_law(), a in span(), b in span(), user in 1u32..) {
        let (least, most) = (a.min(b), a.max(b));
        let drawn = TimeLaw::Bounded(Box::new(law), least, most).draw(&mut RandomStream::new(3, user, StreamPurpose::Think));
        prop_assert!(least <= drawn && drawn <= most);
    }
}

#[test]
fn a_status_that_all_lines_share_is_written_once() {
    let script =
        parse("status = 0\nlines = ['a', { repeat = 2, lines = ['b', 'c'] }, { choose = ['d'] }]").expect("a good script");
    let printed = print(&script);
    assert_eq!(printed.matches("status").count(), 1, "{printed}");
    assert_eq!(parse(&printed), Ok(script));
}
