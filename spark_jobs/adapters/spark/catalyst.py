"""Expressions of Spark's Catalyst that call methods of Java, which Spark's SQL has no functions for.

The executors evaluate them in their JVMs: no Python runs there, and there is no Java of our own. `StaticInvoke`,
`Invoke` and `NewInstance` are what Spark's own encoders are made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaClass
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

_OBJECTS = "org.apache.spark.sql.catalyst.expressions.objects"


@dataclass(frozen=True)
class _Known:
    """What was looked up in one JVM: classes, the numbers of parameters of constructors, and their default values."""

    classes: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    defaults: dict[tuple[str, int], Any] = field(default_factory=dict)


#: By gateway: an expression is made of dozens of calls to the JVM otherwise, for each unit again.
_KNOWN: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


class JavaCalls:
    """Expressions of one driver. All expressions and columns here are Java's, but for `static_column`."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._gateway: Any = spark.sparkContext._gateway
        self._known = _KNOWN.setdefault(self._gateway, _Known())
        self._since_4 = int(spark.version.partition(".")[0]) >= 4

    def static_column(self, owner: str, method: str, answer: str, column: Column) -> Column:
        """Return the value of a static method of each value of a column; null for null."""
        return Column(self.as_column(self.static(owner, method, answer, self._expression(column))))

    def static(self, owner: str, method: str, answer: str, *arguments: Any) -> Any:
        """Return the call of a static method."""
        parts = (self._class(owner), self._type(answer), method, self._seq(arguments))
        return self._made(f"{_OBJECTS}.StaticInvoke", *parts)

    def invoke(self, target: Any, method: str, answer: str, *arguments: Any) -> Any:
        """Return the call of a method of an object, also with null as an argument."""
        parts = (target, method, self._type(answer), self._seq(arguments), self._seq([]), False)
        return self._made(f"{_OBJECTS}.Invoke", *parts)

    def new(self, name: str, *arguments: Any) -> Any:
        """Return the construction of an object of this class."""
        none = self._jvm.scala.Option.empty()
        parts = (self._class(name), self._seq(arguments), self._seq([]), True, self._object(name), none)
        return self._made(f"{_OBJECTS}.NewInstance", *parts)

    def after(self, target: Any, method: str, argument: Any) -> Any:
        """Return an object after a call of one of its methods, whose answer is not used."""
        calls = self._jvm.PythonUtils.toScalaMap({method: argument})
        return self._made(f"{_OBJECTS}.InitializeJavaBean", target, calls)

    def nothing(self, name: str) -> Any:
        """Return null as an object of this class."""
        return self.literal(None, name)

    def literal(self, value: Any, name: str) -> Any:
        """Return an object of Java of this class. It must be serializable: it travels with each task."""
        return self._made("org.apache.spark.sql.catalyst.expressions.Literal", value, self._object(name))

    def tried(self, expression: Any) -> Any:
        """Return the value of an expression; null if its evaluation raises an exception."""
        return self._made("org.apache.spark.sql.catalyst.expressions.TryEval", expression)

    def as_column(self, expression: Any) -> Any:
        sql = self._jvm.org.apache.spark.sql
        return sql.classic.ExpressionUtils.column(expression) if self._since_4 else sql.Column(expression)

    def _expression(self, column: Column) -> Any:
        utils = self._jvm.org.apache.spark.sql.classic.ExpressionUtils if self._since_4 else None
        return utils.expression(column._jc) if utils else column._jc.expr()

    def _made(self, name: str, *given: Any) -> Any:
        """Return a new expression. What is not given has the default of its Scala class: versions have more of them."""
        rest = [self._default(name, number + 1) for number in range(len(given), self._parameters(name))]
        return JavaClass(name, self._gateway._gateway_client)(*given, *rest)

    def _parameters(self, name: str) -> int:
        """Return the number of parameters of the constructor that has the most."""
        known = self._known.parameters
        if name not in known:
            known[name] = max(int(each.getParameterCount()) for each in self._class(name).getConstructors())
        return known[name]

    def _default(self, name: str, number: int) -> Any:
        known = self._known.defaults
        if (name, number) not in known:
            known[name, number] = self._look_up_default(name, number)
        return known[name, number]

    def _look_up_default(self, name: str, number: int) -> Any:
        companion = self._class(f"{name}$")
        none = self._gateway.new_array(self._jvm.java.lang.Class, 0)
        method = companion.getMethod(f"$lessinit$greater$default${number}", none)
        nothing = self._gateway.new_array(self._jvm.java.lang.Object, 0)
        return method.invoke(companion.getField("MODULE$").get(None), nothing)

    def _class(self, name: str) -> Any:
        known = self._known.classes
        if name not in known:
            loader = self._jvm.java.lang.Thread.currentThread().getContextClassLoader()
            known[name] = self._jvm.java.lang.Class.forName(name, True, loader)
        return known[name]

    def _object(self, name: str) -> Any:
        return self._jvm.org.apache.spark.sql.types.ObjectType(self._class(name))

    def _type(self, answer: str) -> Any:
        """Return the type of an answer: a primitive type of Spark, or a Java class."""
        if "." in answer:
            return self._object(answer)
        return self._jvm.org.apache.spark.sql.types.DataType.fromJson(f'"{answer}"')

    def _seq(self, items: Sequence[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(items))


def text(number: int) -> Column:
    """Return the column of the texts at this place in the rows of a table of `RowCalls`."""
    return F.col("value").getItem(number)


class RowCalls(JavaCalls):
    """Calls for each row of small tables, whose values are all text.

    The expressions name the columns of a table, so that they are made once and evaluated for many tables: to make them
    takes hundreds of calls to the JVM.

    Args:
        typed: the columns by name, each made of a `text`.
        hadoop: the Hadoop configuration for the executors; None for their own.
        by_attempt: columns that each attempt of a task evaluates anew, in the place of those of the same names.
    """

    def __init__(
        self,
        spark: SparkSession,
        typed: Mapping[str, Column],
        hadoop: Any = None,
        by_attempt: Mapping[str, Column] | None = None,
    ) -> None:
        super().__init__(spark)
        self._spark = spark
        self._hadoop = hadoop
        self._typed = self._named(typed)
        self._by_attempt = self._named({**{name: F.col(name) for name in typed}, **(by_attempt or {})})

    def _named(self, columns: Mapping[str, Column]) -> Any:
        return self._array([column.alias(name)._jc for name, column in columns.items()])

    def _array(self, columns: Sequence[Any]) -> Any:
        """Return columns of Java as an array."""
        array = self._gateway.new_array(self._jvm.org.apache.spark.sql.Column, len(columns))
        for position, column in enumerate(columns):
            array[position] = column
        return array

    @cached_property
    def _reader(self) -> Any:
        """Return a reader of JSON for lists of arrays of text."""
        mapper, named = (
            self._jvm.com.fasterxml.jackson.databind.ObjectMapper(),
            self._jvm.java.lang.Class.forName,
        )
        kinds = (named("java.util.ArrayList"), named("[Ljava.lang.String;"))
        return mapper.readerFor(mapper.getTypeFactory().constructCollectionType(*kinds))

    @cached_property
    def _encoder(self) -> Any:
        return self._spark._jsparkSession.implicits().newStringArrayEncoder()

    def _table(self, rows: Sequence[Sequence[object]]) -> Any:
        """Return the DataFrame of rows, one in each task."""
        # Behind the shuffle, whose rows all attempts of a task have in common.
        return self._rows(self._spark, rows).repartition(len(rows)).select(self._by_attempt)

    def _rows(self, session: SparkSession, rows: Sequence[Sequence[object]]) -> Any:
        """Return the DataFrame of rows, by a few calls to the JVM. Python's need a Python on the executors."""
        texts = self._reader.readValue(json.dumps([[str(value) for value in row] for row in rows]))
        return session._jsparkSession.createDataset(texts, self._encoder).toDF().select(self._typed)

    def column(self, name: str) -> Any:
        return self._expression(F.col(name))

    def conf(self) -> Any:
        """Return the Hadoop configuration on the executors."""
        name = "org.apache.hadoop.conf.Configuration"
        if self._hadoop is None:
            helper = "org.apache.spark.deploy.SparkHadoopUtil"
            return self.invoke(self.static(helper, "get", helper), "conf", name)
        kind = "org.apache.spark.util.SerializableConfiguration"
        carried = self.literal(self._jvm.org.apache.spark.util.SerializableConfiguration(self._hadoop), kind)
        return self.invoke(carried, "value", name)

    def path(self, name: str) -> Any:
        """Return a Hadoop Path of the text in a column."""
        return self.new(
            "org.apache.hadoop.fs.Path", self.invoke(self.column(name), "toString", "java.lang.String")
        )

    def file_system(self, name: str) -> Any:
        """Return the file system of the path in a column."""
        return self.invoke(self.path(name), "getFileSystem", "org.apache.hadoop.fs.FileSystem", self.conf())

    def opened(self, name: str) -> Any:
        """Return a stream of the file whose path is in a column, opened anew by each call of this method.

        Spark evaluates equal expressions once, unless they are not deterministic: both would read from one stream.
        """
        kind, nothing = self._type("java.io.InputStream"), self._seq([])
        parts = (
            self.file_system(name),
            "open",
            kind,
            self._seq([self.path(name)]),
            nothing,
            False,
            True,
            False,
        )
        return self._made(f"{_OBJECTS}.Invoke", *parts)

    def first(self, *expressions: Any) -> Any:
        """Return the first value that is not null. What follows it is not evaluated."""
        return self._made("org.apache.spark.sql.catalyst.expressions.Coalesce", self._seq(expressions))

    def answers(self, *expressions: Any) -> Any:
        """Return what `evaluate` computes for each row."""
        return self._array([self.as_column(expression) for expression in expressions])

    def evaluate(self, rows: Sequence[Sequence[object]], answers: Any) -> list[tuple[Any, ...]]:
        """Evaluate expressions for each row, on the executors. Return their values, in any order of the rows.

        Args:
            rows: the values of each row, in the order of their numbers in `text`.
        """
        return [tuple(row) for row in DataFrame(self._table(rows).select(answers), self._spark).collect()]
