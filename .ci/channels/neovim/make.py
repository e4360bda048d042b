"""The Neovim plugin as a folder of its own, as plugin managers take one: what is below `nvim`, without its tests."""

import release as of
from packing import tar_gz

PLUGIN = of.ROOT / "nvim"
FOLDERS = ("doc", "lua", "plugin")


def files():
    """The plugin's files, by their names in it."""
    # Help tags are made by whoever installs it.
    found = (path for folder in FOLDERS for path in (PLUGIN / folder).rglob("*") if path.is_file() and path.name != "tags")
    return {str(path.relative_to(PLUGIN)): path.read_bytes() for path in sorted(found)}


def make(release):
    content = files() | of.licences()
    members = [(f"hashline.nvim/{name}", text, 0o644) for name, text in content.items()]
    tar_gz(release.folder / f"hashline.nvim-{release.version}.tar.gz", members)
