//! Laws and amounts as a machine file writes them: `exponential(0.3s)`, `uniform(10, 30)`, `2000 instructions`.

use crate::draw::Draw;
use loadgo_core::notation::misread::{Misread, nearest};
use loadgo_core::notation::spans;

/// In what an amount is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    /// A time: `3.3ms`.
    Time,
    /// A time of the processor: `3.3ms`, or `2000 instructions` where so many are executed in a second.
    Processor(Option<f64>),
    /// A number without a unit: pages, words, lines, bytes.
    Number,
}

/// One argument of a law.
#[derive(Clone, Copy, PartialEq)]
enum Argument {
    /// In the unit of what is drawn.
    Value,
    /// A number without a unit.
    Plain,
    /// A list of values.
    List,
}

use Argument::{List, Plain, Value};

/// A law: its name, its arguments, and an example with times and one with numbers.
struct Shape(&'static str, &'static [Argument], &'static str, &'static str);

const SHAPES: [Shape; 9] = [
    Shape("fixed", &[Value], "fixed(5ms)", "fixed(5)"),
    Shape("uniform", &[Value, Value], "uniform(2ms, 15ms)", "uniform(2, 15)"),
    Shape("exponential", &[Value], "exponential(8ms)", "exponential(8)"),
    Shape("lognormal", &[Value, Value], "lognormal(8ms, 4ms)", "lognormal(8, 4)"),
    Shape("erlang", &[Plain, Value], "erlang(3, 8ms)", "erlang(3, 8)"),
    Shape("hyperexponential", &[Value, Plain], "hyperexponential(8ms, 4)", "hyperexponential(8, 4)"),
    Shape("pareto", &[Value, Plain], "pareto(8ms, 2.5)", "pareto(8, 2.5)"),
    Shape("geometric", &[Plain], "geometric(8)", "geometric(8)"),
    Shape("empirical", &[List], "empirical([1ms, 2ms])", "empirical([1, 2])"),
];

impl Unit {
    fn example(self, shape: &Shape) -> &'static str {
        if self == Unit::Number { shape.3 } else { shape.2 }
    }

    /// The names of the laws that may be drawn in this unit.
    fn laws(self) -> impl Iterator<Item = &'static Shape> {
        SHAPES.iter().filter(move |shape| self == Unit::Number || shape.0 != "geometric")
    }

    fn all_examples(self) -> String {
        let first = if self == Unit::Number { "20" } else { "3.3ms" };
        let examples: Vec<_> = [first].into_iter().chain(self.laws().map(|shape| self.example(shape))).collect();
        examples.join(", ")
    }
}

/// Reads an amount that is the whole of `text`: nanoseconds of a time, else the number itself.
pub(super) fn amount(text: &str, unit: Unit) -> Result<f64, Misread> {
    let lead = text.len() - text.trim_start().len();
    let text = text.trim();
    if text.is_empty() {
        let example = if unit == Unit::Number { "20" } else { "3.3ms" };
        return Err(Misread::new(lead, format!("an amount is missing here: write it as in {example}")));
    }
    let read = match (unit, text.strip_suffix("instructions").or(text.strip_suffix("instruction"))) {
        (Unit::Number, _) => number(text),
        (Unit::Processor(rate), Some(count)) => instructions(count.trim_end(), rate),
        (Unit::Time, Some(_)) => Err(Misread::new(0, format!("{text:?} is no time of the processor: write a time, as in 3.3ms"))),
        (_, None) => time(text),
    };
    read.map_err(|misread| Misread::new(lead + misread.at, misread.message))
}

/// Reads a time that is the whole of `text` in whole nanoseconds: to the last one where it is not in instructions.
pub(super) fn span(text: &str, unit: Unit) -> Result<u64, Misread> {
    match spans::read(text.trim()) {
        Ok(span) => Ok(span.0),
        Err(_) => amount(text, unit).map(|ns| ns.round() as u64),
    }
}

fn instructions(count: &str, rate: Option<f64>) -> Result<f64, Misread> {
    let Some(rate) = rate else {
        let message =
            "how long an instruction takes is not said: add instructions_per_second = 435000 to [processors], or write a time";
        return Err(Misread::new(0, message));
    };
    let ns = (number(count)? / rate * 1e9).round();
    if ns > spans::LONGEST.0 as f64 {
        return Err(Misread::new(0, format!("{count} instructions take too long: 10000h is the longest")));
    }
    Ok(ns)
}

