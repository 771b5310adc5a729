//! A heap of numbers, the least first, in which a removal and the next insertion take a single sift together.
//!
//! A removed number leaves a hole at the top, into which the next number falls. A usual heap takes two sifts for the same. In a
//! closed system, nearly every event enters exactly one other.

/// Content of an empty place, larger than all numbers.
pub const NO_NUMBER: u128 = u128::MAX;
/// Children of a node. Four lie in one or two cache lines, and the heap is half as deep as with two.
const NODE_CHILDREN: usize = 4;

/// Numbers below [`NO_NUMBER`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    /// The top, then all children of complete nodes. The places from `count` on hold [`NO_NUMBER`].
    places: Vec<u128>,
    count: usize,
    /// Whether the number at the top has been removed.
    hole: bool,
}

impl Heap {
    /// The least number; [`NO_NUMBER`] if the heap is empty.
    #[inline]
    pub fn first(&mut self) -> u128 {
        if self.hole {
            self.close_hole();
        }
        self.places.first().copied().unwrap_or(NO_NUMBER)
    }

    /// Removes the number that [`Heap::first`] has just returned.
    #[inline]
    pub fn take_first(&mut self) {
        debug_assert!(self.count > 0 && !self.hole, "a number is read before it is removed");
        self.hole = true;
    }

    /// Adds a number.
    #[inline(always)]
    pub fn enter(&mut self, number: u128) {
        if self.hole {
            self.hole = false;
            self.sift_down(number);
        } else {
            self.sift_up(number);
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.count - usize::from(self.hole)
    }

    /// Whether there is no number.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes and returns all numbers, in no order.
    pub fn drain(&mut self) -> Vec<u128> {
        self.first();
        self.places.truncate(self.count);
        self.count = 0;
        std::mem::take(&mut self.places)
    }

    #[inline(never)]
    fn close_hole(&mut self) {
        self.hole = false;
        self.count -= 1;
        let last = std::mem::replace(&mut self.places[self.count], NO_NUMBER);
        if self.count > 0 {
            self.sift_down(last);
        }
    }

    /// Puts `number` into the hole at the top, and moves it down to its place.
    ///
    /// Below that place nothing changes, but the way down goes on to the end. A processor cannot predict where it could stop, and
    /// mostly that is the end.
    #[inline(always)]
    fn sift_down(&mut self, number: u128) {
        let places = self.places.as_mut_slice();
        let (mut at, mut number) = (0, number);
        while let Some(children) = places.get(at * NODE_CHILDREN + 1..).and_then(|below| below.first_chunk::<NODE_CHILDREN>()) {
            let [first, second, third, fourth] = *children;
            let (low, high) = (lesser((first, 1), (second, 2)), lesser((third, 3), (fourth, 4)));
            let (least, child) = lesser(low, high);
            // One comparison for both, where the least and the greatest of two numbers would take one each.
            let is_least = number < least;
            places[at] = if is_least { number } else { least };
            number = if is_least { least } else { number };
            at = at * NODE_CHILDREN + child;
        }
        places[at] = number;
    }

    #[inline(never)]
    fn sift_up(&mut self, number: u128) {
        if self.count == self.places.len() {
            let added = if self.count == 0 { 1 } else { NODE_CHILDREN };
            self.places.resize(self.count + added, NO_NUMBER);
        }
        let mut at = self.count;
        self.count += 1;
        let places = self.places.as_mut_slice();
        while at > 0 && number < places[(at - 1) / NODE_CHILDREN] {
            places[at] = places[(at - 1) / NODE_CHILDREN];
            at = (at - 1) / NODE_CHILDREN;
        }
        places[at] = number;
    }
}

/// The lesser of two numbers with their places. Values are chosen, not addresses, so that no load waits for a comparison.
#[inline]
fn lesser(left: (u128, usize), right: (u128, usize)) -> (u128, usize) {
    if right.0 < left.0 { right } else { left }
}
