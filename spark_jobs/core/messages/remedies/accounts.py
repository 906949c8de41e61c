"""Rights, quotas and the trash of the account of a job."""

from __future__ import annotations

import re

from spark_jobs.core.messages.commands import word
from spark_jobs.core.messages.remedies import hdfs, verbs

#: What a person does about a quota that is nearly full.
RAISE_QUOTA = "Raise it (hdfs dfsadmin -setQuota, -setSpaceQuota), or clean up older originals"
#: What HDFS says when it enforces a quota.
_EXCEEDED = re.compile(r"(NameSpace|DiskSpace) quota (?:\([^)]*\) )?of (?:directory )?(\S+) is exceeded")


def not_writable(directory: str, owner: str, user: str, *, with_content: bool) -> str:
    """Return what a person does where a directory belongs to another account than the job.

    Args:
        with_content: the job needs what is in the directory, too.
    """
    also = ", and with it the originals that a rollback restores" if with_content else ""
    command = hdfs.give_to(user, directory, with_content=with_content)
    return (
        f". {directory} belongs to {owner}: run the job as that account, or give the directory to {user}"
        f" ({command}){also}"
    )


def home_command(user: str) -> str:
    """Return how the home of an account is made, in which HDFS makes its trash."""
    home = word(f"/user/{user}")
    return f"make its home as the superuser (hdfs dfs -mkdir -p {home}, then hdfs dfs -chown {word(user)} {home})"


def no_trash(user: str, target: str, run_id: str) -> str:
    """Return what a person does where HDFS cannot make the trash of an account."""
    text = f"If {user} has no trash, {home_command(user)}, or use --skip-trash to delete permanently"
    if verbs.is_dropped(target):
        return text
    return f"{text}. Until then `{verbs.rollback(target, run_id)}` restores the originals"


def with_quota_command(text: str) -> str:
    """Return the text of an error, and how the quota is raised if HDFS has enforced one."""
    match = _EXCEEDED.search(text)
    if match is None:
        return text
    kind, directory = match.groups()
    value = "-setQuota <files and directories>" if kind == "NameSpace" else "-setSpaceQuota <bytes>"
    command = f"hdfs dfsadmin {value} {word(directory)}; hdfs dfs -count -q {word(directory)} shows it"
    return f"{text}. Raise it ({command}); a cleanup needs a few names, too, before it frees any"
