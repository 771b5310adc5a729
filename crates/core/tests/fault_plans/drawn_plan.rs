//! A load and the faults of its system, drawn from a seed.

use crate::virtual_host::{Answer, VirtualHost, script};
use loadgo_core::load::{LoadModel, OfferedLoad, WarmUp};
use loadgo_core::random::{RandomStream, StreamPurpose};
use loadgo_core::script::Script;
use loadgo_core::system::{Barrier, Event, Response};
use loadgo_core::time::{Instant, Span};
use std::cell::Cell;
use std::rc::Rc;

/// An event that the system reports although nothing in the load asked for it.
#[derive(Clone, Copy, Debug)]
pub enum Forged {
    /// A ready mark that answers no line, such as one that a program prints.
    Ready,
    /// A request to stop.
    Stop,
    /// The news that nothing more can happen.
    Stuck,
    /// A barrier that is opened again.
    Opened(Barrier),
}

/// A load and its faults.
#[derive(Debug)]
pub struct Plan {
    seed: u64,
    head: String,
    lines: String,
    pub load: OfferedLoad,
    /// The recorder has enough after this many interactions.
    pub enough_after: Option<usize>,
    forged: Vec<(Instant, u32, Forged)>,
    /// When sessions die, whatever their users do.
    deaths: Vec<(Instant, u32)>,
    refused: Vec<u32>,
    barriers: Vec<(Barrier, Instant)>,
    log_in_time: Span,
    answer_delay: Span,
    batch: Span,
    /// The mean by which waits return late.
    lateness: Option<Span>,
    /// One line in this many is answered by a fault.
    line_faults: Option<usize>,
}

/// The random choices of a plan.
struct Choice(RandomStream);

impl Choice {
    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.0.index(values.len())].clone()
    }

    /// True in this share of all draws.
    fn happens(&mut self, share: f64) -> bool {
        self.0.unit() < share
    }

    /// A span whose mean is `mean`, of at least a nanosecond.
    fn about(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(mean.as_secs_f64() * self.0.exponential()) + Span(1)
    }

    /// A user of `load`.
    fn user(&mut self, load: &OfferedLoad) -> u32 {
        load.first_user + self.0.index(load.users as usize) as u32
    }

    /// Up to `most` instants of the load's first minute, or of its first second.
    fn instants(&mut self, most: usize) -> Vec<Instant> {
        let count = self.0.index(most + 1);
        let mean = self.of(&[Span::from_millis(200), Span::from_secs(10), Span::from_secs(60)]);
        (0..count).map(|_| Instant(0) + self.about(mean)).collect()
    }
}

const LINES: [&str; 6] = [
    r#""make""#,
    r#""ls -l {user}""#,
    r#"{ type = "check", status = 0 }"#,
    r#"{ type = "hang", until = "ready> ", timeout = "1s" }"#,
    r#"{ type = "look", until = "silence" }"#,
    r#"{ choose = [{ weight = 1, type = "a" }, { weight = 2, type = "bc" }] }"#,
];

impl Plan {
    /// The plan of `seed`.
    pub fn drawn(seed: u64) -> Plan {
        let mut choice = Choice(RandomStream::new(seed, 0, StreamPurpose::Work));
        let load = drawn_load(&mut choice, seed);
        let lines: Vec<&str> = (0..1 + choice.0.index(4)).map(|_| choice.of(&LINES)).collect();
        let is_faulty = choice.happens(0.9);
        let some = |choice: &mut Choice, share: f64| is_faulty && choice.happens(share);
        Plan {
            seed,
            head: drawn_head(&mut choice),
            lines: format!("[{}]", lines.join(", ")),
            enough_after: choice.happens(0.2).then(|| choice.0.index(40)),
            forged: if some(&mut choice, 0.6) { drawn_events(&mut choice, &load) } else { Vec::new() },
            deaths: if some(&mut choice, 0.4) { drawn_deaths(&mut choice, &load) } else { Vec::new() },
            refused: (load.first_user..=load.last_user()).filter(|_| is_faulty && choice.happens(0.1)).collect(),
            barriers: drawn_barriers(&mut choice),
            log_in_time: choice.of(&[Span::ZERO, Span::from_millis(10), Span::from_secs(2)]),
            answer_delay: if some(&mut choice, 0.3) { Span::from_millis(30) } else { Span::ZERO },
            batch: choice.of(&[Span::ZERO, Span::ZERO, Span::from_millis(1), Span::from_millis(500)]),
            lateness: some(&mut choice, 0.5).then(|| choice.of(&[Span::from_millis(1), Span::from_millis(300)])),
            line_faults: some(&mut choice, 0.6).then(|| 2 + choice.0.index(20)),
            load,
        }
    }

    pub fn script(&self) -> Script {
        script(&self.head, &self.lines)
    }

