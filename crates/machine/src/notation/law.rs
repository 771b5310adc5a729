//! Reads laws and amounts of machine files, such as `exponential(0.3s)`, `uniform(10, 30)` and `2000 instructions`.

use crate::draw::AmountLaw;
use loadgo_core::notation::laws::LawValueKind::{self, Amount, List, Number};
use loadgo_core::notation::laws::{LawArguments, LawGrammar, LawShape, split_name};
use loadgo_core::notation::mistakes::{SyntaxMistake, nearest};
use loadgo_core::notation::spans;

/// The unit of an amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AmountUnit {
    /// A time: `3.3ms`.
    Time,
    /// The same time without rounding to whole nanoseconds.
    UnroundedTime,
    /// Processor time: `3.3ms`, or `2000 instructions` if the instructions a second are known.
    Processor(Option<f64>),
    /// A number without a unit: pages, words, lines, bytes.
    Number,
}

/// The laws of times.
const OF_TIMES: [LawShape; 8] = [
    LawShape { name: "fixed", values: &[Amount], example: "fixed(5ms)" },
    LawShape { name: "uniform", values: &[Amount, Amount], example: "uniform(2ms, 15ms)" },
    LawShape { name: "exponential", values: &[Amount], example: "exponential(8ms)" },
    LawShape { name: "lognormal", values: &[Amount, Amount], example: "lognormal(8ms, 4ms)" },
    LawShape { name: "erlang", values: &[Number, Amount], example: "erlang(3, 8ms)" },
    LawShape { name: "hyperexponential", values: &[Amount, Number], example: "hyperexponential(8ms, 4)" },
    LawShape { name: "pareto", values: &[Amount, Number], example: "pareto(8ms, 2.5)" },
    LawShape { name: "empirical", values: &[List], example: "empirical([1ms, 2ms])" },
];

/// The laws of numbers, with one that only counts have.
const OF_NUMBERS: [LawShape; 9] = [
    LawShape { name: "fixed", values: &[Amount], example: "fixed(5)" },
    LawShape { name: "uniform", values: &[Amount, Amount], example: "uniform(2, 15)" },
    LawShape { name: "exponential", values: &[Amount], example: "exponential(8)" },
    LawShape { name: "lognormal", values: &[Amount, Amount], example: "lognormal(8, 4)" },
    LawShape { name: "erlang", values: &[Number, Amount], example: "erlang(3, 8)" },
    LawShape { name: "hyperexponential", values: &[Amount, Number], example: "hyperexponential(8, 4)" },
    LawShape { name: "pareto", values: &[Amount, Number], example: "pareto(8, 2.5)" },
    LawShape { name: "geometric", values: &[Number], example: "geometric(8)" },
    LawShape { name: "empirical", values: &[List], example: "empirical([1, 2])" },
];

impl AmountUnit {
    /// The laws that may be drawn in this unit.
    fn shapes(self) -> &'static [LawShape] {
        if self == AmountUnit::Number { &OF_NUMBERS } else { &OF_TIMES }
    }

    fn all_examples(self) -> String {
        let first = if self == AmountUnit::Number { "20" } else { "3.3ms" };
        let examples: Vec<_> = [first].into_iter().chain(self.shapes().iter().map(|shape| shape.example)).collect();
        examples.join(", ")
    }
}

/// The kinds of the values of the law with this name, in order.
pub(crate) fn kinds(name: &str) -> &'static [LawValueKind] {
    OF_NUMBERS.iter().find(|shape| shape.name == name).map_or(&[], |shape| shape.values)
}

