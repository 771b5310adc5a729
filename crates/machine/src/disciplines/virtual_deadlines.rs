//! Jobs by virtual deadline, from which the earliest is found among those whose virtual time is not past a bound.
//!
//! A tree ordered by deadline in which each node knows the least virtual time below it, as Linux's run queue is (`__pick_eevdf`).
//! It is balanced by a random number for each job (a treap: Aragon and Seidel 1989), held in a table by job number: O(log n) for
//! each operation, nothing allocated once the table has grown, and no rotations to get wrong.

use super::Job;

const NOBODY: u32 = u32::MAX;

/// A deadline, and the order of coming among equals.
pub type Deadline = (i128, u64);

/// Jobs by virtual deadline.
#[derive(Clone, Debug)]
pub struct VirtualDeadlines {
    nodes: Vec<Node>,
    root: u32,
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    deadline: Deadline,
    virtual_time: i128,
    least: i128,
    weight: u32,
    left: u32,
    right: u32,
    inside: bool,
}

impl Default for VirtualDeadlines {
    fn default() -> VirtualDeadlines {
        VirtualDeadlines { nodes: Vec::new(), root: NOBODY, count: 0 }
    }
}

impl VirtualDeadlines {
    /// How many are in it.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The least virtual time of all.
    pub fn least(&self) -> Option<i128> {
        self.nodes.get(self.root as usize).map(|root| root.least)
    }

    /// The job with the earliest deadline of those whose virtual time is at most `bound`.
    pub fn earliest_within(&self, bound: i128) -> Option<Job> {
        let mut here = self.root;
        while self.least_below(here)? <= bound {
            let node = &self.nodes[here as usize];
            if self.least_below(node.left).is_some_and(|least| least <= bound) {
                here = node.left;
            } else if node.virtual_time <= bound {
                return Some(here);
            } else {
                here = node.right;
            }
        }
        None
    }

    /// Puts `job` in; it must not be in already.
    pub fn insert(&mut self, job: Job, deadline: Deadline, virtual_time: i128) {
        while self.nodes.len() <= job as usize {
            let weight = scatter(self.nodes.len() as u32);
            let (left, right) = (NOBODY, NOBODY);
            self.nodes.push(Node { deadline, virtual_time: 0, least: 0, weight, left, right, inside: false });
        }
        let node = &mut self.nodes[job as usize];
        assert!(!node.inside, "job {job} waits in one list twice");
        *node = Node { deadline, virtual_time, least: virtual_time, left: NOBODY, right: NOBODY, inside: true, ..*node };
        let (before, behind) = self.split(self.root, deadline);
        let front = self.merge(before, job);
        self.root = self.merge(front, behind);
        self.count += 1;
    }

    /// Takes `job` out; false when it was not in.
    pub fn remove(&mut self, job: Job) -> bool {
        let Some(node) = self.nodes.get_mut(job as usize).filter(|node| node.inside) else { return false };
        node.inside = false;
        let (deadline, left, right) = (node.deadline, node.left, node.right);
        let below = self.merge(left, right);
        self.root = self.replace(self.root, job, deadline, below);
        self.count -= 1;
        true
    }

    fn least_below(&self, node: u32) -> Option<i128> {
        self.nodes.get(node as usize).map(|node| node.least)
    }

    fn update(&mut self, here: u32) {
        let node = self.nodes[here as usize];
        let below = [node.left, node.right].into_iter().filter_map(|child| self.least_below(child)).min();
        self.nodes[here as usize].least = below.map_or(node.virtual_time, |least| least.min(node.virtual_time));
    }

    /// The tree under `here`, cut into those before `deadline` and the others.
    fn split(&mut self, here: u32, deadline: Deadline) -> (u32, u32) {
        if here == NOBODY {
            return (NOBODY, NOBODY);
        }
        let node = self.nodes[here as usize];
        let parts = if node.deadline < deadline {
            let (before, behind) = self.split(node.right, deadline);
            self.nodes[here as usize].right = before;
            (here, behind)
        } else {
            let (before, behind) = self.split(node.left, deadline);
            self.nodes[here as usize].left = behind;
            (before, here)
        };
        self.update(here);
        parts
    }

    /// One tree of two, all of the first before all of the second.
    fn merge(&mut self, before: u32, behind: u32) -> u32 {
        if before == NOBODY || behind == NOBODY {
            return before.min(behind);
        }
        let (first, second) = (self.nodes[before as usize], self.nodes[behind as usize]);
        let top = if first.weight > second.weight {
            self.nodes[before as usize].right = self.merge(first.right, behind);
            before
        } else {
            self.nodes[behind as usize].left = self.merge(before, second.left);
            behind
        };
        self.update(top);
        top
    }

    /// The tree under `here` with `job` replaced by `below`.
    fn replace(&mut self, here: u32, job: Job, deadline: Deadline, below: u32) -> u32 {
        if here == job {
            return below;
        }
        let node = self.nodes[here as usize];
        if node.deadline < deadline {
            self.nodes[here as usize].right = self.replace(node.right, job, deadline, below);
        } else {
            self.nodes[here as usize].left = self.replace(node.left, job, deadline, below);
        }
        self.update(here);
        here
    }
}

/// A number that looks random, the same for a job always (the end of MurmurHash3).
fn scatter(job: Job) -> u32 {
    let mixed = (job ^ job >> 16).wrapping_mul(0x85EB_CA6B);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xC2B2_AE35);
    mixed ^ mixed >> 16
}
