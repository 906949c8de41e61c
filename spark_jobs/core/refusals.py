"""Why a table or a unit is left alone: every code, with its cause and its remedy.

The codes are stable: reports hold them, and people's alerts look for them. docs/troubleshooting.md is generated from
this table.
"""

from __future__ import annotations

from enum import Enum, unique

_NONE = "None: the table stays as it is."


@unique
class RefusalCode(Enum):
    """A code; its value is (cause, remedy), both in Markdown."""

    # The table, by what the metastore says of it.
    NOT_FOUND = (
        "The metastore has no such table.",
        "Check the name, and that the driver's `hive-site.xml` leads to the right metastore.",
    )
    MANAGED = (
        "The table is managed by Hive.",
        "Make it external if nothing relies on Hive deleting its files.",
    )
    TRANSACTIONAL = ("The table is transactional (ACID).", "None: Hive compacts such tables itself.")
    VIEW = ("It is a view, which has no files.", "Name the tables that it reads.")
    STORAGE_HANDLER = (
        "The table is read through a storage handler (HBase, Kudu, JDBC).",
        _NONE + " Its data is not in files.",
    )
    ICEBERG = ("Apache Iceberg keeps the list of the table's files.", "Use Iceberg's `rewrite_data_files`.")
    DELTA = ("Delta Lake keeps the list of the table's files.", "Use Delta's `OPTIMIZE`.")
    HUDI = ("Apache Hudi keeps the list of the table's files.", "Use Hudi's clustering or compaction.")
    PAIMON = ("Apache Paimon keeps the list of the table's files.", "Use Paimon's `compact` procedure.")
    BUCKETED = (
        "The table is bucketed: the name of a file says which bucket it is.",
        "Set `lakekeeper.bucketing=ignore` on the table if nothing relies on its buckets (only for tables that"
        " Hive bucketed).",
    )
    SKEWED = (
        "The table is skewed: list bucketing keeps directories of its own.",
        _NONE + " Drop `SKEWED BY` if nothing uses it.",
    )
    SERDE = (
        "The format is not Parquet, ORC, Avro, text or sequence file; or a partition's format differs from its"
        " table's; or files of a text table are compressed or binary by their first bytes; or only Spark can read"
        " the table.",
        _NONE,
    )
    OPTED_OUT = (
        "The table has the property `lakekeeper.enabled=false`.",
        "Unset it to have the table compacted.",
    )
    BACKUP = ("The table, or the directory, is a backup that a compaction made.", "Name the original table.")
    LEGACY_BACKUP = (
        "The table reads `__old_<n>` directories: it is a backup table of Lakekeeper 0.0.6.",
        "Drop it, then its directories, once Lakekeeper 0.0.6's own rollback is not needed any more.",
    )
    USAGE = (
        "A property `lakekeeper.*` of the table cannot be read or is not allowed there, or an option does not fit"
        " this table of a database.",
        "The reason names the option.",
    )
    # The location.
    OBJECT_STORE = (
        "The location is on S3 or the like, where renaming a directory is not atomic; or on a local disk while"
        " the default file system is HDFS; or below no mount of its viewfs.",
        _NONE,
    )
    LOCATION_OVERLAP = (
        "Two partitions share a directory, or one lies inside the other.",
        "Give each partition a location of its own.",
    )
    ENCRYPTION_ZONE_ROOT = (
        "The directory is the root of an encryption zone, or its parent lies in another zone.",
        "Make the parent the root of the zone.",
    )
    SNAPSHOTTABLE = (
        "The directory itself is snapshottable (`hdfs lsSnapshottableDir`): HDFS refuses to rename it while it"
        " has snapshots.",
        "Allow snapshots on the table's root instead: `hdfs dfsadmin -disallowSnapshot`, then `-allowSnapshot`.",
    )
    QUOTA = (
        "The directory has a quota of its own; or the quota of the table's root, or of a directory in"
        " `quota_folders`, leaves too little for the new files beside the originals. The reason says how many"
        " names or bytes are missing.",
        "Raise the quota (`hdfs dfsadmin -setQuota`, `-setSpaceQuota`), or clean up older originals.",
    )
    NOT_WRITABLE = (
        "The account may not create directories below the table's root (without partitions: beside it), or cannot"
        " close one to others.",
        "Grant write permission on that directory; check the principal in the log.",
    )
    UNTRUSTED_OWNER = (
        "A journal was written by an account that is neither the job's nor the owner of the table's root, or lies"
        " in a directory that others may write to; or a partition outside the root belongs to such an account.",
        "Name the account in `trusted_owners` (YAML or `--trusted-owners`) if it is one of yours; otherwise look"
        " at what it wrote.",
    )
    # Other writers.
    ACTIVE_WRITER = (
        "A writer is at work: its staging directory is there, a file is open, or a hidden or temporary file"
        " (`.tmp`, `.inprogress`, ...) is younger than `staging_ttl` and may still be committed (Flink, NiFi,"
        " Flume).",
        "Nothing was swapped; the next run takes the unit. Delete `_temporary` of a job that is dead.",
    )
    SUBDIRECTORIES = (
        "The directory holds a subdirectory, such as `HIVE_UNION_SUBDIR_1`.",
        "Move its files up, or remove it.",
    )
    LEGACY_LEFTOVER = (
        "Lakekeeper 0.0.6 left a sibling named `__old_<n>` or `__compact_tmp_<n>`.",
        "Remove it with Lakekeeper 0.0.6's own rollback or cleanup.",
    )
    PARQUET_SUMMARY = (
        "`_metadata` or `_common_metadata` in the partition, or in a directory above it up to the table's root,"
        " lists files that would be gone.",
        "Delete it; readers then read the footers themselves.",
    )
    OFFSETS_IN_NAMES = (
        "Files of Kafka Connect's HDFS sink, which reads from their names where to continue.",
        "Set `lakekeeper.kafka_connect=retired` on the table once the connector is retired.",
    )
    STREAMING_SINK = (
        "`_spark_metadata` in the table's root: Spark's streaming sink lists its files there, and Spark reads by"
        " that list.",
        "Delete the directory once the stream is retired and nobody reads the path with Spark.",
    )
    # The files.
    EMPTY = ("There are only empty files.", _NONE)
    SCHEMA_CONFLICT = (
        "Two files have different types for one column; both are named.",
        "Rewrite one of the files.",
    )
    POSITIONAL = (
        "The table matches columns by position, and its files differ in schema.",
        "Give all files one schema, or match columns by name.",
    )
    TYPE = (
        "A column can be written neither by Spark nor record by record without a change of its physical type; the"
        " reason names it.",
        _NONE,
    )
    CALENDAR = (
        "Dates before 1582 or timestamps before 1900, in files of two calendars, or of an unknown one.",
        _NONE,
    )
    TIMEZONE = (
        "ORC timestamps in files of several schemas, while Java runs, or the writer ran, in a time zone with"
        " clock changes.",
        "Where the writer ran in UTC, set `-Duser.timezone=UTC` in `spark.driver.extraJavaOptions` and"
        " `spark.executor.extraJavaOptions`.",
    )
    UNKNOWN_INT96_WRITER = (
        "INT96 timestamps that Spark did not write may hold nanoseconds or local time.",
        _NONE,
    )
    ENCRYPTED = ("Columns are encrypted: a rewrite would store them in plain text, or masked.", _NONE)
    HEADER = ("Text files with header or footer lines, which would become rows.", _NONE)
    ENCODING = (
        "Text whose lines do not end at line feeds, that is not ASCII-compatible, or that begins with a byte"
        " order mark.",
        _NONE,
    )
    LENIENT = (
        "Avro or sequence files, and `spark.files.ignoreCorruptFiles` or `ignoreMissingFiles` is true: missing"
        " rows would not be noticed.",
        "Set it to false for these jobs (`spark_submit: extra_conf`).",
    )
    ATTRIBUTES = (
        "A group, mode, ACL, extended attribute or policy that the account may not set on a new directory or"
        " file, or in which the files differ; or files of several owners that only their owners may read.",
        "Grant the right, or set `attributes: warn` to lose the attribute.",
    )

    @property
    def cause(self) -> str:
        return self.value[0]

    @property
    def remedy(self) -> str:
        return self.value[1]
