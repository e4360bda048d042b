"""A release for every platform, of what stands for their programs: what each package says it is for; and one made twice."""

import json
import tarfile

from checks import expect
from made import WHOLE

# What each target is called by npm, in a wheel, by VS Code and by mason.nvim.
PACKAGES = {
    "x86_64-unknown-linux-gnu": ("linux-x64", "manylinux_2_17_x86_64", "linux-x64", "linux_x64_gnu"),
    "aarch64-unknown-linux-gnu": ("linux-arm64", "manylinux_2_17_aarch64", "linux-arm64", "linux_arm64_gnu"),
    "x86_64-unknown-linux-musl": ("linux-x64-musl", "musllinux_1_2_x86_64", "alpine-x64", "linux_x64_musl"),
    "aarch64-unknown-linux-musl": ("linux-arm64-musl", "musllinux_1_2_aarch64", "alpine-arm64", "linux_arm64_musl"),
    "x86_64-apple-darwin": ("darwin-x64", "macosx_10_12_x86_64", "darwin-x64", "darwin_x64"),
    "aarch64-apple-darwin": ("darwin-arm64", "macosx_11_0_arm64", "darwin-arm64", "darwin_arm64"),
    "x86_64-pc-windows-msvc": ("win32-x64", "win_amd64", "win32-x64", "win_x64"),
    "aarch64-pc-windows-msvc": ("win32-arm64", "win_arm64", "win32-arm64", "win_arm64"),
}
CHANNELS = ("installer", "npm", "pypi", "homebrew", "mason")


def run(checks, made, person):
    folder = person().elsewhere
    built, files = folder / "built", folder / "files"
    for target in PACKAGES:
        (built / target).mkdir(parents=True)
        for program in ("hashline", "mcpdiff", "mcp-publisher"):
            ending = ".exe" if "windows" in target else ""
            (built / target / f"{program}{ending}").write_text(f"#!/bin/sh\necho {program} {made.version}\n")
            (built / target / f"{program}{ending}").chmod(0o755)
    made.make(files, [*CHANNELS, *(["vscode", "debian"] if WHOLE else [])], PACKAGES, built / "TARGET" / "hashline")

    with checks.case("each platform has its packages"):
        packages = {f"hashline-{npm}": made.version for npm, *_ in PACKAGES.values()}
        main = _package(files / f"hashline-{made.version}.tgz")
        expect(main["optionalDependencies"] == packages, main)
        told = (files / "mason-package.yaml").read_text()
        for target, (npm, wheel, extension, mason) in PACKAGES.items():
            described = _package(files / f"hashline-{npm}-{made.version}.tgz")
            system, processor = npm.split("-")[:2]
            expect((described["os"], described["cpu"]) == ([system], [processor]), described)
            expect(described.get("libc") == (["glibc"] if target.endswith("-gnu") else None), described)
            expect((files / f"hashline_mcp-{made.version}-py3-none-{wheel}.whl").exists(), f"a wheel for {target}")
            expect(f"- target: {mason}\n      files:\n        hashline.tar.gz: {made.address}/hashline-{made.version}-{target}" in told, told)
            if WHOLE:
                expect((files / f"hashline-{extension}-{made.version}.vsix").exists(), f"an extension for {target}")
        formula = (files / "hashline.rb").read_text()
        expect(formula.count("url ") == 4 and formula.count("sha256 ") == 4, formula)
        if WHOLE:
            for architecture in ("amd64", "arm64"):
                expect((files / f"hashline_{made.version}_{architecture}.deb").exists(), f"a package for {architecture}")

    with checks.case("the installer knows them all but those of Windows"):
        script = (files / "install.sh").read_text()
        expect(script.count("-unknown-linux-") >= 4 and "-apple-darwin" in script and "-windows-" not in script, script)

    if not WHOLE:
        return
    with checks.case("the same programs make the same release"):
        made.make(folder / "first")
        made.make(folder / "second")
        first, second = ((folder / name / "SHA256SUMS").read_text() for name in ("first", "second"))
        expect(first == second, f"{first}\n{second}")
        listed = {line.split("  ")[1] for line in first.splitlines()}
        there = {file.name for file in (folder / "first").iterdir()}
        expect(there == listed | {"SHA256SUMS", "SHA256SUMS.minisig"}, there - listed)


def _package(file):
    with tarfile.open(file) as archive:
        return json.load(archive.extractfile("package/package.json"))