/// A time in nanoseconds; a part of a nanosecond counts where the unit is ns.
fn time(text: &str) -> Result<f64, Misread> {
    if let Some(part) = text.strip_suffix("ns").filter(|part| part.contains('.')) {
        return number(part.trim_end()).and_then(|ns| match ns > spans::LONGEST.0 as f64 {
            true => Err(Misread::new(0, format!("{text} is too long a time: 10000h is the longest"))),
            false => Ok(ns),
        });
    }
    spans::read(text).map(|span| span.0 as f64)
}

fn number(text: &str) -> Result<f64, Misread> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    match text.parse::<f64>() {
        Ok(number) if plain && number.is_finite() && number.is_sign_positive() => Ok(number),
        Ok(_) if text.starts_with('-') => Err(Misread::new(0, format!("{text} is negative: write 0 or more"))),
        _ => Err(Misread::new(0, format!("{text:?} is not a number: write it without a unit, as in 20"))),
    }
}

/// What stands between a law's parentheses.
#[derive(Default)]
struct Given {
    values: Vec<f64>,
    list: Option<Vec<f64>>,
    least: Option<f64>,
    most: Option<f64>,
}

/// Reads a law, or an amount that is always the same, that is the whole of `text`.
pub(super) fn read(text: &str, unit: Unit) -> Result<Draw, Misread> {
    let lead = text.len() - text.trim_start().len();
    let law = text.trim();
    if !law.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return amount(text, unit).map(Draw::Fixed);
    }
    named(law, unit).map_err(|misread| Misread::new(lead + misread.at, misread.message))
}

fn named(law: &str, unit: Unit) -> Result<Draw, Misread> {
    let (name, rest) = law.split_at(law.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(law.len()));
    let Some(shape) = unit.laws().find(|shape| shape.0 == name) else { return Err(Misread::new(0, unknown(name, unit))) };
    let example = unit.example(shape);
    let open = law.len() - rest.trim_start().len();
    let Some(inner) = rest.trim_start().strip_prefix('(') else {
        return Err(Misread::new(open, format!("`{name}` needs its values in parentheses, as in {example}")));
    };
    let Some(close) = inner.find(')') else {
        return Err(Misread::new(law.len(), format!("the closing parenthesis is missing, as in {example}")));
    };
    if !inner[close + 1..].is_empty() {
        return Err(Misread::new(open + 1 + close + 1, format!("nothing may follow the law, as in {example}")));
    }
    let given = given(&inner[..close], shape, unit).map_err(|misread| Misread::new(open + 1 + misread.at, misread.message))?;
    made(shape, given).map_err(|message| Misread::new(open + 1, format!("{message}, as in {example}")))
}

fn unknown(name: &str, unit: Unit) -> String {
    let names = unit.laws().map(|shape| shape.0);
    let meant = nearest(&name.to_ascii_lowercase(), names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("`{name}` is no law{meant} Write {}", unit.all_examples()).replace("law Write", "law. Write")
}

fn given(inner: &str, shape: &Shape, unit: Unit) -> Result<Given, Misread> {
    let mut given = Given::default();
    let mut rest = inner;
    loop {
        let item = rest.trim_start();
        let at = inner.len() - item.len();
        let end = if item.starts_with('[') { item.find(']').map(|end| end + 1) } else { item.find([',', '[']) };
        let (item, after) = item.split_at(end.unwrap_or(item.len()));
        one(item.trim_end(), &mut given, shape, unit).map_err(|misread| Misread::new(at + misread.at, misread.message))?;
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(given),
            None => {
                let message = format!("a comma is missing before {after:?}, as in {}", unit.example(shape));
                return Err(Misread::new(inner.len() - after.len(), message));
            }
        }
    }
}

