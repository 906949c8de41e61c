"""The check that a live directory was deleted, before originals are moved into its place."""

from __future__ import annotations

from spark_jobs.core.messages.errors import WriterActive
from spark_jobs.core.messages.remedies.writers import replacing
from spark_jobs.protocol.services import Services
from spark_jobs.protocol.swap.directories import staging_above

#: A live directory that is missing is looked for again this often before originals are moved into its place.
_CHECKS = 3
_SECONDS = 5.0


def check_stays_missing(services: Services, live: str, base: str) -> None:
    """Check that the live directory was deleted, and is not just being replaced by a writer.

    An overwrite deletes the directory, and then moves its own there. Until then its staging directory exists in a
    directory above, and it does not take long.

    Args:
        base: the directory up to which a writer's staging directory is looked for.

    Raises:
        WriterActive: a writer is at work.
    """
    for _ in range(_CHECKS):
        staging = staging_above(services.fs, live, base)
        if staging:
            raise WriterActive(replacing(live, staging.path))
        if services.fs.status(live) is not None:
            raise WriterActive(f"a writer is replacing {live}, which exists again; run the rollback again")
        services.clock.sleep(_SECONDS)
