"""The table: every way to lose data that was thought of, and the mutations that remove its guards.

Each hazard is in exactly one place: it has mutations, or its guard is still to come, or it has none of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.mutation.hazards_arrow import ARROW
from tests.mutation.hazards_escapes import ESCAPES, ESCAPES_ON_SPARK
from tests.mutation.hazards_files import FILES
from tests.mutation.hazards_formats import FORMATS
from tests.mutation.hazards_ground import GROUND
from tests.mutation.hazards_jobs import JOBS
from tests.mutation.hazards_joint import JOINT
from tests.mutation.hazards_kept import KEPT
from tests.mutation.hazards_limits import LIMITS
from tests.mutation.hazards_minor import MINOR
from tests.mutation.hazards_native import NATIVE
from tests.mutation.hazards_open import OPEN
from tests.mutation.hazards_options import OPTIONS
from tests.mutation.hazards_pages import OF_PAGES
from tests.mutation.hazards_pins import PINS_ON_SPARK
from tests.mutation.hazards_planning import OF_THE_METASTORE, PLANNING
from tests.mutation.hazards_provider import OF_PROVIDER
from tests.mutation.hazards_provider_texts import TEXTS_OF_PROVIDER
from tests.mutation.hazards_rows import ROWS, ROWS_ON_SPARK
from tests.mutation.hazards_runs import RUNS
from tests.mutation.hazards_seam import SEAM
from tests.mutation.hazards_states import STATES
from tests.mutation.hazards_swap import SWAP
from tests.mutation.hazards_text import TEXT, TEXT_ON_SPARK
from tests.mutation.hazards_unreadable import UNREADABLE, UNREADABLE_ON_SPARK
from tests.mutation.hazards_writers import WRITERS
from tests.mutation.mutation import Mutation

#: Ways to lose, hide or double rows, by the numbers that mutations have.
HAZARDS = {
    "H1": "a backup is found by the prefix of its name",
    "H2": "a path is judged by a text in it, and not by what is there",
    "H3": "a rename onto a directory that exists moves into it",
    "H4": "a writer adds or replaces files between reading and swapping",
    "H5": "a writer has a file open, or creates the directory again",
    "H6": "a rollback after new writes",
    "H7": "the schema is taken from one file",
    "H8": "subdirectories in a unit",
    "H9": "working folders that MSCK or partition discovery would register",
    "H10": "a backup table with properties that let others delete its files",
    "H11": "an encryption zone begins at the table's root",
    "H12": "a backup table without the masks and row filters of its table",
    "H13": "Iceberg, Hudi or Delta tables that look like Parquet",
    "H14": "dates and timestamps of several calendars and time zones",
    "H15": "physical types change",
    "H16": "columns are matched by position",
    "H17": "partitions are named in SQL text",
    "H18": "readers see the moment between the two renames",
    "H19": "two jobs work on one table",
    "H20": "a crash between the renames",
    "H21": "an error of the metastore is taken for an empty answer",
    "H22": "the answer of a rename is lost",
    "H23": "the metastore creates directories",
    "H24": "owner, mode, ACL, attributes and policies are not copied",
    "H25": "snapshots",
    "H26": "quotas",
    "H27": "bucketed and skewed tables",
    "H28": "DDL that SHOW CREATE TABLE does not give back",
    "H29": "files that cannot be read",
    "H30": "permissions that are missing when they are needed",
    "H31": "locations shared, nested, on several mounts or on object stores",
    "H32": "tokens expire, YARN preempts",
    "H33": "locks of Hive that protect nothing",
    "H34": "one table stops the work on all others",
    "H35": "stale caches and statistics",
    "H36": "codec, sorting and row groups are not those of the originals",
    "H37": "a server carries out what it has answered with an error",
    "H38": "a task of the own write ends after the verification",
    "H39": "the clock of a driver is wrong",
    "H40": "a journal is planted",
    "H41": "a retention is shorter than intended",
    "H42": "a writer relies on files that are not data",
    "H43": "a home is copied or moved with its table",
    "H44": "backups of Lakekeeper 0.0.6 in the same place",
    "H45": "records of a run are deleted that are still needed",
    "H46": "a run goes on although its first units have failed",
    "H47": "the large files of a compaction in part are not what they were",
    "H48": "text that a table brings is substituted, expanded or executed",
    "H49": "a record that somebody has planted takes the driver down",
    "H50": "the metastore drops or finds partitions while their directories are away",
    "H51": "rows or bytes that a reader leaves out or changes go unnoticed",
    "H52": "a value, a property or a plan asks for what nobody may ask for",
    "H53": "times of files and runs that other clocks have set",
    "H54": "secrets of a worker or of a connection reach a driver, a log or other accounts",
    "H55": "a task succeeds although its job failed, died or never ran",
    "H56": "a setting of the cluster says how data is read or written",
    "H57": "a unit that could be compacted is left alone for good, because something was wrong once",
    "H58": "records of another version are taken for none, and what they hold for nobody's",
    "H59": "a page tells somebody what he may not see, or runs a program of somebody else",
    "H60": "a table of another format loses rows or commits by a rollback or an expiry",
    "H61": "another engine than Spark's writes other rows, types or metadata",
}
ALL = tuple(HAZARDS)

#: Ordered so that tables read well; those that need Spark come last.
MUTATIONS: tuple[Mutation, ...] = (
    *sorted(
        (
            *SWAP,
            *ARROW,
            *JOBS,
            *JOINT,
            *KEPT,
            *LIMITS,
            *MINOR,
            *NATIVE,
            *OPTIONS,
            *FILES,
            *FORMATS,
            *GROUND,
            *OPEN,
            *PLANNING,
            *WRITERS,
            *ROWS,
            *RUNS,
            *STATES,
            *TEXT,
            *ESCAPES,
            *UNREADABLE,
            *OF_PROVIDER,
            *TEXTS_OF_PROVIDER,
            *OF_PAGES,
        ),
        key=lambda mutation: ALL.index(mutation.hazard),
    ),
    *sorted(
        (
            *SEAM,
            *OF_THE_METASTORE,
            *ROWS_ON_SPARK,
            *TEXT_ON_SPARK,
            *ESCAPES_ON_SPARK,
            *PINS_ON_SPARK,
            *UNREADABLE_ON_SPARK,
        ),
        key=lambda mutation: ALL.index(mutation.hazard),
    ),
)

#: What is still to be built, and why. Such a hazard never counts as killed, even where a part of it has a mutation.
PLANNED = {
    "H12": "masks and row filters: backup_database and register_backup are there, a check of policies is not"
}

#: Nothing to remove: what keeps these harmless are the guards of another hazard.
NO_GUARD = {
    "H33": "Hive's locks protect nothing here, so nothing relies on them; writers that ignore us are H4 and H5"
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
