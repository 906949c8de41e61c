"""The codes of warnings, with their causes and remedies. The job goes on after a warning.

The codes are stable, because they are in reports and in alert rules of users. docs/codes.md is generated from
this table.
"""

from __future__ import annotations

from enum import unique

from spark_jobs.core.messages.refusals import Explained


@unique
class WarningCode(Explained):
    """A code. Its value is the pair (cause, remedy), both in Markdown."""

    ATTRIBUTE_NOT_KEPT = (
        "The account may not set an attribute of a new directory or file, often the owner; or the files of a unit"
        " differ in it, and one file replaces them.",
        "Grant the permission. Set `attributes: require` to refuse such units.",
    )
    CODEC_DIFFERS = (
        "The files of a unit have several codecs, or another one than the table declares.",
        "None, if the codec that the warning names is the right one; else declare it on the table.",
    )
    ARROW_NOT_USED = (
        "With `engine: arrow`: Spark has written units that Arrow was to write. The driver or the executors have no"
        " pyarrow, not the same one, or none of the versions that the jobs know; or Arrow has refused the files, or"
        " failed. The rows are the same.",
        "The warning says why for the first of them, and the report for each (`engine_reason`). See `arrow-engine.md`"
        " for what Arrow needs; with `engine: auto` there is no warning.",
    )
    METADATA_NOT_KEPT = (
        "The footers of Parquet or ORC files have keys of their writer, such as `parquet.avro.schema`,"
        " `thrift.descriptor` or `parquet.proto.class`, which neither Spark nor a copy record by record can write. The"
        " rows are the same, but a reader that takes its schema from the key needs it from elsewhere.",
        "If readers need the keys, set `lakekeeper.enabled=false` on the table, and roll back what was compacted.",
    )
    BUCKETS_NOT_TRUE = (
        "A table is declared `CLUSTERED BY`, but its files are no bucket files: a pipeline that knows nothing of"
        " buckets has written them. They are compacted, and sorted by the table's `SORTED BY`. Engines that rely on the"
        " declaration, in bucketed joins, samples or the pruning of buckets, read such a table wrongly or not at all,"
        " before and after.",
        "`ALTER TABLE ... NOT CLUSTERED`, or load the table with Hive.",
    )
    RUN_UNFINISHED = (
        "A run is at work right now, or was interrupted.",
        "None: the next compaction, rollback or cleanup of the table finishes it.",
    )
    RUN_RECOVERED = (
        "An earlier run was interrupted during a swap, and this job has finished the swap or taken it back.",
        "None. The warning says which files are live now.",
    )
    JOURNAL_OF_COPY = (
        "A run's directory came with a copy of the table (distcp, a restored snapshot); its journal is ignored.",
        "Remove the directory when the copy is complete.",
    )
    RECORD_OF_COPY = (
        "A record of settled runs came with a copy of the table; it is ignored.",
        "Remove it when the copy is complete.",
    )
    JOURNAL_MISSING = (
        "A run's directory has no journal, but holds more than files that were never live: originals may be in it.",
        "Look at what it holds, then move it out of the table's home (`manual-restore.md`).",
    )
    FOLDER_ABANDONED = (
        "Tasks of a driver that has died created a run's directory again, without a journal; this job has deleted it.",
        "None.",
    )
    FOLDER_NOT_DELETED = (
        "A directory of ended runs could not be deleted, or holds files that are no records.",
        "If it holds other files, look at them before you remove it. Else none: the next job tries again.",
    )
    RUN_NOT_FOLDED = (
        "The records of ended runs could not be folded into one file.",
        "None: nothing depends on it, and the next job tries again.",
    )
    PARTITION_UNREGISTERED = (
        "The metastore has no partition any more whose directory this run has swapped, or has it at another location: a"
        " repair of the metastore, or partition discovery, dropped it between the two renames, or a person did.",
        "The warning says where its rows are, and has both commands. Unless it was dropped on purpose, add it again:"
        " `ALTER TABLE ADD PARTITION` with its location, or `MSCK REPAIR TABLE` if it is below the table's root. If its"
        " directory was deleted too, `lakekeeper rollback` then restores the originals.",
    )
    PARTITION_NOT_FOUND = (
        "A partition was named that the table does not have: it was dropped meanwhile, was not loaded yet, or its name"
        " is wrong. The others are worked on.",
        "Compare the name with `SHOW PARTITIONS`; values are compared as texts, so that `01` is not `1`.",
    )
    PARTITIONS_NOT_CHECKED = (
        "The metastore did not answer when the job asked whether it still has the partitions of the run.",
        "Compare the partitions with those before, if the metastore was repaired at that time. Of partitions outside"
        " the table's root, the warning has the statement that adds them again.",
    )
    PARTITION_READDED = (
        "The metastore has dropped a partition and added it again since the run began to work on it: partition"
        " discovery (`discover.partitions`, `MSCK REPAIR TABLE ... SYNC PARTITIONS`) drops a partition while its"
        " directory is away between the two renames, and adds it when it is back.",
        "The rows are the same. Set again what discovery does not bring back, and what the partition needs: parameters,"
        " SerDe properties, a format of its own, statistics. The warning names those that are known.",
    )
    BACKUP_TABLE_NOT_UPDATED = (
        "The backup table could not be created, updated or dropped.",
        "None: a rollback does not need it. The next job that works on the run tries again. A table with"
        " `avro.schema.url` gets none: Spark would read that file with the rights of the job.",
    )
    PLAN_CHANGED = (
        "The files of a unit have changed since the plan that the compaction was given; it was planned again.",
        "None. If the plan has to be reviewed again first, plan and compact closer together.",
    )
    STATISTICS_NOT_COMPUTED = (
        "The statistics of a unit could not be computed after its compaction.",
        "Run `ANALYZE TABLE ... COMPUTE STATISTICS`. The jobs do not do it for a table with `avro.schema.url`.",
    )
    STATISTICS_NOT_UPDATED = (
        "With `file_stats`: `numFiles` and `totalSize` of a unit were not set after its compaction. Or a rollback has"
        " not put the statistics of before back. The metastore did not answer, or somebody else has changed the unit"
        " there; it was left as it is. No data depends on it.",
        "Compare the figures with the files (`DESCRIBE FORMATTED`). `ANALYZE TABLE ... COMPUTE STATISTICS` in Hive"
        " computes them, and the next compaction of the unit with `file_stats` sets them.",
    )
    LOG_NOT_UPDATED = (
        "The commit log could not be written.",
        "None: a later job adds what is missing from the journals.",
    )
    LOG_UNREADABLE = (
        "The commit log cannot be read; the history is shown from the journals.",
        "None: the journals are the authority.",
    )
    JOB_AT_WORK = (
        "A check met another job on the table, or the lease of one that has just died.",
        "Run the check again when the job has ended.",
    )
    TABLE_CHANGED = (
        "The table was changed while it was checked, so that doubtful findings are notices.",
        "Run the check again.",
    )
    LAYOUT_PROPERTY_IGNORED = (
        "A table property of the files' layout (`parquet.block.size`, `orc.stripe.size` and others) has a value that"
        " its writer does not take: no number of its kind, out of bounds, or with a variable (`${...}`).",
        "Correct it, or remove it with `ALTER TABLE ... UNSET TBLPROPERTIES`: the files are written without it.",
    )
    PROPERTY_IGNORED = (
        "A table property `lakekeeper.<option>` has a value that is not allowed, or is one of an option that a table"
        " property cannot set. It is ignored; if it protects the table or its originals, the strictest value counts.",
        "Correct it, or remove it with `ALTER TABLE ... UNSET TBLPROPERTIES`.",
    )
    TIME_IN_FUTURE = (
        "The time of a file, a directory or a run is more than a day ahead of the clock: a clock is wrong, or somebody"
        " has set it. It does not tell that a writer is active, or that a file or a compaction is young. The originals"
        " of such a run are kept.",
        "Set the time of the file, or compare the clocks of the driver and of the NameNode. A cleanup with"
        " `--older-than 0d`, or a rollback, ends such a run.",
    )
    STATISTICS_DIFFER = (
        "With `verify=hash`: all values are the same as Spark reads them, but the statistics in the footers are not."
        " The statistics of the originals are wrong; or Spark reads the originals otherwise than they were written, by"
        " a setting of the cluster.",
        "Compare the column that the warning names in the table and in its backup table before a cleanup deletes the"
        " originals; `lakekeeper rollback` restores them.",
    )
    CANNOT_BE_ROLLED_BACK = (
        "A table of another format was compacted by the format's own procedure, and the format has no rollback that is"
        " safe for it. The rows are the same as before.",
        "Nothing. Leave the table out by `lakekeeper.enabled=false` if you may need the files of before again.",
    )
    COMMITS_NOT_EXPIRED = (
        "With `native_expiry`: the commits of a table were not expired, because that would delete files which the table"
        " forbids to delete, or which may be another table's, such as those that Iceberg's `add_files` has taken over.",
        "Switch `native_expiry` off for this table, and expire its commits by your own procedure if the files are its"
        " own.",
    )
    NAN_STATISTICS = (
        "A FLOAT or DOUBLE column of an ORC table begins with NaN in a stripe of the new files, and ORC then has NaN as"
        " the minimum and the maximum of the stripe. All rows are in the files; but Hive 4.0, where a directory has few"
        " files, leaves such a stripe out of queries with a condition on the column. Hive 3.1 and Trino do not.",
        "In Hive 4.0: `SET hive.exec.orc.split.strategy=BI` or `SET hive.optimize.index.filter=false`. Or"
        " `lakekeeper rollback`.",
    )

    def text(self, message: str) -> str:
        """Return a warning as the report has it: `CODE: message`."""
        return f"{self.name}: {message}"
