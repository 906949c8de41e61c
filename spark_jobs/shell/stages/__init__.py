"""What the verbs are made of: look, prepare, compact, settle, restore, retire."""
