"""Spark's own client of the metastore, which has classes of the version that is configured for it.

With `spark.sql.hive.metastore.jars`, its classes are in a class loader of their own, where some of those may be missing
that methods of Spark's class name: Hive 3 has no `Index`. py4j looks at all methods of the class of an object on which
it calls one, and the JVM ends its connection then. So fields are read, by a static method.
"""

from __future__ import annotations

from typing import Any

from spark_jobs.adapters.hadoop.java_errors import call


def metastore_client(jvm: Any, catalog: Any) -> Any:
    """Return the connection of Spark's external catalog to the metastore: an `IMetaStoreClient` of Hive."""
    loader = _field(jvm, catalog.unwrapped().client(), "clientLoader")
    if loader.cachedHive() is None:  # Spark gives up its client after an error of the connection.
        call(catalog, "databaseExists", "default")
    return loader.cachedHive().getMSC()


def server_version(jvm: Any, client: Any) -> str:
    """Return the version that the metastore has, as it says (3.1 says 3.0). Hive's client has no method that asks."""
    return str(_field(jvm, _unwrapped(jvm, client), "client").getVersion())


def _unwrapped(jvm: Any, client: Any) -> Any:
    """Return Hive's client without the proxies around it, of which one retries, and one lets no two threads in."""
    proxy = jvm.java.lang.reflect.Proxy
    while proxy.isProxyClass(client.getClass()):
        handler = proxy.getInvocationHandler(client)
        retries = handler.getClass().getName().endswith("RetryingMetaStoreClient")
        client = _field(jvm, handler, "base" if retries else "client")
    return client


def _field(jvm: Any, owner: Any, name: str) -> Any:
    """Return a field of an object, also a private one."""
    return jvm.org.apache.commons.lang3.reflect.FieldUtils.readField(owner, name, True)
