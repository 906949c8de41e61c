"""Java's classes, each looked up once.

For `jvm.org.apache.hadoop.fs.Path`, py4j asks the JVM about each name before a dot, every time anew; and for a name
that is a package the JVM looks through all jars on its class path, to be sure that it is no class. PySpark does that
some twenty times over whenever Java raises an exception, be it only for a file that is not there.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView


def remember_classes(jvm: Any) -> None:
    """Has a driver's `jvm` remember the classes that were found by name; for PySpark's own look-ups too.

    The object stays the same one, for PySpark keeps it in several places.
    """
    jvm.__class__ = _View


def _keep(place: Any, name: str, found: Any) -> Any:
    """What is an attribute of the place, Python does not ask `__getattr__` for again."""
    if isinstance(found, JavaClass):
        place.__dict__[name] = found = _Class(found._fqn, found._gateway_client)
    # py4j takes a class that is not there for a package. It may still come, with a jar.
    elif isinstance(found, JavaPackage) and not name.rpartition(".")[2][:1].isupper():
        place.__dict__[name] = found = _Package(found._fqn, found._gateway_client, found._jvm_id)
    return found


class _View(JVMView):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _keep(self, name, super().__getattr__(name))


class _Package(JavaPackage):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Any:
        return _keep(self, name, super().__getattr__(name))


class _Class(JavaClass):  # type: ignore[misc]
    """Static methods and nested classes stay what they are; a static field may change, and is asked for each time."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            self.__dict__[name] = found
        return _keep(self, name, found)
