//! A user's way through a script: one pass, line by line, choosing as it goes.

use super::{Line, Script, Step};
use crate::random::Stream;

/// One pass of one user through a script. A script without groups takes no memory beyond this value.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    here: Frame<'a>,
    outside: Vec<Frame<'a>>,
}

/// Steps that are being taken: the next one, and how often all are taken again.
#[derive(Clone, Copy, Debug)]
struct Frame<'a> {
    steps: &'a [Step],
    next: u32,
    again: u32,
}

impl<'a> Walk<'a> {
    /// The beginning of a pass through `script`.
    pub fn new(script: &'a Script) -> Walk<'a> {
        Walk { here: Frame { steps: &script.steps, next: 0, again: 0 }, outside: Vec::new() }
    }

    /// The next line of the pass; `None` at its end. Alternatives are drawn from `choice`.
    pub fn next(&mut self, choice: &mut Stream) -> Option<&'a Line> {
        loop {
            let Some(step) = self.here.steps.get(self.here.next as usize) else {
                if self.here.again > 0 {
                    self.here = Frame { next: 0, again: self.here.again - 1, ..self.here };
                } else {
                    self.here = self.outside.pop()?;
                }
                continue;
            };
            self.here.next += 1;
            match step {
                Step::Line(line) => return Some(line),
                Step::Choose(alternatives) => self.enter(chosen(alternatives, choice), 1),
                Step::Repeat(times, steps) => self.enter(steps, *times),
            }
        }
    }

    fn enter(&mut self, steps: &'a [Step], times: u32) {
        if steps.is_empty() || times == 0 {
            return;
        }
        self.outside.push(self.here);
        self.here = Frame { steps, next: 0, again: times - 1 };
    }
}

fn chosen<'a>(alternatives: &'a [(f64, Vec<Step>)], choice: &mut Stream) -> &'a [Step] {
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
    pub fn lines(&self) -> Lines<'_> {
        Lines { steps: self.steps.iter().rev().collect() }
    }
}

/// The lines of a script, from [`Script::lines`].
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    steps: Vec<&'a Step>,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a Line;

    fn next(&mut self) -> Option<&'a Line> {
        loop {
            match self.steps.pop()? {
                Step::Line(line) => return Some(line),
                Step::Repeat(_, steps) => self.steps.extend(steps.iter().rev()),
                Step::Choose(alternatives) => {
                    self.steps.extend(alternatives.iter().rev().flat_map(|(_, steps)| steps.iter().rev()));
                }
            }
        }
    }
}
