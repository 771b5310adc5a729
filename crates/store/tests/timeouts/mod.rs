//! Interactions that ended by their time limit, numbered by their times: rows for tests that need many.

use loadgo_core::record::{InteractionRow, Outcome, Phase};
use loadgo_core::system::Usage;
use loadgo_core::time::Instant;

/// An interaction that was due, and sent, at the instant `number`.
pub fn interaction(number: u64) -> InteractionRow<'static> {
    InteractionRow {
        user: 1,
        pass: 1,
        line: 1,
        command: "edit",
        planned: Instant(number),
        sent: Instant(number),
        first_output: None,
        ready: None,
        response_there_ns: None,
        typing_ns: 0,
        think_ns: 0,
        usage: Usage::default(),
        typing_usage: Usage::default(),
        cpu_excess_ns: None,
        bytes_out: 0,
        exit_status: None,
        outcome: Outcome::Timeout,
        phase: Phase::Steady,
    }
}
