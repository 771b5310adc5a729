//! Promises of a script about the screen after some keys, compiled once and shared by all sessions.

use crate::script::{ReadyRule, ScreenRule};
use regex::Regex;

/// The promised text and cursor; nothing if the script promises nothing.
#[derive(Clone, Debug, Default)]
pub struct ScreenPromise {
    /// A pattern that the screen's text must match.
    pub shows: Option<Regex>,
    /// Row and column of the cursor, from 1.
    pub cursor: Option<(u16, u16)>,
}

impl ScreenPromise {
    /// The promise of `rule`.
    ///
    /// # Panics
    /// If a pattern does not compile. The script's parser refuses such patterns.
    pub fn of(rule: &ScreenRule) -> ScreenPromise {
        let compiled = |text: &String| Regex::new(text).expect("the parser accepts only patterns that compile");
        ScreenPromise { shows: rule.shows.as_ref().map(compiled), cursor: rule.cursor }
    }

    /// Whether the script promises anything.
    pub fn is_given(&self) -> bool {
        self.shows.is_some() || self.cursor.is_some()
    }
}

/// The promises of a script, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScreenPromises(Vec<(ScreenRule, ScreenPromise)>);

impl ScreenPromises {
    /// Adds the promise of `rule`, if it is about a screen and new.
    pub(crate) fn add(&mut self, rule: &ReadyRule) {
        if let ReadyRule::Screen(rule) = rule
            && self.index(rule).is_none()
        {
            self.0.push((rule.clone(), ScreenPromise::of(rule)));
        }
    }

    pub(crate) fn index(&self, rule: &ScreenRule) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == rule)
    }

    pub(crate) fn at(&self, index: usize) -> &ScreenPromise {
        &self.0[index].1
    }
}
