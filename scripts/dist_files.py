"""The two files of a release beside its wheel: a source archive of the same bytes each time, and a bill of materials.

`dist_files.py archive ARCHIVE FOLDER` packs a source archive again, with the dates and owners of no host.
`dist_files.py materials WHEEL TARGET`, in the folder of its source, writes `WHEEL.cdx.json` beside the wheel. That is
CycloneDX, with each crate that is linked into it for this target of Rust.
"""

import gzip
import hashlib
import os
import sys
import tarfile
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.contrib.hash.factories import HashTypeFactory
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from linked_crates import cargo_metadata, linked_packages, output
from packageurl import PackageURL


def repack(archive: Path, folder: Path) -> None:
    """Writes the files of `archive` into an archive of the same name in `folder`, in the order of their names."""
    with (
        (folder / archive.name).open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=epoch()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as repacked,
        tarfile.open(archive) as given,
    ):
        for member in sorted(given, key=lambda member: member.name):
            content = given.extractfile(member)
            repacked.addfile(without_a_host(member), content)


def without_a_host(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The archive member with the release's date and root's ownership."""
    mode = 0o755 if member.mode & 0o100 else 0o644
    plain = member.replace(mtime=epoch(), mode=mode, uid=0, gid=0, uname="", gname="", deep=False)
    plain.pax_headers = {}
    return plain


def epoch() -> int:
    """The release's date in seconds since 1970."""
    return int(os.environ["SOURCE_DATE_EPOCH"])


def write_materials(wheel: Path, target: str) -> None:
    """Writes the bill of materials of `wheel` beside it."""
    checksum = hashlib.sha256(wheel.read_bytes()).hexdigest()
    name, version = wheel.name.split("-")[:2]
    bill = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, checksum))
    bill.metadata.timestamp = datetime.fromtimestamp(epoch(), UTC)
    product = component(name, version, "pypi", license_text="MIT OR Apache-2.0")
    product.type = ComponentType.APPLICATION
    product.hashes.add(HashTypeFactory().from_composite_str(f"sha256:{checksum}"))
    bill.metadata.component = product
    parts = [*crates(cargo_metadata(target)), *libraries()]
    for part in parts:
        bill.components.add(part)
    bill.register_dependency(product, parts)
    text = make_outputter(bill, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    wheel.with_name(f"{wheel.name}.cdx.json").write_text(text + "\n")


def component(
    name: str, version: str, registry: str, license_text: str | None = None, sha256: str | None = None
) -> Component:
    """One entry of the bill."""
    return Component(
        name=name,
        version=version,
        bom_ref=f"{registry}:{name}@{version}",
        purl=PackageURL(registry, name=name, version=version),
        licenses=[LicenseFactory().make_from_string(license_text)] if license_text else [],
        hashes=[HashTypeFactory().from_composite_str(f"sha256:{sha256}")] if sha256 else [],
    )


def crates(metadata: dict[str, Any]) -> Iterator[Component]:
    """The crates that are linked into the wheel's binaries."""
    checksums = {(locked["name"], locked["version"]): locked.get("checksum") for locked in lock_file()}
    for package in linked_packages(metadata):
        key = (package["name"], package["version"])
        terms = package["license"] and package["license"].replace("/", " OR ")
        yield component(*key, "cargo", license_text=terms, sha256=checksums.get(key))


def libraries() -> Iterator[Component]:
    """The parts that no lock file names: Rust's standard library in each binary, and glibc in the static ones."""
    yield component("std", output("rustc", "--version").split()[1], "generic", license_text="MIT OR Apache-2.0")
    yield component(
        "glibc",
        (os.confstr("CS_GNU_LIBC_VERSION") or "glibc unknown").split()[1],
        "generic",
        license_text="LGPL-2.1-or-later",
    )


def lock_file() -> list[dict[str, Any]]:
    """The packages of Cargo.lock."""
    packages: list[dict[str, Any]] = tomllib.loads(Path("Cargo.lock").read_text())["package"]
    return packages


if __name__ == "__main__":
    if sys.argv[1] == "archive":
        repack(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        write_materials(Path(sys.argv[2]), sys.argv[3])
