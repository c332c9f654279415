"""Writes the generated pages of ``docs/``: ``python -m tools.pages``; a test keeps the committed ones true."""

from __future__ import annotations

from pathlib import Path

from tools.pages import refusals, resources

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"resources.md": resources.page, "simulated-clouds.md": refusals.page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
