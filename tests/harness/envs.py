"""Make the Python environments below .envs/, each pinned by a lock file.

    python3.11 tests/harness/envs.py spark-3.5 airflow-3.3      make what is missing or out of date
    python3.11 tests/harness/envs.py                            all of them
    python3.11 tests/harness/envs.py --lock spark-3.5           resolve its lock file anew

Standard library only. Spark keeps environments of its own: Airflow's Spark provider brings `pyspark-client`,
which writes the same files as `pyspark` and has no spark-submit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.harness import machine, paths

LOCKS = Path(__file__).resolve().parent / "locks"
UV = "uv==0.13.8"


@dataclass(frozen=True)
class Spec:
    """What an environment is for. The lock file says what is in it."""

    requirements: tuple[str, ...]
    project: bool = False
    java: bool = False
    #: Builds against the system's Kerberos library, so it is made only when it is asked for.
    native: bool = False


# What pyproject.toml asks for. It is in the lock, so the project goes on top without its dependencies.
PROVIDER = (
    "apache-airflow-providers-common-compat>=1.10.1",
    "apache-airflow-providers-apache-spark>=5.0",
    "apache-airflow-providers-apache-hive>=9.0",
    "apache-airflow-providers-standard",
    "pyyaml>=6.0",
)
TESTING = ("pytest>=8", "pytest-cov>=5", "pytest-reportlog>=1.0")
SPARK = ("pyyaml>=6.0", *TESTING)
STATEFUL = ("hypothesis>=6.130",)

SPECS = {
    "dev": Spec(("ruff==0.14.*", "mypy==1.18.*", "types-PyYAML", "coverage>=7.6")),
    "spark-3.5": Spec(("pyspark==3.5.9", "pyarrow", *SPARK, *STATEFUL), java=True),
    "spark-4.3": Spec(("pyspark==4.3.0", "pyarrow", *SPARK, *STATEFUL), java=True),
    "spark-3.3": Spec(("pyspark==3.3.4", *SPARK), java=True),
    "airflow-3.3": Spec(("apache-airflow==3.3.2", *PROVIDER, *TESTING), project=True),
    "airflow-kerberos": Spec(
        ("apache-airflow==3.3.2", *PROVIDER, *TESTING, "requests-kerberos>=0.15"), project=True, native=True
    ),
    "airflow-2.11": Spec(("apache-airflow==2.11.2", *PROVIDER, *TESTING), project=True),
}

STARTED = time.monotonic()


class EnvError(Exception):
    """An environment cannot be made; the message says what to do."""


def ensure(names: list[str]) -> None:
    """Bring these environments up to date. One that matches its stamp costs nothing."""
    machine.require_python()
    if any(SPECS[name].java for name in names):
        machine.require_java()
    stale = [name for name in names if not is_current(name)]
    if stale:
        ensure_uv()
    for name in stale:
        build(name)


def is_current(name: str) -> bool:
    stamp = paths.env_dir(name) / "stamp"
    return stamp.exists() and stamp.read_text() == fingerprint(name) and paths.env_python(name).exists()


def fingerprint(name: str) -> str:
    """Changes when the environment must: its lock, the Python below it, or how the project is packaged."""
    parts = [lock_file(name).read_bytes(), str(sys.version_info[:2]).encode()]
    if SPECS[name].project:
        parts.append(packaging())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def packaging() -> bytes:
    """The part of pyproject.toml that an installed project depends on."""
    import tomllib  # not above: an older Python must get as far as the message that says so

    content = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())
    return json.dumps([content["build-system"], content["project"], content["tool"]["hatch"]]).encode()


def lock_file(name: str) -> Path:
    return LOCKS / f"{name}.txt"


def build(name: str) -> None:
    lock = lock_file(name)
    pinned = sum("==" in line for line in lock.read_text().splitlines())
    say(f"{name}: {pinned} packages into {paths.env_dir(name).relative_to(paths.ROOT)}")
    if not paths.env_python(name).exists():
        uv("venv", "--clear", "--python", sys.executable, paths.env_dir(name))
    uv("pip", "sync", "--python", paths.env_python(name), lock)
    if SPECS[name].project:
        uv("pip", "install", "--python", paths.env_python(name), "--no-deps", "--editable", paths.ROOT)
    # Last, so that an interrupted build is taken up again.
    (paths.env_dir(name) / "stamp").write_text(fingerprint(name))
    say(f"{name}: ready")


def ensure_uv() -> None:
    stamp = paths.env_dir("tools") / "stamp"
    if stamp.exists() and stamp.read_text() == UV:
        return
    say(f"tools: {UV}")
    run([sys.executable, "-m", "venv", paths.env_dir("tools")], hint=machine.VENV_HINT)
    run([paths.env_python("tools"), "-m", "pip", "install", "--quiet", UV], hint=machine.NETWORK_HINT)
    stamp.write_text(UV)


def uv(*arguments: str | Path) -> None:
    # At a terminal it shows how far a long download has come.
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    tool = paths.env_dir("tools") / "bin" / "uv"
    run([tool, *arguments, *quiet], hint=machine.NETWORK_HINT, env={**os.environ, **machine.uv_settings()})


def run(command: list[str | Path], *, hint: str, env: dict[str, str] | None = None) -> None:
    if subprocess.run([str(part) for part in command], env=env, cwd=paths.ROOT).returncode:
        raise EnvError(f"failed: {' '.join(str(part) for part in command)}\n{hint}")


def lock(name: str) -> None:
    """Resolve the newest versions that fit; addresses and hashes stay out, for they name somebody's index."""
    ensure_uv()
    wanted = paths.SCRATCH / f"{name}.in"
    wanted.parent.mkdir(exist_ok=True)
    wanted.write_text("\n".join(SPECS[name].requirements) + "\n")
    options = ("--universal", "--python-version", "3.11", "--no-annotate", "--no-header", "--upgrade")
    uv("pip", "compile", *options, wanted, "--output-file", lock_file(name))
    say(f"{name}: locked")


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:4.0f} s] {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the environments below .envs/.")
    parser.add_argument("names", nargs="*", metavar="ENV", help=", ".join(SPECS))
    parser.add_argument("--lock", action="store_true", help="resolve the lock files instead")
    options = parser.parse_args()
    names = options.names or [name for name, spec in SPECS.items() if not spec.native]
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
