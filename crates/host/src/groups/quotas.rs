//! The time for which users' own processor quotas were used up, as the kernel counts it in their groups.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use loadgo_core::system::UserId;

use super::hierarchy::Version;
use crate::small_files::{number_after, open_at, open_directory, read_at_start};

/// Opens the accounts of users' quotas.
#[derive(Debug)]
pub(crate) struct Quotas {
    directory: OwnedFd,
    version: Version,
}

/// The account of a user's quota: the time for which it was used up, summed over processors.
#[derive(Debug)]
pub(crate) struct QuotaAccount {
    file: OwnedFd,
    version: Version,
    charged_ns: u64,
}

impl Quotas {
    /// The quotas in the first tree that has them, of the run's groups in these trees.
    pub(super) fn find<'a>(mut runs: impl Iterator<Item = &'a PathBuf>) -> Option<Quotas> {
        runs.find_map(|run| {
            let version = [Version::V1, Version::V2].into_iter().find(|version| run.join(limit_file(*version)).exists())?;
            Some(Quotas { directory: open_directory(run).ok()?, version })
        })
    }

    /// Opens the account of `user`; `None` for a user without a quota.
    pub(crate) fn open(&self, user: UserId) -> Option<QuotaAccount> {
        let mut text = [0u8; 64];
        let length = read_at_start(self.open_file(user, limit_file(self.version))?, &mut text).ok()?;
        if !text[..length].first().is_some_and(u8::is_ascii_digit) {
            return None; // `-1` or `max`
        }
        let mut account = QuotaAccount { file: self.open_file(user, "cpu.stat")?, version: self.version, charged_ns: 0 };
        account.charge()?;
        Some(account)
    }

    fn open_file(&self, user: UserId, name: &str) -> Option<OwnedFd> {
        let mut path = [0u8; 48];
        write!(&mut path[..47], "u{user}/{name}").ok()?;
        open_at(&self.directory, &path).ok()
    }
}

impl QuotaAccount {
    /// The time for which the quota was used up since the last call, in nanoseconds.
    pub(crate) fn charge(&mut self) -> Option<u64> {
        let mut text = [0u8; 512];
        let length = read_at_start(&self.file, &mut text).ok()?;
        let throttled_ns = throttled_ns(&text[..length], self.version)?;
        let before_ns = std::mem::replace(&mut self.charged_ns, throttled_ns);
        Some(throttled_ns.saturating_sub(before_ns))
    }
}

fn limit_file(version: Version) -> &'static str {
    match version {
        Version::V1 => "cpu.cfs_quota_us",
        Version::V2 => "cpu.max",
    }
}

/// The throttled time in the text of `cpu.stat`.
fn throttled_ns(text: &[u8], version: Version) -> Option<u64> {
    match version {
        Version::V1 => number_after(text, b"throttled_time "),
        Version::V2 => number_after(text, b"throttled_usec ").map(|microseconds| microseconds * 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_throttled_time_is_read_in_the_unit_of_each_version() {
        let of_v1 = b"nr_periods 12\nnr_throttled 7\nthrottled_time 1234567\nnr_bursts 0\nburst_time 0\n";
        assert_eq!(throttled_ns(of_v1, Version::V1), Some(1_234_567));
        let of_v2 = b"usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods 12\nnr_throttled 7\nthrottled_usec 1234\n";
        assert_eq!(throttled_ns(of_v2, Version::V2), Some(1_234_000));
        assert_eq!(throttled_ns(b"usage_usec 9\nuser_usec 5\nsystem_usec 4\n", Version::V2), None, "no controller counts it");
    }
}
