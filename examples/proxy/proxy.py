"""Chat completions of vLLM or `llama-server --special`: `python proxy.py MODEL.gguf URL PORT`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

from turnspec.chat import ChatTemplate


class Proxy(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools, n = asked.get("tools") or (), asked.get("max_tokens", 1024)
        prompt = chat.render(asked["messages"], tools=tools)
        body = json.dumps({"prompt": prompt.text, "max_tokens": n, "skip_special_tokens": False})
        try:
            with urlopen(Request(url, body.encode(), {"Content-Type": "application/json"})) as told:
                written = json.load(told)["choices"][0]
        except OSError as error:
            self.send_error(502, f"{url}: {error}")
            return
        parser = chat.parser(prompt, tools=tools)  # fed piece by piece it would stream
        parser.feed(written["text"])
        parser.finish()
        reason = "length" if written["finish_reason"] == "length" else parser.message.finish_reason
        choice = {"index": 0, "message": parser.message.to_dict(), "finish_reason": reason}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


if len(sys.argv) != 4:
    sys.exit("usage: python proxy.py MODEL.gguf URL PORT")
chat, url = ChatTemplate.load(sys.argv[1]), sys.argv[2]
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Proxy).serve_forever()
