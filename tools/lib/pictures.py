"""Draws docs/pictures: SVG for light and dark pages. With --check, says which pictures are not those of their data.

The data are the fields of the test vectors, the results of the benchmark, and the tables below.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/pictures"
WIDTH, MARGIN = 880, 20

# The color of each class on a light page and on a dark one.
FILLS = {
    "page": ("#ffffff", "#0d1117"), "ink": ("#1f2328", "#e6edf3"), "muted": ("#59636e", "#9198a1"),
    "time": ("#cfe8fc", "#0c3a5e"), "count": ("#fde3c8", "#5f3a12"), "random": ("#d3f0e1", "#0f4a35"),
    "node": ("#eadcf7", "#49307a"), "none": ("#e6eaef", "#30363d"), "refused": ("#ffd8d3", "#6b1f1a"),
    "blue": ("#0072b2", "#56b4e9"), "orange": ("#d55e00", "#f0a04b"), "red": ("#c0281c", "#ff7b72"),
}  # fmt: skip
LINES = {name: FILLS[name] for name in ("muted", "none", "blue", "orange", "red")}


def style(dark: bool) -> str:
    fills = "".join(f".{name}{{fill:{colors[dark]}}}" for name, colors in FILLS.items())
    lines = "".join(f".{name}-line{{stroke:{colors[dark]}}}" for name, colors in LINES.items())
    return fills + lines


class Picture:
    """The elements of a picture, from the top."""

    def __init__(self, title: str, height: int) -> None:
        self.title, self.height = title, height
        self.elements: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "ink", anchor: str = "start", bold: bool = False) -> None:
        weight = ' font-weight="600"' if bold else ""
        place = f'class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}'
        self.elements.append(f"<text {place}>{escape(text, quote=False)}</text>")

    def lines(self, x: float, y: float, texts: Iterable[str], kind: str = "ink") -> None:
        for number, text in enumerate(texts):
            self.text(x, y + 17 * number, text, kind)

    def box(self, x: float, y: float, width: float, height: float, kind: str, text: str = "") -> None:
        place = f'class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.elements.append(f'<rect {place} rx="3"/>')
        if text:
            self.text(x + width / 2, y + height / 2 + 5, text, anchor="middle")

    def path(self, points: Iterable[tuple[float, float]], kind: str, dashed: bool = False, arrow: bool = False) -> None:
        shape = " ".join(f"{x:g},{y:g}" for x, y in points)
        extra = ' stroke-dasharray="5 4"' * dashed + ' marker-end="url(#arrow)"' * arrow
        self.elements.append(f'<polyline class="{kind}-line" points="{shape}" fill="none" stroke-width="2"{extra}/>')

    def dot(self, x: float, y: float, kind: str) -> None:
        self.elements.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="4"/>')

    def svg(self) -> str:
        arrow = (
            '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path class="muted" d="M0 0L8 4L0 8z"/></marker>'
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}"'
            f' height="{self.height}" role="img" font-family="system-ui, sans-serif" font-size="13">'
        )
        parts = [
            head, f"<title>{escape(self.title, quote=False)}</title>", f"<defs>{arrow}</defs>",
            f"<style>{style(False)}@media (prefers-color-scheme:dark){{{style(True)}}}</style>",
            f'<rect class="page" width="{WIDTH}" height="{self.height}"/>', *self.elements, "</svg>",
        ]  # fmt: skip
        return "\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------------------- bits of an ID

# For each type, its fields from the first bit on: the name in the test vectors, bits, kind, and label.
LAYOUTS = {
    "scru128": [
        ("", 48, "time", "48 bits of 1 ms"), ("counter_hi", 24, "count", "24 bits"),
        ("counter_lo", 24, "count", "24 bits"), ("entropy", 32, "random", "32 bits"),
    ],
    "ulid": [("", 48, "time", "48 bits of 1 ms"), ("randomness", 80, "count", "80 bits")],
    "scru160": [
        ("", 48, "time", "48 bits of 1 ms"), ("counter", 16, "count", "16 bits"), ("random16", 16, "random", "16 bits"),
        ("random80", 80, "random", "80 bits"),
    ],
    "scru64": [("", 40, "time", "40 bits of 256 ms"), ("node_id", 4, "node", ""), ("counter", 20, "count", "20 bits")],
    "ulidflake": [("", 1, "none", ""), ("", 43, "time", "43 bits of 1 ms"), ("randomness", 20, "count", "20 bits")],
}  # fmt: skip
NODE_BITS = "4"


def check_layout(name: str) -> None:
    """Compares a layout with the fields of the test vectors."""
    vectors = json.loads((ROOT / f"tests/vectors/{name}.json").read_text())
    for valid in vectors["valid"]:
        rest = int(valid["bytes"], 16)
        for field, bits, *_ in reversed(LAYOUTS[name]):
            value, rest = rest & ((1 << bits) - 1), rest >> bits
            expected = valid["fields"].get(field, value)
            expected = expected[NODE_BITS] if isinstance(expected, dict) else expected
            assert expected in (value, f"{value:0{bits // 4}x}"), f"{name}: {field}"
        assert rest == 0, name


def bits() -> Picture:
    bottom = 20 + 46 * len(LAYOUTS)
    picture = Picture("The bits of the types: time, counter, random bits, node", bottom + 60)
    scale, left = 4.5, 120
    for row, (name, fields) in enumerate(LAYOUTS.items()):
        check_layout(name)
        x, y = left, 20 + 46 * row
        picture.text(MARGIN, y + 20, name, bold=True)
        for _, width, kind, label in fields:
            picture.box(x, y, width * scale - 2, 30, kind, label)
            x += width * scale
    legend = {
        "time": "time, in ticks", "node": f"node, of 1 to 23 bits, here {NODE_BITS}", "none": "unused",
        "count": "begins at random, then counts up", "random": "random in each ID",
    }  # fmt: skip
    for number, (kind, label) in enumerate(legend.items()):
        x, y = (left + 240 * number, bottom + 6) if number < 3 else (left + 360 * (number - 3), bottom + 32)
        picture.box(x, y, 16, 16, kind)
        picture.text(x + 22, y + 13, label, "muted")
    return picture


# ------------------------------------------------------------------------------------------------------ feeds and marks


def feed() -> Picture:
    title = "A reader by the key alone misses a row that is committed late; one that stops at the horizon does not"
    picture = Picture(title, 300)
    at = [150, 260, 370, 530, 690]
    for row, name in enumerate(["writer A", "writer B", "reader by key", "with the horizon"]):
        y = 22 + 62 * row
        picture.text(MARGIN, y + 28, name, bold=True)
        picture.path([(150, y + 52), (860, y + 52)], "none")
    picture.box(at[0], 26, at[3] - at[0], 38, "time", "transaction with ID 10")
    picture.text(at[3] + 8, 50, "commits", "muted")
    picture.box(at[1], 88, at[2] - at[1] - 14, 38, "time", "ID 11")
    picture.text(at[2] - 6, 112, "commits", "muted")
    picture.box(at[2] + 20, 150, 190, 38, "count", "reads 11")
    picture.box(at[4] - 50, 150, 200, 38, "refused", "asks for > 11: 10 is lost")
    picture.box(at[2] + 20, 212, 190, 38, "random", "horizon 10: reads none")
    picture.box(at[4] - 50, 212, 200, 38, "random", "reads 10 and 11")
    picture.path([(150, 280), (860, 280)], "muted", arrow=True)
    picture.text(MARGIN, 284, "time", "muted")
    return picture


# How long a reservation lasts, and how much of it remains when the next one is made, in steps of the picture.
LEAD, LOW = 3.6, 1.8


def panel(picture: Picture, left: float, clock: Callable[[int], float | None], event: str, keeps: bool) -> None:
    """Draws clock, IDs and mark over time. At step 9, the event happens. If no state is kept, IDs begin at the mark."""
    bottom, step, unit = 262, 10.4, 8.4

    def place(at: float, value: float) -> tuple[float, float]:
        return left + step * at, bottom - unit * value

    last, reserved, start, marks = 0.0, 0.0, 0.0, []
    for at in range(24):
        now = clock(at)
        if at == 9 and not keeps:
            start = reserved
        if now is not None and now >= start:
            last = max(last, now)
            if last > reserved - LOW:
                reserved = last + LEAD
            picture.dot(*place(at, last), "blue")
        marks += [place(at, reserved), place(at + 1, reserved)]
    for steps in range(9), range(9, 24):
        readings = [(at, now) for at in steps if (now := clock(at)) is not None]
        picture.path([place(at, now) for at, now in readings], "muted", dashed=True)
    picture.path(marks, "orange")
    picture.path([(left + step * 8.5, 60), (left + step * 8.5, bottom)], "red")
    picture.text(left + step * 8.5 + 6, bottom - 12, event, "red")
    picture.path([(left, 44), (left, bottom), (left + 262, bottom)], "muted")


def mark() -> Picture:
    title = "The clock, the IDs and the high-water mark across a crash, a clock that is set back, and a promotion"
    picture = Picture(title, 356)
    panels = [
        ("A crash", ["The mark is on the disk before the IDs", "below it. New IDs begin at the mark."]),
        ("The clock is set back", ["By up to 1 s: IDs continue. By up to 2 s:", "they wait. By more: 55000."]),
        ("A promotion, its clock behind", ["The standby has the mark of its rows.", "IDs wait, for up to 10 s."]),
    ]
    for number, (name, words) in enumerate(panels):
        picture.text(MARGIN + 288 * number, 28, name, bold=True)
        picture.lines(MARGIN + 288 * number, 284, words)
    panel(picture, MARGIN, lambda at: at if at < 9 else at - 1 if at > 10 else None, "crash", False)
    panel(picture, MARGIN + 288, lambda at: at if at < 9 else at - 4, "the clock steps back", True)
    panel(picture, MARGIN + 576, lambda at: at if at < 9 else at - 5, "promotion", False)
    picture.path([(MARGIN, 338), (MARGIN + 24, 338)], "muted", dashed=True)
    picture.text(MARGIN + 32, 343, "the clock", "muted")
    for x in range(0, 25, 8):
        picture.dot(160 + x, 338, "blue")
    picture.text(196, 343, "IDs, by their times", "muted")
    picture.path([(360, 338), (384, 338)], "orange")
    picture.text(392, 343, "the high-water mark", "muted")
    return picture


def guard() -> Picture:
    picture = Picture("A guard accepts an ID whose time is at least hold - lag, and at most clock + lag + 1 s", 216)
    hold, clock, lag, second = 330, 560, 120, 40
    picture.box(MARGIN, 70, hold - lag - MARGIN, 44, "refused", "refused: 23514")
    picture.box(hold - lag, 70, clock + lag + second - hold + lag, 44, "random", "accepted")
    picture.box(clock + lag + second, 70, WIDTH - MARGIN - clock - lag - second, 44, "refused", "refused: 23514")
    for x, label in (hold, "hold"), (clock, "clock"):
        picture.path([(x, 46), (x, 138)], "blue")
        picture.text(x, 38, label, anchor="middle", bold=True)
    for x, label in (hold - lag, "hold − lag"), (clock + lag + second, "clock + lag + 1 s"):
        picture.path([(x, 58), (x, 138)], "orange")
        picture.text(x, 156, label, anchor="middle")
    picture.text(MARGIN, 156, "the time of an ID")
    picture.path([(MARGIN, 138), (WIDTH - MARGIN, 138)], "muted", arrow=True)
    words = [
        "hold: the time of the transaction's first ID or first guarded row, at which it holds the horizon",
        "hold − lag: a reader with the same lag has not passed it",
    ]
    picture.lines(MARGIN, 184, words, "muted")
    return picture


# -------------------------------------------------------------------------------------------------------- which type

# Questions in their order, and what to use if the answer is yes.
QUESTIONS = [
    ("No files on the server, or must programs accept each ID as a UUID?", "uuid of version 7"),
    ("Must an ID have 8 bytes, and can you give each server a node?", "scru64"),
    ("Must an ID have 8 bytes, be of one server, and not count the IDs?", "ulidflake"),
    ("Do other programs use ULID?", "ulid"),
    ("Do you need more than 80 random bits?", "scru160"),
]


def which_type() -> Picture:
    title = "; ".join(f"{question} {answer}" for question, answer in QUESTIONS) + "; otherwise scru128"
    picture = Picture(title, 20 + 54 * (len(QUESTIONS) + 1))
    for number, (question, answer) in enumerate(QUESTIONS):
        y = MARGIN + 54 * number
        picture.box(MARGIN, y, 560, 34, "none", question)
        picture.path([(580, y + 17), (668, y + 17)], "muted", arrow=True)
        picture.text(610, y + 11, "yes", "muted")
        picture.box(670, y, 190, 34, "time", answer)
        picture.path([(300, y + 34), (300, y + 53)], "muted", arrow=True)
        picture.text(312, y + 49, "no", "muted")
    picture.box(MARGIN, MARGIN + 54 * len(QUESTIONS), 560, 34, "random", "scru128")
    return picture


# ---------------------------------------------------------------------------------------------------------- measured


def summary() -> tuple[list[str], dict[str, list[str]]]:
    """Returns the keys and the rows of README's table of ratios."""
    block = re.search(r"<!-- bench: summary -->\n(.*?)<!-- bench end -->", (ROOT / "README.md").read_text(), re.DOTALL)
    head, _, *rows = ([cell.strip() for cell in line.split("|")[2:-1]] for line in block[1].splitlines() if "|" in line)
    names = re.findall(r"^\| ([^|:]+) \|", block[1], re.MULTILINE)
    return head, dict(zip(names, rows, strict=True))


