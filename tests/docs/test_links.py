"""Whatever README and the pages point to is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("requirements/*.md"))]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def links() -> Iterator[tuple[Path, str]]:
    """Every relative link of every page."""
    for page in PAGES:
        for target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
            if "://" not in target and not target.startswith("mailto:"):
                yield page, target


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings make."""
    lines = _CODE.sub("", page.read_text(encoding="utf-8")).splitlines()
    heads = [line.lstrip("#").strip().lower() for line in lines if line.startswith("#")]
    return {re.sub(r"[^\w -]", "", head).replace(" ", "-") for head in heads}


def test_there_are_links_to_look_at() -> None:
    assert len(list(links())) > 5


@pytest.mark.parametrize(
    ("page", "target"), list(links()), ids=lambda value: value.name if isinstance(value, Path) else value
)
def test_a_link_leads_somewhere(page: Path, target: str) -> None:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    assert file.exists(), f"{page.relative_to(ROOT)} points to {target}, which isn't there"
    assert not anchor or anchor in anchors(file), (
        f"{page.relative_to(ROOT)}: no heading {anchor} in {file.name}"
    )


def test_every_page_is_linked() -> None:
    listed = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    linked = {Path(target.partition("#")[0]).name for _, target in links()}
    assert pages <= linked, f"no link to {', '.join(sorted(pages - linked))}"
    assert "docs/fields.md" in listed
