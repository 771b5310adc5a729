"""Programs that move data over sockets and print what these counted themselves: commands to be metered."""

# Both ends in one process, over 127.0.0.1: bytes each way, and after each end's close what TCP_INFO said just before.
BOTH_ENDS = """
import json, socket, struct, sys, threading
there, back = int(sys.argv[1]), int(sys.argv[2])
def counted(sock):
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    received, = struct.unpack_from("Q", info, 128)
    sent, again = struct.unpack_from("QQ", info, 200)
    return [sent - again, received - 1]  # the other end's end has been read, and counts as a byte
def moved(sock, out, into):
    def sends():
        block = bytes(min(out, 65536))
        left = out
        while left:
            left -= sock.send(block[:left])
        sock.shutdown(socket.SHUT_WR)
    sender = threading.Thread(target=sends)
    sender.start()
    came = 0
    while data := sock.recv(65536):
        came += len(data)
    sender.join()
    assert came == into
    both.wait()  # what was sent has come, and is counted
    told.append(counted(sock))
    sock.close()
told = []
both = threading.Barrier(2)
listener = socket.create_server(("127.0.0.1", 0))
near = socket.create_connection(listener.getsockname())
far, _ = listener.accept()
other = threading.Thread(target=moved, args=(far, back, there))
other.start()
moved(near, there, back)
other.join()
print(json.dumps([sum(each) for each in zip(*told)]))
"""

# Connections one after the other, a byte there and a byte back each.
MANY_SHORT = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0), backlog=128)
def serves():
    for _ in range(int(sys.argv[1])):
        with listener.accept()[0] as far:
            far.send(far.recv(1))
server = threading.Thread(target=serves)
server.start()
for _ in range(int(sys.argv[1])):
    with socket.create_connection(listener.getsockname()) as near:
        near.send(b"x")
        assert near.recv(2) == b"x" and near.recv(1) == b""
server.join()
"""

# Sends to a port and ends at once; what it was given to send is then the kernel's to send.
ENDS_AT_ONCE = """
import os, socket, sys
near = socket.socket()
near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * int(sys.argv[2]))
near.connect(("127.0.0.1", int(sys.argv[1])))
near.sendall(bytes(int(sys.argv[2])))
print(os.getpid(), flush=True)
os._exit(0)
"""

# Datagrams to a fixed far end and without one, and a pair of Unix sockets.
OTHER_KINDS = """
import socket
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("127.0.0.1", 0))
fixed = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fixed.connect(here.getsockname())
for _ in range(10):
    fixed.send(bytes(100))
    assert here.recv(1000, socket.MSG_PEEK) and len(here.recv(1000)) == 100
free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(3):
    free.sendto(bytes(50), here.getsockname())
    here.recvfrom(1000)
one, other = socket.socketpair()
one.sendall(bytes(7000))
came = 0
while came < 7000:
    came += len(other.recv(7000))
"""

# A grandchild that lives on, holding a connection over which it has sent something.
LEAVES_A_DAEMON = """
import os, socket, sys
near = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
reader, writer = os.pipe()
if os.fork():
    os.read(reader, 1)
    os._exit(0)
os.setsid()
near.sendall(bytes(5000))
near.recv(1)
os.write(writer, b"x")
for fd in (0, 1, 2):
    os.close(fd)
near.recv(1)
"""
