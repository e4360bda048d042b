"""Packages whose bytes depend on what is in them alone: not on when, where and by whom they were made."""

import gzip
import io
import tarfile
import zipfile

# The first moment that a zip can name; npm and dpkg take any.
MOMENT = (1980, 1, 1, 0, 0, 0)
# As quick as it can be for what it saves: the programs are large, and are packed once for each channel.
LEVEL = 6


def tar_gz(file, members):
    """Writes a tar of (name, content, mode) triples."""
    with open(file, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=LEVEL) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content, mode in members:
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(content), mode
                archive.addfile(member, io.BytesIO(content))


def zipped(file, members):
    """Writes a zip of (name, content, mode) triples."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, content, mode in members:
            member = zipfile.ZipInfo(name, MOMENT)
            member.create_system = 3  # Unix, whose modes these are
            member.external_attr = (0o100000 | mode) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
