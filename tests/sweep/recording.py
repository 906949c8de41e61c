"""Records which settings are read: of Hadoop's configuration, of Spark's SQL sessions, and of Spark itself.

The classes that hold the settings get maps that note each name they are asked for. Janino, which every Spark has,
compiles these maps in the running JVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A kind of settings and a name, separated by a blank: `hadoop io.file.buffer.size`.
HADOOP, SQL, SPARK = "hadoop", "sql", "spark"
#: Reads of all settings at once, by prefix or pattern: the method that reads them.
HADOOP_ALL = "hadoop-all"

_SOURCE = """
package lakekeeper.sweep;

import java.util.HashMap;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

public class Recorded {
  public static final ConcurrentHashMap NAMES = new ConcurrentHashMap();

  static void add(String kind, Object name) {
    NAMES.put(kind + " " + name, Boolean.TRUE);
  }

  static String reader() {
    StackTraceElement[] frames = new Throwable().getStackTrace();
    for (int i = 2; i < frames.length; i++) {
      String name = frames[i].getClassName();
      if (!name.startsWith("org.apache.hadoop.conf") && !name.startsWith("lakekeeper.sweep"))
        return name + "." + frames[i].getMethodName();
    }
    return "?";
  }

  public static class Hadoop extends Properties {
    public String getProperty(String name) { add("hadoop", name); return super.getProperty(name); }
    public String getProperty(String name, String other) {
      add("hadoop", name);
      return super.getProperty(name, other);
    }
    public Set entrySet() { add("hadoop-all", reader()); return super.entrySet(); }
  }

  public static class Sql extends HashMap {
    public Object get(Object name) { add("sql", name); return super.get(name); }
    public boolean containsKey(Object name) { add("sql", name); return super.containsKey(name); }
  }

  public static class Spark extends ConcurrentHashMap {
    public Object get(Object name) { add("spark", name); return super.get(name); }
    public boolean containsKey(Object name) { add("spark", name); return super.containsKey(name); }
  }
}
"""


class Recorder:
    """The recorder of one driver. What it has noted is the same for all sessions."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark._jvm
        self._spark = spark
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self._jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(_SOURCE)
        self._loader = compiler.getClassLoader()
        self._names = self._loader.loadClass("lakekeeper.sweep.Recorded").getField("NAMES").get(None)

    def record_hadoop(self) -> None:
        """Record reads of the driver's Hadoop configuration and of its copies, from now on.

        Classes that add resources of their own make Hadoop load each configuration again. So what is to be recorded
        must have run once before.
        """
        self._replace(self._spark._jsc.hadoopConfiguration(), "properties", "Hadoop")

    def record_spark(self) -> None:
        """Record reads of Spark's own configuration."""
        self._replace(self._spark._jsc.sc().conf(), "settings", "Spark")

    def record_sql(self, session: SparkSession) -> None:
        """Record reads of the settings of a session."""
        conf = session._jsparkSession.sessionState().conf()
        values = self._replace(conf, "settings", "Sql")
        provider = self._value(self._value(conf, "reader"), "conf")
        self._field(provider, "conf").set(provider, values)

    def take(self) -> set[str]:
        """Return what was read since the last call."""
        text = self._jvm.java.lang.String.join("\n", self._names.keySet())
        self._names.clear()
        return set(str(text).split("\n")) - {""}

    def _replace(self, owner: Any, field: str, kind: str) -> Any:
        found = self._field(owner, field)
        values = (
            self._loader.loadClass(f"lakekeeper.sweep.Recorded${kind}")
            .getConstructors()[0]
            .newInstance(self._spark.sparkContext._gateway.new_array(self._jvm.java.lang.Object, 0))
        )
        values.putAll(found.get(owner))
        found.set(owner, values)
        return values

    def _value(self, owner: Any, field: str) -> Any:
        return self._field(owner, field).get(owner)

    def _field(self, owner: Any, name: str) -> Any:
        """Return a private field, also one of a superclass. Scala may put the name of the class before its own."""
        kind = owner.getClass()
        while kind is not None:
            for field in kind.getDeclaredFields():
                if field.getName() == name or field.getName().endswith(f"$${name}"):
                    field.setAccessible(True)
                    return field
            kind = kind.getSuperclass()
        raise AttributeError(f"{owner.getClass().getName()} has no field {name}")
