"""What the machine may draw: jobs with their arguments, and moments in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.crash.fault_injection import Fault, Point
from tests.crash.scenario import run
from tests.crash.simulated_cluster import Client
from tests.crash.workload import Workload

_READING = (
    "list", "status", "identity", "open_files", "read", "trash_enabled", "footers", "table", "tables", "units",
    "properties", "table_exists", "database_exists", "touch",
)  # fmt: skip
_HOME = "/.lakekeeper"


@dataclass(frozen=True)
class Moment:
    """The `number`th effect of a kind: any, one that changes something, or one of the renames that readers notice."""

    kind: str
    number: int

    def predicate(self) -> Callable[[Point], bool]:
        """A fresh one, for it counts."""
        left = self.number

        def meets(point: Point) -> bool:
            nonlocal left
            counts = self._counts(point)
            left -= counts
            return counts and left == 0

        return meets

    def _counts(self, point: Point) -> bool:
        if self.kind == "swap":
            return point.op == "rename" and sum(_HOME in path for path in point.args) == 1
        return self.kind == "any" or point.op not in _READING


@dataclass(frozen=True)
class Trouble:
    """One thing that goes wrong: a crash or an error, before or after a call."""

    kind: str
    moment: Moment

    def fault(self) -> Fault:
        make: Callable[[Callable[[Point], bool]], Fault] = getattr(Fault, self.kind)
        return make(self.moment.predicate())


@dataclass(frozen=True)
class Work:
    """A verb with its options, for one of the tables or all of them (None)."""

    verb: str
    options: tuple[str, ...]
    table: int | None

    def on(self, tables: list[str]) -> Callable[[Client], dict[str, Any]]:
        names = ",".join(tables if self.table is None else [tables[self.table % len(tables)]])
        return lambda client: run(client, self.verb, "--tables", names, *self.options)


def weighted(*choices: tuple[int, SearchStrategy[Any]]) -> SearchStrategy[Any]:
    """`one_of` with weights; given one strategy twice, it would forget the second."""
    indexes = [index for index, (weight, _) in enumerate(choices) for _ in range(weight)]
    return st.sampled_from(indexes).flatmap(lambda index: choices[index][1])


def moments() -> SearchStrategy[Moment]:
    """The renames that readers notice are where most can go wrong."""
    return weighted(
        (5, st.builds(Moment, st.just("swap"), st.sampled_from([1, 2, 1, 2, 3, 4]))),
        (2, st.builds(Moment, st.just("change"), st.integers(1, 100))),
        (1, st.builds(Moment, st.just("any"), st.integers(1, 300))),
    )


def crashes() -> SearchStrategy[Trouble]:
    return st.builds(Trouble, st.sampled_from(["crash_before", "crash_after"]), moments())


def troubles() -> SearchStrategy[Trouble]:
    errors = st.builds(Trouble, st.sampled_from(["error_before", "error_after"]), moments())
    return weighted((1, crashes()), (1, errors))


def _options(*choices: tuple[str, ...]) -> SearchStrategy[tuple[str, ...]]:
    return st.sampled_from([(), *choices])


def _work(verb: str, *parts: SearchStrategy[tuple[str, ...]]) -> SearchStrategy[Work]:
    options = st.tuples(*parts).map(lambda drawn: tuple(word for part in drawn for word in part))
    return st.builds(Work, st.just(verb), options, st.sampled_from([None, 0, 1]))


def compactions() -> SearchStrategy[Work]:
    run_ids = st.sampled_from([("--run-id", "r1"), ("--run-id", "r2")])
    return _work("compact", run_ids, _options(("--on-failure", "undo")), _options(("--parallelism", "1")))


def rollbacks() -> SearchStrategy[Work]:
    return _work("rollback", _options(("--run-id", "r1")), _options(("--on-new-data", "refuse")))


def cleanups() -> SearchStrategy[Work]:
    ages = st.sampled_from([("--older-than", age) for age in ("0s", "10m", "1d")])
    return _work("cleanup", ages, _options(("--keep-last", "1")), _options(("--skip-trash",)))


def works() -> SearchStrategy[Work]:
    """Compactions come first, and so are what a failing example is reduced to."""
    return weighted((3, compactions()), (2, rollbacks()), (1, cleanups()))


NUMBERS = st.integers(0, 3)
#: Interleavings of a process's threads (None: one unit after the other), and what its wall clock is wrong by.
SEEDS = st.sampled_from([None, None, 1, 2])
SKEWS = st.sampled_from([0.0, 0.0, -7200.0, 7200.0])


@dataclass(frozen=True)
class Nap:
    """A job that stands still at these moments."""

    work: Work
    stops: list[Moment]
    trouble: Trouble | None
    frozen: bool
    seed: int | None
    skew: float

    def predicates(self) -> list[Callable[[Point], bool]]:
        return [stop.predicate() for stop in self.stops]

    def faults(self) -> list[Fault]:
        return [self.trouble.fault()] if self.trouble else []


def naps() -> SearchStrategy[Nap]:
    stops = st.lists(moments(), min_size=1, max_size=2)
    return st.builds(
        Nap,
        works(),
        stops,
        weighted((4, st.none()), (1, troubles())),
        st.sampled_from([True, True, False]),
        SEEDS,
        SKEWS,
    )


#: What somebody else does; writers of one kind do none of what the other kind does.
APPENDS = ("append", "open", "stage")
OVERWRITES = ("recreate", "overwrite in place")
PARTITIONS = ("drop", "drop with data", "add", "msck", "msck sync")


@dataclass(frozen=True)
class Other:
    """Something that is done to a table by somebody else than the jobs, at the unit of this number."""

    what: str
    number: int

    def on(self, workload: Workload, kind: str | None) -> None:
        place = workload.place(self.number)
        if place is None:
            return
        acts: dict[str, Callable[[], object]] = {
            "append": lambda: workload.append(place),
            "open": lambda: workload.open(place),
            "stage": lambda: workload.stage(place),
            "recreate": lambda: workload.overwrite(place, recreate=True),
            "overwrite in place": lambda: workload.overwrite(place, recreate=False),
            "drop": lambda: workload.drop(place, delete_data=False),
            "drop with data": lambda: workload.drop(place, delete_data=True),
            "add": lambda: workload.add("abcd"[self.number % 4]),
            "msck": lambda: workload.msck(sync=False),
            "msck sync": lambda: workload.msck(sync=True),
        }
        acts[self._fitting(kind)]()

    def _fitting(self, kind: str | None) -> str:
        if kind == "overwrite" and self.what in APPENDS:
            return OVERWRITES[APPENDS.index(self.what) % 2]
        if kind == "append" and self.what in OVERWRITES:
            return "append"
        return self.what


def others() -> SearchStrategy[Other]:
    """Writers are busier than people who change partitions."""
    whats = [*APPENDS * 3, "append", "append", *OVERWRITES * 2, *PARTITIONS]
    return st.builds(Other, st.sampled_from(whats), NUMBERS)


def meanwhiles() -> SearchStrategy[list[Work | Other]]:
    """Either only writers come by, or other jobs too."""
    return weighted(
        (1, st.lists(others(), min_size=1, max_size=2)),
        (1, st.lists(weighted((1, works()), (1, others())), min_size=1, max_size=4)),
    )
