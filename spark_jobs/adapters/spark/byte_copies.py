"""Copies files byte by byte, and compares them, in the JVMs of the executors.

No Python runs there, and there is no Java of our own: the tasks evaluate expressions of Spark's Catalyst that call
methods of Hadoop's file systems. `StaticInvoke`, `Invoke` and `NewInstance` are what Spark's own encoders are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_jobs.core.model import FileListing
from spark_jobs.core.namenode_calls import NameNodeCalls

_OBJECTS = "org.apache.spark.sql.catalyst.expressions.objects"
_FILE_SYSTEM, _PATH = "org.apache.hadoop.fs.FileSystem", "org.apache.hadoop.fs.Path"
_BUFFER = 1024 * 1024


class ByteCopies:
    """The copies of one driver."""

    def __init__(self, spark: SparkSession, calls: NameNodeCalls) -> None:
        self._spark = spark
        self._calls = calls
        self._jvm = spark._jvm

    def copy(self, directory: str, files: FileListing, target: str) -> None:
        """Copy files into another directory, with the block size and replication of the originals.

        A file is never overwritten, so that a task that Spark has given up cannot change one that is complete. Where a
        task failed in the middle, its next attempt fails too, and so does the unit.
        """
        rows = [
            (*_pair(directory, target, file.name), *self._layout(directory, file.name)) for file in files.data
        ]
        calls = _Calls(self._spark, rows)
        source = calls.invoke(
            calls.file_system("source"), "open", "java.io.InputStream", calls.path("source")
        )
        written = calls.invoke(
            calls.file_system("target"),
            "create",
            "java.io.OutputStream",
            calls.path("target"),
            *(calls.column(name) for name in ("no", "buffer", "replication", "block")),
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
        calls.evaluate(copied)

    def differing(self, directory: str, files: FileListing, target: str) -> list[str]:
        """Return the names of the files whose copies have other bytes; equal checksums spare the reading."""
        left = [file.name for file in files.data if not self._same_checksum(directory, target, file.name)]
        if not left:
            return []
        calls = _Calls(self._spark, [(*_pair(directory, target, name), 1, 1) for name in left])
        streams = [
            calls.invoke(calls.file_system(side), "open", "java.io.InputStream", calls.path(side))
            for side in ("source", "target")
        ]
        same = calls.evaluate(
            calls.static("org.apache.commons.io.IOUtils", "contentEquals", "boolean", *streams)
        )
        return [name for name in left if same.get(f"{directory}/{name}") is not True]

    def _layout(self, directory: str, name: str) -> tuple[int, int]:
        """Return the replication and the block size of a file."""
        self._calls.take(directory)
        path = self._jvm.org.apache.hadoop.fs.Path(f"{directory}/{name}")
        status = path.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileStatus(path)
        return int(status.getReplication()), int(status.getBlockSize())

    def _same_checksum(self, directory: str, target: str, name: str) -> bool:
        """Tell whether the file system has equal checksums of both; a local disk has none, nor other block sizes."""
        found = []
        for path in _pair(directory, target, name):
            self._calls.take(path)  # for the blocks; their checksums are asked of the DataNodes
            of = self._jvm.org.apache.hadoop.fs.Path(path)
            found.append(of.getFileSystem(self._spark._jsc.hadoopConfiguration()).getFileChecksum(of))
        return found[0] is not None and found[1] is not None and bool(found[0].equals(found[1]))


def _pair(directory: str, target: str, name: str) -> tuple[str, str]:
    return f"{directory}/{name}", f"{target}/{name}"


class _Calls:
    """Calls of Java methods for each row of a table, with (source, target, replication, block size) in a row."""

    def __init__(self, spark: SparkSession, rows: Sequence[tuple[str, str, int, int]]) -> None:
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
        self._table = table.repartition(len(rows))._jdf
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
        return self._made(f"{_OBJECTS}.Invoke", target, method, self._type(answer), self._seq(arguments))

    def evaluate(self, expression: Any) -> dict[str, Any]:
        """Evaluate an expression for each row, on the executors. Return its values by the source of the row."""
        columns = self._gateway.new_array(self._jvm.org.apache.spark.sql.Column, 2)
        columns[0], columns[1] = self._as_column(self.column("source")), self._as_column(expression)
        return {row.get(0): row.get(1) for row in self._table.select(columns).collectAsList()}

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
