"""A formula of Homebrew, for a tap, which takes the archives of the release."""

import release as of

SYSTEMS = {"darwin": "macos", "linux": "linux"}
PROCESSORS = {"aarch64": "arm", "x86_64": "intel"}


def make(release):
    lines = [
        "class Hashline < Formula",
        f'  desc "{of.SUMMARY}"',
        f'  homepage "{release.homepage}"',
        f'  version "{release.version}"',
        f"  license any_of: {[licence for licence in of.LICENCE.split(' OR ')]}".replace("'", '"'),
        "",
    ]
    for system, theirs in SYSTEMS.items():
        # Homebrew on Linux brings a glibc.
        targets = {target.architecture: target for target in release.targets if target.system == system and not target.is_musl}
        known = [name for name in PROCESSORS if name in targets]
        if known:
            lines += [f"  on_{theirs} do", *(line for name in known for line in _archive(release, targets[name])), "  end", ""]
    programs = ", ".join(f'"{program}"' for program in of.PROGRAMS)
    lines += ["  def install", f"    bin.install {programs}", "  end", "", "  test do"]
    lines += [f'    assert_match version.to_s, shell_output("#{{bin}}/{program} --version")' for program in of.PROGRAMS]
    lines += ["  end", "end", ""]
    (release.folder / "hashline.rb").write_text("\n".join(lines))


def _archive(release, target):
    file = release.archive(target)
    return [
        f"    on_{PROCESSORS[target.architecture]} do",
        f'      url "{release.url(file)}"',
        f'      sha256 "{release.sha256(file)}"',
        "    end",
    ]
