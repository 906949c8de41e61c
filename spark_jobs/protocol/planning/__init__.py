"""Plans the work on a table. Nothing is changed here.

Terms:
    group: files of a unit that are written with one schema; most units are one group
"""
