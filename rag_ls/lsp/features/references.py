"""References and implementations from the index, for the languages that the settings name."""

from __future__ import annotations

import re

from lsprotocol import types

from rag_ls.chunking import recognise
from rag_ls.engine.code.references.code_files import CodeFiles, split_owner
from rag_ls.engine.session import ProjectSession
from rag_ls.errors import RagLsError
from rag_ls.indexing import FileRules
from rag_ls.languages import by_alias, find_language
from rag_ls.lsp.capabilities import ALL_LANGUAGES, registers
from rag_ls.lsp.documents import OpenDocument, Place
from rag_ls.lsp.editor import EditorSession
from rag_ls.lsp.features.lenses import surest, used_places
from rag_ls.lsp.protocol import RagLsServer
from rag_ls.lsp.text_buffer import Position, units
from rag_ls.operations import Json
from rag_ls.util.patterns import lazy_pattern

_METHODS = (types.TEXT_DOCUMENT_REFERENCES, types.TEXT_DOCUMENT_IMPLEMENTATION)
_MAX_PLACES = 1000
_NAME = lazy_pattern(r"[\w$@#]+")


def register(server: RagLsServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        answer = await _ask(server.session, params, "all")
        if answer is None:
            return None
        declared = [each for each in answer["references"] if each["kind"] in ("definition", "override")]
        shown = used_places(answer) + (declared if params.context.include_declaration else [])
        return await _locations(server.session, params.text_document.uri, shown)

    @server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementations(params: types.ImplementationParams) -> list[types.Location] | None:
        answer = await _ask(server.session, params, "implements")
        if answer is None:
            return None
        document = server.session.documents.get(params.text_document.uri)
        found = surest(answer["references"])
        if document is not None and document.place is not None:
            found = await server.session.work("references", _at_own_names, document.place.view, found)
        return await _locations(server.session, params.text_document.uri, found)


async def offer_references(server: RagLsServer) -> None:
    """Offer references to an editor that can be told later, where the settings of one of its projects want them."""
    client = server.protocol._converter.unstructure(server.client_capabilities)
    methods = [method for method in _METHODS if registers(client, method.rpartition("/")[2])]
    if not methods:
        return
    session = server.session
    await session.settled()
    projects = await session.work("settings", (await session.client()).projects)
    is_wanted = any(view.settings.references.languages for view in projects)
    if is_wanted == session.offers_references:
        return
    session.offers_references = is_wanted
    # A former engine may have offered them already, and the editor would use both offers.
    server.client_unregister_capability(
        types.UnregistrationParams([types.Unregistration(f"rag-ls-{method}", method) for method in methods])
    )
    if is_wanted:
        options = types.TextDocumentRegistrationOptions([types.TextDocumentFilterPattern("**", scheme="file")])
        server.client_register_capability(
            types.RegistrationParams([types.Registration(f"rag-ls-{method}", method, options) for method in methods])
        )


async def _ask(
    session: EditorSession, params: types.ReferenceParams | types.ImplementationParams, shown: str
) -> Json | None:
    """The references to the name at a position; None where they are not wanted, or no name of the project is there."""
    await session.settled()
    document = session.documents.get(params.text_document.uri)
    place = document.place if document else None
    if document is None or place is None or place.guest or not _is_wanted(document, place):
        return None
    at = Position(params.position.line, params.position.character)
    column = document.buffer.offset(at) - document.buffer.offset(Position(at.line, 0)) + 1
    path = str(place.view.project.root / place.path)
    asked = {"path": path, "line": at.line + 1, "column": column, "show": shown, "k": _MAX_PLACES}
    try:
        return await session.ask("find_references", asked)
    except RagLsError:
        return None


def _is_wanted(document: OpenDocument, place: Place) -> bool:
    """Whether the settings name the language of a document, which is read as the index reads it."""
    settings, text = place.view.settings, document.buffer.text
    mapped = FileRules(languages=settings.languages.map).language_of(place.path)
    language = find_language(mapped or recognise(place.path, text) or by_alias(document.language) or "")
    wanted = settings.references.languages
    return ALL_LANGUAGES in wanted or not {language.name, language.family}.isdisjoint(wanted)


async def _locations(session: EditorSession, uri: str, shown: list[Json]) -> list[types.Location]:
    document = session.documents.get(uri)
    if document is None or document.place is None:
        return []
    view, spelling = document.place.view, session.documents.spelling()
    lines = await session.work("references", _read_lines, view, {each["path"] for each in shown})
    found = []
    for each in sorted(shown, key=lambda each: (each["path"], each["line"], each["column"])):
        number, start = each["line"] - 1, each["column"] - 1
        text = lines[each["path"]][number] if number < len(lines[each["path"]]) else ""
        name = _NAME.match(text, start)
        ends = [units(text, column, spelling.encoding) for column in (start, name.end() if name else start)]
        place = types.Range(types.Position(number, ends[0]), types.Position(number, ends[1]))
        found.append(types.Location(spelling.uri_of(view, each["path"]), place))
    return found


def _read_lines(view: ProjectSession, paths: set[str]) -> dict[str, list[str]]:
    files = CodeFiles(view)
    sources = {path: files.at(path) for path in paths}
    return {path: files.lines(source) if source is not None else [] for path, source in sources.items()}


def _at_own_names(view: ProjectSession, found: list[Json]) -> list[Json]:
    """The same references, but a type that derives from another is told at its own name."""
    files = CodeFiles(view)
    return [_at_own_name(files, each) if each["kind"] == "implement" else each for each in found]


def _at_own_name(files: CodeFiles, reference: Json) -> Json:
    source = files.at(reference["path"])
    deriving = source.around(reference["line"], "type") if source is not None else None
    function = source.around(reference["line"], "function") if source is not None else None
    if source is None or deriving is None or (function is not None and function.start_line > deriving.start_line):
        # A type that derives inside a method is anonymous: it has no name of its own.
        return reference
    name = re.compile(rf"(?<!\w){re.escape(split_owner(deriving.symbol)[1])}(?!\w)")
    for number, line in enumerate(files.lines(source)[: reference["line"]], 1):
        if number >= deriving.start_line and (match := name.search(line)):
            return {**reference, "line": number, "column": match.start() + 1}
    return reference
