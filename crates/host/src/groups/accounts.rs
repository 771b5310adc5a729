//! The processor time that the kernel has charged to a control group, in nanoseconds.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use loadgo_core::system::UserId;

use crate::groups::hierarchy::Version;
use crate::groups::quotas::{QuotaAccount, Quotas};
use crate::small_files::{number, number_after, open_at, read_at_start};

/// Opens and reads the accounts of a run's groups; no allocation.
#[derive(Debug)]
pub struct Accounts {
    directory: OwnedFd,
    version: Version,
    /// `None` where no user has a quota.
    quotas: Option<Quotas>,
}

/// Opens users' accounts, on threads other than the driver's: the kernel may let the caller wait.
#[derive(Clone, Debug)]
pub struct AccountOpener {
    /// `None` where users have no groups.
    pub(crate) accounts: Option<Arc<Accounts>>,
    /// Whether there are descriptors enough to keep each account open.
    pub(crate) keep_open: bool,
}

/// A user's account at the beginning of a session.
#[derive(Debug, Default)]
pub struct OpenedAccount {
    /// The account, if it is kept open.
    pub(crate) file: Option<OwnedFd>,
    /// The processor time charged so far, in nanoseconds.
    pub(crate) charged_ns: Option<u64>,
    /// The account of the user's quota, if there is one and it is kept open.
    pub(crate) quota: Option<QuotaAccount>,
}

impl AccountOpener {
    /// Opens and reads the account of `user`.
    pub(crate) fn open(&self, user: UserId) -> OpenedAccount {
        let Some(accounts) = &self.accounts else { return OpenedAccount::default() };
        let file = accounts.open(user).ok();
        let charged_ns = file.as_ref().and_then(|file| accounts.read(file).ok());
        let quota = accounts.quotas.as_ref().filter(|_| self.keep_open).and_then(|quotas| quotas.open(user));
        OpenedAccount { file: file.filter(|_| self.keep_open), charged_ns, quota }
    }
}

impl Accounts {
    /// The accounts below the run's group, open as `directory`.
    pub fn new(directory: OwnedFd, version: Version) -> Accounts {
        Accounts { directory, version, quotas: None }
    }

    /// These accounts, with those of the users' quotas.
    pub(super) fn with_quotas(self, quotas: Option<Quotas>) -> Accounts {
        Accounts { quotas, ..self }
    }

    /// Whether users may have quotas.
    pub(crate) fn has_quotas(&self) -> bool {
        self.quotas.is_some()
    }

    /// The smallest step of an account.
    pub(crate) fn resolution_ns(&self) -> u64 {
        match self.version {
            Version::V1 => 1,
            Version::V2 => 1000,
        }
    }

    /// The kind of the tree.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Opens and reads the account of the group `path`, which need not be one of the run's.
    pub(crate) fn open_group(&self, path: &Path) -> io::Result<OpenedAccount> {
        let file = OwnedFd::from(File::open(path.join(self.file()))?);
        let charged_ns = Some(self.read(&file)?);
        Ok(OpenedAccount { file: Some(file), charged_ns, quota: None })
    }

    /// Opens the account of `user`, to be read often.
    pub fn open(&self, user: UserId) -> io::Result<OwnedFd> {
        let mut path = [0u8; 32];
        let name = self.file();
        write!(&mut path[..31], "u{user}/{name}")?;
        open_at(&self.directory, &path)
    }

    /// Reads an account that [`Accounts::open`] opened, in nanoseconds.
    pub fn read(&self, account: &OwnedFd) -> io::Result<u64> {
        let mut text = [0u8; 256];
        let length = read_at_start(account, &mut text)?;
        self.parse(&text[..length]).ok_or_else(|| io::Error::other("an account without processor time"))
    }

    /// The account of `user`, read through `open`, or else opened for this one reading.
    pub(crate) fn read_user(&self, user: UserId, open: Option<&OwnedFd>) -> io::Result<u64> {
        match open {
            Some(account) => self.read(account),
            None => self.read(&self.open(user)?),
        }
    }

    /// The processor time charged to all users of the run, in nanoseconds.
    pub fn all(&self) -> io::Result<u64> {
        let mut path = [0u8; 32];
        write!(&mut path[..31], "{}", self.file())?;
        self.read(&open_at(&self.directory, &path)?)
    }

    fn file(&self) -> &'static str {
        match self.version {
            Version::V1 => "cpuacct.usage",
            Version::V2 => "cpu.stat",
        }
    }

    fn parse(&self, text: &[u8]) -> Option<u64> {
        match self.version {
            Version::V1 => number(text),
            Version::V2 => number_after(text, b"usage_usec ").map(|microseconds| microseconds * 1000),
        }
    }
}
