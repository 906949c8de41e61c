"""Which units of a table are planned: all, or those that were named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_jobs.core.options import selection
from spark_jobs.core.options.definitions import Options
from spark_jobs.core.rules.eligibility import TableFacts
from spark_jobs.core.values.model import Unit
from spark_jobs.protocol.ports import Catalog

WantedUnits = Sequence[Mapping[str, "str | None"]]


def choose(
    metastore: Catalog, facts: TableFacts, options: Options, every: Sequence[Unit], wanted: WantedUnits | None
) -> tuple[Sequence[Unit], list[selection.PartitionSpec]]:
    """Return the units to plan, and those that were named and are gone.

    Of named units, only those that the options select too: never more than was asked for.

    Args:
        every: all units of the table.
        wanted: the units that a plan or a request names; None if only the options select them.
    """
    units, gone = _named(facts, every, wanted)
    if options.partitions is not None:
        selection.check_keys(options.partitions, facts.partition_keys, facts.name)
        selected, missing = selection.select(every, options.partitions, facts.name)
        gone = [*gone, *(spec for spec in missing if spec not in gone)]
        kept = {unit.key for unit in selected}
        units = [unit for unit in units if unit.key in kept]
    if options.where is not None:
        units = metastore.matching(facts, units, options.where)
    return units, gone


def _named(
    facts: TableFacts, every: Sequence[Unit], wanted: WantedUnits | None
) -> tuple[Sequence[Unit], list[selection.PartitionSpec]]:
    if wanted is None:
        return every, []
    return selection.pick(every, wanted, facts.partition_keys)
