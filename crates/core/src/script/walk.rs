//! One pass of a user through a script, line by line, with the draws between alternatives.

use super::{Script, ScriptLine, ScriptStep};
use crate::random::RandomStream;

/// A position in one pass through a script. A script without groups takes no memory beyond this value.
#[derive(Clone, Debug)]
pub struct PassWalk<'a> {
    current: OpenGroup<'a>,
    outer: Vec<OpenGroup<'a>>,
}

/// A group of steps with the index of the next step, and the number of repeats that are left.
#[derive(Clone, Copy, Debug)]
struct OpenGroup<'a> {
    steps: &'a [ScriptStep],
    next: u32,
    repeats_left: u32,
}

impl<'a> PassWalk<'a> {
    /// The beginning of a pass through `script`.
    pub fn new(script: &'a Script) -> PassWalk<'a> {
        PassWalk { current: OpenGroup { steps: &script.steps, next: 0, repeats_left: 0 }, outer: Vec::new() }
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
                ScriptStep::Choose(alternatives) => self.enter(draw_alternative(alternatives, choice), 1),
                ScriptStep::Repeat(times, steps) => self.enter(steps, *times),
            }
        }
    }

    fn enter(&mut self, steps: &'a [ScriptStep], times: u32) {
        if steps.is_empty() || times == 0 {
            return;
        }
        self.outer.push(self.current);
        self.current = OpenGroup { steps, next: 0, repeats_left: times - 1 };
    }
}

/// Draws one of the alternatives by their weights.
fn draw_alternative<'a>(alternatives: &'a [(f64, Vec<ScriptStep>)], choice: &mut RandomStream) -> &'a [ScriptStep] {
    let total: f64 = alternatives.iter().map(|(weight, _)| weight).sum();
    let mut remaining = choice.unit() * total;
    for (weight, steps) in alternatives {
        remaining -= weight;
        if remaining < 0.0 {
            return steps;
        }
    }
    alternatives.last().map_or(&[], |(_, steps)| steps)
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
                    self.steps.extend(alternatives.iter().rev().flat_map(|(_, steps)| steps.iter().rev()));
                }
            }
        }
    }
}
