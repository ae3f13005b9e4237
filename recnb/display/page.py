"""The page around a report that is written to a file: it stands by itself, runs nothing and fetches nothing."""

from __future__ import annotations

from recnb.display.language import current

SECURITY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
STYLE = (
    "body { margin: 0 auto; max-width: 68rem; padding: 2rem clamp(1rem, 4vw, 3rem); line-height: 1.45; "
    "font-family: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans CJK KR', sans-serif; "
    "color: #1b1b1b; background: #ffffff; } "
    "@media (prefers-color-scheme: dark) { body { color: #e4e4e4; background: #141414; } } "
    "@media print { body { max-width: none; padding: 0; font-size: 9.5pt; color: #000000; background: #ffffff; } "
    "table, img { break-inside: avoid; } h1, h2, h3, summary, caption { break-after: avoid; } }"
)
FAINT = "opacity: 0.75;"


def page(title: str, shown: str, body: str) -> str:
    """A document with a title and, on top, the line shown; all three are safe already."""
    top = f'<h1 style="font-size: 1.15rem; font-weight: 600; margin: 0 0 1rem 0; overflow-wrap: anywhere; {FAINT}"><bdi>{shown}</bdi></h1>'
    # In a notebook headings stand below those of the notebook; here they follow the title.
    for level in (3, 4):
        body = body.replace(f"<h{level}", f"<h{level - 1}").replace(f"</h{level}>", f"</h{level - 1}>")
    return (
        f'<!DOCTYPE html>\n<html lang="{current()}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{SECURITY}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{top}{body}\n</main>\n</body>\n</html>\n"
    )
