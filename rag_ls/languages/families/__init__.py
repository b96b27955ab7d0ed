"""The rules of languages, a module for each family of them; `LANGUAGES` of a module are its languages. Code stands with its language."""
