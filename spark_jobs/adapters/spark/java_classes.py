"""Looks up each Java class only once.

For `jvm.org.apache.hadoop.fs.Path`, py4j asks the JVM about each part of the name, each time that it is used. For a
package, the JVM searches all jars on its class path to find out that it is not a class. PySpark does this about twenty
times for each Java exception, for example for a file that does not exist.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage, JVMView


def cache_java_classes(jvm: Any) -> None:
    """Make a driver's `jvm` keep the classes that were found by name, also for PySpark's own use.

    The class of the object is changed, because PySpark refers to the object in several places.
    """
    jvm.__class__ = _View


class _Caching:
    """A view of the JVM that stores the results of look-ups as attributes.

    Packages, classes and static methods never change. A static field may change, so it is read each time.
    """

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)  # type: ignore[misc]
        if isinstance(member, JavaClass):
            member = _Class(member._fqn, member._gateway_client)
        elif isinstance(member, JavaPackage) and not name.rpartition(".")[2][:1].isupper():
            member = _Package(member._fqn, member._gateway_client, member._jvm_id)
        # py4j takes a class that does not exist for a package. It is not kept, because a jar may still add the class.
        if isinstance(member, (_Class, _Package, JavaMember)):
            self.__dict__[name] = member
        return member


class _View(_Caching, JVMView):  # type: ignore[misc]
    pass


class _Package(_Caching, JavaPackage):  # type: ignore[misc]
    pass


class _Class(_Caching, JavaClass):  # type: ignore[misc]
    pass
