"""The JSON schema of a stack file, for editors: `python -m nightshift.settings.schema [--check]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from nightshift.settings.models import Stack

PATH = Path(__file__).resolve().parents[2] / "stacks" / "settings.schema.json"
_SITE_TOPICS = ("site", "volumes", "snapshots", "groups")


def schema() -> dict[str, Any]:
    """The whole file: Pulumi's own keys, `aws:region`, and our topics under `nightshift:`."""
    model = Stack.model_json_schema(by_alias=True)
    properties = model["properties"]
    topics = {f"nightshift:{topic}": properties[topic] for topic in _SITE_TOPICS}
    required = [f"nightshift:{topic}" for topic in _SITE_TOPICS if topic in model["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": "A Nightshift stack: what Pulumi.<stack>.yaml may say.",
        "type": "object",
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "required": ["aws:region", *required],
                "properties": {"aws:region": properties["region"], **topics},
                "patternProperties": {"^(?!nightshift:)[^:]+:": {}},
                "additionalProperties": False,
            }
        },
        "$defs": model["$defs"],
    }


def text() -> str:
    """The schema as it stands in the file."""
    return json.dumps(_tidy(schema()), indent=2, ensure_ascii=False) + "\n"


def _tidy(node: object) -> object:
    """Without the titles that pydantic makes of field names; names that break their pattern refused."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    if "propertyNames" in kept:
        kept["additionalProperties"] = False
    return {key: _tidy(value) for key, value in kept.items()}


def main(arguments: list[str]) -> int:
    """Write the schema, or with --check say whether the file is current. Exit 1 when it is not."""
    if arguments == ["--check"]:
        current = PATH.is_file() and PATH.read_text(encoding="utf-8") == text()
        print(f"{PATH.name} is {'current' if current else 'stale: run python -m nightshift.settings.schema'}")
        return 0 if current else 1
    PATH.parent.mkdir(exist_ok=True)
    PATH.write_text(text(), encoding="utf-8")
    print(f"wrote {PATH.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
