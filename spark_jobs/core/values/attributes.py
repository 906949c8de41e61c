"""The attributes of a directory or a file, and the treatment of those that cannot be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.messages.warning_codes import WarningCode

#: Kinds of attributes. Only a superuser may change the owner of a file, so by default the owner may be lost.
OWNER, GROUP, MODE, ACL, XATTR = "owner", "group", "mode", "ACL", "extended attribute"
STORAGE, ERASURE, REPLICATION = "storage policy", "erasure-coding policy", "replication"
#: The owner of the file that replaces them could read rows that only another owner could read before.
ONLY_READER = "owner (the only account that may read some of the files)"
#: Attributes in which files may differ without an effect on readers.
SMALL = "owner, replication or write permission"
DISPENSABLE = (OWNER, SMALL)

_WRITE_BITS = 0o222
_READ_BITS_OF_OTHERS = 0o044


@dataclass(frozen=True)
class Attributes:
    """The attributes of one directory or file; None for those that the file system does not have.

    Attributes:
        mode: the permission bits.
        acl: the entries of the whole ACL specification; empty if there is no ACL.
        xattrs: the extended attributes by name, with values in base64.
    """

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
    """An attribute that could not be set on a new directory or file."""

    kind: str
    reason: str


def check_lost(lost: Iterable[LostAttribute], policy: str | None, path: str) -> list[str]:
    """Return a warning for each lost attribute that may be lost.

    Args:
        policy: the option `attributes`. `require`: no attribute may be lost. `warn`: all may be lost. None: only those
            in `DISPENSABLE` may be lost.

    Raises:
        Refusal: ATTRIBUTES, for an attribute that must be kept.
    """
    warnings = []
    for item in lost:
        if policy == "require" or (policy is None and item.kind not in DISPENSABLE):
            raise Refusal(
                RefusalCode.ATTRIBUTES,
                f"the {item.kind} of {path} cannot be set on a new directory or file: {item.reason};"
                " set 'attributes: warn' to compact without it",
            )
        text = f"the {item.kind} of {path} is not kept: {item.reason}"
        warnings.append(WarningCode.ATTRIBUTE_NOT_KEPT.text(text))
    return warnings


def combine(parts: Sequence[Attributes]) -> tuple[Attributes, list[LostAttribute]]:
    """Return the attributes of one file that replaces all of these, and the attributes in which they differ.

    The file gets the attributes of the first one, without the permissions that any of the others does not have. Rows of
    a file that few users may read must not be moved to a file that more users may read.
    """
    first, *others = parts
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
        LostAttribute(kind, "the files differ in it")
        for kind, look in apart.items()
        if any(look(other) != look(first) for other in others)
    ]
    return replace(first, mode=mode), lost
