//! The measures of a user between two readings, and the usage that follows from them.

use loadgo_core::system::Usage;

use crate::usage::faults::Faults;
use crate::usage::split::Split;
use crate::usage::taskstats::Sums;

/// Usage of a user between two readings, and whether each kind of wait was measured.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    pub cpu_ns: Option<u64>,
    pub used: Sums,
    pub faults: Option<Faults>,
    pub ready_wait: bool,
    pub delays: bool,
}

impl Interval {
    /// The usage, with user and system time as `split` divides them.
    pub fn usage(&self, split: &mut Split) -> Usage {
        let used = &self.used;
        let parts = self.cpu_ns.map(|cpu_ns| split.add(cpu_ns, used.user_us, used.system_us));
        // A page read back from swap right after it was thrown out is counted under both names: the longer one is taken.
        let paging_wait_ns = used.reclaim_ns + used.swap_in_ns.max(used.thrashing_ns);
        Usage {
            cpu_user_ns: parts.map(|(user, _)| user),
            cpu_system_ns: parts.map(|(_, system)| system),
            faults_minor: self.faults.map(|faults| faults.minor),
            faults_major: self.faults.map(|faults| faults.major),
            ready_wait_ns: self.ready_wait.then_some(used.ready_wait_ns),
            paging_wait_ns: self.delays.then_some(paging_wait_ns),
            io_wait_ns: self.delays.then_some(used.block_ns),
            throttled_ns: None,
        }
    }
}
