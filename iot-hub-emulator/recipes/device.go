// A device in Go with Eclipse Paho: connects, sends, receives, answers methods, reads and reports its twin.
// Needs: go mod init device && go get github.com/eclipse/paho.mqtt.golang
// Run: go run device.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

func main() {
	address := map[string]string{}
	for _, part := range strings.Split(os.Getenv("DEVICE_CONNECTION_STRING"), ";") {
		name, value, _ := strings.Cut(part, "=")
		address[name] = value
	}
	host, port, _ := strings.Cut(address["HostName"], ":")
	if port == "" {
		port = "8883"
	}
	device := address["DeviceId"]

	options := mqtt.NewClientOptions().AddBroker("ssl://" + host + ":" + port) // trusts SSL_CERT_FILE
	options.SetClientID(device).SetCleanSession(false).SetProtocolVersion(4)
	options.SetCredentialsProvider(func() (string, string) { // for each connection
		return host + "/" + device + "/?api-version=2021-04-12", token(host+"/devices/"+device, address["SharedAccessKey"])
	})
	options.SetDefaultPublishHandler(func(client mqtt.Client, message mqtt.Message) {
		fmt.Println(message.Topic(), string(message.Payload()))
		if strings.HasPrefix(message.Topic(), "$iothub/methods/POST/") {
			_, request, _ := strings.Cut(message.Topic(), "?$rid=")
			client.Publish("$iothub/methods/res/200/?$rid="+request, 0, false, `{"done": true}`)
		}
	})
	options.SetOnConnectHandler(func(client mqtt.Client) {
		client.SubscribeMultiple(map[string]byte{
			"devices/" + device + "/messages/devicebound/#": 1,
			"$iothub/methods/POST/#":                        0,
			"$iothub/twin/res/#":                            0,
			"$iothub/twin/PATCH/properties/desired/#":       0,
		}, nil).Wait()
		client.Publish("$iothub/twin/GET/?$rid=1", 0, false, "")
		client.Publish("$iothub/twin/PATCH/properties/reported/?$rid=2", 0, false, `{"version": 1}`)
		client.Publish("devices/"+device+"/messages/events/hall=8", 1, false, "21.5").Wait()
	})
	client := mqtt.NewClient(options)
	if connecting := client.Connect(); connecting.Wait() && connecting.Error() != nil {
		fmt.Fprintln(os.Stderr, connecting.Error())
		os.Exit(1)
	}
	select {}
}

func token(resource, key string) string {
	bytes, _ := base64.StdEncoding.DecodeString(key)
	signed := fmt.Sprintf("%s\n%d", url.QueryEscape(resource), time.Now().Unix()+3600)
	mac := hmac.New(sha256.New, bytes)
	mac.Write([]byte(signed))
	signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	encoded, expiry, _ := strings.Cut(signed, "\n")
	return "SharedAccessSignature sr=" + encoded + "&sig=" + url.QueryEscape(signature) + "&se=" + expiry
}
