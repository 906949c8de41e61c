"""What a job writes down of its work: who works where, what was intended, what became of it."""
