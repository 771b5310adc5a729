//! The meters of this host for a controller: recorded into a temporary folder here, which is sent while it grows, and removed.

use crate::connection::Connection;
use crate::program::account_by_sudo;
use crate::refusals::{of_failure, refused};
use crate::table_sender::TableSender;
use crate::temporary_folder::{TemporaryFolder, temporary_path};
use loadgo_agent::frame::Kind;
use loadgo_agent::message::{MeterAnswer, MeterRequest, RefusalAnswer};
use loadgo_host::followed::Expected;
use loadgo_host::leftovers::clear_stale;
use loadgo_run::{Decision, HostMeter, MeterOrder, MeteringResult, TierAsked};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
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
    let metered = begin(connection, request, &place.folder()).and_then(|meter| watch(connection, meter, &place.folder()));
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

fn begin(connection: &Connection, request: &MeterRequest, folder: &Path) -> Result<HostMeter, RefusalAnswer> {
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
        sessions: request.users.map(|users| expected(request, users)),
        told_lines: connection.told_lines.clone(),
    };
    HostMeter::begin(order).map_err(of_failure)
}

/// The sessions of the controller's users. They log in to the account that has started this agent, perhaps by sudo.
fn expected(request: &MeterRequest, users: u32) -> Expected {
    let owner = account_by_sudo().unwrap_or(rustix::process::geteuid().as_raw());
    Expected { id: request.id.clone(), directory: temporary_path("-sessions"), owner, users, commands: request.commands.clone() }
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
