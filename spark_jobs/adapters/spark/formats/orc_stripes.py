"""Tells from the footer of an ORC file whether ORC can merge its stripes with stripes of other files.

ORC's merge unites the statistics of the stripes. It fails where a column has none of its own type, because the writer
was older, and where a file has none at all. So the same classes are asked for here, before anything is written.
"""

from __future__ import annotations

import json
from typing import Any

from spark_jobs.core.formats.stripes import by_statistics

#: ORC's writer refuses a smaller distance between the entries of an index (`WriterImpl.MIN_ROW_INDEX_STRIDE`).
_SHORTEST_STRIDE = 1000


class OrcStripes:
    """Finds what prevents a merge. Few calls to the JVM for each file, and its footer is read already."""

    def __init__(self, jvm: Any) -> None:
        self._create = jvm.org.apache.orc.impl.ColumnStatisticsImpl.create
        self._mapper = _class_names(jvm)
        #: By the text of a schema, category and class of statistics of each column; there are few schemas.
        self._wanted: dict[str, list[tuple[str, str]]] = {}

    def obstacle(self, reader: Any, schema: Any, text: str, stride: int, stripes: int) -> tuple[str, bool]:
        """Return why the stripes cannot be merged, and whether lists and maps have no statistics of their own.

        Args:
            schema: the schema of the file.
            text: the same as text.
            stride: the number of rows for each entry of the file's index.
            stripes: the number of stripes.
        """
        if text not in self._wanted:
            self._wanted[text] = self._statistics_of(schema)
        if 0 < stride < _SHORTEST_STRIDE:
            return (
                f"has an index entry for every {stride} rows, and ORC writes none for fewer than 1000",
                False,
            )
        statistics = json.loads(self._mapper.writeValueAsString(reader.getStripeStatistics()))
        classes = [[each["@class"] for each in stripe["columnStatistics"]] for stripe in statistics]
        return by_statistics(self._wanted[text], classes, stripes)

    def _statistics_of(self, schema: Any) -> list[tuple[str, str]]:
        kinds = [schema.findSubtype(number) for number in range(int(schema.getMaximumId()) + 1)]
        return [
            (str(kind.getCategory().getName()), str(self._create(kind).getClass().getName()))
            for kind in kinds
        ]


def _class_names(jvm: Any) -> Any:
    """Return a Jackson mapper that writes of each stripe only the classes of its statistics."""
    databind, jackson = jvm.com.fasterxml.jackson.databind, jvm.com.fasterxml.jackson.annotation
    mapper = databind.ObjectMapper()
    mapper.disable(databind.SerializationFeature.FAIL_ON_EMPTY_BEANS)
    visibility = jackson.JsonAutoDetect.Visibility
    accessor = jackson.PropertyAccessor
    mapper.setVisibility(getattr(accessor, "ALL"), getattr(visibility, "NONE"))  # noqa: B009
    shown = jackson.JsonAutoDetect.Value.defaultVisibility().withGetterVisibility(getattr(visibility, "ANY"))  # noqa: B009
    loaded = jvm.java.lang.Class.forName
    mapper.configOverride(loaded("org.apache.orc.impl.StripeStatisticsImpl")).setVisibility(shown)
    typing = databind.jsontype.impl.LaissezFaireSubTypeValidator.instance
    mapper.activateDefaultTyping(
        typing, databind.ObjectMapper.DefaultTyping.OBJECT_AND_NON_CONCRETE, jackson.JsonTypeInfo.As.PROPERTY
    )
    return mapper
