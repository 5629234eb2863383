"""Chat completions of any server of completions: `python proxy.py MODEL.gguf URL PORT`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

from turnspec.chat import ChatTemplate


class Proxy(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools, length = asked.get("tools") or (), asked.get("max_tokens", 1024)
        prompt = chat.render(asked["messages"], tools=tools)
        wanted = json.dumps({"prompt": prompt.text, "max_tokens": length}).encode()
        try:
            with urlopen(Request(upstream, wanted, {"Content-Type": "application/json"})) as answer:
                written = json.load(answer)["choices"][0]
        except OSError as error:
            self.send_error(502, f"{upstream}: {error}")
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
chat, upstream = ChatTemplate.load(sys.argv[1]), sys.argv[2]
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Proxy).serve_forever()
