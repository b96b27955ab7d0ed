"""What `make bench` measures. Nothing here asserts a time."""
