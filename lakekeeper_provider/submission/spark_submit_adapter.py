"""Adapter to Airflow's Spark provider: the only module that uses private names of Airflow's classes.

``PRIVATE_NAMES`` lists them. When the Spark provider is updated, check each name against the new version and add
the version to ``CHECKED``; ``tests/unit/provider/test_spark_submit_adapter.py`` fails until that is done.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from lakekeeper_provider.compat import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    BaseHook,
    Context,
    SparkSubmitOperator,
)
from lakekeeper_provider.launch.redaction import redacted
from lakekeeper_provider.submission import links

OutputFilter = Callable[[Iterator[str]], Iterator[str]]
#: Logs a line, or leaves it to the hook; tells whether it has logged it.
LineLog = Callable[[str], bool]


@dataclass(frozen=True)
class PrivateName:
    """A private name of the Spark provider.

    Args:
        owner: class that has the name
        name: the attribute or method
        checked: versions of ``apache-airflow-providers-apache-spark`` on which it was checked
        purpose: what this module does with it
    """

    owner: str
    name: str
    checked: tuple[str, ...]
    purpose: str


#: The oldest supported version, and those of the lock files in demo/services/lock_files.
CHECKED = ("6.0.0", "6.3.2", "6.3.4")
_ARGUMENT = "an argument, read by _get_hook"
PRIVATE_NAMES = (
    PrivateName("SparkSubmitOperator", "_conn_id", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_archives", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_yarn_queue", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_deploy_mode", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_executor_memory", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_executor_cores", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_num_executors", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_total_executor_cores", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_driver_memory", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_spark_binary", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_use_krb5ccache", CHECKED, _ARGUMENT),
    PrivateName("SparkSubmitOperator", "_get_hook", CHECKED, "builds the hook; execute calls it"),
    PrivateName("SparkSubmitOperator", "_hook", CHECKED, "the hook that execute uses, None before"),
    PrivateName(
        "SparkSubmitHook", "_connection", CHECKED, "the resolved connection: master, deploy_mode, ..."
    ),
    PrivateName(
        "SparkSubmitHook", "_process_spark_submit_log", CHECKED, "receives the lines of spark-submit"
    ),
    PrivateName("SparkSubmitHook", "_log", CHECKED, "its logger, to which it gives each line"),
    PrivateName("SparkSubmitHook", "_build_spark_submit_command", CHECKED, "sets _env; submit calls it"),
    PrivateName("SparkSubmitHook", "_env", CHECKED, "env_vars; submit adds them to the worker's environment"),
    PrivateName("SparkSubmitHook", "_mask_cmd", CHECKED, "masks the command for log and error"),
    PrivateName("SparkSubmitHook", "_submit_sp", CHECKED, "the process of spark-submit, None before"),
    PrivateName("SparkSubmitHook", "_kubernetes_driver_pod", CHECKED, "what a kill deletes, by the output"),
)
#: Arguments that SparkSubmitOperator stores under a private name, which cannot be a template field.
PRIVATE_ARGUMENTS = tuple(entry.name[1:] for entry in PRIVATE_NAMES if entry.purpose == _ARGUMENT)


def publish_private_arguments(operator: SparkSubmitOperator) -> None:
    """Store each private argument of an operator under its public name too, so that it can be a template field."""
    for name in PRIVATE_ARGUMENTS:
        if not hasattr(operator, name):
            setattr(operator, name, getattr(operator, f"_{name}"))


@dataclass(frozen=True)
class SparkTarget:
    """Where spark-submit would submit to."""

    master: str
    deploy_mode: str | None
    spark_binary: str


class SparkSubmitter:
    """Run spark-submit through a copy of an operator; the operator itself keeps the arguments that the user gave.

    Tracking of the driver, ``on_kill`` and OpenLineage are those of ``SparkSubmitOperator``.

    Args:
        operator: the operator to copy
        arguments: arguments of ``SparkSubmitOperator`` by name; they replace those of the operator
        output_filter: gets the lines that spark-submit prints, returns those to log
    """

    def __init__(
        self, operator: SparkSubmitOperator, arguments: Mapping[str, Any], output_filter: OutputFilter
    ) -> None:
        self._operator = cast(Any, operator.prepare_for_execution())
        self._output_filter = output_filter
        self._environment: Mapping[str, str] | None = None
        self._line_log: LineLog | None = None
        self._connection: Any = None
        self._build_hook = self._operator._get_hook
        # An attribute of the copy, because execute calls it after OpenLineage has changed conf.
        self._operator._get_hook = self._get_hook
        self.set_arguments(arguments)

    def set_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Replace arguments of the copy."""
        for name, value in arguments.items():
            setattr(self._operator, name, value)
            if name in PRIVATE_ARGUMENTS:
                setattr(self._operator, f"_{name}", value)

    def set_environment(self, variables: Mapping[str, str]) -> None:
        """Start spark-submit with these variables, in place of the environment of the worker and ``env_vars``."""
        self._environment = variables

    def set_line_log(self, line_log: LineLog) -> None:
        """Log the lines of spark-submit by this. The hook gets all of them, too, and looks for what it needs."""
        self._line_log = line_log

    def target(self) -> SparkTarget:
        """Resolve the connection without submitting anything."""
        connection = self._get_hook()._connection
        return SparkTarget(connection["master"], connection["deploy_mode"], connection["spark_binary"])

    def resource_manager(self) -> str | None:
        """Return the address of YARN's pages that the connection names."""
        return links.resource_manager_of(self._get_connection().extra_dejson)

    def submit(self, context: Context) -> None:
        """Submit, and track the driver until it has ended.

        ``execute`` is called without its guard against calls from outside of the task runner, which rejects
        calls after a deferral and from a sensor.
        """
        inspect.unwrap(SparkSubmitOperator.execute)(self._operator, context)

    def exit_code(self) -> int | None:
        """Return the exit code of spark-submit, negative after a signal; None if it was not started."""
        process = self._operator._hook and self._operator._hook._submit_sp
        code: int | None = process.returncode if process else None
        return code

    def kill(self) -> None:
        """Kill what was submitted, if anything was."""
        if self._operator._hook is not None:
            SparkSubmitOperator.on_kill(self._operator)

    def _get_hook(self) -> Any:
        connection = self._get_connection()
        with _private_files():
            hook: Any = self._build_hook()
        self._check_master(hook, connection)
        # spark-submit accepts a principal only with its keytab; a ticket cache already determines the principal.
        if self._operator._use_krb5ccache and not hook._connection["keytab"]:
            hook._connection["principal"] = None
        process_log = hook._process_spark_submit_log
        # guard: output_filtered
        hook._process_spark_submit_log = lambda lines: process_log(self._output_filter(lines))
        if self._line_log is not None:
            hook._log = _HookLog(hook.log, self._line_log)
        _hide_credentials(hook)  # guard: credentials_hidden
        # A byte that is no text here, of a name or of a driver in another locale, must not break off the job's log: the
        # task would fail while the job goes on.
        hook.submit = partial(hook.submit, errors="backslashreplace")
        if self._environment is not None:
            _replace_environment(hook, self._environment)  # guard: driver_environment_set
            _kill_no_pod(hook)
        return hook

    def _get_connection(self) -> Any:
        if self._connection is not None:
            return self._connection
        try:
            self._connection = BaseHook.get_connection(self._operator._conn_id)
            return self._connection
        except AirflowNotFoundException:
            raise AirflowFailException(
                f"the Spark connection {self._operator._conn_id!r} does not exist: create it, or set conn_id"
            ) from None

    def _check_master(self, hook: Any, connection: Any) -> None:
        """Reject the master yarn that the hook assumes, without an error, if it cannot read the connection."""
        if hook._connection["master"] == "yarn" and "yarn" not in (connection.host, connection.conn_type):
            raise AirflowException(f"the connection {self._operator._conn_id!r} could not be read again")


