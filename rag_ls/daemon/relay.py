"""Relays messages between an editor or agent and the engine, and replaces an engine that ends."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO

from rag_ls.daemon.channel import Channel
from rag_ls.daemon.records import Record
from rag_ls.util.files import restrict_to_user
from rag_ls.util.json_rpc import Message, MessageTooLong, framed, write_all

# How long the engine may still answer after the client's last message.
_LAST_WORDS_S = 10.0
# If this many engines in a row lived less than `_SHORT_LIFE_S`, engines keep dying: waiting requests are refused, and
# each next engine is started after a longer pause.
_MAX_EARLY_DEATHS = 5
_SHORT_LIFE_S = 60.0
_MAX_PAUSE_S = 30.0


class Relay:
    """The client's side runs in the calling thread, the engine's in two others."""

    def __init__(
        self,
        record: Record,
        source: IO[bytes],
        output: IO[bytes],
        connect: Callable[[], Channel],
        was_stopped: Callable[[], bool] = lambda: False,
        *,
        log: str = "",
        pause_s: float = 1.0,
    ) -> None:
        """`connect` returns a connection to an engine, starting one if needed; `was_stopped` tells whether the user
        stopped the last one.

        `log` is the engine's log file. If engines keep dying, the first pause before the next one is `pause_s` seconds.
        """
        self._log = log
        self._pause_s = pause_s
        self._left = threading.Event()
        self._record = record
        self._source = source
        self._output = output
        self._connect = connect
        self._was_stopped = was_stopped
        # Guards the record and the outbox.
        self._lock = threading.Lock()
        self._output_lock = threading.Lock()
        self._wanted = threading.Event()
        self._outbox: Outbox | None = None
        self._ended = False

    def run(self) -> bool:
        """Relay until the client leaves. False if the relay ended the session because of a message that is too long."""
        engines = threading.Thread(target=self._from_engines, name="engines", daemon=True)
        engines.start()
        fine = self._from_client()
        with self._lock:
            self._ended = True
            if self._outbox is not None:
                self._outbox.close()
            is_waiting = self._record.requests.waits or self._outbox is not None
        self._wanted.set()
        self._left.set()
        if is_waiting:
            engines.join(_LAST_WORDS_S)
        return fine

    def _from_client(self) -> bool:
        try:
            while not self._record.is_over and (body := self._record.read(self._source)) is not None:
                with self._lock:
                    for_engine, answers = self._record.from_client(body)
                    if self._outbox is None:
                        answers += self._record.answer_without_engine()
                    self._to_client(answers)
                    if for_engine is not None and self._outbox is not None:
                        self._outbox.put(self._frame(for_engine))
                    # Without a connected engine, the record keeps the message for the next one.
                    if self._record.requests.waits:
                        self._wanted.set()
        except MessageTooLong as error:
            print(f"rag-ls: {error}; ending the session", file=sys.stderr)
            return False
        except (OSError, ValueError):
            return True
        return True

    def _from_engines(self) -> None:
        try:
            self._relay_from_engines()
        except Exception as error:
            # The client would wait for ever if only this thread ended.
            print(f"rag-ls: the relay failed: {type(error).__name__}: {error}", file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)

    def _relay_from_engines(self) -> None:
        early_deaths = 0
        self._wanted.wait()
        while (channel := self._next_engine()) is not None:
            connected = time.monotonic()
            self._pump(channel)
            with self._lock:
                if self._outbox is not None:
                    self._outbox.close()
                self._outbox = None
                channel.hang_up()
                if self._ended:
                    return
            is_on_purpose = self._was_stopped()
            if not is_on_purpose:
                early_deaths = early_deaths + 1 if time.monotonic() - connected < _SHORT_LIFE_S else 0
                self._after_death(early_deaths)
            with self._lock:
                if not self._record.requests.waits and not self._ended:
                    self._wanted.clear()
            if is_on_purpose:
                # The user stopped the engine: start the next one only for a request.
                self._wanted.wait()

    def _after_death(self, early_deaths: int) -> None:
        """Tell the client what is refused or withheld, and pause if engines keep dying."""
        keeps_dying = early_deaths >= _MAX_EARLY_DEATHS
        with self._lock:
            told = self._record.engine_died(self._log, keeps_dying=keeps_dying)
            self._to_client(told)
        for message in told:
            if message.get("method") == "window/showMessage":
                self._log_warning(message["params"]["message"])
        if keeps_dying:
            print(f"rag-ls: the engine keeps ending; see {self._log} for why", file=sys.stderr, flush=True)
            self._left.wait(min(_MAX_PAUSE_S, self._pause_s * 2 ** (early_deaths - _MAX_EARLY_DEATHS)))

    def _log_warning(self, text: str) -> None:
        """Write to standard error, which editors keep, and beside what the engine has logged."""
        print(text, file=sys.stderr, flush=True)
        with contextlib.suppress(OSError), open(self._log, "a", encoding="utf-8", errors="replace") as log:
            restrict_to_user(self._log)
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')},000 WARNING {__name__}: {text}\n")

    def _next_engine(self) -> Channel | None:
        """Connect to an engine and replay the session to it; None if the client left and waits for no answer."""
        with self._lock:
            if self._ended and not self._record.requests.waits:
                return None
        channel = self._connect()
        with self._lock:
            for_engine, for_client = self._record.replay()
            self._outbox = Outbox(channel.socket)
            for message in for_engine:
                self._outbox.put(self._record.frame(message))
            if self._ended:
                self._outbox.close()
            self._to_client(for_client)
        return channel

    def _pump(self, channel: Channel) -> None:
        with contextlib.suppress(MessageTooLong, OSError, ValueError):
            while (body := self._record.read(channel.input)) is not None:
                with self._lock:
                    for_client = self._record.from_engine(body)
                if for_client:
                    with self._output_lock:
                        write_all(self._output, self._frame(body))

    def _frame(self, body: bytes) -> bytes:
        return framed(body) if self._record.surface == "lsp" else body

    def _to_client(self, messages: list[Message]) -> None:
        for message in messages:
            with self._output_lock:
                write_all(self._output, self._record.frame(message))


class Outbox:
    """Sends messages to one engine in order, from its own thread, so that an engine that reads slowly blocks no one."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._wake = threading.Condition()
        self._waiting: deque[bytes] = deque()
        self._closed = False
        threading.Thread(target=self._run, name="outbox", daemon=True).start()

    def put(self, data: bytes) -> None:
        """Queue data for sending."""
        with self._wake:
            self._waiting.append(data)
            self._wake.notify()

    def close(self) -> None:
        """Send the rest, then close the sending side; answers may still come."""
        with self._wake:
            self._closed = True
            self._wake.notify()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while (data := self._next()) is not None:
                self._connection.sendall(data)
            self._connection.shutdown(socket.SHUT_WR)

    def _next(self) -> bytes | None:
        with self._wake:
            while not self._waiting and not self._closed:
                self._wake.wait()
            return self._waiting.popleft() if self._waiting else None
