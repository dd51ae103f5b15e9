"""How long a recall takes, through the public engine, and what its answer is worth in less time."""
