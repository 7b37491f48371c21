"""What every declared resource shares: the site it belongs to, its tags, its resource options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from nightshift.plan import names

TAG_PREFIX = "nightshift:"


@dataclass(frozen=True)
class SiteContext:
    """The site that a resource belongs to; plain values, known before anything is registered."""

    name: str
    region: str
    account: str
    zone: str
    owner: str
    partition: str = "aws"


def tags(site: SiteContext, part: str, **extra: str) -> dict[str, str]:
    """Tags of the resource that plays `part` in the site; `extra` keys get the prefix (group="vit")."""
    own = names.common_tags(site.name, part, site.owner, f"nightshift-{site.name}-{part}")
    return {**own, **{f"{TAG_PREFIX}{key}": value for key, value in extra.items()}}


def child(
    parent: pulumi.Resource,
    *,
    import_id: str | None = None,
    depends_on: Sequence[pulumi.Resource] = (),
    deleted_with: pulumi.Resource | None = None,
    ignore: Sequence[str] = (),
    replace_on: Sequence[str] = (),
    delete_before_replace: bool | None = None,
    retain: bool | None = None,
    delete_timeout: str | None = None,
) -> pulumi.ResourceOptions:
    """Options of a component's child.

    `import_id` names a live resource that is taken over instead of made; a no-op once it is in state.
    `ignore` and `replace_on` take the schema's camelCase names. `delete_timeout` is a Go duration.
    """
    return pulumi.ResourceOptions(
        parent=parent,
        import_=import_id,
        depends_on=list(depends_on) or None,
        deleted_with=deleted_with,
        ignore_changes=list(ignore) or None,
        replace_on_changes=list(replace_on) or None,
        delete_before_replace=delete_before_replace,
        retain_on_delete=retain,
        custom_timeouts=pulumi.CustomTimeouts(delete=delete_timeout) if delete_timeout else None,
    )
