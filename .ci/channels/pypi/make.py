"""Wheels, one for each platform, with the programs as scripts: by the specification of the binary distribution format.

maturin would build the programs anew; these are the ones that every other channel has, too.
"""

import base64
import hashlib

import release as of
from packing import zipped

# `hashline` is another project there.
NAME = "hashline-mcp"
SYSTEMS = {
    # The oldest that Rust's own library runs on.
    ("darwin", "x86_64"): "macosx_10_12_x86_64",
    ("darwin", "aarch64"): "macosx_11_0_arm64",
    ("windows", "x86_64"): "win_amd64",
    ("windows", "aarch64"): "win_arm64",
}
PROCESSORS = ("x86_64", "aarch64")


def make(release):
    for target in release.targets:
        tag = _platform_tag(target, release)
        if tag is not None:
            _write(release, target, tag)


def _platform_tag(target, release):
    if target.system != "linux":
        return SYSTEMS.get((target.system, target.architecture))
    if target.architecture not in PROCESSORS:
        return None
    if target.is_musl:
        return f"musllinux_1_2_{target.architecture}"
    major, minor = release.glibc(target)
    return f"manylinux_{major}_{minor}_{target.architecture}"


def _write(release, target, tag):
    base = f"{NAME.replace('-', '_')}-{release.version}"
    info, wheel_tag = f"{base}.dist-info", f"py3-none-{tag}"
    members = [(f"{base}.data/scripts/{name}", content, 0o755) for name, content in release.programs(target).items()]
    members += [(f"{info}/licenses/{name}", text, 0o644) for name, text in of.licences().items()]
    members += [
        (f"{info}/METADATA", _metadata(release).encode(), 0o644),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: hashline\nRoot-Is-Purelib: false\nTag: {wheel_tag}\n".encode(), 0o644),
    ]
    record = "".join(f"{name},{_digest(content)},{len(content)}\n" for name, content, _ in members)
    members.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
    zipped(release.folder / f"{base}-{wheel_tag}.whl", members)


def _digest(content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
    return f"sha256={digest.rstrip('=')}"


def _metadata(release):
    head = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {release.version}",
        f"Summary: {of.DESCRIPTION}",
        f"License-Expression: {of.LICENCE}",
        *(f"License-File: {name}" for name in of.LICENCES),
        f"Project-URL: Homepage, {release.homepage}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    readme = (of.ROOT / "README.md").read_text()
    return "\n".join(head) + f"\n\n{readme}"
