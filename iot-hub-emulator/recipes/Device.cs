// A device in C# with the official client: connects, sends, receives, answers methods, reads and reports its twin.
// Needs: dotnet new console && dotnet add package Microsoft.Azure.Devices.Client --version 1.*; a hub with --mqtts-port 8883
// Run: dotnet run
using System.Text;
using Microsoft.Azure.Devices.Client;
using Microsoft.Azure.Devices.Shared;

// On Linux, .NET trusts SSL_CERT_FILE. The client goes to port 8883, whatever HostName says.
var address = Environment.GetEnvironmentVariable("DEVICE_CONNECTION_STRING");
await using var client = DeviceClient.CreateFromConnectionString(address, TransportType.Mqtt_Tcp_Only);
await client.OpenAsync();

await client.SetReceiveMessageHandlerAsync(async (message, _) =>
{
    Console.WriteLine($"received {Encoding.UTF8.GetString(message.GetBytes())}");
    await client.CompleteAsync(message);
}, null);
await client.SetMethodHandlerAsync("stop", (request, _) =>
{
    Console.WriteLine($"called {request.Name} {request.DataAsJson}");
    return Task.FromResult(new MethodResponse(Encoding.UTF8.GetBytes("{\"done\": true}"), 200));
}, null);
await client.SetDesiredPropertyUpdateCallbackAsync((desired, _) =>
{
    Console.WriteLine($"desired {desired.ToJson()}");
    return Task.CompletedTask;
}, null);

Twin twin = await client.GetTwinAsync();
Console.WriteLine($"desired {twin.Properties.Desired.ToJson()}");
await client.UpdateReportedPropertiesAsync(new TwinCollection { ["version"] = 1 });

using var message = new Message(Encoding.UTF8.GetBytes("21.5"));
message.Properties["hall"] = "8";
await client.SendEventAsync(message);
await Task.Delay(Timeout.Infinite);
