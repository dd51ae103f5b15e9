"""What a distiller may say: parse it, check its evidence, apply it to entries; pure."""
