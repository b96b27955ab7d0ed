"""WebSocket events of each library."""

from __future__ import annotations

from rag_ls.rules.survey.facts import read_facts


def events(language: str, text: str) -> list[tuple[str, str]]:
    return [(event.name, event.direction) for event in read_facts("", language, text).events]


def test_socket_io_without_the_events_of_the_connection() -> None:
    text = """import { Server } from "socket.io";
io.on("connection", (socket) => {
  socket.on("chat:message", (m) => io.to(room).emit("chat:new", m));
  socket.broadcast.emit("typing");
  socket.on("disconnect", () => {});
  // socket.emit("commented");
});
"""
    assert events("typescript", text) == [("chat:message", "handled"), ("chat:new", "emitted"), ("typing", "emitted")]


def test_an_event_emitter_without_a_socket_is_none() -> None:
    assert events("javascript", "server.on('listening2', f); client.emit('x', 1);") == []
    beside = "import type { Server } from 'socket.io';\nthis.server.on('hard reset', f);\nclient.on('message', f);\n"
    assert events("typescript", beside) == [], "nor where a file that knows sockets has one"


def test_nest_gateways() -> None:
    assert events("typescript", "@SubscribeMessage('join')\nhandle() {}") == [("join", "handled")]


def test_python_libraries() -> None:
    assert events("python", "@sio.on('join')\nasync def join(sid): ...\n@sio.event\nasync def leave(sid): ...\n") == [
        ("join", "handled"),
        ("leave", "handled"),
    ]
    assert events("python", "@app.websocket('/ws')\nasync def ws(): ...\n") == [("/ws", "handled")]
    router = "router = APIRouter(prefix='/api/ws')\n@router.websocket('/{item}')\nasync def ws(): ...\n"
    assert events("python", router) == [("/api/ws/{item}", "handled")]
    assert events("python", "@socketio.on('a')\ndef a():\n    emit('b', {})\n") == [("a", "handled"), ("b", "emitted")]


def test_django_channels() -> None:
    text = """from channels.generic.websocket import WebsocketConsumer
class Chat(WebsocketConsumer):
    def receive(self, text):
        self.layer.group_send(self.room, {"type": "chat.message"})
    def chat_message(self, event): ...
urls = [re_path(r"ws/chat/$", Chat.as_asgi())]
"""
    assert events("python", text) == [
        ("chat.message", "emitted"),
        ("chat_message", "handled"),
        ("ws/chat/$", "handled"),
    ]


def test_phoenix_channels() -> None:
    text = (
        'def handle_in("new_msg", p, socket) do\n  broadcast!(socket, "new_msg", p)\n  push(socket, "ack", %{})\nend\n'
    )
    assert events("elixir", text) == [("new_msg", "handled"), ("new_msg", "emitted"), ("ack", "emitted")]


def test_spring_and_signalr() -> None:
    assert events("java", '@MessageMapping("/chat")\npublic void chat() {}') == [("/chat", "handled")]
    assert events(
        "csharp", 'class H : Hub { // SignalR\n  x => Clients.All.SendAsync("Moved", 1);\n}\nusing SignalR;'
    ) == [("Moved", "emitted")]
