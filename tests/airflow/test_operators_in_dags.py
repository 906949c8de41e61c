"""Operators and the sensor as a DAG has them: template fields, mapping, serialization, default arguments."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from airflow.providers.common.compat.sdk import DAG

from lakekeeper_provider.compat import AIRFLOW_V_3_1_PLUS, Asset
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

    @pytest.mark.parametrize(
        "operator", [AnalyzeOperator, CompactOperator, RollbackOperator, CleanupOperator]
    )
    @pytest.mark.parametrize("form", [list, lambda outlets: outlets[0]])
    def test_outlets_of_a_user_stay_beside_its_own_which_are_there_once(self, operator, form):
        mine = Asset("x://a/b")
        with DAG("d", schedule=None, start_date=datetime(2026, 1, 1)):
            one = operator(task_id="one", table="a.b", outlets=form([mine]))
            many = operator.partial(task_id="many", outlets=form([mine])).expand(table=["a.b", "a.c"])
        assert one.outlets[0] == mine
        assert len(one.outlets) == (4 if AIRFLOW_V_3_1_PLUS else 1)
        assert list(many.partial_kwargs["outlets"]) == one.outlets
        assert operator(task_id="again", table="a.b", outlets=one.outlets).outlets == one.outlets

    def test_default_args_reach_them(self):
        made = SmallFilesSensor(task_id="t", table="a.b", default_args={"conn_id": "c", "yarn_queue": "q"})
        assert (made.conn_id, made.yarn_queue) == ("c", "q")
