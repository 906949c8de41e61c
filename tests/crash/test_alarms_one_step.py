"""A job at work does one step (a rename, a deletion) while check looks; it holds its lease before and after.

check re-looks only if journals, leases or partitions changed (`marks`): one step between two records changes none.
"""
from __future__ import annotations
import collections
import pytest
from tests.crash.checked import findings
from tests.crash.explorer import acts, after, compact as cact, points
from tests.crash.fault_injection import Fault
from tests.crash.paused_process import PausedProcess
from tests.crash.flat_table import LIVE, append
from tests.crash.scenario import FLAT, build, run
from tests.crash.test_alarms_interleaved import fold2_base, bad

STEPS = ("rename", "delete_tree", "delete_file", "raw_rename", "trash", "replace", "drop_backup", "create_backup")

def again(sim):
    for _ in range(6): append(sim)()
    return sim

CASES = {f"{a.verb}{i}": (a, lambda b=b: after(build(), b)) for i, (a, b) in enumerate(acts(FLAT))}
CASES["compact-again"] = (cact(FLAT, "r2"), lambda: again(after(build(), [cact(FLAT)])))
CASES["fold"] = (cact(FLAT, "r3"), fold2_base)

@pytest.mark.parametrize("name", CASES)
def test_one_step_of_a_job(name):
    act, make = CASES[name]
    base = make()
    c = base.copy().client(); act(c); steps = [p for p in c.trace if p.op in STEPS]
    c = base.copy().client(); run(c, "check", "--table", FLAT); kmax = c.points + 12
    wrong = collections.Counter(); example = {}; tried = 0
    for s in steps:
        for k in range(1, kmax):
            tried += 1
            sim = base.copy()
            job = PausedProcess(sim, act, [lambda p: p.number == s.number, lambda p: p.number > s.number and p.op not in ("units", "table")], frozen=False)
            job.go_on()
            if job.ended: continue
            c = sim.client(Fault.hook(k, lambda: None if job.ended else job.go_on()))
            r = run(c, "check", "--table", FLAT)
            at_work = not job.ended
            job.kill()
            for f in bad(r):
                wrong[f[0]] += 1
                example.setdefault(f[0], (str(s), "before the check's", str(c.trace[min(k, c.points) - 1]), at_work, f, r["tables"][0]["warnings"]))
    print(name, "tried", tried, dict(wrong))
    assert not wrong, "\n".join(map(str, example.values()))


def expire_base():
    """r1 to r3 are settled; the next job folds r3 and deletes the snapshots of the earlier ones."""
    from tests.crash.flat_table import clean_up, compact
    from tests.crash.test_alarms_interleaved import fold_base
    from tests.crash.test_check_sound import BOTH
    sim = fold_base()
    for run_id, tables in (("r2", BOTH), ("r3", FLAT)):
        assert compact(sim.client(), tables, run_id)["exit_code"] == 0
        clean_up(sim); sim.advance(2 * 86400); again(sim)
    return sim


def test_snapshots_expire_while_check_looks(monkeypatch):
    monkeypatch.setitem(CASES, "expire", (cact(FLAT, "r4"), expire_base))
    monkeypatch.setattr("tests.crash.test_alarms_one_step.STEPS", ("delete_file",))
    test_one_step_of_a_job("expire")
