"""A webhook plugin as a process of its own: ``python -m tests.webhooks.hook_server PORT_FILE [CERTIFICATE [CA]]``.

The first part of a path says how it behaves. It writes its port to PORT_FILE, and serves TLS with CERTIFICATE (its key
in the same file), to clients with a certificate of CA. GET / tells of the requests so far: how many, how many at the
same time at most, and the last one.
"""

from __future__ import annotations

import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SLOW_S = 0.2
STALL_S = 5.0


class State:
    """What the server has seen."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.now = 0
        self.most = 0
        self.last: dict[str, Any] = {}


STATE = State()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        pass

    def do_GET(self) -> None:
        if self.path.startswith("/from-redirect"):
            self.answer(405, b"a GET")
            return
        with STATE.lock:
            seen = {"count": STATE.count, "most": STATE.most, "last": STATE.last}
        self.answer(200, json.dumps(seen).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with STATE.lock:
            STATE.count += 1
            STATE.now += 1
            STATE.most = max(STATE.most, STATE.now)
            STATE.last = {"path": self.path, "headers": dict(self.headers), "body": body.decode()}
        try:
            self.behave(self.path.split("/")[1], json.loads(body))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough
        finally:
            with STATE.lock:
                STATE.now -= 1

    def behave(self, how: str, request: Any) -> None:
        match how:
            case "even":  # selects members whose names end in an even digit, and orders them from behind
                self.say(even(request))
            case "slow":
                time.sleep(SLOW_S)
                self.say({"selected": True, "score": 1})
            case "stall":
                time.sleep(STALL_S)
                self.say({"selected": True})
            case "drip":
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                for _ in range(50):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(STALL_S / 50)
            case "error":
                self.answer(500, b"out of order")
            case "created":
                self.say({"selected": True}, status=201)
            case "moved":
                self.redirect(307, "/even/filter")
            case "found":
                self.redirect(302, "/from-redirect")
            case "loop":
                self.redirect(307, "/loop/filter")
            case "huge":
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.close_connection = True
                for _ in range(64 << 10):
                    self.wfile.write(b" " * (64 << 10))  # 4 GiB, if anybody reads it
            case "close":
                self.close_connection = True
            case _:
                self.answer(404, b"no such behaviour")

    def say(self, value: Any, status: int = 200) -> None:
        self.answer(status, json.dumps(value).encode())

    def redirect(self, status: int, where: str) -> None:
        self.send_response(status)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def even(request: Any) -> Any:
    """An answer for any extension point."""
    if "clusterScores" in request:
        names = [entry["cluster"]["metadata"]["name"] for entry in request["clusterScores"]]
        return {"selectedClusterNames": sorted(names, reverse=True)}
    number = int(request["cluster"]["metadata"]["name"][-1])
    return {"selected": number % 2 == 0, "score": number}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def main(port_file: str, certificate: str = "", authority: str = "") -> None:
    server = Server(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        if authority:
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    written = Path(port_file).with_suffix(".new")
    written.write_text(str(server.server_port))
    written.rename(port_file)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
