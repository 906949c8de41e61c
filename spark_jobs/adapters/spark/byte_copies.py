"""Copies files byte by byte, and compares them, in the JVMs of the executors.

No Python runs there, and there is no Java of our own: the tasks evaluate expressions of Spark's Catalyst that call
methods of Hadoop's file systems. `StaticInvoke`, `Invoke` and `NewInstance` are what Spark's own encoders are made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.core.model import FileListing
from spark_jobs.core.namenode_calls import NameNodeCalls

_OBJECTS = "org.apache.spark.sql.catalyst.expressions.objects"
_FILE_SYSTEM, _PATH = "org.apache.hadoop.fs.FileSystem", "org.apache.hadoop.fs.Path"
_BUFFER = 1024 * 1024
#: A new name in the directory `target`. Spark's own `uuid()` is the same for all attempts of a task.
_OF_THE_ATTEMPT = "concat(target, '/', reflect('java.util.UUID', 'randomUUID'))"


class ByteCopies:
    """The copies of one driver."""

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._calls = calls
        self._jvm = spark._jvm

    def copy(self, directory: str, files: FileListing, target: str) -> dict[str, str]:
        """Copy files into another directory, with the block size and replication of the originals.

        Each attempt of a task writes a file of its own, so that a second one, by speculation or after a failure,
        neither fails nor changes what the first one has written. Which attempt counts is decided by Spark, which takes
        the answer of one. An attempt does not create the directory: one that comes late fails when it was deleted.

        Returns:
            The URI of the copy of each file, by the name of the file.
        """
        rows = [
            (f"{directory}/{file.name}", target, *self._layout(directory, file.name)) for file in files.data
        ]
        calls = _Calls(self._spark, rows, _OF_THE_ATTEMPT)
        source = calls.invoke(
            calls.file_system("source"), "open", "java.io.InputStream", calls.path("source")
        )
        written = calls.invoke(
            calls.file_system("target"),
            "createNonRecursive",
            "java.io.OutputStream",
            calls.path("target"),
            *(calls.column(name) for name in ("no", "buffer", "replication", "block")),
            calls.nothing("org.apache.hadoop.util.Progressable"),
        )
        copied = calls.static(
            "org.apache.spark.util.Utils",
            "copyStream",
            "long",
            source,
            written,
            calls.column("yes"),
            calls.column("no"),
        )
        answers = calls.evaluate(copied)
        return {source.rpartition("/")[2]: copy for source, copy, _ in answers}

    def differing(self, directory: str, copies: Mapping[str, str]) -> list[str]:
        """Return the names of the files whose copies have other bytes; equal checksums spare the reading."""
        left = [name for name, copy in copies.items() if not self._same_checksum(f"{directory}/{name}", copy)]
        if not left:
            return []
        calls = _Calls(self._spark, [(f"{directory}/{name}", copies[name], 1, 1) for name in left])
        streams = [
            calls.invoke(calls.file_system(side), "open", "java.io.InputStream", calls.path(side))
            for side in ("source", "target")
        ]
        answers = calls.evaluate(
            calls.static("org.apache.commons.io.IOUtils", "contentEquals", "boolean", *streams)
        )
        same = {source for source, _, equal in answers if equal is True}
        return [name for name in left if f"{directory}/{name}" not in same]

    def _layout(self, directory: str, name: str) -> tuple[int, int]:
        """Return the replication and the block size of a file."""
        self._calls.take(directory)
        path = self._jvm.org.apache.hadoop.fs.Path(f"{directory}/{name}")
        status = path.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileStatus(path)
        return int(status.getReplication()), int(status.getBlockSize())

    def _same_checksum(self, original: str, copy: str) -> bool:
        """Tell whether the file system has equal checksums of both; a local disk has none, nor other block sizes."""
        found = []
        for path in (original, copy):
            self._calls.take(path)  # for the blocks; their checksums are asked of the DataNodes
            of = self._jvm.org.apache.hadoop.fs.Path(path)
            found.append(of.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileChecksum(of))
        return found[0] is not None and found[1] is not None and bool(found[0].equals(found[1]))


class _Calls:
    """Calls of Java methods for each row of a table, with (source, target, replication, block size) in a row.

    Args:
        target: an expression that makes another target of that of a row, in the task that evaluates the calls.
    """

    def __init__(
        self, spark: SparkSession, rows: Sequence[tuple[str, str, int, int]], target: str = "target"
    ) -> None:
        self._jvm = spark._jvm
        self._gateway = spark.sparkContext._gateway
        self._since_4 = int(spark.version.partition(".")[0]) >= 4
        table = DataFrame(
            spark._jsparkSession.createDataFrame(self._rows(rows), self._schema()), spark
        ).selectExpr(
            *(
                "source",
                "target",
                "CAST(replication AS SMALLINT) AS replication",
                "CAST(block AS LONG) AS block",
            ),
            *("true AS yes", "false AS no", f"{_BUFFER} AS buffer"),
        )
        others = [name for name in table.columns if name != "target"]
        # Behind the shuffle, whose rows all attempts of a task have in common.
        self._table = table.repartition(len(rows)).selectExpr(*others, f"{target} AS target")._jdf
        output = self._table.queryExecution().analyzed().output()
        self._columns = {output.apply(i).name(): output.apply(i) for i in range(output.size())}

    def _rows(self, rows: Sequence[tuple[str, str, int, int]]) -> Any:
        """Return the rows as Java's: Python's own need a Python on the executors. All values are text."""
        found = self._jvm.java.util.ArrayList()
        for row in rows:
            values = self._gateway.new_array(self._jvm.java.lang.Object, len(row))
            for position, value in enumerate(row):
                values[position] = str(value)
            found.add(self._jvm.org.apache.spark.sql.RowFactory.create(values))
        return found

    def _schema(self) -> Any:
        text = "source STRING, target STRING, replication STRING, block STRING"
        return self._jvm.org.apache.spark.sql.types.StructType.fromDDL(text)

    def column(self, name: str) -> Any:
        return self._columns[name]

    def path(self, side: str) -> Any:
        """Return `new Path(column)`."""
        text = self.invoke(self.column(side), "toString", "java.lang.String")
        none = self._jvm.scala.Option.empty()
        kind = self._object(_PATH)
        return self._made(
            f"{_OBJECTS}.NewInstance", self._class(_PATH), self._seq([text]), self._seq([]), True, kind, none
        )

    def file_system(self, side: str) -> Any:
        """Return `path.getFileSystem(conf)` with the executor's Hadoop configuration, as Spark's own tasks have it."""
        helper = "org.apache.spark.deploy.SparkHadoopUtil"
        conf = self.invoke(self.static(helper, "get", helper), "conf", "org.apache.hadoop.conf.Configuration")
        return self.invoke(self.path(side), "getFileSystem", _FILE_SYSTEM, conf)

    def static(self, owner: str, method: str, answer: str, *arguments: Any) -> Any:
        """Return the call of a static method."""
        parts = (self._class(owner), self._type(answer), method, self._seq(arguments))
        return self._made(f"{_OBJECTS}.StaticInvoke", *parts)

    def invoke(self, target: Any, method: str, answer: str, *arguments: Any) -> Any:
        """Return the call of a method of an object."""
        parts = (target, method, self._type(answer), self._seq(arguments), self._seq([]), False)
        return self._made(
            f"{_OBJECTS}.Invoke", *parts
        )  # Without False, an argument that is null is the answer.

    def nothing(self, kind: str) -> Any:
        """Return null, of this class."""
        literal = "org.apache.spark.sql.catalyst.expressions.Literal"
        return self._made(literal, None, self._object(kind))

    def evaluate(self, expression: Any) -> list[tuple[str, str, Any]]:
        """Evaluate an expression for each row, on the executors. Return source, target and value of each row."""
        found = [self.column("source"), self.column("target"), expression]
        columns = self._gateway.new_array(self._jvm.org.apache.spark.sql.Column, len(found))
        for position, each in enumerate(found):
            columns[position] = self._as_column(each)
        rows = self._table.select(columns).collectAsList()
        return [(row.get(0), row.get(1), row.get(2)) for row in rows]

    def _as_column(self, expression: Any) -> Any:
        sql = self._jvm.org.apache.spark.sql
        return sql.classic.ExpressionUtils.column(expression) if self._since_4 else sql.Column(expression)

    def _made(self, name: str, *given: Any) -> Any:
        """Return a new expression. What is not given has the default of its Scala class: versions have more of them."""
        most = max(self._class(name).getConstructors(), key=lambda each: each.getParameterCount())
        arguments = self._gateway.new_array(self._jvm.java.lang.Object, most.getParameterCount())
        for position in range(most.getParameterCount()):
            own = position < len(given)
            arguments[position] = given[position] if own else self._default(name, position + 1)
        return most.newInstance(arguments)

    def _default(self, name: str, number: int) -> Any:
        companion = self._class(f"{name}$")
        none = self._gateway.new_array(self._jvm.java.lang.Class, 0)
        method = companion.getMethod(f"$lessinit$greater$default${number}", none)
        nothing = self._gateway.new_array(self._jvm.java.lang.Object, 0)
        return method.invoke(companion.getField("MODULE$").get(None), nothing)

    def _class(self, name: str) -> Any:
        loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
        return self._jvm.java.lang.Class.forName(name, True, loader)

    def _object(self, name: str) -> Any:
        return self._jvm.org.apache.spark.sql.types.ObjectType(self._class(name))

    def _type(self, answer: str) -> Any:
        """Return the type of an answer: a primitive type of Spark, or a Java class."""
        if "." in answer:
            return self._object(answer)
        return self._jvm.org.apache.spark.sql.types.DataType.fromJson(f'"{answer}"')

    def _seq(self, items: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(items))
