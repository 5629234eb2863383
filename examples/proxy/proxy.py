"""A proxy that makes chat completions, on port 8081, of any server of plain completions.

python proxy.py model.gguf http://127.0.0.1:8080/v1/completions
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.request import Request, urlopen

import turnspec
from turnspec.chat import ChatTemplate

JSON = ("Content-Type", "application/json")


class Proxy(BaseHTTPRequestHandler):
    """Answers one request after the other."""

    def do_POST(self):
        """Render the messages, have them continued, and parse what comes."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = chat.render(asked["messages"], tools=asked.get("tools") or [])
        wanted = {"prompt": prompt.text, "max_tokens": asked.get("max_tokens", 1024)}
        with urlopen(Request(upstream, json.dumps(wanted).encode(), dict([JSON]))) as response:
            written = json.load(response)["choices"][0]
        message = fmt.parse(written["text"], tools=asked.get("tools"), prefill=prompt.prefill)
        reason = "length" if written.get("finish_reason") == "length" else message.finish_reason
        answer = {"index": 0, "message": message.to_dict(), "finish_reason": reason}
        self.send_response(200)
        self.send_header(*JSON)
        self.end_headers()
        self.wfile.write(json.dumps({"object": "chat.completion", "choices": [answer]}).encode())


if __name__ == "__main__":  # templates are rendered in a process of their own
    fmt, upstream = turnspec.load(sys.argv[1]), sys.argv[2]
    with ChatTemplate.load(sys.argv[1]) as chat:
        HTTPServer(("127.0.0.1", 8081), Proxy).serve_forever()
