//! An oracle for demand paging: each reference to a page is simulated, and memory knows the last use of each page.
//!
//! It is the stack-distance model (Mattson, Gecsei, Slutz and Traiger, 1970). A reference goes to the page that is d-th by last
//! use, with P(d > k) = δ/headway(k) for references δ apart. With k pages held, the mean work between misses is then headway(k).

use loadgo_core::random::RandomStream;

/// Mean work between faults by pages held, in ns.
pub type Law = fn(f64) -> f64;

/// A memory whose frames are replaced by least recent use over all processes.
pub struct Direct {
    /// Work between two references.
    apart: f64,
    /// P(d > k) for each k.
    deeper: Vec<f64>,
    free: usize,
    processes: Vec<Process>,
}

struct Process {
    pages: usize,
    /// The last use of each page that it has ever referred to, the latest first.
    stack: Vec<u64>,
    /// The number of these pages, from the first, that are in memory.
    resident: usize,
    faults: u32,
}

impl Direct {
    /// Processes with this number of pages each, and an empty memory.
    pub fn new(law: Law, frames: usize, pages: &[u32]) -> Direct {
        let process = |pages: &u32| Process { pages: *pages as usize, stack: Vec::new(), resident: 0, faults: 0 };
        let most = pages.iter().max().map_or(0, |most| *most as usize);
        let deeper = (0..=most).map(|held| law(1.0) / law(held.max(1) as f64)).collect();
        Direct { apart: law(1.0), deeper, free: frames, processes: pages.iter().map(process).collect() }
    }

    /// `pid` works from `now` on for `work` ns.
    pub fn work(&mut self, pid: usize, now: u64, work: u64, stream: &mut RandomStream) {
        let references = work as f64 / self.apart;
        let whole = references as u64 + u64::from(stream.unit() < references.fract());
        for reference in 0..whole {
            let luck = stream.unit();
            let process = &mut self.processes[pid];
            let depth = (1..process.pages).find(|held| self.deeper[*held] < luck).unwrap_or(process.pages);
            self.refer(pid, depth, now + (reference as f64 * self.apart) as u64);
        }
    }

    fn refer(&mut self, pid: usize, depth: usize, now: u64) {
        let process = &mut self.processes[pid];
        let missing = depth > process.resident;
        if depth <= process.stack.len() {
            process.stack.remove(depth - 1);
        }
        process.stack.insert(0, now);
        if !missing {
            return;
        }
        process.faults += 1;
        process.resident += 1;
        if self.free > 0 {
            self.free -= 1;
            return;
        }
        let oldest = |process: &&mut Process| process.stack[process.resident - 1];
        let victim = self.processes.iter_mut().filter(|process| process.resident > 0).min_by_key(oldest);
        victim.unwrap().resident -= 1;
    }

    /// Faults of each process so far.
    pub fn faults(&self) -> Vec<f64> {
        self.processes.iter().map(|process| f64::from(process.faults)).collect()
    }

    /// Pages that `pid` has in memory.
    pub fn held(&self, pid: usize) -> u32 {
        self.processes[pid].resident as u32
    }
}