    /// The system, and the number of lines that it is sent.
    pub fn host(&self) -> (VirtualHost, Rc<Cell<u64>>) {
        let sent_lines = Rc::new(Cell::new(0));
        let mut choice = Choice(RandomStream::new(self.seed, 0, StreamPurpose::Machine));
        let (counted, line_faults) = (Rc::clone(&sent_lines), self.line_faults);
        let mut host = VirtualHost::new(move |_, _| {
            counted.set(counted.get() + 1);
            drawn_answer(&mut choice, line_faults)
        });
        for &(at, user, forged) in &self.forged {
            host.happens(at, event(at, user, forged));
        }
        host.refused.clone_from(&self.refused);
        host.deaths.clone_from(&self.deaths);
        host.barriers.clone_from(&self.barriers);
        (host.log_in_time, host.answer_delay, host.batch) = (self.log_in_time, self.answer_delay, self.batch);
        if let Some(mean) = self.lateness {
            let mut choice = Choice(RandomStream::new(self.seed, 0, StreamPurpose::Misses));
            host.lateness = Some(Box::new(move || if choice.happens(0.5) { Span::ZERO } else { choice.about(mean) }));
        }
        (host, sent_lines)
    }
}

fn drawn_load(choice: &mut Choice, seed: u64) -> OfferedLoad {
    let users = choice.of(&[1, 2, 3, 5, 12, 40]);
    let duration = choice.happens(0.4).then(|| choice.about(Span::from_secs(20)));
    let model = choice.of(&[LoadModel::Closed, LoadModel::Closed, LoadModel::Open(0.5), LoadModel::Open(20.0)]);
    let is_endless = model == LoadModel::Closed && duration.is_some() && choice.happens(0.5);
    OfferedLoad {
        model,
        first_user: choice.of(&[1, 1, 8]),
        passes: (!is_endless).then(|| 1 + choice.0.index(4) as u32),
        duration,
        warm_up: choice.of(&[WarmUp::FirstLine, WarmUp::For(Span::ZERO), WarmUp::For(Span::from_secs(5))]),
        seed,
        log_ins_at_once: choice.of(&[1, 3, 16]),
        grace: choice.of(&[Span::from_millis(1), Span::from_secs(5)]),
        ..OfferedLoad::closed(users, 1)
    }
}

fn drawn_head(choice: &mut Choice) -> String {
    let think = choice.of(&["none", "fixed(1s)", "exponential(2s)", "uniform(0s, 3s)"]);
    let typing = choice.of(&["", "", "typing = \"20 chars/s\"\n"]);
    let timeout = choice.of(&["2s", "30s"]);
    format!("think = \"{think}\"\n{typing}timeout = \"{timeout}\"\nsilence = \"500ms\"\n")
}

fn drawn_events(choice: &mut Choice, load: &OfferedLoad) -> Vec<(Instant, u32, Forged)> {
    let kinds = [
        Forged::Ready,
        Forged::Ready,
        Forged::Stop,
        Forged::Stuck,
        Forged::Opened(Barrier::LogIns),
        Forged::Opened(Barrier::Lines),
    ];
    choice.instants(6).into_iter().map(|at| (at, choice.user(load), choice.of(&kinds))).collect()
}

fn drawn_deaths(choice: &mut Choice, load: &OfferedLoad) -> Vec<(Instant, u32)> {
    choice.instants(6).into_iter().map(|at| (at, choice.user(load))).collect()
}

fn drawn_barriers(choice: &mut Choice) -> Vec<(Barrier, Instant)> {
    let held = [Barrier::LogIns, Barrier::Lines].into_iter().filter(|_| choice.happens(0.2)).collect::<Vec<_>>();
    held.into_iter().map(|barrier| (barrier, Instant(0) + choice.about(Span::from_secs(10)))).collect()
}

fn drawn_answer(choice: &mut Choice, line_faults: Option<usize>) -> Answer {
    let span = choice.about(Span::from_millis(400));
    if line_faults.is_none_or(|one_in| choice.0.index(one_in) > 0) {
        return Answer::After(span, choice.of(&[0, 0, 0, 1]));
    }
    match choice.0.index(6) {
        0 => Answer::Silent(span, Span::from_millis(500)),
        1 => Answer::Never(true),
        2 => Answer::Never(false),
        3 => Answer::Exits(span, choice.of(&[0, 7])),
        4 => Answer::After(span + Span::from_secs(2), 0),
        _ => Answer::Ends(span),
    }
}

fn event(at: Instant, user: u32, forged: Forged) -> Event {
    let response = Response { exit_status: Some(0), confirmed: true, ..Response::default() };
    match forged {
        Forged::Ready => Event::Ready { user, at, response },
        Forged::Stop => Event::Stop { at },
        Forged::Stuck => Event::Stuck { at, reason: "nothing can happen".into() },
        Forged::Opened(barrier) => Event::Opened { barrier, at },
    }
}
