"""Recall, checkpoint, remember, forget and purge, and the policy between them."""
