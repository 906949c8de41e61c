"""What the soak found, as a line for each cycle and a summary at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.plan import Plan

#: A killed job had got to its swaps, unless it left one of these.
NOTHING, ENDED = "nothing", "ended"
EARLY = (NOTHING, "RUN", "ENTERED")


@dataclass
class Cycle:
    """One cycle: what was killed in which state, what the repair took, and what was found afterwards."""

    plan: Plan
    begun: float
    states: list[str] = field(default_factory=list)
    killed: list[float] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    recovered: float = 0.0
    takeover: float | None = None
    seconds: float = 0.0
    rows: int = 0
    lost: int = 0
    duplicated: int = 0
    stuck: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def bad(self) -> bool:
        return bool(self.lost or self.duplicated or self.stuck)

    def line(self) -> str:
        plan = self.plan
        tables = "+".join(name.partition(".")[2] for name in plan.tables)
        kills = "; ".join(
            f"killed at {state} ({aim})" for aim, state in zip(plan.kills, self.states, strict=False)
        )
        takeover = f", takeover {self.takeover:.1f} s" if self.takeover is not None else ""
        return (
            f"cycle {plan.number}: {plan.verb} of {tables}{', appending' if plan.appending else ''}: {kills};"
            f" {plan.repair}: exit {'/'.join(map(str, self.codes))} in {self.seconds:.1f} s{takeover};"
            f" {self.rows:,} rows, lost {self.lost}, duplicated {self.duplicated}, stuck {self.stuck}"
            + "".join(f"\n    {problem}" for problem in self.problems)
        )


@dataclass(frozen=True)
class Observed:
    """What the readers and the watcher wrote down: (when, what) of each read, (begun, ended) of each gap."""

    reads: Sequence[tuple[float, str]]
    gaps: Sequence[tuple[float, float]]

    @classmethod
    def load(cls, folder: Path) -> Observed:
        reads = [line.split(" ", 2) for line in _lines(folder / "reads")]
        gaps = [line.split() for line in _lines(folder / "gaps")]
        return cls(
            [(float(when), what) for when, _, what in reads],
            [(float(begun), float(ended)) for _, begun, ended in gaps],
        )


def _lines(path: Path) -> list[str]:
    """Whole lines: the process that wrote them was ended in the middle of its work."""
    return path.read_text().split("\n")[:-1] if path.exists() else []


def summary(cycles: Sequence[Cycle], observed: Observed, litter: Counter[str], seed: str) -> str:
    states = [state for cycle in cycles for state in cycle.states]
    late = [state for state in states if state not in EARLY and state != ENDED]
    rows = [
        ("seed", seed),
        ("cycles", f"{len(cycles)}, with {len(states)} kills"),
        ("lost", str(sum(cycle.lost for cycle in cycles))),
        ("duplicated", str(sum(cycle.duplicated for cycle in cycles))),
        ("stuck", str(sum(cycle.stuck for cycle in cycles))),
        ("tried again", str(sum(max(len(cycle.codes) - 1, 0) for cycle in cycles))),
        *_reads(cycles, observed),
        *_gaps(cycles, observed),
        ("takeover", _seconds([cycle.takeover for cycle in cycles if cycle.takeover is not None])),
        ("repair in all", _seconds([cycle.seconds for cycle in cycles])),
        ("left behind", ", ".join(f"{count} {what}" for what, count in sorted(litter.items())) or "nothing"),
        ("after PREPARED", f"{len(late)} of {len(states)} kills, {_share(late, states)}"),
        *((f"  {state}", str(count)) for state, count in Counter(states).most_common()),
    ]
    width = max(len(name) for name, _ in rows) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in rows)


def _share(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{100 * len(part) / max(len(whole), 1):.0f} %"


def _outages(cycles: Iterable[Cycle]) -> list[tuple[float, float]]:
    return [(cycle.killed[0], cycle.recovered) for cycle in cycles if cycle.killed]


def _reads(cycles: Sequence[Cycle], observed: Observed) -> list[tuple[str, str]]:
    outages = _outages(cycles)
    bad = [(when, what) for when, what in observed.reads if what.startswith("short")]
    waiting = [what for when, what in bad if any(start <= when <= end for start, end in outages)]
    kinds = Counter(what.removeprefix("short: ") for _, what in bad)
    total = len(observed.reads)
    others = Counter(what for _, what in observed.reads if not what.startswith(("short", "good")))
    details = ", ".join(f"{what} {count}" for what, count in kinds.most_common())
    between = f"{len(waiting)} of them between a kill and its repair"
    return [
        ("short reads", f"{len(bad):,} of {total:,} ({details or 'none'}; {between})"),
        ("double reads", ", ".join(f"{count} {what}" for what, count in others.items()) or "0"),
    ]


def _gaps(cycles: Sequence[Cycle], observed: Observed) -> list[tuple[str, str]]:
    """A gap that a kill has cut open is as long as its repair takes, and says nothing about the swap itself."""
    kills = [when for cycle in cycles for when in cycle.killed]
    cut = [end - begun for begun, end in observed.gaps if any(begun <= when <= end for when in kills)]
    whole = [end - begun for begun, end in observed.gaps if not any(begun <= when <= end for when in kills)]
    swaps = f"p50 {1000 * quantile(whole, 50):.1f}, p99 {1000 * quantile(whole, 99):.1f}"
    return [
        ("gap in ms", f"{swaps}, longest {1000 * max(whole, default=0):.1f} ({len(whole):,} seen)"),
        ("gap left by a kill", _seconds(cut)),
    ]


def _seconds(values: Sequence[float]) -> str:
    if not values:
        return "none"
    return f"p50 {quantile(values, 50):.1f} s, longest {max(values):.1f} s ({len(values)})"


def quantile(values: Sequence[float], percent: int) -> float:
    """The nearest rank; 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] if ordered else 0.0
