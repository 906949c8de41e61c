"""The commands that write a file: the configuration template, its schema, and the zip of the jobs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.submission import bundle

TEMPLATE = Path(__file__).with_name("template.yaml")
SCHEMA = Path(__file__).with_name("schema.json")
CONFIG, BUNDLE = "generate-config", "generate-bundle"
#: The file that is written, by whether it is the schema.
_NAMES = {False: "lakekeeper.yaml", True: "lakekeeper.schema.json"}
_STANDARD_OUTPUT = "-"


def add_commands(commands: Any) -> None:
    """Add the commands to the parser's subcommands."""
    template = commands.add_parser(
        CONFIG,
        help="Write a commented configuration template.",
        description="Write a commented configuration template, or its JSON Schema for editors.",
    )
    template.add_argument("--schema", action="store_true", help="write the JSON Schema instead")
    template.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help=f"file to write (default: {_NAMES[False]}, or {_NAMES[True]}); - for standard output",
    )
    template.add_argument("-f", "--force", action="store_true", help="overwrite the file")
    jobs = commands.add_parser(
        BUNDLE,
        help="Write the zip of the jobs and run_lakekeeper.py, for spark-submit by hand and the Python API.",
        description="Write the two files that spark-submit needs: the zip of the jobs, for --py-files and"
        " SparkContext.addPyFile, whose name has a hash of its content; and run_lakekeeper.py, whose first argument"
        " is the verb.",
    )
    jobs.add_argument(
        "--output",
        "-o",
        metavar="DIRECTORY",
        type=Path,
        default=Path(),
        help="directory to write it to (default: this one)",
    )


def is_for(command: str) -> bool:
    """Tell whether a command is one of these."""
    return command in (CONFIG, BUNDLE)


def run(arguments: argparse.Namespace) -> int:
    """Write the file of a command."""
    if arguments.command == BUNDLE:
        return generate_bundle(arguments.output)
    content = SCHEMA if arguments.schema else TEMPLATE
    output = arguments.output or _NAMES[arguments.schema]
    return generate_config(content.read_text("utf-8"), output, force=arguments.force)


def generate_bundle(directory: Path) -> int:
    """Write the zip of the jobs and the script that runs them, and print their paths.

    Raises:
        UsageError: it cannot be written
    """
    try:
        jobs, script = bundle.build_bundle(directory), bundle.copy_launcher(directory)
    except OSError as error:
        raise UsageError(f"cannot write the bundle to {directory}: {error.strerror}") from None
    print(f"{jobs}\n{script}")
    return 0


def generate_config(content: str, output: str, *, force: bool) -> int:
    """Write the template or its schema; an existing file is only replaced on request.

    Raises:
        UsageError: the file exists, or cannot be written
    """
    if output == _STANDARD_OUTPUT:
        sys.stdout.write(content)
        return 0
    try:
        with Path(output).open("w" if force else "x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(f"{output} exists; --force overwrites it") from None
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    print(f"wrote {output}")
    return 0