fn one(item: &str, given: &mut Given, shape: &Shape, unit: Unit) -> Result<(), Misread> {
    if let Some(list) = item.strip_prefix('[') {
        let Some(list) = list.strip_suffix(']') else {
            return Err(Misread::new(0, format!("the list's closing bracket is missing, as in {}", unit.example(shape))));
        };
        return match given.list.replace(values(list, unit)?) {
            None => Ok(()),
            Some(_) => Err(Misread::new(0, format!("one list only, as in {}", unit.example(shape)))),
        };
    }
    for (word, bound) in [("min", &mut given.least), ("max", &mut given.most)] {
        let Some(rest) = item.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic())) else {
            continue;
        };
        let at = item.len() - rest.len();
        let value = amount(rest, unit).map_err(|misread| Misread::new(at + misread.at, misread.message))?;
        return match bound.replace(value) {
            None => Ok(()),
            Some(_) => Err(Misread::new(0, format!("`{word}` may be said once"))),
        };
    }
    if given.least.is_some() || given.most.is_some() {
        return Err(Misread::new(0, "`min` and `max` stand last, as in exponential(8, min 1, max 60)"));
    }
    let plain = shape.1.get(given.values.len()) == Some(&Plain);
    given.values.push(amount(item, if plain { Unit::Number } else { unit })?);
    Ok(())
}

fn values(list: &str, unit: Unit) -> Result<Vec<f64>, Misread> {
    let mut at = 1;
    let mut values = Vec::new();
    for item in list.split(',') {
        values.push(amount(item, unit).map_err(|misread| Misread::new(at + misread.at, misread.message))?);
        at += item.len() + 1;
    }
    Ok(values)
}

/// The law of these arguments, checked.
fn made(shape: &Shape, given: Given) -> Result<Draw, String> {
    let Given { values, list, least, most } = given;
    let law = match (shape.0, values.as_slice(), list) {
        ("fixed", [value], None) => Draw::Fixed(*value),
        ("uniform", [low, high], None) if low > high => return Err("the lower end comes first".into()),
        ("uniform", [low, high], None) => Draw::Uniform(*low, *high),
        ("erlang", [stages, _], None) if stages.fract() != 0.0 || !(1.0..=1000.0).contains(stages) => {
            return Err("`erlang` takes a whole number of stages, from 1 to 1000, first".into());
        }
        ("erlang", [_, mean], None) if *mean == 0.0 => return Err("the mean must be over 0".into()),
        ("erlang", [stages, mean], None) => Draw::Erlang(*stages as u32, *mean),
        ("exponential" | "lognormal" | "hyperexponential" | "pareto", [0.0, ..], None) => {
            return Err("the mean must be over 0".into());
        }
        ("exponential", [mean], None) => Draw::Exponential(*mean),
        ("lognormal", [mean, deviation], None) => Draw::LogNormal(*mean, *deviation),
        ("hyperexponential", [_, scv], None) if *scv <= 1.0 => {
            return Err(format!("the squared coefficient of variation must be over 1, not {scv}"));
        }
        ("hyperexponential", [mean, scv], None) => Draw::Hyperexponential(*mean, *scv),
        ("pareto", [_, index], None) if *index <= 1.0 => {
            return Err(format!("the tail index must be over 1, not {index}: else there is no mean"));
        }
        ("pareto", [mean, index], None) => Draw::Pareto(*mean, *index),
        ("geometric", [mean], None) if *mean < 1.0 => return Err("the mean is 1 or more".into()),
        ("geometric", [mean], None) => Draw::Geometric(*mean),
        ("empirical", [], Some(values)) => Draw::Empirical(values),
        _ => return Err(format!("`{}` takes {}", shape.0, takes(shape.0))),
    };
    let (low, high) = (least.unwrap_or(0.0), most.unwrap_or(f64::INFINITY));
    match (least, most) {
        (None, None) => Ok(law),
        _ if low > high => Err("`min` is over `max`".into()),
        _ => Ok(Draw::Bounded(Box::new(law), low, high)),
    }
}

fn takes(name: &str) -> &'static str {
    match name {
        "fixed" => "one value",
        "uniform" => "two values, the lowest and the highest",
        "exponential" | "geometric" => "one value, the mean",
        "lognormal" => "two values, the mean and the standard deviation",
        "erlang" => "the number of stages and the mean",
        "hyperexponential" => "the mean and the squared coefficient of variation",
        "pareto" => "the mean and the tail index",
        _ => "a list of values in brackets",
    }
}

/// The most that `law` can give; infinite where there is no end to it.
pub(super) fn most(law: &Draw) -> f64 {
    match law {
        Draw::Fixed(value) | Draw::Uniform(_, value) => *value,
        Draw::Empirical(values) => values.iter().copied().fold(0.0, f64::max),
        Draw::Bounded(law, least, bound) => most(law).clamp(*least, *bound),
        _ => f64::INFINITY,
    }
}
