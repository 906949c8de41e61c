"""Jobs run side by side in their lanes, each after those that it needs; each is measured, and fails alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from demo.services import processes
from tests.harness import job_runner, resources
from tests.harness.job_runner import Job, Lane, Runner
from tests.harness.resources import Sampler
from tests.harness.waiting import wait_for

#: Waits until a file appears, and gives up with an error.
MEET = """
import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
mine.touch()
deadline = time.monotonic() + 60
while not other.exists():
    assert time.monotonic() < deadline, f"{other} did not appear"
    time.sleep(0.01)
"""
#: Waits until its session's group has a niceness, for it is told after the start.
GROUP = """
import sys, time
deadline = time.monotonic() + 60
while not (found := open("/proc/self/autogroup").read().strip()).endswith(sys.argv[1]):
    assert time.monotonic() < deadline, f"{found!r} does not end with {sys.argv[1]!r}"
    time.sleep(0.01)
"""
#: Uses a processor in a child of its own, and waits for it.
SPIN = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.5: pass"], check=True)
"""
#: The same, and ends without waiting for it, once a file says that it was sampled.
UNWAITED = """
import pathlib, subprocess, sys, time
source = "import time\\nwhile time.process_time() < 0.5: pass\\nprint(flush=True)\\ntime.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
child.stdout.readline()
deadline = time.monotonic() + 60
while not pathlib.Path(sys.argv[1]).exists():
    assert time.monotonic() < deadline, "no sample was taken"
    time.sleep(0.01)
"""
HOLD = "import time; held = bytearray(300_000_000); print('held', flush=True); time.sleep(600)"


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Runs jobs to their end; returns what ended, by name, in the order of the ends."""
    monkeypatch.setattr(job_runner, "_sleep", lambda _: time.sleep(0.01))

    def run(*jobs, slots=2):
        ended = {}
        runner = Runner(slots, lambda _: None, lambda each: ended.setdefault(each.job.name, each))
        runner.run(jobs)
        return ended

    return run


@pytest.fixture
def job(tmp_path):
    def make(name, source="pass", *arguments, **more):
        command = (sys.executable, "-c", source, *map(str, arguments))
        return Job(name, command, tmp_path / f"{name}.log", os.environ, **more)

    return make


def _meeting(job, tmp_path, first, second):
    places = tmp_path / "one", tmp_path / "two"
    return job("a", MEET, *places, lane=first), job("b", MEET, *reversed(places), lane=second)


@pytest.mark.parametrize(
    ("first", "second", "slots"),
    [
        (Lane.COMPUTE, Lane.COMPUTE, 2),
        (Lane.COMPUTE, Lane.LATENCY, 1),
        (Lane.LATENCY, Lane.COMPUTE, 1),
        (Lane.COMPUTE, Lane.BACKGROUND, 1),
        (Lane.BACKGROUND, Lane.BACKGROUND, 1),
        (Lane.COMPUTE, Lane.SERVERS, 1),
        (Lane.SERVERS, Lane.LATENCY, 1),
        (Lane.SERVERS, Lane.SERVERS, 1),
        (Lane.SETUP, Lane.SETUP, 1),
    ],
)
def test_what_may_run_side_by_side_does(play, job, tmp_path, first, second, slots):
    ended = play(*_meeting(job, tmp_path, first, second), slots=slots)

    assert all(each.ok for each in ended.values()), ended


@pytest.mark.parametrize(
    ("lane", "slots"),
    [(Lane.COMPUTE, 1), (Lane.LATENCY, 2), (Lane.COMPUTE, 2), (Lane.SETUP, 1), (Lane.SERVERS, 2)],
)
def test_a_lane_that_is_full_waits(play, job, tmp_path, lane, slots):
    """Each job is alone in its folder, or one of as many as may be."""
    most = {Lane.LATENCY: 1, Lane.SERVERS: 2, Lane.SETUP: 2}.get(lane, slots)
    count = (
        "import os, pathlib, sys, time\n"
        "mine = pathlib.Path(sys.argv[1], str(os.getpid()))\n"
        "mine.touch(); time.sleep(0.1)\n"
        "count = len(os.listdir(sys.argv[1])); mine.unlink()\n"
        "sys.exit(int(count > int(sys.argv[2])))"
    )
    folder = tmp_path / "running"
    folder.mkdir()

    ended = play(*(job(f"{n}", count, folder, most, lane=lane) for n in range(5)), slots=slots)

    assert [each.code for each in ended.values()] == [0] * 5


def test_the_longest_starts_first(play, job):
    ended = play(*(job(name, expected=seconds) for name, seconds in (("b", 5), ("c", 1), ("a", 9))), slots=1)

    assert list(ended) == ["a", "b", "c"]


def test_the_background_does_not_take_the_place_of_others(job):
    told = []
    jobs = [job("long", expected=9, lane=Lane.BACKGROUND), job("less", expected=8, lane=Lane.BACKGROUND)]
    Runner(1, told.append, lambda _: None).run([*jobs, job("short", expected=1)])

    assert told == ["short: started", "long: started", "less: started"]


def test_one_that_runs_too_long_is_stopped_and_fails_alone(play, job):
    ended = play(job("slow", "import time; time.sleep(600)", limit=0.3), job("quick"))

    assert ended["slow"].reason == "timed out after 0 s"
    assert not ended["slow"].ok
    assert ended["quick"].ok


def test_what_needs_a_failed_one_is_not_started(play, job):
    ended = play(
        job("env", "raise SystemExit(1)"),
        job("suite", after=frozenset({"env"})),
        job("more", after=frozenset({"suite"})),
        job("other"),
    )

    assert (ended["suite"].code, ended["suite"].reason) == (None, "env failed")
    assert ended["more"].reason == "suite failed"
    assert ended["other"].ok


def test_what_is_needed_ends_first(play, job, tmp_path):
    made = tmp_path / "made"
    first = job("first", "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()", made)
    second = job(
        "second",
        "import pathlib, sys; sys.exit(not pathlib.Path(sys.argv[1]).exists())",
        made,
        expected=9,
        after=frozenset({"first"}),
    )

    assert play(second, first)["second"].ok


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="processes are not grouped by session here"
)
def test_who_gives_way_does_so_as_a_session(play, job):
    """Within its session alone, niceness would change nothing for the other suites."""
    ended = play(job("low", GROUP, f"nice {Lane.BACKGROUND.value}", lane=Lane.BACKGROUND))

    assert ended["low"].ok, ended["low"].job.log.read_text()


def test_the_processor_time_of_children_counts(play, job):
    assert play(job("spin", SPIN))["spin"].usage.cpu >= 0.5


def test_the_processor_time_of_a_child_that_nobody_waits_for_counts(play, job, tmp_path, monkeypatch):
    """As a JVM that pyspark has started."""
    sample, sampled = resources.Sampler.sample, tmp_path / "sampled"

    def noted(self):
        sample(self)
        if self.cpu >= 0.5:
            sampled.touch()

    monkeypatch.setattr(resources, "_SAMPLE_SECONDS", 0.05)
    monkeypatch.setattr(resources.Sampler, "sample", noted)

    assert play(job("spin", UNWAITED, sampled))["spin"].usage.cpu >= 0.5


def test_what_it_leaves_behind_is_ended(play, job):
    leave = (
        "import subprocess, sys\n"
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).pid)"
    )
    ended = play(job("leaves", leave))["leaves"]

    assert ended.ok
    left = int(ended.job.log.read_text())
    wait_for(f"the end of process {left}", lambda: processes.start_time(left) is None)


#: Starts a server in a session of its own, which starts a worker in one of its own; all of them sleep.
WORKER = "import time; time.sleep(600)"
SERVING = f"""
import pathlib, subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", {WORKER!r}], start_new_session=True)
pathlib.Path(sys.argv[1]).write_text(f"{{worker.pid}}\\n")
worker.wait()
"""
STARTING = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {SERVING!r}, sys.argv[1]], start_new_session=True).wait()
"""
#: The same, and the server is killed: nobody is left who knows of its worker.
ORPHANING = f"""
import pathlib, subprocess, sys, time
server = subprocess.Popen([sys.executable, "-c", {SERVING!r}, sys.argv[1] + ".new"], start_new_session=True)
started = pathlib.Path(sys.argv[1] + ".new")
while not (started.exists() and started.read_text().endswith("\\n")):
    time.sleep(0.01)
server.kill()
server.wait()
started.rename(sys.argv[1])
time.sleep(600)
"""


