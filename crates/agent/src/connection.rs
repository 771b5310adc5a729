//! The connection to the controller: frames on the standard streams, beats, and the end of both.
//!
//! One thread reads and one beats, so that neither waits for the work. The end of the input, a signal, wrong bytes, or silence
//! ask the work to stop. If it has not undone everything after [`PATIENCE`], the process ends. What then stays is in the state
//! file of its run, and the next loadgo on this host undoes it.

use loadgo_agent::frame::{Decoder, Frame, GREETING_BYTES, Kind};
use loadgo_agent::message::{BEAT_EVERY_S, CONTROLLER_SILENCE_S, Hello, Order};
use loadgo_core::stop::StopRequest;
use loadgo_core::system::Barrier;
use loadgo_host::terminals::next_lines::parse_next_lines;
use loadgo_run::{DriverOrder, DriverOrders, GivenUp, ToldLines};
use loadgo_sys::clock::monotonic_ns;
use loadgo_sys::signals::Signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time that the work has for its end once the controller is gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Number of bytes of a question for the clock.
const CLOCK_QUESTION_BYTES: usize = 8;
/// Exit status of an agent that could not undo everything in time.
const CUT_SHORT_STATUS: i32 = 3;

/// The connection. Copies share it.
#[derive(Clone)]
pub(crate) struct Connection {
    output: Arc<Mutex<io::Stdout>>,
    /// Set when the work is to end.
    pub stop: StopRequest,
    /// Orders to the driver that is at work.
    pub orders: DriverOrders,
    /// The lines that the users of a driver elsewhere type next.
    pub told_lines: ToldLines,
    /// Set by an input that is not that of a controller.
    pub is_damaged: Arc<AtomicBool>,
    /// Time without a frame after which the controller counts as lost, in seconds.
    most_silence_s: Arc<AtomicU64>,
}

impl Connection {
    /// Sends the greeting and `hello`, and starts the threads. The receiver has the bodies of requests until the controller is gone.
    ///
    /// # Errors
    /// The output is closed; signals or threads cannot be had.
    pub(crate) fn open(hello: &Hello) -> io::Result<(Connection, Receiver<Vec<u8>>)> {
        let signals = Signals::listen().map_err(io::Error::from)?;
        let connection = Connection {
            output: Arc::new(Mutex::new(io::stdout())),
            stop: StopRequest::default(),
            orders: DriverOrders::default(),
            told_lines: ToldLines::default(),
            is_damaged: Arc::default(),
            most_silence_s: Arc::new(AtomicU64::new(CONTROLLER_SILENCE_S)),
        };
        connection.write(GREETING_BYTES)?;
        connection.send_json(Kind::Hello, hello);
        let (sender, requests) = channel();
        let (reading, beating) = (connection.clone(), connection.clone());
        thread::Builder::new().name("loadgo-reader".into()).spawn(move || reading.read_until_the_end(&signals, sender))?;
        thread::Builder::new().name("loadgo-beat".into()).spawn(move || beating.beat())?;
        Ok((connection, requests))
    }

    /// Takes the controller for lost after this time without a frame, from the next one on.
    pub(crate) fn allow_silence(&self, most_silence_s: u64) {
        self.most_silence_s.store(most_silence_s, Ordering::Relaxed);
    }

    /// Sends a frame. If the controller is gone, the work is asked to stop.
    pub(crate) fn send(&self, kind: Kind, body: &[u8]) {
        if self.write(&Frame::encoded(kind, body)).is_err() {
            self.stop.set();
        }
    }

    /// Sends a frame whose body is `value` as JSON.
    pub(crate) fn send_json(&self, kind: Kind, value: &impl Serialize) {
        self.send(kind, &serde_json::to_vec(value).expect("plain values make JSON"));
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(bytes).and_then(|()| output.flush())
    }

    /// Beats until the output is closed. The end of a stopped work can take long, so a stop does not end the beats.
    fn beat(&self) {
        while self.write(&Frame::encoded(Kind::Beat, &[])).is_ok() {
            thread::sleep(Duration::from_secs(BEAT_EVERY_S));
        }
        self.stop.set();
    }

    /// Reads frames until the controller is gone; then ends the work, and at last the process.
    fn read_until_the_end(&self, signals: &Signals, requests: Sender<Vec<u8>>) {
        self.read_frames(signals, &requests);
        drop(requests);
        self.stop.set();
        self.orders.give(DriverOrder::Stop); // a driver need not wait until it is asked
        thread::sleep(PATIENCE);
        std::process::exit(CUT_SHORT_STATUS);
    }

    fn read_frames(&self, signals: &Signals, requests: &Sender<Vec<u8>>) {
        let (mut decoder, mut piece) = (Decoder::of_controller(), vec![0; 1 << 16]);
        while self.wait_for_input(signals) {
            let length = io::stdin().lock().read(&mut piece).unwrap_or(0);
            let came_ns = monotonic_ns();
            let frames = match decoder.feed(&piece[..length]) {
                Ok(frames) => frames,
                Err(error) => {
                    let _ = writeln!(io::stderr(), "loadgo-agent: the input is not that of a loadgo: {error}");
                    return self.is_damaged.store(true, Ordering::Relaxed);
                }
            };
            if length == 0 {
                return;
            }
            for frame in frames {
                match frame.kind {
                    Kind::Request => drop(requests.send(frame.body)),
                    Kind::Stop => self.stop.set(),
                    Kind::Clock => self.answer_clock(&frame.body, came_ns),
                    Kind::Order => self.pass_order_on(&frame.body),
                    Kind::NextLines => self.told_lines.tell(parse_next_lines(&frame.body)),
                    _ => {}
                }
            }
        }
    }

    /// Passes an order on to the driver. One that is none ends the work, since the driver would wait for it.
    fn pass_order_on(&self, body: &[u8]) {
        match serde_json::from_slice::<Order>(body) {
            Ok(order) => self.orders.give(driver_order(order)),
            Err(_) => self.stop.set(),
        }
    }

    /// Answers a question for the clock that came at `came_ns`.
    fn answer_clock(&self, question: &[u8], came_ns: u64) {
        if question.len() == CLOCK_QUESTION_BYTES {
            self.send(Kind::Clock, &[question, &came_ns.to_be_bytes(), &monotonic_ns().to_be_bytes()].concat());
        }
    }

    /// Waits until the standard input has bytes or its end. Returns false after a signal that ends the agent, and after silence.
    fn wait_for_input(&self, signals: &Signals) -> bool {
        let input = io::stdin();
        loop {
            let silence = Timespec { tv_sec: self.most_silence_s.load(Ordering::Relaxed) as i64, tv_nsec: 0 };
            let mut watched = [PollFd::new(&input, PollFlags::IN), PollFd::from_borrowed_fd(signals.fd(), PollFlags::IN)];
            match poll(&mut watched, Some(&silence)) {
                Ok(0) => return false,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
                Ok(_) if !watched[1].revents().is_empty() => {
                    if signals.take().iter().any(|signal| *signal != loadgo_sys::signals::WINDOW_SIGNAL_ID) {
                        return false;
                    }
                }
                Ok(_) => return true,
            }
        }
    }
}

fn driver_order(order: Order) -> DriverOrder {
    match order {
        Order::LogIn {} => DriverOrder::Open { barrier: Barrier::LogIns, at_ns: 0 },
        Order::Begin { at_ns } => DriverOrder::Open { barrier: Barrier::Lines, at_ns },
        Order::GiveUp { first_user, last_user, reason } => DriverOrder::GiveUp(GivenUp { users: first_user..=last_user, reason }),
    }
}
