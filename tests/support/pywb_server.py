"""Run by pywb's own interpreter, in a folder: serves its collections framed and unframed until its input ends.

It says two ports, then answers each line of its input, a collection's name, once that is indexed anew.
"""

# mypy: ignore-errors
# (what it imports is only in pywb's own environment)
# ruff: noqa: E402 (gevent has to change the library before anything else is imported)

from gevent.monkey import patch_all

patch_all()

import json
import os
import sys
from pathlib import Path

from gevent.fileobject import FileObjectThread
from gevent.pywsgi import WSGIServer
from pywb.apps.frontendapp import FrontEndApp
from pywb.indexer.cdxindexer import write_multi_cdx_index
from pywb.utils.canonicalize import canonicalize
from pywb.utils.geventserver import RequestURIWSGIHandler

OPTIONS = {"framed": {"framed_replay": True}, "unframed": {"framed_replay": False, "redirect_to_exact": True}}


def serve(name):
    log = open(f"{name}.log", "w", buffering=1, encoding="utf-8")  # noqa: SIM115 (open as long as the server)
    application = FrontEndApp(custom_config=dict(OPTIONS[name]))
    server = WSGIServer(("127.0.0.1", 0), application, log=log, handler_class=RequestURIWSGIHandler)
    server.start()
    return server.server_port


def index(collection):
    folder = Path("collections") / collection
    options = {"append_post": True, "cdxj": True, "sort": True, "recurse": True}
    write_multi_cdx_index(str(folder / "indexes" / "index.cdxj"), [str(folder / "archive")], **options)
    rules = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    keys = sorted(((canonicalize(url), url, access) for url, access in rules.items()), reverse=True)
    lines = [f"{key} - {json.dumps({'access': access, 'url': url})}\n" for key, url, access in keys]
    (folder / "acl" / "access-rules.aclj").write_text("".join(lines), encoding="utf-8")


# pywb prints what it does.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
print(*map(serve, OPTIONS), file=answers, flush=True)
for line in FileObjectThread(sys.stdin.buffer, "rb"):
    index(line.decode().strip())
    print("indexed", file=answers, flush=True)
