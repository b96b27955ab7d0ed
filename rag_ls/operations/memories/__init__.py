"""Operations on memories: storing, recalling, merging, and changes of many at once."""
