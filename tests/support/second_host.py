"""An emulated machine as a host for ssh: Debian's kernel, an sshd and a shell, behind a port on loopback."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.far_programs import UNPACKED, over_ssh, ssh_client, sshd
from support.outside import LOOK_EVERY_S
from support.second_kernel import ALONE, BOOT, EMULATOR, KERNEL, MACHINE, MODULES, TWO, cpio_archive, libraries_of
from support.ssh_host import free_port

NETWORK = (
    *("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci"),
    *("failover", "net_failover", "virtio_net"),
)
"""The modules of the machine's network, in the order in which they need each other."""
BAD_NETWORK = ("sch_netem", "sch_ingress", "cls_matchall", "act_mirred", "ifb")
"""The modules with which that kernel delays and loses packets of both directions."""
PROGRAMS = (
    *(
        "bash",
        "cat",
        "chmod",
        "dash",
        "date",
        "grep",
        "ls",
        "mkdir",
        "mknod",
        "mount",
        "mv",
        "perl",
        "readlink",
        "rm",
        "rmdir",
        "sleep",
    ),
    *("touch", "tr", "uname", "ip", "tc"),
)
_LONGEST_START_S = 240.0
_INIT = """#!/bin/sh
export PATH=/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm /run/sshd /tmp /var/tmp /root
mount -t devpts -o gid=5,mode=620,ptmxmode=666 devpts /dev/pts
for place in /run /tmp /var/tmp; do mount -t tmpfs none $place; done
mkdir -p /run/sshd
mount -t cgroup2 none /sys/fs/cgroup
for module in /modules/*.ko; do perl /load $module; done
ip link set lo up
ip link set eth0 up
ip address add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
echo loadgo the machine is up
/usr/sbin/sshd -D -e -f /etc/sshd_config
echo loadgo sshd has ended
sleep 1000
"""

# The call is finit_module: kmod need not be installed.
_LOAD = """
open(my $file, "<", $ARGV[0]) or die "$!";
my $options = "";
syscall(313, fileno($file), $options, 0) == 0 or die "$ARGV[0]: $!";
"""

# What comes in has no queue that netem could be: it is led through a device that has one.
_BAD_NETWORK = """
set -e
ip link set ifb0 up
tc qdisc add dev ifb0 root netem limit 100000 {back}
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0
tc qdisc add dev eth0 root netem limit 100000 {out}
"""
_GOOD_NETWORK = """
tc -s qdisc
tc qdisc del dev eth0 root
tc qdisc del dev eth0 ingress
tc qdisc del dev ifb0 root
"""


@dataclass(frozen=True)
class SecondHost:
    """The machine, and how ssh finds it."""

    config: Path
    """The client's configuration with which ssh finds the host as `far`."""
    console: Path
    """All that the machine has printed."""

    def typed(self, line: str) -> str:
        """The output of a line in the account's shell there, which must succeed."""
        words = ["ssh", "-F", str(self.config), "far", line]
        ran = subprocess.run(words, capture_output=True, text=True)
        assert ran.returncode == 0, f"{ran.stderr}\nThe machine printed:\n{self.console.read_text(errors='replace')}"
        return ran.stdout

    @contextmanager
    def bad_network(self, *, out: str, back: str, lost: list[int]) -> Iterator[None]:
        """Lets that kernel treat the packets that it sends, and those that it gets, as these words of netem say.

        At the end `lost` has how many packets of each direction were lost.
        """
        self.typed(_BAD_NETWORK.format(out=out, back=back))
        try:
            yield
        finally:
            told = self.typed(_GOOD_NETWORK)
            lost += [int(count) for count in re.findall(r"netem.*\n.*dropped (\d+)", told)]


def missing() -> str | None:
    """Why that kernel has no network here; None when it has."""
    absent = [name for name in (*NETWORK, *BAD_NETWORK) if not (MODULES / f"{name}.ko").exists()]
    if absent:
        return f"there is no {MODULES}/{absent[0]}.ko: scripts/setup dev brings it with Debian's kernel"
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    return f"there is no {absent[0]}" if absent else None


