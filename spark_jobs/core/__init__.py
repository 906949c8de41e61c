"""Values and decisions. They use the standard library only, and have no effects."""
