# A device in Python with Eclipse Paho: connects, sends, receives, answers methods, reads and reports its twin.
# Needs: apt-get install python3-paho-mqtt, or pip install paho-mqtt
# Run: python3 device.py
import base64
import hashlib
import hmac
import os
import ssl
import time
from urllib.parse import quote_plus, urlencode

import paho.mqtt.client as mqtt

address = dict(part.split("=", 1) for part in os.environ["DEVICE_CONNECTION_STRING"].split(";"))
host, _, port = address["HostName"].partition(":")
device = address["DeviceId"]


def log_in(client, *_):
    resource, expiry = quote_plus(f"{host}/devices/{device}"), int(time.time()) + 3600
    key = base64.b64decode(address["SharedAccessKey"])
    signature = base64.b64encode(hmac.digest(key, f"{resource}\n{expiry}".encode(), hashlib.sha256))
    token = f"SharedAccessSignature sr={resource}&{urlencode({'sig': signature, 'se': expiry})}"
    client.username_pw_set(f"{host}/{device}/?api-version=2021-04-12", token)


def connected(client, _userdata, _flags, code):
    print("connected", code, flush=True)
    topics = [
        f"devices/{device}/messages/devicebound/#",
        "$iothub/methods/POST/#",
        "$iothub/twin/res/#",
        "$iothub/twin/PATCH/properties/desired/#",
    ]
    client.subscribe([(topic, 1) for topic in topics])


def subscribed(client, *_):
    client.publish("$iothub/twin/GET/?$rid=1", "")
    client.publish("$iothub/twin/PATCH/properties/reported/?$rid=2", '{"version": 1}')
    client.publish(f"devices/{device}/messages/events/hall=8", "21.5", qos=1)


def received(client, _userdata, message):
    print(message.topic, message.payload.decode(), flush=True)
    if message.topic.startswith("$iothub/methods/POST/"):
        request = message.topic.split("?$rid=")[1]
        client.publish(f"$iothub/methods/res/200/?$rid={request}", '{"done": true}')


client = mqtt.Client(client_id=device, clean_session=False)
client.on_connect, client.on_subscribe, client.on_message = connected, subscribed, received
client.on_disconnect = log_in  # it connects again by itself, with a new token
client.tls_set_context(ssl.create_default_context())  # trusts SSL_CERT_FILE
log_in(client)
client.connect(host, int(port or 8883))
client.loop_forever()