def measured() -> Picture:
    keys, rows = summary()
    panel, scale, line = 230, 60, 22
    picture = Picture("The costs of each key as bars, of which shorter is better", 406)
    for number, (name, cells) in enumerate(rows.items()):
        left, top = 170 + panel * (number % 3), 30 + 178 * (number // 3)
        picture.text(left, top, name, bold=True)
        for row, (key, cell) in enumerate(zip(keys, cells, strict=True)):
            y = top + 10 + line * row
            if number % 3 == 0:
                picture.text(left - 8, y + 14, key, anchor="end")
            value = float(cell.split()[0]) if cell[0].isdigit() else None
            if value is None:
                picture.text(left + 4, y + 14, "–", "muted")
                continue
            kind = "blue" if key.startswith("scru") else "orange" if key.startswith("uuid") else "muted"
            picture.box(left, y + 3, value * scale, line - 8, kind)
            picture.text(left + max(value, 1) * scale + 5, y + 14, f"{value:.2f}")
        picture.path([(left + scale, top + 8), (left + scale, top + 10 + line * len(keys))], "red", dashed=True)
    picture.text(170, 392, "dashed: bigint with created_at and its index = 1; shorter is better; –: no value", "muted")
    return picture


DRAWN = {
    "bits": bits, "feed": feed, "mark": mark, "guard": guard, "which-type": which_type, "measured": measured,
}  # fmt: skip

if __name__ == "__main__":
    files = {PICTURES / f"{name}.svg": draw().svg() for name, draw in DRAWN.items()}
    if "--check" in sys.argv:
        wrong = [path.name for path, svg in files.items() if not path.exists() or path.read_text() != svg]
        wrong += sorted(path.name for path in PICTURES.glob("*") if path not in files)
        sys.exit(f"docs/pictures: {', '.join(wrong)}: run `make pictures`" if wrong else None)
    PICTURES.mkdir(exist_ok=True)
    for path, svg in files.items():
        path.write_text(svg)
