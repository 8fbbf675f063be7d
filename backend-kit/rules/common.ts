import type { Answer } from '../client.ts';
import { aGuid, anObject, aText, Broken, expect } from '../expect.ts';
import { type BackendName, encoded, type Kit, modelAt, typesAt } from '../kit.ts';
import { must, nice, type Rule, should } from './rule.ts';

const nobody = '00000000-0000-0000-0000-000000000000';

/** A read that changes nothing, and a mutation that is refused, of each backend. */
const calls = {
  im: {
    backend: 'information-model',
    read: modelAt(nobody),
    write: ['POST', `/object?owner=${nobody}`],
    wrongMethod: ['DELETE', '/query'],
  },
  tr: {
    backend: 'type-registry',
    read: `${typesAt('svc.device')}/kit-none`,
    write: ['POST', typesAt('svc.device')],
    wrongMethod: ['DELETE', `${typesAt('svc.device')}/kit-none`],
  },
  pm: {
    backend: 'principal-manager',
    read: undefined,
    write: ['PUT', `/devices/${nobody}`],
    wrongMethod: ['POST', `/devices/${nobody}`],
  },
} as const satisfies Record<
  string,
  {
    backend: BackendName;
    read: string | undefined;
    write: readonly [string, string];
    wrongMethod: readonly [string, string];
  }
>;

const unknownToken = 'kit-unknown-token';