@contextmanager
def second_host(folder: Path, programs: Mapping[str, Path] | None = None) -> Iterator[SecondHost]:
    """An emulated host. Keys and the machine's files are laid into `folder`; it powers off with the context.

    It has more `programs`, by where they are there.
    """
    folder.mkdir()
    archive, console = folder / "initramfs", folder / "console"
    over_ssh(folder, "/bin/bash")  # lays keys and accounts
    archive.write_bytes(_files(folder, programs or {}))
    port = free_port()
    network = [
        "-netdev",
        f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22",
        "-device",
        "virtio-net-pci,netdev=net,romfile=",
    ]
    machine = [*MACHINE, *TWO, *ALONE, *network]
    starting = ["-kernel", str(KERNEL), "-initrd", str(archive), "-append", BOOT]
    with console.open("wb") as output:
        emulator = subprocess.Popen(
            [EMULATOR, *machine, *starting], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            config = ssh_client(folder, port)
            _wait_until_up(emulator, console, config)
            yield SecondHost(config, console)
        finally:
            emulator.kill()
            emulator.communicate()


def _wait_until_up(emulator: subprocess.Popen[bytes], console: Path, config: Path) -> None:
    last_s = time.monotonic() + _LONGEST_START_S
    while True:
        said = console.read_text(errors="replace")
        assert emulator.poll() is None, said[-4000:]
        assert time.monotonic() < last_s, said[-4000:]
        assert "loadgo sshd has ended" not in said, said[-4000:]
        if "loadgo the machine is up" in said:
            tried = subprocess.run(
                ["ssh", "-F", str(config), "-o", "ConnectTimeout=20", "far", "true"], capture_output=True
            )
            if tried.returncode == 0:
                return
        time.sleep(LOOK_EVERY_S)


def _files(folder: Path, more: Mapping[str, Path]) -> bytes:
    """The machine's first files, with these programs more by where they are."""
    server = sshd()
    assert server is not None
    programs = {f"/bin/{name}": Path(shutil.which(name) or f"/bin/{name}").resolve() for name in PROGRAMS}
    programs["/bin/sh"] = programs.pop("/bin/dash")
    programs |= {"/usr/sbin/sshd": Path(server[-1]), **more}
    unpacked = list(UNPACKED.glob("usr/lib/*-linux-*/*.so*"))
    libraries = {path for program in (*programs.values(), *unpacked) for path in libraries_of(program)}
    files = {path: Path(path) for path in sorted(libraries)} | programs
    files |= {f"/lib/x86_64-linux-gnu/{library.name}": library for library in unpacked}
    files |= {f"/modules/{at}-{name}.ko": MODULES / f"{name}.ko" for at, name in enumerate((*NETWORK, *BAD_NETWORK))}
    options = (folder / "sshd_config").read_text().replace(str(folder), "/etc")
    texts = {
        "/init": _INIT,
        "/load": _LOAD,
        "/etc/passwd": "root:x:0:0:root:/root:/bin/bash\nsshd:x:65533:65534:sshd:/run/sshd:/bin/false\n",
        "/etc/group": "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
        "/etc/shadow": (folder / "shadow").read_text(),
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\n",
        "/etc/sshd_config": options + "UseDNS no\n",
        **{f"/etc/{name}": (folder / name).read_text() for name in ("host_key", "host_key.pub", "key.pub")},
    }
    private = {"/etc/host_key", "/etc/shadow"}
    modes = {path: 0o600 if path in private else 0o755 for path in (*files, *texts)}
    contents = {path: place.read_bytes() for path, place in files.items()}
    contents |= {path: text.encode() for path, text in texts.items()}
    return cpio_archive(contents, modes, ("/dev", "/proc", "/sys", "/tmp", "/run", "/root", "/var/tmp", "/var/empty"))
