"""Text and data formats: sections, elements, keys."""

from __future__ import annotations

from rag_ls.chunking.specs import Declaration, Kind, LanguageSpec, declare

MARKDOWN = LanguageSpec(
    grammar="markdown",
    declarations={
        "section": (
            Declaration(
                Kind.GROUP,
                ("<atx_heading/heading_content", "<setext_heading/heading_content"),
            ),
        ),
    },
    comments=frozenset(),
    leaves=frozenset({"paragraph", "inline"}),
    separator=" > ",
    plain_names=True,
    prose=True,
)


def markup(grammar: str) -> LanguageSpec:
    tags = ("element", "script_element", "style_element", "template_element")
    return LanguageSpec(
        grammar=grammar,
        declarations=declare(Kind.GROUP, *tags, names=("!tag",)),
        qualified=False,
        plain_names=True,
    )


CSS = LanguageSpec(
    grammar="css",
    declarations={
        **declare(Kind.FUNCTION, "rule_set", names=("<selectors",), listed="section"),
        **declare(Kind.GROUP, "media_statement", "supports_statement", "at_rule", names=("!prelude",)),
        **declare(Kind.FUNCTION, "keyframes_statement", names=("!prelude",), listed="section"),
    },
    comments=frozenset({"comment", "js_comment"}),
    qualified=False,
    plain_names=True,
)

JSON = LanguageSpec(
    grammar="json",
    declarations=declare(Kind.GROUP, "pair", names=("key",)),
    plain_names=True,
    outline_depth=2,
)

YAML = LanguageSpec(
    grammar="yaml",
    declarations=declare(Kind.GROUP, "block_mapping_pair", "flow_pair", names=("key",)),
    transparent=frozenset({"document", "block_node", "block_mapping"}),
    plain_names=True,
    outline_depth=2,
)

_TOML_KEYS = ("<dotted_key", "<bare_key", "<quoted_key")
TOML = LanguageSpec(
    grammar="toml",
    declarations=declare(Kind.GROUP, "table", "table_array_element", "pair", names=_TOML_KEYS),
    plain_names=True,
    outline_depth=2,
)
