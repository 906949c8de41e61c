"""The plan of a table and of its units as values: what to do, in which order, and within which limits.

Terms:
    survey: the figures of earlier listings of units, and the verdicts on their files; a hint for later plans
    verdict: what an analysis found in the footers of a unit, or a compaction in its values: it can be rewritten, or is
        refused, with the reason
    kept footers: the figures in the footers of a unit of many files, which an analysis keeps for the compaction
        after it
"""
