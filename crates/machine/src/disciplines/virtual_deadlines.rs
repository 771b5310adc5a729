//! Processes by virtual deadline, with a search for the earliest deadline among those whose virtual time is within a bound.
//!
//! As in Linux's run queues (`__pick_eevdf`), each is a tree ordered by deadline, in which each node has the least virtual time below
//! it. A random number for each process balances the tree (a treap: Aragon and Seidel 1989). The nodes of all trees
//! are in one table by process number. Each operation takes O(log n), and allocates nothing once the table has grown.

use super::ProcessId;

/// Marks a missing child.
const NO_NODE: u32 = u32::MAX;

/// A deadline, and the order of arrival among equals.
pub type Deadline = (i128, u64);

/// Trees of processes by virtual deadline. A process is in one of them at most.
#[derive(Clone, Debug)]
pub struct VirtualDeadlines {
    nodes: Vec<Node>,
    roots: Vec<u32>,
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
    tree: u32,
    inside: bool,
}

impl VirtualDeadlines {
    /// This number of trees, without processes.
    pub fn with_trees(count: usize) -> VirtualDeadlines {
        VirtualDeadlines { nodes: Vec::new(), roots: vec![NO_NODE; count], count: 0 }
    }

    /// Number of processes in all trees.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no process is in any tree.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The least virtual time of all processes of a tree.
    pub fn least(&self, tree: usize) -> Option<i128> {
        self.least_below(self.roots[tree])
    }

    /// The process with the earliest deadline of those in a tree whose virtual time is at most `bound`.
    pub fn earliest_within(&self, tree: usize, bound: i128) -> Option<ProcessId> {
        let mut here = self.roots[tree];
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

    /// Adds `pid`, which must not be in any tree, to this one.
    pub fn insert(&mut self, tree: usize, pid: ProcessId, deadline: Deadline, virtual_time: i128) {
        while self.nodes.len() <= pid as usize {
            let weight = scatter(self.nodes.len() as u32);
            let (left, right) = (NO_NODE, NO_NODE);
            self.nodes.push(Node { deadline, virtual_time: 0, least: 0, weight, left, right, tree: 0, inside: false });
        }
        let node = &mut self.nodes[pid as usize];
        assert!(!node.inside, "process {pid} is in one list twice");
        let (left, right) = (NO_NODE, NO_NODE);
        *node = Node { deadline, virtual_time, least: virtual_time, left, right, tree: tree as u32, inside: true, ..*node };
        let (before, behind) = self.split(self.roots[tree], deadline);
        let front = self.merge(before, pid);
        self.roots[tree] = self.merge(front, behind);
        self.count += 1;
    }

    /// Removes `pid`; false if it was in no tree.
    pub fn remove(&mut self, pid: ProcessId) -> bool {
        let Some(node) = self.nodes.get_mut(pid as usize).filter(|node| node.inside) else { return false };
        node.inside = false;
        let (deadline, left, right, tree) = (node.deadline, node.left, node.right, node.tree as usize);
        let below = self.merge(left, right);
        self.roots[tree] = self.replace(self.roots[tree], pid, deadline, below);
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

    /// Splits the tree under `here` into the processes before `deadline` and the others.
    fn split(&mut self, here: u32, deadline: Deadline) -> (u32, u32) {
        if here == NO_NODE {
            return (NO_NODE, NO_NODE);
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

    /// Joins two trees, of which all processes of the first are before all of the second.
    fn merge(&mut self, before: u32, behind: u32) -> u32 {
        if before == NO_NODE || behind == NO_NODE {
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

    /// Replaces `pid` by `below` in the tree under `here`.
    fn replace(&mut self, here: u32, pid: ProcessId, deadline: Deadline, below: u32) -> u32 {
        if here == pid {
            return below;
        }
        let node = self.nodes[here as usize];
        if node.deadline < deadline {
            self.nodes[here as usize].right = self.replace(node.right, pid, deadline, below);
        } else {
            self.nodes[here as usize].left = self.replace(node.left, pid, deadline, below);
        }
        self.update(here);
        here
    }
}

/// A number that looks random and is always the same for a process (the end of MurmurHash3).
fn scatter(pid: ProcessId) -> u32 {
    let mixed = (pid ^ pid >> 16).wrapping_mul(0x85EB_CA6B);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xC2B2_AE35);
    mixed ^ mixed >> 16
}
