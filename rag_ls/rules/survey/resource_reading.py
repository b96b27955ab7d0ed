"""Reads the lines of a file that stand for all routes of a resource, as Rails and Laravel have them."""

from __future__ import annotations

from rag_ls.rules.survey import nodes
from rag_ls.rules.survey.file_parts import FileParts
from rag_ls.rules.survey.resources import actions, resource_routes, singular
from rag_ls.rules.survey.routes import Endpoint, RouteScope, routes_at
from rag_ls.rules.survey.terms import FoundForm


class ResourceReading:
    """The reading of resources."""

    def __init__(self, file: FileParts) -> None:
        self._file, self._terms = file, file.terms

    def read_resource(self, found: FoundForm) -> None:
        if not self._file.is_on(found):
            return
        call, style = found.call, found.form.says("style")
        only, without = (self._list_names(found, key) for key in ("only", "except"))
        names = [each for each in self._terms.strings(found, "names") if each]
        wanted = actions(only, without, laravel=style == "laravel") - (
            {"new", "edit"} if "apiResource" in call.name else set()
        )
        start, end = call.inner, nodes.end_of(call.node)
        around = sorted(
            (scope for scope in self._file.scopes if scope.start <= start < scope.end), key=lambda scope: scope.start
        )
        outer = next(iter(self._terms.strings(found, "prefix")), "")
        param = next(iter(self._terms.strings(found, "param")), "id")
        several = (call.name != "resource" or style == "laravel") and not self._is_true(found, "single")
        found_routes: list[Endpoint] = []
        is_mounted = found.framework.is_mounted(found.form)
        for name in names:
            name = name.strip("/")
            path = next(iter(self._terms.strings(found, "path")), name).strip("/")
            if style == "laravel":
                *parents, last = path.split(".")
                path = "/".join([*(f"{part}/{{{singular(part)}}}" for part in parents), last])
                key, new = "{" + _key_of(last.rsplit("/", 1)[-1]) + "}", "create"
            else:
                key, new = (f":{param}" if several else ""), "new"
            for method, route in resource_routes(path, wanted, key, new):
                for full in routes_at(around, "", outer, route, False, ()):
                    found_routes.append(Endpoint(method, full, call.line, is_mounted=is_mounted))
            parent = singular(name).replace("/", "_")
            inner = f"{path}/{key.replace(':', f':{parent}_', 1)}" if key else path
            member = f"{path}/{key}" if key else path
            self._file.scopes.append(RouteScope(start, end, (inner,), member=member, collection=path))
        self._file.routes.add(start, end, found_routes)
        self._file.note(found, self._terms.names(found, "through"), call.line, is_of_route=True)

    def _is_true(self, found: FoundForm, key: str) -> bool:
        values = (each for term in found.form.values.get(key, ()) for each in self._terms.value(term, found))
        return any((each if isinstance(each, str) else each.text()) == "true" for each in values)

    def _list_names(self, found: FoundForm, key: str) -> list[str] | None:
        """The names of a list that may be empty; None where there is none."""
        is_there = any(self._terms.value(term, found) for term in found.form.values.get(key, ()))
        return self._terms.strings(found, key) if is_there else None


def _key_of(resource: str) -> str:
    """The parameter that Laravel makes of a resource's name."""
    return singular(resource).replace("-", "_")