/** What all three backends have in common. */
export function commonRules(prefix: keyof typeof calls): Rule[] {
  const { backend, read, write, wrongMethod } = calls[prefix];
  const get = (kit: Kit, options: Parameters<Kit['call']>[3] = {}) =>
    kit.call(backend, 'GET', read ?? `/devices?device=${encoded(options.device ?? kit.given.device)}`, options);
  const put = (kit: Kit, options: Parameters<Kit['call']>[3]) => kit.call(backend, write[0], write[1], options);
  /** A mutation of what is there. @param isReadable a backend that does not refuse it would carry it out */
  async function writePath(kit: Kit, isReadable: boolean): Promise<string> {
    if (prefix === 'im') return `/object?owner=${encoded(await kit.owner())}`;
    if (prefix === 'tr') return write[1];
    return `/devices/${isReadable ? (await kit.expendable()).id : await kit.owner()}`;
  }
  const isOpen = 'All who reach the backend read and write everything.';

  return [
    must(
      `${prefix}.token.missing`,
      'A call without a token is refused with 401.',
      isOpen,
    )(async (kit) => expect(await get(kit, { token: null }), 401)),
    must(
      `${prefix}.token.unknown`,
      'An unknown token is refused with 401.',
      `${isOpen} An expired token is renewed after a 401 only.`,
    )(async (kit) => {
      expect(await get(kit, { token: unknownToken }), 401);
      expect(await put(kit, { token: unknownToken, body: {} }), 401);
    }),
    nice(
      `${prefix}.token.challenge`,
      'A 401 has `www-authenticate: Bearer` (RFC 6750).',
      'Tools of people do not know which token is asked for.',
    )(async (kit) => {
      const answer = expect(await get(kit, { token: null }), 401);
      if (!/^bearer/i.test(answer.headers['www-authenticate'] ?? ''))
        throw new Broken('a call without a token is answered without `www-authenticate: Bearer`', answer);
    }),
    should(
      `${prefix}.device.missing`,
      'A call without `x-svc-device-id` is refused with 400.',
      'A call that lost its device would act for nobody, or for everybody.',
    )(async (kit) => {
      const target = { device: null, body: {} };
      expect(
        prefix === 'pm'
          ? await kit.pm('GET', `/devices?device=${encoded(kit.given.device)}`, { device: null })
          : await get(kit, { device: null }),
        400,
      );
      expect(await put(kit, target), 400);
    }),
    must(
      `${prefix}.device.unknown`,
      'A device without an identity is refused with 403 on every route.',
      'Devices that nobody has registered read and write; they should get `not_authorized`.',
    )(async (kit) => {
      const device = `${kit.run}-stranger`;
      expect(await get(kit, { device }), 403);
      expect(await put(kit, { device, body: {} }), 403);
    }),
    should(
      `${prefix}.device.encoded`,
      '`x-svc-device-id` is percent-decoded.',
      'Devices whose ids have other characters than letters, digits, `_`, `.` and `-` get `not_authorized`.',
    )(async (kit) => {
      const id = kit.given.device;
      const first = `%${id.charCodeAt(0).toString(16).padStart(2, '0')}`;
      const answer = await get(kit, { headers: { 'x-svc-device-id': first + encoded(id.slice(1)) } });
      expect(answer, prefix === 'pm' ? 200 : 404);
    }),
    must(
      `${prefix}.errors.body`,
      'A refusal is `{"errors":[{code,title,detail,id,meta}]}`, `code` being the status as text.',
      'The device’s `details` say the status and no reason; what `meta` says is not found.',
    )(async (kit) => {
      const answer = await put(kit, { body: {} });
      if (answer.status < 400 || answer.status > 499)
        throw new Broken(`a wrong ${write.join(' ')} was answered with ${answer.status}, not with 4xx`, answer);
      const code = String(answer.status);
      expect(answer, answer.status, {
        'errors.0.code': code,
        'errors.0.title': aText,
        'errors.0.detail': aText,
        'errors.0.meta': anObject,
      });
    }),
    nice(
      `${prefix}.errors.id`,
      'Each refusal has an `id` of its own, a GUID.',
      'Nobody finds a refusal of the backend’s log that a device reports.',
    )(async (kit) => {
      const answers = [await put(kit, { body: {} }), await put(kit, { body: {} })];
      for (const answer of answers) expect(answer, answer.status, { 'errors.0.id': aGuid });
      const [one, other] = answers.map(({ json }) => JSON.stringify(json).match(/"id":"[^"]*"/)?.[0]);
      if (one === other) throw new Broken('two refusals have the same id', answers[1]);
    }),
    should(
      `${prefix}.errors.silent`,
      'No refusal repeats the token or the values of the request.',
      'What a device sent, keys included, is repeated to it and may reach logs.',
    )(async (kit) => {
      const secret = `${kit.run}-secret`;
      const body = { typeId: 7, type: secret, publicKey: secret, identity: secret, label: secret };
      const answers = [await put(kit, { body }), await get(kit, { token: `${unknownToken}-${secret}` })];
      for (const answer of answers)
        if (answer.text.includes(secret)) throw new Broken('the refusal repeats a value of the request', answer);
    }),
    should(
      `${prefix}.body.malformed`,
      'A body that is no JSON is refused with 400.',
      'A 5xx is repeated three times, ends as a dead letter, and counts towards an outage.',
    )(async (kit) => {
      const path = await writePath(kit, false);
      expect(await kit.call(backend, write[0], path, { body: '{"type":' }), 400);
    }),
    nice(
      `${prefix}.body.repeated`,
      'A body with the same member twice is refused with 400.',
      'Two readers of one body may take different values; the service refuses those that it reads itself.',
    )(async (kit) => {
      const path = await writePath(kit, true);
      const body = {
        im: `{"model":"svc.device","type":"kit-none","type":"kit-none"}`,
        tr: `{"typeId":"${kit.fresh()}","version":"0.0","version":"0.0"}`,
        pm: '{"publicKey":"a","publicKey":"b"}',
      }[prefix];
      const answer = expect(await kit.call(backend, write[0], path, { body }), 400);
      if (!/twice|duplicate|repeat|more than once/i.test(answer.text))
        throw new Broken('the refusal does not say that a member stands twice', answer);
    }),
    nice(
      `${prefix}.route.unknown`,
      'An unknown route is 404.',
      'Wrong base URLs are hard to tell from outages.',
    )(async (kit) => expect(await kit.call(backend, 'GET', '/kit-no-such-route'), 404)),
    nice(
      `${prefix}.route.method`,
      'A known route with another method is 405.',
      'As for unknown routes.',
    )(async (kit) => expect(await kit.call(backend, wrongMethod[0], wrongMethod[1]), 405)),
    should(
      `${prefix}.keep-alive`,
      'Connections stay open between calls.',
      'Each call pays for a new connection, and at high rates ports run out.',
    )(async (kit) => {
      await get(kit);
      const answer = expect(await get(kit), [200, 404]);
      if (!answer.isReused) throw new Broken('the connection was closed after an answer', answer);
    }),
    should(
      `${prefix}.burst`,
      'Of 60 calls at once each is answered; a 429 or 503 says `Retry-After`.',
      'A backend that refuses without it is called again within 100 ms.',
    )(async (kit) => {
      const answers: Answer[] = await Promise.all(Array.from({ length: 60 }, () => get(kit)));
      for (const answer of answers) {
        if (answer.status !== 429 && answer.status !== 503) {
          expect(answer, [200, 404]);
          continue;
        }
        const after = answer.headers['retry-after'] ?? '';
        if (!/^\d+$/.test(after) && Number.isNaN(Date.parse(after)))
          throw new Broken(`a ${answer.status} has no \`Retry-After\` in seconds or as a date`, answer);
      }
    }),
    nice(
      `${prefix}.content-type`,
      'Answers with a body are `application/json`.',
      'The service reads them all the same; tools of people do not show them.',
    )(async (kit) => {
      const answer = expect(await get(kit), [200, 404]);
      if (!answer.headers['content-type']?.startsWith('application/json'))
        throw new Broken(`\`content-type\` is ${answer.headers['content-type'] ?? 'missing'}`, answer);
    }),
  ];
}
