"""The report of a job: parsed, evaluated, and as a text, a summary for XCom or an overview of a DAG run."""
