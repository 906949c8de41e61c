"""What a directory or a file has besides its content, and what happens where it cannot be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spark_jobs.core.errors import Refusal

#: Kinds of attributes. Only a superuser may give a file away, so that its owner alone is dispensable.
OWNER, GROUP, MODE, ACL, XATTR = "owner", "group", "mode", "ACL", "extended attribute"
STORAGE, ERASURE, REPLICATION = "storage policy", "erasure-coding policy", "replication"
DISPENSABLE = (OWNER,)


@dataclass(frozen=True)
class Attributes:
    """`mode` holds the permission bits, `acl` the whole specification, entry by entry (empty: there is none), `xattrs`
    values in base64; None stands for what the file system does not know of."""

    mode: int
    owner: str | None = None
    group: str | None = None
    acl: tuple[str, ...] = ()
    xattrs: Mapping[str, str] = field(default_factory=dict)
    storage_policy: str | None = None
    erasure_coding: str | None = None
    replication: int | None = None


@dataclass(frozen=True)
class Lack:
    """An attribute that could not be given."""

    kind: str
    reason: str


def judge(lacks: Iterable[Lack], policy: str | None, path: str) -> list[str]:
    """Warnings for what is dispensable; raises Refusal ATTRIBUTES for what is not.

    `policy` is the option `attributes`: `require` everything, `warn` of everything, or None: all but the owner.
    """
    warnings = []
    for lack in lacks:
        if policy == "require" or (policy is None and lack.kind not in DISPENSABLE):
            raise Refusal(
                "ATTRIBUTES",
                f"the {lack.kind} of {path} cannot be given to a new directory or file: {lack.reason};"
                " with 'attributes: warn' it is left behind",
            )
        warnings.append(f"the {lack.kind} of {path} is not kept: {lack.reason}")
    return warnings


def usual(found: Sequence[Attributes]) -> tuple[Attributes, bool]:
    """The attributes that most of the files have, and whether some have others."""
    counts: dict[tuple[object, ...], int] = {}
    first: dict[tuple[object, ...], Attributes] = {}
    for item in found:
        key = (item.mode, item.owner, item.group, item.replication)
        counts[key] = counts.get(key, 0) + 1
        first.setdefault(key, item)
    most = max(counts, key=lambda key: counts[key])
    return first[most], len(counts) > 1
