//! A user's way through a script: one pass, line by line, choosing as it goes.

use super::{Script, ScriptLine, ScriptStep};
use crate::random::RandomStream;

/// One pass of one user through a script. A script without groups takes no memory beyond this value.
#[derive(Clone, Debug)]
pub struct PassWalk<'a> {
    here: OpenGroup<'a>,
    outside: Vec<OpenGroup<'a>>,
}

/// Steps that are being taken: the next one, and how often all are taken again.
#[derive(Clone, Copy, Debug)]
struct OpenGroup<'a> {
    steps: &'a [ScriptStep],
    next: u32,
    again: u32,
}

impl<'a> PassWalk<'a> {
    /// The beginning of a pass through `script`.
    pub fn new(script: &'a Script) -> PassWalk<'a> {
        PassWalk { here: OpenGroup { steps: &script.steps, next: 0, again: 0 }, outside: Vec::new() }
    }

    /// The next line of the pass; `None` at its end. Alternatives are drawn from `choice`.
    pub fn next(&mut self, choice: &mut RandomStream) -> Option<&'a ScriptLine> {
        loop {
            let Some(step) = self.here.steps.get(self.here.next as usize) else {
                if self.here.again > 0 {
                    self.here = OpenGroup { next: 0, again: self.here.again - 1, ..self.here };
                } else {
                    self.here = self.outside.pop()?;
                }
                continue;
            };
            self.here.next += 1;
            match step {
                ScriptStep::Line(line) => return Some(line),
                ScriptStep::Choose(alternatives) => self.enter(chosen(alternatives, choice), 1),
                ScriptStep::Repeat(times, steps) => self.enter(steps, *times),
            }
        }
    }

    fn enter(&mut self, steps: &'a [ScriptStep], times: u32) {
        if steps.is_empty() || times == 0 {
            return;
        }
        self.outside.push(self.here);
        self.here = OpenGroup { steps, next: 0, again: times - 1 };
    }
}

fn chosen<'a>(alternatives: &'a [(f64, Vec<ScriptStep>)], choice: &mut RandomStream) -> &'a [ScriptStep] {
    let whole: f64 = alternatives.iter().map(|(weight, _)| weight).sum();
    let mut left = choice.unit() * whole;
    for (weight, steps) in alternatives {
        left -= weight;
        if left < 0.0 {
            return steps;
        }
    }
    alternatives.last().map_or(&[], |(_, steps)| steps)
}

impl Script {
    /// All lines of the script in the order of their numbers, each once, whatever chooses or repeats them.
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
