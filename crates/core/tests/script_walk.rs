//! Passes through a script: order, repeats, choices by weight, and placeholders.

use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::{PassWalk, Script, parse};

fn script(text: &str) -> Script {
    parse(text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

fn walked(script: &Script, choice: &mut RandomStream) -> Vec<u32> {
    let mut walk = PassWalk::new(script);
    std::iter::from_fn(|| walk.next(choice)).map(|line| line.number).collect()
}

fn choice() -> RandomStream {
    RandomStream::new(1, 7, StreamPurpose::Choice)
}

#[test]
fn lines_come_in_the_order_of_the_file() {
    assert_eq!(walked(&script("lines = ['a', 'b', 'c']"), &mut choice()), [1, 2, 3]);
}

#[test]
fn groups_repeat_inside_groups() {
    let text = "lines = ['a', { repeat = 2, lines = ['b', { type = 'c', repeat = 3 }] }, 'd']";
    assert_eq!(walked(&script(text), &mut choice()), [1, 2, 3, 3, 3, 2, 3, 3, 3, 4]);
}

#[test]
fn a_pass_that_has_ended_stays_at_its_end() {
    let script = script("lines = [{ type = 'a', repeat = 2 }]");
    let mut walk = PassWalk::new(&script);
    let mut choice = choice();
    assert_eq!((0..5).map(|_| walk.next(&mut choice).is_some()).collect::<Vec<_>>(), [true, true, false, false, false]);
}

#[test]
fn alternatives_are_taken_by_weight() {
    let script = script("lines = [{ choose = [{ weight = 3, type = 'a' }, { weight = 1, lines = ['b', 'c'] }] }]");
    let mut choice = choice();
    let passes: Vec<_> = (0..20_000).map(|_| walked(&script, &mut choice)).collect();
    assert!(passes.iter().all(|pass| *pass == [1] || *pass == [2, 3]));
    let share = passes.iter().filter(|pass| **pass == [1]).count() as f64 / 20_000.0;
    assert!((share - 0.75).abs() < 4.0 * (0.75f64 * 0.25 / 20_000.0).sqrt(), "{share}");
}

#[test]
fn each_repeat_chooses_anew() {
    let script = script("lines = [{ choose = ['a', 'b'], repeat = 200 }]");
    let pass = walked(&script, &mut choice());
    assert_eq!(pass.len(), 200);
    assert!(pass.contains(&1) && pass.contains(&2));
}

#[test]
fn a_chain_draws_each_line_by_the_one_before() {
    let text = "lines = [{ repeat = 100000, choose = [
        { weight = 2, type = 'edit', then = { make = 7, edit = 3 } },
        { weight = 1, type = 'make', then = { edit = 1, ls = 1 } },
        { weight = 1, type = 'ls' },
    ] }]";
    let pass = walked(&script(text), &mut choice());
    assert_eq!(pass.len(), 100_000);
    let share = |before: u32, after: u32| {
        let from = pass[..pass.len() - 1].iter().filter(|line| **line == before).count() as f64;
        (pass.windows(2).filter(|pair| *pair == [before, after]).count() as f64 / from, from)
    };
    let expected =
        [(1, 1, 0.3), (1, 2, 0.7), (1, 3, 0.0), (2, 1, 0.5), (2, 2, 0.0), (2, 3, 0.5), (3, 1, 0.5), (3, 2, 0.25), (3, 3, 0.25)];
    for (before, after, probability) in expected {
        let (share, from): (f64, f64) = share(before, after);
        let tolerance = 4.0 * (probability * (1.0 - probability) / from).sqrt();
        assert!((share - probability).abs() <= tolerance, "{after} after {before}: {share}, not {probability}");
    }
}

#[test]
fn a_chain_begins_anew_where_its_choice_is_entered_anew() {
    // The first line is `a` always; were the choice to remember, the second group would begin with `b`.
    let chain = "{ repeat = 2, choose = [{ type = 'a', then = { b = 1 } }, { weight = 0, type = 'b', then = { a = 1 } }] }";
    let text = format!("lines = [{{ repeat = 2, lines = [{chain}] }}, {{ repeat = 1, lines = [{chain}] }}]");
    assert_eq!(walked(&script(&text), &mut choice()), [1, 2, 1, 2, 3, 4]);
    let odd = text.replace("repeat = 2, choose", "repeat = 3, choose");
    assert_eq!(walked(&script(&odd), &mut choice()), [1, 2, 1, 1, 2, 1, 3, 4, 3]);
}

