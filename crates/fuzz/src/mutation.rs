//! Changed inputs without a guide: cuts, copies, other bytes and lengths, from a seed.

use loadgo_core::random::{RandomStream, StreamPurpose};

/// Bytes that lengths and heads are often wrong by.
const NUMBERS: [&[u8]; 8] =
    [&[0], &[0xFF], &[0x7F, 0xFF, 0xFF, 0xFF], &[0xFF; 4], &[0; 4], &[0xFF; 8], &[0x80, 0, 0, 0], &[1, 0, 0, 0]];
/// Most bytes that one change moves.
const MOST_MOVED_BYTES: usize = 40;

/// Makes changed inputs. The same seed makes the same ones.
#[derive(Debug)]
pub struct Mutator(RandomStream);

impl Mutator {
    /// A maker of changed inputs.
    pub fn new(seed: u64) -> Mutator {
        Mutator(RandomStream::new(seed, 1, StreamPurpose::Work))
    }

    /// Draws one of `inputs` and makes one to four changes in it.
    pub fn changed(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = inputs[self.0.index(inputs.len())].clone();
        for _ in 0..=self.0.index(4) {
            self.change(&mut bytes, inputs);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
        let at = self.0.index(bytes.len() + 1);
        let end = (at + self.0.index(MOST_MOVED_BYTES)).min(bytes.len());
        match self.0.index(7) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, self.piece(inputs))),
            2 => drop(bytes.splice(at..end, self.piece(inputs))),
            3 => {
                let number = NUMBERS[self.0.index(NUMBERS.len())];
                bytes.iter_mut().skip(at).zip(number).for_each(|(byte, other)| *byte = *other);
            }
            4 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << self.0.index(8)),
            5 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = self.0.index(256) as u8),
            _ => bytes.truncate(at),
        }
    }

    /// A piece of any input.
    fn piece(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        let from = &inputs[self.0.index(inputs.len())];
        let at = self.0.index(from.len() + 1);
        from[at..(at + self.0.index(MOST_MOVED_BYTES)).min(from.len())].to_vec()
    }
}
