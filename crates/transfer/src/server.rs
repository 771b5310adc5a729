//! The server of transfers: `loadgo transfer serve`.
//!
//! It answers every request in a thread of its own, keeps to its bounds, writes nowhere unless a folder was named, and takes nothing
//! for granted of who connects.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use loadgo_sys::shared_ring::SharedRing;
use serde::Deserialize;

use crate::accept::{Next, next};
use crate::batch_host::{BatchHost, Work};
use crate::bounds::{Bounds, LONGEST_MESSAGE, TO_LOOK_UP, TO_SAY_SOMETHING};
use crate::end;
use crate::measuring::interrupts::{Account, Meter};
use crate::measuring::row::End;
use crate::mover::{Arriving, Goods, Mover};
use crate::moving::method::{Method, Way};
use crate::moving::place::Place;
use crate::moving::socket::{GONE, Socket, in_words};
use crate::moving::source::Source;
use crate::moving::tls;
use crate::news::{News, Teller};
use crate::protocol::control::{Control, read_within};
use crate::protocol::meeting::{self, CONTROL, DATA};
use crate::protocol::wire::{Answer, Direction, Go, Greeting, Introduction, LONGEST_LINE, NAME, Request, Told, VERSION};
use crate::shares::{Room, Share, Slot};
use crate::tickets::{self, SECRET_BYTES, same};

/// What a server is asked to be.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Its limits.
    pub bounds: Bounds,
    /// Who does not say this is refused.
    pub token: Option<String>,
    /// What is received goes into files there; into `/dev/null` where there is none.
    pub keep_in: Option<PathBuf>,
    /// Who tells the interrupt work of its ends.
    pub interrupts: Meter,
    /// The batch host that does the jobs of transfers.
    pub jobs: Arc<dyn BatchHost>,
}

/// A transfer that has ended, and nobody has said yet with whom.
struct Done {
    request: Request,
    end: End,
    theirs: Option<End>,
    kept: Option<PathBuf>,
}

impl Done {
    fn of(self, peer: SocketAddr) -> News {
        News::Ended { peer, request: self.request, end: Box::new(self.end), theirs: self.theirs.map(Box::new), kept: self.kept }
    }
}

/// Data connections by ticket: who waits for them.
type Waiting = Mutex<HashMap<String, Sender<OwnedFd>>>;

/// What all guests of a server share.
#[derive(Debug)]
struct House {
    serving: Serving,
    stop: Arc<AtomicBool>,
    waiting: Waiting,
    room: Arc<Room>,
    connections: Arc<AtomicUsize>,
    transfers: Arc<AtomicUsize>,
}

/// Serves until `stop` is set; what happens is told to `news`. When the system has no room for a guest, it waits until there is.
///
/// # Errors
/// When the listener fails.
pub fn serve(listener: &TcpListener, serving: Serving, stop: Arc<AtomicBool>, news: &Teller) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let room = Room::of(serving.bounds.kept);
    let (waiting, connections, transfers) = (Waiting::default(), Arc::default(), Arc::default());
    let house = Arc::new(House { serving, stop, waiting, room, connections, transfers });
    let mut full = false;
    while !house.stop.load(Ordering::Relaxed) {
        news.catch_up();
        match next(listener)? {
            Next::Nobody => {}
            Next::Guest(stream, peer) => {
                full = false;
                house.receive(stream, peer, news);
            }
            Next::Full(why) => {
                if !full {
                    news.tell(News::Full(why.to_string()));
                }
                full = true;
                thread::sleep(TO_LOOK_UP);
            }
        }
    }
    // Guests hear of it when they next look up: what they have begun is then told, and what did not come whole removed.
    let begun = Instant::now();
    let mut until = begun + TO_LEAVE;
    while house.connections.load(Ordering::Relaxed) > 0 && Instant::now() < until {
        if house.transfers.load(Ordering::Relaxed) > 0 {
            until = (Instant::now() + TO_LEAVE).min(begun + TO_UNDO);
        }
        thread::sleep(Duration::from_millis(2));
    }
    news.catch_up();
    Ok(())
}

