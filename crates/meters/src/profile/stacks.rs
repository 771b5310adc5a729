//! Where the clock found the processors: stacks with their counts, and what each says of how busy time is divided.

use crate::profile::kallsyms::Kallsyms;
use crate::profile::sideband::{KERNEL_FOLLOWS, MARKS, USER_FOLLOWS};
use crate::profile::spaces::{ANON, KERNEL, SegmentId, Space};
use crate::shares::Doing;
use std::collections::HashMap;
use std::sync::Arc;

/// A function on a stack, before it has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub segment: SegmentId,
    /// In the kernel its function's address; in a file the offset; elsewhere what [`Place`] says.
    pub at: Place,
}

/// Where in its segment a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// At this offset, or this address of the kernel.
    Offset(u64),
    /// In a function that the program itself has made, by its number in [`crate::profile::jit::Jits`].
    Made(u32),
    /// In memory that has no file and no names.
    Nowhere,
}

/// Whose stack it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Whose {
    pub user: Option<u32>,
    /// The number of the command, 0: none.
    pub command: u32,
    pub process: Arc<str>,
}

/// The stacks of a span, the innermost frame first.
pub(crate) type Stacks = HashMap<(Whose, Box<[Frame]>), u64>;

/// The kernel's and the user's part of a chain, the innermost address first.
pub(crate) struct Chain<'a> {
    pub kernel: &'a [u64],
    pub user: &'a [u64],
}

impl Chain<'_> {
    /// Cuts a chain at the kernel's marks.
    pub fn of(words: &[u64]) -> Chain<'_> {
        let part = |mark: u64| {
            let Some(at) = words.iter().position(|word| *word == mark) else { return &words[..0] };
            let rest = &words[at + 1..];
            &rest[..rest.iter().position(|word| *word >= MARKS).unwrap_or(rest.len())]
        };
        Chain { kernel: part(KERNEL_FOLLOWS), user: part(USER_FOLLOWS) }
    }

    /// What the processor was doing: the innermost function with a mark says it.
    pub fn doing(&self, kallsyms: &Kallsyms) -> Doing {
        if self.kernel.is_empty() {
            return Doing::User;
        }
        let mut told = self.kernel.iter().enumerate().map(|(depth, address)| kallsyms.doing(called_from(*address, depth)));
        match told.find_map(|doing| doing) {
            Some(doing) => doing,
            None if self.user.is_empty() => Doing::KernelThread,
            None => Doing::Primitive,
        }
    }

    /// The frames, the innermost first; `made` tells of functions that are in no file.
    pub fn frames(&self, kallsyms: Option<&Kallsyms>, space: &Space, made: &mut dyn FnMut(u64) -> Option<u32>) -> Box<[Frame]> {
        let kernel = self.kernel.iter().enumerate().map(|(depth, address)| {
            let address = called_from(*address, depth);
            let function = kallsyms.and_then(|kallsyms| kallsyms.function(address));
            Frame { segment: KERNEL, at: function.map_or(Place::Nowhere, Place::Offset) }
        });
        let mut frames: Vec<Frame> = kernel.collect();
        for (depth, address) in self.user.iter().enumerate() {
            let address = called_from(*address, depth);
            let (segment, offset) = space.find(address);
            if depth > 0 && !space.runs(address) {
                break; // a function without a frame pointer was on the way: from here on it is no chain
            }
            let at = if segment == ANON { made(address).map_or(Place::Nowhere, Place::Made) } else { Place::Offset(offset) };
            frames.push(Frame { segment, at });
        }
        frames.into()
    }
}

/// The outer addresses are those to return to: the call is before.
fn called_from(address: u64, depth: usize) -> u64 {
    if depth == 0 { address } else { address.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_cut_at_the_kernels_marks() {
        let words = [KERNEL_FOLLOWS, 1, 2, USER_FOLLOWS, 3];
        let chain = Chain::of(&words);
        assert_eq!((chain.kernel, chain.user), (&[1, 2][..], &[3][..]));
        let words = [USER_FOLLOWS, 3, 4];
        let chain = Chain::of(&words);
        assert_eq!((chain.kernel, chain.user), (&[][..], &[3, 4][..]));
    }
}
