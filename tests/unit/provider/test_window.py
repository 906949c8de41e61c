from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from lakekeeper_provider.exceptions import UsageError
from lakekeeper_provider.options.window import MaintenanceWindow

PARIS = "Europe/Paris"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def test_is_open_from_start_until_just_before_end():
    window = MaintenanceWindow("02:00", "04:00")
    assert not window.contains(utc("2026-02-23T01:59:59"))
    assert window.contains(utc("2026-02-23T02:00"))
    assert window.contains(utc("2026-02-23T03:59:59"))
    assert not window.contains(utc("2026-02-23T04:00"))


def test_runs_over_midnight_on_the_day_it_opens():
    window = MaintenanceWindow("22:00", "05:00", days=["fri"])  # 2026-02-27 is a Friday
    assert window.contains(utc("2026-02-27T23:00"))
    assert window.contains(utc("2026-02-28T04:59"))
    assert not window.contains(utc("2026-02-27T04:00"))
    assert not window.contains(utc("2026-02-28T23:00"))
    assert window.closes_at(utc("2026-02-27T22:00")) == utc("2026-02-28T05:00")


def test_next_open_skips_the_days_that_are_not_named():
    window = MaintenanceWindow("22:00", "05:00", days=["fri"])
    assert window.next_open(utc("2026-02-28T06:00")) == utc("2026-03-06T22:00")
    assert window.next_open(utc("2026-02-27T23:00")) == utc("2026-02-27T23:00")


def test_closed_window_has_no_closing():
    assert MaintenanceWindow("02:00", "04:00").closes_at(utc("2026-02-23T05:00")) is None


def test_follows_the_clock_of_its_time_zone():
    window = MaintenanceWindow("22:00", "05:00", PARIS)
    assert window.next_open(utc("2026-02-23T12:00")) == utc("2026-02-23T21:00")
    assert window.next_open(utc("2026-07-23T12:00")) == utc("2026-07-23T20:00")


def test_night_of_the_spring_change_is_an_hour_shorter():
    window = MaintenanceWindow("22:00", "05:00", PARIS)  # 2026-03-29 02:00 becomes 03:00
    opens = window.next_open(utc("2026-03-28T12:00"))
    assert window.closes_at(opens) - opens == timedelta(hours=6)


def test_night_of_the_autumn_change_is_an_hour_longer():
    window = MaintenanceWindow("22:00", "05:00", PARIS)  # 2026-10-25 03:00 becomes 02:00
    opens = window.next_open(utc("2026-10-24T12:00"))
    assert window.closes_at(opens) - opens == timedelta(hours=8)


def test_opening_in_the_skipped_hour_is_the_moment_of_the_change():
    window = MaintenanceWindow("02:30", "05:00", PARIS)
    assert window.next_open(utc("2026-03-28T23:00")) == utc("2026-03-29T01:00")
    assert window.closes_at(utc("2026-03-29T01:00")) == utc("2026-03-29T03:00")


def test_window_within_the_skipped_hour_does_not_open_that_night():
    window = MaintenanceWindow("02:15", "02:45", PARIS)
    assert window.next_open(utc("2026-03-28T23:00")) == utc("2026-03-30T00:15")


def test_repeated_hour_counts_once():
    window = MaintenanceWindow("02:15", "02:45", PARIS)
    assert window.contains(utc("2026-10-25T00:20"))
    assert not window.contains(utc("2026-10-25T01:20"))


def test_days_are_those_of_the_time_zone():
    window = MaintenanceWindow("00:30", "03:00", "Asia/Tokyo", days=["mon"])
    assert window.contains(utc("2026-02-22T16:00"))  # Monday 01:00 in Tokyo, Sunday in UTC


def test_whole_day_on_every_day_never_closes_at_midnight():
    window = MaintenanceWindow("00:00", "24:00")
    assert window.closes_at(utc("2026-02-23T23:59")) > utc("2026-02-25T00:00")


def test_whole_day_on_one_day_closes_at_its_end():
    window = MaintenanceWindow("00:00", "24:00", days=["monday"])
    assert window.closes_at(utc("2026-02-23T12:00")) == utc("2026-02-24T00:00")


def test_every_instant_is_either_open_or_before_the_next_opening():
    window = MaintenanceWindow("23:30", "01:15", "America/New_York", days=["sat", "sun"])
    instant = utc("2026-10-30T00:00")
    for _ in range(24 * 14):
        opening = window.next_open(instant)
        assert window.contains(opening)
        assert (opening == instant) == window.contains(instant)
        instant += timedelta(minutes=37)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"start": "22:00", "end": "22:00"}, "22:00-22:00 never opens"),
        ({"start": "22:00", "end": "05:00", "days": []}, "without days never opens"),
        ({"start": "25:00", "end": "05:00"}, "'25:00'"),
        ({"start": "22:00", "end": "05:00", "days": "mon"}, "must be a list"),
        (
            {"start": "22:00", "end": "05:00", "days": ["mondy"]},
            r"unknown day 'mondy' \(did you mean 'monday'",
        ),
        ({"start": "22:00", "end": "05:00", "timezone": "Europe/Pari"}, "did you mean 'Europe/Paris'"),
        ({"start": "22:00", "end": "05:00", "zone": "UTC"}, "unknown key 'zone'"),
        ({"start": "22:00"}, "end is missing"),
        ("nightly", "expected start, end"),
    ],
)
def test_mistakes_are_named(fields, message):
    with pytest.raises(UsageError, match=message):
        MaintenanceWindow.of(fields)


def test_an_instant_without_time_zone_is_refused():
    with pytest.raises(UsageError, match="has no time zone"):
        MaintenanceWindow("22:00", "05:00").contains(datetime(2026, 2, 23, 23, 0))


def test_an_unquoted_time_of_yaml_is_understood():
    assert MaintenanceWindow.of({"start": 22 * 60, "end": "05:00"}).start == "22:00"


def test_survives_the_way_to_the_triggerer():
    window = MaintenanceWindow("22:00", "5:00", PARIS, ["Friday", "mon"])
    assert MaintenanceWindow.of(window.as_dict()) == window
    assert window.days == ("mon", "fri")
