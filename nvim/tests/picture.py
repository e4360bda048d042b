#!/usr/bin/env python3
"""picture.py COLUMNS ROWS <CAPTURES >PICTURE.svg

Draws what `tmux capture-pane -e -p` prints as an SVG, so that a page can show a terminal as it was, with its colours, and
stay small and sharp. Several captures, each with a form feed behind it, become a moving picture: each begins with a line that says for how
many seconds it stands and, behind a blank, what is written below it. What does not move is drawn once.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, MARGIN = 8.4, 18, 12
FOREGROUND, BACKGROUND, CAPTION = "#e0e2ea", "#14161b", "#fce094"
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


def draw(line, style, row):
    """The shapes of one row."""
    shapes = []
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
            shapes.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{CELL_HEIGHT}" fill="{bg}"/>')
        look = f' fill="{fg}"' + ' font-weight="bold"' * style.bold + ' font-style="italic"' * style.italic
        look += ' text-decoration="underline"' * style.underline
        if part.strip():
            shapes.append(
                f'<text x="{x:.1f}" y="{y + 13}"{look} xml:space="preserve" textLength="{wide:.1f}" '
                f'lengthAdjust="spacingAndGlyphs">{escape(part)}</text>'
            )
        column += cells(part)
    return "\n".join(shapes)


def draw_rows(capture, rows):
    """The shapes of each row of a capture."""
    style = Style()
    return [draw(line, style, row) for row, line in enumerate(capture.split("\n")[:rows])]


def draw_caption(words, row, columns):
    """What is written below a capture."""
    y = MARGIN + row * CELL_HEIGHT + 24
    assert cells(words) <= columns, f"{words!r} is wider than the screen"
    return f'<text x="{MARGIN}" y="{y}" fill="{CAPTION}" xml:space="preserve">{escape(words)}</text>' if words else ""


def moving(frames, seconds):
    """The rows of frames that follow one another, each drawn once for as long as it stays as it is, and the style that moves them."""
    total = sum(seconds)
    starts = [sum(seconds[:at]) for at in range(len(frames) + 1)]
    out, spans = [], set()
    for rows in zip(*frames, strict=True):
        first = 0
        for at in range(1, len(rows) + 1):
            if at < len(rows) and rows[at] == rows[first]:
                continue
            if rows[first] and (first, at) == (0, len(rows)):
                out.append(rows[first])
            elif rows[first]:
                spans.add((first, at))
                out.append(f'<g class="m from{first}to{at}">\n{rows[first]}\n</g>')
            first = at
    style = [f".m{{visibility:hidden;animation:{total}s step-end infinite}}"]
    for first, to in sorted(spans):
        begins, ends = (f"{100 * starts[at] / total:.2f}%" for at in (first, to))
        shown = f"0%{{visibility:hidden}}{begins}{{visibility:visible}}" if first else "0%{visibility:visible}"
        hidden = f"{ends}{{visibility:hidden}}" if to < len(frames) else ""
        style.append(f"@keyframes k{first}to{to}{{{shown}{hidden}}}.from{first}to{to}{{animation-name:k{first}to{to}}}")
    # Where nothing moves the first frame is seen: what is proposed.
    still = [f".from{first}to{to}{{visibility:visible}}" for first, to in sorted(spans) if first == 0]
    style += [*still, "@media (prefers-reduced-motion:reduce){.m{animation:none}}"]
    return ["<style>" + "\n".join(style) + "</style>"] + out


def main():
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    captures = sys.stdin.read().split("\f")
    drawn, caption = [], 0
    if len(captures) == 1:
        drawn = draw_rows(captures[0], rows)
    else:
        caption = 2
        frames, seconds = [], []
        for capture in captures[:-1]:
            said, screen = capture.split("\n", 1)
            stands, _, words = said.partition(" ")
            seconds.append(float(stands))
            frames.append(draw_rows(screen, rows) + [draw_caption(words, rows, columns)])
        drawn = moving(frames, seconds)
    width, height = columns * CELL_WIDTH + 2 * MARGIN, (rows + caption) * CELL_HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">',
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>',
    ]
    print("\n".join(out + [shapes for shapes in drawn if shapes] + ["</svg>"]))


main()
