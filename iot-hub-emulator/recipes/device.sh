# A device in a shell with Mosquitto: sends, reports its twin, receives a message. A command subscribes or publishes, so none can read a twin
# or answer a method.
# Needs: apt-get install mosquitto-clients openssl
# Run: sh device.sh
set -eu
part() { printf %s "$DEVICE_CONNECTION_STRING" | tr ';' '\n' | sed -n "s/^$1=//p"; }
address=$(part HostName) device=$(part DeviceId)
host=${address%:*} port=${address#*:}
[ "$port" != "$address" ] || port=8883

encode() { sed 's/%/%25/g; s/+/%2B/g; s,/,%2F,g; s/=/%3D/g'; }
resource=$(printf %s "$host/devices/$device" | encode) expiry=$(($(date +%s) + 3600))
key=$(part SharedAccessKey | base64 -d | od -An -v -tx1 | tr -d ' \n')
signature=$(printf '%s\n%s' "$resource" "$expiry" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64 | encode)
token="SharedAccessSignature sr=$resource&sig=$signature&se=$expiry"

hub() {
  program=$1
  shift
  "$program" --cafile "$SSL_CERT_FILE" -V mqttv311 -h "$host" -p "$port" -i "$device" \
    -u "$host/$device/?api-version=2021-04-12" -P "$token" "$@"
}
hub mosquitto_pub -q 1 -t "devices/$device/messages/events/hall=8" -m 21.5
hub mosquitto_pub -q 1 -t '$iothub/twin/PATCH/properties/reported/?$rid=1' -m '{"version": 1}'
hub mosquitto_sub -q 1 -t "devices/$device/messages/devicebound/#" -C 1
