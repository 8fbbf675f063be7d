import { describe, expect, it } from 'vitest';
import { type Delivery, resultCodes } from '../../src/protocol/vocabulary.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent, requestProperties } from '../support/events.ts';
import { problem, pumpAnswer, pumpId } from '../support/world.ts';
import { codesIn, readPage, tableOf } from './markdown.ts';

const page = readPage('result-codes.md');
const rows = tableOf(page, 'code');

const whoCanHelp = { nobody: 'nobody has to', device: 'the device', hub: 'the hub', service: 'the service' } as const;

describe('docs/result-codes.md', () => {
  it('lists exactly the existing codes {S20.1}', () =>
    expect(rows.flatMap(({ code = '' }) => codesIn(code))).toEqual(Object.keys(resultCodes)));
  it('names for each the side at fault, like the service', () => {
    const said = rows.map((row) => row['who can do something about it']);
    expect(said).toEqual(Object.values(resultCodes).map(({ fault }) => whoCanHelp[fault]));
  });
  it('has a chapter for each', () => {
    const chapters = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, code]) => code);
    expect(chapters).toEqual(Object.keys(resultCodes));
  });
});

describe('the truth table of acknowledgements', () => {
  const cells = tableOf(page, '`ack`').map((row) => ({
    ...{ ack: codesIn(row['`ack`'] ?? '')[0], request: row['request'], delivery: row['delivery'], sent: row['sent'] },
    ...{ log: row['log'], dropped: row['dropped'], completed: 'yes' }, // the page says so of each
  }));

  /** One request of each generation that needs a single call to a backend. */
  const requests = {
    V2: { name: 'model.update', body: { type: 'pump', version: 1 } },
    V1: { name: 'Svc.Device.Updated', body: { type: 'pump', version: 1 } },
  } as const;

  const deliveries: Record<string, readonly Delivery[]> = {
    possible: ['delivered'],
    impossible: [{ dropped: 'unknown_device' }, { dropped: 'queue_full' }, { dropped: 'too_large' }],
  };

  async function recordOutcome(
    generation: 'V2' | 'V1',
    ack: string | undefined,
    succeeds: boolean,
    delivery: Delivery,
  ) {
    const { name, body } = requests[generation];
    const isKnown = ack !== 'sometimes';
    const { handled, replies, logged } = await dispatchEvent(
      hubEvent({ properties: { ...requestProperties[generation](name), objectId: pumpId, ack }, body }),
      isKnown
        ? [
            {
              call: `PUT /objects/${pumpId}/models/svc.device`,
              reply: succeeds ? [200, pumpAnswer({ version: 2 })] : problem(404, 'Not found'),
            },
          ]
        : [],
      { deliver: () => delivery },
    );
    const results = replies.map(({ body }) => (JSON.parse(body).success ? 'success' : 'failure'));
    const [line, ...others] = logged.filter(({ msg }) => msg === 'handled');
    expect(others).toEqual([]);
    return {
      sent: results.join(' and ') || 'no',
      log: `${line?.['level']} ${line?.['code'] === 'ok' ? 'success' : 'failure'}`,
      dropped: line?.['dropped'] === undefined ? 'no' : 'yes',
      completed: handled ? 'yes' : 'no',
    };
  }

  it('has a line for every combination of ack, result and delivery, each once {S2.6 S8.3 S8.4 S20.8}', () => {
    const combinations = ['none', 'positive', 'negative', 'all', 'sometimes'].flatMap((ack) =>
      ['succeeds', 'fails'].flatMap((request) =>
        ['possible', 'impossible'].map((delivery) => `${ack} ${request} ${delivery}`),
      ),
    );
    expect(cells.map(({ ack, request, delivery }) => `${ack} ${request} ${delivery}`)).toEqual(combinations);
  });
  it.each(cells)(
    'holds: ack $ack, the request $request, delivery is $delivery: sent $sent',
    async ({ ack, request, delivery = '', ...said }) => {
      for (const generation of ['V2', 'V1'] as const) {
        for (const outcome of deliveries[delivery] ?? [])
          expect(await recordOutcome(generation, ack, request === 'succeeds', outcome)).toEqual(said);
      }
    },
  );
  it.each([
    ['', 'no'],
    [undefined, 'no'],
    ['full', 'success'],
    ['FULL', 'success'],
    ['Positive', 'success'],
  ])('has the meaning of ack %j', async (ack, sent) =>
    expect(await recordOutcome('V2', ack, true, 'delivered')).toMatchObject({ sent }),
  );
});
