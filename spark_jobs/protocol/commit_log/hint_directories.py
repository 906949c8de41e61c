"""Where an analysis may create a directory for what it keeps, and how it writes a file there."""

from __future__ import annotations

from spark_jobs.core.values.model import parent
from spark_jobs.protocol.file_system import RecordFiles
from spark_jobs.protocol.runs.home_format import create_home


def ensure_hint_directory(fs: RecordFiles, directory: str, *, worth_a_home: bool) -> bool:
    """Tell whether there is a directory `<home>/log/<name>` for hints, and create it in the home.

    A directory belongs to the account that creates it, and the account that compacts must be able to write to it. So an
    analysis creates directories only in those of its own account, and the home only where no other could.

    Args:
        worth_a_home: the hints are worth the creation of a home.
    """
    log = parent(directory)
    home = parent(log)
    if fs.status(directory) is not None:
        create_home(fs, home)  # a late task may have made the directory again after its home was deleted
        return True
    has_log = fs.status(log)
    above = has_log or fs.status(home)
    if above is None:
        above = fs.status(parent(home))
        if above is None or not worth_a_home or above.shared:
            return False
    if above.owner not in ("", fs.user()):
        return False
    create_home(fs, home)
    fs.mkdirs(directory)
    return True


def write_hint(fs: RecordFiles, staged: str, path: str, data: bytes) -> None:
    """Write a file under a hidden name, and rename it, so that no reader sees a part of it.

    Raises:
        OSError: nothing is left under the hidden name, unless the job dies here or it could not be deleted.
    """
    fs.create(staged, data)
    try:
        fs.rename(staged, path)
    except OSError:
        fs.delete_file(staged)
        raise
