"""The pages that explain: help, the bot (C-17), privacy and what programs may rely on (W-14).

One law: every figure on them is taken from the configuration or from the module that uses it, never written twice.
"""

from dataclasses import dataclass

from aiohttp import web

from weboid.config import PROJECT_CONTACT, Config
from weboid.core.verdict.report_json import VERSION
from weboid.web.formats import html
from weboid.web.http.respond import sent
from weboid.web.request.parameters import MOST_PAGES, MOST_SENT
from weboid.web.service import Service, given_in, html_words


@dataclass(frozen=True, slots=True)
class AboutPages:
    service: Service
    config: Config

    async def help(self, request: web.Request) -> web.Response:
        """What the words mean and what an editor can do."""
        return await self._page(request, "help.html", policy=self.config.policy)

    async def bot(self, request: web.Request) -> web.Response:
        """For site owners who found us in their logs: what the crawler does, and how to get fewer requests or none."""
        net = self.config.net
        return await self._page(
            request,
            "bot.html",
            user_agent=net.user_agent,
            contact=self.config.contact or PROJECT_CONTACT,
            delay_s=int(self.config.crawl.delay),
            body_kib=max(net.body_bytes, net.text_bytes) // 1024,
        )

    async def privacy(self, request: web.Request) -> web.Response:
        """Which data are kept of whom, and for how long."""
        return await self._page(request, "privacy.html", contact=self.config.contact)

    async def policy(self, request: web.Request) -> web.Response:
        """What programs may rely on, and what is expected of them."""
        return await self._page(
            request,
            "policy.html",
            contact=self.config.contact,
            form_version=VERSION,
            web=self.config.web,
            most=MOST_PAGES,
            most_sent=MOST_SENT,
        )

    async def _page(self, request: web.Request, template: str, **values: object) -> web.Response:
        given = given_in(request)
        page = html.render(template, html_words(request, given), given, self.service.source, (), **values)
        return sent(request, page, html.CONTENT_TYPE, vary="Accept-Language")
