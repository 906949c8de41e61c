"""Interleavings of check with one whole act, at every call of the check."""
from __future__ import annotations
import pytest
from tests.crash import writers
from tests.crash.checked import findings
from tests.crash.explorer import acts, after, compact as cact, cleanup, rollback
from tests.crash.fault_injection import Fault
from tests.crash.paused_process import PausedProcess
from tests.crash.flat_table import LIVE, append, clean_up, compact, roll_back
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.test_check_sound import BOTH

def bad(report):
    return [(f["code"], f["path"], f["message"][:150]) for f in findings(report) if f["severity"] == "damage"]

def look(client, *w):
    return run(client, "check", "--tables", BOTH, *w)

@pytest.mark.parametrize(("act", "before"), acts(BOTH), ids=str)
def test_whole_act_at_any_call_of_check(act, before):
    sim0 = after(build(), before)
    n = (lambda c: (look(c), c.points)[1])(sim0.copy().client())
    wrong = []
    for k in range(1, n + 1):
        sim = sim0.copy()
        c = sim.client(Fault.hook(k, lambda: act(sim.client())))
        r = look(c)
        if bad(r) or r["error"] or any(t["reason"] for t in r["tables"]):
            wrong.append((str(c.trace[k - 1]), bad(r), [t["reason"] for t in r["tables"]]))
    assert not wrong, (len(wrong), n, wrong[:4])


@pytest.mark.parametrize("verb", ["cleanup", "rollback", "compact"])
def test_long_job_advances_while_check_looks(verb):
    """At each originals/live look of the check, the long job does its next rename/delete."""
    sim = build()
    for v in range(12):
        p = writers.add_partition(sim, EVENTS, f"x{v:02d}")
        for _ in range(4):
            writers.append(sim, p, sim.ledger.fresh(3))
    if verb != "compact":
        assert compact(sim.client(), EVENTS)["exit_code"] == 0
    work = {"cleanup": lambda c: run(c, "cleanup", "--table", EVENTS, "--older-than", "0s", "--skip-trash", "--parallelism", "1"),
            "rollback": lambda c: run(c, "rollback", "--table", EVENTS, "--parallelism", "1"),
            "compact": lambda c: run(c, "compact", "--table", EVENTS, "--run-id", "r9", "--parallelism", "1")}[verb]
    stops = [(lambda p, : p.op in ("rename", "delete_tree", "move") ) for _ in range(200)]
    job = PausedProcess(sim, work, stops, frozen=False)
    job.go_on()
    def step():
        if not job.ended:
            job.go_on()
    hooks = []
    # one step of the job before each 'identity' call of the check
    hooks = [Fault.hook(lambda p: p.op == "identity", step) for _ in range(200)]
    class Each:  # one hook per point only
        pass
    seen = set()
    def once(p, used=seen):
        if p.op == "identity" and p.number not in used and p.number % 6 == 0:
            used.add(p.number); return True
        return False
    c = sim.client(*[Fault.hook(once, step) for _ in range(60)])
    r = run(c, "check", "--table", EVENTS)
    ended = job.ended
    job.kill() if not job.ended else None
    assert not bad(r), (ended, r["exit_code"], bad(r), [t["warnings"] for t in r["tables"]])
