//! Machine files with one mistake each, files that extend others by `like`, and values set from outside.

use crate::cases::{all, good};
use loadgo_machine::file::{MachineMistake, Origin, key_and_value, parse, parse_with, print};
use loadgo_machine::spec::{Discipline, Machine, Population};

fn alone(text: &str) -> Result<Machine, MachineMistake> {
    parse(text, &mut |name| Err(format!("there is no machine {name}").into()))
}

/// Returns the line and column of ▶, and the text without it.
fn place(marked: &str) -> (Option<(usize, usize)>, String) {
    let text = marked.replace('▶', "");
    let Some(at) = marked.find('▶') else { return (None, text) };
    let line = marked[..at].matches('\n').count() + 1;
    let column = marked[..at].rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (Some((line, column)), text)
}

#[test]
fn each_single_mistake_is_reported_at_its_place_and_with_its_remedy() {
    let mut wrong = Vec::new();
    for (marked, remedy) in all() {
        let (place, text) = place(&marked);
        let Err(mistake) = alone(&text) else {
            wrong.push(format!("accepted: {text}"));
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
fn there_are_hundreds_of_single_mistakes_in_texts_that_are_else_good() {
    good().iter().for_each(|text| drop(alone(text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))));
    assert!(all().len() >= 400, "{}", all().len());
}

const BASE: &str = "title = 'base'\nsource = 's'\n[processors]\ndiscipline = 'round-robin'\nquantum = '10ms'\n\
    [commands.x]\ncpu = '1s'\n[commands.y]\nlike = 'x'\npages = 3\n[[load]]\nname = 'a'\nusers = 5\nthink = '1s'";

fn over_base(text: &str, sets: &[(&str, &str)]) -> Result<Machine, MachineMistake> {
    let sets: Vec<_> = sets.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    parse_with(text, &sets, &mut |name| if name == "base" { Ok(BASE.into()) } else { Err(format!("there is no {name}").into()) })
}

#[test]
fn keys_of_a_file_replace_those_of_the_file_that_it_is_like() {
    let machine =
        over_base("like = 'base'\ntitle = 'mine'\n[commands.x]\ncpu = '2s'\n[load.a]\nusers = 7", &[]).expect("a machine");
    assert_eq!((machine.title.as_str(), machine.source.as_str()), ("mine", "s"));
    assert_eq!(machine.commands.iter().map(|command| command.cpu.mean()).collect::<Vec<_>>(), [2e9, 2e9]);
    assert_eq!((machine.commands[1].pages.mean(), machine.load[0].population), (3.0, Population::Closed(7)));
}

#[test]
fn a_new_discipline_removes_the_keys_of_the_former_one() {
    let machine = over_base("like = 'base'\n[processors]\ndiscipline = 'sharing'", &[]).expect("a machine");
    assert_eq!(machine.processors.discipline, Discipline::Sharing);
    let set = over_base("like = 'base'", &[("processors.discipline", "first-come")]).expect("a machine");
    assert_eq!(set.processors.discipline, Discipline::FirstCome);
}

#[test]
fn a_mistake_is_reported_in_the_text_that_has_it() {
    let at = |mistake: MachineMistake| (mistake.origin, mistake.line, mistake.column);
    let own = over_base("like = 'base'\n[processors]\nquantum = '0s'", &[]).expect_err("no quantum");
    assert_eq!(at(own), (Origin::File, 3, 11));
    let bad = "title = 't'\nsource = 's'\n[commands.x]\ncpu = '5'";
    let theirs = parse("like = 'bad'", &mut |_| Ok(bad.into())).expect_err("no unit");
    assert_eq!(at(theirs), (Origin::Like("bad".into()), 4, 9));
    let set = over_base("like = 'base'", &[("processors.count", "0")]).expect_err("no processor");
    assert!(set.to_string().starts_with("`set=processors.count=0`: `count` takes"), "{set}");
}

#[test]
fn machines_that_are_like_each_other_in_a_circle_are_refused_at_the_place() {
    let mut resolve = |name: &str| Ok(if name == "a" { "like = 'b'".into() } else { "\nlike = 'a'".into() });
    let mistake = parse("like = 'a'", &mut resolve).expect_err("a circle");
    assert_eq!((&mistake.origin, mistake.line, mistake.column), (&Origin::Like("b".into()), 2, 8));
    assert!(mistake.message.contains("a is like b is like a"), "{mistake}");
    let unknown = over_base("like = 'bsae'", &[]).expect_err("nobody");
    assert_eq!((unknown.line, unknown.column, unknown.message.as_str()), (1, 8, "there is no bsae"));
}

#[test]
fn values_are_set_as_toml_or_as_bare_strings() {
    let sets = [("processors.speed", "2"), ("commands.x.cpu", "exponential(3s)"), ("load.a.users", "9"), ("title", "what if")];
    let machine = over_base("like = 'base'", &sets).expect("a machine");
    assert_eq!((machine.processors.speed, machine.commands[0].cpu.mean(), machine.title.as_str()), (2.0, 3e9, "what if"));
    assert_eq!(machine.load[0].population, Population::Closed(9));
    for (key, value) in [("", "1"), ("processors.", "1"), ("like", "ctss"), ("load.b.users", "1"), ("processors.spede", "1")] {
        let mistake = over_base("like = 'base'", &[(key, value)]).expect_err("a mistake");
        assert!(mistake.to_string().starts_with(&format!("`set={key}={value}`: ")), "{mistake}");
    }
}

const FITTED: &str = "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[commands.y]\ncpu = 'exponential(2s)'\n[fit]\n\
    script = 'typical user'\nruns = ['a', 'b']\nusers = [5, 5]\ninteractions = 400\nreference = '1.07ms'\nassumed = ['no paging']\n\
    covariance = [[0.01, -2e-3], [-2e-3, 4e-2]]\n[[fit.parameters]]\nkey = 'commands.x.cpu'\nvalue = '1s'\nlow = '0.9s'\n\
    high = '1.1s'\nsource = 'metered'\n[[fit.parameters]]\nkey = 'commands.y.cpu'\nof = 'spread'\nvalue = '1'";

#[test]
fn the_fit_of_a_machine_is_kept_when_it_is_printed_or_extended_by_like() {
    let machine = alone(FITTED).expect("a machine");
    assert_eq!(alone(&print(&machine)).as_ref(), Ok(&machine), "{}", print(&machine));
    let fit = machine.fit.expect("it is fitted");
    assert_eq!((fit.users.as_slice(), fit.covariance[0].as_slice()), (&[5, 5][..], &[0.01, -2e-3][..]));
    assert_eq!((fit.parameters[0].of.as_str(), fit.parameters[1].of.as_str()), ("mean", "spread"));
    let like = parse("like = 'fitted'\n[processors]\nspeed = 2", &mut |_| Ok(FITTED.into())).expect("a machine");
    assert_eq!(like.fit, Some(fit));
}

#[test]
fn a_setting_is_split_at_the_first_equals_sign_outside_of_quotes() {
    let parted = [
        ("processors.speed = 2", ("processors.speed", "2")),
        ("a.b=c=d", ("a.b", "c=d")),
        (r#"commands."a = b".cpu=1s"#, (r#"commands."a = b".cpu"#, "1s")),
        (r#"commands."say \"a=b\"".cpu=1s"#, (r#"commands."say \"a=b\"".cpu"#, "1s")),
        (r"commands.'a\'.cpu=1s", (r"commands.'a\'.cpu", "1s")),
        ("commands.it's.cpu=1s", ("commands.it's.cpu", "1s")),
    ];
    for (setting, expected) in parted {
        assert_eq!(key_and_value(setting), Some(expected), "{setting}");
    }
    assert_eq!(key_and_value("processors.speed"), None);
}

#[test]
fn a_set_key_may_hold_any_name_that_toml_can_write() {
    let names = ["say \"hi\"", "back\\slash", "a.b = c", "größer", "it's"];
    for name in names {
        let key = format!("commands.{}.cpu", toml::Value::String(name.into()));
        let machine = over_base(BASE, &[(&key, "exponential(3s)")]).expect(&key);
        assert!(machine.commands.iter().any(|command| command.name == name), "{key}");
    }
}
