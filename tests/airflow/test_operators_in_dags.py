"""Operators and the sensor as a DAG has them: template fields, mapping, serialization, default arguments."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from airflow.providers.common.compat.sdk import DAG

from lakekeeper_provider.operators.analyze import AnalyzeOperator
from lakekeeper_provider.operators.check import CheckOperator
from lakekeeper_provider.operators.cleanup import CleanupOperator
from lakekeeper_provider.operators.compact import CompactOperator
from lakekeeper_provider.operators.rollback import RollbackOperator
from lakekeeper_provider.options.window import MaintenanceWindow
from lakekeeper_provider.sensors.small_files import SmallFilesSensor


class TestInDags:
    CLASSES = (
        *(AnalyzeOperator, CompactOperator, RollbackOperator, CleanupOperator, CheckOperator),
        SmallFilesSensor,
    )

    @pytest.mark.parametrize("operator", CLASSES)
    def test_every_template_field_is_an_attribute(self, operator):
        made = operator(task_id="t", table="a.b")
        assert [name for name in operator.template_fields if not hasattr(made, name)] == []

    @pytest.mark.parametrize("operator", CLASSES)
    def test_can_be_mapped_and_serialized_with_a_window(self, operator):
        from airflow.serialization import serialized_objects

        window = MaintenanceWindow("22:00", "05:00")
        with DAG("d", schedule=None, start_date=datetime(2026, 1, 1)) as dag:
            operator(task_id="one", table="a.b", window=window)
            operator.partial(task_id="many", window=window, conn_id="c").expand(table=["a.b", "a.c"])
        serializer = getattr(serialized_objects, "DagSerialization", serialized_objects.SerializedDAG)
        assert "22:00" in json.dumps(serializer.to_dict(dag))

    def test_default_args_reach_them(self):
        made = SmallFilesSensor(task_id="t", table="a.b", default_args={"conn_id": "c", "yarn_queue": "q"})
        assert (made.conn_id, made.yarn_queue) == ("c", "q")
