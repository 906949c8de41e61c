"""The codes of refusals, with their causes and remedies. A refused table or unit is left alone.

The codes are stable, as reports and alert rules name them. docs/codes.md is generated from this table.
"""

from __future__ import annotations

from enum import Enum, unique

_NONE = "None: the table stays as it is."


class Explained(Enum):
    """A code. Its value is the pair (cause, remedy), both in Markdown: the documentation is generated from it."""

    @property
    def cause(self) -> str:
        return str(self.value[0])

    @property
    def remedy(self) -> str:
        return str(self.value[1])


@unique
class RefusalCode(Explained):
    # The table, as described in the metastore.
    NOT_FOUND = (
        "The metastore has no such table.",
        "Check the name, and that the driver's `hive-site.xml` names the right metastore. For a table that was dropped:"
        " `lakekeeper cleanup --location` deletes the originals that it has left; created again at its location, it can"
        " be rolled back.",
    )
    MANAGED = (
        "The table is managed by Hive.",
        "Make it external if nothing relies on Hive deleting its files.",
    )
    TRANSACTIONAL = ("The table is transactional (ACID).", "None: Hive compacts such tables itself.")
    VIEW = (
        "It is a view, which has no files; or a materialized view, which Hive rebuilds itself.",
        "Name the tables that it reads.",
    )
    STORAGE_HANDLER = (
        "The table is read through a storage handler (HBase, Kudu, JDBC).",
        _NONE + " Its data is not in files.",
    )
    ICEBERG = (
        "Apache Iceberg keeps the list of the table's files.",
        "Add `iceberg` to `native_formats`, or use Iceberg's `rewrite_data_files`.",
    )
    DELTA = ("Delta Lake keeps the list of the table's files.", "Use Delta's `OPTIMIZE`.")
    HUDI = ("Apache Hudi keeps the list of the table's files.", "Use Hudi's clustering or compaction.")
    PAIMON = (
        "Apache Paimon keeps the list of the table's files.",
        "Add `paimon` to `native_formats`, or use Paimon's `compact` procedure.",
    )
    NO_CATALOG = (
        "The table is of a format of `native_formats`, and Spark's session lacks the jar, the extension or the catalog"
        " of that format, or its catalogs have another table of this name.",
        "Add the settings that the reason names to `spark_submit.extra_conf`, or take the format out of"
        " `native_formats`.",
    )
    FORMAT_FEATURE = (
        "The table of another format uses a feature with which the format's own procedure would do more than to write"
        " the same rows into fewer files; the reason names it.",
        "Compact it by the format's own means.",
    )
    NEWER_COMMITS = (
        "A rollback of a table of another format would take rows away that were committed since; or what was committed"
        " since is not known, because commits were expired.",
        "Leave it: the rows are right as they are, and the files stay compacted.",
    )
    NO_ROLLBACK = (
        "The format has no rollback that is safe for this table.",
        "Leave it: the rows are right as they are, and the files stay compacted.",
    )
    SHORT_RETENTION = (
        "`native_expiry` would expire commits that the table itself asks to keep for longer than `older_than`.",
        "Raise `older_than` to the retention that the reason names.",
    )
    BUCKETED = (
        "The table is bucketed: the name or the place of a file determines its bucket. Of a table that Hive has"
        " bucketed, only directories are refused whose files may be buckets, or would become as many files as there are"
        " buckets.",
        "Set `lakekeeper.bucketing=ignore` on the table if nothing relies on its buckets (only for tables that"
        " Hive bucketed).",
    )
    SKEWED = (
        "The table is skewed: list bucketing uses additional directories.",
        _NONE + " Drop `SKEWED BY` if nothing uses it.",
    )
    SERDE = (
        "The format is not Parquet, ORC, Avro, text or sequence file; or the format of a partition differs from that of"
        " its table; or the magic bytes of files of a text table are those of a compressed or binary format; or only"
        " Spark can read the table.",
        _NONE,
    )
    OPTED_OUT = (
        "The table has the property `lakekeeper.enabled=false`.",
        "Unset it to have the table compacted.",
    )
    BACKUP = ("The table, or the directory, is a backup that a compaction made.", "Name the original table.")
    LEGACY_BACKUP = (
        "The table reads `__old_<n>` directories, or has the name of a backup table of Lakekeeper 0.0.6.",
        "By hand: [what Lakekeeper 0.0.6 has left](guides/troubleshooting.md#what-lakekeeper-006-has-left). If it is"
        " another table, set `backup_prefix`.",
    )
    USAGE = (
        "A table property `lakekeeper.*` selects units in another way than the job does, or an option does not fit this"
        " table of a database.",
        "The reason names the option.",
    )
    # The location.
    OBJECT_STORE = (
        "The location is on S3 or a similar store, where renaming a directory is not atomic; or on a local disk while"
        " the default file system is HDFS; or below no mount of its viewfs.",
        _NONE,
    )
    FILE_SYSTEM = (
        "The job cannot use the file system of the table, or of one of its partitions: Hadoop's client does not know"
        " the server (a name service of another or a former cluster) or has no class for its scheme; or the metastore"
        " has no location, or that of a file system's root.",
        "Add the settings of the name service to the driver's `hdfs-site.xml`. If the cluster is gone: `ALTER TABLE ..."
        " SET LOCATION`, or drop the partition.",
    )
    LOCATION_OVERLAP = (
        "Two partitions have the same directory, or the directory of one is inside that of the other.",
        "Give each partition its own location.",
    )
    VARIABLE = (
        "The path of the directory, the name of a file in it, or in Parquet and ORC the name of a column, has `${`:"
        " Hadoop takes that for a variable, and would read and write another one, with the value of a setting in it.",
        "Rename it. Files keep the names of their columns: write them again with other names.",
    )
    ENCRYPTION_ZONE_ROOT = (
        "The directory is the root of an encryption zone, or its parent is in another zone.",
        "Make the parent the root of the zone.",
    )
    SNAPSHOTTABLE = (
        "The directory itself is snapshottable (`hdfs lsSnapshottableDir`): HDFS refuses to rename it while it"
        " has snapshots.",
        "Allow snapshots on the table's root instead: `hdfs dfsadmin -disallowSnapshot`, then `-allowSnapshot`.",
    )
    QUOTA = (
        "The directory itself has a quota; or the quota of the table's root, or of a directory in `quota_folders`, is"
        " too small for the new files in addition to the originals. The reason says how many names or bytes are"
        " missing.",
        "Raise the quota (`hdfs dfsadmin -setQuota`, `-setSpaceQuota`), or clean up older originals (a cleanup needs a"
        " few names, too, before it frees any).",
    )
    OTHER_VERSION = (
        "Another version of Lakekeeper has written the home of the table (`.lakekeeper`), or a record in it: a newer"
        " one, or one before 0.2. Nothing there is changed or deleted.",
        "Use that version; or roll back or clean up with it, and remove the home then. A file `format-...` of this"
        " version that a person has deleted, create again, empty. Of two, delete the one whose version has left nothing"
        " but it.",
    )
    NOT_WRITABLE = (
        "The account may not create directories below the table's root (without partitions: beside it), or cannot"
        " remove the permissions of other accounts on such a directory; or a file has the name of the directory for the"
        " journals (`.lakekeeper`).",
        "Grant write permission on that directory; check the principal in the log. Move the file away.",
    )
    NOT_READABLE = (
        "The account may not list the directory, or one above it, or may not read a file in it.",
        "Grant read permission; check the principal in the log. It is tried again by each job.",
    )
    SYMLINK = (
        "The directory is a symbolic link of a local disk: a swap would rename the link.",
        "Set the location of the table or partition to the directory itself.",
    )
    NAME_TOO_LONG = (
        "The name or the path of the directory is so long that the directory for its originals, which has a longer one,"
        " would exceed the limit of the file system.",
        "Move the data to a directory with a shorter name or path, and set the location of the table or partition.",
    )
    NUMBER_TOO_HIGH = (
        "A file or directory of the jobs has a number in its name that no job reaches, so that there is no next one."
        " The reason names the directory and the number.",
        "Find out who has put it there, and move it away.",
    )
    UNTRUSTED_OWNER = (
        "A journal was written by an account that is neither the job's nor the owner of the table's root, or it is in"
        " a directory to which other accounts may write; or a partition outside the root belongs to such an"
        " account.",
        "Add the account to `trusted_owners` (YAML or `--trusted-owners`) if it is one of yours; otherwise check what"
        " it wrote. If the job's account was changed, it may also need to own the run's directory: the message of the"
        " next job then names the `hdfs dfs -chown`.",
    )
    LOCATION_IN_USE = (
        "A table of the metastore finds the runs at the location that `cleanup --location` was given by its own name,"
        " or reads a directory in their home.",
        "Clean that table up by its name; `--location` is for tables that were dropped. Or move the files that it reads"
        " out of the home.",
    )
    # Other writers.
    ACTIVE_WRITER = (
        "A writer is active: its staging directory exists, a file is open, or a hidden or temporary file (`.tmp`,"
        " `.inprogress`, ...) is younger than `staging_ttl` and may still be committed (Flink, NiFi, Flume).",
        "Nothing was swapped; the next run takes the unit. The reason says when the staging directory was changed last:"
        " delete that of a job that does not run any more. No job does, at any age, because a query that is only slow"
        " would lose its rows.",
    )
    SUBDIRECTORIES = (
        "The directory has a subdirectory, such as `HIVE_UNION_SUBDIR_1`.",
        "Move its files up, or remove it; a hidden directory only if no query writes in it. If it is `.lakekeeper`,"
        " which a dropped table with partitions has left: `lakekeeper cleanup --location`.",
    )
    LEGACY_LEFTOVER = (
        "Lakekeeper 0.0.6 left a directory `__old_<n>` or `__compact_tmp_<n>` beside the unit, or in it.",
        "By hand: [what Lakekeeper 0.0.6 has left](guides/troubleshooting.md#what-lakekeeper-006-has-left).",
    )
    PARQUET_SUMMARY = (
        "`_metadata` or `_common_metadata` in the partition, or in a directory above it up to the table's root,"
        " lists files that would be gone.",
        "Delete it; readers then read the footers themselves.",
    )
    OFFSETS_IN_NAMES = (
        "The files are from Kafka Connect's HDFS sink, which reads from their names at which offset to continue.",
        "Set `lakekeeper.kafka_connect=retired` on the table when the connector is retired.",
    )
    STREAMING_SINK = (
        "The table's root has a directory `_spark_metadata`: Spark's streaming sink lists its files there, and Spark"
        " reads only the files in that list.",
        "Delete the directory when the stream is retired and no Spark job reads the path.",
    )
    # The files.
    EMPTY = ("There are only empty files.", _NONE)
    UNREADABLE = (
        "The content of a file cannot be read: it is damaged or cut off, or the file is of another format, or has an"
        " encoding that this Spark does not know. The reason names the file. What the cluster fails with (a missing"
        " block, a connection, a permission) is no such refusal.",
        "Write the file again, or move it out of the directory; or give it a name that begins with `_` or `.`, so that"
        " no reader takes it for data. What only reading finds, a compaction finds once: until the files of the unit"
        " change, no analysis flags it again (only if they have not changed for `staging_ttl`). `full_scan` asks"
        " again.",
    )
    VALUES_TOO_LARGE = (
        "The values of a column in one batch of rows (4,096 by default) exceed 2 GB, which Spark's vectorized readers"
        " cannot hold. The reason names the file.",
        "Reduce `spark.sql.parquet.columnarReaderBatchSize` or `spark.sql.orc.columnarReaderBatchSize`"
        " (`spark_submit: extra_conf`). Each compaction tries it again, as these settings may have changed.",
    )
    WRONG_STATISTICS = (
        "The footers of the files tell other figures of a column (minimum, maximum, sum, number of values) than the"
        " values have that are read: a value was damaged in a page without a checksum; or the writer has written wrong"
        " statistics, so that readers that skip data by them may miss rows already; or this Spark reads the values"
        " otherwise than they were written. The reason names the column.",
        "Compare the column with its source, or as another engine reads it, and write damaged files again. If the"
        " values are right: `lakekeeper.verify=hash` on the table compacts by them, and the new files have their"
        " statistics. It is kept like `UNREADABLE`.",
    )
    SCHEMA_CONFLICT = (
        "Two files have different types for one column, and neither is the other one widened; or the files have more"
        " than ten combinations of types. The reason names two types.",
        "Rewrite one of the files.",
    )
    POSITIONAL = (
        "The table matches columns by position, and its files differ in schema; or ORC files have more than ten orders"
        " of columns, and some engines match these by position.",
        "Give all files one schema, or match columns by name. If all readers of an ORC table match columns by name, set"
        " `lakekeeper.readers=by-name` on it.",
    )
    TYPE = (
        "Neither Spark nor a copy record by record can write a column without a change of its physical type; the reason"
        " names the column.",
        _NONE,
    )
    CODEC = (
        "The table declares a compression codec that Spark cannot write, or its files have one that Spark lacks, or"
        " need another class that the job has no jar of; the reason names the property, or the file and the class.",
        "Correct the property (`parquet.compression`, `orc.compress`), or add the jar to the job (`spark.jars` in"
        " `spark_submit: extra_conf`).",
    )
    CALENDAR = (
        "The files have dates before 1582 or timestamps before 1900, and two calendars or an unknown one.",
        _NONE,
    )
    TIMEZONE = (
        "The files have ORC timestamps and several schemas, and Java runs, or the writer ran, in a time zone with clock"
        " changes.",
        "Where the writer ran in UTC, set `-Duser.timezone=UTC` in `spark.driver.extraJavaOptions` and"
        " `spark.executor.extraJavaOptions`.",
    )
    UNKNOWN_INT96_WRITER = (
        "INT96 timestamps that Spark did not write may have nanoseconds or local times.",
        _NONE,
    )
    ENCRYPTED = ("Columns are encrypted: a rewrite would store them in plain text or masked.", _NONE)
    NAN = (
        "With `verify=hash`: the files have NaNs with other bits than Java's own (R marks missing values so), which the"
        " writers of Parquet and ORC replace.",
        "None: the unit stays as it is. With `verify=count` each NaN becomes Java's.",
    )
    HEADER = ("The text files have header or footer lines, which would become rows.", _NONE)
    ENCODING = (
        "The text files have lines that do not end at line feeds, an encoding that is not ASCII-compatible, or a byte"
        " order mark at the beginning.",
        _NONE,
    )
    NOT_TEXT = (
        "A file of a text table is not shown to be plain text: its extension is that of a codec or a cipher that this"
        " Spark lacks, or its bytes are not those of text. The reason names the file.",
        "Where a codec wrote it: add the codec's class to `io.compression.codecs`, and its jar to the job (`spark.jars`"
        " in `spark_submit: extra_conf`). Where it is text in another encoding than UTF-8: declare the encoding on the"
        " table (`ALTER TABLE ... SET SERDEPROPERTIES ('serialization.encoding'='...')`).",
    )
    FILE_FILTER = (
        "The table has a property or an option by which its readers leave out files by their names or times"
        " (`pathGlobFilter`, `modifiedBefore`, `modifiedAfter`, `ignoreExtension=false` of Spark, `pathFilter.class` of"
        " Hadoop), or the Hadoop configuration of the job has one for all tables: they would leave out the rewritten"
        " files, or show rows that they have left out so far.",
        "Move the files that the readers leave out to another directory, and remove the property or option. A setting"
        " of the job that its readers do not have: set it to nothing (`spark_submit: extra_conf`).",
    )
    LENIENT = (
        "The table has sequence files, and `spark.files.ignoreCorruptFiles` or `ignoreMissingFiles` is true: a unit"
        " with a file that cannot be read would be compared, and would fail each night.",
        "Set it to false for these jobs (`spark_submit: extra_conf`).",
    )
    ATTRIBUTES = (
        "The account may not set a group, mode, ACL, extended attribute or policy on a new directory or file; or the"
        " files differ in it; or the files have several owners, and only those may read them.",
        "Grant the permission, or set `attributes: warn` to compact without the attribute.",
    )

    # A rollback.
    ORIGINALS_DELETED = (
        "The originals of the unit do not exist any more: a cleanup, or a person, deleted them. A rollback leaves the"
        " unit compacted, restores the other units of the run, and ends as `partial`.",
        "None in Lakekeeper: restore the directory from a snapshot or a backup if its old files are needed.",
    )
