"""What is written into a home: the journal of a run, settled runs, the commit log, and what follows from them."""
