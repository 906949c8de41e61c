"""The pages of the tables' health in Airflow's UI (Airflow 3.1 and newer): what each job has seen of each table.

They have no state of their own: all of it is read from the events and XComs of the jobs, and held in memory.
"""
