"""A proxy that makes chat completions of any server of plain completions. This is the whole of it.

    python proxy.py qwen3-coder model.gguf http://127.0.0.1:8080/v1/completions

The first is what `turnspec.load` takes, the second has the template. It listens on port 8081.
"""

import json
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import turnspec
from turnspec.chat import ChatTemplate

LONGEST_BODY = 10_000_000  # bytes
#: What a request raises that isn't as the API has it, or nested too deeply.
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class Proxy(BaseHTTPRequestHandler):
    """Answers requests, each in a thread of its own."""

    timeout = 60  # seconds without a byte of the request

    def do_POST(self):
        """Answer, or tell what is wrong."""
        try:
            status, told = 200, self.complete(json.loads(self.body()))
        except OSError as error:  # from upstream
            status, told = 502, {"error": {"message": str(error)}}
        except MALFORMED as error:
            status, told = 400, {"error": {"message": f"{type(error).__name__}: {error}"}}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def body(self):
        """Return the request's body; a page of some site sends none that counts."""
        length = self.headers["Content-Length"] or ""
        if "Origin" in self.headers:
            raise ValueError("pages may not ask")
        if not (length.isdecimal() and len(length) < 9 and int(length) <= LONGEST_BODY):
            raise ValueError(f"Content-Length has to be {LONGEST_BODY} at most")
        return self.rfile.read(int(length))

    def complete(self, asked):
        """Render the messages, have them continued, and parse what comes."""
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
        return {"object": "chat.completion", "choices": [choice]}


if __name__ == "__main__":  # templates are rendered in a process of their own
    name, template, upstream = sys.argv[1:]
    fmt = turnspec.load(name)
    with ChatTemplate.load(template) as chat:
        ThreadingHTTPServer(("127.0.0.1", 8081), Proxy).serve_forever()
