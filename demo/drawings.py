"""Draw the pictures of the documentation from the texts in docs/drawings: `make drawings`.

`*.txt` are columns of files, drawn here; `*.mmd` are diagrams, drawn by Mermaid in Chromium. Each picture is an SVG
with a light ground of its own, so that it is legible on a dark page and on a package index too. It names the hash of
the text that it was drawn from, by which a test sees that it is current.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from demo.services import paths

TEXTS = paths.ROOT / "docs/drawings"
PICTURES = paths.ROOT / "docs/images"
MERMAID = "mermaid@12.3.0"
_LINE, _CHARACTER, _PADDING = 19, 7.25, 14
_INK = {" ": "#24292f", "+": "#116329", "-": "#8a5a00"}
_MARKED = {"+": "#dafbe1", "-": "#fff3c4"}
GROUND = "#f6f8fa"
#: Labels as SVG text: a picture in a page shows no HTML inside of it.
_SETTINGS = {
    "startOnLoad": False,
    "theme": "base",
    "securityLevel": "strict",
    "htmlLabels": False,
    "flowchart": {"htmlLabels": False},
    "fontFamily": "system-ui, Helvetica, Arial, sans-serif",
    "themeVariables": {
        "primaryColor": "#ffffff",
        "primaryBorderColor": "#8c959f",
        "primaryTextColor": "#24292f",
        "lineColor": "#57606a",
        "tertiaryColor": "#ffffff",
        "background": GROUND,
        "activeTaskBkgColor": "#dafbe1",
        "activeTaskBorderColor": "#116329",
        "critBkgColor": "#fff3c4",
        "critBorderColor": "#8a5a00",
    },
}
_PAGE = """<!doctype html><meta charset="utf-8"><pre id="out"></pre><script src="mermaid.min.js"></script><script>
const out = document.getElementById("out");
mermaid.initialize({settings});
mermaid.render("drawing", {text}).then(
  drawn => {{ out.textContent = drawn.svg; }}, error => {{ out.textContent = "error: " + error; }});
</script>"""


@dataclass(frozen=True)
class Panel:
    """One column of a picture: its title, and lines whose first character says what they are."""

    title: str
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        return max(len(line) for line in self.lines) * _CHARACTER + 2 * _PADDING

    @property
    def height(self) -> float:
        return (len(self.lines) + 2) * _LINE + _PADDING


def stamp(text: str) -> str:
    """Return the comment by which a picture names its text."""
    return f"<!-- drawn from {hashlib.sha256(text.encode()).hexdigest()[:16]} -->"


def panels(text: str) -> tuple[str, list[Panel]]:
    """Return the title of a picture and its columns."""
    title, *parts = text.split("\n## ")
    found = [part.split("\n") for part in parts]
    columns = [Panel(head, tuple(filter(None, lines))) for head, *lines in found]
    return title.removeprefix("# ").strip(), columns


def columns_drawn(text: str) -> str:
    """Return a picture of columns side by side."""
    title, columns = panels(text)
    height = max(panel.height for panel in columns) + 2 * _PADDING
    width = sum(panel.width + _PADDING for panel in columns) + _PADDING
    parts, x = [], float(_PADDING)
    for panel in columns:
        parts += _panel(panel, x, height - 2 * _PADDING)
        x += panel.width + _PADDING
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
            stamp(text),
            f"<title>{html.escape(title)}</title>",
            "<style>text { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }"
            " .head { font: bold 13px system-ui, Helvetica, Arial, sans-serif }</style>",
            f'<rect width="{width:.0f}" height="{height:.0f}" rx="8" fill="{GROUND}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _panel(panel: Panel, x: float, height: float) -> list[str]:
    box = f'x="{x:.1f}" y="{_PADDING}" width="{panel.width:.1f}" height="{height:.1f}"'
    parts = [f'<rect {box} rx="6" fill="#ffffff" stroke="#d0d7de"/>']
    at = f'x="{x + _PADDING:.1f}" y="{_PADDING + 1.5 * _LINE:.1f}"'
    parts.append(f'<text class="head" {at} fill="{_INK[" "]}">{html.escape(panel.title)}</text>')
    for number, line in enumerate(panel.lines):
        parts += _line(line, x, _PADDING + (number + 3) * _LINE, panel.width)
    return parts


def _line(line: str, x: float, y: float, width: float) -> list[str]:
    kind = line[0] if line[0] in _MARKED else " "
    shown = line if kind == " " else f" {line[1:]}"
    ground = f'<rect x="{x + 6:.1f}" y="{y - 14:.1f}" width="{width - 12:.1f}" height="{_LINE}"'
    text = f'<text x="{x + _PADDING:.1f}" y="{y:.1f}" fill="{_INK[kind]}" xml:space="preserve">'
    marked = [f'{ground} fill="{_MARKED[kind]}"/>'] if kind in _MARKED else []
    return [*marked, f"{text}{html.escape(shown)}</text>"]


def diagram_drawn(text: str, folder: Path) -> str:
    """Return a diagram as Mermaid draws it.

    Args:
        folder: it has `mermaid.min.js`.
    """
    page = folder / "page.html"
    page.write_text(_PAGE.format(settings=json.dumps(_SETTINGS), text=json.dumps(text)))
    shown = subprocess.run(
        [
            _program("chromium", "chromium-browser", "google-chrome"),
            *("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"),
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = re.search(r'<pre id="out">(.*?)</pre>', shown, re.DOTALL)
    drawn = html.unescape(found[1]) if found else ""
    if not drawn.startswith("<svg"):
        raise SystemExit(f"error: Mermaid cannot draw this: {drawn}\n{text}")
    return _grounded(drawn, stamp(text))


def _grounded(drawn: str, comment: str) -> str:
    """Return a diagram with a size and a ground of its own."""
    box = re.search(r'viewBox="([-\d. ]+)"', drawn)
    assert box is not None
    x, y, width, height = map(float, box[1].split())
    drawn = drawn.replace('width="100%"', f'width="{width:.0f}" height="{height:.0f}"', 1)
    ground = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{GROUND}"/>'
    return re.sub(r"(<svg[^>]*>)", lambda start: f"{start[1]}\n{comment}\n{ground}", drawn, count=1) + "\n"


def _program(*names: str) -> str:
    """Return the first of these programs that is there."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise SystemExit(f"error: none of {', '.join(names)} is on the PATH")
    return found


def _fetch_mermaid(folder: Path) -> None:
    command = [_program("npm"), "pack", "--silent", MERMAID]
    name = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    with tarfile.open(folder / name.splitlines()[-1]) as archive:
        source = archive.extractfile("package/dist/mermaid.min.js")
        assert source is not None
        (folder / "mermaid.min.js").write_bytes(source.read())


def main() -> int:
    """Draw all pictures."""
    for file in sorted(TEXTS.glob("*.txt")):
        (PICTURES / f"{file.stem}.svg").write_text(columns_drawn(file.read_text()))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _fetch_mermaid(folder)
        for file in sorted(TEXTS.glob("*.mmd")):
            (PICTURES / f"{file.stem}.svg").write_text(diagram_drawn(file.read_text(), folder))
    print(f"drew the pictures of {TEXTS.relative_to(paths.ROOT)} into {PICTURES.relative_to(paths.ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
