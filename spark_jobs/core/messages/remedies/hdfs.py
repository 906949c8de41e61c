"""Commands of HDFS, as a person pastes them."""

from __future__ import annotations

from collections.abc import Iterable

from spark_jobs.core.messages.commands import AWAY, hdfs_path, hdfs_paths, word


def move(source: str, target: str) -> str:
    return f"hdfs dfs -mv {hdfs_path(source)} {hdfs_path(target)}"


def move_away(*paths: str) -> str:
    return f"hdfs dfs -mv {hdfs_paths(paths)} {AWAY}"


def copy(source: str, target: str) -> str:
    """Return the command that copies a directory to a place that does not exist."""
    return f"hdfs dfs -cp -p {hdfs_path(source)} {hdfs_path(target)}"


def copy_content(source: str, target: str) -> str:
    """Return the command that copies what is in a directory into another one: FsShell copies into what exists."""
    return f"hdfs dfs -cp -p {hdfs_path(source, '/*')} {hdfs_path(target, '/')}"


def delete(path: str) -> str:
    return f"hdfs dfs -rm -r {hdfs_path(path)}"


def delete_empty(path: str) -> str:
    return f"hdfs dfs -rmdir {hdfs_path(path)}"


def put_back(originals: Iterable[tuple[str, str]]) -> list[str]:
    """Return, for each pair of originals and live directory, what moves them to their place if nothing is there."""
    return [f"hdfs dfs -test -e {hdfs_path(live)} || {move(old, live)}" for old, live in originals]


def close_to_others(path: str) -> str:
    return f"hdfs dfs -chmod go-w {hdfs_path(path)}"


def give_to(user: str, path: str, *, with_content: bool) -> str:
    recursive = "-R " if with_content else ""
    return f"hdfs dfs -chown {recursive}{word(user)} {hdfs_path(path)}"
