"""Java's classes, each looked up once.

For `jvm.org.apache.hadoop.fs.Path`, py4j asks the JVM about each name before a dot, every time anew; and for a name
that is a package the JVM looks through all jars on its class path, to be sure that it is no class. PySpark does that
some twenty times over whenever Java raises an exception, be it only for a file that is not there.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView


def cache_java_classes(jvm: Any) -> None:
    """Make a driver's `jvm` remember the classes that were found by name, also for PySpark's own use.

    The object stays the same, because PySpark refers to it in several places.
    """
    jvm.__class__ = _View


class _Remembering:
    """A view of the JVM that stores what was found as an attribute.

    Packages, classes and static methods never change. A static field may change, so it is read each time.
    """

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)  # type: ignore[misc]
        if isinstance(found, JavaClass):
            found = _Class(found._fqn, found._gateway_client)
        elif isinstance(found, JavaPackage) and not name.rpartition(".")[2][:1].isupper():
            found = _Package(found._fqn, found._gateway_client, found._jvm_id)
        # py4j takes a class that is not there for a package. It may still come, with a jar, and is not kept.
        if isinstance(found, (_Class, _Package, JavaMember)):
            self.__dict__[name] = found
        return found


class _View(_Remembering, JVMView):  # type: ignore[misc]
    pass


class _Package(_Remembering, JavaPackage):  # type: ignore[misc]
    pass


class _Class(_Remembering, JavaClass):  # type: ignore[misc]
    pass
