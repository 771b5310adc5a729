//! Stacks of clock samples, and the activity that each stack shows. Busy time is divided by these activities.

use crate::kallsyms::Kallsyms;
use crate::profile::sideband::{KERNEL_FOLLOWS, PERF_CONTEXT_MAX, USER_FOLLOWS};
use crate::profile::spaces::{ANON_SEGMENT, KERNEL_SEGMENT, SegmentId, Space};
use crate::shares::SampledActivity;
use std::collections::HashMap;
use std::sync::Arc;

/// A frame of a stack, before its function has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackFrame {
    pub segment: SegmentId,
    /// The position in the segment.
    pub position: FramePosition,
}

/// The position of a frame in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FramePosition {
    /// An offset in the file, or an address of the kernel's function.
    Offset(u64),
    /// A function that the program itself has compiled, by its number in [`crate::profile::jit::Jits`].
    Jit(u32),
    /// Memory without a file or names.
    Nameless,
}

/// The owner of a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StackOwner {
    pub user: Option<u32>,
    /// The number of the command; 0 for none.
    pub command: u32,
    pub process: Arc<str>,
}

/// Numbers of samples by stack, the innermost frame first.
pub(crate) type Stacks = HashMap<(StackOwner, Box<[StackFrame]>), u64>;

/// The kernel's and the user's addresses of a call chain, the innermost first.
pub(crate) struct CallChain<'a> {
    pub kernel: &'a [u64],
    pub user: &'a [u64],
}

impl CallChain<'_> {
    /// Splits a chain at the kernel's marks.
    pub fn from_addresses(words: &[u64]) -> CallChain<'_> {
        let part = |mark: u64| {
            let Some(index) = words.iter().position(|word| *word == mark) else { return &words[..0] };
            let after = &words[index + 1..];
            &after[..after.iter().position(|word| *word >= PERF_CONTEXT_MAX).unwrap_or(after.len())]
        };
        CallChain { kernel: part(KERNEL_FOLLOWS), user: part(USER_FOLLOWS) }
    }

    /// The processor's activity, by the innermost function that shows one.
    pub fn activity(&self, kallsyms: &Kallsyms) -> SampledActivity {
        if self.kernel.is_empty() {
            return SampledActivity::User;
        }
        let mut addresses = self.kernel.iter().enumerate().map(|(depth, address)| call_address(*address, depth));
        match addresses.find_map(|address| kallsyms.activity(address)) {
            Some(activity) => activity,
            None if self.user.is_empty() => SampledActivity::KernelThread,
            None => SampledActivity::Primitive,
        }
    }

    /// The frames, the innermost first; `jit_function` finds functions that are in no file.
    pub fn frames(
        &self,
        kallsyms: Option<&Kallsyms>,
        space: &Space,
        jit_function: &mut dyn FnMut(u64) -> Option<u32>,
    ) -> Box<[StackFrame]> {
        let kernel = self.kernel.iter().enumerate().map(|(depth, address)| {
            let address = call_address(*address, depth);
            let function = kallsyms.and_then(|kallsyms| kallsyms.function(address));
            StackFrame { segment: KERNEL_SEGMENT, position: function.map_or(FramePosition::Nameless, FramePosition::Offset) }
        });
        let mut frames: Vec<StackFrame> = kernel.collect();
        for (depth, address) in self.user.iter().enumerate() {
            let address = call_address(*address, depth);
            let (segment, offset) = space.find(address);
            if depth > 0 && !space.is_executable(address) {
                break; // a function without a frame pointer ends the valid part of the chain
            }
            let position = match segment {
                ANON_SEGMENT => jit_function(address).map_or(FramePosition::Nameless, FramePosition::Jit),
                _ => FramePosition::Offset(offset),
            };
            frames.push(StackFrame { segment, position });
        }
        frames.into()
    }
}

/// An address in the calling function. Outer addresses of a chain are return addresses, which follow the call.
fn call_address(address: u64, depth: usize) -> u64 {
    if depth == 0 { address } else { address.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_cut_at_the_kernels_marks() {
        let words = [KERNEL_FOLLOWS, 1, 2, USER_FOLLOWS, 3];
        let chain = CallChain::from_addresses(&words);
        assert_eq!((chain.kernel, chain.user), (&[1, 2][..], &[3][..]));
        let words = [USER_FOLLOWS, 3, 4];
        let chain = CallChain::from_addresses(&words);
        assert_eq!((chain.kernel, chain.user), (&[][..], &[3, 4][..]));
    }
}
