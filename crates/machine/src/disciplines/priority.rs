//! The lowest priority number first, in the order of coming among equals; an arrival may take the processor from a higher number.
//!
//! Who is pre-empted keeps the place that it had: it goes on before all that came after it (pre-emptive resume).

use super::order::Order;
use super::{Facts, Job, Off, ReadyList, Stay, Turn, Why};

/// Two orders by (priority, place): those who ask, and those who are ready.
#[derive(Clone, Debug)]
pub struct Priority {
    preemptive: bool,
    asking: Order<(u32, u64)>,
    ready: Order<(u32, u64)>,
    /// Of each job, its command's priority and its place.
    places: Vec<(u32, u64)>,
    next_place: u64,
}

impl Priority {
    /// Empty.
    pub fn new(preemptive: bool) -> Priority {
        Priority { preemptive, asking: Order::default(), ready: Order::default(), places: Vec::new(), next_place: 0 }
    }

    fn place(&mut self) -> u64 {
        self.next_place += 1;
        self.next_place
    }
}

impl ReadyList for Priority {
    fn ask(&mut self, job: Job, facts: &Facts, _now: u64) {
        if self.places.len() <= job as usize {
            self.places.resize(job as usize + 1, (0, 0));
        }
        let place = (facts.priority, self.place());
        self.places[job as usize] = place;
        self.asking.insert(place, job);
    }

    fn candidate(&self) -> Option<Job> {
        self.asking.first().map(|(_, job)| job)
    }

    fn admit(&mut self, job: Job, _now: u64) {
        assert!(self.asking.remove(job), "job {job} does not ask to be eligible");
    }

    fn ready(&mut self, job: Job, why: Why, _now: u64) {
        if why == Why::Woken {
            self.places[job as usize].1 = self.place();
        }
        self.ready.insert(self.places[job as usize], job);
    }

    fn next(&mut self, _now: u64) -> Option<Turn> {
        self.ready.take_first().map(|job| Turn { job, slice_ns: u64::MAX })
    }

    fn off(&mut self, _job: Job, _ran_ns: u64, _why: Off, _now: u64) -> Stay {
        Stay::Eligible
    }

    fn preempts(&self, arrived: Job, running: Job) -> bool {
        self.preemptive && self.places[arrived as usize].0 < self.places[running as usize].0
    }

    fn forget(&mut self, job: Job) {
        self.asking.remove(job);
        self.ready.remove(job);
    }

    fn asking(&self) -> usize {
        self.asking.len()
    }

    fn waiting(&self) -> usize {
        self.ready.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Facts, Off, Priority, ReadyList, Stay, Why};

    fn arrives(list: &mut Priority, job: u32, priority: u32) {
        list.ask(job, &Facts { priority, begins: true, ..Facts::default() }, 0);
        let candidate = list.candidate().unwrap();
        list.admit(candidate, 0);
        list.ready(candidate, Why::Admitted, 0);
    }

    #[test]
    fn low_numbers_run_first_and_equals_in_the_order_of_coming() {
        let mut list = Priority::new(true);
        [(0, 5), (1, 1), (2, 5), (3, 0)].iter().for_each(|(job, priority)| arrives(&mut list, *job, *priority));
        let order: Vec<u32> = std::iter::from_fn(|| list.next(0)).map(|turn| turn.job).collect();
        assert_eq!(order, [3, 1, 0, 2]);
    }

    #[test]
    fn who_is_pre_empted_goes_on_before_those_that_came_later() {
        let mut list = Priority::new(true);
        arrives(&mut list, 0, 5);
        assert_eq!(list.next(0).map(|turn| turn.job), Some(0));
        arrives(&mut list, 1, 5);
        arrives(&mut list, 2, 1);
        assert!(list.preempts(2, 0) && !list.preempts(1, 0) && !Priority::new(false).preempts(2, 0));
        assert_eq!(list.off(0, 10, Off::Preempted, 1), Stay::Eligible);
        list.ready(0, Why::Again, 1);
        let order: Vec<u32> = std::iter::from_fn(|| list.next(0)).map(|turn| turn.job).collect();
        assert_eq!(order, [2, 0, 1]);
    }
}
