// A device in Java with the official client: connects, sends, receives, answers methods, reads and reports its twin.
// Needs: com.microsoft.azure.sdk.iot:iot-device-client:2.5.0 with its dependencies in lib; a hub with --mqtts-port 8883
// Run: java -cp 'lib/*' Device.java
import com.microsoft.azure.sdk.iot.device.ClientOptions;
import com.microsoft.azure.sdk.iot.device.DeviceClient;
import com.microsoft.azure.sdk.iot.device.IotHubClientProtocol;
import com.microsoft.azure.sdk.iot.device.IotHubMessageResult;
import com.microsoft.azure.sdk.iot.device.Message;
import com.microsoft.azure.sdk.iot.device.twin.DirectMethodResponse;
import com.microsoft.azure.sdk.iot.device.twin.Twin;
import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

public class Device {
  public static void main(String[] args) throws Exception {
    // The client goes to port 8883, and takes no port in HostName.
    String address = System.getenv("DEVICE_CONNECTION_STRING");
    ClientOptions options = ClientOptions.builder().sslContext(trusting(System.getenv("SSL_CERT_FILE"))).build();
    DeviceClient client = new DeviceClient(address, IotHubClientProtocol.MQTT, options);
    client.setMessageCallback((message, context) -> {
      System.out.println("received " + new String(message.getBytes()));
      return IotHubMessageResult.COMPLETE;
    }, null);
    client.open(true);

    client.subscribeToMethods((name, payload, context) -> {
      System.out.println("called " + name + " " + payload.getPayloadAsJsonString());
      return new DirectMethodResponse(200, Map.of("done", true));
    }, null);
    client.subscribeToDesiredProperties((twin, context) -> System.out.println("desired " + twin.getDesiredProperties()), null);

    Twin twin = client.getTwin();
    System.out.println("desired " + twin.getDesiredProperties());
    twin.getReportedProperties().put("version", 1);
    client.updateReportedProperties(twin.getReportedProperties());

    Message message = new Message("21.5");
    message.setProperty("hall", "8");
    client.sendEvent(message);
    Thread.currentThread().join();
  }

  private static SSLContext trusting(String file) throws Exception {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (FileInputStream pem = new FileInputStream(file)) {
      trusted.setCertificateEntry("hub", CertificateFactory.getInstance("X.509").generateCertificate(pem));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
