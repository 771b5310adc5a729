//! A process's past: which of its processor time it got when, as far back as its oldest page was used.

/// So many pieces are kept at most; then neighbours are joined.
const MOST: usize = 64;
/// A piece is at least this part of the span that matters.
const PART: f64 = 1.0 / 24.0;

/// The processor time of a process, on the clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    /// All of its processor time until now, in ns at speed 1.
    pub work: f64,
    pieces: Vec<Piece>,
    born: Option<u64>,
}

/// A stretch of processor time, and the clock's times at its ends; between them both are taken to go evenly.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: (f64, u64),
    to: (f64, u64),
}

impl Past {
    /// The process exists from `now` on, if it has not before.
    pub(crate) fn is_born(&mut self, now: u64) {
        self.born.get_or_insert(now);
    }

    /// It worked for `work` from `began` until `now` of the clock; what is more than `span` of its work ago is forgotten.
    pub fn add(&mut self, work: f64, began: u64, now: u64, span: f64) {
        if work <= 0.0 {
            return;
        }
        let from = self.work;
        self.work += work;
        let to = (self.work, now);
        match self.pieces.last_mut() {
            Some(last) if last.to.0 - last.from.0 < span * PART => last.to = to,
            last => {
                let began = last.map_or(began, |last| began.max(last.to.1));
                self.pieces.push(Piece { from: (from, began), to });
            }
        }
        if self.pieces.len() >= MOST {
            self.shorten(self.work - span);
        }
    }

    /// Forgets what was before `since`; if that is not enough, joins neighbours two by two.
    fn shorten(&mut self, since: f64) {
        let gone = self.pieces.partition_point(|piece| piece.to.0 < since);
        self.pieces.drain(..gone);
        if self.pieces.len() > MOST / 2 {
            let join = |two: &[Piece]| Piece { from: two[0].from, to: two[two.len() - 1].to };
            let joined: Vec<Piece> = self.pieces.chunks(2).map(join).collect();
            self.pieces = joined;
        }
    }

    /// The clock's time when the process had had so much processor time; before all that is known, the earliest time known.
    pub(crate) fn clock_at(&self, work: f64) -> u64 {
        let after = self.pieces.partition_point(|piece| piece.to.0 < work);
        match self.pieces.get(after) {
            Some(Piece { from, .. }) if work <= from.0 => from.1,
            Some(Piece { from, to }) => {
                let part = (work - from.0) / (to.0 - from.0);
                from.1 + ((to.1 - from.1) as f64 * part) as u64
            }
            None => self.pieces.last().map_or(self.born.unwrap_or(0), |last| last.to.1),
        }
    }
}
