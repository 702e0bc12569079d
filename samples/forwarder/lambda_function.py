"""The AWS Lambda function of a smart-home skill: hands each directive on to Skillgate, and its answer back.

Alexa takes directives to a Lambda function alone. One function a region (us-east-1, eu-west-1, us-west-2), all with the
same code, the handler `lambda_function.handler`, a timeout of 8 seconds, and this environment:

    SKILLGATE_URL     the service's publicURL, https://skill.example.com
    SKILLGATE_SECRET  the same as forwarder.secret
    SKILLGATE_SKILL   the skill's name in the configuration; only where there are several smart-home skills

It needs nothing but Python's standard library.
"""

import hashlib
import hmac
import http.client
import json
import os
import queue
import threading
import time
import urllib.parse
import uuid

REGIONS = {"us-east-1": "NA", "eu-west-1": "EU", "us-west-2": "FE"}
TIMEOUT_SECONDS = 7.6


def handler(event, context=None):
    body = json.dumps(event, separators=(",", ":")).encode()
    try:
        return _in_time(lambda: _post(_target(), body))
    except Exception as error:  # whatever happened, Alexa needs an answer: a function that fails gives it none
        print(json.dumps({"level": "error", "event": "Skillgate did not answer", "error": type(error).__name__}))
        return _failure(event)


def _in_time(job):
    """What the job returns, within the limit whatever happens: a socket's own timeout begins anew with each address that
    is tried and with each piece of an answer."""
    outcomes = queue.SimpleQueue()

    def run():
        try:
            outcomes.put((job(), None))
        except Exception as error:
            outcomes.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    answer, error = outcomes.get(timeout=TIMEOUT_SECONDS)
    if error:
        raise error
    return answer


def _target():
    query = {}
    if os.environ.get("SKILLGATE_SKILL"):
        query["skill"] = os.environ["SKILLGATE_SKILL"]
    region = REGIONS.get(os.environ.get("AWS_REGION"))
    if region:
        query["region"] = region
    path = urllib.parse.urlsplit(os.environ["SKILLGATE_URL"]).path.rstrip("/") + "/alexa/smart-home"
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def _post(target, body):
    """One request. It is never sent twice: a command might then run twice."""
    seconds = str(int(time.time()))
    message = seconds.encode() + b"." + target.encode() + b"." + body
    code = hmac.new(os.environ["SKILLGATE_SECRET"].encode(), message, hashlib.sha256).hexdigest()
    connection = _connect()
    try:
        connection.request(
            "POST",
            target,
            body,
            {"Content-Type": "application/json", "X-Skillgate-Forwarder": f"t={seconds},v1={code}"},
        )
        response = connection.getresponse()
        answer = response.read()
    finally:
        # Not kept: one that slept while the function did may be dead, which is noticed only after the command was sent.
        connection.close()
    if response.status != 200:
        raise RuntimeError(f"status {response.status}")
    return json.loads(answer)


def _connect():
    url = urllib.parse.urlsplit(os.environ["SKILLGATE_URL"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname, url.port, timeout=TIMEOUT_SECONDS)


def _failure(event):
    directive = _object(_object(event).get("directive"))
    header = _object(directive.get("header"))
    is_grant = header.get("namespace") == "Alexa.Authorization"
    answer = {
        "header": {
            "namespace": "Alexa.Authorization" if is_grant else "Alexa",
            "name": "ErrorResponse",
            "messageId": str(uuid.uuid4()),
            "payloadVersion": "3",
        },
        "payload": {
            "type": "ACCEPT_GRANT_FAILED" if is_grant else "BRIDGE_UNREACHABLE",
            "message": "the forwarder got no answer",
        },
    }
    if "correlationToken" in header:
        answer["header"]["correlationToken"] = header["correlationToken"]
    endpoint = _object(directive.get("endpoint"))
    if "endpointId" in endpoint:
        answer["endpoint"] = {"endpointId": endpoint["endpointId"]}
    return {"event": answer}


def _object(value):
    return value if isinstance(value, dict) else {}
