"""The data that several users share on a PostgreSQL server."""