/// So long a server that is stopped waits for its guests when no transfer is under way: those who are silent are left.
const TO_LEAVE: Duration = Duration::from_secs(1);
/// So long at most it waits for transfers to end, which takes a look's time unless the host is busy: a file of one that is left stays.
const TO_UNDO: Duration = Duration::from_secs(30);

/// So many of those for whom there is no room are told so at once; more are left without a word.
const TURNED_AWAY_AT_ONCE: usize = 16;
const TOO_MANY: &str = "too many connections at once: try again later";

/// Tells a guest for whom there is no room, and waits until he has heard it, or for a while.
fn turned_away(mut stream: TcpStream) -> io::Error {
    let tells = || -> io::Result<()> {
        let mut control = Control::new(stream.try_clone()?)?;
        control.say(&Greeting { name: NAME.into(), version: VERSION, token: false })?;
        control.say(&Answer::Refused(TOO_MANY.into()))?;
        stream.shutdown(Shutdown::Write)
    };
    if tells().is_ok() {
        let _ = read_within(&mut stream, &mut vec![0; LONGEST_LINE as usize], TO_SAY_SOMETHING);
    }
    told(ErrorKind::ConnectionRefused, TOO_MANY)
}

impl House {
    /// Attends to a guest in a thread of its own; where there are too many, it is told so, or left.
    fn receive(self: &Arc<House>, stream: TcpStream, peer: SocketAddr, news: &Teller) {
        // A transfer has two connections, and there are some on which to be refused.
        let most = 2 * self.serving.bounds.connections + 8;
        let slot = Slot::take(&self.connections);
        if slot.before() >= most + TURNED_AWAY_AT_ONCE {
            return news.tell(News::Refused(peer, TOO_MANY.into()));
        }
        let (house, tells) = (self.clone(), news.clone());
        let attended = thread::Builder::new().spawn(move || {
            let told = if slot.before() < most { house.attend(stream) } else { Err(turned_away(stream)) };
            match told {
                Ok(Some(ended)) => tells.tell(ended.of(peer)),
                Ok(None) => {}
                Err(why) => tells.tell(News::Refused(peer, in_words(why))),
            }
            drop(slot);
        });
        if let Err(error) = attended {
            news.tell(News::Refused(peer, format!("there is no thread for it: {error}")));
        }
    }

    /// A data connection is handed to who waits for it; on a control connection a transfer is made.
    fn attend(&self, mut stream: TcpStream) -> io::Result<Option<Done>> {
        let mut first = [0; 1];
        read_within(&mut stream, &mut first, TO_SAY_SOMETHING).map_err(|_| told(ErrorKind::TimedOut, "it said nothing"))?;
        match first[0] {
            CONTROL => self.control(stream).map(Some),
            DATA => self.data(stream).map(|()| None),
            _ => Err(told(ErrorKind::InvalidData, "it does not speak as loadgo transfer does")),
        }
    }

