//! `loadgo transfer -- COMMAND`: one metered command, whose sockets kernel programs follow.

use crate::sockets::{CommandTraffic, SocketMeter};
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_host::refusal::Refusal;
use loadgo_meters::MeterRefusal;
use loadgo_transfer::measuring::host_load::load_averages;
use std::ffi::OsString;
use std::io;

/// The meters of a command, ready to run it.
pub struct CommandTransfer {
    oneshot: Oneshot,
    sockets: Result<SocketMeter, MeterRefusal>,
}

/// Measurements of a command.
#[derive(Clone, Debug)]
pub struct CommandTransferred {
    /// Resources that the command used.
    pub run: Run,
    /// Traffic of the command's sockets, or why it is not known.
    pub traffic: Result<CommandTraffic, MeterRefusal>,
    /// Load average of five minutes at the end, the sixth column of RFC 392's table.
    pub load_5min: f64,
}

impl CommandTransfer {
    /// Opens the meters. If the kernel takes no programs, the sockets' traffic stays unknown.
    ///
    /// # Errors
    /// The host cannot measure a command at all.
    pub fn open() -> io::Result<CommandTransfer> {
        let oneshot = Oneshot::open_on_cleared_host()?;
        Ok(CommandTransfer { oneshot, sockets: SocketMeter::begin() })
    }

    /// Undoes all changes made on the host. Returns what stays there, of these meters and of killed runs.
    pub fn close(self) -> Vec<Refusal> {
        self.oneshot.close()
    }

    /// The meter of the command itself.
    pub fn oneshot(&self) -> &Oneshot {
        &self.oneshot
    }

    /// A sentence for each figure of the command's sockets that is not known, with the reason.
    pub fn missing(&self) -> Vec<String> {
        match &self.sockets {
            Ok(meter) => meter.missing(),
            Err(reason) => {
                vec![format!("the bytes of its sockets, and the interrupts that worked for it, are not known: {reason}")]
            }
        }
    }

    /// Runs the command (program and arguments) once. No other thread of this process may fork until it has begun.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn run(&mut self, command: &[OsString], streams: Streams) -> io::Result<CommandTransferred> {
        if let Ok(meter) = &mut self.sockets
            && let Err(reason) = meter.follow_next()
        {
            self.sockets = Err(reason);
        }
        let run = self.oneshot.run(command, streams, Warmth::AsItIs)?;
        let [_, load_5min] = load_averages();
        let traffic = self.sockets.as_mut().map_err(|reason| reason.clone()).and_then(SocketMeter::end);
        Ok(CommandTransferred { run, traffic, load_5min })
    }
}
