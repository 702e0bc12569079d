"""Authlib's OAuth client against a Skillgate that runs: every client's whole way, from metadata to revocation.

Standard input is a JSON object: "issuer", "audience", and "clients", each with "id", "redirect", and where it has them
"secret", "authentication" and "rotates". Prints a line for each thing that held; the first that does not is an error.
"""

import html.parser
import http.client
import json
import sys
import time
import urllib.parse

from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc6749.errors import MismatchingStateException
from authlib.oauth2.rfc6750.errors import InsufficientScopeError, InvalidTokenError
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator

SCOPE = "profile devices"


def held(what, is_so=True, detail=""):
    if not is_so:
        raise SystemExit(f"does not hold: {what} {detail}")
    print(what)


def refused(what, error, code, call):
    try:
        answer = call()
    except error as reason:
        held(what, code is None or getattr(reason, "error", None) == code, repr(reason))
        return
    raise SystemExit(f"does not hold: {what}: it was taken: {answer}")


class Form(html.parser.HTMLParser):
    """The first form of a page: where it goes, and what it carries unseen."""

    def __init__(self, text):
        super().__init__()
        self.action, self.hidden, self.names = None, {}, set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == "form" and self.action is None:
            self.action = named["action"]
        if tag in ("input", "button") and "name" in named:
            self.names.add(named["name"])
            if named.get("type") == "hidden":
                self.hidden[named["name"]] = named["value"]


class UserAgent:
    """A browser without script: it keeps cookies, and follows redirects as far as the service itself."""

    def __init__(self, origin):
        self.origin, self.cookies = urllib.parse.urlsplit(origin), {}

    def send(self, method, url, form=None):
        there = urllib.parse.urlsplit(url)
        target = there.path + (f"?{there.query}" if there.query else "")
        fields = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            fields["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(self.origin.netloc, timeout=60)
        connection.request(method, target, body, fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        for field, value in answer.getheaders():
            if field.lower() == "set-cookie":
                name, _, rest = value.partition("=")
                self.cookies[name] = rest.partition(";")[0]
        location = answer.getheader("Location")
        connection.close()
        if location is None:
            return answer.status, text, None
        whole = urllib.parse.urljoin(url, location)
        if urllib.parse.urlsplit(whole)[:2] == self.origin[:2]:
            return self.send("GET", whole)
        return answer.status, text, whole

    def submit(self, page, **filled):
        form = Form(page)
        return self.send("POST", urllib.parse.urljoin(self.origin.geturl(), form.action), {**form.hidden, **filled})

    def consent(self, url, decision="agree"):
        """Signs in where that is asked for, and decides; gives the address that the client is called back at."""
        status, page, location = self.send("GET", url)
        if location is None and "password" in Form(page).names:
            status, page, location = self.submit(page, username="alice", password="alice-password")
        if location is None and "decision" in Form(page).names:
            status, page, location = self.submit(page, decision=decision)
        if location is None:
            raise SystemExit(f"nobody is called back: {status} {page}")
        return location


class AccessTokens(JWTBearerTokenValidator):
    """A resource server's own check of access tokens (RFC 9068), with the keys that the metadata name."""

    def __init__(self, issuer, audience, keys):
        super().__init__(issuer, audience)
        self.keys = keys

    def get_jwks(self):
        return self.keys

    def claims(self, token, scopes=("profile",)):
        claims = self.authenticate_token(token)
        self.validate_token(claims, list(scopes), None)
        return claims


def metadata(issuer):
    session = OAuth2Session()
    answer = session.get(issuer + "/.well-known/oauth-authorization-server", withhold_token=True)
    found = AuthorizationServerMetadata(answer.json())
    found.validate()
    held("the metadata are sound", answer.status_code == 200 and found["issuer"] == issuer, found)
    return found, session.get(found["jwks_uri"], withhold_token=True).json()


def whole_way(client, issuer, audience, found, keys, agent):
    name = client["id"]
    method = client.get("authentication", "none")
    held(f"{name}: {method} is announced", method in found["token_endpoint_auth_methods_supported"])
    session = OAuth2Session(
        name,
        client.get("secret"),
        token_endpoint_auth_method=method,
        revocation_endpoint_auth_method=method,
        scope=SCOPE,
        redirect_uri=client["redirect"],
        code_challenge_method="S256",
    )

    def asked(decision="agree"):
        verifier = generate_token(64)
        url, state = session.create_authorization_url(found["authorization_endpoint"], code_verifier=verifier)
        back = agent.consent(url, decision)
        held(f"{name}: called back at its own address", back.startswith(client["redirect"] + "?"), back)
        return back, state, verifier

    def fetched(back, state, verifier):
        return session.fetch_token(
            found["token_endpoint"], authorization_response=back, state=state, code_verifier=verifier
        )

    back, state, verifier = asked("deny")
    said = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(back).query))
    held(f"{name}: a refusal comes back", said["error"] == "access_denied" and said["state"] == state, said)

    back, state, verifier = asked()
    refused(f"{name}: another state is noticed", MismatchingStateException, None, lambda: fetched(back, "other", verifier))
    refused(f"{name}: another proof is refused", OAuthError, "invalid_grant", lambda: fetched(back, state, generate_token(64)))

    before = time.time()
    back, state, verifier = asked()
    token = fetched(back, state, verifier)
    held(f"{name}: tokens", token["token_type"] == "Bearer" and token["expires_in"] == 3600, list(token))
    held(f"{name}: an end in an hour", before + 3590 < token["expires_at"] < time.time() + 3610)

    checks = AccessTokens(issuer, audience, keys)
    claims = checks.claims(token["access_token"])
    held(f"{name}: the access token names its user and client", (claims["sub"], claims["client_id"]) == ("u1001", name))
    held(f"{name}: its type is at+jwt", claims.header["typ"] == "at+jwt", claims.header)
    refused(
        f"{name}: a scope that was not given is missing",
        InsufficientScopeError,
        None,
        lambda: checks.claims(token["access_token"], ["admin"]),
    )
    head, body, signature = token["access_token"].split(".")
    other = ("A" if signature[0] != "A" else "B") + signature[1:]
    refused(f"{name}: another signature is refused", InvalidTokenError, None, lambda: checks.claims(f"{head}.{body}.{other}"))
    for wrong in (AccessTokens(issuer + "x", audience, keys), AccessTokens(issuer, audience + "x", keys)):
        refused(f"{name}: another place is refused", InvalidTokenError, None, lambda: wrong.claims(token["access_token"]))

    user = session.get(found["userinfo_endpoint"])
    held(f"{name}: userinfo", user.status_code == 200 and user.json()["name"] == "Alice Archer", user.text)

    first = dict(token)
    token = session.refresh_token(found["token_endpoint"])
    held(f"{name}: refreshed", token["access_token"] != first["access_token"])
    has_changed = token["refresh_token"] != first["refresh_token"]
    held(f"{name}: the refresh token {'changes' if client.get('rotates') else 'stays'}", has_changed == client.get("rotates", False))
    checks.claims(token["access_token"])
    narrow = session.refresh_token(found["token_endpoint"], scope="profile")
    held(f"{name}: narrowed", checks.claims(narrow["access_token"])["scope"] == "profile", narrow.get("scope"))
    refused(
        f"{name}: never widened",
        OAuthError,
        "invalid_scope",
        lambda: session.refresh_token(found["token_endpoint"], scope=SCOPE + " admin"),
    )
    inspect_and_end(name, method, session, found)
    refused(
        f"{name}: a code counts once",
        OAuthError,
        "invalid_grant",
        lambda: fetched(back, state, verifier),
    )


