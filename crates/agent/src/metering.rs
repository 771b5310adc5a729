//! The meters of this host for a controller: recorded into a temporary folder here, which is sent while it grows, and removed.

use crate::connection::Connection;
use crate::table_sender::TableSender;
use loadgo_agent::frame::Kind;
use loadgo_agent::message::{MeterAnswer, MeterRequest, RefusalAnswer};
use loadgo_host::followed::Expected;
use loadgo_host::leftovers::{Leftovers, Thing, clear_stale, state_directory};
use loadgo_host::refusal::Refusal;
use loadgo_run::{Decision, Failure, HostMeter, MeterOrder, MeteringResult, RunRefusal, TierAsked};
use loadgo_store::Error as StoreError;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, RandomState};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The word of a request for the meters that the host allows.
const WHERE_ALLOWED: &str = "allowed";

/// Meters this host, and sends the records. The controller may stop it.
///
/// # Errors
/// The host does not allow it, or the records cannot be kept here meanwhile.
pub(crate) fn meter(connection: &Connection, request: &MeterRequest) -> Result<MeterAnswer, RefusalAnswer> {
    let cleared = clear_stale();
    let mut place = TemporaryFolder::make(&request.id)?;
    let metered = begin(request, &place.folder()).and_then(|meter| watch(connection, meter, &place.folder()));
    let sent = fs::read(place.folder().join("run.toml"));
    let left_behind = place.remove();
    let mut metered = metered.map_err(|mut refusal| {
        refusal.left_behind.extend_from_slice(&left_behind);
        refusal
    })?;
    connection.send(Kind::RunToml, &sent.map_err(|error| refused(format!("run.toml cannot be read: {error}")))?);
    metered.notes.extend(cleared.undone);
    metered.left_behind.extend(cleared.left_behind.iter().map(ToString::to_string).chain(left_behind));
    Ok(metered)
}

fn begin(request: &MeterRequest, folder: &Path) -> Result<HostMeter, RefusalAnswer> {
    let named = Some(request.meters.as_str()).filter(|name| *name != WHERE_ALLOWED);
    let tier = TierAsked::named(named).map_err(|refusal| refused(refusal.to_string()))?;
    let seconds = |span: f64| Duration::try_from_secs_f64(span).map_err(|error| refused(format!("{span} s: {error}")));
    let order = MeterOrder {
        id: request.id.clone(),
        address: Some(request.address.clone()),
        folder: Some(folder.to_owned()),
        tier,
        every: seconds(request.every_s)?,
        length: request.duration_s.map(seconds).transpose()?,
        command: Vec::new(),
        command_line: request.command_line.clone(),
        sessions: request.users.map(|users| expected(&request.id, users)),
    };
    HostMeter::begin(order).map_err(of_failure)
}

/// The sessions of the controller's users. They log in to the account that has started this agent, perhaps by sudo.
fn expected(id: &str, users: u32) -> Expected {
    let own = rustix::process::geteuid();
    let by_sudo = std::env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()).filter(|_| own.is_root());
    let directory = temporary_path("-sessions");
    Expected { id: id.to_owned(), directory, owner: by_sudo.unwrap_or(own.as_raw()), users }
}

/// Meters until the end, and sends the records meanwhile.
fn watch(connection: &Connection, meter: HostMeter, folder: &Path) -> Result<MeterAnswer, RefusalAnswer> {
    let run_toml = fs::read(folder.join("run.toml")).map_err(|error| refused(format!("run.toml cannot be read: {error}")))?;
    connection.send(Kind::Origin, &meter.origin_ns().to_be_bytes());
    if let Some(directory) = meter.announced_in() {
        connection.send(Kind::Sessions, directory.as_os_str().as_bytes());
    }
    connection.send(Kind::RunToml, &run_toml);
    let sender = TableSender::start(connection, folder).map_err(|unsent| refused(unsent.to_string()))?;
    let decide = || if connection.stop.is_set() { Decision::Stop } else { Decision::Continue };
    let metered = meter.watch(|_| decide());
    let unsent = sender.end();
    let MeteringResult { outcome, exit: _, notes, left_behind } = metered.map_err(of_failure)?;
    match unsent {
        Some(reason) => Err(RefusalAnswer { reason: format!("some records could not be sent: {reason}"), left_behind }),
        None => Ok(MeterAnswer { outcome: outcome.into(), notes, left_behind }),
    }
}

fn of_failure(failure: Failure) -> RefusalAnswer {
    let reason = match failure.refusal {
        // The folder is the agent's own, so the remedy for a folder of the user's would be wrong.
        RunRefusal::Folder(StoreError::Refused(action, path, error))
        | RunRefusal::CutOff { error: StoreError::Refused(action, path, error), .. } => {
            let place = path.parent().and_then(Path::parent).and_then(Path::parent).unwrap_or(&path);
            Refusal::new(format!("the agent there cannot {action} its last records ({})", path.display()))
                .because(error)
                .with_remedy(format!("make room on that host in {}", place.display()))
                .to_string()
        }
        refusal => refusal.to_string(),
    };
    RefusalAnswer { reason, left_behind: failure.left_behind }
}

fn refused(reason: String) -> RefusalAnswer {
    RefusalAnswer { reason, left_behind: Vec::new() }
}

/// The directory for records that are being sent. It is on a disk: the state directory lies in memory.
const RECORDS_DIRECTORY: &str = "/var/tmp";

/// A path for a directory of this process, with `ending` at its end.
fn temporary_path(ending: &str) -> PathBuf {
    let place = Some(PathBuf::from(RECORDS_DIRECTORY)).filter(|place| place.is_dir()).unwrap_or_else(state_directory);
    // Others may write there, so they must not be able to make this name before us.
    place.join(format!("loadgo-agent-{}-{:016x}{ending}", std::process::id(), RandomState::new().hash_one(0)))
}

/// A folder of this process alone on a disk. The next loadgo on this host removes it if this agent is killed.
struct TemporaryFolder {
    path: PathBuf,
    leftovers: Leftovers,
}

impl TemporaryFolder {
    fn make(id: &str) -> Result<TemporaryFolder, RefusalAnswer> {
        let path = temporary_path("");
        let made = Leftovers::begin(id).and_then(|mut leftovers| {
            leftovers.note(Thing::Home(path.clone()))?;
            DirBuilder::new().mode(0o700).create(&path)?;
            Ok(leftovers)
        });
        let cannot = |error| Refusal::new(format!("the folder {} cannot be made", path.display())).because(error);
        let leftovers = made.map_err(|error| {
            refused(cannot(error).with_remedy("make room there, and see that this account may write there").to_string())
        })?;
        Ok(TemporaryFolder { path, leftovers })
    }

    /// The run folder in it.
    fn folder(&self) -> PathBuf {
        self.path.join("records")
    }

    /// Removes it. Returns sentences about what stays.
    fn remove(&mut self) -> Vec<String> {
        self.leftovers.finish().iter().map(ToString::to_string).collect()
    }
}
