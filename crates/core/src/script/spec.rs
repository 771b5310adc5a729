//! Laws as they are written: `uniform(2s, 15s)`, `exponential(8s, max 60s)`; `Law::parse` reads, `Display` writes.

use super::Law;
use crate::notation::misread::{Misread, nearest};
use crate::notation::spans::{print_span, read as read_span};
use crate::time::Span;
use std::fmt;

/// Each law with an example, which messages show.
const EXAMPLES: [(&str, &str); 6] = [
    ("fixed", "fixed(5s)"),
    ("uniform", "uniform(2s, 15s)"),
    ("exponential", "exponential(8s)"),
    ("lognormal", "lognormal(8s, 4s)"),
    ("empirical", "empirical([1s, 2s])"),
    ("none", "none"),
];

/// The open end of a bound that only says `min`.
const NO_MAXIMUM: Span = Span(u64::MAX);

impl Law {
    /// Reads a law, such as `uniform(2s, 15s)` or `exponential(8s, max 60s)`.
    ///
    /// # Errors
    /// What would be right.
    pub fn parse(text: &str) -> Result<Law, String> {
        read(text).map_err(|misread| misread.message)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::None => write!(f, "none"),
            Law::Bounded(law, least, most) => bounded(f, law, *least, *most),
            law => write!(f, "{}({})", name(law), arguments(law)),
        }
    }
}

fn bounded(f: &mut fmt::Formatter<'_>, law: &Law, least: Span, most: Span) -> fmt::Result {
    write!(f, "{}({}", name(law), arguments(law))?;
    if least > Span::ZERO {
        write!(f, ", min {}", print_span(least))?;
    }
    if most < NO_MAXIMUM {
        write!(f, ", max {}", print_span(most))?;
    }
    write!(f, ")")
}

fn name(law: &Law) -> &'static str {
    match law {
        Law::None => "none",
        Law::Fixed(_) => "fixed",
        Law::Uniform(..) => "uniform",
        Law::Exponential(_) => "exponential",
        Law::LogNormal(..) => "lognormal",
        Law::Empirical(_) => "empirical",
        Law::Bounded(law, ..) => name(law),
    }
}

fn arguments(law: &Law) -> String {
    let values = |spans: &[Span]| spans.iter().map(|span| print_span(*span)).collect::<Vec<_>>().join(", ");
    match law {
        Law::None => String::new(),
        Law::Fixed(span) | Law::Exponential(span) => print_span(*span),
        Law::Uniform(first, second) | Law::LogNormal(first, second) => values(&[*first, *second]),
        Law::Empirical(spans) => format!("[{}]", values(spans)),
        Law::Bounded(law, ..) => arguments(law),
    }
}

/// What stands between a law's parentheses.
#[derive(Default)]
struct Arguments {
    spans: Vec<Span>,
    list: Option<Vec<Span>>,
    least: Option<Span>,
    most: Option<Span>,
}

/// Reads a law that is the whole of `text`; a misread's offset is in `text`.
pub(super) fn read(text: &str) -> Result<Law, Misread> {
    let begin = text.len() - text.trim_start().len();
    let law = text.trim();
    let head = law.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(law.len());
    let (word, rest) = law.split_at(head);
    let Some((name, example)) = EXAMPLES.iter().find(|(name, _)| *name == word) else {
        return Err(Misread::new(begin, unknown(law, word)));
    };
    if *name == "none" {
        let after = Misread::new(begin + head, "`none` stands alone: nothing may follow it");
        return if rest.trim().is_empty() { Ok(Law::None) } else { Err(after) };
    }
    let open = begin + head + (rest.len() - rest.trim_start().len());
    let Some(inner) = rest.trim_start().strip_prefix('(') else {
        return Err(Misread::new(open, format!("`{name}` needs its values in parentheses, as in {example}")));
    };
    let Some(close) = inner.find(')') else {
        return Err(Misread::new(begin + law.len(), format!("the closing parenthesis is missing, as in {example}")));
    };
    if !inner[close + 1..].trim().is_empty() {
        return Err(Misread::new(open + 1 + close + 1, format!("nothing may follow the law, as in {example}")));
    }
    let arguments = read_arguments(&inner[..close], open + 1, example)?;
    made(name, arguments).map_err(|message| Misread::new(open + 1, format!("{message}, as in {example}")))
}

fn unknown(law: &str, word: &str) -> String {
    if let Ok(span) = read_span(law) {
        return format!("a law is missing: write fixed({}) for the same time before each line", print_span(span));
    }
    let all = EXAMPLES.map(|(_, example)| example).join(", ");
    match nearest(&word.to_ascii_lowercase(), EXAMPLES.map(|(name, _)| name)) {
        Some(near) if !word.is_empty() => format!("`{word}` is no law of think time; did you mean `{near}`? Laws: {all}"),
        _ => format!("{law:?} is no law of think time. Laws: {all}"),
    }
}

