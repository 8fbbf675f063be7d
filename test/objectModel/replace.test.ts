import { expect, it } from 'vitest';
import { replace } from '../../src/objectModel/replace.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { callOf, rejection, scripted } from '../backends/harness.ts';

const A = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';

it('A request one version behind a stored version beyond JavaScript’s integers overwrites nothing', async () => {
  const call = `/objects/${A}/models/svc.device`;
  const stored = `{"objectId":"${A}","model":"svc.device","version":9007199254740993}`;
  const { backends } = scripted([
    { call: `PUT ${call}`, reply: [409] },
    { call: `GET ${call}`, reply: [200, stored] },
  ]);
  const body = parseJson('{"version":9007199254740992}');
  const request = {
    generation: 'V2',
    objectId: A,
    model: 'svc.device',
    redelivered: false,
    maxVersionGap: 100,
  } as const;
  expect(await rejection(replace({ ...request, body }, backends.bind(callOf())))).toMatchObject({ status: 409 });
});
