//! The storage that kernel programs keep for a task (`BPF_MAP_TYPE_TASK_STORAGE`), read and written by the task's pidfd.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

const LOOK_UP_COMMAND_ID: i32 = 1;
const UPDATE_COMMAND_ID: i32 = 2;
const INFO_COMMAND_ID: i32 = 15;
/// `BPF_MAP_TYPE_TASK_STORAGE`.
const TASK_STORAGE_TYPE_ID: u32 = 29;

/// A map with a value for each task.
#[derive(Debug)]
pub struct TaskStorage {
    map: OwnedFd,
    value_bytes: usize,
}

/// `union bpf_attr` of a command on an element.
#[repr(C)]
struct ElementCommand {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// `union bpf_attr` of a question for a map's description.
#[repr(C)]
struct InfoCommand {
    map: u32,
    info_bytes: u32,
    info: u64,
}

/// The beginning of `struct bpf_map_info`.
#[repr(C)]
#[derive(Default)]
struct MapInfo {
    kind: u32,
    id: u32,
    key_bytes: u32,
    value_bytes: u32,
}

impl TaskStorage {
    /// The storage behind a map's descriptor.
    ///
    /// # Errors
    /// The kernel's refusal, or `InvalidInput` for a map of another type.
    pub fn open(map: OwnedFd) -> io::Result<TaskStorage> {
        let mut info = MapInfo::default();
        let mut command =
            InfoCommand { map: map.as_raw_fd() as u32, info_bytes: size_of::<MapInfo>() as u32, info: (&raw mut info) as u64 };
        // SAFETY: the kernel writes at most `info_bytes` to `info`, which lives during the call.
        unsafe { call(INFO_COMMAND_ID, &mut command) }?;
        if info.kind != TASK_STORAGE_TYPE_ID {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        Ok(TaskStorage { map, value_bytes: info.value_bytes as usize })
    }

    /// The value of the task that `pidfd` names.
    ///
    /// # Errors
    /// The kernel's refusal: the task has no value, or has ended.
    pub fn value(&self, pidfd: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
        let mut value = vec![0; self.value_bytes];
        self.on_element(LOOK_UP_COMMAND_ID, pidfd, value.as_mut_ptr())?;
        Ok(value)
    }

    /// Replaces the value of the task that `pidfd` names.
    ///
    /// # Errors
    /// The kernel's refusal: the task has ended.
    ///
    /// # Panics
    /// If the value has another length than those of the map.
    pub fn set_value(&self, pidfd: BorrowedFd<'_>, value: &[u8]) -> io::Result<()> {
        assert_eq!(value.len(), self.value_bytes, "a value is replaced as a whole");
        self.on_element(UPDATE_COMMAND_ID, pidfd, value.as_ptr().cast_mut())
    }

    /// `value` has the length of the map's values.
    fn on_element(&self, number: i32, pidfd: BorrowedFd<'_>, value: *mut u8) -> io::Result<()> {
        let key = pidfd.as_raw_fd();
        let (map, key) = (self.map.as_raw_fd() as u32, (&raw const key) as u64);
        let mut command = ElementCommand { map, padding: 0, key, value: value as u64, flags: 0 };
        // SAFETY: key and value live during the call. The kernel reads a descriptor from the key, and reads or writes as many bytes
        // of the value as the map's values have.
        unsafe { call(number, &mut command) }
    }
}

/// # Safety
/// The command's addresses are valid for what the kernel reads and writes there.
unsafe fn call<T>(number: i32, command: &mut T) -> io::Result<()> {
    // SAFETY: `command` is as long as said, and the caller vouches for its addresses.
    let done = unsafe { libc::syscall(libc::SYS_bpf, number, command as *mut T, size_of::<T>()) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
