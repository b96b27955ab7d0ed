"""How well code is found: repositories, questions about them, and how answers are judged."""
