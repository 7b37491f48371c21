"""Which form of a union a mapping means, by the keys it has, so that errors speak of that form alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches

from pydantic import BaseModel


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
    keys = {
        name: [field.alias or key for key, field in form.model_fields.items()] for name, form in forms.items()
    }
    hits = {name: sum(key in known for key in value) for name, known in keys.items()}
    near = {
        name: sum(bool(get_close_matches(key, known, 1)) for key in value) for name, known in keys.items()
    }
    best = max(forms, key=lambda name: (hits[name], near[name]))
    return best if hits[best] or near[best] else None
