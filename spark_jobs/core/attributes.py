"""What a directory or a file has besides its content, and what happens where it cannot be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.errors import Refusal
from spark_jobs.core.refusals import RefusalCode

#: Kinds of attributes. Only a superuser may give a file away, so that its owner alone is dispensable.
OWNER, GROUP, MODE, ACL, XATTR = "owner", "group", "mode", "ACL", "extended attribute"
STORAGE, ERASURE, REPLICATION = "storage policy", "erasure-coding policy", "replication"
#: Whoever owns the file that replaces them would read what was another's alone.
ONLY_READER = "owner, who alone may read them,"
#: What files may differ in without a reader noticing.
SMALL = "owner, replication or write permission"
DISPENSABLE = (OWNER, SMALL)

_WRITE_BITS = 0o222
_READ_BITS_OF_OTHERS = 0o044


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
class LostAttribute:
    """An attribute that could not be given."""

    kind: str
    reason: str


def check_lost(lost: Iterable[LostAttribute], policy: str | None, path: str) -> list[str]:
    """Warnings for what is dispensable; raises Refusal ATTRIBUTES for what is not.

    `policy` is the option `attributes`: `require` everything, `warn` of everything, or None: all but the owner.
    """
    warnings = []
    for item in lost:
        if policy == "require" or (policy is None and item.kind not in DISPENSABLE):
            raise Refusal(
                RefusalCode.ATTRIBUTES,
                f"the {item.kind} of {path} cannot be given to a new directory or file: {item.reason};"
                " with 'attributes: warn' it is left behind",
            )
        warnings.append(f"the {item.kind} of {path} is not kept: {item.reason}")
    return warnings


def combine(found: Sequence[Attributes]) -> tuple[Attributes, list[LostAttribute]]:
    """What one file that replaces them all gets: the attributes of the first, and no permission that one of them lacks.

    The lacks say in what they differ. Rows of a file that few may read must not end up in one that many may.
    """
    first, *others = found
    mode = first.mode
    for other in others:
        mode &= other.mode
    # guard: files_of_several_owners
    apart: dict[str, Callable[[Attributes], object]] = {
        MODE: lambda item: item.mode & ~_WRITE_BITS,
        ONLY_READER: lambda item: None if item.mode & _READ_BITS_OF_OTHERS else item.owner,
        GROUP: lambda item: item.group,
        ACL: lambda item: item.acl,
        XATTR: lambda item: sorted(item.xattrs.items()),
        SMALL: lambda item: (item.owner, item.replication, item.mode & _WRITE_BITS),
    }
    lost = [
        LostAttribute(kind, "they differ in it")
        for kind, look in apart.items()
        if any(look(other) != look(first) for other in others)
    ]
    return replace(first, mode=mode), lost