/// Reads what stands between the parentheses; `at` is where it begins.
fn read_arguments(inner: &str, at: usize, example: &str) -> Result<Arguments, Misread> {
    let mut arguments = Arguments::default();
    let mut rest = inner;
    loop {
        let here = at + inner.len() - rest.trim_start().len();
        let item = rest.trim_start();
        let end = if item.starts_with('[') { item.find(']').map(|end| end + 1) } else { item.find([',', '[']) };
        let (item, after) = item.split_at(end.unwrap_or(item.len()));
        read_argument(item.trim_end(), here, &mut arguments, example)?;
        let after = after.trim_start();
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(arguments),
            None => {
                let here = at + inner.len() - after.len();
                return Err(Misread::new(here, format!("a comma is missing before {after:?}, as in {example}")));
            }
        }
    }
}

fn read_argument(item: &str, at: usize, arguments: &mut Arguments, example: &str) -> Result<(), Misread> {
    if let Some(list) = item.strip_prefix('[') {
        let Some(list) = list.strip_suffix(']') else {
            return Err(Misread::new(at, format!("the list's closing bracket is missing, as in {}", EXAMPLES[4].1)));
        };
        let before = arguments.list.replace(read_list(list, at + 1)?);
        return if before.is_some() { Err(Misread::new(at, format!("one list only, as in {example}"))) } else { Ok(()) };
    }
    for (word, bound) in [("min", &mut arguments.least), ("max", &mut arguments.most)] {
        let Some(span) = item.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic())) else {
            continue;
        };
        let value = span.trim_start();
        let span = read_at(value, at + item.len() - value.len())?;
        let before = bound.replace(span);
        return if before.is_some() { Err(Misread::new(at, format!("`{word}` may be said once"))) } else { Ok(()) };
    }
    if arguments.least.is_some() || arguments.most.is_some() {
        return Err(Misread::new(at, format!("`min` and `max` stand last, as in {}", "exponential(8s, min 1s, max 60s)")));
    }
    if let Some(gap) =
        item.find(char::is_whitespace).filter(|gap| item[*gap..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
    {
        return Err(Misread::new(at + gap, format!("a comma is missing between two times, as in {example}")));
    }
    arguments.spans.push(read_at(item, at)?);
    Ok(())
}

fn read_list(list: &str, at: usize) -> Result<Vec<Span>, Misread> {
    let mut spans = Vec::new();
    let mut offset = 0;
    for item in list.split(',') {
        let lead = item.len() - item.trim_start().len();
        spans.push(read_at(item.trim(), at + offset + lead)?);
        offset += item.len() + 1;
    }
    Ok(spans)
}

fn read_at(text: &str, at: usize) -> Result<Span, Misread> {
    if text.is_empty() {
        return Err(Misread::new(at, "a time is missing here: write a number and a unit, as in 5s"));
    }
    read_span(text).map_err(|misread| Misread::new(at + misread.at, misread.message))
}

/// The law `name` of these arguments, checked.
fn made(name: &str, arguments: Arguments) -> Result<Law, String> {
    let Arguments { spans, list, least, most } = arguments;
    let law = match (name, spans.as_slice(), list) {
        ("fixed", [span], None) => Law::Fixed(*span),
        ("uniform", [low, high], None) if low > high => {
            return Err(format!("the lower end comes first: write uniform({}, {})", print_span(*high), print_span(*low)));
        }
        ("uniform", [low, high], None) => Law::Uniform(*low, *high),
        ("exponential" | "lognormal", [Span::ZERO, ..], None) => return Err("the mean must be over 0s".into()),
        ("exponential", [mean], None) => Law::Exponential(*mean),
        ("lognormal", [mean, deviation], None) => Law::LogNormal(*mean, *deviation),
        ("empirical", [], Some(values)) => Law::Empirical(values),
        _ => return Err(format!("`{name}` takes {}", takes(name))),
    };
    bound(law, least.unwrap_or(Span::ZERO), most.unwrap_or(NO_MAXIMUM))
}

fn takes(name: &str) -> &'static str {
    match name {
        "fixed" => "one time",
        "uniform" => "two times, the lowest and the highest",
        "exponential" => "one time, the mean",
        "lognormal" => "two times, the mean and the standard deviation",
        _ => "a list of times in brackets",
    }
}

fn bound(law: Law, least: Span, most: Span) -> Result<Law, String> {
    if least > most {
        return Err(format!("min {} is over max {}", print_span(least), print_span(most)));
    }
    if least == Span::ZERO && most == NO_MAXIMUM { Ok(law) } else { Ok(Law::Bounded(Box::new(law), least, most)) }
}