@pytest.mark.parametrize("program", [STARTING, ORPHANING], ids=["served", "orphaned"])
def test_what_the_servers_of_a_stopped_job_have_started_is_ended(program, job, tmp_path, monkeypatch):
    """As containers of YARN, below servers that the job would have stopped at its end, or that have died before."""
    note = tmp_path / "worker"

    def poll(_):
        time.sleep(0.01)
        if note.exists() and note.read_text().endswith("\n"):
            raise KeyboardInterrupt

    monkeypatch.setattr(job_runner, "_sleep", poll)
    with pytest.raises(KeyboardInterrupt):
        Runner(1, lambda _: None, lambda _: None).run([job("starts", program, note)])

    worker = int(note.read_text())
    wait_for(f"the end of process {worker}", lambda: processes.start_time(worker) is None)


def test_an_interrupted_run_says_what_it_stopped(job, monkeypatch):
    """Ctrl-C arrives while one job runs and another waits for its slot."""
    ended = []
    polls = iter([None, None])

    def poll(_):
        try:
            next(polls)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(job_runner, "_sleep", poll)
    first, second = job("first", HOLD, expected=1), job("second", HOLD)
    with pytest.raises(KeyboardInterrupt):
        Runner(1, lambda _: None, ended.append).run([first, second])

    assert [(each.job.name, each.ok, each.reason) for each in ended] == [("first", False, "interrupted")]


def test_memory_of_grandchildren_counts(tmp_path):
    launch = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"
    log = tmp_path / "log"
    process = processes.spawn([sys.executable, "-c", launch], log=log, cwd=tmp_path)
    try:
        wait_for("the memory to be allocated", lambda: "held" in log.read_text())
        sampler = Sampler(process.pid)
        sampler.sample()
        assert sampler.peak > 300_000_000
    finally:
        processes.stop(process)


def test_a_process_that_is_gone_takes_nothing():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    sampler = Sampler(process.pid)
    sampler.sample()

    assert (sampler.peak, sampler.cpu) == (0, 0)
