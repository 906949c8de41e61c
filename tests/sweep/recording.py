"""Records which settings are read: of Hadoop's configuration, of Spark's SQL sessions, and of Spark itself.

The classes that hold the settings get maps that note each name they are asked for. Janino, which every Spark has,
compiles these maps in the running JVM. Tasks run in the JVM of the driver, so that their reads of Hadoop's
configuration are seen; what they read of a session's settings is not: `record.declared` has what Spark declares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A kind of settings and a name, separated by a blank: `hadoop io.file.buffer.size`.
HADOOP, SQL, SPARK = "hadoop", "sql", "spark"

_SOURCE = """
package lakekeeper.sweep;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

public class Recorded {
  public static final ConcurrentHashMap NAMES = new ConcurrentHashMap();
  static final List READS = Arrays.asList(new Object[] {"get", "getRaw"});
  static final List NOT_READERS = Arrays.asList(new Object[] {
    "org.apache.hadoop.hive.conf.HiveConf.initialize",
    "org.apache.hadoop.hive.metastore.HiveMetaStoreClient.isCompatibleWith"
  });

  static void add(String kind, Object name) {
    NAMES.put(kind + " " + name, Boolean.TRUE);
  }

  /** Writing a setting looks for other names too; Hive's client only compares all that it declares. */
  static boolean isRead() {
    StackTraceElement[] frames = new Throwable().getStackTrace();
    int i = 2;
    while (i < frames.length && frames[i].getMethodName().equals("handleDeprecation")) i++;
    if (i == frames.length || !READS.contains(frames[i].getMethodName())) return false;
    while (i < frames.length && frames[i].getClassName().equals("org.apache.hadoop.conf.Configuration")) i++;
    return i < frames.length && !NOT_READERS.contains(frames[i].getClassName() + "." + frames[i].getMethodName());
  }

  public static class Hadoop extends HashMap {
    public Object get(Object name) {
      if (!NAMES.containsKey("hadoop " + name) && isRead()) add("hadoop", name);
      return super.get(name);
    }
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
        """Record reads of every Hadoop configuration of the JVM, those of tasks too, from now on.

        Each read of a setting first looks for a newer name of it, in a table that all configurations share.
        """
        kind = self._jvm.java.lang.Class.forName("org.apache.hadoop.conf.Configuration")
        found = kind.getDeclaredField("deprecationContext")
        found.setAccessible(True)
        self._replace(found.get(None).get(), "deprecatedKeyMap", "Hadoop")

    def record_spark(self) -> None:
        """Record reads of Spark's own configuration."""
        self._record(self._spark._jsc.sc().conf(), "Spark")

    def record_sql(self, session: SparkSession) -> None:
        """Record reads of the settings of a session."""
        self._record(session._jsparkSession.sessionState().conf(), "Sql")

    def _record(self, conf: Any, kind: str) -> None:
        values = self._replace(conf, "settings", kind)
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
