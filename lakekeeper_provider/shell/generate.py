"""The commands that write a file: the configuration template, its schema, and the zip of the jobs."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakekeeper_provider.exceptions import UsageError, said
from lakekeeper_provider.launch import bundle
from lakekeeper_provider.shell import job

TEMPLATE = Path(__file__).with_name("template.yaml")
SCHEMA = Path(__file__).with_name("schema.json")
COMMANDS = CONFIG, BUNDLE, DAGS = "generate-config", "generate-bundle", "init-dags"
#: The DAGs of one database, what stands in them for it, and the DAG that acts on what is entered in its form.
_OF_DATABASE, _NO_DATABASE = ("lakekeeper_maintenance", "lakekeeper_cleanup"), "DATABASE: str | None = None"
_BY_FORM = "lakekeeper_on_demand"
#: The file that is written, by whether it is the schema.
_NAMES = {False: "lakekeeper.yaml", True: "lakekeeper.schema.json"}
_STANDARD_OUTPUT = "-"


def documentation() -> Path:
    """Return the directory of the pages: inside the wheel, or beside this package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "docs"
    return inside if inside.is_dir() else package.parent / "docs"


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
    dags = commands.add_parser(
        DAGS,
        help="Write DAGs into a directory, such as Airflow's dags_folder.",
        description="Write DAGs into a directory: the nightly maintenance, the cleanup, and one table on demand. With"
        " --database, the maintenance and the cleanup of that database, with a schedule.",
    )
    dags.add_argument("directory", metavar="DIRECTORY", type=Path, help="directory to write to")
    which = dags.add_mutually_exclusive_group()
    which.add_argument("-d", "--database", metavar="DB", help="the database that the DAGs maintain")
    which.add_argument("-a", "--all", action="store_true", help="all example DAGs")
    dags.add_argument("-f", "--force", action="store_true", help="overwrite files")


def is_for(command: str) -> bool:
    """Tell whether a command is one of these."""
    return command in COMMANDS


def run(arguments: argparse.Namespace) -> int:
    """Write the file of a command."""
    if arguments.command == BUNDLE:
        return generate_bundle(arguments.output)
    if arguments.command == DAGS:
        return init_dags(arguments.directory, arguments.database, every=arguments.all, force=arguments.force)
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
    job.show(f"{jobs}\n{script}\n", sys.stdout)
    return 0


def init_dags(directory: Path, database: str | None, *, every: bool, force: bool) -> int:
    """Write the DAGs to begin with, those of one database, or all examples.

    Raises:
        UsageError: there is no such directory, a file exists, or the name of the database cannot be that of a DAG
    """
    _require_directory(directory)
    sources = {path.stem: path.read_text("utf-8") for path in sorted(bundle.dags_directory().glob("*.py"))}
    if database is not None:
        name = _name(database)
        sources = {f"{dag}_{name}": _for_database(dag, sources[dag], name) for dag in _OF_DATABASE}
    elif not every:
        sources = {dag: sources[dag] for dag in (*_OF_DATABASE, _BY_FORM)}
    files = {directory / f"{name}.py": source for name, source in sources.items()}
    there = [str(file) for file in files if file.exists() or file.is_symlink()]
    if there and not force:
        raise UsageError(f"{', '.join(there)}: --force overwrites what exists; nothing was written")
    _write_all(directory, files)
    return 0


def _require_directory(path: Path) -> None:
    try:
        usable = path.is_dir() or (path.parent.is_dir() and not path.exists())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {said(error)}") from None
    if not usable:
        raise UsageError(f"{path} is no directory: name the dags_folder of Airflow")


def _write_all(directory: Path, files: Mapping[Path, str]) -> None:
    """Write all files or none: Airflow reads what is there, and half of a DAG would be an import error."""
    begun: list[Path] = []
    try:
        directory.mkdir(exist_ok=True)
        for file, source in files.items():
            # A hidden name, and no .py: Airflow reads neither.
            begun.append(file.with_name(f".{file.stem}.begun"))
            begun[-1].write_text(source, "utf-8")
        for file, whole in zip(files, begun):
            whole.replace(file)
            job.show(f"wrote {file}\n", sys.stdout)
    except (OSError, ValueError) as error:
        for each in begun:
            with contextlib.suppress(OSError):
                each.unlink()
        raise UsageError(f"cannot write to {directory}: {said(error)}") from None


def _name(database: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_]{1,128}", database):
        raise UsageError(f"--database: expected the name of a database, got {database!r}")
    return database.lower()  # the metastore has it in lower case, whatever is written


def _for_database(dag: str, source: str, database: str) -> str:
    named = source.replace(_NO_DATABASE, f'DATABASE: str | None = "{database}"')
    return named.replace(f'DAG_ID = "{dag}"', f'DAG_ID = "{dag}_{database}"')


def generate_config(content: str, output: str, *, force: bool) -> int:
    """Write the template or its schema; an existing file is only replaced on request.

    Raises:
        UsageError: the file exists, or cannot be written
    """
    if output == _STANDARD_OUTPUT:
        job.show(content, sys.stdout)
        return 0
    try:
        with Path(output).open("w" if force else "x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(f"{output} exists; --force overwrites it") from None
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None
    job.show(f"wrote {output}\n", sys.stdout)
    return 0
