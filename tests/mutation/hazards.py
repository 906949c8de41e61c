"""The table: every way to lose data that was thought of, and the mutations that remove its guards.

Each hazard is in exactly one place: it has mutations, or its guard is still to come, or it has none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.mutation.hazards_files import FILES
from tests.mutation.hazards_ground import GROUND
from tests.mutation.hazards_jobs import JOBS
from tests.mutation.hazards_open import OPEN
from tests.mutation.hazards_seam import SEAM
from tests.mutation.hazards_swap import SWAP
from tests.mutation.hazards_writers import WRITERS
from tests.mutation.mutation import Mutation

#: H37: a server carries out what it has answered with an error. H38: a task of our own write ends after the
#: verification. H39: the clock of a driver is wrong. H40: somebody plants a journal. H41: a retention is shorter than
#: anybody meant. H42: a writer counts on files that are no data. H43: a home comes with a copy of its table, or moves.
#: H44: Lakekeeper 0.0.6 still has its backups in the same place.
ALL = tuple(f"H{number}" for number in range(1, 45))

#: Ordered so that tables read well; those that need Spark come last.
MUTATIONS: tuple[Mutation, ...] = (
    *sorted(
        (*SWAP, *JOBS, *FILES, *GROUND, *OPEN, *WRITERS), key=lambda mutation: ALL.index(mutation.hazard)
    ),
    *sorted(SEAM, key=lambda mutation: ALL.index(mutation.hazard)),
)

#: What is still to be built, and why. Such a hazard never counts as killed, even where a part of it has a mutation.
PLANNED = {
    "H12": "masks and row filters: backup_database and register_backup are there, a check of policies is not",
}

#: Nothing to remove: what keeps these harmless are the guards of another hazard.
NO_GUARD = {
    "H33": "Hive's locks protect nothing here, so nothing relies on them; writers that ignore us are H4 and H5",
}

#: Hazards with mutations of which a part is still to be built.
PARTLY = {
    "H14": "nanoseconds that only an INT96 can hold are refused by the writer's name alone",
    "H18": "consistent reads are not promised: only the gap is kept short",
    "H24": "ACLs, owners and policies only on a real HDFS",
    "H25": "the space that a cleanup really frees, where a snapshot still holds it, is not reported",
    "H26": "quotas by type of storage are not looked at before a write",
    "H30": "only creating beside the table is tried before the write, not a rename out of a sticky folder",
    "H32": "credentials are not checked before each swap; what an expiry leaves is settled by the next job",
    "H35": "no REFRESH hooks yet; statistics are computed on request only",
}


def hazards(mutations: Iterable[Mutation]) -> list[str]:
    """The hazards that these mutations are about, in order, without those that are still planned."""
    found = {mutation.hazard for mutation in mutations}
    return [hazard for hazard in ALL if hazard in found and hazard not in PLANNED]
