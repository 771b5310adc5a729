//! Reads and prints laws of think time, such as `uniform(2s, 15s)` and `exponential(8s, max 60s)`.

use super::TimeLaw;
use crate::notation::laws::{LawArguments, LawGrammar, LawShape, LawValueKind, split_name};
use crate::notation::mistakes::{SyntaxMistake, nearest};
use crate::notation::spans::{print_span, read as read_span};
use crate::time::Span;
use std::fmt;

/// The laws of think time, without `none`, which has no values.
const SHAPES: [LawShape; 5] = [
    LawShape { name: "fixed", values: &[LawValueKind::Amount], example: "fixed(5s)" },
    LawShape { name: "uniform", values: &[LawValueKind::Amount, LawValueKind::Amount], example: "uniform(2s, 15s)" },
    LawShape { name: "exponential", values: &[LawValueKind::Amount], example: "exponential(8s)" },
    LawShape { name: "lognormal", values: &[LawValueKind::Amount, LawValueKind::Amount], example: "lognormal(8s, 4s)" },
    LawShape { name: "empirical", values: &[LawValueKind::List], example: "empirical([1s, 2s])" },
];

const NONE: &str = "none";

const GRAMMAR: LawGrammar<'_, Span> =
    LawGrammar { shapes: &SHAPES, amount: &amount, number: &amount, bounded_example: "exponential(8s, min 1s, max 60s)" };

/// The largest span of a law without `max`.
const NO_MAXIMUM: Span = Span(u64::MAX);

impl TimeLaw {
    /// Reads a law, such as `uniform(2s, 15s)` or `exponential(8s, max 60s)`.
    ///
    /// # Errors
    /// The mistake, and what would be right.
    pub fn parse(text: &str) -> Result<TimeLaw, SyntaxMistake> {
        read(text)
    }
}

impl fmt::Display for TimeLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeLaw::None => write!(f, "none"),
            TimeLaw::Bounded(law, least, most) => bounded(f, law, *least, *most),
            law => write!(f, "{}({})", name(law), arguments(law)),
        }
    }
}

fn bounded(f: &mut fmt::Formatter<'_>, law: &TimeLaw, least: Span, most: Span) -> fmt::Result {
    write!(f, "{}({}", name(law), arguments(law))?;
    if least > Span::ZERO {
        write!(f, ", min {}", print_span(least))?;
    }
    if most < NO_MAXIMUM {
        write!(f, ", max {}", print_span(most))?;
    }
    write!(f, ")")
}

fn name(law: &TimeLaw) -> &'static str {
    match law {
        TimeLaw::None => "none",
        TimeLaw::Fixed(_) => "fixed",
        TimeLaw::Uniform(..) => "uniform",
        TimeLaw::Exponential(_) => "exponential",
        TimeLaw::LogNormal(..) => "lognormal",
        TimeLaw::Empirical(_) => "empirical",
        TimeLaw::Bounded(law, ..) => name(law),
    }
}

fn arguments(law: &TimeLaw) -> String {
    let values = |spans: &[Span]| spans.iter().map(|span| print_span(*span)).collect::<Vec<_>>().join(", ");
    match law {
        TimeLaw::None => String::new(),
        TimeLaw::Fixed(span) | TimeLaw::Exponential(span) => print_span(*span),
        TimeLaw::Uniform(first, second) | TimeLaw::LogNormal(first, second) => values(&[*first, *second]),
        TimeLaw::Empirical(spans) => format!("[{}]", values(spans)),
        TimeLaw::Bounded(law, ..) => arguments(law),
    }
}

/// Reads `text` as a law. The offset of a mistake is in `text`.
pub(super) fn read(text: &str) -> Result<TimeLaw, SyntaxMistake> {
    let begin = text.len() - text.trim_start().len();
    let law = text.trim();
    let (name, tail) = split_name(law);
    let name_end = begin + name.len();
    if name == NONE {
        let after = SyntaxMistake::new(name_end, "`none` stands alone: nothing may follow it");
        return if tail.is_empty() { Ok(TimeLaw::None) } else { Err(after) };
    }
    let shape = GRAMMAR.shape(name).ok_or_else(|| SyntaxMistake::new(begin, unknown(law, name)))?;
    let (arguments, at) = GRAMMAR.read(shape, tail).map_err(|mistake| mistake.behind(name_end))?;
    law_of(name, arguments).map_err(|mistake| mistake.with_example(shape.example).behind(name_end + at))
}

/// The message for an unknown law.
fn unknown(law: &str, word: &str) -> String {
    if let Ok(span) = read_span(law) {
        return format!("a law is missing: write fixed({}) for the same time before each line", print_span(span));
    }
    let all = SHAPES.map(|shape| shape.example).join(", ");
    let names = SHAPES.map(|shape| shape.name).into_iter().chain([NONE]);
    match nearest(&word.to_ascii_lowercase(), names) {
        Some(near) if !word.is_empty() => format!("`{word}` is no law of think time; did you mean `{near}`? Laws: {all}, {NONE}"),
        _ => format!("{law:?} is no law of think time. Laws: {all}, {NONE}"),
    }
}

fn amount(text: &str) -> Result<Span, SyntaxMistake> {
    match text {
        "" => Err(SyntaxMistake::new(0, "a time is missing here: write a number and a unit, as in 5s")),
        text => read_span(text),
    }
}

/// The law `name` with these arguments, after a check of their number and size.
fn law_of(name: &str, arguments: LawArguments<Span>) -> Result<TimeLaw, SyntaxMistake> {
    let LawArguments { values, list, least, most } = arguments;
    let law = match (name, values.as_slice(), list) {
        ("fixed", [span], None) => TimeLaw::Fixed(*span),
        ("uniform", [low, high], None) if low > high => {
            return Err(SyntaxMistake::new(
                0,
                format!("the lower end comes first: write uniform({}, {})", print_span(*high), print_span(*low)),
            ));
        }
        ("uniform", [low, high], None) => TimeLaw::Uniform(*low, *high),
        ("exponential" | "lognormal", [Span::ZERO, ..], None) => return Err(SyntaxMistake::new(0, "the mean must be over 0s")),
        ("exponential", [mean], None) => TimeLaw::Exponential(*mean),
        ("lognormal", [mean, deviation], None) => TimeLaw::LogNormal(*mean, *deviation),
        ("empirical", [], Some(values)) => TimeLaw::Empirical(values),
        _ => return Err(SyntaxMistake::new(0, format!("`{name}` takes {}", arguments_in_words(name)))),
    };
    bound(law, least.unwrap_or(Span::ZERO), most.unwrap_or(NO_MAXIMUM))
}

fn arguments_in_words(name: &str) -> &'static str {
    match name {
        "fixed" => "one time",
        "uniform" => "two times, the lowest and the highest",
        "exponential" => "one time, the mean",
        "lognormal" => "two times, the mean and the standard deviation",
        _ => "a list of times in brackets",
    }
}

fn bound(law: TimeLaw, least: Span, most: Span) -> Result<TimeLaw, SyntaxMistake> {
    if least > most {
        return Err(SyntaxMistake::new(0, format!("min {} is over max {}", print_span(least), print_span(most))));
    }
    if least == Span::ZERO && most == NO_MAXIMUM { Ok(law) } else { Ok(TimeLaw::Bounded(Box::new(law), least, most)) }
}
