// A device in C with Eclipse Paho, known by its certificate: connects, sends, receives, answers methods, reads and reports its twin.
// Needs: apt-get install gcc libpaho-mqtt-dev; DEVICE_CERTIFICATE and DEVICE_KEY, files as in README (Certificates)
// Run: gcc -Wall -Wextra -o device device.c -lpaho-mqtt3cs && ./device
#include <MQTTClient.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MQTTClient client;

static void check(int code, const char *what) {
  if (code == MQTTCLIENT_SUCCESS) return;
  fprintf(stderr, "%s: %s (%d)\n", what, MQTTClient_strerror(code), code);
  exit(1);
}

static void publish(const char *topic, const char *text, int qos) {
  MQTTClient_deliveryToken token;
  check(MQTTClient_publish(client, topic, (int)strlen(text), text, qos, 0, &token), topic);
  check(MQTTClient_waitForCompletion(client, token, 30000), topic);
}

int main(void) {
  char host[256], device[129], uri[300], username[512], topic[512];
  const char *address = getenv("DEVICE_CONNECTION_STRING");
  if (!address || sscanf(address, "HostName=%255[^;];DeviceId=%128[^;]", host, device) != 2) {
    fprintf(stderr, "DEVICE_CONNECTION_STRING must be HostName=...;DeviceId=...;x509=true\n");
    return 1;
  }
  snprintf(uri, sizeof uri, strchr(host, ':') ? "ssl://%s" : "ssl://%s:8883", host);
  host[strcspn(host, ":")] = 0;
  snprintf(username, sizeof username, "%s/%s/?api-version=2021-04-12", host, device);

  MQTTClient_SSLOptions tls = MQTTClient_SSLOptions_initializer;
  tls.trustStore = getenv("SSL_CERT_FILE");
  tls.keyStore = getenv("DEVICE_CERTIFICATE");
  tls.privateKey = getenv("DEVICE_KEY");
  tls.verify = 1;
  MQTTClient_connectOptions options = MQTTClient_connectOptions_initializer;
  options.username = username;
  options.MQTTVersion = MQTTVERSION_3_1_1;
  options.cleansession = 0;
  options.ssl = &tls;
  check(MQTTClient_create(&client, uri, device, MQTTCLIENT_PERSISTENCE_NONE, NULL), "create");
  check(MQTTClient_connect(client, &options), "connect");

  snprintf(topic, sizeof topic, "devices/%s/messages/devicebound/#", device);
  check(MQTTClient_subscribe(client, topic, 1), topic);
  check(MQTTClient_subscribe(client, "$iothub/methods/POST/#", 0), "methods");
  check(MQTTClient_subscribe(client, "$iothub/twin/res/#", 0), "twin");
  check(MQTTClient_subscribe(client, "$iothub/twin/PATCH/properties/desired/#", 0), "desired");
  publish("$iothub/twin/GET/?$rid=1", "", 0);
  publish("$iothub/twin/PATCH/properties/reported/?$rid=2", "{\"version\": 1}", 0);
  snprintf(topic, sizeof topic, "devices/%s/messages/events/hall=8", device);
  publish(topic, "21.5", 1);

  while (MQTTClient_isConnected(client)) {
    char *name = NULL, *request;
    int length = 0;
    MQTTClient_message *message = NULL;
    MQTTClient_receive(client, &name, &length, &message, 1000);
    if (!message) continue;
    printf("%s %.*s\n", name, message->payloadlen, (char *)message->payload);
    fflush(stdout);
    if (strncmp(name, "$iothub/methods/POST/", 21) == 0 && (request = strstr(name, "?$rid="))) {
      snprintf(topic, sizeof topic, "$iothub/methods/res/200/%s", request);
      publish(topic, "{\"done\": true}", 0);
    }
    MQTTClient_freeMessage(&message);
    MQTTClient_free(name);
  }
  fprintf(stderr, "the connection has ended\n");
  return 1;
}
