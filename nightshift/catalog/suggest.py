"""Close matches for a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable


def closest(given: str, allowed: Iterable[str]) -> str | None:
    """The allowed name most like `given`, or None when nothing comes near."""
    from difflib import get_close_matches  # costs more to import than everything else a check needs

    names = {name.lower(): name for name in allowed}
    found = get_close_matches(given.lower(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def unknown(what: str, given: str, allowed: Iterable[str], source: str) -> str:
    """One sentence for a name that isn't known, with a suggestion where one is near."""
    names = sorted(allowed)
    match = closest(given, names)
    hint = f'did you mean "{match}"?' if match else f"expected one of {', '.join(names[:12])}"
    more = "" if match or len(names) <= 12 else f" ({len(names)} in all)"
    return f'{what}: given "{given}", which {source} doesn\'t know; {hint}{more}'
