"""Operations on code: questions, look-ups, and what is read before they are answered."""
