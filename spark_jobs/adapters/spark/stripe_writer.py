"""Appends the stripes of ORC files to one file, for files that ORC's own merge cannot unite.

That merge fails where lists and maps have no statistics of their own, as files of writers before ORC 1.6 (Hive 3) are.
Here these columns get statistics that are true of any list. No reader uses them to skip rows. All other statistics, and
every byte of the stripes, are those of the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError

from spark_jobs.adapters.hadoop.content_errors import is_of_content, unreadable_by
from spark_jobs.adapters.hadoop.java_errors import is_java_error, root_cause
from spark_jobs.core.formats.stripes import COLLECTIONS
from spark_jobs.core.messages.errors import LakekeeperError, Refusal
from spark_jobs.core.messages.refusals import RefusalCode
from spark_jobs.core.values.model import name_of

#: What ORC's code raises about contents that are sound, and that it cannot append.
_NOT_MERGEABLE = (
    "java.lang.ArrayIndexOutOfBoundsException",
    "java.lang.ClassCastException",
    "java.lang.IllegalArgumentException",
    "java.lang.IndexOutOfBoundsException",
    "java.lang.NullPointerException",
    "java.lang.UnsupportedOperationException",
)
_LONGEST = 2**63 - 1
_STRIPE, _STATISTICS = "org.apache.orc.StripeInformation", "org.apache.orc.OrcProto$StripeStatistics"


class StripeWriter:
    """Writes one file, which has the schema, the settings and the metadata of the first file that is appended.

    All files have these in common (`Stripes.layout`). After an error the file is deleted.
    """

    def __init__(self, gateway: Any, conf: Any, target: str) -> None:
        self._gateway = gateway
        self._orc = gateway.jvm.org.apache.orc
        self._conf = conf
        self._target = gateway.jvm.org.apache.hadoop.fs.Path(target)
        self._writer: Any = None
        self._block = 0
        self._bytes = _StripeBytes(gateway)

    def __enter__(self) -> StripeWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._writer.close()
            return
        with suppress(Py4JError):
            self._writer.close()
        with suppress(Py4JError):
            self._target.getFileSystem(self._conf).delete(self._target, False)

    def append(self, file: str) -> None:
        """Append all stripes of a file.

        Raises:
            Refusal: TYPE, ORC cannot append them.
            Unreadable: its content is damaged.
            LakekeeperError: the file cannot be read, or the other one not be written.
        """
        try:
            self._append(file)
        except Exception as error:
            if not is_java_error(error):
                raise
            kind, text = root_cause(error)
            # What the client of the file system or a full disk raises may be gone at the next attempt.
            if not is_of_content(error):  # guard: cluster_is_no_type
                raise LakekeeperError(f"cannot merge the stripes of {file}: {text or kind}") from error
            if kind not in _NOT_MERGEABLE:
                raise unreadable_by(error, file) from error
            raise Refusal(
                RefusalCode.TYPE, f"ORC cannot merge the stripes of {name_of(file)}: {text or kind}"
            ) from error

    def _append(self, file: str) -> None:
        path = self._gateway.jvm.org.apache.hadoop.fs.Path(file)
        reader = self._orc.OrcFile.createReader(path, self._orc.OrcFile.readerOptions(self._conf))
        columns = _collections(reader.getSchema())
        self._prepare(reader)
        statistics, stream = reader.getOrcProtoStripeStatistics(), reader.takeFile()
        try:
            for number, stripe in enumerate(reader.getStripes()):
                known = self._completed(statistics.get(number), columns)
                self._bytes.copy(stream, stripe, self._writer, known)
        finally:
            stream.close()

    def _prepare(self, reader: Any) -> None:
        """Create the writer by the first file. Later ones may have larger blocks of compressed bytes."""
        block = int(reader.getCompressionSize())
        if self._writer is None:
            self._writer = self._orc.OrcFile.createWriter(self._target, self._options(reader))
            for key in reader.getMetadataKeys():
                self._writer.addUserMetadata(key, reader.getMetadataValue(key))
        elif block > self._block:
            self._writer.increaseCompressionSize(block)
        self._block = max(block, self._block)

    def _options(self, reader: Any) -> Any:
        """Return the options that ORC's own merge takes from the first file, and its calendar."""
        options = self._orc.OrcFile.writerOptions(self._conf)
        options.version(reader.getFileVersion()).writerVersion(reader.getWriterVersion())
        options.compress(reader.getCompressionKind()).rowIndexStride(reader.getRowIndexStride())
        options.setSchema(reader.getSchema()).setProlepticGregorian(reader.writerUsedProlepticGregorian())
        if int(reader.getCompressionSize()):
            options.bufferSize(reader.getCompressionSize()).enforceBufferSize()
        return options

    def _completed(self, statistics: Any, columns: list[int]) -> Any:
        """Return the statistics of a stripe, with those of lists and maps that lack them."""
        builder = statistics.toBuilder()
        for column in columns:
            known = builder.getColStats(column)
            if not known.hasCollectionStatistics():  # guard: any_list_fits
                completed = known.toBuilder().setCollectionStatistics(self._any(known.getNumberOfValues()))
                builder.setColStats(column, completed.build())
        return builder.build()

    def _any(self, values: int) -> Any:
        """Return the statistics of lists of which nothing is known but their number."""
        anything = self._orc.OrcProto.CollectionStatistics.newBuilder()
        return (anything.setMinChildren(0).setMaxChildren(_LONGEST) if values else anything).build()


class _StripeBytes:
    """Passes the bytes of stripes from one Java object to another.

    py4j would copy an array of bytes into Python. So the array stays an element of arrays of objects, which are the
    arguments of methods that are called by reflection.
    """

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway
        jvm, load = (
            gateway.jvm,
            gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass,
        )
        number = jvm.java.lang.Integer.TYPE
        array = jvm.java.lang.Class.forName("[B")
        self._read = load("org.apache.hadoop.fs.PositionedReadable").getMethod(
            "readFully", self._array("java.lang.Class", (jvm.java.lang.Long.TYPE, array, number, number))
        )
        kinds = (array, number, number, load(_STRIPE), load(_STATISTICS))
        self._append = load("org.apache.orc.Writer").getMethod(
            "appendStripe", self._array("java.lang.Class", kinds)
        )
        self._length = -1
        self._holder: Any = None

    def copy(self, stream: Any, stripe: Any, writer: Any, statistics: Any) -> None:
        """Append a stripe of a file that is read from `stream`."""
        length = int(stripe.getLength())
        if length > self._length:
            self._length, self._holder = length, self._gateway.new_array(self._gateway.jvm.byte, 1, length)
        read = self._array("java.lang.Object", (stripe.getOffset(), None, 0, length))
        appended = self._array("java.lang.Object", (None, 0, length, stripe, statistics))
        for arguments, position in ((read, 1), (appended, 0)):
            self._gateway.jvm.java.lang.System.arraycopy(self._holder, 0, arguments, position, 1)
        self._read.invoke(stream, read)
        self._append.invoke(writer, appended)

    def _array(self, kind: str, items: Sequence[Any]) -> Any:
        array = self._gateway.new_array(getattr(self._gateway.jvm, kind), len(items))
        for position, item in enumerate(items):
            array[position] = item
        return array


def _collections(schema: Any) -> list[int]:
    """Return the ids of the lists and maps at any depth."""
    kinds = {number: schema.findSubtype(number) for number in range(int(schema.getMaximumId()) + 1)}
    return [number for number, kind in kinds.items() if str(kind.getCategory().getName()) in COLLECTIONS]
