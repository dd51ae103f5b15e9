"""The harness: datasets, systems, measures, statistics, runs and reports."""
