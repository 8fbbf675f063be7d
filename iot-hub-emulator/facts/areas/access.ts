import { client, type Fact, inference, pages } from '../fact.ts';
import { holds, same } from '../lab/differs.ts';
import { refusalOf } from '../lab/refusal.ts';
import { within } from '../lab/within.ts';
import { wrongKey } from './methods.ts';

// Who gets in, and the registry.

/** An error of the registry as the client reads it: the code between a colon and a semicolon. */
const registryRefusal = async (attempt: Promise<unknown>) => {
  const found = await within('the answer', refusalOf(attempt));
  const code = /ErrorCode:(\w+)/.exec(found?.body ?? '')?.[1];
  return [found?.name, found?.status, code];
};

export const accessFacts: readonly Fact[] = [
  {
    id: 'access.wrong-key',
    says: 'A wrong key is refused: to readers of events at `$cbs` with 401, to services likewise, to devices with return code 5 of CONNACK. Each client calls it `UnauthorizedError`.',
    sources: [pages.errors, client('`@azure/core-amqp`, `azure-iothub`, `azure-iot-device-mqtt`')],
    check: {
      async run(lab) {
        const reading = await refusalOf(lab.consumer(wrongKey(lab.target.events)).getPartitionIds());
        same('to readers', reading?.code, 'UnauthorizedError');
        const service = lab.service(wrongKey(lab.target.hub));
        const error = await within(
          'the refusal',
          service.open().then(
            () => undefined,
            (found) => found,
          ),
        );
        holds('to services', /Unauthorized/.test([error?.name, error?.amqpError?.name, error?.message].join()), error);
        const { connectionString } = await lab.specimen();
        const connection = lab.device(wrongKey(connectionString));
        same('to devices', (await within('the refusal', refusalOf(connection.open())))?.name, 'UnauthorizedError');
      },
    },
  },
  {
    id: 'access.cbs',
    says: 'A token that is put at `$cbs` is answered with 202 by the event endpoint, and with 200 by the hub: each client takes no other for success.',
    sources: [client('`@azure/core-amqp`, `cbs.js`; `azure-iot-amqp-base`, `amqp_cbs.js`')],
    check: {
      async run(lab) {
        holds('readers get in', (await lab.consumer().getPartitionIds()).length > 0);
        const service = lab.service();
        same('the refusal of services', (await within('the answer', refusalOf(service.open())))?.text, undefined);
        await service.close();
      },
    },
  },
  {
    id: 'access.second-login',
    says: 'A second connection with the identity of a device ends the first.',
    sources: [pages.mqtt, pages.errors],
    check: {
      async run(lab) {
        const specimen = await lab.specimen();
        const first = await lab.connected(specimen);
        const lost = new Promise<true>((resolve) => {
          first.on('disconnect', () => resolve(true));
        });
        await lab.connected(specimen);
        await within('the end of the first', lost);
      },
    },
  },
  {
    id: 'access.disabled',
    says: 'A disabled device is not let in.',
    sources: [pages.errors],
    check: {
      async run(lab) {
        const { connectionString } = await lab.specimen({ status: 'disabled' });
        const connection = lab.device(connectionString);
        const found = await within('the refusal', refusalOf(connection.open()));
        holds('the device is refused', found !== undefined);
      },
    },
  },
  {
    id: 'access.scopes',
    says: 'The built-in event endpoint takes shared keys only, of a policy that may listen (service connect). Services may use tokens of Entra ID for `https://iothubs.azure.net`; devices may not.',
    sources: [pages.identity],
    check: 'needs an identity',
  },
  {
    id: 'access.renewal',
    says: 'Over AMQP a token is renewed at `$cbs` without an interruption; what lives on one that expires ends. Over MQTT the connection ends (401003).',
    sources: [pages.errors, pages.signatures],
    check: 'takes an hour',
  },
  {
    id: 'access.old-key',
    says: 'Links live on after their key was renewed, until the token expires that was put for them.',
    sources: [inference('tokens are checked when they are put')],
    check: 'would take the key from the services of the hub',
    noOtherWay: 'the fault `expire-tokens` has it',
  },
  {
    id: 'access.keep-alive',
    says: 'The hub ends an MQTT connection after 1.5 times the keep-alive, at most 1,767 s.',
    sources: [pages.mqtt],
    check: 'takes minutes, and the official client keeps its connection alive',
  },
  {
    id: 'access.sasl',
    says: 'SASL PLAIN takes `POLICY@sas.root.HUB` and a token.',
    sources: [pages.signatures],
    check: 'the official clients put tokens at `$cbs`',
  },
  {
    id: 'registry.identity',
    says: 'A new device has a generation id, an etag and two keys; another one of the same id a new generation.',
    sources: [client('`azure-iothub`, `registry.js`')],
    check: {
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const { responseBody: first } = await lab.registry().get(deviceId);
        const texts = [first.generationId, first.etag, first.authentication?.symmetricKey?.secondaryKey];
        holds(
          'generation, etag and second key',
          texts.every((text) => typeof text === 'string' && text !== ''),
          first.generationId,
        );
        await lab.registry().delete(deviceId);
        const second = await lab.create({ deviceId });
        holds('the generation is another one', second.generationId !== first.generationId);
      },
    },
  },
  {
    id: 'registry.errors',
    says: 'The registry refuses with `ErrorCode:NAME;…`: 404 `DeviceNotFound`, 409 `DeviceAlreadyExists`.',
    sources: [pages.errors, client('`azure-iothub`, `rest_api_client.js`')],
    check: {
      async run(lab) {
        const registry = lab.registry();
        const { deviceId } = await lab.specimen();
        same('an unknown device', await registryRefusal(registry.get(`${lab.run}-none`)), [
          'DeviceNotFoundError',
          404,
          'DeviceNotFound',
        ]);
        same('one that is there', (await registryRefusal(lab.create({ deviceId }))).slice(1), [
          409,
          'DeviceAlreadyExists',
        ]);
      },
    },
  },
  {
    id: 'registry.twin',
    says: 'A twin has `$metadata` and `$version` for what is desired and reported, and an etag; a service changes it, and the device is told. A change for another etag is refused: 412 with `PreconditionFailed`.',
    sources: [pages.twins],
    check: {
      needs: ['methods'],
      async run(lab) {
        const specimen = await lab.specimen();
        const connection = await lab.connected(specimen);
        const twin = await connection.getTwin();
        const told = new Promise<unknown>((resolve) => {
          twin.on(
            'properties.desired',
            (desired: { readonly speed?: number }) => desired.speed !== undefined && resolve(desired.speed),
          );
        });
        const { responseBody } = await lab.registry().getTwin(specimen.deviceId);
        holds('the metadata', responseBody.properties.desired['$metadata'] !== undefined);
        const stale = lab.registry().updateTwin(specimen.deviceId, { tags: { a: 1 } }, 'bm9uZQ==');
        same('another etag', (await registryRefusal(stale)).slice(1), [412, 'PreconditionFailed']);
        await responseBody.update({ properties: { desired: { speed: 3 } } });
        same('what the device is told', await within('the change', told), 3);
      },
    },
  },
  {
    id: 'registry.rate',
    says: 'The registry takes 100 operations a minute for each unit (S3: 5,000), then refuses with 429.',
    sources: [pages.quotas],
    check: 'would throttle the services of the hub',
  },
  {
    id: 'devices.size',
    says: 'A message of a device may have 256 KB. Over MQTT a larger one ends the connection.',
    sources: [pages.quotas, pages.mqtt],
    check: {
      messages: 1,
      async run(lab) {
        const connection = await lab.connected(await lab.specimen());
        const { Message } = (await import('azure-iot-device')).default;
        const found = await within('the end', refusalOf(connection.sendEvent(new Message(Buffer.alloc(257 * 1024)))));
        holds('the message is refused', found !== undefined);
      },
    },
  },
  {
    id: 'devices.sessions',
    says: 'Over MQTT: quality of service 2 ends the connection; a subscription holds across connections unless CleanSession is 1; RETAIN becomes the property `mqtt-retain`.',
    sources: [pages.mqtt],
    check: 'the official device client cannot be asked to',
  },
];
