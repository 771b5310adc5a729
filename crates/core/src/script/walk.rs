//! One pass of a user through a script, line by line, with the draws between alternatives.

use super::{Alternative, Script, ScriptLine, ScriptStep};
use crate::random::RandomStream;

/// A position in one pass through a script. A script without groups takes no memory beyond this value.
#[derive(Clone, Debug)]
pub struct PassWalk<'a> {
    current: OpenGroup<'a>,
    outer: Vec<OpenGroup<'a>>,
}

/// A group of steps with the index of the next step, the number of repeats that are left, and the alternative that was taken last.
#[derive(Clone, Copy, Debug)]
struct OpenGroup<'a> {
    steps: &'a [ScriptStep],
    next: u32,
    repeats_left: u32,
    taken: Option<u32>,
}

impl<'a> PassWalk<'a> {
    /// The beginning of a pass through `script`.
    pub fn new(script: &'a Script) -> PassWalk<'a> {
        PassWalk { current: OpenGroup { steps: &script.steps, next: 0, repeats_left: 0, taken: None }, outer: Vec::new() }
    }

    /// Goes on to the next line of the pass; `None` at its end. Alternatives are drawn from `choice`.
    pub fn next(&mut self, choice: &mut RandomStream) -> Option<&'a ScriptLine> {
        loop {
            let Some(step) = self.current.steps.get(self.current.next as usize) else {
                if self.current.repeats_left > 0 {
                    self.current = OpenGroup { next: 0, repeats_left: self.current.repeats_left - 1, ..self.current };
                } else {
                    self.current = self.outer.pop()?;
                }
                continue;
            };
            self.current.next += 1;
            match step {
                ScriptStep::Line(line) => return Some(line),
                ScriptStep::Choose(alternatives) => {
                    let index = draw_alternative(alternatives, self.current.taken, choice);
                    self.current.taken = Some(index as u32);
                    self.enter(&alternatives[index].steps, 1);
                }
                ScriptStep::Repeat(times, steps) => self.enter(steps, *times),
            }
        }
    }

    fn enter(&mut self, steps: &'a [ScriptStep], times: u32) {
        if steps.is_empty() || times == 0 {
            return;
        }
        self.outer.push(self.current);
        self.current = OpenGroup { steps, next: 0, repeats_left: times - 1, taken: None };
    }
}

/// Draws the index of an alternative: by the row of the one that was `taken` before, if it has one, else by weight.
fn draw_alternative(alternatives: &[Alternative], taken: Option<u32>, choice: &mut RandomStream) -> usize {
    let before = taken.and_then(|index| alternatives.get(index as usize));
    match before.and_then(|alternative| alternative.then.as_ref()) {
        Some(row) => row[draw_index(row.iter().map(|(_, weight)| *weight), choice)].0 as usize,
        None => draw_index(alternatives.iter().map(|alternative| alternative.weight), choice),
    }
}

/// Draws the index of a weight.
fn draw_index(weights: impl Iterator<Item = f64> + Clone, choice: &mut RandomStream) -> usize {
    let total: f64 = weights.clone().sum();
    let mut remaining = choice.unit() * total;
    let mut last = 0;
    for (index, weight) in weights.enumerate() {
        remaining -= weight;
        if remaining < 0.0 {
            return index;
        }
        if weight > 0.0 {
            last = index;
        }
    }
    last
}

impl Script {
    /// All lines of the script in the order of their numbers, each once.
    pub fn lines(&self) -> ScriptLines<'_> {
        ScriptLines { steps: self.steps.iter().rev().collect() }
    }
}

/// The lines of a script, from [`Script::lines`].
#[derive(Clone, Debug)]
pub struct ScriptLines<'a> {
    steps: Vec<&'a ScriptStep>,
}

impl<'a> Iterator for ScriptLines<'a> {
    type Item = &'a ScriptLine;

    fn next(&mut self) -> Option<&'a ScriptLine> {
        loop {
            match self.steps.pop()? {
                ScriptStep::Line(line) => return Some(line),
                ScriptStep::Repeat(_, steps) => self.steps.extend(steps.iter().rev()),
                ScriptStep::Choose(alternatives) => {
                    self.steps.extend(alternatives.iter().rev().flat_map(|each| each.steps.iter().rev()));
                }
            }
        }
    }
}