class _HookLog:
    """The logger of a hook, which gives each line of spark-submit to ``info``; other calls are passed on."""

    def __init__(self, log: Any, line_log: LineLog) -> None:
        self._log = log
        self._line_log = line_log

    def info(self, message: str, *arguments: Any) -> None:
        """Log a message of the hook, unless it is a line that is logged otherwise."""
        if arguments or not self._line_log(message):
            self._log.info(message, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)


def _hide_credentials(hook: Any) -> None:
    """Mask in the log what the hook does not: it knows only names with secret or password in them."""
    mask = hook._mask_cmd

    def mask_command(command: str | list[str]) -> str:
        # The hook calls it with single lines of the output too, which have no properties.
        is_command = not isinstance(command, str) and len(command) > 1
        masked: str = mask(redacted(command) if is_command else command)
        return masked

    hook._mask_cmd = mask_command


def _replace_environment(hook: Any, variables: Mapping[str, str]) -> None:
    """Start spark-submit with these variables alone, in client mode: they have ``env_vars`` already."""
    build = hook._build_spark_submit_command

    def build_command(*args: Any) -> Any:
        command = build(*args)
        # submit() would add it to the whole environment of the worker. In cluster mode on_kill needs it.
        hook._env = None  # guard: own_variables_given_already
        return command

    hook._build_spark_submit_command = build_command
    hook.submit = partial(hook.submit, env=dict(variables))  # guard: environment_replaced


def _kill_no_pod(hook: Any) -> None:
    """Kill spark-submit alone, in client mode: it is the driver, which has no pod.

    The hook takes a line of the output for the name of one. There the driver writes the output, with texts of
    tables in it: they must not name the pod of somebody else.
    """
    kill = hook.on_kill

    def on_kill() -> None:
        hook._kubernetes_driver_pod = None
        kill()

    hook.on_kill = on_kill


@contextmanager
def _private_files() -> Iterator[None]:
    """Create files for this user only: the hook writes the keytab of a connection to a file."""
    before = os.umask(0o077)  # guard: keytab_for_this_user
    try:
        yield
    finally:
        os.umask(before)
