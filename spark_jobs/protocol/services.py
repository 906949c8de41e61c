"""The services of the protocol: one value that carries all effects."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from spark_jobs.protocol.file_system import FileSystem
from spark_jobs.protocol.listed_directories import RecentDirectories
from spark_jobs.protocol.measuring.clock import SystemClock
from spark_jobs.protocol.measuring.namenode_calls import NameNodeCalls
from spark_jobs.protocol.measuring.phases import Phases
from spark_jobs.protocol.native_ports import NativeFormat
from spark_jobs.protocol.ports import Catalog, Clock, FileRewriter, Footers, PoolFactory


@dataclass(frozen=True)
class Services:
    """File system, metastore, footers, rewriting, time and threads; and how long each phase takes.

    Attributes:
        calls: the calls to the NameNode that `fs` and `footers` make.
        staging: the names of staging directories that the cluster's settings name.
        reading: the settings of the cluster by which readers match columns, divide text into rows and leave out files.
        native: the table formats whose own procedures can be called, by name.
        environment: the versions of the programs that read the footers. Other ones may decide otherwise.
    """

    fs: FileSystem
    metastore: Catalog
    footers: Footers
    rewriter: FileRewriter
    clock: Clock = field(default_factory=SystemClock)
    pool: PoolFactory = ThreadPoolExecutor
    phases: Phases = field(default_factory=Phases)
    environment: str = ""
    staging: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    calls: NameNodeCalls = field(default_factory=NameNodeCalls)
    native: Mapping[str, NativeFormat] = field(default_factory=dict)

    @cached_property
    def above_tables(self) -> RecentDirectories:
        """The directories above the roots of tables."""
        return RecentDirectories(self.fs.list, self.clock.monotonic)

    def now(self) -> datetime:
        return self.clock.now()
