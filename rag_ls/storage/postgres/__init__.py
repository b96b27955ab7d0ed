"""What several users share on a PostgreSQL server."""
