//! TLS by the kernel: a connected socket gets the keys, and the kernel encrypts and decrypts its data.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::why::Why;

// Numbers of linux/tls.h and linux/socket.h.
const SOL_TLS: i32 = 282;
const TLS_TX: i32 = 1;
const TLS_RX: i32 = 2;
const TLS_1_3: u16 = 0x0304;
const AES_GCM_128: u16 = 51;
/// Name of the layer over TCP.
const TLS_LAYER: &[u8] = b"tls";

/// The direction of the data on a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsDirection {
    /// Data that this process sends.
    Out,
    /// Data that this process receives.
    In,
}

/// The secrets of one direction of TLS 1.3 with AES-128-GCM.
pub struct TlsSecrets {
    /// The key.
    pub key: [u8; 16],
    /// The initialisation vector, which is combined with each record's number: 4 bytes of salt and 8 others.
    pub iv: [u8; 12],
    /// The number of the next record.
    pub record: u64,
}

/// The reason why the kernel has no TLS; None if it has. An unconnected socket suffices: only a kernel with TLS reports the
/// missing peer.
pub fn unavailable_reason() -> Option<Why> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let attached = socket.map_err(io::Error::from).and_then(|socket| attach_to_tcp(socket.as_fd()));
    match attached.err().and_then(|error| error.raw_os_error()) {
        None | Some(libc::ENOTCONN) => None,
        Some(libc::ENOENT) => Some(Why::new("this kernel has no TLS of its own", "modprobe tls, or a kernel with CONFIG_TLS")),
        Some(other) => Some(Why::new(format!("TCP_ULP: {}", io::Error::from_raw_os_error(other)), "")),
    }
}

/// Puts the TLS layer over a connected TCP socket: once, before the keys are set.
///
/// # Errors
/// The kernel's: `ENOENT` where it has no TLS.
pub fn attach_to_tcp(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_ULP, TLS_LAYER)
}

/// Gives a socket the keys of one direction.
///
/// # Errors
/// The kernel's: it does not know the cipher, or this version of TLS.
pub fn set_keys(socket: BorrowedFd<'_>, direction: TlsDirection, secrets: &TlsSecrets) -> io::Result<()> {
    let option = if direction == TlsDirection::Out { TLS_TX } else { TLS_RX };
    set_option(socket, SOL_TLS, option, &crypto_info(secrets))
}

/// The bytes of `struct tls12_crypto_info_aes_gcm_128`: version, cipher, iv, key, salt, number of the record.
fn crypto_info(secrets: &TlsSecrets) -> Vec<u8> {
    let (salt, iv) = secrets.iv.split_at(4);
    let record = secrets.record.to_be_bytes();
    [&TLS_1_3.to_ne_bytes()[..], &AES_GCM_128.to_ne_bytes(), iv, &secrets.key, salt, &record].concat()
}

fn set_option(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads `value.len()` bytes of `value`.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), value.len() as libc::socklen_t) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_lie_as_the_kernel_reads_them() {
        let secrets = TlsSecrets { key: [7; 16], iv: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], record: 258 };
        let bytes = crypto_info(&secrets);
        assert_eq!(bytes.len(), 40);
        assert_eq!(bytes[4..12], [5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(bytes[28..32], [1, 2, 3, 4]);
        assert_eq!(bytes[32..], [0, 0, 0, 0, 0, 0, 1, 2]);
    }
}
