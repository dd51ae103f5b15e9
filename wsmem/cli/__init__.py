"""One command line over everything."""
