"""Each guard of a compaction against other writers by itself: what one does at the moment that it is for.

The exhaustive tests find that something is wrong; these say which guard is missing, and tests/mutation removes each to
see them fail.
"""

from __future__ import annotations

import pytest

from spark_jobs.protocol.file_system import Status
from tests.crash import writers
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, append, compact, into, only, out, outcomes, writing, written
from tests.crash.model_fs import ModelFileSystem
from tests.crash.oracle import check
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, run
from tests.crash.simulated_cluster import SimulatedCluster


def links_instead(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    """These directories are symbolic links from now on."""
    status = ModelFileSystem._status

    def linked(fs: ModelFileSystem, path: str, number: int | None) -> Status:
        return status(fs, path, number)._replace(link=path in paths)

    monkeypatch.setattr(ModelFileSystem, "_status", linked)


class TestWriters:
    def test_nothing_happens_between_the_two_renames(self, flat: SimulatedCluster) -> None:
        client = flat.client()
        compact(client)
        first = next(number for number, point in enumerate(client.trace) if out(point))
        assert into(client.trace[first + 1])

    def test_rows_appended_in_the_last_moment_are_carried(self, flat: SimulatedCluster) -> None:
        report = compact(flat.client(Fault.hook(out, append(flat))))
        assert (outcomes(report), check(flat)) == (["compacted"], [])

    def test_rows_replaced_during_the_compaction_call_the_swap_off(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(written, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        report = compact(client)
        assert (outcomes(report), check(flat, resurrected=True)) == (["changed"], [])
        assert not any(out(point) for point in client.trace)

    @pytest.mark.parametrize("flag", [False, True], ids=["", "flag"])
    def test_a_directory_purged_during_the_compaction_does_not_come_back(
        self, flat: SimulatedCluster, flag: bool
    ) -> None:
        if flag:
            flat.tree.write(f"{LIVE}/DONE", b"")

        def purge() -> None:
            flat.ledger.overwritten.update(flat.ledger.committed)
            flat.tree.remove(LIVE, recursive=True)

        report = compact(flat.client(Fault.hook(writing, purge)))
        assert (outcomes(report), flat.tree.find(LIVE)) == (["changed"], None)

    def test_a_directory_made_anew_in_the_gap_is_carried_along(self, flat: SimulatedCluster) -> None:
        request = {"arguments": {"writers": "append"}}
        client = flat.client(Fault.hook(into, append(flat)))
        report = run(client, "compact", "--table", FLAT, request=request)
        assert (outcomes(report), report["exit_code"], check(flat)) == (["compacted"], 0, [])

    def test_rows_replaced_while_they_are_read_are_no_failure(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(writing, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        report = compact(client)
        assert (outcomes(report), report["exit_code"], check(flat, resurrected=True)) == (["changed"], 0, [])

    def test_rows_replaced_in_the_last_moment_are_not_brought_back(self, flat: SimulatedCluster) -> None:
        client = flat.client(Fault.hook(out, lambda: writers.overwrite_in_place(flat, LIVE, [900])))
        assert (outcomes(compact(client)), check(flat, resurrected=True)) == (["changed"], [])

    def test_a_directory_that_became_a_link_meanwhile_is_not_renamed(
        self, flat: SimulatedCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was moved to another place, and a link leads there: its files and its identity are the same."""
        client = flat.client(Fault.hook(written, lambda: links_instead(monkeypatch, LIVE)))
        report = compact(client)
        assert (only(report)["units"][0]["code"], check(flat)) == ("SYMLINK", [])
        assert not any(out(point) for point in client.trace)

    @pytest.mark.parametrize("name", ["part-0._COPYING_", "_temporary", ".hive-staging_x"])
    def test_staging_in_a_unit_is_left_alone(self, flat: SimulatedCluster, name: str) -> None:
        flat.tree.write(f"{LIVE}/{name}", b"half a file")
        assert only(compact(flat.client()))["code"] == "ACTIVE_WRITER"

    def test_staging_above_a_unit_is_left_alone(self, flat: SimulatedCluster) -> None:
        flat.tree.make_dirs(f"{WAREHOUSE}/events/.spark-staging-1")
        codes = {unit["unit"]["k"]: unit["code"] for unit in only(compact(flat.client(), EVENTS))["units"]}
        assert codes == {"a": "ACTIVE_WRITER", "b": "ACTIVE_WRITER", "c": None}

    def test_a_unit_with_an_open_file_is_left_alone(self, flat: SimulatedCluster) -> None:
        stream = writers.open_append(flat, LIVE, flat.ledger.fresh(2))
        assert only(compact(flat.client()))["code"] == "ACTIVE_WRITER"
        assert stream.close()
        assert check(flat) == []

    def test_a_job_that_stages_as_the_swap_begins_gets_through(self, flat: SimulatedCluster) -> None:
        job = writers.staged_append(flat, LIVE, flat.ledger.fresh(2))
        report = compact(flat.client(Fault.hook(out, job.stage)))
        assert outcomes(report) == ["changed"]
        assert (job.publish(), job.finish(), check(flat)) == (True, True, [])

    def test_a_directory_made_anew_in_the_gap_is_nobodys_to_judge(self, flat: SimulatedCluster) -> None:
        """Its rows, and both copies of ours, stay until somebody says what writers of this table do."""
        report = compact(flat.client(Fault.hook(into, append(flat))))
        assert (outcomes(report), report["exit_code"]) == (["quarantined"], 3)
        assert check(flat, journaled=True) == []

    def test_folders_in_a_unit_are_refused(self, flat: SimulatedCluster) -> None:
        flat.tree.write(f"{LIVE}/HIVE_UNION_SUBDIR_1/000000_0", b"rows", parents=True)
        before = flat.tree.digest()
        assert only(compact(flat.client()))["code"] == "SUBDIRECTORIES"
        assert flat.tree.find(LIVE)
        assert before == flat.tree.digest()
