//! TLS on a data connection: a certificate of the server's own for each transfer, whose signer the client is told before.

use std::io::{self, Read, Write};
use std::sync::Arc;

use loadgo_sys::kernel_tls::{self, TlsSecrets};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{cipher_suite::TLS13_AES_128_GCM_SHA256, default_provider};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, Connection, ConnectionTrafficSecrets, RootCertStore, ServerConfig, ServerConnection,
};

use crate::measuring::row::Moved;
use crate::moving::method::{Method, Way};
use crate::moving::socket::Socket;

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
pub fn keys(method: Method) -> io::Result<Keys> {
    let mut signer = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    signer.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer =
        CertifiedIssuer::self_signed(signer, KeyPair::generate().map_err(io::Error::other)?).map_err(io::Error::other)?;
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let params = CertificateParams::new(vec![NAME.into()]).map_err(io::Error::other)?;
    let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
    let mut config = ServerConfig::builder_with_provider(provider(method))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .map_err(io::Error::other)?;
    config.send_tls13_tickets = 0; // nobody comes back with one
    config.enable_secret_extraction = method == Method::Ktls;
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
pub fn client(method: Method, authority: Vec<u8>) -> io::Result<Connection> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority)).map_err(io::Error::other)?;
    let mut config = ClientConfig::builder_with_provider(provider(method))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_secret_extraction = method == Method::Ktls;
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
pub(crate) fn agree(tls: &mut Connection, line: &mut Counted<'_>) -> io::Result<()> {
    tls.set_buffer_limit(None);
    while tls.is_handshaking() {
        tls.complete_io(line)?;
    }
    write_out(tls, line)
}

/// The kernel is given keys for one cipher, which every kernel with TLS knows.
fn provider(method: Method) -> Arc<CryptoProvider> {
    let usual = default_provider();
    Arc::new(match method {
        Method::Ktls => CryptoProvider { cipher_suites: vec![TLS13_AES_128_GCM_SHA256], ..usual },
        _ => usual,
    })
}

/// Agrees on keys and gives them to the kernel, which enciphers and deciphers from then on.
///
/// # Errors
/// When the two do not agree, or the kernel does not take the keys.
pub(crate) fn hand_to_kernel(way: &mut Way, line: &mut Counted<'_>) -> io::Result<()> {
    agree_by_records(way.tls()?, line)?;
    let tls = way.tls.take().ok_or_else(|| io::Error::other("there are no keys for TLS"))?;
    let secrets = tls.dangerous_extract_secrets().map_err(io::Error::other)?;
    let fd = line.socket.fd();
    kernel_tls::attach_to_tcp(fd)?;
    kernel_tls::set_keys(fd, kernel_tls::TlsDirection::Out, &in_bytes(secrets.tx)?)?;
    kernel_tls::set_keys(fd, kernel_tls::TlsDirection::In, &in_bytes(secrets.rx)?)
}

/// As [`agree`], but not a byte is read behind the last record of the agreement: the kernel reads on from there.
fn agree_by_records(tls: &mut Connection, line: &mut Counted<'_>) -> io::Result<()> {
    write_out(tls, line)?;
    while tls.is_handshaking() {
        let mut record = vec![0; RECORD_HEADER];
        line.read_exact(&mut record)?;
        record.resize(RECORD_HEADER + usize::from(u16::from_be_bytes([record[3], record[4]])), 0);
        line.read_exact(&mut record[RECORD_HEADER..])?;
        let mut left = &record[..];
        while !left.is_empty() {
            tls.read_tls(&mut left)?;
            tls.process_new_packets().map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why.to_string()))?;
        }
        write_out(tls, line)?;
    }
    Ok(())
}

/// Kind, version and length of a record of TLS.
const RECORD_HEADER: usize = 5;

fn in_bytes((record, secrets): (u64, ConnectionTrafficSecrets)) -> io::Result<TlsSecrets> {
    let other = || io::Error::other("the two agreed on a cipher that the kernel is not given keys for");
    let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { return Err(other()) };
    let key = key.as_ref().try_into().map_err(|_| other())?;
    let iv = iv.as_ref().try_into().map_err(|_| other())?;
    Ok(TlsSecrets { key, iv, record })
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
