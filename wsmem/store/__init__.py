"""Files: layout, atomic commits, locks, snapshots, archive, history."""
