"""References against compilers and language servers."""
