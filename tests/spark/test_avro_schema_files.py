"""No job reads a file that `avro.schema.url` names: its content would be in logs, reports and the metastore."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.fixtures import Database
from tests.spark.metastore_client import metastore_client
from tests.spark.toolbox import Jobs, only, outcomes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIELD = "canary_of_the_file"
#: A schema is described and shown by its fields, and any other text by the words that are no schema.
CONTENTS = {
    "a schema": f'{{"type": "record", "name": "r", "fields": [{{"name": "{FIELD}", "type": "string"}}]}}',
    "JSON": f'{{"{FIELD}": "x"}}',
    "text": f"{FIELD} = x",
}


class SchemaServer:
    """Serves one text, and keeps which paths were asked for."""

    def __init__(self, content: str) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content.encode())

            do_HEAD = do_GET

            def log_message(self, *_: Any) -> None:
                """Nothing on the screen."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/schema"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> SchemaServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture(
    params=[
        pytest.param(content, id=name, marks=() if name == "JSON" else pytest.mark.full)
        for name, content in CONTENTS.items()
    ]
)
def server(request: pytest.FixtureRequest) -> Iterator[SchemaServer]:
    with SchemaServer(request.param) as running:
        yield running


@pytest.mark.one_version
@pytest.mark.parametrize("place", ["table", "table of partitions", "SerDe", "partition"])
def test_no_job_reads_it(
    spark: SparkSession, jobs: Jobs, database: Database, server: SchemaServer, place: str
) -> None:
    table = f"{database}.events"
    partitioned = " PARTITIONED BY (d STRING)" if "partition" in place else ""
    spark.sql(
        f"CREATE EXTERNAL TABLE {table} (id BIGINT){partitioned} STORED AS AVRO"
        f" LOCATION '{database.location('events')}'"
    )
    into = f"{table} PARTITION (d='1')" if partitioned else table
    for number in range(4):
        spark.sql(f"INSERT INTO {into} VALUES ({number})")
    with metastore_client(spark) as client:
        _name_schema(client, str(database), "events", place, server.url)
    found = [
        jobs(verb, "--table", table)
        for verb in ("analyze", "compact", "check", "history", "rollback", "cleanup")
    ]
    assert outcomes(found[1]) == ["compacted"]
    assert server.asked == []
    assert FIELD not in json.dumps(found)
    assert [report["exit_code"] for report in found] == [0] * 6
    assert [text.partition(":")[0] for text in only(found[1])["warnings"]] == (
        [] if place == "partition" else ["BACKUP_TABLE_NOT_UPDATED", "STATISTICS_NOT_COMPUTED"]
    )


def _name_schema(client: Any, database: str, table: str, place: str, url: str) -> None:
    entry = client.getTable(database, table)
    entry.getParameters().put("lakekeeper.analyze_after_compaction", "true")
    if place.startswith("table"):
        entry.getParameters().put("avro.schema.url", url)
    if place == "SerDe":
        entry.getSd().getSerdeInfo().getParameters().put("avro.schema.url", url)
    client.alter_table(database, table, entry)
    if place == "partition":
        (partition,) = client.listPartitions(database, table, -1)
        partition.getSd().getSerdeInfo().getParameters().put("avro.schema.url", url)
        client.alter_partition(database, table, partition)
