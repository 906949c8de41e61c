"""What a rewrite must keep: columns of many files, calendars, attributes. Pure."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from spark_jobs.core.formats import footers, struct_types
from spark_jobs.core.formats.encoding import Calendar, calendar_settings
from spark_jobs.core.formats.footers import Footer
from spark_jobs.core.messages.errors import Refusal
from spark_jobs.core.values.attributes import (
    GROUP,
    MODE,
    ONLY_READER,
    OWNER,
    SMALL,
    Attributes,
    LostAttribute,
    check_lost,
    combine,
)
from spark_jobs.core.values.model import FileEntry, FileListing
from spark_jobs.protocol.execution.unit_attributes import UnitAttributes


def struct(*fields: tuple[str, Any], nullable: bool = True) -> str:
    rows = [{"name": n, "type": t, "nullable": nullable, "metadata": {"note": 1}} for n, t in fields]
    return json.dumps({"type": "struct", "fields": rows})


def names(text: str) -> list[str]:
    return [field["name"] for field in json.loads(text)["fields"]]


class TestUnion:
    def test_columns_of_all_files_in_the_order_of_the_first(self) -> None:
        found = struct_types.union(
            [struct(("a", "long"), ("b", "string")), struct(("a", "long"), ("c", "date"))]
        )
        assert names(found) == ["a", "b", "c"]
        assert "note" not in found

    def test_where_files_disagree_the_order_is_the_metastores(self) -> None:
        texts = [struct(("a", "long"), ("b", "long")), struct(("B", "long"), ("A", "long"), ("x", "long"))]
        assert names(struct_types.union(texts, ["b", "a"])) == ["b", "a", "x"]

    def test_nested_columns_are_united_too(self) -> None:
        nested = [json.loads(struct((name, "long"))) for name in ("a", "b")]
        arrays = [{"type": "array", "elementType": kind, "containsNull": False} for kind in nested]
        maps = [
            {"type": "map", "keyType": "string", "valueType": kind, "valueContainsNull": True}
            for kind in arrays
        ]
        (field,) = json.loads(struct_types.union([struct(("m", kind)) for kind in maps]))["fields"]
        assert [f["name"] for f in field["type"]["valueType"]["elementType"]["fields"]] == ["a", "b"]

    def test_two_types_of_one_column_are_a_conflict(self) -> None:
        with pytest.raises(Refusal, match="column 'a' is long in one file and string in another"):
            struct_types.union([struct(("a", "long")), struct(("A", "string"))])

    def test_what_one_file_lacks_may_be_null(self) -> None:
        texts = [struct(("a", "long"), ("b", "long"), nullable=False), struct(("a", "long"), nullable=False)]
        fields = json.loads(struct_types.union(texts))["fields"]
        assert [field["nullable"] for field in fields] == [False, True]
        assert '"nullable": false' not in struct_types.nullable(texts[0])


def spark(version: str, *marks: str, zone: str = "UTC") -> Footer:
    keys = {"org.apache.spark.version": version, **dict.fromkeys(marks, "")}
    zoned = {"org.apache.spark.timeZone": zone} if marks else {}
    return Footer("f", 1, {}, {"d": "int32 (DATE)"}, {**keys, **zoned})


LEGACY = "org.apache.spark.legacyDateTime"


@pytest.mark.parametrize(
    ("found", "calendar", "zone"),
    [
        ([spark("3.5.1"), spark("4.0.0")], Calendar.PROLEPTIC, None),
        ([spark("3.5.1", LEGACY), spark("3.2.0", LEGACY)], Calendar.HYBRID, "UTC"),
        ([spark("3.5.1", LEGACY), spark("3.5.1", LEGACY, zone="Asia/Tokyo")], Calendar.UNKNOWN, None),
        ([spark("3.5.1", LEGACY), spark("3.5.1")], Calendar.UNKNOWN, None),
        ([spark("2.4.8")], Calendar.UNKNOWN, None),
        (
            [Footer("f", 1, {}, {}, {}, created_by="parquet-cpp-arrow version 20.0.0")],
            Calendar.PROLEPTIC,
            None,
        ),
        ([Footer("f", 1, {}, {}, {}, created_by="parquet-mr version 1.10.0")], Calendar.UNKNOWN, None),
    ],
)
def test_the_calendar_is_what_all_footers_say(
    found: list[Footer], calendar: Calendar, zone: str | None
) -> None:
    profile = footers.profile(found, None, "parquet")
    assert (profile.calendar, profile.zone) == (calendar, zone)


def test_ancient_dates_are_read_and_written_in_one_calendar() -> None:
    settings = calendar_settings(Calendar.HYBRID, Calendar.UNKNOWN, "Asia/Tokyo")
    assert {settings[f"spark.sql.parquet.datetimeRebaseModeIn{way}"] for way in ("Read", "Write")} == {
        "LEGACY"
    }
    assert {settings[f"spark.sql.parquet.int96RebaseModeIn{way}"] for way in ("Read", "Write")} == {
        "EXCEPTION"
    }
    assert settings["spark.sql.session.timeZone"] == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("leaves", "writer", "meant"),
    [
        # Hive reads its time zone for INT96 only.
        ({"d": "int32 (DATE)"}, {"writer.time.zone": "UTC"}, False),
        ({"d": "int32 (DATE)"}, {"writer.date.proleptic": "true"}, True),
        ({"d": "int32 (DATE)"}, {"pandas": "{}"}, False),
        ({"d": "int32"}, {"org.apache.spark.version": "3.5.1"}, False),
        (
            {"l.list.element": "repeated int64 (TIMESTAMP(MICROS,true))"},
            {"org.apache.spark.version": "3.5.1"},
            True,
        ),
    ],
)
def test_notes_on_dates_count_where_there_are_dates(
    leaves: dict[str, str], writer: dict[str, str], meant: bool
) -> None:
    assert (
        footers.profile([Footer("f", 1, {}, leaves, writer)], None, "parquet").has_interpretation_keys
        is meant
    )


class TestAttributes:
    LACKS = (LostAttribute(OWNER, "you are not a superuser"), LostAttribute(GROUP, "you are not in it"))

    def test_the_owner_alone_is_dispensable(self) -> None:
        assert check_lost(self.LACKS[:1], None, "/t") == [
            "ATTRIBUTE_NOT_KEPT: the owner of /t is not kept: you are not a superuser"
        ]
        with pytest.raises(Refusal, match=r"ATTRIBUTES: the group of /t cannot be set .* 'attributes: warn'"):
            check_lost(self.LACKS, None, "/t")

    def test_all_may_be_required_or_none(self) -> None:
        assert len(check_lost(self.LACKS, "warn", "/t")) == 2
        with pytest.raises(Refusal, match="the owner of /t"):
            check_lost(self.LACKS, "require", "/t")

    def test_one_file_for_many_is_open_to_nobody_who_may_not_read_all_of_them(self) -> None:
        mine, others = Attributes(0o640, owner="etl"), Attributes(0o600, owner="loader")
        file, lacks = combine([mine, mine, others])
        assert (file.mode, [lack.kind for lack in lacks]) == (0o600, [MODE, ONLY_READER, SMALL])
        assert combine([others, others]) == (others, [])

    def test_files_that_only_their_owners_may_read_are_not_made_one(self) -> None:
        """A superuser reads them all, and whoever owned the new file would read the rows of the others."""
        _, lacks = combine([Attributes(0o600, owner="etl"), Attributes(0o600, owner="loader")])
        message = r"the owner \(the only account that may read some of the files\) of /t cannot be set"
        with pytest.raises(Refusal, match=message):
            check_lost(lacks, None, "/t")

    def test_a_file_made_of_those_of_several_owners_belongs_to_the_owner_of_the_directory(self) -> None:
        """A drop box: whoever may add files is not of the group that may read them."""
        known = {
            "/t": Attributes(0o1777, owner="finance", group="fin"),
            "/t/a": Attributes(0o640, owner="mallory", group="fin"),
            "/t/b": Attributes(0o640, owner="mallory", group="fin"),
            "/t/c": Attributes(0o640, owner="finance", group="fin"),
        }
        entries = [
            SimpleNamespace(name=path[3:], access=found.owner)
            for path, found in known.items()
            if path != "/t"
        ]
        fs: Any = SimpleNamespace(attributes=known.__getitem__, list=lambda _: entries)
        found = UnitAttributes.of(fs, "/t", FileListing.of(FileEntry(name, 1, 1, 1) for name in "abc"))
        assert (found.file.owner, found.directory.owner) == ("finance", "finance")

    def test_files_that_only_their_writers_see_apart_are_one_kind(self) -> None:
        found = [Attributes(0o664, owner="etl"), Attributes(0o644, owner="loader", replication=2)]
        file, lacks = combine(found)
        assert (file.mode, check_lost(lacks, None, "/t")) == (
            0o644,
            [
                "ATTRIBUTE_NOT_KEPT: the owner, replication or write permission of /t is not kept: the files differ"
                " in it"
            ],
        )

    @pytest.mark.parametrize("other", [Attributes(0o640, group="b"), Attributes(0o640, acl=("user:x:r--",))])
    def test_files_of_several_groups_or_acls_are_not_made_one(self, other: Attributes) -> None:
        _, lacks = combine([Attributes(0o640), other])
        with pytest.raises(Refusal, match="ATTRIBUTES"):
            check_lost(lacks, None, "/t")
