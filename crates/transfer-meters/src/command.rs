//! `loadgo transfer -- COMMAND`: one metered command, whose sockets kernel programs follow.

use crate::sockets::{Counted, SocketMeter};
use loadgo_host::commands::oneshot::{Oneshot, Run, Streams, Warmth};
use loadgo_transfer::measuring::host_load::load_averages;
use std::ffi::OsString;
use std::io;

/// What is to be known of the command, ready to run it.
pub struct CommandTransfer {
    oneshot: Oneshot,
    sockets: Result<SocketMeter, String>,
}

/// What it came to.
#[derive(Clone, Debug)]
pub struct CommandTransferred {
    /// What the command used.
    pub run: Run,
    /// What its sockets moved; why not, where that is not known.
    pub counted: Result<Counted, String>,
    /// The load average of five minutes, at the end; the seed's sixth column.
    pub load_5min: f64,
}

impl CommandTransfer {
    /// Opens the meters; without the kernel's programs bytes and interrupts are not known.
    ///
    /// # Errors
    /// When the host can measure nothing of a command.
    pub fn open() -> io::Result<CommandTransfer> {
        let oneshot = Oneshot::open()?;
        Ok(CommandTransfer { oneshot, sockets: SocketMeter::begin().map_err(|why| why.to_string()) })
    }

    /// The meter of the command itself.
    pub fn oneshot(&self) -> &Oneshot {
        &self.oneshot
    }

    /// What of its sockets is not known, and why.
    pub fn missing(&self) -> Vec<String> {
        match &self.sockets {
            Ok(meter) => meter.missing().to_vec(),
            Err(why) => vec![format!("the bytes of its sockets, and the interrupts that worked for it, are not known: {why}")],
        }
    }

    /// Runs the command (program and arguments) once; nobody else of this process may fork until it has begun.
    ///
    /// # Errors
    /// When the program cannot be run.
    pub fn run(&mut self, command: &[OsString], streams: Streams) -> io::Result<CommandTransferred> {
        if let Ok(meter) = &mut self.sockets
            && let Err(why) = meter.follow_next()
        {
            self.sockets = Err(why);
        }
        let run = self.oneshot.run(command, streams, Warmth::AsItIs)?;
        let [_, load_5min] = load_averages();
        let counted = self.sockets.as_mut().map_err(|why| why.clone()).and_then(SocketMeter::end);
        Ok(CommandTransferred { run, counted, load_5min })
    }
}
