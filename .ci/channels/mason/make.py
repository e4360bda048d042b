"""The entry of mason.nvim's registry, by which `:MasonInstall hashline` takes the archives of the release."""

import release as of

SYSTEMS = {"linux": "linux", "darwin": "darwin", "windows": "win"}
PROCESSORS = {"x86_64": "x64", "aarch64": "arm64"}


def make(release):
    lines = [
        "---",
        "name: hashline",
        f"description: {of.SUMMARY}.",
        f"homepage: {release.homepage}",
        "licenses:",
        *(f"  - {licence}" for licence in of.LICENCE.split(" OR ")),
        "languages: []",
        "categories:",
        "  - LSP",
        "",
        "source:",
        f"  id: pkg:generic/hashline/hashline@v{release.version}",
        "  download:",
    ]
    for target in release.targets:
        if target.system in SYSTEMS and target.architecture in PROCESSORS:
            lines += [
                f"    - target: {_name_of(target)}",
                "      files:",
                f"        hashline.tar.gz: {release.url(release.archive(target))}",
                *(f"      {program}: {program}{target.ending}" for program in of.PROGRAMS),
            ]
    lines += ["", "bin:", *(f'  {program}: "{{{{source.download.{program}}}}}"' for program in of.PROGRAMS), ""]
    (release.folder / "mason-package.yaml").write_text("\n".join(lines))


def _name_of(target):
    name = f"{SYSTEMS[target.system]}_{PROCESSORS[target.architecture]}"
    if target.system == "linux":
        return f"{name}_{'musl' if target.is_musl else 'gnu'}"
    return name
