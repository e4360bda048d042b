#!/usr/bin/env python3
"""picture.py COLUMNS ROWS <CAPTURE >PICTURE.svg

Draws what `tmux capture-pane -e -p` prints as an SVG, so that a page can show a terminal as it was, with its colours, and
stay small and sharp.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 12
FOREGROUND, BACKGROUND = "#e0e2ea", "#14161b"
BASIC = [
    "#07080d", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
    "#4f5258", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8",
]


def indexed(number):
    """The colour of one of the 256."""
    if number < 16:
        return BASIC[number]
    if number < 232:
        number -= 16
        steps = [0, 95, 135, 175, 215, 255]
        return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])
    grey = 8 + (number - 232) * 10
    return "#%02x%02x%02x" % (grey, grey, grey)


def take_colour(codes):
    """Reads what follows a 38 or 48."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return indexed(codes.pop(0))
    if kind == 2 and len(codes) >= 3:
        return "#%02x%02x%02x" % (codes.pop(0), codes.pop(0), codes.pop(0))
    return None


class Style:
    """How the next characters look."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.fg = self.bg = None
        self.bold = self.italic = self.underline = self.reverse = False

    def read(self, codes):
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (3, 23):
                self.italic = code == 3
            elif code in (4, 24):
                self.underline = code == 4
            elif code in (7, 27):
                self.reverse = code == 7
            elif 30 <= code <= 37:
                self.fg = BASIC[code - 30]
            elif 40 <= code <= 47:
                self.bg = BASIC[code - 40]
            elif 90 <= code <= 97:
                self.fg = BASIC[code - 82]
            elif 100 <= code <= 107:
                self.bg = BASIC[code - 92]
            elif code == 38:
                self.fg = take_colour(codes)
            elif code == 48:
                self.bg = take_colour(codes)
            elif code == 39:
                self.fg = None
            elif code == 49:
                self.bg = None

    def colours(self):
        fg, bg = self.fg or FOREGROUND, self.bg
        return (bg or BACKGROUND, fg) if self.reverse else (fg, bg)


def cells(text):
    """How many columns a text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def main():
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    lines = sys.stdin.read().split("\n")[:rows]
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
    ]
    style = Style()
    for row, line in enumerate(lines):
        column = 0
        for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
            if part.startswith("\x1b["):
                style.read([int(code or 0) for code in re.split("[;:]", part[2:-1])])
                continue
            part = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]|\x1b[()][A-Z0-9]|[\x00-\x1f]", "", part)
            if not part:
                continue
            fg, bg = style.colours()
            x, y, wide = MARGIN + column * CELL_WIDTH, MARGIN + row * CELL_HEIGHT, cells(part) * CELL_WIDTH
            if bg and bg != BACKGROUND:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{CELL_HEIGHT}" fill="{bg}"/>')
            look = f' fill="{fg}"' + ' font-weight="bold"' * style.bold + ' font-style="italic"' * style.italic
            look += ' text-decoration="underline"' * style.underline
            if part.strip():
                out.append(
                    f'<text x="{x:.1f}" y="{y + 13}"{look} xml:space="preserve" textLength="{wide:.1f}" '
                    f'lengthAdjust="spacingAndGlyphs">{escape(part)}</text>'
                )
            column += cells(part)
    out.append("</svg>")
    print("\n".join(out))


main()
