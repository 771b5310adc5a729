//! A heap of numbers, the least first, in which taking one out and putting another in is a single sift.
//!
//! Of the number taken out only the hole at the top is left: the next one entered falls into it, where a removal and an insertion
//! would take two sifts. In a closed system nearly every event enters exactly one other.

/// Above all numbers: what a place holds that nobody has.
pub const NONE: u128 = u128::MAX;
/// Children of a node: four lie in one or two cache lines, and the heap is half as deep as with two.
const ARITY: usize = 4;

/// Numbers below [`NONE`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    /// The top and whole nodes' children after it; the places from `count` on hold [`NONE`].
    places: Vec<u128>,
    count: usize,
    /// The number at the top has been taken out already.
    hole: bool,
}

impl Heap {
    /// The least number; [`NONE`] if there is none.
    #[inline]
    pub fn first(&mut self) -> u128 {
        if self.hole {
            self.close_hole();
        }
        self.places.first().copied().unwrap_or(NONE)
    }

    /// Takes out the number that [`Heap::first`] has just told.
    #[inline]
    pub fn take_first(&mut self) {
        debug_assert!(self.count > 0 && !self.hole, "what is taken out has been looked at");
        self.hole = true;
    }

    /// Puts a number in.
    #[inline]
    pub fn enter(&mut self, number: u128) {
        if self.hole {
            self.hole = false;
            self.sift_down(number);
        } else {
            self.sift_up(number);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count - usize::from(self.hole)
    }

    /// Takes all of them out, in no order.
    pub fn drain(&mut self) -> Vec<u128> {
        self.first();
        self.places.truncate(self.count);
        self.count = 0;
        std::mem::take(&mut self.places)
    }

    #[inline]
    fn close_hole(&mut self) {
        self.hole = false;
        self.count -= 1;
        let last = std::mem::replace(&mut self.places[self.count], NONE);
        if self.count > 0 {
            self.sift_down(last);
        }
    }

    /// Puts `number` into the hole at the top, and down to its place. Below that place nothing changes any more; the way down goes on to
    /// the end all the same, because where it could stop cannot be foreseen by a processor, and mostly is the end.
    #[inline]
    fn sift_down(&mut self, number: u128) {
        let places = self.places.as_mut_slice();
        let (mut at, mut number) = (0, number);
        while let Some(children) = places.get(at * ARITY + 1..).and_then(|below| below.first_chunk::<ARITY>()) {
            let [first, second, third, fourth] = *children;
            let (low, high) = (lesser((first, 1), (second, 2)), lesser((third, 3), (fourth, 4)));
            let (least, child) = lesser(low, high);
            places[at] = number.min(least);
            number = number.max(least);
            at = at * ARITY + child;
        }
        places[at] = number;
    }

    #[inline]
    fn sift_up(&mut self, number: u128) {
        if self.count == self.places.len() {
            let more = if self.count == 0 { 1 } else { ARITY };
            self.places.resize(self.count + more, NONE);
        }
        let mut at = self.count;
        self.count += 1;
        let places = self.places.as_mut_slice();
        while at > 0 && number < places[(at - 1) / ARITY] {
            places[at] = places[(at - 1) / ARITY];
            at = (at - 1) / ARITY;
        }
        places[at] = number;
    }
}

/// The lesser of two numbers that come with their places: values are chosen, not addresses, so that no load waits for a comparison.
#[inline]
fn lesser(one: (u128, usize), other: (u128, usize)) -> (u128, usize) {
    if other.0 < one.0 { other } else { one }
}
