//! Accounts for sessions that another program has begun, such as sshd: the kernel programs know only what loadgo has forked.
//!
//! The leader must be asleep, as a shell is that waits for a line. Then no kernel program writes its record while this does.
//! Its descendants of later belong to the account, too.

use crate::programs::layout::task_record;
use crate::refusal::MeterRefusal;
use aya::maps::{HashMap as KernelHash, MapData, Queue};
use loadgo_sys::task_storage::TaskStorage;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::AsFd as _;

/// Gives free accounts to running processes.
pub(crate) struct Adoption {
    tasks: TaskStorage,
    free: Queue<MapData, u32>,
}

impl Adoption {
    pub(crate) fn new(tasks: TaskStorage, free: Queue<MapData, u32>) -> Adoption {
        Adoption { tasks, free }
    }

    /// Gives an account to the process `pid`, writes it into the table of accounts, and returns its number.
    ///
    /// # Errors
    /// No account is free, or the process has ended.
    pub(crate) fn adopt(&mut self, pid: u32, slot_of_pid: &mut KernelHash<MapData, u32, u32>) -> Result<u32, MeterRefusal> {
        let slot = self.free.pop(0)?;
        let adopted = slot_of_pid.insert(pid, slot, 0).map_err(MeterRefusal::from);
        let adopted = adopted.and_then(|()| Ok(self.set_slot(pid, slot)?));
        if adopted.is_err() {
            let _ = slot_of_pid.remove(&pid);
            self.free.push(slot, 0)?;
        }
        adopted.map(|()| slot)
    }

    /// Writes the account into the record of the task. Its name is looked up again, since each session has names of its own.
    fn set_slot(&self, pid: u32, slot: u32) -> io::Result<()> {
        let pid = Pid::from_raw(pid as i32).ok_or(io::ErrorKind::InvalidInput)?;
        let task = pidfd_open(pid, PidfdFlags::empty())?;
        let mut record = self.tasks.value(task.as_fd())?;
        record[task_record::SLOT_AND_NAME * 8..][..8].copy_from_slice(&u64::from(slot).to_ne_bytes());
        self.tasks.set_value(task.as_fd(), &record)
    }
}
