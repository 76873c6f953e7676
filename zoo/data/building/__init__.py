"""How a corpus comes to lie on disk: read, divided, tokenized, stored, and found again."""
