"""The compression codecs of Hadoop that this driver can load.

`io.compression.codecs` is a setting of the whole cluster. One class in it whose jar is missing here (LZO is the usual
one) makes Hadoop's factory fail for each file, also for files that are not compressed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spark_jobs.adapters.hadoop.java_errors import is_java_error

SETTING = "io.compression.codecs"
_CODEC = "org.apache.hadoop.io.compress.CompressionCodec"


class Codecs(NamedTuple):
    """Hadoop's CompressionCodecFactory, the classes in the setting that it lacks, and its configuration."""

    factory: Any
    missing: list[str]
    conf: Any


def codec_factory(jvm: Any, conf: Any) -> Codecs:
    """Return the factory without the classes that cannot be loaded.

    A file of a codec that is left out looks like one without compression: the caller must refuse it.

    Args:
        conf: the Hadoop configuration; it is not changed.
    """
    loadable, missing = loadable_codecs(jvm, conf)
    if missing:
        conf = jvm.org.apache.hadoop.conf.Configuration(conf)
        conf.set(SETTING, ",".join(loadable))
    return Codecs(jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(conf), missing, conf)


def loadable_codecs(jvm: Any, conf: Any) -> tuple[list[str], list[str]]:
    """Return the classes in the setting that can be loaded, and those that cannot."""
    names = [name.strip() for name in str(conf.get(SETTING) or "").split(",") if name.strip()]
    codec = jvm.java.lang.Class.forName(_CODEC)
    loadable = [name for name in names if _is_loadable(jvm, conf, name, codec)]
    return loadable, [name for name in names if name not in loadable]


def _is_loadable(jvm: Any, conf: Any, name: str, codec: Any) -> bool:
    """Tell whether the factory can create a codec of this class, as it does for each class in the setting."""
    try:
        java_class = conf.getClassByNameOrNull(name)
        if java_class is None or not codec.isAssignableFrom(java_class):
            return False
        jvm.org.apache.hadoop.util.ReflectionUtils.newInstance(java_class, conf)
    except Exception as error:
        if not is_java_error(error):
            raise
        return False  # a class that it needs is missing, or it has no public constructor
    return True
