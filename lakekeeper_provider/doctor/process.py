"""Run a program until a deadline, in a session of its own, and end it with all of its processes."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

#: Seconds between the two signals that end a program.
_GRACE = 15
#: Seconds between two looks at a program.
_LOOK, _LOOK_AT_THE_END = 0.2, 0.05
#: Of a longer line only the beginning is kept. A report is one line, and may be long.
_LONGEST_LINE = 1_000_000
#: What ends this process. A shell lets a command in the background ignore the first one, until it has a handler.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Held:
    """A signal that waits while a program is started or ended: raised there, it would leave the program running."""

    active = False
    sign: int | None = None


@contextlib.contextmanager
def signals_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt, with the signal, for what ends this process.

    Its programs are in sessions of their own, and would go on.
    """

    def handle(sign: int, _: FrameType | None) -> None:
        if _Held.active:
            _Held.sign = sign
        else:
            _raise(sign)

    # Whoever starts this by nohup wants it to outlive the terminal.
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    signs = [sign for sign in _ENDING if not (ignored and sign == signal.SIGHUP)]
    before = {sign: signal.signal(sign, handle) for sign in signs}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def _raise(sign: int) -> None:
    raise KeyboardInterrupt(sign)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    _Held.active, _Held.sign = True, None
    try:
        yield
    finally:
        _Held.active = False
    if _Held.sign is not None:
        _raise(_Held.sign)


@dataclass
class Program:
    """A program that runs.

    Args:
        until: when it is given up, on the monotonic clock
    """

    process: subprocess.Popen[bytes]
    until: float

    def lines(self) -> Iterator[str]:
        """Yield what it prints, until it has ended or its time is over: another program may hold the pipe longer."""
        buffer = b""
        for data in self._read():
            *whole, buffer = (buffer + data).split(b"\n")
            yield from (line.decode("utf-8", "replace") for line in whole)
            buffer = buffer[:_LONGEST_LINE]
        if buffer:
            yield buffer.decode("utf-8", "replace")

    def _read(self) -> Iterator[bytes]:
        if self.process.stdout is None:
            return
        pipe = self.process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while time.monotonic() < self.until:
                if selector.select(_LOOK):
                    data = os.read(pipe, 1 << 16)
                    if not data:
                        return
                    yield data
                elif self.process.poll() is not None:
                    return

    def code(self) -> int | None:
        """Wait for its end, and return its exit code; None if its time is over."""
        try:
            return self.process.wait(max(0, self.until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None


@contextlib.contextmanager
def started(
    command: Sequence[str], seconds: float, environ: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """Start a program, and end it with its processes if the block is left before it has ended.

    Raises:
        OSError: it cannot be started
        ValueError: a word has a zero byte
    """
    with contextlib.ExitStack() as stack:
        with _signals_held():
            # No shell reads these words, and the person who runs this command wrote them.
            process = subprocess.Popen(  # noqa: S603
                command,
                env=None if environ is None else dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            stack.callback(_close, process)
        yield Program(process, time.monotonic() + seconds)


def run(command: Sequence[str], seconds: float, environ: Mapping[str, str]) -> tuple[int | None, list[str]]:
    """Run a program; return its exit code, None if it took longer, and its lines."""
    with started(command, seconds, environ) as program:
        lines = list(program.lines())
        return program.code(), lines


def _close(process: subprocess.Popen[bytes]) -> None:
    with _signals_held():
        if process.poll() is None:
            _end(process)
        else:
            _signal(process, signal.SIGTERM)  # what it has left
        if process.stdout is not None:
            process.stdout.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the processes of the session. Spark withdraws its application from YARN, if it is given the time.

    A second signal to this process takes the time away, and not the end.
    """
    _signal(process, signal.SIGTERM)
    until = time.monotonic() + _GRACE
    while _is_alive(process) and time.monotonic() < until and _Held.sign is None:
        time.sleep(_LOOK_AT_THE_END)
    _signal(process, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)


def _is_alive(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether any process of the session is alive: the first one may be a shell that started the others."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _signal(process: subprocess.Popen[bytes], sign: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)
