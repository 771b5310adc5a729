//! The grammar of laws in all files: `uniform(2s, 15s)`, `exponential(8, max 60)`, `empirical([1ms, 2ms])`.
//!
//! A [`LawGrammar`] lists the laws of one kind of file and reads their values. [`LawGrammar::read`] reads the values and
//! bounds of a law. The caller checks their sizes.

use super::mistakes::SyntaxMistake;

/// A law that a file may name.
#[derive(Clone, Copy, Debug)]
pub struct LawShape {
    /// The name of the law.
    pub name: &'static str,
    /// The kinds of the values, in order.
    pub values: &'static [LawValueKind],
    /// An example of the law, for messages.
    pub example: &'static str,
}

/// The notation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawValueKind {
    /// An amount of the drawn quantity, with its unit.
    Amount,
    /// A number without a unit.
    Number,
    /// A list of amounts in brackets.
    List,
}

/// The laws of one kind of file, with the readers of their values.
pub struct LawGrammar<'a, V> {
    /// The laws, in the order in which messages name them.
    pub shapes: &'a [LawShape],
    /// Reads an amount.
    pub amount: &'a dyn Fn(&str) -> Result<V, SyntaxMistake>,
    /// Reads a number without a unit.
    pub number: &'a dyn Fn(&str) -> Result<V, SyntaxMistake>,
    /// An example of a law with bounds, for messages.
    pub bounded_example: &'static str,
}

/// The arguments between a law's parentheses.
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

/// Splits a law, which has no blanks around it, after its name.
pub fn split_name(law: &str) -> (&str, &str) {
    law.split_at(law.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(law.len()))
}

impl<V> LawGrammar<'_, V> {
    /// The law with this name; `None` if there is no such law.
    pub fn shape(&self, name: &str) -> Option<&LawShape> {
        self.shapes.iter().find(|shape| shape.name == name)
    }

    /// Reads the arguments of the law `shape` from `text`, which follows its name, and returns them with their offset.
    ///
    /// # Errors
    /// The first mistake, at an offset in `text`.
    pub fn read(&self, shape: &LawShape, text: &str) -> Result<(LawArguments<V>, usize), SyntaxMistake> {
        let LawShape { name, example, .. } = shape;
        let open = text.len() - text.trim_start().len();
        let Some(inner) = text[open..].strip_prefix('(') else {
            return Err(SyntaxMistake::new(open, format!("`{name}` needs its values in parentheses, as in {example}")));
        };
        let begin = open + 1;
        let Some(close) = inner.find(')') else {
            return Err(SyntaxMistake::new(text.len(), format!("the closing parenthesis is missing, as in {example}")));
        };
        if !inner[close + 1..].is_empty() {
            return Err(SyntaxMistake::new(begin + close + 1, format!("nothing may follow the law, as in {example}")));
        }
        let arguments = self.arguments(shape, &inner[..close]).map_err(|mistake| mistake.behind(begin))?;
        Ok((arguments, begin))
    }

    fn arguments(&self, shape: &LawShape, inner: &str) -> Result<LawArguments<V>, SyntaxMistake> {
        let mut arguments = LawArguments { values: Vec::new(), list: None, least: None, most: None };
        let mut unread = inner;
        loop {
            let tail = unread.trim_start();
            let at = inner.len() - tail.len();
            let end = if tail.starts_with('[') { tail.find(']').map(|end| end + 1) } else { tail.find([',', '[']) };
            let (argument, after) = tail.split_at(end.unwrap_or(tail.len()));
            self.argument(shape, argument.trim_end(), &mut arguments).map_err(|mistake| mistake.behind(at))?;
            let after = after.trim_start();
            match after.strip_prefix(',') {
                Some(next) => unread = next,
                None if after.is_empty() => return Ok(arguments),
                None => {
                    let message = format!("a comma is missing before {after:?}, as in {}", shape.example);
                    return Err(SyntaxMistake::new(inner.len() - after.len(), message));
                }
            }
        }
    }

    fn argument(&self, shape: &LawShape, text: &str, arguments: &mut LawArguments<V>) -> Result<(), SyntaxMistake> {
        if let Some(list) = text.strip_prefix('[') {
            let Some(list) = list.strip_suffix(']') else {
                return Err(SyntaxMistake::new(
                    0,
                    format!("the list's closing bracket is missing, as in {}", self.list_example()),
                ));
            };
            return match arguments.list.replace(self.list(list).map_err(|mistake| mistake.behind(1))?) {
                None => Ok(()),
                Some(_) => Err(SyntaxMistake::new(0, format!("one list only, as in {}", shape.example))),
            };
        }
        for (word, bound) in [("min", &mut arguments.least), ("max", &mut arguments.most)] {
            let Some(tail) = text.strip_prefix(word).filter(|tail| !tail.starts_with(|c: char| c.is_ascii_alphabetic())) else {
                continue;
            };
            let blanks = tail.len() - tail.trim_start().len();
            let at = word.len() + blanks;
            let amount = (self.amount)(&tail[blanks..]).map_err(|mistake| mistake.behind(at))?;
            return match bound.replace(amount) {
                None => Ok(()),
                Some(_) => Err(SyntaxMistake::new(0, format!("`{word}` is written twice: keep one"))),
            };
        }
        if arguments.least.is_some() || arguments.most.is_some() {
            return Err(SyntaxMistake::new(0, format!("`min` and `max` stand last, as in {}", self.bounded_example)));
        }
        if let Some(gap) = gap_before_digit(text) {
            return Err(SyntaxMistake::new(gap, format!("a comma is missing between two values, as in {}", shape.example)));
        }
        let is_number = shape.values.get(arguments.values.len()) == Some(&LawValueKind::Number);
        arguments.values.push(if is_number { (self.number)(text)? } else { (self.amount)(text)? });
        Ok(())
    }

    fn list(&self, list: &str) -> Result<Vec<V>, SyntaxMistake> {
        let (mut amounts, mut at) = (Vec::new(), 0);
        for text in list.split(',') {
            let blanks = text.len() - text.trim_start().len();
            amounts.push((self.amount)(text.trim()).map_err(|mistake| mistake.behind(at + blanks))?);
            at += text.len() + 1;
        }
        Ok(amounts)
    }

    fn list_example(&self) -> &'static str {
        let shape = self.shapes.iter().find(|shape| shape.values.contains(&LawValueKind::List));
        shape.map_or("", |shape| shape.example)
    }
}

/// The offset of a blank before a digit, where a comma is missing between two values.
fn gap_before_digit(text: &str) -> Option<usize> {
    text.find(char::is_whitespace).filter(|gap| text[*gap..].trim_start().starts_with(|c: char| c.is_ascii_digit()))
}
