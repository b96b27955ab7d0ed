"""Operations on the projects of this machine, and which of them a request means."""
