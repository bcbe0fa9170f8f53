"""What the sandbox knows of each kind: where it is served, defaults, validation, and what a write may change."""