def inspect_and_end(name, method, session, found):
    token = dict(session.token)
    if method in found["introspection_endpoint_auth_methods_supported"]:
        for kind in ("access_token", "refresh_token"):
            facts = session.introspect_token(found["introspection_endpoint"], token[kind], kind).json()
            held(f"{name}: {kind} is active", facts["active"] and facts["client_id"] == name, facts)
            held(f"{name}: {kind} is alice's", facts["username"] == "alice", facts)
        facts = session.introspect_token(found["introspection_endpoint"], "nonsense").json()
        held(f"{name}: nonsense is not active", facts == {"active": False}, facts)
    else:
        answer = session.introspect_token(found["introspection_endpoint"], token["access_token"])
        held(f"{name}: whoever cannot prove itself learns nothing", answer.status_code == 401, answer.text)

    nothing = session.revoke_token(found["revocation_endpoint"], "nonsense")
    held(f"{name}: nonsense is revoked in peace", nothing.status_code == 200, nothing.text)
    ended = session.revoke_token(found["revocation_endpoint"], token["refresh_token"], "refresh_token")
    held(f"{name}: revoked", ended.status_code == 200 and not ended.text, ended.text)
    user = session.get(found["userinfo_endpoint"])
    held(f"{name}: the access token ended too", user.status_code == 401 and "invalid_token" in user.headers["WWW-Authenticate"])
    refused(f"{name}: nothing is refreshed any more", OAuthError, "invalid_grant", lambda: session.refresh_token(found["token_endpoint"]))
    if method in found["introspection_endpoint_auth_methods_supported"]:
        facts = session.introspect_token(found["introspection_endpoint"], token["access_token"]).json()
        held(f"{name}: not active any more", facts == {"active": False}, facts)


def wrong_secret(client, found):
    session = OAuth2Session(client["id"], "wrong", token_endpoint_auth_method=client["authentication"])
    refused(
        f"{client['id']}: a wrong secret is refused",
        OAuthError,
        "invalid_client",
        lambda: session.fetch_token(found["token_endpoint"], grant_type="refresh_token", refresh_token="x"),
    )


def main():
    given = json.load(sys.stdin)
    found, keys = metadata(given["issuer"])
    for client in given["clients"]:
        agent = UserAgent(given["issuer"])
        whole_way(client, given["issuer"], given["audience"], found, keys, agent)
        if "secret" in client:
            wrong_secret(client, found)
    print("everything held")


main()
