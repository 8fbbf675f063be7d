import { expect, it } from 'vitest';
import { eventEndpoint, hubEndpoint } from '../../src/check/endpoints.ts';

const key = 'SharedAccessKeyName=p;SharedAccessKey=d3Jvbmcta2V5';

it.each([
  ['Endpoint=sb://namespace.invalid/', 'namespace.invalid', 5671],
  ['Endpoint=sb://[::1]:5679/', '::1', 5679],
  ['Endpoint=sb://127.0.0.1;UseDevelopmentEmulator=true', '127.0.0.1', 5672],
])('the event endpoint of %s is %s, port %i', (given, host, port) => {
  const eventsConnectionString = `${given};${key};EntityPath=e`;
  expect(eventEndpoint({ eventsConnectionString, eventsNamespace: '', transport: 'amqp' })).toMatchObject({
    host,
    port,
  });
});

it('the service endpoint may be an IPv6 address', () => {
  const serviceConnectionString = `HostName=[::1]:8443;${key}`;
  expect(hubEndpoint({ serviceConnectionString, hostName: '' }, 443)).toMatchObject({ host: '::1', port: 8443 });
});
