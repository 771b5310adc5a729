//! Instants and spans in whole nanoseconds; an instant counts from the beginning of its run.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A moment of a run: nanoseconds since the run began, on the system's own clock (real or virtual).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Instant {
    /// The span from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero nanoseconds.
    pub const ZERO: Span = Span(0);

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1_000_000_000)
    }

    /// A span of `secs` seconds, rounded to the nanosecond. A negative number or NaN gives zero, too large a number the longest span.
    pub fn from_secs_f64(secs: f64) -> Span {
        Span((secs * 1e9).round() as u64)
    }

    /// This span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            ns if ns % 1_000_000_000 == 0 => write!(f, "{}s", ns / 1_000_000_000),
            ns if ns >= 1_000_000_000 => write!(f, "{}s", ns as f64 / 1e9),
            ns if ns >= 1_000_000 => write!(f, "{}ms", ns as f64 / 1e6),
            ns if ns >= 1_000 => write!(f, "{}us", ns as f64 / 1e3),
            ns => write!(f, "{ns}ns"),
        }
    }
}
