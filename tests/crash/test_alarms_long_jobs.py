"""A cleanup of many units works through its waves while check looks; each of the three looks meets another wave."""
from __future__ import annotations
import pytest
from tests.crash import writers
from tests.crash.checked import findings
from tests.crash.fault_injection import Fault
from tests.crash.paused_process import PausedProcess
from tests.crash.flat_table import compact
from tests.crash.scenario import EVENTS, build, run
from tests.crash.test_alarms_interleaved import bad

def records():
    """Stops before each record of the journal, once at each."""
    seen = set()
    def stop(point):
        new = point.op == "create" and "/journal/" in point.args[0] and point.number not in seen
        seen.update({point.number} if new else ())
        return new
    return [stop] * 60

@pytest.mark.parametrize("verb", ["cleanup", "rollback", "compact"])
def test_long_job(verb):
    sim = build()
    for v in range(20):
        p = writers.add_partition(sim, EVENTS, f"x{v:02d}")
        for _ in range(4): writers.append(sim, p, sim.ledger.fresh(3))
    assert compact(sim.client(), EVENTS, "r0")["exit_code"] == 0
    if verb == "compact":
        for unit in sim.units(EVENTS):
            for _ in range(4): writers.append(sim, unit.location, sim.ledger.fresh(3))
    words = {"cleanup": ("--older-than", "0s", "--skip-trash"), "rollback": (), "compact": ("--run-id", "r9")}[verb]
    job = PausedProcess(sim, lambda c: run(c, verb, "--table", EVENTS, *words, "--parallelism", "1"),
                        records(), frozen=False)
    for _ in range(4): job.go_on()     # in the middle of its work
    looks = [0]
    def new_look(p):
        seen = sum(q.op == "table" for q in c.trace)
        if p.op == "identity" and "/__old_" in p.args[0] and seen > looks[0]:
            looks[0] = seen; return True
        return False
    def wave():
        for _ in range(2):
            if not job.ended: job.go_on()
    c = sim.client(*[Fault.hook((lambda p: new_look(p)), wave) for _ in range(3)])
    r = run(c, "check", "--table", EVENTS)
    at_work = not job.ended
    job.kill()
    print("AT WORK", at_work, r["exit_code"], r["tables"][0]["warnings"])
    assert not bad(r), (at_work, [b[:2] for b in bad(r)])