/// Reads `text` as an amount: nanoseconds for a time, otherwise the number itself.
pub(crate) fn amount(text: &str, unit: AmountUnit) -> Result<f64, SyntaxMistake> {
    let lead = text.len() - text.trim_start().len();
    let text = text.trim();
    if text.is_empty() {
        let example = if unit == AmountUnit::Number { "20" } else { "3.3ms" };
        return Err(SyntaxMistake::new(lead, format!("an amount is missing here: write it as in {example}")));
    }
    let read = match (unit, text.strip_suffix("instructions").or(text.strip_suffix("instruction"))) {
        (AmountUnit::Number, _) => number(text),
        (AmountUnit::Processor(rate), Some(count)) => instructions(count.trim_end(), rate),
        (AmountUnit::Time | AmountUnit::UnroundedTime, Some(_)) => Err(SyntaxMistake::new(
            0,
            format!("{text:?} is processor time, which has no meaning here: write a time, as in 3.3ms"),
        )),
        (AmountUnit::UnroundedTime, None) => spans::read_unrounded(text),
        (_, None) => time(text),
    };
    read.map_err(|mistake| SyntaxMistake::new(lead + mistake.at, mistake.message))
}

/// Reads `text` as a time in whole nanoseconds, which is exact if it is not in instructions.
pub(crate) fn span(text: &str, unit: AmountUnit) -> Result<u64, SyntaxMistake> {
    match spans::read(text.trim()) {
        Ok(span) => Ok(span.0),
        Err(_) => amount(text, unit).map(|ns| ns.round() as u64),
    }
}

fn instructions(count: &str, rate: Option<f64>) -> Result<f64, SyntaxMistake> {
    let Some(rate) = rate else {
        let message =
            "the speed in instructions is missing: add instructions_per_second = 435000 to [processors], or write a time";
        return Err(SyntaxMistake::new(0, message));
    };
    let ns = (number(count)? / rate * 1e9).round();
    if ns > spans::LONGEST_SPAN.0 as f64 {
        return Err(SyntaxMistake::new(0, format!("{count} instructions take too long: 10000h is the longest")));
    }
    Ok(ns)
}

/// Reads a time in nanoseconds. With the unit ns, a part of a nanosecond counts.
fn time(text: &str) -> Result<f64, SyntaxMistake> {
    if let Some(part) = text.strip_suffix("ns").filter(|part| part.contains('.')) {
        return number(part.trim_end()).and_then(|ns| match ns > spans::LONGEST_SPAN.0 as f64 {
            true => Err(SyntaxMistake::new(0, format!("{text} is too long a time: 10000h is the longest"))),
            false => Ok(ns),
        });
    }
    spans::read(text).map(|span| span.0 as f64)
}

fn number(text: &str) -> Result<f64, SyntaxMistake> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    match text.parse::<f64>() {
        Ok(number) if plain && number.is_finite() && number.is_sign_positive() => Ok(number),
        Ok(_) if text.starts_with('-') => Err(SyntaxMistake::new(0, format!("{text} is negative: write 0 or more"))),
        _ => Err(SyntaxMistake::new(0, format!("{text:?} is not a number: write it without a unit, as in 20"))),
    }
}

/// Reads `text` as a law, or as an amount that is always the same.
pub(crate) fn read(text: &str, unit: AmountUnit) -> Result<AmountLaw, SyntaxMistake> {
    let lead = text.len() - text.trim_start().len();
    let law = text.trim();
    if !law.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return amount(text, unit).map(AmountLaw::Fixed);
    }
    named(law, unit).map_err(|mistake| SyntaxMistake::new(lead + mistake.at, mistake.message))
}

fn named(law: &str, unit: AmountUnit) -> Result<AmountLaw, SyntaxMistake> {
    let (amount, number) = (|text: &str| amount(text, unit), |text: &str| amount(text, AmountUnit::Number));
    let bounded_example = "exponential(8, min 1, max 60)";
    let grammar = LawGrammar { shapes: unit.shapes(), amount: &amount, number: &number, bounded_example };
    let (name, rest) = split_name(law);
    let shape = grammar.shape(name).ok_or_else(|| SyntaxMistake::new(0, unknown(name, unit)))?;
    let (arguments, at) = grammar.read(shape, rest).map_err(|mistake| mistake.behind(name.len()))?;
    made(shape, arguments).map_err(|mistake| mistake.with_example(shape.example).behind(name.len() + at))
}

