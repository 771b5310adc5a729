//! The line with which a session elsewhere announces itself to loadgo's agent on its host, which measures what it uses.
//!
//! `followed/announcements.rs` reads what it leaves.

use loadgo_core::system::UserId;

/// Longest path of a directory for announcements.
const MOST_PATH_BYTES: usize = 200;

/// The line with which the session of `user` announces itself in `directory`, and waits until it is followed, for some seconds at
/// most. The shell that runs it is the one that is followed.
pub(crate) fn announcing_line(directory: &str, user: UserId) -> String {
    format!(
        " (n=0; f=\"{directory}/{user}.$$.$(readlink /proc/self/ns/pid)\"; : >\"$f\" && \
         while [ -e \"$f\" ] && [ $n -lt 150 ]; do n=$((n+1)); sleep 0.02; done) 2>/dev/null\n"
    )
}

/// Whether a directory's path means the same in every shell between double quotes. It comes from another host.
pub fn is_plain_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    path.starts_with('/') && path.len() <= MOST_PATH_BYTES && path.bytes().all(is_plain)
}
