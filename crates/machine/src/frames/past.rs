//! A process's past: its processor time over the clock's time, back to the last use of its oldest page.

/// Largest number of pieces. When it is reached, neighbours are joined. Chosen by hand.
const MOST_PIECES: usize = 64;
/// Shortest piece, as a part of the span that is kept. Chosen by hand, well above 1 / 64.
const LEAST_PIECE_SHARE: f64 = 1.0 / 24.0;

/// The processor time of a process over the clock's time.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkHistory {
    /// Processor time until now, in ns at speed 1.
    pub work: f64,
    pieces: Vec<WorkPiece>,
    born: Option<u64>,
}

/// A piece of processor time, with the clock's times at its ends. Between them, both are assumed to pass evenly.
#[derive(Clone, Copy, Debug)]
struct WorkPiece {
    from: (f64, u64),
    to: (f64, u64),
}

impl WorkHistory {
    /// Records that the process exists from `now` on, if it did not before.
    pub(crate) fn is_born(&mut self, now: u64) {
        self.born.get_or_insert(now);
    }

    /// Adds `work` from `began` until `now` of the clock, and may forget pieces that are more than `span` of work ago.
    pub fn add(&mut self, work: f64, began: u64, now: u64, span: f64) {
        if work <= 0.0 {
            return;
        }
        let from = self.work;
        self.work += work;
        let to = (self.work, now);
        match self.pieces.last_mut() {
            Some(last) if last.to.0 - last.from.0 < span * LEAST_PIECE_SHARE => last.to = to,
            last => {
                let began = last.map_or(began, |last| began.max(last.to.1));
                self.pieces.push(WorkPiece { from: (from, began), to });
            }
        }
        if self.pieces.len() >= MOST_PIECES {
            self.shorten(self.work - span);
        }
    }

    /// Forgets pieces before `since`. If that is not enough, joins neighbours two by two.
    fn shorten(&mut self, since: f64) {
        let gone = self.pieces.partition_point(|piece| piece.to.0 < since);
        self.pieces.drain(..gone);
        if self.pieces.len() > MOST_PIECES / 2 {
            let join = |neighbours: &[WorkPiece]| WorkPiece { from: neighbours[0].from, to: neighbours[neighbours.len() - 1].to };
            let joined: Vec<WorkPiece> = self.pieces.chunks(2).map(join).collect();
            self.pieces = joined;
        }
    }

    /// The clock's time at which the process had `work` of processor time; the earliest known time if that is longer ago.
    pub(crate) fn clock_at(&self, work: f64) -> u64 {
        let after = self.pieces.partition_point(|piece| piece.to.0 < work);
        match self.pieces.get(after) {
            Some(WorkPiece { from, .. }) if work <= from.0 => from.1,
            Some(WorkPiece { from, to }) => {
                let part = (work - from.0) / (to.0 - from.0);
                from.1 + ((to.1 - from.1) as f64 * part) as u64
            }
            None => self.pieces.last().map_or(self.born.unwrap_or(0), |last| last.to.1),
        }
    }
}
