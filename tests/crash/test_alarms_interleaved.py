"""A job stands at j, check begins, at the check's call k the job goes on to j+m and keeps its lease."""
from __future__ import annotations
import os, random, collections
import pytest
from tests.crash import writers
from tests.crash.checked import findings
from tests.crash.explorer import acts, after, points, compact as cact
from tests.crash.fault_injection import Fault
from tests.crash.paused_process import PausedProcess
from tests.crash.flat_table import LIVE, append, clean_up, compact
from tests.crash.scenario import EVENTS, FLAT, WAREHOUSE, build, run
from tests.crash.test_check_sound import _cleaned, BOTH

SEED = int(os.environ.get("ALARM_SEED", "1")); N = int(os.environ.get("ALARM_N", "500"))

def bad(report):
    return [(f["code"], f["path"], f["message"][:230]) for f in findings(report) if f["severity"] == "damage"]

def fold_base():
    sim = build()
    _cleaned(sim)
    sim.advance(2 * 24 * 3600)
    for place in (LIVE, f"{WAREHOUSE}/events/k=a"):
        for _ in range(6):
            append(sim, place)()
    return sim

def fold2_base():
    """snapshots that are in the record already and get old: the next job deletes them"""
    sim = fold_base()
    assert compact(sim.client(), BOTH, "r2")["exit_code"] == 0
    sim.advance(2 * 24 * 3600)
    for place in (LIVE, f"{WAREHOUSE}/events/k=a"):
        for _ in range(6):
            append(sim, place)()
    return sim

CASES = {f"{a.verb}{i}": (a, b) for i, (a, b) in enumerate(acts(BOTH))}
CASES["fold"] = (cact(BOTH, "r2"), fold_base)
CASES["fold2"] = (cact(BOTH, "r3"), fold2_base)

@pytest.mark.parametrize("name", CASES)
def test_interleaved(name):
    act, before = CASES[name]
    base = before() if callable(before) else after(build(), before)
    n = points(base, act)
    rnd = random.Random(SEED); cc = base.copy().client(); run(cc, "check", "--tables", BOTH); kmax = cc.points + 1
    wrong = collections.Counter(); example = {}
    for _ in range(N):
        j = rnd.randrange(1, n + 1); m = rnd.choice([1, 2, 3, 5, 8, 13, 21, 34]); k = rnd.randrange(1, kmax)
        sim = base.copy()
        job = PausedProcess(sim, lambda c: act(c), [lambda p: p.number >= j and p.op not in ("units", "table"), lambda p: p.number >= j + m and p.op not in ("units", "table")], frozen=False)
        job.go_on()
        def step():
            if not job.ended:
                job.go_on()
        c = sim.client(Fault.hook(k, step))
        r = run(c, "check", "--tables", BOTH)
        stood = str(job.client.trace[-1]); ended = job.ended
        job.kill()
        for f in bad(r):
            wrong[f[0]] += 1
            example.setdefault(f[0], (j, m, k, stood, ended, f, str(c.trace[k-1]) if k <= c.points else ""))
    print(name, n, dict(wrong))
    assert not wrong, example
