from __future__ import annotations
import pytest
from tests.crash import writers
from tests.crash.fault_injection import Fault
from tests.crash.flat_table import LIVE, compact
from tests.crash.scenario import FLAT, build, run
from tests.crash.test_alarms_interleaved import bad

def test_a_writer_overwrites_while_rows_are_read():
    sim0 = build(); assert compact(sim0.client())["exit_code"] == 0
    c = sim0.copy().client(); run(c, "check", "--table", FLAT, "--read-data"); n = c.points
    wrong = []
    for k in range(1, n + 1):
        sim = sim0.copy()
        c = sim.client(Fault.hook(k, lambda: writers.overwrite_by_recreation(sim, LIVE, sim.ledger.fresh(3))))
        r = run(c, "check", "--table", FLAT, "--read-data")
        if bad(r): wrong.append((str(c.trace[k - 1]), bad(r)))
    assert not wrong, wrong
