"""Draw docs/images/bands.svg from the default settings: python -m website.curve."""

from __future__ import annotations

from neardup_solr import Settings
from website import ROOT

PICTURE = ROOT / "docs" / "images" / "bands.svg"
WIDE, HIGH, LEFT, TOP = 480, 220, 56, 16  # of the plot, in pixels, and its place
STYLE = """text{font:13px system-ui,sans-serif;fill:#666}
path{fill:none;stroke:#2f7d8c;stroke-width:3}
line{stroke:#999;stroke-width:.5}"""


def place(similarity: float, probability: float) -> str:
    """Compute where a point of the curve is in the picture."""
    return f"{LEFT + WIDE * similarity:.1f} {TOP + HIGH * (1 - probability):.1f}"


def draw() -> str:
    """Draw the probability 1 - (1 - s^rows)^bands of a common band over the similarity s."""
    settings, steps = Settings(), [step / 50 for step in range(51)]
    curve = [place(s, 1 - (1 - s**settings.rows) ** settings.bands) for s in steps]
    parts = []
    for share in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x, y = LEFT + WIDE * share, TOP + HIGH * (1 - share)
        parts += [
            f'<line x1="{LEFT}" x2="{LEFT + WIDE}" y1="{y:.0f}" y2="{y:.0f}"/>',
            f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{share:.0%}</text>',
            f'<text x="{x:.0f}" y="{TOP + HIGH + 20}" text-anchor="middle">{share}</text>',
        ]
    middle, below = LEFT + WIDE / 2, TOP + HIGH + 42
    parts.append(f'<text x="{middle:.0f}" y="{below}" text-anchor="middle">similarity s</text>')
    title = f"{settings.bands} bands of {settings.rows} values"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 24} {below + 12}"'
            ' role="img">',
            f"<title>The probability of a common band: {title}</title>\n<style>{STYLE}</style>",
            *parts,
            f'<path d="M{" L".join(curve)}"/>\n</svg>\n',
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
