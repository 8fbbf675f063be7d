import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const type = JSON.stringify({
  typeId: 'motor',
  version: '1.0.0',
  methods: { configure: { input: { rpm: { dataType: 'integer' }, reverse: { dataType: 'boolean' } } } },
});

/**
 * Backends that answer as fast as they can: each object is a motor at the path that `pathOf` gives.
 * @returns their port
 */
export async function startFastBackends(pathOf: (objectId: string) => string): Promise<number> {
  const backends = createServer(({ url = '' }, response) => {
    const [, objectId] = /^\/im\/objects\/([^/]+)/.exec(url) ?? [];
    const object = () => ({ objectId, model: 'svc.device', type: 'motor@1.0.0', path: pathOf(objectId ?? '') });
    const text = objectId === undefined ? type : JSON.stringify(object());
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
  backends.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => backends.listen(0, '127.0.0.1', resolve));
  return (backends.address() as AddressInfo).port;
}
