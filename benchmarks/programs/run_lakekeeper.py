"""Run the command line of Lakekeeper 0.0.6, by a Python that has it installed."""

from __future__ import annotations

from lakekeeper.cli import main

main()
