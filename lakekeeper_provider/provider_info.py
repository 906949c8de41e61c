"""What Airflow's providers manager reads about this package. It must not import Airflow."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """Describe the provider; ``package-name`` must equal the name of the distribution."""
    return {
        "package-name": "airflow-provider-lakekeeper",
        "name": "Lakekeeper",
        "description": "Safe compaction of Hive external tables, with rollback.",
        "integrations": [{"integration-name": "Lakekeeper", "tags": ["software"]}],
        "operators": [
            {
                "integration-name": "Lakekeeper",
                "python-modules": [
                    "lakekeeper_provider.operators.analyze",
                    "lakekeeper_provider.operators.compact",
                    "lakekeeper_provider.operators.rollback",
                    "lakekeeper_provider.operators.cleanup",
                    "lakekeeper_provider.operators.check",
                    "lakekeeper_provider.operators.history",
                    "lakekeeper_provider.operators.doctor",
                ],
            }
        ],
        "extra-links": [
            "lakekeeper_provider.submission.links.YarnApplicationLink",
            "lakekeeper_provider.submission.links.ReportLink",
        ],
        "sensors": [
            {
                "integration-name": "Lakekeeper",
                "python-modules": [
                    "lakekeeper_provider.sensors.small_files",
                    "lakekeeper_provider.sensors.maintenance_window",
                ],
            }
        ],
        "triggers": [
            {
                "integration-name": "Lakekeeper",
                "python-modules": ["lakekeeper_provider.triggers.maintenance_window"],
            }
        ],
    }
