"""Which form of a union a mapping means, by the keys it has, so that errors speak of that form alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from nightshift.catalog.suggest import closest


def by_keys(word: str | None, forms: Mapping[str, type[BaseModel]]) -> Callable[[object], str | None]:
    """A discriminator: text means the tag `word`, a mapping the form whose keys it has, else None."""

    def tag(value: object) -> str | None:
        if isinstance(value, str):
            return word
        if isinstance(value, BaseModel):
            return next((name for name, form in forms.items() if isinstance(value, form)), None)
        return _closest(value, forms) if isinstance(value, Mapping) else None

    return tag


def _closest(value: Mapping[str, object], forms: Mapping[str, type[BaseModel]]) -> str | None:
    hits = {name: sum(key in known for key in value) for name, known in _keys(forms).items()}
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] else _nearest(value, forms)


def _nearest(value: Mapping[str, object], forms: Mapping[str, type[BaseModel]]) -> str | None:
    """The form with most keys that one of `value` could be a slip of."""
    near = {
        name: sum(bool(closest(str(key), known)) for key in value) for name, known in _keys(forms).items()
    }
    best = max(near, key=lambda name: near[name])
    return best if near[best] else None


def _keys(forms: Mapping[str, type[BaseModel]]) -> dict[str, list[str]]:
    return {
        name: [field.alias or key for key, field in form.model_fields.items()] for name, form in forms.items()
    }