    fn data(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut ticket = [0; SECRET_BYTES * 2];
        read_within(&mut stream, &mut ticket, TO_SAY_SOMETHING)?;
        stream.set_nodelay(true)?;
        let ticket = String::from_utf8_lossy(&ticket).into_owned();
        let waits = self.waiting().remove(&ticket);
        let waits = waits.ok_or_else(|| told(ErrorKind::PermissionDenied, "it has no such ticket"))?;
        waits.send(stream.into()).map_err(|_| told(ErrorKind::TimedOut, "it came too late"))
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Sender<OwnedFd>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn control(&self, stream: TcpStream) -> io::Result<Done> {
        let mut control = Control::new(stream)?;
        control.say(&Greeting { name: NAME.into(), version: VERSION, token: self.serving.token.is_some() })?;
        let said: serde_json::Value = control.hear(TO_SAY_SOMETHING, &self.stop)?;
        let understood = understood(said)?.and_then(|request| self.allowed(&request).map(|()| request));
        let mut request = understood.map_err(|why| refused(&mut control, why))?;
        if let Some(why) = request.method.why_not() {
            let why = why.to_string();
            return Err(control.say(&Answer::Cannot(why.clone())).err().unwrap_or(told(ErrorKind::Unsupported, &why)));
        }
        let begun = self.serving.jobs.begin(&mut request, &mut || !self.is_over(&control));
        let work = begun.map_err(|why| refused(&mut control, why))?;
        let slot = Slot::take(&self.transfers);
        if slot.before() >= self.serving.bounds.connections {
            let why = format!("{} transfers are under way, and no more are allowed at once: try again later", slot.before());
            return Err(refused(&mut control, why));
        }
        let (mut end, kept) = self.transfer(&mut control, &request, &*work)?;
        drop(slot);
        let job = work.end(end.broke_off.is_none()).unwrap_or_else(|why| {
            end.broke_off = Some(why);
            None
        });
        let said = control.say(&Told { end: end.clone(), job });
        let asks = request.job.is_some() && said.is_ok();
        let theirs = asks.then(|| control.hear::<Told>(TO_SAY_SOMETHING, &self.stop).ok()).flatten().map(|told| told.end);
        if theirs.as_ref().is_some_and(|theirs| theirs.broke_off.is_none()) {
            work.confirmed();
        }
        Ok(Done { request, end, theirs, kept })
    }

    fn allowed(&self, request: &Request) -> Result<(), String> {
        let most = self.serving.bounds.bytes;
        if let Some(token) = &self.serving.token
            && !same(token, request.token.as_deref().unwrap_or(""))
        {
            return Err("the token is missing or wrong: give the one that this server was started with".into());
        }
        if request.size > most {
            return Err(format!("{} bytes are more than the {most} that are allowed here", request.size));
        }
        if request.message == 0 || request.message > LONGEST_MESSAGE {
            return Err(format!("a message of {} bytes is out of range: 1 to {LONGEST_MESSAGE}", request.message));
        }
        Ok(())
    }

    /// Makes ready, gives a ticket, waits for the data connection, and has the data moved by a thread of their own; this end of it, and the
    /// file in which what came is kept.
    fn transfer(&self, control: &mut Control, request: &Request, work: &dyn Work) -> io::Result<(End, Option<PathBuf>)> {
        let deadline = Instant::now() + self.serving.bounds.time;
        let (goods, share) = self.goods(request, work).map_err(|error| refused(control, in_words(error)))?;
        let ring = (request.method == Method::Shm).then(SharedRing::create).transpose()?;
        let keys = request.method.is_enciphered().then(|| tls::keys(request.method)).transpose()?;
        let authority = keys.as_ref().map(|keys| keys.authority.clone());
        let data = self.meet(control, request, authority)?;
        let account = Account::of(&self.serving.interrupts, (!request.method.is_of_one_host()).then_some(data.as_fd()));
        if self.says_go(request) {
            control.say(&Go::Go)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        ring.as_ref().map(|ring| meeting::hand(data.as_fd(), ring.memory())).transpose()?;
        let socket = Socket::new(data, stop.clone(), self.serving.bounds.stalled)?;
        let way = Way { method: request.method, message: request.message, tls: keys.map(tls::server).transpose()?, ring };
        let name = goods.name();
        let mover = Mover::start(goods, way, account, socket)?;
        let mut over = None;
        let end = mover.wait(|| {
            let late = (Instant::now() > deadline).then_some(end::LATE);
            over = over.or(late).or_else(|| control.is_over().then_some(GONE));
            stop.fetch_or(over.is_some() || self.stop.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        let end = end.ok_or_else(|| io::Error::other("the transfer failed"))?;
        let whole = end.broke_off.is_none();
        if let Some(share) = share.filter(|_| whole) {
            share.keep();
        }
        Ok((end::stopped(end, over), name.filter(|_| whole)))
    }

    /// Whether the client is to wait until this end is followed; who sends itself needs no word.
    fn says_go(&self, request: &Request) -> bool {
        let over_network = !request.method.is_of_one_host();
        request.waits && request.direction == Direction::Send && over_network && self.serving.interrupts.is_ok()
    }

    fn meet(&self, control: &mut Control, request: &Request, authority: Option<Vec<u8>>) -> io::Result<OwnedFd> {
        let ticket = tickets::ticket()?;
        if request.method.is_of_one_host() {
            // Names of sockets are seen by everybody on the host: the ticket is another.
            let name = format!("{}{}", meeting::DOORS, tickets::ticket()?);
            let door = meeting::door(&name)?;
            let (unix, size) = (Some(name), Some(request.size));
            control.say(&Answer::Ticket { ticket: ticket.clone(), unix, authority, size, go: false })?;
            return meeting::who_comes(&door, &ticket, TO_SAY_SOMETHING, || self.is_over(control));
        }
        let (comes, waits) = channel();
        self.waiting().insert(ticket.clone(), comes);
        let (go, size) = (self.says_go(request), Some(request.size));
        let said = control.say(&Answer::Ticket { ticket: ticket.clone(), unix: None, authority, size, go });
        let data = said.and_then(|()| self.who_comes(&waits, control));
        self.waiting().remove(&ticket);
        data
    }

    /// The data connection that is waited for, while there is somebody to wait for it.
    fn who_comes(&self, waits: &Receiver<OwnedFd>, control: &Control) -> io::Result<OwnedFd> {
        let until = Instant::now() + TO_SAY_SOMETHING;
        loop {
            match waits.recv_timeout(TO_LOOK_UP) {
                Ok(data) => return Ok(data),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until && !self.is_over(control) => {}
                Err(_) => return Err(told(ErrorKind::TimedOut, "no data connection came")),
            }
        }
    }

    /// Whether the server is stopped, or the client gone.
    fn is_over(&self, control: &Control) -> bool {
        self.stop.load(Ordering::Relaxed) || control.is_over()
    }

    /// What is sent, or where what comes is put: a job's, a new file in the folder that was named, with its share of what is kept
    /// there, or nowhere.
    fn goods(&self, request: &Request, work: &dyn Work) -> io::Result<(Goods, Option<Share>)> {
        if request.direction == Direction::Receive {
            let source = work.source().unwrap_or_else(|| Source::pattern(request.size))?;
            return Ok((Goods::From(source), None));
        }
        let arriving = Arriving { size: request.size, before: end::TICKET_BYTES };
        let (place, share) = match (work.place(), &self.serving.keep_in) {
            (Some(file), _) => (Place::of(file?), None),
            (None, Some(folder)) => {
                let share = self.room.share(request.size).map_err(|why| told(ErrorKind::StorageFull, &why))?;
                (Place::at(&folder.join(tickets::ticket()?))?, Some(share))
            }
            (None, None) => (Place::nowhere()?, None),
        };
        Ok((Goods::Into(place, arriving), share))
    }
}

/// So much of a stranger's name is repeated.
const LONGEST_NAME: usize = 40;

/// A request of this version; else why it is not understood, in words for who sent it.
fn understood(said: serde_json::Value) -> io::Result<Result<Request, String>> {
    let stranger = || told(ErrorKind::InvalidData, "it does not speak as loadgo transfer does");
    let who = Introduction::deserialize(&said).map_err(|_| stranger())?;
    if who.name != NAME || who.version != VERSION {
        let name: String = who.name.chars().take(LONGEST_NAME).collect();
        return Ok(Err(format!("this is version {VERSION} of {NAME}, not {} of {name}", who.version)));
    }
    Request::deserialize(&said).map(Ok).map_err(|_| stranger())
}

/// Says why not; the error that it is.
fn refused(control: &mut Control, why: String) -> io::Error {
    let error = told(ErrorKind::PermissionDenied, &why);
    control.say(&Answer::Refused(why)).err().unwrap_or(error)
}

fn told(kind: ErrorKind, why: &str) -> io::Error {
    io::Error::new(kind, why)
}
