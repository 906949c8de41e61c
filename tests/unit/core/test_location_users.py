"""The tables that may read the directories of a dropped table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.protocol.planning.location_users import LocationUsers
from spark_jobs.protocol.services import Services


def _services(code: RefusalCode) -> Services:
    def table(_: object) -> Any:
        raise Refusal(code, "nobody can tell where it is")

    metastore = SimpleNamespace(databases=lambda: ["db"], tables=lambda _: ["t"], table=table)
    return cast(Services, SimpleNamespace(metastore=metastore))


def test_a_table_on_an_unknown_server_may_read_any_place() -> None:
    """Servers have several names, so that it may be the directory of the dropped table."""
    with pytest.raises(Refusal, match="FILE_SYSTEM"):
        LocationUsers(_services(RefusalCode.FILE_SYSTEM), ["hdfs://nn/w/t"])


def test_a_materialized_view_reads_none() -> None:
    users = LocationUsers(_services(RefusalCode.VIEW), ["hdfs://nn/w/t"])
    assert not users.read("hdfs://nn/w/t")
