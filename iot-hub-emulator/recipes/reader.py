# Reads what devices send, with Apache Qpid Proton over AMQP.
# Needs: apt-get install python3-qpid-proton, or pip install python-qpid-proton
# Run: python3 reader.py
import os

from proton.handlers import MessagingHandler
from proton.reactor import Container

address = dict(part.split("=", 1) for part in os.environ["EVENTS_CONNECTION_STRING"].split(";"))
host, hub = address["Endpoint"].removeprefix("sb://").rstrip("/"), address["EntityPath"]
scheme = "amqp" if address.get("UseDevelopmentEmulator") == "true" else "amqps"
partitions = 4  # as many as the hub has


class Reader(MessagingHandler):
    def on_start(self, event):
        connection = event.container.connect(
            f"{scheme}://{host}",
            user=address["SharedAccessKeyName"],
            password=address["SharedAccessKey"],
            allowed_mechs="PLAIN",
            allow_insecure_mechs=scheme == "amqp",
        )
        for partition in range(partitions):
            event.container.create_receiver(connection, f"{hub}/ConsumerGroups/$Default/Partitions/{partition}")

    def on_message(self, event):
        device = event.message.annotations["iothub-connection-device-id"]
        print(device, bytes(event.message.body).decode(), event.message.properties or {}, flush=True)


Container(Reader()).run()
