//! The grammar of laws, one for all files: `uniform(2s, 15s)`, `exponential(8, max 60)`, `empirical([1ms, 2ms])`.
//!
//! A [`LawGrammar`] says which laws one kind of file knows and how their values are written; [`LawGrammar::read`] reads a law's name,
//! values and bounds. What the values must be, whoever makes the law of them checks.

use super::mistakes::SyntaxMistake;

/// A law that a file may name.
#[derive(Clone, Copy, Debug)]
pub struct LawShape {
    /// Its name.
    pub name: &'static str,
    /// Its values, in order.
    pub values: &'static [LawValueKind],
    /// How it is written, for messages.
    pub example: &'static str,
}

/// How a value of a law is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawValueKind {
    /// In the unit of what is drawn.
    Amount,
    /// As a number without a unit.
    Number,
    /// As a list of amounts in brackets.
    List,
}

/// The laws of one kind of file, and how their values are read.
pub struct LawGrammar<'a, V> {
    /// The laws, in the order in which messages name them.
    pub shapes: &'a [LawShape],
    /// Reads an amount.
    pub amount: &'a dyn Fn(&str) -> Result<V, SyntaxMistake>,
    /// Reads a number without a unit.
    pub number: &'a dyn Fn(&str) -> Result<V, SyntaxMistake>,
    /// A law with bounds, for messages.
    pub bounded_example: &'static str,
}

/// What stands between a law's parentheses.
#[derive(Clone, Debug)]
pub struct LawArguments<V> {
    /// The values, in order.
    pub values: Vec<V>,
    /// The list in brackets.
    pub list: Option<Vec<V>>,
    /// The bound after `min`.
    pub least: Option<V>,
    /// The bound after `max`.
    pub most: Option<V>,
}

/// Cuts a law, without blanks around it, after its name.
pub fn split_name(law: &str) -> (&str, &str) {
    law.split_at(law.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(law.len()))
}

impl<V> LawGrammar<'_, V> {
    /// The law of this name.
    pub fn shape(&self, name: &str) -> Option<&LawShape> {
        self.shapes.iter().find(|shape| shape.name == name)
    }

    /// Reads `rest`, which follows the name of the law `shape`: its arguments, and where they begin.
    ///
    /// # Errors
    /// What is wrong, at an offset in `rest`.
    pub fn read(&self, shape: &LawShape, rest: &str) -> Result<(LawArguments<V>, usize), SyntaxMistake> {
        let LawShape { name, example, .. } = shape;
        let open = rest.len() - rest.trim_start().len();
        let Some(inner) = rest[open..].strip_prefix('(') else {
            return Err(SyntaxMistake::new(open, format!("`{name}` needs its values in parentheses, as in {example}")));
        };
        let begin = open + 1;
        let Some(close) = inner.find(')') else {
            return Err(SyntaxMistake::new(rest.len(), format!("the closing parenthesis is missing, as in {example}")));
        };
        if !inner[close + 1..].is_empty() {
            return Err(SyntaxMistake::new(begin + close + 1, format!("nothing may follow the law, as in {example}")));
        }
        let arguments = self.arguments(shape, &inner[..close]).map_err(|misread| misread.behind(begin))?;
        Ok((arguments, begin))
    }

    fn arguments(&self, shape: &LawShape, inner: &str) -> Result<LawArguments<V>, SyntaxMistake> {
        let mut arguments = LawArguments { values: Vec::new(), list: None, least: None, most: None };
        let mut rest = inner;
        loop {
            let item = rest.trim_start();
            let at = inner.len() - item.len();
            let end = if item.starts_with('[') { item.find(']').map(|end| end + 1) } else { item.find([',', '[']) };
            let (item, after) = item.split_at(end.unwrap_or(item.len()));
            self.argument(shape, item.trim_end(), &mut arguments).map_err(|misread| misread.behind(at))?;
            let after = after.trim_start();
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(arguments),
                None => {
                    let message = format!("a comma is missing before {after:?}, as in {}", shape.example);
                    return Err(SyntaxMistake::new(inner.len() - after.len(), message));
                }
            }
        }
    }

    fn argument(&self, shape: &LawShape, item: &str, arguments: &mut LawArguments<V>) -> Result<(), SyntaxMistake> {
        if let Some(list) = item.strip_prefix('[') {
            let Some(list) = list.strip_suffix(']') else {
                return Err(SyntaxMistake::new(
                    0,
                    format!("the list's closing bracket is missing, as in {}", self.list_example()),
                ));
            };
            return match arguments.list.replace(self.list(list).map_err(|misread| misread.behind(1))?) {
                None => Ok(()),
                Some(_) => Err(SyntaxMistake::new(0, format!("one list only, as in {}", shape.example))),
            };
        }
        for (word, bound) in [("min", &mut arguments.least), ("max", &mut arguments.most)] {
            let Some(rest) = item.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic())) else {
                continue;
            };
            let blanks = rest.len() - rest.trim_start().len();
            let at = word.len() + blanks;
            let value = (self.amount)(&rest[blanks..]).map_err(|misread| misread.behind(at))?;
            return match bound.replace(value) {
                None => Ok(()),
                Some(_) => Err(SyntaxMistake::new(0, format!("`{word}` may be said once"))),
            };
        }
        if arguments.least.is_some() || arguments.most.is_some() {
            return Err(SyntaxMistake::new(0, format!("`min` and `max` stand last, as in {}", self.bounded_example)));
        }
        if let Some(gap) = gap_before_a_digit(item) {
            return Err(SyntaxMistake::new(gap, format!("a comma is missing between two values, as in {}", shape.example)));
        }
        let is_number = shape.values.get(arguments.values.len()) == Some(&LawValueKind::Number);
        arguments.values.push(if is_number { (self.number)(item)? } else { (self.amount)(item)? });
        Ok(())
    }

    fn list(&self, list: &str) -> Result<Vec<V>, SyntaxMistake> {
        let (mut values, mut at) = (Vec::new(), 0);
        for item in list.split(',') {
            let blanks = item.len() - item.trim_start().len();
            values.push((self.amount)(item.trim()).map_err(|misread| misread.behind(at + blanks))?);
            at += item.len() + 1;
        }
        Ok(values)
    }

    fn list_example(&self) -> &'static str {
        let shape = self.shapes.iter().find(|shape| shape.values.contains(&LawValueKind::List));
        shape.map_or("", |shape| shape.example)
    }
}

/// Where a blank stands before a digit: two values with nothing between them.
fn gap_before_a_digit(item: &str) -> Option<usize> {
    item.find(char::is_whitespace).filter(|gap| item[*gap..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
}
