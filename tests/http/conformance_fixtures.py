"""The fixture tools, resources and prompts that MCP's conformance suite asks a server for (its 0.1.16 describes each)."""

from __future__ import annotations

import asyncio
import base64
import json
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server

_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
_WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
_PAUSE_S = 0.05
_ANY = {"type": "object", "properties": {}}
_SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_THREE = ("First Option", "Second Option", "Third Option")
_TITLED = [{"const": f"value{number}", "title": title} for number, title in enumerate(_THREE, 1)]
_OPTIONS = ["option1", "option2", "option3"]
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": list(_THREE)},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}
_USER = {"username": {"type": "string"}, "email": {"type": "string"}}

_Content = list[Any]


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _image() -> types.ImageContent:
    return types.ImageContent(type="image", data=_PNG, mime_type="image/png")


def _resource(uri: str, text: str, kind: str = "text/plain") -> types.EmbeddedResource:
    held = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=held)


async def _logging(context: Any, _: dict[str, Any]) -> _Content:
    for step in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        with warnings.catch_warnings(action="ignore"):
            await context.session.send_log_message("info", step, related_request_id=context.request_id)
        await asyncio.sleep(_PAUSE_S)
    return [_text("logged")]


async def _progress(context: Any, _: dict[str, Any]) -> _Content:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await asyncio.sleep(_PAUSE_S)
    return [_text("done")]


async def _sampling(context: Any, given: dict[str, Any]) -> _Content:
    message = types.SamplingMessage(role="user", content=_text(given["prompt"]))
    with warnings.catch_warnings(action="ignore"):
        answer = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    return [_text(f"LLM response: {answer.content.text}")]


def _elicitation(properties: dict[str, Any], words: str) -> Callable[[Any, dict[str, Any]], Awaitable[_Content]]:
    async def tool(context: Any, given: dict[str, Any]) -> _Content:
        asked = {"type": "object", "properties": properties, "required": list(properties)}
        message = given.get("message", "Please answer")
        answer = await context.session.elicit(message, asked, related_request_id=context.request_id)
        return [_text(f"{words}: action={answer.action}, content={json.dumps(answer.content)}")]

    return tool


async def _reconnection(context: Any, _: dict[str, Any]) -> _Content:
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
    await asyncio.sleep(2 * _PAUSE_S)
    return [_text("Reconnected.")]


async def _error(_: Any, __: dict[str, Any]) -> _Content:
    raise ValueError("This tool intentionally returns an error for testing")


def _fixed(*content: Any) -> Callable[[Any, dict[str, Any]], Awaitable[_Content]]:
    async def tool(_: Any, __: dict[str, Any]) -> _Content:
        return list(content)

    return tool


_MIXED = _resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
_TOOLS: dict[str, Callable[[Any, dict[str, Any]], Awaitable[_Content]]] = {
    "test_simple_text": _fixed(_text("This is a simple text response for testing.")),
    "test_image_content": _fixed(_image()),
    "test_audio_content": _fixed(types.AudioContent(type="audio", data=_WAV, mime_type="audio/wav")),
    "test_embedded_resource": _fixed(_resource("test://embedded-resource", "This is an embedded resource content.")),
    "test_multiple_content_types": _fixed(_text("Multiple content types test:"), _image(), _MIXED),
    "test_tool_with_logging": _logging,
    "test_tool_with_progress": _progress,
    "test_error_handling": _error,
    "test_sampling": _sampling,
    "test_elicitation": _elicitation(_USER, "User response"),
    "test_elicitation_sep1034_defaults": _elicitation(_DEFAULTS, "Elicitation completed"),
    "test_elicitation_sep1330_enums": _elicitation(_ENUMS, "Elicitation completed"),
    "test_reconnection": _reconnection,
    "json_schema_2020_12_tool": _fixed(_text("fine")),
}


async def _list_tools(_: Any, __: Any) -> types.ListToolsResult:
    schemas = {"json_schema_2020_12_tool": _SCHEMA_2020}
    tools = [types.Tool(name=name, description="a fixture", input_schema=schemas.get(name, _ANY)) for name in _TOOLS]
    return types.ListToolsResult(tools=tools)


async def _call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    try:
        return types.CallToolResult(content=await _TOOLS[params.name](context, params.arguments or {}))
    except ValueError as error:
        return types.CallToolResult(content=[_text(str(error))], is_error=True)


async def _list_resources(_: Any, __: Any) -> types.ListResourcesResult:
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    return types.ListResourcesResult(resources=[types.Resource(name=uri[7:], uri=uri) for uri in uris])


async def _list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(name="data", uri_template="test://template/{id}/data")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read_resource(_: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    contents: Any
    if uri == "test://static-binary":
        contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=_PNG)
    elif uri.startswith("test://template/"):
        number = uri.split("/")[3]
        data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
    elif uri in ("test://static-text", "test://watched-resource"):
        text = "This is the content of the static text resource."
        contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    else:
        raise MCPError(code=-32002, message="no such resource")
    return types.ReadResourceResult(contents=[contents])


async def _nothing(_: Any, __: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def _list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
    arguments = {"test_prompt_with_arguments": ("arg1", "arg2"), "test_prompt_with_embedded_resource": ("resourceUri",)}
    names = ("test_simple_prompt", "test_prompt_with_image", *arguments)
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description="a fixture",
                arguments=[types.PromptArgument(name=each, required=True) for each in arguments.get(name, ())],
            )
            for name in names
        ]
    )


async def _get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    contents: dict[str, list[Any]] = {
        "test_simple_prompt": [_text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            _text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            _resource(given.get("resourceUri", ""), "Embedded resource content for testing."),
            _text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [_image(), _text("Please analyze the image above.")],
    }
    messages = [types.PromptMessage(role="user", content=content) for content in contents[params.name]]
    return types.GetPromptResult(messages=messages)


async def _complete(_: Any, __: Any) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=["paris", "park"], total=2, has_more=False))


def fixture_server(_: object) -> Server[Any]:
    """A server of the fixtures, for any caller."""
    with warnings.catch_warnings(action="ignore"):
        return Server(
            "fixtures", version="1", on_list_tools=_list_tools, on_call_tool=_call_tool,
            on_list_resources=_list_resources, on_list_resource_templates=_list_templates,
            on_read_resource=_read_resource, on_subscribe_resource=_nothing, on_unsubscribe_resource=_nothing,
            on_list_prompts=_list_prompts, on_get_prompt=_get_prompt, on_completion=_complete,
            on_set_logging_level=_nothing,
        )  # fmt: skip
