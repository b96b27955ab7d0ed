"""Operations on the engine and its indexes: how they stand, and indexing."""
