"""What is written into a home: the journal of a run, settled runs, the commit log, and what follows from them.

Terms:
    swap state: which directory is at which path, by identity: the originals, the rewritten directory, or a foreign one
    intent: a record of the journal that announces renames; a result says how they ended
    settled: of a run: it has ended and holds no originals any more; all its units are discarded, rolled back or
        cleaned up
    fold: to write what later answers need of settled runs into one record, and to delete the directories of these runs
"""
