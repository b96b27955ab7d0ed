"""Operations on collections: texts that programs push, and what they ask of them."""
