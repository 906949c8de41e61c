"""Run a job by its verb, where this file and the zip of the jobs are all that there is:

    spark-submit --py-files lakekeeper-jobs-<hash>.zip run_lakekeeper.py compact --table sales.events

In client mode the zip is also found beside this file. Any Python can read this file and the scripts of the verbs, so
that an old one can say what it lacks: they have neither annotations nor f-strings.
"""

import glob
import os
import runpy
import sys

VERBS = ("analyze", "plan", "compact", "rollback", "cleanup", "history", "check", "forget", "doctor")
USAGE = (
    "usage: spark-submit [options of Spark] run_lakekeeper.py VERB [options of the verb]\n\nverbs: "
    + ", ".join(VERBS)
)


def main(words):  # type: (list[str]) -> None
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(USAGE + "\n")
        sys.exit(0 if words else 2)
    words = file_last(words)
    if words[0] not in VERBS:
        fail("%r is no verb; the first word is one of: %s" % (words[0], ", ".join(VERBS)))
    find_jobs()
    sys.argv = [words[0] + ".py"] + words[1:]
    runpy.run_module("spark_jobs." + words[0], run_name="__main__", alter_sys=True)


def file_last(words):  # type: (list[str]) -> list[str]
    """Put the configuration file behind the verb, where the jobs take it; `lakekeeper` takes it before the verb too."""
    if words[0] in ("-c", "--config-file") and len(words) > 2:
        return words[2:] + words[:2]
    return words[1:] + words[:1] if words[0].startswith("--config-file=") and len(words) > 1 else words


def find_jobs():  # type: () -> None
    """Make the jobs importable. What --py-files has brought comes first."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lakekeeper-jobs-*.zip")
    sys.path.extend(sorted(glob.glob(beside), key=os.path.getmtime, reverse=True))
    try:
        import spark_jobs  # noqa: F401 - only whether it is there
    except ImportError:
        fail(
            "the jobs are not here: pass --py-files lakekeeper-jobs-<hash>.zip, which `lakekeeper generate-bundle` has"
            " written with this file"
        )


def fail(message):  # type: (str) -> None
    sys.stderr.write("run_lakekeeper.py: error: " + message + "\n")
    sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
