//! TLS on a data connection. The server makes a certificate for each transfer, and sends its signer on the control connection.

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

use crate::measuring::row::MovedBytes;
use crate::moving::method::{Method, MethodInUse};
use crate::moving::socket::DataSocket;

/// Name in the certificate. It is no host's name: the client trusts the signer, whose certificate came on the control connection.
const CERTIFICATE_NAME: &str = "loadgo";

/// A server's keys for one transfer.
#[derive(Debug)]
pub struct TlsKeys {
    /// The signer's certificate in DER, for the client.
    pub authority: Vec<u8>,
    config: ServerConfig,
}

/// Makes new keys and a certificate.
///
/// # Errors
/// The keys cannot be made.
pub fn make_keys(method: Method) -> io::Result<TlsKeys> {
    let mut signer = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
    signer.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer =
        CertifiedIssuer::self_signed(signer, KeyPair::generate().map_err(io::Error::other)?).map_err(io::Error::other)?;
    let key = KeyPair::generate().map_err(io::Error::other)?;
    let params = CertificateParams::new(vec![CERTIFICATE_NAME.into()]).map_err(io::Error::other)?;
    let certificate = params.signed_by(&key, &issuer).map_err(io::Error::other)?;
    let mut config = ServerConfig::builder_with_provider(provider(method))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
        .map_err(io::Error::other)?;
    config.send_tls13_tickets = 0; // no client resumes a session
    config.enable_secret_extraction = method == Method::Ktls;
    Ok(TlsKeys { authority: issuer.der().to_vec(), config })
}

/// The server's side of a new connection.
///
/// # Errors
/// The keys are not valid.
pub fn server(keys: TlsKeys) -> io::Result<Connection> {
    Ok(ServerConnection::new(Arc::new(keys.config)).map_err(io::Error::other)?.into())
}

/// The client's side of a new connection, which trusts only the signer `authority`.
///
/// # Errors
/// `authority` is no certificate.
pub fn client(method: Method, authority: Vec<u8>) -> io::Result<Connection> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority)).map_err(io::Error::other)?;
    let mut config = ClientConfig::builder_with_provider(provider(method))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_secret_extraction = method == Method::Ktls;
    let name = ServerName::try_from(CERTIFICATE_NAME).map_err(io::Error::other)?;
    Ok(ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?.into())
}

/// A socket for rustls. Bytes in the direction of the data are counted.
pub struct CountedSocket<'a> {
    socket: &'a DataSocket,
    moved: &'a mut MovedBytes,
    sends: bool,
}

impl<'a> CountedSocket<'a> {
    /// The socket of an end that sends data, or receives them.
    pub fn new(socket: &'a DataSocket, moved: &'a mut MovedBytes, sends: bool) -> CountedSocket<'a> {
        CountedSocket { socket, moved, sends }
    }
}

/// Makes the handshake, before any data.
///
/// # Errors
/// The two ends do not agree.
pub(crate) fn handshake(tls: &mut Connection, socket: &mut CountedSocket<'_>) -> io::Result<()> {
    tls.set_buffer_limit(None);
    while tls.is_handshaking() {
        tls.complete_io(socket)?;
    }
    write_out(tls, socket)
}

/// The ciphers of a method. The kernel gets keys for one cipher, which every kernel with TLS knows.
fn provider(method: Method) -> Arc<CryptoProvider> {
    let default = default_provider();
    Arc::new(match method {
        Method::Ktls => CryptoProvider { cipher_suites: vec![TLS13_AES_128_GCM_SHA256], ..default },
        _ => default,
    })
}

/// Makes the handshake and gives the keys to the kernel, which then encrypts and decrypts.
///
/// # Errors
/// The two ends do not agree, or the kernel does not take the keys.
pub(crate) fn start_kernel_tls(way: &mut MethodInUse, socket: &mut CountedSocket<'_>) -> io::Result<()> {
    handshake_by_records(way.tls()?, socket)?;
    let tls = way.tls.take().ok_or_else(|| io::Error::other("there are no keys for TLS"))?;
    let secrets = tls.dangerous_extract_secrets().map_err(io::Error::other)?;
    let fd = socket.socket.fd();
    kernel_tls::attach_to_tcp(fd)?;
    kernel_tls::set_keys(fd, kernel_tls::TlsDirection::Out, &kernel_secrets(secrets.tx)?)?;
    kernel_tls::set_keys(fd, kernel_tls::TlsDirection::In, &kernel_secrets(secrets.rx)?)
}

/// As [`handshake`], but reads no byte after the handshake's last record, so that the kernel can read on from there.
fn handshake_by_records(tls: &mut Connection, socket: &mut CountedSocket<'_>) -> io::Result<()> {
    write_out(tls, socket)?;
    while tls.is_handshaking() {
        let mut record = vec![0; RECORD_HEADER_BYTES];
        socket.read_exact(&mut record)?;
        record.resize(RECORD_HEADER_BYTES + usize::from(u16::from_be_bytes([record[3], record[4]])), 0);
        socket.read_exact(&mut record[RECORD_HEADER_BYTES..])?;
        let mut remaining = &record[..];
        while !remaining.is_empty() {
            tls.read_tls(&mut remaining)?;
            tls.process_new_packets().map_err(invalid_data)?;
        }
        write_out(tls, socket)?;
    }
    Ok(())
}

/// Size of the header of a TLS record: kind, version and length.
const RECORD_HEADER_BYTES: usize = 5;

fn kernel_secrets((record, secrets): (u64, ConnectionTrafficSecrets)) -> io::Result<TlsSecrets> {
    let wrong_cipher = || io::Error::other("both ends agreed on a cipher for which the kernel gets no keys");
    let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { return Err(wrong_cipher()) };
    let key = key.as_ref().try_into().map_err(|_| wrong_cipher())?;
    let iv = iv.as_ref().try_into().map_err(|_| wrong_cipher())?;
    Ok(TlsSecrets { key, iv, record })
}

fn invalid_data(error: rustls::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Encrypts and sends `bytes`.
///
/// # Errors
/// The socket's.
pub fn write(tls: &mut Connection, socket: &mut CountedSocket<'_>, bytes: &[u8]) -> io::Result<()> {
    tls.writer().write_all(bytes)?;
    write_out(tls, socket)
}

/// Sends the end of the data.
///
/// # Errors
/// The socket's.
pub fn close(tls: &mut Connection, socket: &mut CountedSocket<'_>) -> io::Result<()> {
    tls.send_close_notify();
    write_out(tls, socket)
}

/// Reads and decrypts available bytes. Returns their number, 0 after the other end's close.
///
/// # Errors
/// The socket's error, an end without a close, or data that do not decrypt.
pub fn read(tls: &mut Connection, socket: &mut CountedSocket<'_>, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            outcome => return outcome,
        }
        tls.read_tls(socket)?;
        tls.process_new_packets().map_err(invalid_data)?;
    }
}

fn write_out(tls: &mut Connection, socket: &mut CountedSocket<'_>) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(socket)?;
    }
    Ok(())
}

impl Read for CountedSocket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.socket.call_until_moved(self.moved, |fd| Ok(rustix::io::read(fd, &mut *into)?))?;
        self.moved.wire += if self.sends { 0 } else { read as u64 };
        Ok(read)
    }
}

impl Write for CountedSocket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent =
            self.socket.call_until_moved(self.moved, |fd| Ok(rustix::net::send(fd, bytes, rustix::net::SendFlags::NOSIGNAL)?))?;
        self.moved.wire += if self.sends { sent as u64 } else { 0 };
        Ok(sent)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
