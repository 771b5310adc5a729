//! TLS on a data connection: a certificate of the server's own for each transfer, whose signer the client is told before.

use std::io::{self, Read, Write};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection};

use crate::row::Moved;
use crate::socket::Socket;

/// The name in the certificate; it names no host, for the signer was told on the control connection.
const NAME: &str = "loadgo";

/// What a server needs for one transfer.
#[derive(Debug)]
pub struct Keys {
    /// Who signed, in DER: for the client.
    pub authority: Vec<u8>,
    config: ServerConfig,
}

/// Keys and a certificate that nobody has used before.
///
/// # Errors
/// When they cannot be made.
pub fn keys() -> io::Result<Keys> {
    let mut signer = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    signer.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer =
        CertifiedIssuer::self_signed(signer, KeyPair::generate().map_err(io::Error::other)?).map_err(io::Error::other)?;
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let params = CertificateParams::new(vec![NAME.into()]).map_err(io::Error::other)?;
    let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .map_err(io::Error::other)?;
    config.send_tls13_tickets = 0; // nobody comes back with one
    Ok(Keys { authority: issuer.der().to_vec(), config })
}

/// The server's side of a connection, before a byte of it.
///
/// # Errors
/// When the keys are no good.
pub fn server(keys: Keys) -> io::Result<Connection> {
    Ok(ServerConnection::new(Arc::new(keys.config)).map_err(io::Error::other)?.into())
}

/// The client's side, which trusts what `authority` signed and nobody else.
///
/// # Errors
/// When that is no certificate.
pub fn client(authority: Vec<u8>) -> io::Result<Connection> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority)).map_err(io::Error::other)?;
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(NAME).map_err(io::Error::other)?;
    Ok(ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?.into())
}

/// A socket as rustls reads and writes it; what goes the way of the data is counted as theirs.
pub struct Counted<'a> {
    socket: &'a Socket,
    moved: &'a mut Moved,
    sends: bool,
}

impl<'a> Counted<'a> {
    /// Over `socket`, whose data are sent, or received.
    pub fn new(socket: &'a Socket, moved: &'a mut Moved, sends: bool) -> Counted<'a> {
        Counted { socket, moved, sends }
    }
}

/// Says hello and agrees on keys, before any data.
///
/// # Errors
/// When the two do not agree, in words.
pub fn agree(tls: &mut Connection, line: &mut Counted<'_>) -> io::Result<()> {
    tls.set_buffer_limit(None);
    while tls.is_handshaking() {
        tls.complete_io(line)?;
    }
    write_out(tls, line)
}

/// Sends `bytes` enciphered.
///
/// # Errors
/// The socket's.
pub fn write(tls: &mut Connection, line: &mut Counted<'_>, bytes: &[u8]) -> io::Result<()> {
    tls.writer().write_all(bytes)?;
    write_out(tls, line)
}

/// Says that no more will come.
///
/// # Errors
/// The socket's.
pub fn close(tls: &mut Connection, line: &mut Counted<'_>) -> io::Result<()> {
    tls.send_close_notify();
    write_out(tls, line)
}

/// Reads what there is, deciphered; 0 when the far end said that no more will come.
///
/// # Errors
/// The socket's; that the far end stopped without saying so, or that what comes is not what was sent.
pub fn read(tls: &mut Connection, line: &mut Counted<'_>, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            told => return told,
        }
        tls.read_tls(line)?;
        tls.process_new_packets().map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why.to_string()))?;
    }
}

fn write_out(tls: &mut Connection, line: &mut Counted<'_>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(line)?;
    }
    Ok(())
}

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.socket.patiently(self.moved, |fd| Ok(rustix::io::read(fd, &mut *into)?))?;
        self.moved.wire += if self.sends { 0 } else { read as u64 };
        Ok(read)
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.socket.patiently(self.moved, |fd| Ok(rustix::net::send(fd, bytes, rustix::net::SendFlags::NOSIGNAL)?))?;
        self.moved.wire += if self.sends { sent as u64 } else { 0 };
        Ok(sent)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
