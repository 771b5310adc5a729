//! A log-in that is tried before any user logs in: without a terminal, and with the environment that users' log-ins have.

use crate::refusal::Refusal;
use crate::terminals::login::{Login, shared_environment};
use loadgo_core::stop::StopRequest;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Most bytes of the messages that are kept: the last ones.
const MOST_MESSAGE_BYTES: usize = 4096;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A log-in command that is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The command.
    pub command: &'a str,
    /// The directories that its program is looked up in.
    pub search_path: &'a str,
    /// The run's id.
    pub run_id: &'a str,
    /// The script's environment.
    pub environment: &'a [(String, String)],
    /// Time that it has.
    pub limit: Duration,
}

/// The end of a tried log-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialEnd {
    /// The exit status, as a shell has it; `None` if it did not end in its time, or was stopped.
    pub status: Option<i32>,
    /// The last of what it printed as errors.
    pub messages: String,
}

impl Trial<'_> {
    /// Runs the command to its end. A `stop` ends it early.
    ///
    /// # Errors
    /// It is no command, or its program cannot be started.
    pub fn run(self, stop: &StopRequest) -> Result<TrialEnd, Refusal> {
        let login = Login::find(self.command, self.search_path)?;
        let cannot = |error: io::Error| Refusal::new(format!("{} cannot be started", login.path.display())).because(error);
        let mut child = Command::new(&login.path)
            .args(&login.words[1..])
            .env_clear()
            .envs(shared_environment(self.search_path, self.run_id, &login, true))
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(cannot)?;
        let errors = child.stderr.take().expect("it is piped");
        let messages = match thread::Builder::new().spawn(move || last_part(errors)) {
            Ok(messages) => messages,
            Err(error) => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(cannot(error));
            }
        };
        let status = ended_in_time(&mut child, self.limit, stop);
        // A process that the log-in has left may hold the pipe open.
        let told = if status.is_none() || !messages.is_finished() { wait_briefly(messages) } else { messages.join().ok() };
        Ok(TrialEnd { status, messages: told.unwrap_or_default() })
    }
}

/// The exit status; `None` after the time or a stop, when the process has been killed.
fn ended_in_time(child: &mut Child, limit: Duration, stop: &StopRequest) -> Option<i32> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
            Ok(None) if began.elapsed() < limit && !stop.is_set() => thread::sleep(LOOK_EVERY),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn wait_briefly(messages: thread::JoinHandle<String>) -> Option<String> {
    let began = Instant::now();
    while !messages.is_finished() && began.elapsed() < Duration::from_secs(1) {
        thread::sleep(LOOK_EVERY);
    }
    messages.is_finished().then(|| messages.join().ok()).flatten()
}

/// The last part of all that `errors` has.
fn last_part(mut errors: impl Read) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = errors.read(&mut piece) {
        kept.extend_from_slice(&piece[..length]);
        kept.drain(..kept.len().saturating_sub(MOST_MESSAGE_BYTES));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(command: &str, limit: Duration) -> Result<TrialEnd, Refusal> {
        let environment = [("GREETING".to_string(), "hello".to_string())];
        let trial = Trial { command, search_path: "/usr/bin:/bin", run_id: "t", environment: &environment, limit };
        trial.run(&StopRequest::default())
    }

    #[test]
    fn a_trial_has_the_status_and_the_last_messages_of_its_command() {
        let end = tried("sh -c 'yes x | head -c 9000 >&2; echo $GREETING $LOADGO_RUN >&2; exit 7'", Duration::from_secs(60));
        let end = end.expect("it starts");
        assert_eq!(end.status, Some(7));
        assert!(end.messages.len() <= MOST_MESSAGE_BYTES && end.messages.ends_with("hello t\n"), "{}", end.messages);
    }

    #[test]
    fn a_trial_that_does_not_end_is_ended_and_has_no_status() {
        let end = tried("sh -c 'echo asks >&2; exec sleep 1000'", Duration::from_millis(300)).expect("it starts");
        assert_eq!(end.status, None);
    }

    #[test]
    fn a_stop_ends_a_trial() {
        let stop = StopRequest::default();
        stop.set();
        let trial =
            Trial { command: "sleep 1000", search_path: "/usr/bin:/bin", run_id: "t", environment: &[], limit: Duration::MAX };
        assert_eq!(trial.run(&stop).expect("it starts").status, None);
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let refusal = tried("no-such-program here", Duration::from_secs(1)).expect_err("there is none");
        assert!(refusal.to_string().contains("no-such-program"), "{refusal}");
    }
}
