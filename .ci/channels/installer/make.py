"""The installer script, which takes the archives of its own release."""

from pathlib import Path

import release as of

TEMPLATE = Path(__file__).with_name("install.sh")


def make(release):
    # Those whose machines have a shell that runs it, and where it knows the machine by.
    unix = [target for target in release.targets if target.system in ("linux", "darwin")]
    hashes = "\n".join(f"{release.sha256(release.archive(target))} {target.name}" for target in unix)
    text = TEMPLATE.read_text()
    for word, value in {"ADDRESS": release.address, "VERSION": release.version, "HASHES": hashes, "PROGRAMS": " ".join(of.PROGRAMS)}.items():
        assert text.count(f"@{word}@") == 1, word
        text = text.replace(f"@{word}@", value)
    file = release.folder / "install.sh"
    file.write_text(text)
    file.chmod(0o755)
