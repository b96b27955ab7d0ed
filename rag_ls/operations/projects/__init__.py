"""Operations on the projects of this machine, and the choice of the project that a request means."""
