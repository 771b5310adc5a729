//! Divides an exact processor time into user and system time, in the ratio of the kernel's clock ticks.
//!
//! The method is the kernel's own `cputime_adjust`. The ticks only say where the task was at each tick, so the total so far is
//! divided in their ratio. Neither part ever decreases. Over a few ticks the parts are an estimate; their sum is exact.
//! Before the first tick all time counts as the program's.

/// The parts of one user's processor time so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    total: u64,
    user_ticks: u64,
    system_ticks: u64,
    user: u64,
    system: u64,
}

impl Split {
    /// Adds `total_ns` with the ticks in it, in any unit that both have. Returns the user and the system part of `total_ns`.
    pub fn add(&mut self, total_ns: u64, user_ticks: u64, system_ticks: u64) -> (u64, u64) {
        self.total += total_ns;
        self.user_ticks += user_ticks;
        self.system_ticks += system_ticks;
        let before = *self;
        self.system = self.system_share().clamp(before.system, self.total - before.user);
        self.user = self.total - self.system;
        (self.user - before.user, self.system - before.system)
    }

    fn system_share(&self) -> u64 {
        match self.user_ticks + self.system_ticks {
            0 => 0,
            ticks => (u128::from(self.total) * u128::from(self.system_ticks) / u128::from(ticks)) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_and_never_go_back() {
        let mut split = Split::default();
        let mut sum = 0;
        for (total, user, system) in [(500, 0, 0), (700, 0, 4), (10, 0, 4), (5000, 8, 0), (1, 0, 4000), (0, 0, 0)] {
            let (in_user, in_system) = split.add(total, user, system);
            assert_eq!(in_user + in_system, total);
            sum += total;
        }
        assert_eq!(split.user + split.system, sum);
    }

    #[test]
    fn the_parts_reach_the_ratio_of_the_ticks() {
        let mut split = Split::default();
        (0..1000).for_each(|_| {
            split.add(1000, 3, 1);
        });
        assert_eq!((split.user, split.system), (750_000, 250_000));
    }
}
