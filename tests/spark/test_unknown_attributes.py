"""Which errors of a server mean that it does not know an attribute. No Spark is started."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from spark_jobs.adapters.hadoop.hadoop_attributes import HadoopAttributes
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls

NN = "hdfs://nn"


def known(ask: Callable[[], object]) -> object:
    return HadoopAttributes(Mock(), Mock(), NameNodeCalls()).known(NN, "acl", ask)


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
    assert known(_failing(text)) is None


@pytest.mark.parametrize("name", ["disabled", "not_supported"])
def test_the_name_of_a_directory_hides_no_error(name: str) -> None:
    inode = f'inode="/warehouse/{name}/p=1":root:drwx------'
    with pytest.raises(OSError, match="Permission denied"):
        known(_failing(f"Permission denied: user=etl, access=EXECUTE, {inode}"))


def test_a_server_that_does_not_know_an_attribute_is_asked_once() -> None:
    attributes, asked = HadoopAttributes(Mock(), Mock(), NameNodeCalls()), []

    def ask() -> object:
        asked.append(1)
        raise OSError("Support for ACLs has been disabled")

    for server, feature in ((NN, "acl"), (NN, "acl"), (NN, "xattrs"), ("hdfs://other", "acl")):
        assert attributes.known(server, feature, ask) is None
    assert len(asked) == 3


@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o1.getAcl"),
    ],
)
def test_a_lost_connection_to_the_jvm_is_no_answer(error: Py4JError) -> None:
    attributes = HadoopAttributes(Mock(), Mock(), NameNodeCalls())
    with pytest.raises(type(error)):
        attributes.known(NN, "acl", Mock(side_effect=error))
    assert attributes.known(NN, "acl", lambda: ("user:etl:r--",)) == ("user:etl:r--",)


def test_a_method_that_the_class_of_a_file_system_lacks_is_asked_for_once() -> None:
    attributes = HadoopAttributes(Mock(), Mock(), NameNodeCalls())
    missing = Mock(side_effect=Py4JError("Method getErasureCodingPolicy([class Path]) does not exist"))
    assert [attributes.known(NN, "erasure", missing) for _ in range(2)] == [None, None]
    assert missing.call_count == 1


def test_after_any_other_error_the_server_is_asked_again() -> None:
    attributes = HadoopAttributes(Mock(), Mock(), NameNodeCalls())
    with pytest.raises(OSError, match="Permission denied"):
        attributes.known(NN, "acl", _failing("Permission denied: user=etl"))
    assert attributes.known(NN, "acl", lambda: ("user:etl:r--",)) == ("user:etl:r--",)
