"""Pure functions over `str`: normalisation, tokens, byte budgets; no files, no clock."""
