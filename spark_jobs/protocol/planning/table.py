"""A table: what the metastore and the options say of it. It is read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from spark_jobs.core.messages.commands import quoted, word
from spark_jobs.core.options.definitions import Options, writer_rules
from spark_jobs.core.options.layers import Layers
from spark_jobs.core.rules.eligibility import Storage, TableFacts
from spark_jobs.core.rules.sort_columns import sort_columns_of
from spark_jobs.core.rules.strategy import FULL, why_table_is_full
from spark_jobs.core.values.model import TableName, Unit
from spark_jobs.core.values.once import once
from spark_jobs.core.values.other_writers import STAGING_SETTING, WriterRules, staging_names
from spark_jobs.protocol.planning.outside_partitions import check_server
from spark_jobs.protocol.services import Services


@dataclass(frozen=True)
class Table:
    """One table. Its units are read from the metastore at the first use.

    Attributes:
        why_full: why no unit is compacted in part, although the options allow it; they say `full` then.
    """

    services: Services
    facts: TableFacts
    options: Options
    why_full: str | None = None

    @once
    def storages(self) -> Mapping[Unit, Storage]:
        """Return all units that the metastore has, with their storage."""
        return dict(self.services.metastore.units(self.facts))

    @property
    def dropped(self) -> bool:
        """Tell whether the table was dropped: the metastore does not have it."""
        return False

    def registered(self) -> Mapping[Unit, Storage]:
        """Return the units that the metastore has now. Raise MetastoreError if it does not answer."""
        return {} if self.dropped else dict(self.services.metastore.units(self.facts))

    def created(self, unit: Unit) -> int | None:
        """Return when the metastore made the partition that it had when the table was read; None if it had none."""
        storage = self.storages.get(unit)
        return storage.created if storage else None

    @property
    def units(self) -> list[Unit]:
        return list(self.storages)

    @property
    def locations(self) -> Mapping[str, str]:
        """Return the directories that the metastore uses, by unit key."""
        return {unit.key: unit.location for unit in self.units}

    @property
    def target(self) -> str:
        """Return the flag that names the table on the command line of a job."""
        return f"--location {quoted(self.root)}" if self.dropped else f"--table {word(self.facts.name)}"

    @property
    def root(self) -> str:
        return self.facts.storage.location

    def writer_rules(
        self, clocks: Sequence[datetime], note: Callable[[str, int], object] | None = None
    ) -> WriterRules:
        """Return the rules for files of other writers, with the staging directories that settings name.

        Args:
            clocks, note: see `options.definitions.writer_rules`.
        """
        facts, services = self.facts, self.services
        named = [source.get(STAGING_SETTING) for source in (facts.properties, facts.storage.properties)]
        rules = writer_rules(self.options, clocks, note)
        return replace(rules, staging=(*services.staging, *staging_names(named)))

    @property
    def partitioned(self) -> bool:
        return bool(self.facts.partition_keys)


def read_table(services: Services, layers: Layers, name: TableName) -> Table:
    """Read one table from the metastore, and resolve its options.

    Raises:
        Refusal: a property has an invalid value, or the table is on the local disk of one machine.
        UsageError: an option has an invalid value.
        MetastoreError: the metastore does not answer.
    """
    facts = replace(services.metastore.table(name), cluster=services.reading)
    options = layers.resolve(str(name), facts.properties)
    check_server(services.fs, facts.storage.location)
    why = why_table_is_full(_format(facts), sort_columns_of(facts, options.sort_columns))
    if options.strategy == FULL or why is None:
        return Table(services, facts, options)
    return Table(services, facts, replace(options, strategy=FULL), why)


def _format(facts: TableFacts) -> str:
    """Return the format of a table; nothing if it is none that can be compacted, which its check says."""
    return facts.storage.format or ""
