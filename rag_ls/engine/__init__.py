"""The engine, its clients, and the projects that they share."""
