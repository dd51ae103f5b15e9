"""The weight tuner: signals cached once, searched in milliseconds a trial, validated set by set."""