fn unknown(name: &str, unit: AmountUnit) -> String {
    let names = unit.shapes().iter().map(|shape| shape.name);
    let meant = nearest(&name.to_ascii_lowercase(), names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("`{name}` is no law{meant} Write {}", unit.all_examples()).replace("law Write", "law. Write")
}

/// The law of these arguments, after a check of their number and size.
fn made(shape: &LawShape, arguments: LawArguments<f64>) -> Result<AmountLaw, SyntaxMistake> {
    let LawArguments { values, list, least, most } = arguments;
    let law = match (shape.name, values.as_slice(), list) {
        ("fixed", [value], None) => AmountLaw::Fixed(*value),
        ("uniform", [low, high], None) if low > high => return Err(SyntaxMistake::new(0, "the lower end comes first")),
        ("uniform", [low, high], None) => AmountLaw::Uniform(*low, *high),
        ("erlang", [stages, _], None) if stages.fract() != 0.0 || !(1.0..=1000.0).contains(stages) => {
            return Err(SyntaxMistake::new(0, "`erlang` takes a whole number of stages, from 1 to 1000, first"));
        }
        ("erlang", [_, mean], None) if *mean == 0.0 => return Err(SyntaxMistake::new(0, "the mean must be over 0")),
        ("erlang", [stages, mean], None) => AmountLaw::Erlang(*stages as u32, *mean),
        ("exponential" | "lognormal" | "hyperexponential" | "pareto", [0.0, ..], None) => {
            return Err(SyntaxMistake::new(0, "the mean must be over 0"));
        }
        ("exponential", [mean], None) => AmountLaw::Exponential(*mean),
        ("lognormal", [mean, deviation], None) => AmountLaw::LogNormal(*mean, *deviation),
        ("hyperexponential", [_, scv], None) if *scv <= 1.0 => {
            return Err(SyntaxMistake::new(0, format!("the squared coefficient of variation must be over 1, not {scv}")));
        }
        ("hyperexponential", [mean, scv], None) => AmountLaw::Hyperexponential(*mean, *scv),
        ("pareto", [_, index], None) if *index <= 1.0 => {
            return Err(SyntaxMistake::new(0, format!("the tail index must be over 1, not {index}: else there is no mean")));
        }
        ("pareto", [mean, index], None) => AmountLaw::Pareto(*mean, *index),
        ("geometric", [mean], None) if *mean < 1.0 => return Err(SyntaxMistake::new(0, "the mean is 1 or more")),
        ("geometric", [mean], None) => AmountLaw::Geometric(*mean),
        ("empirical", [], Some(values)) => AmountLaw::Empirical(values),
        _ => return Err(SyntaxMistake::new(0, format!("`{}` takes {}", shape.name, takes(shape.name)))),
    };
    let (low, high) = (least.unwrap_or(0.0), most.unwrap_or(f64::INFINITY));
    match (least, most) {
        (None, None) => Ok(law),
        _ if low > high => Err(SyntaxMistake::new(0, "`min` is over `max`")),
        _ => Ok(AmountLaw::Bounded(Box::new(law), low, high)),
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

/// Reads a law of a machine file, and says whether its amounts are times. Times are nanoseconds and are not rounded.
///
/// # Errors
/// The mistake, and what would be right.
pub fn parse(text: &str) -> Result<(AmountLaw, bool), SyntaxMistake> {
    let of_times = read(text, AmountUnit::Time).and_then(|_| read(text, AmountUnit::UnroundedTime));
    match (of_times, read(text, AmountUnit::Number)) {
        (Ok(law), _) => Ok((law, true)),
        (_, Ok(law)) => Ok((law, false)),
        (Err(mistake), _) => Err(mistake),
    }
}

/// The largest number that `law` can give; infinite if it has no bound.
pub(crate) fn most(law: &AmountLaw) -> f64 {
    match law {
        AmountLaw::Fixed(value) | AmountLaw::Uniform(_, value) => *value,
        AmountLaw::Empirical(values) => values.iter().copied().fold(0.0, f64::max),
        AmountLaw::Bounded(law, least, bound) => most(law).clamp(*least, *bound),
        _ => f64::INFINITY,
    }
}
