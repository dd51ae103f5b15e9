"""Public benchmarks made into labelled sets, from the files their users download themselves."""
