"""A proxy that makes chat completions of any server of plain completions. This is the whole of it.

    python proxy.py qwen3-coder model.gguf http://127.0.0.1:8080/v1/completions

The first is what `turnspec.load` takes, the second has the template. It listens on port 8081.
"""

import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import turnspec
from turnspec.chat import ChatTemplate


class Proxy(BaseHTTPRequestHandler):
    """Answers one request after the other."""

    def do_POST(self):
        """Render the messages, have them continued, and parse what comes."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = asked.get("tools") or []
        prompt = chat.render(asked["messages"], tools=tools)
        wanted = {"prompt": prompt.text, "max_tokens": asked.get("max_tokens", 1024)}
        data, head = json.dumps(wanted).encode(), {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(upstream, data, head)) as response:
            written = json.load(response)["choices"][0]
        message = fmt.parse(written["text"], tools=tools, prefill=prompt.prefill)
        is_cut = written.get("finish_reason") == "length"  # which a text doesn't show
        reason = "length" if is_cut else message.finish_reason
        choice = {"index": 0, "message": message.to_dict(), "finish_reason": reason}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


if __name__ == "__main__":  # templates are rendered in a process of their own
    name, template, upstream = sys.argv[1:]
    fmt = turnspec.load(name)
    with ChatTemplate.load(template) as chat:
        HTTPServer(("127.0.0.1", 8081), Proxy).serve_forever()
