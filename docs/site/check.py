#!/usr/bin/env python3
"""check.py SITE -- every link inside a built site leads to a file and, with #name, to that name; nothing that a page
loads (scripts, styles, pictures, fonts) comes from another host. Each complaint is `page: what`."""
import os, re, sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.names = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = {name: value or "" for name, value in attributes}
        self.names.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if tag == "link" and attributes.get("rel") != "canonical":
            self.loads.append(attributes.get("href", ""))
        if tag in LOADS and LOADS[tag] in attributes:
            self.loads.append(attributes[LOADS[tag]])
        self.loads += re.findall(r"url\(([^)]*)\)", attributes.get("style", ""))


site = os.path.realpath(sys.argv[1])
pages, complaints, count = {}, [], 0
for folder, _, files in os.walk(site):
    for name in files:
        path = os.path.join(folder, name)
        if name.endswith(".html"):
            with open(path, encoding="utf-8") as file:
                pages[path] = Page(file.read())
        elif name.endswith((".css", ".svg")):
            with open(path, encoding="utf-8") as file:
                found = re.findall(r"(?:url\(|@import |(?:xlink:)?href=)[\"']?((?:https?:)?//[^\"')\s]+)", file.read())
            complaints += [f"{os.path.relpath(path, site)}: loads {url}" for url in found if name.endswith(".css")]
for path, page in sorted(pages.items()):
    where = os.path.relpath(path, site)
    for link in page.links + page.loads:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.loads and url.scheme != "data":
                complaints.append(f"{where}: loads {link}")
            continue
        count += 1
        base = site if url.path.startswith("/") else os.path.dirname(path)
        target = os.path.normpath(os.path.join(base, unquote(url.path).lstrip("/"))) if url.path else path
        if where == "404.html" and url.path in ("/", "/."):
            continue
        if os.path.isdir(target):
            target = os.path.join(target, "index.html")
        if not os.path.exists(target):
            complaints.append(f"{where}: there is no {link}")
        elif target in pages and unquote(url.fragment) not in pages[target].names:
            complaints.append(f"{where}: {os.path.relpath(target, site)} has no #{url.fragment}")
print("\n".join(complaints[:50]), file=sys.stderr, end="\n" if complaints else "")
print(f"docs: {len(pages)} pages, {count} links inside the site; {len(complaints)} complaints")
sys.exit(bool(complaints))
