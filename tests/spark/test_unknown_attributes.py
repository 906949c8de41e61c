"""Which errors of a server mean that it does not know an attribute. No Spark is started."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spark_jobs.adapters.hadoop.hadoop_attributes import _known


def _failing(text: str) -> Callable[[], object]:
    def ask() -> object:
        raise OSError(text)

    return ask


@pytest.mark.parametrize(
    "text",
    [
        "The ACL operation has been rejected.  Support for ACLs has been disabled by setting"
        " dfs.namenode.acls.enabled to false.",
        "Unknown method getErasureCodingPolicy called on org.apache.hadoop.hdfs.protocol.ClientProtocol protocol.",
    ],
)
def test_an_attribute_that_the_server_does_not_know_is_none(text: str) -> None:
    assert _known(_failing(text)) is None


@pytest.mark.parametrize("name", ["disabled", "not_supported"])
def test_the_name_of_a_directory_hides_no_error(name: str) -> None:
    inode = f'inode="/warehouse/{name}/p=1":root:drwx------'
    with pytest.raises(OSError, match="Permission denied"):
        _known(_failing(f"Permission denied: user=etl, access=EXECUTE, {inode}"))
