"""What one client may ask of one project's code: questions, a closer look, memories about it."""
