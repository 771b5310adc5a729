//! Processor time of a command and its numbers of requests to stores, drawn together.
//!
//! A normal variable stands behind each of them (a Gaussian copula), so that each follows its own law. Those of the requests have
//! the command's `request_correlation` with that of the processor time. Given the processor time, the stores are independent.

use crate::draw::{AmountLaw, rounded};
use crate::spec::Command;
use loadgo_core::random::RandomStream;

/// The laws of a command's work.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandDemand<'a> {
    /// The command as in the machine's file.
    pub command: &'a Command,
    /// The laws that are drawn together, if there are any.
    pub joint: Option<&'a JointDemand>,
}

/// The laws of a command whose processor time and requests are drawn together.
#[derive(Clone, Debug)]
pub(super) struct JointDemand {
    cpu: AmountLaw,
    requests: Vec<AmountLaw>,
    correlation: f64,
    /// Standard deviation of a request's normal variable, given that of the processor time.
    own_deviation: f64,
}

impl JointDemand {
    /// The laws of this command; `None` if its processor time and requests are independent.
    pub fn of(command: &Command) -> Option<JointDemand> {
        let correlation = command.request_correlation?;
        Some(JointDemand {
            cpu: command.cpu.ordered(),
            requests: command.requests.iter().map(|(_, law)| law.ordered()).collect(),
            correlation,
            own_deviation: libm::sqrt(1.0 - correlation * correlation),
        })
    }

    /// Processor time at a normal score, in ns.
    pub fn cpu_ns(&self, score: f64) -> f64 {
        self.cpu.at_score(score)
    }

    /// Draws the number of requests to the store at `index` of the command's stores; the processor time has this normal score.
    pub fn requests(&self, index: usize, cpu_score: f64, stream: &mut RandomStream) -> u64 {
        let law = &self.requests[index];
        let score = self.correlation * cpu_score + self.own_deviation * stream.normal();
        let place = law.place_in_step(score);
        rounded(law.at_score(score), || place.map_or_else(|| stream.unit(), |place| 1.0 - place))
    }
}
