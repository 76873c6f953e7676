"""Studies: many runs that answer one question. What runs one is here; none of it imports torch when it is imported."""
