"""The little OAuth provider is as strict as a real one: it must not let our own mistakes pass."""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

import aiohttp
import pytest
from yarl import URL

from weboid.demo.littleprovider import CLIENT, LittleProvider, open_littleprovider

BACK = "https://weboid.demo/account/back"
ASKED = {
    "response_type": "code",
    "client_id": CLIENT,
    "redirect_uri": BACK,
    "state": "s",
    # Of RFC 7636, appendix B.
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
GIVEN = {"grant_type": "authorization_code", "client_id": CLIENT, "redirect_uri": BACK, "code_verifier": VERIFIER}


@pytest.fixture
async def provider() -> AsyncIterator[LittleProvider]:
    async with open_littleprovider(addresses=[BACK]) as found:
        yield found


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as found:
        yield found


async def code_of(provider: LittleProvider, client: aiohttp.ClientSession) -> str:
    form = ASKED | {"editor": "Demo editor"}
    async with client.post(f"{provider.url}/authorize", data=form, allow_redirects=False) as response:
        return URL(response.headers["Location"]).query["code"]


async def token_of(provider: LittleProvider, client: aiohttp.ClientSession, **given: str) -> tuple[int, str]:
    async with client.post(f"{provider.url}/access_token", data=GIVEN | given) as response:
        answer = await response.json()
        return response.status, answer.get("access_token", answer.get("error", ""))


@pytest.mark.parametrize(
    "change",
    [
        {"client_id": "another"},
        {"redirect_uri": "https://evil.demo/"},
        {"redirect_uri": BACK + "/x"},
        {"response_type": "token"},
        {"state": ""},
        {"code_challenge": ""},
        {"code_challenge_method": "plain"},
    ],
)
async def test_a_request_that_is_not_as_it_should_be_gets_no_page_of_consent(
    provider: LittleProvider, client: aiohttp.ClientSession, change: dict[str, str]
) -> None:
    async with client.get(f"{provider.url}/authorize?{urlencode(ASKED)}") as response:
        assert response.status == 200
    async with client.get(f"{provider.url}/authorize?{urlencode(ASKED | change)}") as response:
        assert response.status == 400
    async with client.post(f"{provider.url}/authorize", data=ASKED | change, allow_redirects=False) as response:
        assert response.status == 400


@pytest.mark.parametrize(
    "change",
    [
        {"code_verifier": VERIFIER[:-1] + "x"},
        {"code_verifier": ""},
        {"redirect_uri": "https://evil.demo/"},
        {"client_id": "another"},
        {"grant_type": "password"},
        {"code": "made-up"},
    ],
)
async def test_a_code_is_good_for_whom_it_was_made_only(
    provider: LittleProvider, client: aiohttp.ClientSession, change: dict[str, str]
) -> None:
    code = await code_of(provider, client)
    assert (await token_of(provider, client, **({"code": code} | change)))[0] == 400