#[test]
fn a_chain_remembers_a_whole_group_by_its_first_line() {
    let text = "lines = [{ repeat = 4, choose = [
        { lines = ['vim', 'keys'], then = { make = 1 } },
        { weight = 0, type = 'gmake', as = 'make', repeat = 2, then = { vim = 1 } },
    ] }]";
    assert_eq!(walked(&script(text), &mut choice()), [1, 2, 3, 3, 1, 2, 3, 3]);
}

#[test]
fn rows_that_are_the_weights_type_what_weights_alone_type() {
    let plain = script("lines = [{ repeat = 500, choose = [{ weight = 3, type = 'a' }, { weight = 2, type = 'b' }] }]");
    let row = "then = { a = 3, b = 2 }";
    let text = format!(
        "lines = [{{ repeat = 500, choose = [{{ weight = 3, type = 'a', {row} }}, {{ weight = 2, type = 'b', {row} }}] }}]"
    );
    assert_eq!(walked(&plain, &mut choice()), walked(&script(&text), &mut choice()));
}

#[test]
fn all_lines_are_listed_once_by_number() {
    let text = "lines = ['a', { choose = ['b', { lines = ['c', 'd'] }], repeat = 5 }, { repeat = 9, lines = ['e'] }]";
    let script = script(text);
    assert_eq!(script.lines().map(|line| line.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(script.lines().map(|line| line.name.as_str()).collect::<String>(), "abcde");
}

#[test]
fn user_7_types_the_same_whatever_the_others_do() {
    let script = script("lines = [{ choose = ['a', 'b', 'echo {random:w}'], repeat = 50 }]\n[words]\nw = ['x', 'y', 'z']");
    let typed = |others: u32| {
        let mut streams: Vec<_> = (1..=7 + others).map(|user| RandomStream::new(9, user, StreamPurpose::Choice)).collect();
        let mut walks: Vec<_> = streams.iter().map(|_| PassWalk::new(&script)).collect();
        let mut text = String::new();
        for _ in 0..50 {
            for (user, (walk, stream)) in (1..).zip(walks.iter_mut().zip(&mut streams)) {
                let line = walk.next(stream).expect("fifty lines");
                let mut filled = String::new();
                line.text.fill(user, 1, &script.words, stream, &mut filled);
                if user == 7 {
                    text += &filled;
                }
            }
        }
        text
    };
    assert_eq!(typed(0), typed(300));
}

#[test]
fn placeholders_are_filled_and_braces_stay() {
    let script = script("lines = ['{user}.{pass} {random:w} {{user}} {{{user}}} ${user} {1..3} {x}']\n[words]\nw = ['only']");
    let mut typed = String::from("> ");
    script.lines().next().expect("a line").text.fill(7, 2, &script.words, &mut choice(), &mut typed);
    assert_eq!(typed, "> 7.2 only {user} {7} ${user} {1..3} {x}");
}

#[test]
fn plain_text_is_one_part_and_draws_nothing() {
    let script = script("lines = ['ls -l']");
    let line = script.lines().next().expect("a line");
    assert_eq!(line.text.plain(), Some("ls -l"));
    let (mut used, mut fresh) = (choice(), choice());
    line.text.fill(1, 1, &script.words, &mut used, &mut String::new());
    assert_eq!(used.unit().to_bits(), fresh.unit().to_bits());
}

#[test]
fn settings_of_a_group_hold_for_lines_that_say_nothing() {
    let text = "status = 0\nlines = ['a', { think = 'fixed(1s)', status = 1, lines = ['b', { type = 'c', think = 'none' }] }]";
    let script = script(text);
    let settings: Vec<_> =
        script.lines().map(|line| (line.think.as_ref().map(|law| law.to_string()), line.status.clone())).collect();
    let law = |text: &str| Some(text.to_string());
    assert_eq!(settings, [(None, Some(vec![0])), (law("fixed(1s)"), Some(vec![1])), (law("none"), Some(vec![1]))]);
}

#[test]
fn a_final_newline_of_a_long_string_is_not_typed() {
    let script = script("lines = ['''\ncat > x <<END\nhello\nEND\n''']");
    let line = script.lines().next().expect("a line");
    assert_eq!((line.name.as_str(), line.text.plain()), ("cat", Some("cat > x <<END\nhello\nEND")));
}

#[test]
fn a_walk_is_small() {
    assert!(std::mem::size_of::<PassWalk<'_>>() <= 64);
}
