"""What users read: the codes of errors, refusals, warnings, outcomes and findings; how values stand in a sentence."""
