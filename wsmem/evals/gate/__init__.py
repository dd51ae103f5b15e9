"""The gate: a fresh run of the ranking, and of the work it takes, beside committed baselines."""
