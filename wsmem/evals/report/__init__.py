"""One page about a run, for people: what is on it, and writing it."""
